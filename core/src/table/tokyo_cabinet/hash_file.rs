//! The records of a file of Tokyo Cabinet, one behind the other, and a hash's entries out of them.
//!
//! ```text
//! record: c8, u8 hash of the key, left and right offset (u32 or u64 each), u16 padding,
//!         key length, value length, key, value, padding
//! free:   b0, u32 length of the whole, anything
//! ```
//!
//! Lengths have seven bits to a byte, the low ones first; a byte with the high bit set is followed by
//! another, and has its seven bits inverted. Who walks the records needs neither buckets nor offsets,
//! and so does not mind what is wrong with them.

use std::ops::Range;
use std::sync::Arc;

use super::DatabaseFile;
use super::window::Window;
use crate::error::{Error, ErrorKind, Result};
use crate::table::Scan;
use crate::wire::{self, DeflateWrapper, Reader};

const RECORD: u8 = 0xc8;
const FREE: u8 = 0xb0;

/// The longest head of a record: two bytes, two offsets, padding, two lengths of ten bytes.
const HEAD_LEN_MAX: usize = 2 + 2 * 8 + 2 + 2 * 10;

/// Bytes to read at once when all is read.
const SCAN_AHEAD_LEN: usize = 256 << 10;

// Bound (Tables): inflated value of a Tokyo Cabinet file = 256 MiB.
/// A thousandth of it in a file would else take it all in memory.
pub(super) const INFLATED_LEN_MAX: usize = 256 << 20;

/// A record where it lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokyoRecord {
    pub(super) offset: u64,
    head_len: usize,
    pub(super) key_len: usize,
    pub(super) value_len: usize,
    /// Bytes with head and padding.
    len: u64,
}

/// The blocks of a file from the first to the last.
#[derive(Debug)]
pub(super) struct BlockWalk {
    file: Arc<DatabaseFile>,
    pub(super) window: Window,
    offset: u64,
}

impl BlockWalk {
    /// `ahead_len` bytes are read at once.
    pub(super) fn new(file: Arc<DatabaseFile>, ahead_len: usize) -> BlockWalk {
        let window = Window::new(Arc::clone(&file), ahead_len);
        let offset = file.header.first_record;
        BlockWalk { file, window, offset }
    }

    /// The next record.
    pub(super) fn next(&mut self) -> Result<Option<TokyoRecord>> {
        let used_len = self.file.header.used_len;
        while self.offset < used_len.min(self.file.len) {
            match self.block(self.offset)? {
                TokyoBlock::Free { len } => self.offset += len,
                TokyoBlock::Record(record) => {
                    self.offset += record.len;
                    return Ok(Some(record));
                }
            }
        }
        match self.offset < used_len {
            true => Err(Error::truncated("a file", used_len, self.file.len).at(self.offset)),
            false => Ok(None),
        }
    }

    /// Reads the head of the block at `offset`, and checks that all of it is before the end.
    pub(super) fn block(&mut self, offset: u64) -> Result<TokyoBlock> {
        let header = &self.file.header;
        let used_left = header.used_len.saturating_sub(offset);
        let there = self.file.len.saturating_sub(offset);
        let head = self.window.up_to(offset, HEAD_LEN_MAX)?;
        let block = match head.first() {
            Some(&RECORD) => record_head(head, header, offset).map(TokyoBlock::Record),
            Some(&FREE) => Reader::new(&head[1..])
                .u32(header.endian)
                .map(|len| TokyoBlock::Free { len: u64::from(len) }),
            Some(other) => {
                let found = format!("a byte {other:02x}");
                return Err(Error::format("a record or free space", found).at(offset));
            }
            None => None,
        };
        let Some(block) = block else {
            let needed = (head.len() + 1) as u64;
            return Err(Error::truncated("a record's head", needed, head.len() as u64).at(offset));
        };
        let len = block.len();
        if len > used_left {
            let found = format!("one of {len}");
            return Err(
                Error::format(format!("a block of at most {used_left} bytes"), found).at(offset)
            );
        }
        if len > there {
            return Err(Error::truncated("a record", len, there).at(offset));
        }
        // No free space is shorter than its own head; less would keep the walk where it is.
        if len < 5 {
            return Err(Error::format("free space of at least 5 bytes", len).at(offset));
        }
        Ok(block)
    }

    /// The first `len_max` bytes of a record's key.
    pub(super) fn key(&mut self, record: &TokyoRecord, len_max: usize) -> Result<&[u8]> {
        let TokyoRecord { offset, head_len, key_len, .. } = *record;
        let shown = self.window.show(offset, head_len + key_len.min(len_max))?;
        Ok(self.window.bytes(shown.start + head_len..shown.end))
    }

    /// Returns the places of the key and the value of `record` in the window, until it moves.
    pub(super) fn show(&mut self, record: &TokyoRecord) -> Result<(Range<usize>, Range<usize>)> {
        let TokyoRecord { offset, head_len, key_len, value_len, .. } = *record;
        let whole = self.window.show(offset, head_len + key_len + value_len)?;
        let key_end = whole.start + head_len + key_len;
        Ok((whole.start + head_len..key_end, key_end..whole.end))
    }
}

/// Content of a place in the file.
#[derive(Debug)]
pub(super) enum TokyoBlock {
    /// An entry, or a part of a tree.
    Record(TokyoRecord),
    /// Space that a deletion or a move left.
    Free {
        /// Its bytes.
        len: u64,
    },
}

impl TokyoBlock {
    fn len(&self) -> u64 {
        match self {
            TokyoBlock::Record(record) => record.len,
            TokyoBlock::Free { len } => *len,
        }
    }
}

/// Reads a record's head; `None` where it goes on behind `bytes` or has a length beyond all files.
fn record_head(bytes: &[u8], header: &super::TokyoHeader, offset: u64) -> Option<TokyoRecord> {
    let mut reader = Reader::new(bytes);
    reader.take(2)?;
    reader.take(if header.options.is_large() { 16 } else { 8 })?;
    let padding = u64::from(reader.u16(header.endian)?);
    let key_len = length(&mut reader)?;
    let value_len = length(&mut reader)?;
    let head_len = reader.position_in(bytes);
    let len = (head_len as u64 + padding).checked_add(key_len)?.checked_add(value_len)?;
    Some(TokyoRecord {
        offset,
        head_len,
        key_len: usize::try_from(key_len).ok()?,
        value_len: usize::try_from(value_len).ok()?,
        len,
    })
}

/// The next length, or number of a leaf; `None` also where it is beyond 63 bits.
pub(super) fn length(reader: &mut Reader<'_>) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = reader.u8()?;
        if byte < 0x80 {
            return Some(number | u64::from(byte) << shift);
        }
        number |= u64::from(!byte & 0x7f) << shift;
    }
    None
}

/// Replaces `into` by what the raw deflate stream `deflated` holds.
pub(super) fn inflate(deflated: &[u8], into: &mut Vec<u8>) -> Result<()> {
    let none = DeflateWrapper::None;
    let taken = wire::inflate(deflated, none, "a value", INFLATED_LEN_MAX, into)?;
    match deflated.len() - taken {
        // Tokyo Cabinet itself puts a byte behind.
        0 | 1 => Ok(()),
        left => Err(Error::format("the end of a deflated value", format!("{left} more bytes"))),
    }
}

/// The entries of a hash.
#[derive(Debug)]
pub(super) struct TokyoHashScan {
    file: Arc<DatabaseFile>,
    walk: BlockWalk,
    inflated: Vec<u8>,
    count: u64,
    is_over: bool,
}

impl TokyoHashScan {
    pub(super) fn new(file: Arc<DatabaseFile>) -> TokyoHashScan {
        let walk = BlockWalk::new(Arc::clone(&file), SCAN_AHEAD_LEN);
        TokyoHashScan { file, walk, inflated: Vec::new(), count: 0, is_over: false }
    }

    /// Returns the places of the next entry's key and value in the window, its value maybe deflated.
    fn step(&mut self) -> Result<Option<(Range<usize>, Range<usize>)>> {
        let Some(record) = self.walk.next()? else {
            return self.file.header.check_count(self.count).map(|()| None);
        };
        self.count += 1;
        let (key, value) = self.walk.show(&record)?;
        if self.file.header.options.is_deflated() {
            inflate(self.walk.window.bytes(value.clone()), &mut self.inflated)
                .map_err(|error| error.at(record.offset))?;
        }
        Ok(Some((key, value)))
    }
}

impl Scan for TokyoHashScan {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.is_over {
            return Ok(None);
        }
        match self.step() {
            Ok(Some((key, value))) => {
                let value = match self.file.header.options.is_deflated() {
                    true => &self.inflated[..],
                    false => self.walk.window.bytes(value),
                };
                Ok(Some((self.walk.window.bytes(key), value)))
            }
            ended => {
                self.is_over = true;
                ended.map(|_| None).map_err(|error| self.file.explain(error))
            }
        }
    }
}

impl DatabaseFile {
    /// Adds the file's name to an error, and what may have caused it.
    pub(super) fn explain(&self, error: Error) -> Error {
        let offset = error.offset();
        let is_damage = !matches!(error.kind(), ErrorKind::Io(_));
        let error = match self.header.is_left_open() && is_damage {
            false => error,
            true => {
                let text = format!("{} (the file was left open by its writer)", error.message());
                let explained = Error::new(error.kind(), text);
                offset.map_or(explained.clone(), |offset| explained.at(offset))
            }
        };
        error.in_file(&self.name)
    }
}
