//! Layout of a journal in its file, as docs/pstore-journal.md draws it.

use std::ops::Range;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Error, ErrorKind, Result};
use crate::pstore::blocks::{BLOCK_LEN, pieces};
use crate::pstore::difference::Difference;
use crate::wire::{Endian, Reader};

/// First bytes of a journal. The checksum follows.
const MAGIC: [u8; 8] = [0x89, b'B', b'W', b'J', 0x0d, 0x0a, 0x1a, 0x0a];

/// Offset of the byte that holds the state of the journal. It is behind the checksum, so that the
/// beginning of a new journal does not bring an old one to life.
pub(super) const STATE_AT: usize = 16;

const FORMAT: u32 = 1;

/// The flag of a journal that holds all old bytes.
const OLD_WHOLE: u8 = 1;

const FORMAT_AT: usize = 20;

/// Bytes before the list of ranges.
pub(super) const HEADER_LEN: usize = 72;

/// Offset of the first byte that the checksum covers.
const CHECKED_FROM: usize = 17;

/// State of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JournalState {
    /// It says nothing.
    Void = 0,
    /// The file is as it was, as it is to be, or on the way, as far as the writing came.
    Live = 1,
    /// As `Live`, and the writing was being undone.
    Undoing = 2,
}

/// The fields of a header that a checksum covers.
#[derive(Debug, Clone, Copy)]
pub(in crate::pstore) struct JournalHeader {
    /// True if all old bytes are in the journal, and not hashes of some.
    pub(in crate::pstore) old_whole: bool,
    /// The run of the system in which it was written.
    pub(in crate::pstore) boot: u128,
    pub(in crate::pstore) old_len: u64,
    pub(in crate::pstore) new_len: u64,
    /// The sum of what does not change.
    pub(in crate::pstore) unchanged: u64,
    pub(in crate::pstore) range_count: u64,
}

impl JournalHeader {
    /// The whole header, before `checksum` is known, which goes to [`put_checksum`].
    pub(super) fn encoded(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[STATE_AT] = JournalState::Live as u8;
        bytes[17] = if self.old_whole { OLD_WHOLE } else { 0 };
        bytes[20..24].copy_from_slice(&FORMAT.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.boot.to_le_bytes());
        let numbers = [self.old_len, self.new_len, self.unchanged, self.range_count];
        for (place, number) in bytes[40..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// `None` if it is torn.
    fn decoded(bytes: &[u8]) -> Result<Option<JournalHeader>> {
        let Some(rest) = bytes.get(FORMAT_AT..HEADER_LEN) else { return Ok(None) };
        let mut reader = Reader::new(rest);
        let format = reader.u32(Endian::Little).unwrap_or(0);
        if format > FORMAT {
            let message = format!(
                "expected a journal of format {FORMAT}, found format {format}: a newer version of \
                 Bytewright was writing the store, and has to open it once"
            );
            return Err(Error::new(ErrorKind::Format, message).at(FORMAT_AT as u64));
        }
        let mut decoded = || {
            let flags = bytes[CHECKED_FROM];
            let boot = u128::from_le_bytes(reader.array()?);
            let mut number = || reader.u64(Endian::Little);
            let (old_len, new_len, unchanged) = (number()?, number()?, number()?);
            let range_count = number()?;
            let old_whole = flags & OLD_WHOLE != 0;
            Some(JournalHeader { old_whole, boot, old_len, new_len, unchanged, range_count })
        };
        Ok(if format == FORMAT { decoded() } else { None })
    }
}

pub(super) fn put_checksum(header: &mut [u8], checksum: u64) {
    header[8..STATE_AT].copy_from_slice(&checksum.to_le_bytes());
}

/// The part of a header that the checksum begins with.
pub(super) fn checked(header: &[u8]) -> &[u8] {
    &header[CHECKED_FROM..]
}

/// Evidence that a journal has of the old bytes of one range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::pstore) struct Evidence {
    /// Bytes that it holds.
    pub(in crate::pstore) head: Range<usize>,
    /// Blocks of which it holds hashes.
    pub(in crate::pstore) blocks: Range<usize>,
    /// Bytes behind them that it holds.
    pub(in crate::pstore) tail: Range<usize>,
}

impl Evidence {
    /// Of `range`. A block at its start or end is held as bytes, so that a hash has new bytes before
    /// it and old ones behind it, if writing stopped in its middle.
    pub(in crate::pstore) fn of(range: &Range<usize>, old_whole: bool) -> Evidence {
        let first = range.start.div_ceil(BLOCK_LEN) + 1;
        let last = (range.end / BLOCK_LEN).saturating_sub(1);
        if old_whole || last <= first {
            return Evidence { head: range.clone(), blocks: 0..0, tail: range.end..range.end };
        }
        Evidence {
            head: range.start..first * BLOCK_LEN,
            blocks: first..last,
            tail: last * BLOCK_LEN..range.end,
        }
    }

    /// Returns the offset of the evidence in a journal of `difference`.
    pub(in crate::pstore) fn start(difference: &Difference) -> u64 {
        (HEADER_LEN + 16 * difference.ranges.len()) as u64
    }

    pub(super) fn len(&self) -> usize {
        self.head.len() + 8 * self.blocks.len() + self.tail.len()
    }
}

/// The hash of bytes that are cut off, of the hashes of their pieces.
pub(in crate::pstore) fn cut_hash(hashes: impl Iterator<Item = u64>) -> u64 {
    let hashes: Vec<u8> = hashes.flat_map(u64::to_le_bytes).collect();
    xxh3_64(&hashes)
}

/// The hash of bytes that are cut off, which begin at `start`.
pub(super) fn cut_hash_of(start: usize, bytes: &[u8]) -> u64 {
    let pieces = pieces(start..start + bytes.len());
    cut_hash(pieces.map(|piece| xxh3_64(&bytes[piece.start - start..piece.end - start])))
}

/// A journal that is whole.
#[derive(Debug)]
pub(in crate::pstore) struct Journal {
    pub(super) header: JournalHeader,
    pub(in crate::pstore) difference: Difference,
    pub(super) state: JournalState,
    bytes: Vec<u8>,
    /// Offset of the evidence, and of the new bytes behind it.
    evidence_at: usize,
    new_at: usize,
}

impl Journal {
    /// The journal that `bytes` hold; `None` if it is void, torn or of something else.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Format`] if it is of a newer format.
    pub(super) fn decode(bytes: Vec<u8>) -> Result<Option<Journal>> {
        let Some(state @ (JournalState::Live | JournalState::Undoing)) = state(&bytes) else {
            return Ok(None);
        };
        let Some(header) = JournalHeader::decoded(&bytes)? else { return Ok(None) };
        Ok(Self::checked(header, state, bytes))
    }

    fn checked(header: JournalHeader, state: JournalState, bytes: Vec<u8>) -> Option<Journal> {
        let difference = ranges(&header, &bytes)?;
        let evidence_at = Evidence::start(&difference) as usize;
        let cut = difference.cut();
        let cut_len = match (cut.is_empty(), header.old_whole) {
            (true, _) => 0,
            (false, true) => cut.len(),
            (false, false) => 8,
        };
        let evidence = difference.ranges.iter().map(|r| Evidence::of(r, header.old_whole).len());
        // Lengths that damage made may be of any size.
        let new_at = evidence.chain([cut_len]).fold(evidence_at, usize::saturating_add);
        let new = difference.ranges.iter().map(Range::len).chain([difference.growth().len()]);
        if bytes.len() < new.fold(new_at, usize::saturating_add) {
            return None;
        }
        let journal = Journal { header, difference, state, bytes, evidence_at, new_at };
        let stated = journal.bytes[8..STATE_AT].try_into().map_or(0, u64::from_le_bytes);
        (journal.checksum() == stated).then_some(journal)
    }

    /// Returns true if it is to survive the end of the system until it is void.
    pub(in crate::pstore) fn is_durable(&self) -> bool {
        self.header.old_whole
    }

    fn checksum(&self) -> u64 {
        let mut hasher = Xxh3::new();
        hasher.update(&self.bytes[CHECKED_FROM..self.new_at]);
        for (range, new) in self.new_bytes() {
            for piece in pieces(range.clone()) {
                let piece = &new[piece.start - range.start..piece.end - range.start];
                hasher.update(&xxh3_64(piece).to_le_bytes());
            }
        }
        hasher.digest()
    }

    /// The ranges, growth included, and what they are to hold.
    pub(in crate::pstore) fn new_bytes(&self) -> impl Iterator<Item = (Range<usize>, &[u8])> {
        let growth = self.difference.growth();
        let ranges = self.difference.ranges.iter().cloned().chain([growth]);
        ranges.scan(self.new_at, |at, range| {
            let new = &self.bytes[*at..*at + range.len()];
            *at += range.len();
            Some((range, new))
        })
    }

    /// Returns the evidence of the old bytes of each range.
    pub(super) fn evidence(&self) -> impl Iterator<Item = (Evidence, &[u8])> {
        let whole = self.header.old_whole;
        let ranges = self.difference.ranges.iter().map(move |range| Evidence::of(range, whole));
        ranges.scan(self.evidence_at, |at, evidence| {
            let bytes = &self.bytes[*at..*at + evidence.len()];
            *at += evidence.len();
            Some((evidence, bytes))
        })
    }

    /// Returns the evidence of the bytes that are cut off: themselves, or their hash.
    pub(super) fn cut_evidence(&self) -> &[u8] {
        let ranges = self.evidence().map(|(evidence, _)| evidence.len()).sum::<usize>();
        &self.bytes[self.evidence_at + ranges..self.new_at]
    }
}

/// Reads the state of a journal from the first bytes of its file; `None` if they are not of a journal. A power
/// cut may have left the first of them, and zeros.
pub(super) fn state(bytes: &[u8]) -> Option<JournalState> {
    if !bytes.iter().zip(&MAGIC).all(|(byte, ours)| byte == ours || *byte == 0) {
        return None;
    }
    Some(match bytes.get(STATE_AT) {
        Some(1) if bytes.starts_with(&MAGIC) => JournalState::Live,
        Some(2) if bytes.starts_with(&MAGIC) => JournalState::Undoing,
        _ => JournalState::Void,
    })
}

/// The ranges of a journal, if they are what ranges are.
fn ranges(header: &JournalHeader, bytes: &[u8]) -> Option<Difference> {
    let count = usize::try_from(header.range_count).ok()?;
    let list = bytes.get(HEADER_LEN..HEADER_LEN.checked_add(count.checked_mul(16)?)?)?;
    let old_len = usize::try_from(header.old_len).ok()?;
    let new_len = usize::try_from(header.new_len).ok()?;
    let mut difference = Difference::new(old_len, new_len);
    let mut from = 0;
    for entry in list.chunks_exact(16) {
        let number = |at: usize| {
            let bytes = entry[at..at + 8].try_into().ok()?;
            usize::try_from(u64::from_le_bytes(bytes)).ok()
        };
        let (start, len) = (number(0)?, number(8)?);
        let end = start.checked_add(len)?;
        if len == 0 || start < from || end > difference.common_len() {
            return None;
        }
        difference.ranges.push(start..end);
        from = end;
    }
    Some(difference)
}
