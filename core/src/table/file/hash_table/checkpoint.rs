//! An index that is kept in a file: how it was at some place of the log, so that opening the table
//! reads only what the log has beyond. The file is never changed: a new one takes its place. It is
//! worth no more than its checks say. Where it is missing, damaged, or of another generation or
//! another history of the table, the log is read from its beginning.
//!
//! Opening the table maps a copy of it, which has no name: another program may cut the file at any
//! time, and to touch a mapped page beyond the end of its file ends the process.
//!
//! ```text
//! page of 4096 bytes: thirteen words
//!    0  magic          1  format, and the number of lines as a power of two
//!    2  seed           3  generation
//!    4  end of the log's part   5  its next transaction
//!    6  its last frame          7  where its entries begin
//!    8  entries                 9  their bytes
//!   10  XXH3 of the last frame, which closing the table has added
//!   11  checksum of the lines  12  XXH3 of the words before
//! lines of `log_index`
//! ```
//!
//! Words are in the order of the machine that wrote them; to another the magic number is wrong.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use xxhash_rust::xxh3::xxh3_64;

use super::extent::LogExtent;
use super::header::{Log, LogReader};
use super::log_index::{LINE_BITS_MAX, LogIndex, Words};
use super::table_files::{AccessDemand, HashTableFiles, MAPPED_WORDS_MIN};
use crate::files::{Mapping, Storage, begins_like};

const MAGIC: u64 = u64::from_be_bytes(*b"\x89BWIDX\r\n");
const FORMAT: u64 = 2;

/// Words of the header that mean something.
const FIELDS: usize = 13;

/// Words before the lines: a page.
const HEADER_WORDS: usize = 512;

/// Words that are read or written at once.
const CHUNK_WORDS: usize = 32 << 10;

const WORD_LEN: usize = size_of::<u64>();

/// The longest frame that closing a table adds.
const CLOSING_FRAME_LEN_MAX: u64 = 256;

/// Replaces what was kept before with `index`, which is that of `log` up to `extent`. The log
/// ends with the frame that closing it has added.
pub(super) fn save(
    files: &HashTableFiles,
    log: &Arc<Log>,
    extent: &LogExtent,
    index: &LogIndex,
) -> crate::Result<()> {
    let Some(frame_hash) = closing_frame_hash(log, extent) else {
        return Err(crate::Error::internal("a closed log without its last frame"));
    };
    let header = header(log, extent, frame_hash, index);
    let file = files.create(&*log.storage, AccessDemand::Similar)?;
    let kept = write(&*file, &header, index.words())
        .and_then(|()| files.keep_checkpoint(&*file, &*log.storage));
    kept.map_err(|error| crate::Error::io("write the index", &error))
}

/// Returns true if a file that has the name is an index of a table, of this machine or another.
pub(super) fn is_checkpoint(file: &dyn Storage) -> bool {
    let orders = [MAGIC.to_be_bytes(), MAGIC.to_le_bytes()];
    orders.iter().any(|magic| begins_like(file, magic).unwrap_or(false))
}

fn header(log: &Log, extent: &LogExtent, frame_hash: u64, index: &LogIndex) -> [u64; FIELDS] {
    let mut header = [
        MAGIC,
        FORMAT | u64::from(index.line_bits()) << 32,
        log.header.seed,
        log.header.generation,
        extent.end,
        extent.next_transaction,
        extent.last_frame,
        extent.start,
        extent.records,
        extent.live_bytes,
        frame_hash,
        hash(index.words()),
        0,
    ];
    header[FIELDS - 1] = hash_of(&header[..FIELDS - 1]);
    header
}

fn write(file: &dyn Storage, header: &[u64; FIELDS], lines: &[AtomicU64]) -> std::io::Result<()> {
    let mut page = [0; HEADER_WORDS * WORD_LEN];
    for (bytes, field) in page.chunks_exact_mut(WORD_LEN).zip(header) {
        bytes.copy_from_slice(&field.to_ne_bytes());
    }
    file.write_at(0, &page)?;
    let mut offset = page.len() as u64;
    for chunk in lines.chunks(CHUNK_WORDS) {
        let bytes: Vec<u8> =
            chunk.iter().flat_map(|word| word.load(Relaxed).to_ne_bytes()).collect();
        file.write_at(offset, &bytes)?;
        offset += bytes.len() as u64;
    }
    Ok(())
}

/// The index that was kept for `log`, in memory of `words`, and up to where it goes; `None` where there
/// is none that can be trusted.
pub(super) fn load(
    files: &HashTableFiles,
    log: &Arc<Log>,
    log_len: u64,
    words: &dyn Words,
) -> Option<(LogIndex, LogExtent)> {
    let file = files.checkpoint(&*log.storage).file()?;
    let header = read_header(&*file)?;
    let [_, format, seed, generation, end, next_transaction, last_frame, start, ..] = header;
    let [.., records, live_bytes, frame_hash, lines_hash, _] = header;
    let is_closed = true;
    let extent =
        LogExtent { end, next_transaction, last_frame, is_closed, start, records, live_bytes };
    let line_bits = u32::try_from(format >> 32).ok().filter(|bits| *bits <= LINE_BITS_MAX)?;
    let is_of_log = (seed, generation) == (log.header.seed, log.header.generation);
    if !is_of_log || end > log_len || closing_frame_hash(log, &extent) != Some(frame_hash) {
        return None;
    }
    let index = LogIndex::of_words(copy(&*file, line_bits, words)?, line_bits, records);
    (hash(index.words()) == lines_hash).then_some((index, extent))
}

fn read_header(file: &dyn Storage) -> Option<[u64; FIELDS]> {
    let mut bytes = [0; FIELDS * WORD_LEN];
    file.read_at(0, &mut bytes).ok()?;
    let mut words = bytes.as_chunks::<WORD_LEN>().0.iter().map(|word| u64::from_ne_bytes(*word));
    let header: [u64; FIELDS] = std::array::from_fn(|_| words.next().unwrap_or_default());
    let is_ours = header[0] == MAGIC && header[1] & 0xffff_ffff == FORMAT;
    (is_ours && hash_of(&header[..FIELDS - 1]) == header[FIELDS - 1]).then_some(header)
}

/// The hash of the frame with which `log` ends at `extent`, where closing has added it. The frame holds
/// a random number, so another history of the same table has another hash there.
fn closing_frame_hash(log: &Arc<Log>, extent: &LogExtent) -> Option<u64> {
    let mut reader = LogReader::new(log.clone(), extent.end);
    let frame = reader.frame(extent.last_frame).ok()??;
    let len = extent.end.checked_sub(extent.last_frame)?;
    let is_last = frame.end() == extent.end
        && frame.flags.commits
        && frame.flags.closes
        && frame.number.checked_add(1) == Some(extent.next_transaction)
        && len <= CLOSING_FRAME_LEN_MAX;
    if !is_last || !reader.is_whole(&frame, &|_| ()).ok()? {
        return None;
    }
    let bytes = reader.view(extent.last_frame, len as usize).ok()??;
    Some(xxh3_64(bytes.get(..len as usize)?))
}

/// A copy of the lines.
fn copy(file: &dyn Storage, line_bits: u32, words: &dyn Words) -> Option<Mapping> {
    let word_count = LogIndex::word_count(line_bits);
    if file.len().ok()? != ((HEADER_WORDS + word_count) * WORD_LEN) as u64 {
        return None;
    }
    let mapped = || {
        let copy = words.file()?;
        copy_bytes(file, word_count, |at, bytes| copy.write_at(at, bytes).ok())?;
        let mapping = words.map(copy.file()?, word_count).ok()?;
        mapping.populate();
        Some(mapping)
    };
    if let Some(mapping) = (word_count >= MAPPED_WORDS_MIN).then(mapped).flatten() {
        return Some(mapping);
    }
    let mapping = Mapping::anonymous(word_count).ok()?;
    copy_bytes(file, word_count, |at, bytes| {
        let words = mapping.get(at as usize / WORD_LEN..)?;
        for (word, bytes) in words.iter().zip(bytes.as_chunks::<WORD_LEN>().0) {
            word.store(u64::from_ne_bytes(*bytes), Relaxed);
        }
        Some(())
    })?;
    Some(mapping)
}

/// Shows `taken` the bytes of the lines piece by piece, each with its place among them.
fn copy_bytes(
    file: &dyn Storage,
    word_count: usize,
    mut taken: impl FnMut(u64, &[u8]) -> Option<()>,
) -> Option<()> {
    let (mut at, end) = (0, (word_count * WORD_LEN) as u64);
    let mut buffer = vec![0; (CHUNK_WORDS * WORD_LEN).min(word_count * WORD_LEN)];
    while at < end {
        let len = buffer.len().min((end - at) as usize);
        file.read_at((HEADER_WORDS * WORD_LEN) as u64 + at, &mut buffer[..len]).ok()?;
        taken(at, &buffer[..len])?;
        at += len as u64;
    }
    Some(())
}

/// A checksum of the lines, in half the time of XXH3, which would have to be given copies of words that
/// another process may change. Each word is multiplied into one of eight sums, so that the processor
/// need not wait for one multiplication to begin the next; a step loses nothing of what came before,
/// and turns the sum, because multiplying carries differences upwards only.
fn hash(lines: &[AtomicU64]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sums: [u64; 8] = std::array::from_fn(|number| number as u64);
    for line in lines.chunks_exact(sums.len()) {
        for (sum, word) in sums.iter_mut().zip(line) {
            *sum = (*sum ^ word.load(Relaxed)).wrapping_mul(FACTOR).rotate_left(29);
        }
    }
    hash_of(&sums)
}

fn hash_of(words: &[u64]) -> u64 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    xxh3_64(&bytes)
}
