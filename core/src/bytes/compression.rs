//! Telling compressions apart by their first bytes. Names and extensions are never looked at.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// Compression of the input of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all, as far as we can tell.
    None,
    /// gzip, RFC 1952, of one member or many.
    Gzip,
    /// Zstandard, RFC 8878, of one frame or many.
    Zstd,
}

/// Choice of the compression that input is read with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionChoice {
    /// As its first bytes say; what is compressed in a way that we do not read is refused.
    Auto,
    /// As its first bytes say, and where they say nothing that we know, not at all: for input that may
    /// well be an archive whose own bytes are wanted.
    AutoElseNone,
    /// In this way, whatever its first bytes are.
    Is(Compression),
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::None => "none",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        })
    }
}

/// Compression that first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detected {
    Supported(Compression),
    Unsupported(Unsupported),
}

/// A compression that we know and do not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unsupported {
    name: &'static str,
    command: &'static str,
}

impl Unsupported {
    pub(super) fn error(self) -> Error {
        let Unsupported { name, command } = self;
        let message = format!(
            "expected plain, gzip or zstd input, found {name}; \
             decompress it on the way in: {command} | bytewright ... -"
        );
        Error::new(ErrorKind::Format, message).at(0)
    }
}

const XZ: Detected = unsupported("xz", "xz -dc FILE");
const BZIP2: Detected = unsupported("bzip2", "bzip2 -dc FILE");
const LZ4: Detected = unsupported("lz4", "lz4 -dc FILE");
const COMPRESS: Detected = unsupported("compress (.Z)", "gzip -dc FILE");
const ZIP: Detected = unsupported("zip", "unzip -p FILE");
const GZIP: Detected = Detected::Supported(Compression::Gzip);
const ZSTD: Detected = Detected::Supported(Compression::Zstd);
const PLAIN: Detected = Detected::Supported(Compression::None);

const fn unsupported(name: &'static str, command: &'static str) -> Detected {
    Detected::Unsupported(Unsupported { name, command })
}

/// A first byte: this one, or this one and the 15 that share its upper half, or a digit 1 to 9.
#[derive(Debug, Clone, Copy)]
enum Byte {
    Is(u8),
    UpperHalf(u8),
    Digit,
}

use Byte::{Digit, Is, UpperHalf};

const MAGICS: &[(&[Byte], Detected)] = &[
    (&[Is(0x1f), Is(0x8b)], GZIP),
    (&[Is(0x28), Is(0xb5), Is(0x2f), Is(0xfd)], ZSTD),
    // A skippable frame: any of 16 magic numbers 0x184D2A5x, least significant byte first.
    (&[UpperHalf(0x50), Is(0x2a), Is(0x4d), Is(0x18)], ZSTD),
    (&[Is(0xfd), Is(b'7'), Is(b'z'), Is(b'X'), Is(b'Z'), Is(0)], XZ),
    // The letters alone could begin a text; pi (a block) or its square root (an empty file) do not.
    (&[Is(b'B'), Is(b'Z'), Is(b'h'), Digit, Is(0x31), Is(0x41), Is(0x59), Is(0x26)], BZIP2),
    (&[Is(b'B'), Is(b'Z'), Is(b'h'), Digit, Is(0x17), Is(0x72), Is(0x45), Is(0x38)], BZIP2),
    (&[Is(0x04), Is(0x22), Is(0x4d), Is(0x18)], LZ4),
    (&[Is(0x02), Is(0x21), Is(0x4c), Is(0x18)], LZ4),
    (&[Is(0x1f), Is(0x9d)], COMPRESS),
    (&[Is(b'P'), Is(b'K'), Is(3), Is(4)], ZIP),
];

/// Returns the compression of input that begins with `bytes`, or `None` while more bytes could
/// still tell. `ended` says that there are no more. Empty input is plain.
pub(super) fn detect(bytes: &[u8], ended: bool) -> Option<Detected> {
    let mut undecided = false;
    for (magic, detected) in MAGICS {
        if magic.iter().zip(bytes).all(|(magic, byte)| magic.matches(*byte)) {
            if bytes.len() >= magic.len() {
                return Some(*detected);
            }
            undecided = true;
        }
    }
    (!undecided || ended).then_some(PLAIN)
}

impl Byte {
    fn matches(self, byte: u8) -> bool {
        match self {
            Is(value) => byte == value,
            UpperHalf(value) => byte & 0xf0 == value,
            Digit => matches!(byte, b'1'..=b'9'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_unknown_input_is_plain() {
        assert_eq!(detect(b"", true), Some(PLAIN));
        assert_eq!(detect(b"", false), None);
        assert_eq!(detect(&[0xd4, 0xc3, 0xb2, 0xa1], false), Some(PLAIN));
        assert_eq!(detect(b"BZhello", false), Some(PLAIN));
    }

    #[test]
    fn every_magic_number_is_told_as_soon_as_it_is_whole_and_not_before() {
        let cases: &[(&[u8], Detected)] = &[
            (b"\x1f\x8b", GZIP),
            (b"\x28\xb5\x2f\xfd", ZSTD),
            (b"\x50\x2a\x4d\x18", ZSTD),
            (b"\x5f\x2a\x4d\x18", ZSTD),
            (b"\xfd7zXZ\0", XZ),
            (b"BZh9\x31\x41\x59\x26", BZIP2),
            (b"BZh1\x17\x72\x45\x38", BZIP2),
            (b"\x04\x22\x4d\x18", LZ4),
            (b"\x02\x21\x4c\x18", LZ4),
            (b"\x1f\x9d", COMPRESS),
            (b"PK\x03\x04", ZIP),
        ];
        for (magic, detected) in cases {
            for length in 0..magic.len() {
                assert_eq!(detect(&magic[..length], false), None, "{magic:?} cut at {length}");
                assert_eq!(detect(&magic[..length], true), Some(PLAIN), "{magic:?} at {length}");
            }
            assert_eq!(detect(magic, false), Some(*detected));
            assert_eq!(detect(&[magic, b"more".as_slice()].concat(), false), Some(*detected));
        }
    }

    #[test]
    fn a_refusal_names_the_compression_what_we_read_and_the_command_to_type() {
        let Some(Detected::Unsupported(xz)) = detect(b"\xfd7zXZ\0", true) else {
            unreachable!("xz is told by its magic number")
        };
        let error = xz.error();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert_eq!(
            error.to_string(),
            "byte 0: expected plain, gzip or zstd input, found xz; decompress it on the way in: \
             xz -dc FILE | bytewright ... -"
        );
    }
}
