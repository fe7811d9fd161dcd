//! The encodings that a String, Symbol or Regexp may be in, by the names that dumping writes.

/// An encoding, as far as a stream tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StringEncoding(u8);

impl StringEncoding {
    /// Bytes without a meaning: nothing is written for it.
    pub(super) const BINARY: StringEncoding = StringEncoding(0);
    /// Written as `:E` and false.
    pub(super) const US_ASCII: StringEncoding = StringEncoding(1);
    /// Written as `:E` and true.
    pub(super) const UTF_8: StringEncoding = StringEncoding(2);

    /// The encoding whose name is written behind `:encoding`. Names that dumping never writes there
    /// (other names of an encoding, those that no host knows) are none.
    pub(super) fn named(name: &[u8]) -> Option<StringEncoding> {
        let at = NAMES.iter().position(|known| known.as_bytes() == name)?;
        u8::try_from(at + 3).ok().map(StringEncoding)
    }

    /// The name that is written behind `:encoding`, for those that have no shorter way.
    pub(super) fn name(self) -> Option<&'static str> {
        NAMES.get(usize::from(self.0).checked_sub(3)?).copied()
    }

    /// Returns true if ASCII-only text equals the same text in every other encoding for which this is true.
    pub(super) fn is_common(self) -> bool {
        self.0 < 3
    }
}

/// Every encoding of hosts from 2.0 on that has no shorter way to be written.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "Big5", "Big5-HKSCS", "Big5-UAO", "CESU-8", "CP50220", "CP50221", "CP51932", "CP850", "CP852",
    "CP855", "CP949", "CP950", "CP951", "EUC-JIS-2004", "EUC-JP", "EUC-KR", "EUC-TW", "Emacs-Mule",
    "GB12345", "GB18030", "GB1988", "GB2312", "GBK", "IBM037", "IBM437", "IBM720", "IBM737",
    "IBM775", "IBM852", "IBM855", "IBM857", "IBM860", "IBM861", "IBM862", "IBM863", "IBM864",
    "IBM865", "IBM866", "IBM869", "ISO-2022-JP", "ISO-2022-JP-2", "ISO-2022-JP-KDDI", "ISO-8859-1",
    "ISO-8859-10", "ISO-8859-11", "ISO-8859-13", "ISO-8859-14", "ISO-8859-15", "ISO-8859-16",
    "ISO-8859-2", "ISO-8859-3", "ISO-8859-4", "ISO-8859-5", "ISO-8859-6", "ISO-8859-7",
    "ISO-8859-8", "ISO-8859-9", "KOI8-R", "KOI8-U", "MacJapanese", "SJIS-DoCoMo", "SJIS-KDDI",
    "SJIS-SoftBank", "Shift_JIS", "TIS-620", "UTF-16", "UTF-16BE", "UTF-16LE", "UTF-32",
    "UTF-32BE", "UTF-32LE", "UTF-7", "UTF8-DoCoMo", "UTF8-KDDI", "UTF8-MAC", "UTF8-SoftBank",
    "Windows-1250", "Windows-1251", "Windows-1252", "Windows-1253", "Windows-1254", "Windows-1255",
    "Windows-1256", "Windows-1257", "Windows-1258", "Windows-31J", "Windows-874", "eucJP-ms",
    "macCentEuro", "macCroatian", "macCyrillic", "macGreek", "macIceland", "macRoman",
    "macRomania", "macThai", "macTurkish", "macUkraine", "stateless-ISO-2022-JP",
    "stateless-ISO-2022-JP-KDDI",
];
