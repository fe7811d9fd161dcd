//! Bounded reading of fixed-size values from bytes. Every read answers `None` past the end; what a
//! short input means is for the decoder to say.

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

    /// How many bytes are not read yet.
    #[inline(always)]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// How many bytes of `whole`, which it is a cursor over, were read.
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
}
