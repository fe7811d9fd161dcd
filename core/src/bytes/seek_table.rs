//! Seek table of a zstd file: the lengths of its frames, in a frame at its end that decoders step over.
//!
//! ```text
//! 0x184D2A5E u32 | length of what follows u32 | entries | number of entries u32 | descriptor u8 | 0x8F92EAB1 u32
//! entry   raw length u32 | length of its content u32 | checksum u32, if bit 7 of the descriptor is set
//! ```
//!
//! The format is that of `contrib/seekable_format` of zstd. A reader finds out by decompressing whether a table is
//! right (`bytes::spans`). One that does not fit the length of its file counts as none.

use crate::error::Result;
use crate::wire::{Endian, Reader};

use super::seek_point::{Resume, SeekPoint};
use super::source::Source;
use super::spans::SeekPlaces;

const FRAME_MAGIC: u32 = 0x184d_2a5e;
const FOOTER_MAGIC: u32 = 0x8f92_eab1;
const FRAME_HEADER_LEN: usize = 8;
const FOOTER_LEN: usize = 9;
const ENTRY_LEN: usize = 8;
const CHECKSUM_LEN: usize = 4;

/// Bits of the descriptor: each entry has a checksum; those that no reader knows.
const HAS_CHECKSUMS: u8 = 1 << 7;
const RESERVED: u8 = 0b0111_1100;

// Bound (Streams): frames in a seek table of zstd = 262,144; a file with more is read as one without.
/// They are a terabyte of capture as Bytewright writes it.
const FRAMES_MAX: usize = 1 << 18;

/// Lengths of the frames of a zstd file, from its first byte on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SeekTable {
    frames: Vec<SeekFrame>,
    /// Offset in the file behind the last frame, and in what it decompresses to.
    end: u64,
    position: u64,
    /// There are more frames than a table has, or one is too long.
    is_closed: bool,
}

/// Frame of a zstd file, as its seek table has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SeekFrame {
    /// Offset in the file, and in what it decompresses to.
    offset: u64,
    position: u64,
    raw_len: u32,
    len: u32,
}

impl SeekTable {
    /// Notes the next frame, by its length and that of its content.
    pub(crate) fn add(&mut self, raw_len: u64, len: u64) {
        match (u32::try_from(raw_len), u32::try_from(len)) {
            (Ok(raw), Ok(len)) if !self.is_closed && self.frames.len() < FRAMES_MAX => {
                let (offset, position) = (self.end, self.position);
                self.frames.push(SeekFrame { offset, position, raw_len: raw, len });
                self.end += raw_len;
                self.position += u64::from(len);
            }
            _ => self.is_closed = true,
        }
    }

    /// Returns the frame to be written behind the others; none where there is nothing to seek, or more than a table holds.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let count = self.frames.len();
        if count < 2 || self.is_closed {
            return None;
        }
        let len = count * ENTRY_LEN + FOOTER_LEN;
        let mut bytes = Vec::with_capacity(FRAME_HEADER_LEN + len);
        bytes.extend(FRAME_MAGIC.to_le_bytes());
        bytes.extend((len as u32).to_le_bytes());
        for frame in &self.frames {
            bytes.extend(frame.raw_len.to_le_bytes());
            bytes.extend(frame.len.to_le_bytes());
        }
        bytes.extend((count as u32).to_le_bytes());
        bytes.push(0);
        bytes.extend(FOOTER_MAGIC.to_le_bytes());
        Some(bytes)
    }

    /// Reads the table of a file of `file_len` bytes; none where it has none that fits.
    pub(super) fn read(source: &mut dyn Source, file_len: u64) -> Option<SeekTable> {
        let footer = read_at(source, file_len.checked_sub(FOOTER_LEN as u64)?, FOOTER_LEN).ok()?;
        let table_len = table_len(&footer)?;
        let start = file_len.checked_sub(table_len as u64)?;
        let table = read_at(source, start, table_len).ok()?;
        SeekTable::of_frame(&table).filter(|table| table.end == start)
    }

    /// Reads the frame that has the table.
    fn of_frame(bytes: &[u8]) -> Option<SeekTable> {
        let (entries, footer) = bytes.split_at_checked(bytes.len().checked_sub(FOOTER_LEN)?)?;
        if table_len(footer)? != bytes.len() {
            return None;
        }
        let mut fields = Reader::new(entries);
        let is_table = fields.u32(Endian::Little)? == FRAME_MAGIC
            && fields.u32(Endian::Little)? as usize == bytes.len() - FRAME_HEADER_LEN;
        if !is_table {
            return None;
        }
        let entry_len = entry_len(footer)?;
        let mut table = SeekTable::default();
        while fields.remaining() > 0 {
            let mut entry = Reader::new(fields.take(entry_len)?);
            table.add(entry.u32(Endian::Little)?.into(), entry.u32(Endian::Little)?.into());
        }
        Some(table)
    }
}

impl SeekPlaces for SeekTable {
    fn position(&self, index: usize) -> Option<u64> {
        self.frames.get(index).map(|frame| frame.position)
    }

    fn place(&self, index: usize) -> Option<SeekPoint> {
        let SeekFrame { offset: raw_offset, position, .. } = *self.frames.get(index)?;
        Some(SeekPoint { position, raw_offset, resume: Resume::Boundary })
    }
}

/// The length of the frame with the table that ends with this footer.
fn table_len(footer: &[u8]) -> Option<usize> {
    let mut fields = Reader::new(footer);
    let count = fields.u32(Endian::Little)? as usize;
    let [descriptor] = fields.array()?;
    let is_footer = fields.u32(Endian::Little)? == FOOTER_MAGIC && descriptor & RESERVED == 0;
    (is_footer && count <= FRAMES_MAX)
        .then(|| Some(FRAME_HEADER_LEN + count * entry_len(footer)? + FOOTER_LEN))
        .flatten()
}

fn entry_len(footer: &[u8]) -> Option<usize> {
    let descriptor = footer.get(4)?;
    Some(ENTRY_LEN + if descriptor & HAS_CHECKSUMS == 0 { 0 } else { CHECKSUM_LEN })
}

/// Reads `len` bytes at an offset, or as many as there are.
fn read_at(source: &mut dyn Source, offset: u64, len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len);
    if source.seek(offset)? {
        loop {
            let left = len - bytes.len();
            if left == 0 || source.read(&mut bytes, left)? == 0 {
                break;
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FRAMES: [(u32, u32); 3] = [(100, 1000), (7, 0), (50, 4_000_000)];

    fn table() -> SeekTable {
        let mut table = SeekTable::default();
        FRAMES.iter().for_each(|(raw_len, len)| table.add((*raw_len).into(), (*len).into()));
        table
    }

    #[test]
    fn a_table_reads_back_as_it_was_with_checksums_and_without() {
        let bytes = table().to_bytes().unwrap();
        assert_eq!(SeekTable::of_frame(&bytes), Some(table()));
        let mut with_checksums = FRAME_MAGIC.to_le_bytes().to_vec();
        with_checksums.extend((3 * 12 + 9_u32).to_le_bytes());
        for (raw_len, len) in FRAMES {
            [raw_len, len, 77].iter().for_each(|word| with_checksums.extend(word.to_le_bytes()));
        }
        with_checksums.extend([3, 0, 0, 0, 0x80, 0xb1, 0xea, 0x92, 0x8f]);
        assert_eq!(SeekTable::of_frame(&with_checksums), Some(table()));
    }

    #[test]
    fn places_are_the_beginnings_of_frames() {
        let places = [0, 1, 2, 3]
            .map(|index| table().place(index).map(|place| (place.raw_offset, place.position)));
        assert_eq!(places, [Some((0, 0)), Some((100, 1000)), Some((107, 1000)), None]);
    }

    #[test]
    fn a_table_of_one_frame_is_not_written() {
        let mut table = SeekTable::default();
        assert_eq!(table.to_bytes(), None);
        table.add(1, 1);
        assert_eq!(table.to_bytes(), None);
    }

    #[test]
    fn a_table_that_is_cut_or_counts_wrongly_is_none() {
        let bytes = table().to_bytes().unwrap();
        for cut in 0..bytes.len() {
            assert_eq!(SeekTable::of_frame(&bytes[..cut]), None);
            assert_eq!(SeekTable::of_frame(&bytes[cut + 1..]), None);
        }
        // Magic numbers, both lengths, reserved bits.
        let footer = bytes.len() - FOOTER_LEN;
        for at in (0..8).chain(footer..footer + 4).chain(footer + 5..bytes.len()) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            assert_eq!(SeekTable::of_frame(&damaged), None, "byte {at}");
        }
        let mut reserved = bytes.clone();
        reserved[footer + 4] = 1 << 4;
        assert_eq!(SeekTable::of_frame(&reserved), None);
    }
}
