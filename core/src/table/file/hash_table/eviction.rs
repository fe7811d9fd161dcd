//! Evicts entries in the order in which they were written: the log begins behind them.
//!
//! Entries that are to be kept are written again, to the end of the log, and nothing is written about the rest. So the log of a table
//! that evicts as much as is put into it keeps its length, and wanders through the file.

use super::engine::Engine;
use super::extent::LogExtent;
use super::far_versions::FarVersions;
use super::header::LogReader;
use super::log_writer::OldVersion;
use crate::error::{Error, ErrorKind, Result};
use crate::files::CommitFrame;
use crate::heap::record::HeapRecord;
use crate::table::uses::UseCount;
use crate::table::{Eviction, EvictionJudge};

impl Engine {
    /// Goes over the entries in the first `bytes` of the log, and the rest of the transaction there: evicts those that `keeps`
    /// does not want, and writes the others again. Some are left in any case, those of the last commit.
    pub(super) fn evict(&mut self, bytes: u64, keeps: &mut EvictionJudge<'_>) -> Result<Eviction> {
        self.check_writable()?;
        if self.depth() > 0 {
            let message = "expected no open transaction to evict entries, found one";
            return Err(Error::new(ErrorKind::Argument, message).in_file(&self.name));
        }
        self.keep_turn(None)?;
        let evicted = self.evict_in_turn(bytes, keeps);
        self.kept_turns.pop();
        let evicted = evicted?;
        self.compact_beside()?;
        Ok(evicted)
    }

    fn evict_in_turn(&mut self, bytes: u64, keeps: &mut EvictionJudge<'_>) -> Result<Eviction> {
        self.begin()?;
        let passed = match self.pass(bytes, keeps) {
            Ok(passed) => passed,
            Err(error) => {
                if self.depth() > 0 {
                    self.abort()?;
                }
                return Err(error);
            }
        };
        self.commit()?;
        let file = self.file()?.clone();
        let mut extent = file.newest()?;
        if passed.start > extent.start {
            let Passed { start, eviction, evicted_bytes, dead } = passed;
            extent.begin_at(start, (eviction.evicted, evicted_bytes), dead + eviction.kept);
            file.sharing.state().publish(&extent);
        }
        self.trim().map_err(|error| match error.kind() {
            ErrorKind::Io(_) => self.fail(error),
            _ => error,
        })?;
        Ok(passed.eviction)
    }

    /// Writes what is to be kept of the beginning of the log again, in the open transaction.
    fn pass(&mut self, bytes: u64, keeps: &mut EvictionJudge<'_>) -> Result<Passed> {
        let file = self.file()?.clone();
        let state = file.newest()?;
        let mut reader = LogReader::new(file.log.clone(), state.end);
        let mut passed = Passed { start: state.start, ..Passed::default() };
        let (mut chain, end) = (Vec::new(), state.start.saturating_add(bytes));
        while passed.start < end.min(state.last_frame) {
            let at = reader.pass_rooms(passed.start, &mut |_| ())?;
            let first = reader.frame(at)?.ok_or_else(|| file.log.corrupt(at, "a frame"))?;
            if let Some(place) = reader.commit(at, first.number, &mut chain, &|_| ())? {
                return Err(file.log.corrupt(place, "a frame"));
            }
            let Some(last) = chain.last().copied() else { break };
            // It tells the newest state from others.
            if last.offset >= state.last_frame {
                break;
            }
            for frame in &chain {
                self.pass_frame(&state, frame, &mut reader, keeps, &mut passed)?;
            }
            passed.start = last.end();
        }
        Ok(passed)
    }

    fn pass_frame(
        &mut self,
        state: &LogExtent,
        frame: &CommitFrame,
        reader: &mut LogReader,
        keeps: &mut EvictionJudge<'_>,
        passed: &mut Passed,
    ) -> Result<()> {
        let writer = self.opened.as_mut().ok_or_else(|| Error::internal("a table that is gone"))?;
        let (file, far, mut buffer) = (writer.file.clone(), FarVersions::default(), Vec::new());
        let mut failed = None;
        reader
            .each_record(frame, |record, range| {
                let HeapRecord::Entry { key, value } = record.record else { return Ok(()) };
                let version = (key, file.hash(key));
                let is_alive = state.dead_records == 0
                    || file.is_version(state, version, range.start, &far, &mut buffer)?;
                let len = range.end - range.start;
                if !is_alive {
                    passed.dead += 1;
                    return Ok(());
                }
                let uses = file.uses(range.start).map_or(0, UseCount::uses);
                if !keeps(key, value, uses) {
                    passed.eviction.evicted += 1;
                    passed.evicted_bytes += len;
                    return Ok(());
                }
                passed.eviction.kept += 1;
                match writer.add(record.record, Some(OldVersion::alive(range.start, len))) {
                    Ok(place) => {
                        file.uses(place).map_or((), |count| count.set(uses.saturating_sub(1)))
                    }
                    Err(error) => {
                        failed = Some(error);
                        return Err(Error::internal("a record that was not written"));
                    }
                }
                Ok(())
            })
            .map_err(|error| match failed.take() {
                Some(error) if matches!(error.kind(), ErrorKind::Io(_)) => self.fail(error),
                Some(error) => error,
                None => error,
            })
    }
}

/// Part of a log whose entries were evicted or written again.
#[derive(Debug, Default)]
struct Passed {
    /// Beginning of what is left.
    start: u64,
    eviction: Eviction,
    /// Bytes of the entries that were evicted.
    evicted_bytes: u64,
    /// Entries that were dead already.
    dead: u64,
}
