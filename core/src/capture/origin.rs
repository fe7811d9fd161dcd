//! Parts of a record of a file beside its frame, for writing it again: its interface, its time in the file's units, its
//! options.

use super::pcapng::{block, padded};
use crate::wire::{Endian, Reader};

/// When a frame was captured, as its file says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// Not at all.
    Missing,
    /// Nanoseconds since the epoch.
    Nanoseconds(i64),
    /// The two words of a pcap record; the second may be a second or more in a damaged file.
    Words {
        /// Seconds since the epoch.
        seconds: u32,
        /// Units of the file's clock.
        fraction: u32,
    },
    /// Units of the interface's clock.
    Units(u64),
}

/// Options of a block of pcapng, as they stand in the file.
#[derive(Debug, Clone, Copy)]
pub struct BlockOptions<'a> {
    bytes: &'a [u8],
    endian: Endian,
}

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockOption<'a> {
    /// Number of the kind of option, which depends on the kind of block.
    pub code: u16,
    /// Its bytes; numbers in them have the byte order of the file.
    pub value: &'a [u8],
}

/// Parts of a record beside its frame.
#[derive(Debug, Clone, Copy)]
pub struct RecordOrigin<'a> {
    /// Number of the interface in its section; 0 in pcap.
    pub interface: u32,
    /// Its time.
    pub stamp: Stamp,
    /// Comments, flags and the like.
    pub options: BlockOptions<'a>,
}

impl<'a> BlockOptions<'a> {
    /// No options.
    pub const NONE: BlockOptions<'static> = BlockOptions { bytes: &[], endian: Endian::Little };

    /// Options whose numbers have that byte order.
    pub(super) fn new(bytes: &'a [u8], endian: Endian) -> Self {
        BlockOptions { bytes, endian }
    }

    /// The bytes as they stand in the file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns these options over a copy of their bytes.
    #[must_use]
    pub fn over<'b>(&self, bytes: &'b [u8]) -> BlockOptions<'b> {
        BlockOptions { bytes, endian: self.endian }
    }

    /// Byte order of the numbers in them.
    pub(super) fn endian(&self) -> Endian {
        self.endian
    }
}

impl<'a> Iterator for BlockOptions<'a> {
    type Item = BlockOption<'a>;

    /// The next option; none at the end, or before other bytes.
    fn next(&mut self) -> Option<BlockOption<'a>> {
        const END: u16 = 0;
        let mut rest = Reader::new(self.bytes);
        let (code, len) = (rest.u16(self.endian)?, rest.u16(self.endian)?);
        let value = rest.take(len.into()).filter(|_| code != END)?;
        rest.take(padded(len.into()) as usize - usize::from(len));
        self.bytes = rest.rest();
        Some(BlockOption { code, value })
    }
}

/// Reads the parts of a record of a pcap file from its bytes `raw`.
pub(super) fn of_pcap(raw: &[u8], endian: Endian) -> RecordOrigin<'static> {
    let mut words = Reader::new(raw);
    let (seconds, fraction) =
        (words.u32(endian).unwrap_or_default(), words.u32(endian).unwrap_or_default());
    let stamp = Stamp::Words { seconds, fraction };
    RecordOrigin { interface: 0, stamp, options: BlockOptions::NONE }
}

/// Reads the parts of a block with a packet of a pcapng file from its bytes `raw`.
pub(super) fn of_pcapng(raw: &[u8], endian: Endian) -> RecordOrigin<'_> {
    const FRAMING: usize = 8;
    let mut body = Reader::new(raw.get(..raw.len().saturating_sub(4)).unwrap_or_default());
    let kind = body.u32(endian).unwrap_or_default();
    body.take(FRAMING - 4);
    let interface = match kind {
        block::ENHANCED_PACKET => body.u32(endian),
        block::PACKET => {
            let number = body.u16(endian).map(u32::from);
            body.take(2);
            number
        }
        _ => {
            return RecordOrigin {
                interface: 0,
                stamp: Stamp::Missing,
                options: BlockOptions::NONE,
            };
        }
    };
    let mut word = || body.u32(endian).unwrap_or_default();
    let (high, low, caplen) = (word(), word(), word());
    word();
    body.take(padded(caplen) as usize);
    RecordOrigin {
        interface: interface.unwrap_or_default(),
        stamp: Stamp::Units(u64::from(high) << 32 | u64::from(low)),
        options: BlockOptions::new(body.rest(), endian),
    }
}
