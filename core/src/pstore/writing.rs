//! One writing: first to the journal, then to the file, so that whatever ends us leaves the one state
//! or the other to who comes next; and back again where the system refuses to go on.

use std::io;
use std::ops::Range;

use super::blocks::BlockHashes;
use super::blocks::pieces;
use super::difference::Difference;
use super::journal::{Evidence, JournalFile, JournalHeader, JournalWriter, cut_hash};
use super::old::Old;
use crate::error::{Error, Result};
use crate::files::{FileSystem, Storage};

/// Ranges with less than this between them are written at once, with what is between them.
const GAP: usize = 4 << 10;

/// Everything that does not change while it goes on.
pub(super) struct PendingWrite<'a> {
    pub(super) file: &'a dyn Storage,
    pub(super) name: &'a str,
    /// Bytes that the file is to hold.
    pub(super) new: &'a [u8],
    pub(super) difference: &'a Difference,
    pub(super) old: &'a Old,
    /// The run of the system.
    pub(super) boot: u128,
    /// True if it is to survive the end of the system.
    pub(super) is_durable: bool,
}

impl PendingWrite<'_> {
    /// Does it; `blocks` are those of the old bytes, and of the new ones then.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system; the file then holds what it held.
    pub(super) fn write(
        &self,
        system: &dyn FileSystem,
        mut journal: Option<&mut JournalFile>,
        blocks: &mut BlockHashes,
    ) -> Result<()> {
        match &mut journal {
            Some(journal) => {
                if let Err(error) = self.write_journal(journal, blocks) {
                    // Nothing was done that it could tell of.
                    let _ = journal.make_void(system);
                    return Err(error);
                }
            }
            None => blocks.update(self.difference, self.new),
        }
        let mut begun = 0;
        let written = write_new(self.file, self.difference, self.new, &mut begun);
        let written = written.map_err(|error| self.failed("write", &error));
        let synced = written.and_then(|()| match self.is_durable {
            true => self.file.sync().map_err(|error| self.failed("sync", &error)),
            false => Ok(()),
        });
        if synced.is_err()
            && self.undo(journal.as_deref(), begun).is_ok()
            && let Some(journal) = journal
        {
            // If it cannot be undone, or this not be said, the journal stays live: the writing is
            // finished when the system lets somebody.
            let _ = journal.make_void(system);
        }
        synced
    }

    fn failed(&self, action: &str, error: &io::Error) -> Error {
        Error::io(action, error).in_file(self.name)
    }

    fn write_journal(&self, journal: &mut JournalFile, blocks: &mut BlockHashes) -> Result<()> {
        let difference = self.difference;
        let header = JournalHeader {
            old_whole: self.is_durable || !self.old.is_held,
            boot: self.boot,
            old_len: difference.old_len as u64,
            new_len: difference.new_len as u64,
            unchanged: blocks.unchanged_sum(difference, self.new),
            range_count: difference.ranges.len() as u64,
        };
        let written = journal.write(&header, |writer| {
            for range in &difference.ranges {
                writer.put(&(range.start as u64).to_le_bytes())?;
                writer.put(&(range.len() as u64).to_le_bytes())?;
            }
            for range in &difference.ranges {
                self.put_evidence(writer, &Evidence::of(range, header.old_whole), blocks)?;
            }
            self.put_cut(writer, header.old_whole, blocks)?;
            // The hashes of the new blocks are in the checksum.
            blocks.update(difference, self.new);
            for range in difference.ranges.iter().cloned().chain([difference.growth()]) {
                writer.put_new(range.clone(), &self.new[range], blocks)?;
            }
            Ok(())
        });
        written.map_err(|error| journal.failed("write", &error))?;
        if self.is_durable {
            let synced = journal.file().map_or(Ok(()), Storage::sync);
            synced.map_err(|error| journal.failed("sync", &error))?;
        }
        Ok(())
    }

    fn put_evidence(
        &self,
        writer: &mut JournalWriter<'_>,
        evidence: &Evidence,
        blocks: &BlockHashes,
    ) -> io::Result<()> {
        self.put_old(writer, &evidence.head)?;
        for block in evidence.blocks.clone() {
            writer.put(&blocks.of_block(block).to_le_bytes())?;
        }
        self.put_old(writer, &evidence.tail)
    }

    fn put_old(&self, writer: &mut JournalWriter<'_>, range: &Range<usize>) -> io::Result<()> {
        self.old.each(self.file, 0, range, |_, old| writer.put(old))
    }

    fn put_cut(
        &self,
        writer: &mut JournalWriter<'_>,
        whole: bool,
        blocks: &BlockHashes,
    ) -> io::Result<()> {
        let cut = self.difference.cut();
        if whole || cut.is_empty() {
            return self.put_old(writer, &cut);
        }
        // Only of the block that the new end cuts the old bytes are needed.
        let first = pieces(cut.clone()).next().unwrap_or_default();
        let mut bytes = vec![0; first.len()];
        self.file.read_at(first.start as u64, &mut bytes)?;
        let hashes = pieces(cut).map(|piece| blocks.hash(&piece, &bytes));
        writer.put(&cut_hash(hashes).to_le_bytes())
    }

    /// Puts the old bytes back, as far as ranges were begun.
    fn undo(&self, journal: Option<&JournalFile>, begun: usize) -> io::Result<()> {
        let journal = journal.and_then(|journal| {
            // If this fails, only a crash before the end is the worse for it.
            let _ = journal.mark_undoing();
            journal.file()
        });
        let mut at = Evidence::start(self.difference);
        for (number, range) in self.difference.ranges.iter().enumerate() {
            if number < begun {
                self.put_back(journal, at, range)?;
            }
            at += range.len() as u64;
        }
        if self.is_durable {
            // A sync that failed may have left zeros there, whatever the length says. Nothing but a
            // sync fails after the cut.
            self.put_back(journal, at, &self.difference.cut())?;
        }
        if !self.difference.growth().is_empty() {
            self.file.set_len(self.difference.old_len as u64)?;
        }
        if self.is_durable { self.file.sync() } else { Ok(()) }
    }

    /// Puts back a range whose old bytes are at `at` of the journal, if they are not held.
    fn put_back(
        &self,
        journal: Option<&dyn Storage>,
        at: u64,
        range: &Range<usize>,
    ) -> io::Result<()> {
        let from = journal.unwrap_or(self.file);
        let shift = at as i64 - range.start as i64;
        self.old.each(from, shift, range, |start, old| self.file.write_at(start as u64, old))
    }
}

/// Writes what differs, in the order that a journal relies on: where there may be no room for the
/// growth, nothing else has been touched. Counts the ranges that it begins.
pub(super) fn write_new(
    file: &dyn Storage,
    difference: &Difference,
    new: &[u8],
    begun: &mut usize,
) -> io::Result<()> {
    let growth = difference.growth();
    if !growth.is_empty() {
        file.write_at(growth.start as u64, &new[growth])?;
    }
    for ranges in difference.ranges.chunk_by(|one, next| next.start <= one.end + GAP) {
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { continue };
        *begun += ranges.len();
        file.write_at(first.start as u64, &new[first.start..last.end])?;
    }
    if difference.cut().is_empty() { Ok(()) } else { file.set_len(difference.new_len as u64) }
}
