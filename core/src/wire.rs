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

/// A cursor over bytes that never reads past their end.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    /// A cursor at the first of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, position: 0 }
    }

    /// Bytes read so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// The bytes not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// How many bytes are not read yet.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    /// Keeps at most `count` of the bytes not read yet, so that what an enclosing header calls
    /// padding is not read as content.
    #[inline]
    pub fn limit(&mut self, count: usize) {
        let end = self.position.saturating_add(count);
        self.bytes = self.bytes.get(..end).unwrap_or(self.bytes);
    }

    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.rest().get(..count)?;
        self.position += count;
        Some(taken)
    }

    /// The next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = *self.rest().first_chunk::<N>()?;
        self.position += N;
        Some(taken)
    }

    /// The next byte.
    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// The next two bytes as a number.
    #[inline]
    pub fn u16(&mut self, endian: Endian) -> Option<u16> {
        let bytes = self.array()?;
        Some(match endian {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        })
    }

    /// The next four bytes as a number.
    #[inline]
    pub fn u32(&mut self, endian: Endian) -> Option<u32> {
        let bytes = self.array()?;
        Some(match endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    /// The next eight bytes as a number.
    #[inline]
    pub fn u64(&mut self, endian: Endian) -> Option<u64> {
        let bytes = self.array()?;
        Some(match endian {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        })
    }
}
