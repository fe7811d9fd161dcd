//! The table of an index: the parts of a capture, each with the place at which reading can begin, the number of its first
//! packet, and its times.
//!
//! ```text
//! flags u32 | end u64 | packets u64 | preamble length u32 | parts u32 | preamble | parts of 80 bytes
//! part      position u64 | raw offset u64 | first record u64 | packets before u64 | first time i64 | last time i64
//!           preamble length u32 | state 12 | window offset u64 | window length u32 | window check u32
//! ```

use crate::bytes::STATE_LEN;
use crate::wire::{Endian, Reader};

// Bound (Captures): index of a capture = 65,536 parts, a preamble of 1 MiB.
/// Longer captures have longer parts.
pub(super) const PARTS_MAX: usize = 65_536;

/// Bytes of the blocks that describe sections and interfaces at most. A capture with more has parts up to there only.
pub(super) const PREAMBLE_MAX: usize = 1 << 20;

const FIXED_LEN: usize = 28;
const PART_LEN: usize = 80;

/// Bytes of a table at most.
pub(super) const TABLE_LEN_MAX: usize = FIXED_LEN + PREAMBLE_MAX + PARTS_MAX * PART_LEN;

/// The flag of a table whose parts reach to the end of the capture.
const WHOLE: u32 = 1;

/// The parts of a capture, one behind another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct IndexTable {
    /// True if the capture ends, whole, behind the last part; else that is open.
    pub(super) is_whole: bool,
    /// Offset in the decompressed capture of what is behind the last part.
    pub(super) end: u64,
    /// Packets of all parts.
    pub(super) packets: u64,
    /// The section headers, without their options, and interface descriptions of a pcapng capture, one behind another.
    pub(super) preamble: Vec<u8>,
    pub(super) parts: Vec<IndexPart>,
}

/// Some of the records of a capture, one behind another, up to the first of the next part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexPart {
    /// Offset in the decompressed capture of the place at which reading begins, and in the file.
    pub(super) position: u64,
    pub(super) raw_offset: u64,
    /// Offset in the decompressed capture of the first record that begins there or behind.
    pub(super) first_record: u64,
    pub(super) packets_before: u64,
    /// The earliest and the latest time of its packets; the wrong way round where none has one.
    pub(super) first_ts: i64,
    pub(super) last_ts: i64,
    /// Bytes of the preamble that come before it.
    pub(super) preamble_len: u32,
    /// State of the decoder, without its window, where it has one.
    pub(super) state: [u8; STATE_LEN],
    pub(super) window: Option<WindowPlace>,
}

/// Place of a window in the file of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WindowPlace {
    pub(super) offset: u64,
    pub(super) len: u32,
    /// CRC32C of its bytes.
    pub(super) check: u32,
}

impl IndexTable {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let len = FIXED_LEN + self.preamble.len() + self.parts.len() * PART_LEN;
        let mut bytes = Vec::with_capacity(len);
        bytes.extend(if self.is_whole { WHOLE } else { 0 }.to_le_bytes());
        bytes.extend(self.end.to_le_bytes());
        bytes.extend(self.packets.to_le_bytes());
        bytes.extend((self.preamble.len() as u32).to_le_bytes());
        bytes.extend((self.parts.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.preamble);
        self.parts.iter().for_each(|part| part.add_to(&mut bytes));
        bytes
    }

    /// Reads a table; none where it is not one that could have been written.
    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut fields = Reader::new(bytes);
        let flags = fields.u32(Endian::Little)?;
        let (end, packets) = (fields.u64(Endian::Little)?, fields.u64(Endian::Little)?);
        let preamble_len = fields.u32(Endian::Little)? as usize;
        let count = fields.u32(Endian::Little)? as usize;
        if preamble_len > PREAMBLE_MAX || !(1..=PARTS_MAX).contains(&count) {
            return None;
        }
        let preamble = fields.take(preamble_len)?.to_vec();
        if fields.remaining() != count * PART_LEN {
            return None;
        }
        let parts = (0..count).map(|_| IndexPart::of(&mut fields)).collect::<Option<Vec<_>>>()?;
        let is_whole = flags & WHOLE != 0;
        let table = IndexTable { is_whole, end, packets, preamble, parts };
        table.is_in_order().then_some(table)
    }

    /// Returns true if each part lies behind the one before, and in the capture. So nothing is read twice.
    fn is_in_order(&self) -> bool {
        let follows = |pair: &[IndexPart]| match pair {
            [one, next] => {
                one.first_record < next.position
                    && one.raw_offset <= next.raw_offset
                    && one.packets_before < next.packets_before
                    && one.preamble_len <= next.preamble_len
            }
            _ => true,
        };
        let holds = |part: &IndexPart| {
            part.position <= part.first_record
                && part.first_record <= self.end
                && part.packets_before <= self.packets
                && part.preamble_len as usize <= self.preamble.len()
        };
        let begins = self.parts.first().is_some_and(|part| part.packets_before == 0);
        begins && self.parts.windows(2).all(follows) && self.parts.iter().all(holds)
    }

    /// The numbers of the first packets of pieces of about `bytes` of the capture, a file of `len` bytes, which are about as large as
    /// each other; 1 alone where a piece cannot be told from the next, or there is something behind the last part.
    pub(super) fn pieces(&self, len: u64, bytes: u64) -> Vec<u64> {
        let count = if self.is_whole { len.div_ceil(bytes.max(1)) } else { 1 };
        let mut firsts = vec![1];
        for part in &self.parts {
            let next = firsts.len() as u64;
            let begin = u128::from(len) * u128::from(next) / u128::from(count.max(1));
            if next < count && part.packets_before > 0 && u128::from(part.raw_offset) >= begin {
                firsts.push(part.packets_before + 1);
            }
        }
        firsts
    }

    /// Makes half as many parts of these, each of two.
    pub(super) fn halve(&mut self) {
        let pairs = self.parts.chunks(2).filter_map(|pair| {
            let one = pair.first()?;
            let other = pair.last()?;
            let first_ts = one.first_ts.min(other.first_ts);
            let last_ts = one.last_ts.max(other.last_ts);
            Some(IndexPart { first_ts, last_ts, ..*one })
        });
        self.parts = pairs.collect();
    }
}

impl IndexPart {
    fn add_to(&self, bytes: &mut Vec<u8>) {
        for number in [self.position, self.raw_offset, self.first_record, self.packets_before] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.first_ts.to_le_bytes());
        bytes.extend(self.last_ts.to_le_bytes());
        bytes.extend(self.preamble_len.to_le_bytes());
        bytes.extend_from_slice(&self.state);
        let window = self.window.unwrap_or(WindowPlace { offset: 0, len: 0, check: 0 });
        bytes.extend(window.offset.to_le_bytes());
        bytes.extend(window.len.to_le_bytes());
        bytes.extend(window.check.to_le_bytes());
    }

    fn of(fields: &mut Reader<'_>) -> Option<Self> {
        let position = fields.u64(Endian::Little)?;
        let raw_offset = fields.u64(Endian::Little)?;
        let first_record = fields.u64(Endian::Little)?;
        let packets_before = fields.u64(Endian::Little)?;
        let first_ts = fields.u64(Endian::Little)? as i64;
        let last_ts = fields.u64(Endian::Little)? as i64;
        let preamble_len = fields.u32(Endian::Little)?;
        let state = fields.array()?;
        let offset = fields.u64(Endian::Little)?;
        let (len, check) = (fields.u32(Endian::Little)?, fields.u32(Endian::Little)?);
        let window = (offset > 0).then_some(WindowPlace { offset, len, check });
        Some(IndexPart {
            position,
            raw_offset,
            first_record,
            packets_before,
            first_ts,
            last_ts,
            preamble_len,
            state,
            window,
        })
    }
}
