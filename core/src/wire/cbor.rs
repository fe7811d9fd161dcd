//! CBOR (RFC 8949), as far as nested data needs it: items of definite length, one after another.

use super::{Endian, Reader};

/// Item of CBOR: a value, or the beginning of one that consists of the items behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CborItem<'a> {
    /// A positive integer, or 0.
    Unsigned(u64),
    /// The integer -1 minus this number.
    Negative(u64),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Text.
    Text(&'a str),
    /// So many items follow.
    Array(u64),
    /// So many pairs of items follow, each a key and a value.
    Map(u64),
    /// The item behind it has the meaning that IANA, or the program, gives this number.
    Tag(u64),
    /// A float of 64 bits.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Nothing.
    Null,
}

/// Major types, in the highest three bits of an item's first byte.
const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;
const OTHER: u8 = 7;

/// Values of the lowest five bits that say how many bytes of the number follow.
const ONE_BYTE: u8 = 24;
const EIGHT_BYTES: u8 = 27;

/// First bytes of simple values, and of a float of 64 bits.
const FALSE: u8 = OTHER << 5 | 20;
const TRUE: u8 = OTHER << 5 | 21;
const NULL: u8 = OTHER << 5 | 22;
const FLOAT: u8 = OTHER << 5 | EIGHT_BYTES;

impl<'a> CborItem<'a> {
    /// Takes the next item from `reader`; `None` where it ends before, or has an item of another kind.
    #[inline]
    pub fn take(reader: &mut Reader<'a>) -> Option<CborItem<'a>> {
        let first = reader.u8()?;
        match first {
            FALSE => return Some(CborItem::Bool(false)),
            TRUE => return Some(CborItem::Bool(true)),
            NULL => return Some(CborItem::Null),
            FLOAT => {
                return reader.u64(Endian::Big).map(|bits| CborItem::Float(f64::from_bits(bits)));
            }
            _ => {}
        }
        let number = match first & 31 {
            low if low < ONE_BYTE => u64::from(low),
            24 => u64::from(reader.u8()?),
            25 => u64::from(reader.u16(Endian::Big)?),
            26 => u64::from(reader.u32(Endian::Big)?),
            EIGHT_BYTES => reader.u64(Endian::Big)?,
            _ => return None,
        };
        let mut bytes = || reader.take(usize::try_from(number).ok()?);
        Some(match first >> 5 {
            UNSIGNED => CborItem::Unsigned(number),
            NEGATIVE => CborItem::Negative(number),
            BYTES => CborItem::Bytes(bytes()?),
            TEXT => CborItem::Text(std::str::from_utf8(bytes()?).ok()?),
            // Each item has a byte, so that nobody makes room for more than there can be.
            ARRAY if number <= reader.remaining() as u64 => CborItem::Array(number),
            MAP if number <= reader.remaining() as u64 / 2 => CborItem::Map(number),
            TAG => CborItem::Tag(number),
            _ => return None,
        })
    }

    /// Appends it to `bytes`.
    #[inline]
    pub fn put(self, bytes: &mut Vec<u8>) {
        match self {
            CborItem::Unsigned(number) => put_head(bytes, UNSIGNED, number),
            CborItem::Negative(number) => put_head(bytes, NEGATIVE, number),
            CborItem::Bytes(data) => {
                put_head(bytes, BYTES, data.len() as u64);
                bytes.extend_from_slice(data);
            }
            CborItem::Text(text) => {
                put_head(bytes, TEXT, text.len() as u64);
                bytes.extend_from_slice(text.as_bytes());
            }
            CborItem::Array(count) => put_head(bytes, ARRAY, count),
            CborItem::Map(count) => put_head(bytes, MAP, count),
            CborItem::Tag(tag) => put_head(bytes, TAG, tag),
            CborItem::Float(number) => {
                bytes.push(FLOAT);
                bytes.extend(number.to_bits().to_be_bytes());
            }
            CborItem::Bool(value) => bytes.push(if value { TRUE } else { FALSE }),
            CborItem::Null => bytes.push(NULL),
        }
    }

    /// An integer.
    pub fn integer(number: i64) -> CborItem<'static> {
        match u64::try_from(number) {
            Ok(number) => CborItem::Unsigned(number),
            Err(_) => CborItem::Negative(!number as u64),
        }
    }
}

#[inline]
fn put_head(bytes: &mut Vec<u8>, major: u8, number: u64) {
    let major = major << 5;
    if number < u64::from(ONE_BYTE) {
        bytes.push(major | number as u8);
    } else if let Ok(number) = u8::try_from(number) {
        bytes.extend([major | ONE_BYTE, number]);
    } else if let Ok(number) = u16::try_from(number) {
        bytes.push(major | 25);
        bytes.extend(number.to_be_bytes());
    } else if let Ok(number) = u32::try_from(number) {
        bytes.push(major | 26);
        bytes.extend(number.to_be_bytes());
    } else {
        bytes.push(major | EIGHT_BYTES);
        bytes.extend(number.to_be_bytes());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn bytes_of(item: CborItem<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        item.put(&mut bytes);
        bytes
    }

    #[test]
    fn items_are_those_of_the_examples_of_the_standard() {
        // RFC 8949, appendix A.
        let examples: [(&[u8], CborItem<'_>); 19] = [
            (&[0x00], CborItem::integer(0)),
            (&[0x17], CborItem::integer(23)),
            (&[0x18, 0x18], CborItem::integer(24)),
            (&[0x19, 0x03, 0xe8], CborItem::integer(1000)),
            (&[0x1a, 0x00, 0x0f, 0x42, 0x40], CborItem::integer(1_000_000)),
            (&[0x1b, 0, 0, 0, 0xe8, 0xd4, 0xa5, 0x10, 0], CborItem::integer(1_000_000_000_000)),
            (&[0x1b, 255, 255, 255, 255, 255, 255, 255, 255], CborItem::Unsigned(u64::MAX)),
            (&[0x20], CborItem::integer(-1)),
            (&[0x38, 0x63], CborItem::integer(-100)),
            (&[0x3b, 127, 255, 255, 255, 255, 255, 255, 255], CborItem::integer(i64::MIN)),
            (&[0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a], CborItem::Float(1.1)),
            (&[0xf4], CborItem::Bool(false)),
            (&[0xf5], CborItem::Bool(true)),
            (&[0xf6], CborItem::Null),
            (&[0x44, 1, 2, 3, 4], CborItem::Bytes(&[1, 2, 3, 4])),
            (&[0x64, 0x49, 0x45, 0x54, 0x46], CborItem::Text("IETF")),
            (&[0x62, 0xc3, 0xbc], CborItem::Text("\u{fc}")),
            (&[0x80], CborItem::Array(0)),
            (&[0xc1], CborItem::Tag(1)),
        ];
        for (bytes, item) in examples {
            assert_eq!(bytes_of(item), bytes, "{item:?}");
            let mut reader = Reader::new(bytes);
            assert_eq!(CborItem::take(&mut reader), Some(item));
            assert_eq!(reader.remaining(), 0);
            for cut in 0..bytes.len() {
                assert_eq!(CborItem::take(&mut Reader::new(&bytes[..cut])), None, "{item:?}");
            }
        }
    }

    #[test]
    fn counts_beyond_the_end_and_unknown_items_are_refused() {
        let others: [&[u8]; 9] = [
            &[0x81],
            &[0x9b, 255, 255, 255, 255, 255, 255, 255, 255, 0],
            &[0xa1, 0],
            &[0x5b, 255, 255, 255, 255, 255, 255, 255, 255, 0],
            &[0x61, 0xff],
            &[0x9f, 0xff],
            &[0xf7],
            &[0xf9, 0, 0],
            &[0x1c],
        ];
        for bytes in others {
            assert_eq!(CborItem::take(&mut Reader::new(bytes)), None, "{bytes:?}");
        }
        assert_eq!(CborItem::take(&mut Reader::new(&[0x82, 1, 2])), Some(CborItem::Array(2)));
        assert_eq!(CborItem::take(&mut Reader::new(&[0xa1, 1, 2])), Some(CborItem::Map(1)));
    }
}
