//! Bounded reading of fixed-size values from bytes. Every read answers `None` past the end; what a
//! short input means is for the decoder to say.

mod cbor;
mod inflated;
mod template;

pub use cbor::CborItem;
pub(crate) use inflated::{DeflateWrapper, inflate};
pub use template::{RecordTemplate, RecordType, RecordValue};

/// The order in which a format keeps the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first, the order of network protocols.
    Big,
}

/// A cursor over bytes that never reads past their end. It is the bytes not read yet and nothing
/// else, so that it travels in registers.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A cursor at the first of `bytes`.
    #[inline(always)]
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// The bytes not read yet.
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the number of bytes not read yet.
    #[inline(always)]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Returns the number of bytes of `whole`, which it is a cursor over, that were read.
    #[inline(always)]
    pub fn position_in(&self, whole: &[u8]) -> usize {
        self.rest.as_ptr().addr().wrapping_sub(whole.as_ptr().addr())
    }

    /// Keeps at most `count` of the bytes not read yet, so that what an enclosing header calls
    /// padding is not read as content.
    #[inline(always)]
    pub fn limit(&mut self, count: usize) {
        self.rest = self.rest.get(..count).unwrap_or(self.rest);
    }

    /// The next `count` bytes.
    #[inline(always)]
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// The next `N` bytes as an array.
    #[inline(always)]
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.array_ref().copied()
    }

    /// The next `N` bytes in place: for headers of which some fields are read, where they stand.
    #[inline(always)]
    pub fn array_ref<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(taken)
    }

    /// The next byte.
    #[inline(always)]
    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// The next two bytes as a number.
    #[inline(always)]
    pub fn u16(&mut self, endian: Endian) -> Option<u16> {
        let bytes = self.array()?;
        Some(match endian {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        })
    }

    /// The next four bytes as a number.
    #[inline(always)]
    pub fn u32(&mut self, endian: Endian) -> Option<u32> {
        let bytes = self.array()?;
        Some(match endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    /// The next eight bytes as a number.
    #[inline(always)]
    pub fn u64(&mut self, endian: Endian) -> Option<u64> {
        let bytes = self.array()?;
        Some(match endian {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        })
    }

    /// The next number of seven bits to a byte, the low ones first (LEB128, unsigned); `None` also
    /// where it does not fit 64 bits.
    #[inline]
    pub fn varint(&mut self) -> Option<u64> {
        let first = self.u8()?;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        self.varint_after(first)
    }

    /// The rest of a varint of more than one byte.
    fn varint_after(&mut self, first: u8) -> Option<u64> {
        let mut number = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.u8()?;
            if shift == 63 && byte > 1 {
                return None;
            }
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

/// An unsigned number of 24 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct U24(u32);

impl U24 {
    /// The largest one.
    pub const MAX: u32 = (1 << 24) - 1;

    /// `number`, if it fits.
    pub const fn new(number: u32) -> Option<U24> {
        if number <= Self::MAX { Some(U24(number)) } else { None }
    }

    /// The number of these bytes, the least significant first.
    #[inline]
    pub const fn from_le_bytes([low, middle, high]: [u8; 3]) -> U24 {
        U24(u32::from_le_bytes([low, middle, high, 0]))
    }

    /// The number of these bytes, the most significant first.
    #[inline]
    pub const fn from_be_bytes([high, middle, low]: [u8; 3]) -> U24 {
        U24(u32::from_be_bytes([0, high, middle, low]))
    }

    /// Its bytes, the least significant first.
    #[inline]
    pub const fn to_le_bytes(self) -> [u8; 3] {
        let [low, middle, high, _] = self.0.to_le_bytes();
        [low, middle, high]
    }

    /// Its bytes, the most significant first.
    #[inline]
    pub const fn to_be_bytes(self) -> [u8; 3] {
        let [_, high, middle, low] = self.0.to_be_bytes();
        [high, middle, low]
    }
}

impl From<U24> for u64 {
    #[inline]
    fn from(number: U24) -> u64 {
        number.0.into()
    }
}

/// Result of the search for a varint at the start of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VarintStart {
    /// A number, and how many bytes it takes.
    Whole(u64, usize),
    /// The beginning of a number.
    Short,
    /// A number that does not fit 64 bits, or goes on for more than 10 bytes.
    TooLong,
}

/// Looks for a varint at the start of `bytes`, and says why there is none.
#[inline]
pub fn varint_at_start(bytes: &[u8]) -> VarintStart {
    let mut cursor = Reader::new(bytes);
    match cursor.varint() {
        Some(number) => VarintStart::Whole(number, cursor.position_in(bytes)),
        None if bytes.len() < VARINT_LEN_MAX && bytes.iter().all(|byte| *byte >= 0x80) => {
            VarintStart::Short
        }
        None => VarintStart::TooLong,
    }
}

/// The most bytes that a varint of 64 bits takes.
pub const VARINT_LEN_MAX: usize = 10;

/// The signed number that `number` stands for in zigzag, where the lowest bit is the sign: 0, -1, 1, -2.
#[inline]
pub const fn from_zigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// `number` in zigzag.
#[inline]
pub const fn to_zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Appends `number` with seven bits to a byte, the low ones first (LEB128, unsigned).
#[inline]
pub fn put_varint(bytes: &mut Vec<u8>, number: u64) {
    let mut encoded = [0; 10];
    let len = write_varint(&mut encoded, number);
    bytes.extend_from_slice(&encoded[..len]);
}

/// Writes to the front of `bytes` what [`put_varint`] appends, and gives the number of bytes. They
/// must be [`varint_len`] at least.
#[inline]
pub fn write_varint(bytes: &mut [u8], mut number: u64) -> usize {
    let mut len = 0;
    while number >= 0x80 {
        bytes[len] = number as u8 | 0x80;
        number >>= 7;
        len += 1;
    }
    bytes[len] = number as u8;
    len + 1
}

/// Bytes that [`put_varint`] appends.
#[inline]
pub const fn varint_len(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_varint_is_read_as_it_was_put_and_never_beyond_64_bits() {
        for shift in 0..64 {
            for number in [1_u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                put_varint(&mut bytes, number);
                assert_eq!(bytes.len(), varint_len(number));
                let mut written = [0; 10];
                let len = write_varint(&mut written, number);
                assert_eq!(written[..len], bytes);
                assert_eq!(Reader::new(&bytes).varint(), Some(number));
                assert_eq!(Reader::new(&bytes[..bytes.len() - 1]).varint(), None);
            }
        }
        for number in [0, -1, 1, i64::MIN, i64::MAX, -64, 64] {
            assert_eq!(from_zigzag(to_zigzag(number)), number);
        }
        assert_eq!([0, -1, 1, -2].map(to_zigzag), [0, 1, 2, 3]);
        assert_eq!(varint_at_start(&[0x80; 9]), VarintStart::Short);
        assert_eq!(varint_at_start(&[0x80; 10]), VarintStart::TooLong);
        assert_eq!(varint_at_start(&[0x80, 1, 9]), VarintStart::Whole(128, 2));
        let beyond = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert_eq!(Reader::new(&beyond).varint(), None);
        assert_eq!(Reader::new(&[0x80; 20]).varint(), None);
    }

    #[test]
    fn a_number_of_24_bits_has_three_bytes_in_either_order() {
        for number in [0, 1, 0x0012_3456, U24::MAX] {
            let bytes = number.to_be_bytes();
            let Some(number) = U24::new(number) else { unreachable!("it fits") };
            assert_eq!(number.to_be_bytes(), bytes[1..]);
            assert_eq!(U24::from_be_bytes(number.to_be_bytes()), number);
            assert_eq!(U24::from_le_bytes(number.to_le_bytes()), number);
            assert!(number.to_le_bytes().iter().eq(number.to_be_bytes().iter().rev()));
        }
        assert_eq!(U24::new(U24::MAX + 1), None);
    }
}
