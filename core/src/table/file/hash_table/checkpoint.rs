//! An index that is kept in a file: how it was at some place of the log, so that who opens the table
//! reads only what the log has beyond. The file is never changed: a new one takes its place. It is
//! worth no more than its checks say, and where it is missing, damaged or of another generation, the
//! log is read from its beginning.
//!
//! ```text
//! page of 4096 bytes: eleven words
//!    0  magic          1  format, and the number of lines as a power of two
//!    2  seed           3  generation
//!    4  end of the log's part   5  its next transaction
//!    6  its last frame          7  where its entries begin
//!    8  entries                 9  their bytes
//!   10  checksum of the lines  11  XXH3 of the words before
//! lines of `log_index`
//! ```
//!
//! Words are in the order of the machine that wrote them; to another the magic number is wrong.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::extent::Extent;
use super::home::{HEADER_WORDS, Home};
use super::log::{Log, LogReader};
use super::log_index::{LINE_BITS_MAX, LogIndex};
use crate::error::Result;
use crate::io::{Mapping, Storage, StorageMode};

const MAGIC: u64 = u64::from_be_bytes(*b"\x89BWIDX\r\n");
const FORMAT: u64 = 1;

/// Words of the header that mean something.
const FIELDS: usize = 12;

/// Words that are read or written at once.
const CHUNK_WORDS: usize = 512;

const WORD_LEN: usize = size_of::<u64>();

/// Puts `index`, which is that of `log` up to `extent`, in the place of what was kept before.
pub(super) fn save(home: &Home, log: &Log, extent: &Extent, index: &LogIndex) -> Result<()> {
    let header = header(log, extent, index);
    let working = home.working_name();
    if index.words().is_shared() {
        for (word, field) in index.words().iter().zip(header) {
            word.store(field, Relaxed);
        }
    } else {
        let file = home.create(&working)?;
        write(&*file, &header, index.lines()).map_err(|e| crate::Error::io("write", &e))?;
    }
    let renamed = home.directory.rename(&working, &home.checkpoint_name());
    renamed.map_err(|error| crate::Error::io("rename", &error))
}

fn header(log: &Log, extent: &Extent, index: &LogIndex) -> [u64; FIELDS] {
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
        hash(index.lines()),
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
    for chunk in lines.chunks(CHUNK_WORDS * 32) {
        let bytes: Vec<u8> =
            chunk.iter().flat_map(|word| word.load(Relaxed).to_ne_bytes()).collect();
        file.write_at(offset, &bytes)?;
        offset += bytes.len() as u64;
    }
    Ok(())
}

/// The index that was kept for `log`, and up to where it goes; `None` where there is none that can be
/// trusted.
pub(super) fn load(
    home: &Home,
    log: &std::sync::Arc<Log>,
    log_len: u64,
) -> Option<(LogIndex, Extent)> {
    let name = home.checkpoint_name();
    home.directory.id(&name).ok()??;
    let file = home.directory.open(&name, StorageMode::Follow, Duration::ZERO).ok()?;
    let header = read_header(&*file)?;
    let [_, format, seed, generation, end, next_transaction, last_frame, start, ..] = header;
    let [.., records, live_bytes, lines_hash, _] = header;
    let extent = Extent { end, next_transaction, last_frame, start, records, live_bytes };
    let line_bits = u32::try_from(format >> 32).ok().filter(|bits| *bits <= LINE_BITS_MAX)?;
    let is_of_log = (seed, generation) == (log.header.seed, log.header.generation);
    if !is_of_log || end > log_len || !ends_with_its_frame(log, &extent) {
        return None;
    }
    let index = LogIndex::of_words(map(&*file, line_bits)?, HEADER_WORDS, line_bits, records);
    (hash(index.lines()) == lines_hash).then_some((index, extent))
}

fn read_header(file: &dyn Storage) -> Option<[u64; FIELDS]> {
    let mut bytes = [0; FIELDS * WORD_LEN];
    file.read_at(0, &mut bytes).ok()?;
    let mut words = bytes.as_chunks::<WORD_LEN>().0.iter().map(|word| u64::from_ne_bytes(*word));
    let header: [u64; FIELDS] = std::array::from_fn(|_| words.next().unwrap_or_default());
    let is_ours = header[0] == MAGIC && header[1] & 0xffff_ffff == FORMAT;
    (is_ours && hash_of(&header[..FIELDS - 1]) == header[FIELDS - 1]).then_some(header)
}

/// Whether the log has the frame with which the index ends: it may have been put back from a copy.
fn ends_with_its_frame(log: &std::sync::Arc<Log>, extent: &Extent) -> bool {
    let frame = LogReader::new(log.clone(), extent.end).frame(extent.last_frame);
    matches!(frame, Ok(Some(frame)) if frame.end(extent.last_frame) == extent.end
        && frame.flags.commits
        && frame.transaction.checked_add(1) == Some(extent.next_transaction))
}

/// The whole file in memory, to be changed without changing the file.
fn map(file: &dyn Storage, line_bits: u32) -> Option<Mapping> {
    let word_count = HEADER_WORDS + LogIndex::word_count(line_bits);
    if file.len().ok()? != (word_count * WORD_LEN) as u64 {
        return None;
    }
    if let Some(file) = file.file() {
        let words = Mapping::private(file, word_count).ok()?;
        words.populate();
        return Some(words);
    }
    let words = Mapping::anonymous(word_count).ok()?;
    let mut bytes = [0; CHUNK_WORDS * WORD_LEN];
    for (number, chunk) in words.chunks_exact(CHUNK_WORDS).enumerate() {
        file.read_at((number * bytes.len()) as u64, &mut bytes).ok()?;
        for (word, bytes) in chunk.iter().zip(bytes.as_chunks::<WORD_LEN>().0) {
            word.store(u64::from_ne_bytes(*bytes), Relaxed);
        }
    }
    Some(words)
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
