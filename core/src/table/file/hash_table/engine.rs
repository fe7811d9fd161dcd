//! A hashed table that is open: whose turn it is to change it, which transaction is open, and what was made to last.

use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::super::options::{OpenOptions, SyncMode};
use super::compaction::let_go;
use super::compactor::Compactor;
use super::flushing::LogFlusher;
use super::hash_file::HashFile;
use super::header::LOG_START;
use super::log_writer::{CommitFailure, LogWriter};
use super::opening::{replace_index, roll_forward};
use super::snapshot::HashSnapshot;
use super::table_files::HashTableFiles;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{FileStatus, FrameFlags, ProcessMark, TurnKind};
use crate::heap::record::HeapRecord;
use crate::table::{Scan, Stat, ValueType};

/// Longest time between a question and the commit that it is about.
const SOON: Duration = Duration::from_millis(10);

/// Time that commits may wait to be made to last in [`SyncMode::Interval`].
const INTERVAL: Duration = Duration::from_secs(1);

/// Time to wait for a compaction of this process to end, or to sync.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Times that the turn is taken of a file that was replaced meanwhile.
pub(super) const TURN_TRIES: u32 = 100;

/// Allowed use of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TableAccess {
    /// All.
    Write,
    /// To read.
    Read,
    /// To read what the parent of this process has for itself.
    ReadInChild,
    /// To read what was committed before a write failed, in this way.
    Failed(ErrorKind, String),
}

/// An open table.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) files: HashTableFiles,
    pub(super) options: OpenOptions,
    /// Name of the file in errors.
    pub(super) name: Arc<str>,
    pub(super) values: ValueType,
    pub(super) access: TableAccess,
    /// The file, and the open transaction; none once it is closed.
    pub(super) opened: Option<LogWriter>,
    /// The turn to write, while this has it.
    turn: Option<LogTurn>,
    /// Turns that are kept over several changes.
    pub(super) kept_turns: Vec<LogTurn>,
    /// Status of the file when a reader that follows it looked last.
    pub(super) seen: FileStatus,
    /// Times that it has found something new in the file that it follows.
    pub(super) follow_count: u32,
    pub(super) process: ProcessMark,
    last_sync: Instant,
    /// The thread that makes commits last, once there was one for it.
    pub(super) flusher: Option<LogFlusher>,
    /// The compaction that is under way.
    pub(super) compactor: Option<Compactor>,
    /// End of the log from which on a compaction that has failed is tried again.
    pub(super) compaction_put_off_until: u64,
    /// Files that snapshots may still hold.
    pub(super) retired: Vec<Weak<HashFile>>,
    /// Frame before which there is no entry.
    first_at: u64,
}

/// Turn to write a file, which is given back when this is dropped.
#[derive(Debug)]
pub(super) struct LogTurn {
    file: Arc<HashFile>,
}

type TakeTurn = fn(&HashTableFiles, &Arc<HashFile>, Duration) -> Result<Option<LogTurn>>;

impl LogTurn {
    /// Takes the turn, and waits up to `timeout` for the one who has it. What a writer that died has left is put right. None if
    /// another file has taken the place of this one.
    pub(super) fn take(
        files: &HashTableFiles,
        file: &Arc<HashFile>,
        timeout: Duration,
    ) -> Result<Option<LogTurn>> {
        let turn = LogTurn::take_ahead(files, file, timeout)?;
        turn.as_ref().map_or(Ok(()), LogTurn::check_length)?;
        Ok(turn)
    }

    /// Takes the turn as [`LogTurn::take`] does, for one who takes it once more to write: that the file is as long as it was is
    /// left to that time, because it costs a call of the system.
    fn take_ahead(
        files: &HashTableFiles,
        file: &Arc<HashFile>,
        timeout: Duration,
    ) -> Result<Option<LogTurn>> {
        let has_died = file.sharing.take_turn(timeout);
        let has_died = has_died.map_err(|error| error.in_file(&file.log.name))?;
        let turn = LogTurn { file: file.clone() };
        let state = file.sharing.state();
        if state.is_replacing() {
            // Who has done it would have the turn: it died, and the name tells how far it came.
            match files.is_named_otherwise(&file.log)? {
                true => state.set_replaced(),
                false => state.set_replacing(false),
            }
        }
        if state.is_replaced() {
            return Ok(None);
        }
        file.check_uncut()?;
        let is_unfinished = has_died || state.is_unfinished();
        if is_unfinished || state.is_index_damaged() {
            turn.check_length()?;
        }
        if is_unfinished {
            roll_forward(file)?;
            file.sharing.mend();
            state.set_unfinished(false);
        }
        if state.is_index_damaged() {
            replace_index(file)?;
        }
        Ok(Some(turn))
    }

    /// Fails if the file is shorter than it was: what is written behind a cut would fill it with zeros.
    fn check_length(&self) -> Result<()> {
        match self.file.is_index_own {
            true => Ok(()),
            false => self.file.check_length(self.file.sharing.state().newest().end),
        }
    }
}

impl Drop for LogTurn {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // What was being changed may be half done.
            self.file.sharing.state().set_index_damaged(true);
        }
        self.file.sharing.give_turn_back();
    }
}

/// Makes the log of `file` up to `end` survive a power cut, and its name. [`ErrorKind::Lock`] if another one syncs for longer
/// than `timeout`, before anything is synced.
pub(super) fn make_last(
    files: &HashTableFiles,
    file: &HashFile,
    end: u64,
    timeout: Duration,
) -> Result<()> {
    let state = file.sharing.state();
    let is_there = || state.lasting_end() >= end && !state.is_name_unsynced();
    if is_there() {
        return Ok(());
    }
    let _syncing = file.syncing.lock().unwrap_or_else(PoisonError::into_inner);
    let _turn = file.sharing.take_turn_to(TurnKind::Sync, timeout)?;
    if is_there() {
        return Ok(());
    }
    let end = end.max(state.newest().end);
    let log = &file.log;
    file.check_length(end)?;
    log.storage.sync().map_err(|error| log.system_error("sync the table", &error))?;
    if state.is_name_unsynced() {
        let synced = files.directory.sync();
        synced.map_err(|error| log.system_error("sync the table's directory", &error))?;
        state.set_name_unsynced(false);
    }
    state.has_lasted_to(end);
    Ok(())
}

impl Engine {
    pub(super) fn new(
        files: HashTableFiles,
        options: OpenOptions,
        name: Arc<str>,
        file: HashFile,
        seen: FileStatus,
    ) -> Result<Engine> {
        let values = file.log.header.values;
        let extent = file.newest()?;
        Ok(Engine {
            files,
            access: if options.read_only { TableAccess::Read } else { TableAccess::Write },
            options,
            name,
            values,
            opened: Some(LogWriter::new(Arc::new(file), extent)),
            turn: None,
            kept_turns: Vec::new(),
            seen,
            follow_count: 0,
            process: ProcessMark::new(),
            last_sync: Instant::now(),
            flusher: None,
            compactor: None,
            compaction_put_off_until: 0,
            retired: Vec::new(),
            first_at: 0,
        })
    }

    /// Fails unless it may be written.
    pub(super) fn check_writable(&self) -> Result<()> {
        self.writer()?;
        let (kind, message) = match &self.access {
            TableAccess::Write => return Ok(()),
            TableAccess::Read => (
                ErrorKind::Argument,
                "expected a table opened for writing, found one opened with read_only".to_owned(),
            ),
            TableAccess::ReadInChild => (
                ErrorKind::Closed,
                "expected to write in the process that opened the table with exclusive, found one forked from it, \
                 which can only read it"
                    .to_owned(),
            ),
            TableAccess::Failed(kind, why) => {
                // Of the kind of the first: a program that catches a full disk catches it here, too.
                let message = format!(
                    "expected a table whose writes work, found one closed by an earlier failure ({why}); open it again"
                );
                (*kind, message)
            }
        };
        Err(Error::new(kind, message).in_file(&self.name))
    }

    #[inline]
    pub(super) fn writer(&self) -> Result<&LogWriter> {
        self.opened.as_ref().ok_or_else(|| closed(&self.name))
    }

    #[inline]
    pub(super) fn writer_mut(&mut self) -> Result<&mut LogWriter> {
        self.opened.as_mut().ok_or_else(|| closed(&self.name))
    }

    #[inline]
    pub(super) fn file(&self) -> Result<&Arc<HashFile>> {
        Ok(&self.writer()?.file)
    }

    pub(super) fn depth(&self) -> usize {
        self.opened.as_ref().map_or(0, |writer| writer.transaction.depth())
    }

    /// Goes on with another file.
    pub(super) fn go_on_with(&mut self, file: Arc<HashFile>) -> Result<()> {
        let extent = file.newest()?;
        if let Some(flusher) = &self.flusher {
            flusher.go_on_with(&file);
        }
        if let Some(before) = self.opened.replace(LogWriter::new(file, extent)) {
            self.retired.push(Arc::downgrade(&before.file));
            let_go(before.file);
        }
        self.retired.retain(|file| file.strong_count() > 0);
        (self.first_at, self.compaction_put_off_until) = (0, 0);
        // Who has kept the turn of the file before has that of this one.
        for _ in 0..std::mem::take(&mut self.kept_turns).len() {
            self.keep_turn(None)?;
        }
        Ok(())
    }

    /// Takes the turn to write until it is given back.
    pub(super) fn keep_turn(&mut self, timeout: Option<Duration>) -> Result<()> {
        self.check_writable()?;
        let turn = match timeout {
            Some(timeout) => self.new_turn(timeout, LogTurn::take_ahead)?,
            None => self.new_turn(self.patience(), LogTurn::take)?,
        };
        self.kept_turns.push(turn);
        Ok(())
    }

    /// Returns how long a change waits for its turn. A compaction of this process has the turn for a moment when it ends.
    fn patience(&self) -> Duration {
        let of_compaction = if self.compactor.is_some() { PATIENCE } else { Duration::ZERO };
        self.options.timeout.max(of_compaction)
    }

    fn new_turn(&mut self, timeout: Duration, take: TakeTurn) -> Result<LogTurn> {
        for _ in 0..TURN_TRIES {
            let file = self.file()?.clone();
            match take(&self.files, &file, timeout)? {
                Some(turn) => return Ok(turn),
                None => self.leave_replaced()?,
            }
        }
        Err(replaced_again_and_again().in_file(&self.name))
    }

    /// In a forked child: the turn is the parent's.
    pub(super) fn leave_turn(&mut self) {
        self.turn = None;
    }

    pub(super) fn begin(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.depth() == 0 {
            self.turn = Some(self.new_turn(self.patience(), LogTurn::take)?);
        }
        let begun = self.writer_mut()?.begin();
        if self.depth() == 0 {
            self.turn = None;
        }
        begun
    }

    fn check_begun(&self) -> Result<()> {
        if self.depth() > 0 {
            return Ok(());
        }
        self.check_writable()?;
        let message = "expected an open transaction, found none";
        Err(Error::new(ErrorKind::Argument, message).in_file(&self.name))
    }

    /// Commits what a caller has begun. Changes meanwhile did not ask if the file was cut.
    pub(super) fn commit_begun(&mut self) -> Result<()> {
        match &self.turn {
            Some(turn) if self.depth() == 1 => turn.check_length()?,
            _ => {}
        }
        self.commit()
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.check_begun()?;
        self.check_writable()?;
        if self.depth() > 1 {
            self.writer_mut()?.transaction.merge_part();
            return Ok(());
        }
        self.start_flusher()?;
        let (files, OpenOptions { sync, timeout, .. }) = (self.files.clone(), self.options);
        let mut is_time = self.syncs_commit(INTERVAL);
        let lasts = &mut |file: &HashFile, end| match is_time {
            true if sync == SyncMode::Commit => make_last(&files, file, end, timeout),
            true => match make_last(&files, file, end, Duration::ZERO) {
                // The next commit tries again.
                Err(error) if error.kind() == ErrorKind::Lock => {
                    is_time = false;
                    Ok(())
                }
                lasts => lasts,
            },
            false => Ok(()),
        };
        match self.writer_mut()?.commit(FrameFlags::default(), lasts) {
            Ok(()) => {}
            Err(CommitFailure::TakenBack(error)) => {
                self.turn = None;
                return Err(error);
            }
            Err(CommitFailure::Unknown(error)) => return Err(self.fail(error)),
        }
        if is_time {
            self.last_sync = Instant::now();
        }
        self.note_waiting();
        self.turn = None;
        self.compact_beside()
    }

    pub(super) fn abort(&mut self) -> Result<()> {
        if self.depth() == 0 && matches!(self.access, TableAccess::Failed(..)) {
            // The failure has taken it back.
            return Ok(());
        }
        self.check_begun()?;
        let aborted = self.writer_mut()?.abort();
        if let Err(error) = aborted {
            return Err(self.fail(error));
        }
        if self.depth() == 0 {
            self.turn = None;
        }
        Ok(())
    }

    /// A write or sync has failed: takes the open transaction back, cuts what may be half there, and
    /// lets nothing be written any more. What the disk has is only known when it is read again.
    pub(super) fn fail(&mut self, error: Error) -> Error {
        if let Some(writer) = &mut self.opened {
            writer.forget();
            if self.turn.is_some() && writer.cut().is_err() {
                writer.file.sharing.state().set_unfinished(true);
            }
        }
        self.turn = None;
        self.kept_turns.clear();
        self.abandon_compaction();
        self.access = TableAccess::Failed(error.kind(), error.message().to_owned());
        error
    }

    /// Does a change: in the open transaction, or in one of its own.
    fn change<T>(&mut self, change: impl FnOnce(&mut Engine) -> Result<T>) -> Result<T> {
        self.check_writable()?;
        if self.depth() > 0 {
            return change(self);
        }
        self.begin()?;
        match change(self) {
            Ok(changed) => self.commit().map(|()| changed),
            Err(error) => {
                if self.depth() > 0 {
                    self.abort()?;
                }
                Err(error)
            }
        }
    }

    /// Returns what a step of a change came to. After a failed write, nothing more is written.
    fn checked<T>(&mut self, step: Result<T>) -> Result<T> {
        step.map_err(|error| match error.kind() {
            ErrorKind::Io(_) => self.fail(error),
            _ => error,
        })
    }

    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.change(|engine| {
            let writer = engine.writer_mut()?;
            let old = writer.old(key)?;
            let added = writer.add(HeapRecord::Entry { key, value }, old);
            engine.checked(added).map(drop)
        })
    }

    pub(super) fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.change(|engine| {
            // What a cache has evicted may be there again after a power cut, unless it was deleted.
            let is_cache = engine.values == ValueType::CACHE;
            let writer = engine.writer_mut()?;
            let old = writer.old(key)?;
            let is_alive = old.is_some_and(|old| old.is_alive());
            if !is_alive && !old.is_some_and(|old| is_cache && !old.is_deletion()) {
                return Ok(false);
            }
            let added = writer.add(HeapRecord::Deletion { key }, old);
            engine.checked(added).map(|_| is_alive)
        })
    }

    pub(super) fn clear(&mut self) -> Result<()> {
        self.change(|engine| {
            let cleared = engine.writer_mut()?.clear();
            engine.checked(cleared)
        })
    }

    /// Shows the entry that was written first of all, and deletes it.
    pub(super) fn shift(&mut self, taken: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let is_alone = self.depth() == 0;
        self.change(|engine| {
            let mut scan = engine.snapshot()?.records_from(engine.first_at);
            let Some((key, value)) = scan.advance()? else { return Ok(false) };
            taken(key, value);
            let key = key.to_vec();
            // What a transaction has taken out may be alive again. The next search goes on from there.
            if is_alone {
                engine.first_at = engine.first_at.max(scan.frame_start());
            }
            drop(scan);
            engine.delete(&key)
        })
    }

    /// Returns true if a commit is to be made to last that is made when the last one was so long ago.
    fn syncs_commit(&self, interval: Duration) -> bool {
        match self.options.sync {
            SyncMode::Commit => true,
            SyncMode::Interval => self.flusher.is_none() && self.last_sync.elapsed() >= interval,
            SyncMode::Never => false,
        }
    }

    /// Returns true if a commit made soon will be made to last before it returns.
    pub(super) fn next_commit_is_synced(&self) -> bool {
        let is_writer = matches!(self.access, TableAccess::Write) && self.depth() == 0;
        let waits_for_copy = || self.compactor.as_ref().is_some_and(Compactor::is_behind);
        is_writer && (self.syncs_commit(INTERVAL - SOON) || waits_for_copy())
    }

    /// Makes what was committed last.
    pub(super) fn sync(&mut self) -> Result<()> {
        let file = self.file()?.clone();
        let end = file.newest()?.end;
        let synced = make_last(&self.files, &file, end, self.options.timeout);
        synced.map_err(|error| match error.kind() {
            // Another one syncs. Nothing has failed.
            ErrorKind::Lock => error,
            _ => self.fail(error),
        })?;
        self.last_sync = Instant::now();
        Ok(())
    }

    pub(super) fn snapshot(&self) -> Result<HashSnapshot> {
        HashSnapshot::take(self.writer()?, self.process)
    }

    /// The table as all others see it, also within a transaction.
    pub(super) fn committed_snapshot(&self) -> Result<HashSnapshot> {
        HashSnapshot::of_committed(self.file()?, self.process)
    }

    /// Makes everything last, and leaves the file.
    pub(super) fn close(&mut self) -> Result<()> {
        if self.opened.is_none() {
            return Ok(());
        }
        self.kept_turns.clear();
        let flushed = self.end_flusher();
        let closed = match self.access {
            TableAccess::Write => self.finish(),
            _ => flushed,
        };
        self.abandon_compaction();
        self.turn = None;
        let Some(writer) = self.opened.take() else { return closed };
        if !writer.file.is_index_own && writer.file.sharing.is_alone() {
            // Without it, the file has a few bits that are no use.
            let _ = writer.file.forget_trust();
        }
        if let Some(file) = writer.file.log.storage.file() {
            // A snapshot may keep the file open, but not others out.
            let _ = file.unlock();
        }
        closed
    }

    fn finish(&mut self) -> Result<()> {
        while self.depth() > 0 {
            self.abort()?;
        }
        self.end_compaction()?;
        if self.file()?.sharing.state().is_replaced() {
            self.leave_replaced()?;
        }
        self.sync()?;
        let file = self.file()?.clone();
        // Who comes later, or has the turn, does the rest.
        if !file.sharing.is_alone() {
            return Ok(());
        }
        let Ok(Some(turn)) = LogTurn::take(&self.files, &file, Duration::ZERO) else {
            return Ok(());
        };
        let marked = match file.sharing.is_alone() {
            true => self.writer_mut()?.mark_closed(),
            false => Ok(()),
        };
        drop(turn);
        marked.map_err(|error| self.fail(error))
    }

    /// Returns the bytes of the file that are taken, without those that are given back next.
    pub(super) fn used_bytes(&self) -> Result<u64> {
        let (file, extent) = (self.file()?, self.extent()?);
        let state = file.sharing.state();
        let free_soon = extent.start.saturating_sub(state.trimmed_end().max(LOG_START));
        Ok(extent.end.saturating_sub(state.freed_bytes() + free_soon))
    }

    pub(super) fn stat(&self) -> Result<Stat> {
        let writer = self.writer()?;
        let (file, extent) = (&writer.file, self.extent()?);
        let log = &file.log;
        let file_bytes = log.storage.len();
        let file_bytes = file_bytes.map_err(|error| log.system_error("read the table", &error))?;
        let state = file.sharing.state();
        let (room_bytes, freed_bytes) = (state.room_bytes(), state.freed_bytes());
        let own = if file.is_index_own { room_bytes } else { 0 };
        let pinned = self.retired.iter().filter_map(Weak::upgrade);
        Ok(Stat {
            records: extent.records,
            live_bytes: extent.live_bytes,
            dead_bytes: extent.dead_bytes(file.other_bytes()),
            pinned_bytes: pinned.map(|file| file.log.storage.len().unwrap_or_default()).sum(),
            index_bytes: room_bytes,
            memory_bytes: own + writer.memory_bytes(),
            file_bytes: file_bytes.saturating_sub(freed_bytes),
        })
    }

    /// Returns the state as the table's own reads see it.
    pub(super) fn extent(&self) -> Result<super::extent::LogExtent> {
        let writer = self.writer()?;
        match writer.transaction.depth() {
            0 => writer.file.newest(),
            _ => Ok(writer.extent),
        }
    }
}

#[cold]
pub(super) fn replaced_again_and_again() -> Error {
    let message = "expected a table that stays in its file for a moment, found one that others replace again and again";
    Error::new(ErrorKind::Lock, message)
}

#[cold]
fn closed(name: &str) -> Error {
    Error::new(ErrorKind::Closed, "expected an open table, found it closed").in_file(name)
}
