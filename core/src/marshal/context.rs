//! Facts that a walk needs about the stream before the place where it begins: the symbols with a meaning
//! for the format, and the objects that are names of encodings.

use super::encoding::StringEncoding;

/// Symbols that the format, or a class that every host has, gives a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    /// The encoding is US-ASCII or UTF-8.
    ShortEncoding,
    /// The encoding has a name.
    LongEncoding,
    /// A Hash was made of keyword arguments.
    Keywords,
    /// The name of the time zone of a Time, which is interned.
    Zone,
    /// Classes whose own code dumps them, always alike.
    KnownClass,
    /// The class of a Hash that is written with it although it is its own: one that compares keys by
    /// identity.
    Hash,
    /// Classes of the host that are never written, because the type says them.
    BuiltIn,
    /// The class of ranges, which are dumped as an object that they are not.
    Range,
    /// The variables of that object.
    Excl,
    Begin,
    End,
}

/// The special symbols by their text.
const SPECIAL: [(&[u8], Special); 19] = [
    (b"E", Special::ShortEncoding),
    (b"encoding", Special::LongEncoding),
    (b"K", Special::Keywords),
    (b"zone", Special::Zone),
    (b"Time", Special::KnownClass),
    (b"BigDecimal", Special::KnownClass),
    (b"Rational", Special::KnownClass),
    (b"Complex", Special::KnownClass),
    (b"Date", Special::KnownClass),
    (b"DateTime", Special::KnownClass),
    (b"OpenStruct", Special::KnownClass),
    (b"Hash", Special::Hash),
    (b"Array", Special::BuiltIn),
    (b"String", Special::BuiltIn),
    (b"Regexp", Special::BuiltIn),
    (b"Range", Special::Range),
    (b"excl", Special::Excl),
    (b"begin", Special::Begin),
    (b"end", Special::End),
];

/// Symbols with a meaning by their numbers, and the objects that name encodings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Context {
    special: [Option<u32>; SPECIAL.len()],
    /// A few at most: there is no more than one for each encoding.
    encodings: Vec<EncodingName>,
}

/// An object that names an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EncodingName {
    pub(super) number: u32,
    pub(super) offset: u32,
    pub(super) encoding: StringEncoding,
}

impl Context {
    /// Takes note of a symbol.
    #[inline]
    pub(super) fn symbol_defined(&mut self, number: u32, text: &[u8], encoding: StringEncoding) {
        if text.len() > 10 || encoding != StringEncoding::BINARY {
            return;
        }
        for ((known, _), slot) in SPECIAL.iter().zip(&mut self.special) {
            if *known == text {
                *slot = Some(number);
            }
        }
    }

    /// Returns the meaning of the symbol, if it has one.
    #[inline]
    pub(super) fn special(&self, number: u32) -> Option<Special> {
        let at = self.special.iter().position(|&known| known == Some(number))?;
        SPECIAL.get(at).map(|&(_, special)| special)
    }

    /// Takes note of an object that names an encoding.
    pub(super) fn encoding_defined(&mut self, name: EncodingName) {
        if !self.encodings.contains(&name) {
            self.encodings.push(name);
        }
    }

    /// The encoding that the object names.
    #[inline]
    pub(super) fn encoding(&self, number: u32) -> Option<StringEncoding> {
        self.name_where(|name| name.number == number).map(|name| name.encoding)
    }

    /// The object that fits.
    #[inline]
    pub(super) fn name_where(&self, fits: impl Fn(&EncodingName) -> bool) -> Option<EncodingName> {
        self.encodings.iter().copied().find(fits)
    }

    /// Returns true if more than one object names the encoding.
    pub(super) fn names_twice(&self, encoding: StringEncoding) -> bool {
        self.encodings.iter().filter(|name| name.encoding == encoding).count() > 1
    }

    /// Forgets the symbols and objects that do not stay, and moves those that do.
    pub(super) fn renew(
        &mut self,
        stays: impl Fn(u32) -> bool,
        moved: impl Fn(EncodingName) -> Option<EncodingName>,
    ) {
        for slot in &mut self.special {
            *slot = slot.filter(|&number| stays(number));
        }
        self.encodings = self.encodings.iter().copied().filter_map(moved).collect();
    }

    /// The encodings by number, in an order that depends on nothing else.
    pub(super) fn sort(&mut self) {
        self.encodings.sort_unstable_by_key(|name| name.number);
    }
}
