//! Parts of a table at a moment, and how changes move through them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::changes::ChangedEntries;
use super::database::{self, CACHE_LEN, CommitReading, TreeDatabase};
use super::fork_guard::ForkGuard;
use super::log_mark::{LogMark, LogMarkPlace};
use super::redb_backend::is_read;
use super::redo_log::{Position, RedoLog, Tail};
use super::table_files::TreeTableFiles;
use super::uses::Uses;
use super::view::{Below, FoundValue, Spill, TreeView, find};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{ProcessMark, Storage};
use crate::heap::record::HeapRecord;
use crate::table::file::options::SyncMode;
use crate::table::{KeyRange, Scan, Snapshot, Stat};

/// Memory that changes may take before they are written to the file.
const CHANGES_LEN_MAX: usize = 8 << 20;

/// A change of usual length, with what it takes beside its bytes.
const CHANGE_LEN: usize = 64 << 10;

/// Changes for which the number of entries is kept up to date after it was asked for. Each costs a
/// look whether its key is there.
const COUNTED_CHANGES: u32 = 1000;

/// Number of times that a reader looks again for a log that a table seems to lack while its writer goes on.
const LOOKS_FOR_LOG: u32 = 100;

/// Treatment of a table whose missing log has commits that it lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingLog {
    /// It is not opened.
    Refused,
    /// The commits are given up.
    GivenUp,
}

/// Commits that stay readable when a flush fails.
#[derive(Clone, Copy)]
enum KeptCommits {
    /// All that was to be written: who committed it was told so.
    Committed,
    /// Nothing: who commits it is told of the failure.
    Nothing,
}

/// The parts of a table. Whoever has it has its lock, and is the process that opened the table.
pub(super) struct TreeState {
    /// Gone after closing, but for those that read it still.
    database: Option<Arc<ForkGuard<TreeDatabase>>>,
    /// True if the database is open to be read only.
    is_reader: bool,
    /// The file of the table.
    storage: Arc<dyn Storage>,
    name: String,
    process: ProcessMark,
    sync: SyncMode,
    /// The newest commit.
    position: Position,
    /// The newest commit of redb.
    written: Position,
    /// Log of commits before redb has them. Without one, they wait in memory only.
    log: Option<RedoLog>,
    /// Commits that the file does not have, while it is only read: of a process that died, or of this
    /// one when a write failed.
    tail: Option<Tail>,
    /// The newest commit of the file, once it was read.
    reading: Option<Arc<CommitReading>>,
    /// Changes that are not in the file: first the committed ones, then those of open transactions.
    layers: Vec<Arc<ChangedEntries>>,
    /// Changes of the outermost transaction for which memory was too small. Then the first layer is
    /// empty: all before it is in the file.
    spill: Option<Arc<Spill>>,
    /// Since when committed changes wait to be written.
    waiting_since: Option<Instant>,
    /// The number of entries, where it is known, and for how many changes it will be.
    len: Option<(u64, u32)>,
    /// Error after which nothing can be done any more, and true if it was told.
    failure: Option<(Error, bool)>,
    is_closing: bool,
    /// Counts of what reads it in this process.
    uses: Arc<Uses>,
}

impl std::fmt::Debug for TreeState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeState").field("depth", &self.depth()).finish_non_exhaustive()
    }
}

impl TreeState {
    /// The state of a table whose file is open to be read.
    pub(super) fn of_reader(
        database: TreeDatabase,
        name: &str,
        files: Option<&TreeTableFiles>,
    ) -> Result<TreeState> {
        let written = database.position(name)?;
        let tail = match files {
            Some(files) => find_tail(&database, name, files)?.filter(|tail| !tail.is_empty()),
            None => None,
        };
        Ok(TreeState { tail, ..TreeState::new(database, name, SyncMode::Never, written) })
    }

    /// The state of a table whose file is open to be written. What a process that died has left in the
    /// log goes to the file first.
    pub(super) fn of_writer(
        database: TreeDatabase,
        name: &str,
        sync: SyncMode,
        files: Option<(&TreeTableFiles, MissingLog)>,
    ) -> Result<TreeState> {
        let written = database.position(name)?;
        let mark = database.log_mark();
        let mut state = TreeState::new(database, name, sync, written);
        let Some((files, missing)) = files else { return Ok(state) };
        state.take_log(files, &mark, missing)?;
        if sync != SyncMode::Commit {
            RedoLog::check_place(files, &*state.storage)?;
        }
        let (storage, base) = (state.storage.clone(), state.written);
        state.log = Some(RedoLog::new(files.clone(), storage, mark, base, state.position));
        Ok(state)
    }

    /// Writes the commits of an earlier session's log to the file, and removes the log.
    fn take_log(
        &mut self,
        files: &TreeTableFiles,
        mark: &LogMarkPlace,
        missing: MissingLog,
    ) -> Result<()> {
        let unwritten = mark.read()?.filter(|mark| mark.has_more_than(self.written));
        let tail = Tail::read(files, &*self.storage, self.written)?;
        if tail.is_none() && unwritten.is_some() && missing == MissingLog::Refused {
            return Err(LogMark::missing(&files.shown_log()));
        }
        let has_log = tail.is_some();
        if let Some(tail) = tail {
            self.position.number = tail.end.number;
            self.layers = vec![tail.changes];
            self.flush()?;
        }
        // Before the log goes: a mark that stays would ask for it.
        if let Some(unwritten) = unwritten {
            mark.clear(unwritten)?;
        }
        if has_log {
            RedoLog::discard(files);
        }
        Ok(())
    }

    fn new(database: TreeDatabase, name: &str, sync: SyncMode, written: Position) -> TreeState {
        TreeState {
            storage: database.storage().clone(),
            is_reader: !database.keeps_readings(),
            database: Some(Arc::new(ForkGuard::new(database))),
            name: name.to_owned(),
            process: ProcessMark::new(),
            sync,
            position: Position::after(written),
            written,
            log: None,
            tail: None,
            reading: None,
            layers: vec![Arc::default()],
            spill: None,
            waiting_since: None,
            len: None,
            failure: None,
            is_closing: false,
            uses: Arc::default(),
        }
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_closing
    }

    pub(super) fn begin_closing(&mut self) {
        self.is_closing = true;
    }

    /// Fails after a failed write, to refuse further ones. The first time this is the error itself,
    /// which a thread in the background may have met.
    pub(super) fn check(&mut self) -> Result<()> {
        match &mut self.failure {
            None => Ok(()),
            Some((error, was_told)) if !*was_told => {
                *was_told = true;
                Err(error.clone())
            }
            // Of the kind of the first: a program that catches a full disk catches it here, too.
            Some((error, _)) => Err(Error::new(
                error.kind(),
                format!(
                    "expected a table whose writes work, found one closed by an earlier failure \
                     ({}); what was committed can be read: open it again to write",
                    error.message()
                ),
            )
            .in_file(&self.name)),
        }
    }

    /// Writes what was committed, or tells why that cannot be done, unless it was told: who closes a table after an error
    /// has that error.
    pub(super) fn finish(&mut self) -> Result<()> {
        match self.failure {
            Some((_, true)) => Ok(()),
            _ => self.check().and_then(|()| self.flush()),
        }
    }

    /// Remembers that redb or the log failed. Nothing is written from now on. What is in the file now
    /// is read anew, and `kept`, which was committed and may not be there, is laid over it.
    fn fail(&mut self, error: &Error, kept: Arc<ChangedEntries>) {
        self.failure = Some((error.clone(), true));
        self.layers = vec![Arc::default()];
        if let Some(Ok(writing)) = self.spill.take().map(|spill| spill.end()) {
            let _ = database::abort(writing, &self.name);
        }
        if !kept.is_empty() {
            let kept = Arc::unwrap_or_clone(kept);
            self.tail = Some(Tail::new(self.written, self.position, kept));
        }
        // The log stays for the next open of the table.
        (self.log, self.reading, self.len, self.waiting_since) = (None, None, None, None);
        // redb does nothing more after a failure.
        self.database = None;
    }

    /// Calls [`TreeState::fail`] for an error while nothing that was committed waits in memory.
    fn failed<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if let Err(error) = &outcome {
            self.fail(error, Arc::default());
        }
        outcome
    }

    /// Opens the file to be read where redb could not go on, after it could not be read or written.
    fn reopen(&mut self) -> Result<()> {
        let failure = self.database().ok().and_then(TreeDatabase::failure).cloned();
        match failure {
            Some(_) if self.is_reader => self.database = None,
            Some(error) if self.failure.is_none() => {
                let kept = self.layers.first_mut().map(std::mem::take).unwrap_or_default();
                self.fail(&error.in_file(&self.name), kept);
            }
            _ => {}
        }
        if self.database.is_none() && !self.is_closing {
            let storage = self.storage.clone();
            let mut same = || Ok(storage.clone());
            let database = TreeDatabase::open_reader(&mut same, &self.name, false, Duration::ZERO)?;
            self.database = Some(Arc::new(ForkGuard::new(database)));
            self.is_reader = true;
        }
        Ok(())
    }

    /// A flush that nobody called for.
    pub(super) fn flush_in_background(&mut self) {
        if self.failure.is_none() && self.flush().is_err() {
            self.failure = self.failure.take().map(|(error, _)| (error, false));
        }
    }

    fn database(&self) -> Result<&TreeDatabase> {
        self.shared_database()?.checked()
    }

    fn shared_database(&self) -> Result<&Arc<ForkGuard<TreeDatabase>>> {
        match &self.database {
            Some(database) => Ok(database),
            None => Err(Error::new(ErrorKind::Closed, "expected an open table, found it closed")),
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.layers.len() - 1
    }

    /// Since when committed changes wait.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        self.waiting_since
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.waiting_since.is_some()
    }

    fn reading(&mut self) -> Result<Arc<CommitReading>> {
        self.reopen()?;
        if let Some(reading) = &self.reading {
            return Ok(reading.clone());
        }
        let mut reading = TreeDatabase::read(self.shared_database()?, &self.name)?;
        let database = self.database()?;
        if database.keeps_readings() {
            self.reading = Some(reading.clone());
        } else if let Some(tail) = &self.tail
            && !tail.fits(database.position(&self.name)?)
        {
            // Another process has written these commits, and maybe more.
            reading = TreeDatabase::read(self.shared_database()?, &self.name)?;
            self.tail = None;
        }
        Ok(reading)
    }

    fn below(&mut self) -> Result<Below> {
        match &self.spill {
            Some(spill) => Ok(Below::Spill(spill.clone())),
            None => self.reading().map(Below::Reading),
        }
    }

    /// Finds the value of `key`.
    pub(super) fn find(&mut self, key: &[u8]) -> Result<FoundValue> {
        if self.tail.is_some() {
            return self.view()?.find(key);
        }
        let layers = std::mem::take(&mut self.layers);
        let found = find(&layers, || self.below(), key);
        self.layers = layers;
        found
    }

    pub(super) fn view(&mut self) -> Result<TreeView> {
        let below = self.below()?;
        Ok(match &self.tail {
            Some(tail) => {
                let layers = std::slice::from_ref(&tail.changes);
                TreeView::new(layers, below, self.process, &self.uses)
            }
            None => TreeView::new(&self.layers, below, self.process, &self.uses),
        })
    }

    pub(super) fn len(&mut self) -> Result<u64> {
        if let Some((len, _)) = self.len {
            self.len = Some((len, COUNTED_CHANGES));
            return Ok(len);
        }
        let len = self.view()?.len()?;
        if self.database()?.keeps_readings() {
            self.len = Some((len, COUNTED_CHANGES));
        }
        Ok(len)
    }

    /// Sets the value of `key`, or takes it out.
    pub(super) fn set(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        self.count(key, value.is_some())?;
        if self.depth() == 0 {
            return self.commit_one(key, value);
        }
        if let Some(layer) = self.layers.last_mut() {
            Arc::make_mut(layer).set(key, value);
        }
        match self.layers.as_slice() {
            [_, outermost] if outermost.memory_len() > CHANGES_LEN_MAX && self.may_spill() => {
                self.spill()
            }
            _ => Ok(()),
        }
    }

    /// Keeps the number of entries, where it is known.
    fn count(&mut self, key: &[u8], will_be_there: bool) -> Result<()> {
        let Some((len, left)) = self.len.take() else { return Ok(()) };
        let Some(left) = left.checked_sub(1) else { return Ok(()) };
        let len = match (self.find(key)?.is_there(), will_be_there) {
            (false, true) => len + 1,
            (true, false) => len.saturating_sub(1),
            _ => len,
        };
        self.len = Some((len, left));
        Ok(())
    }

    /// Commits one change.
    fn commit_one(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let record = match value {
            Some(value) => HeapRecord::Entry { key, value },
            None => HeapRecord::Deletion { key },
        };
        let is_logged = self.log_commit(|log, number| log.append_one(number, &record))?;
        self.take_in(is_logged, |committed| committed.set(key, value))
    }

    /// Commits the changes of a transaction.
    fn commit_all(&mut self, changes: ChangedEntries) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let is_logged = self.log_commit(|log, number| log.append(number, &changes))?;
        self.take_in(is_logged, |committed| committed.absorb(changes))
    }

    /// Writes a commit to the log, and says whether the log has it now.
    fn log_commit(
        &mut self,
        append: impl FnOnce(&mut RedoLog, u64) -> Result<bool>,
    ) -> Result<bool> {
        if self.sync == SyncMode::Commit || self.log.is_none() {
            return Ok(false);
        }
        let number = self.position.number + 1;
        let Some(log) = &mut self.log else { return Ok(false) };
        append(log, number).map_err(|error| {
            let error = error.in_file(&self.name);
            let kept = self.layers.first_mut().map(std::mem::take).unwrap_or_default();
            self.fail(&error, kept);
            error
        })
    }

    /// Adds a commit to those that wait, and writes what is due.
    fn take_in(&mut self, is_logged: bool, change: impl FnOnce(&mut ChangedEntries)) -> Result<()> {
        let must_be_written = self.sync == SyncMode::Commit || self.log.is_some() && !is_logged;
        if must_be_written {
            self.flush()?;
        }
        self.position.number += 1;
        if let Some(committed) = self.layers.first_mut() {
            change(Arc::make_mut(committed));
        }
        if must_be_written {
            return self.flush_keeping(KeptCommits::Nothing);
        }
        let waiting = self.layers.first().map_or(0, |committed| committed.memory_len());
        let is_full = waiting > CHANGES_LEN_MAX;
        if is_full || self.log.as_ref().is_some_and(RedoLog::is_full) {
            return self.flush();
        }
        self.waiting_since.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// Returns true if a change made now will be written to the file before it returns, unless it is longer than
    /// [`CHANGE_LEN`].
    pub(super) fn next_change_is_written(&self) -> bool {
        match self.layers.as_slice() {
            [committed] => {
                self.sync == SyncMode::Commit
                    || self.log.as_ref().is_some_and(RedoLog::is_refused)
                    || committed.memory_len() + CHANGE_LEN > CHANGES_LEN_MAX
            }
            [_, outermost] => {
                outermost.memory_len() + CHANGE_LEN > CHANGES_LEN_MAX && self.may_spill()
            }
            _ => false,
        }
    }

    pub(super) fn begin(&mut self) {
        self.layers.push(Arc::default());
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        let ended = self.end_layer()?;
        let ended = Arc::unwrap_or_clone(ended);
        if self.depth() > 0 {
            if let Some(layer) = self.layers.last_mut() {
                Arc::make_mut(layer).absorb(ended);
            }
            return Ok(());
        }
        match self.spill.take() {
            Some(spill) => self.commit_spill(&spill, &ended),
            None => self.commit_all(ended),
        }
    }

    /// Commits a transaction of redb, after the last of its changes.
    fn commit_spill(&mut self, spill: &Spill, last: &ChangedEntries) -> Result<()> {
        let position = Position { number: self.position.number + 1, ..self.position };
        let outcome = spill.end().and_then(|writing| {
            database::apply(writing.checked()?, last, &self.name)?;
            database::commit(writing, position, &self.name)
        });
        self.reading = None;
        self.failed(outcome)?;
        self.position = position;
        self.has_written();
        Ok(())
    }

    pub(super) fn abort(&mut self) -> Result<()> {
        if self.failure.is_some() && self.depth() == 0 {
            // The failure has taken it back.
            return Ok(());
        }
        self.end_layer()?;
        self.len = None;
        if self.depth() == 0
            && let Some(spill) = self.spill.take()
        {
            let outcome = spill.end().and_then(|writing| database::abort(writing, &self.name));
            return self.failed(outcome);
        }
        Ok(())
    }

    /// Takes the newest layer off, which belongs to a transaction.
    fn end_layer(&mut self) -> Result<Arc<ChangedEntries>> {
        match self.layers.pop() {
            Some(layer) if !self.layers.is_empty() => Ok(layer),
            layer => {
                self.layers.extend(layer);
                Err(Error::new(ErrorKind::Argument, "expected a transaction to end, found none")
                    .in_file(&self.name))
            }
        }
    }

    /// Writes what was committed to the file, where a power cut will not reach it.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.flush_keeping(KeptCommits::Committed)
    }

    fn flush_keeping(&mut self, kept: KeptCommits) -> Result<()> {
        let Some(committed) = self.layers.first_mut() else { return Ok(()) };
        self.waiting_since = None;
        if committed.is_empty() {
            return Ok(());
        }
        let changes = std::mem::take(committed);
        self.reading = None;
        let marked = self
            .log
            .as_ref()
            .map_or(Ok(()), |log| log.mark_end().map_err(|error| error.in_file(&self.name)));
        let written = marked
            .and_then(|()| self.write(|writing, name| database::apply(writing, &changes, name)));
        match written {
            Ok(()) => {
                self.has_written();
                Ok(())
            }
            Err(error) => {
                let kept = match kept {
                    KeptCommits::Committed => changes,
                    KeptCommits::Nothing => Arc::default(),
                };
                self.fail(&error, kept);
                Err(error)
            }
        }
    }

    /// The file has all commits now.
    fn has_written(&mut self) {
        self.written = self.position;
        if let Some(log) = &mut self.log {
            log.restart();
        }
    }

    /// Does `change` as a commit of redb.
    fn write(
        &self,
        change: impl FnOnce(&redb::WriteTransaction, &str) -> Result<()>,
    ) -> Result<()> {
        let writing = self.database()?.begin_write(&self.name)?;
        change(writing.checked()?, &self.name)?;
        database::commit(writing, self.position, &self.name)
    }

    /// Returns true if no view shows the part of the transaction that would be changed.
    fn may_spill(&self) -> bool {
        self.spill.as_ref().is_none_or(|spill| Arc::strong_count(spill) == 1)
    }

    /// Moves the changes of the outermost transaction into one of redb's.
    fn spill(&mut self) -> Result<()> {
        let spill = self.open_spill()?;
        let changes = self.layers.get_mut(1).map(std::mem::take).unwrap_or_default();
        let outcome = spill.with(|writing| database::apply(writing, &changes, &self.name));
        self.failed(outcome)
    }

    fn open_spill(&mut self) -> Result<Arc<Spill>> {
        if let Some(spill) = &self.spill {
            return Ok(spill.clone());
        }
        self.flush()?;
        let writing = self.database()?.begin_write(&self.name);
        let writing = self.failed(writing)?;
        Ok(self.spill.insert(Arc::new(Spill::new(writing, &self.name))).clone())
    }

    pub(super) fn clear(&mut self) -> Result<()> {
        if self.depth() == 0 {
            self.begin();
            self.clear()?;
            return self.commit();
        }
        if self.depth() > 1 || !self.may_spill() {
            return self.clear_one_by_one();
        }
        if let Some(layer) = self.layers.get_mut(1) {
            *layer = Arc::default();
        }
        let spill = self.open_spill()?;
        self.len = None;
        let outcome = spill.with(|writing| database::clear(writing, &self.name));
        self.failed(outcome)
    }

    /// Takes out every entry by itself, because what is above a savepoint can be taken back.
    fn clear_one_by_one(&mut self) -> Result<()> {
        let mut scan = self.view()?.scan(&KeyRange::ALL)?;
        while let Some((key, _)) = scan.advance()? {
            if let Some(layer) = self.layers.last_mut() {
                Arc::make_mut(layer).set(key, None);
            }
        }
        self.len = None;
        Ok(())
    }

    pub(super) fn compact(&mut self) -> Result<()> {
        if self.depth() > 0 {
            let message = "expected no open transaction to compact, found one";
            return Err(Error::new(ErrorKind::Argument, message).in_file(&self.name));
        }
        self.flush()?;
        self.reading = None;
        let Some(database) = &mut self.database else { return Ok(()) };
        let Some(alone) = Arc::get_mut(database) else {
            return Err(is_read(&self.uses, &self.name));
        };
        let outcome = alone.checked_mut()?.compact(&self.name);
        match outcome {
            // Somebody reads; nothing happened.
            Err(error) if error.kind() == ErrorKind::Lock => Err(error),
            outcome => self.failed(outcome),
        }
    }

    pub(super) fn stat(&mut self) -> Result<Stat> {
        let records = self.len()?;
        let reading = self.reading()?;
        let file_bytes = self.database()?.file_len(&self.name)?;
        let mut stat = Stat { records, file_bytes, ..Stat::default() };
        let mut used_bytes = 0;
        if let Some(stats) = reading.stats()? {
            stat.live_bytes = stats.stored_bytes();
            stat.index_bytes = stats.metadata_bytes();
            used_bytes = stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes();
        }
        stat.dead_bytes = file_bytes.saturating_sub(used_bytes);
        let tail = self.tail.as_ref().map(|tail| &tail.changes);
        let changes: usize = self.layers.iter().chain(tail).map(|layer| layer.memory_len()).sum();
        stat.memory_bytes = changes as u64 + file_bytes.min(CACHE_LEN as u64);
        Ok(stat)
    }

    /// Gives up open transactions, writes what was committed, and lets go of the file.
    pub(super) fn close(&mut self) {
        self.layers.truncate(1);
        if let Some(Ok(writing)) = self.spill.take().map(|spill| spill.end()) {
            let _ = database::abort(writing, &self.name);
        }
        let is_written = self.failure.is_none() && self.flush().is_ok();
        self.reading = None;
        self.database = None;
        if let Some(mut log) = self.log.take().filter(|_| is_written) {
            log.remove();
        }
    }
}

/// Reads the commits that the log beside the table of `files` has, for a reader. Where the log seems to be missing,
/// its writer may just have written all of it to the table, and gone: so this looks until nothing changes any more.
fn find_tail(database: &TreeDatabase, name: &str, files: &TreeTableFiles) -> Result<Option<Tail>> {
    let mut seen = None;
    for _ in 0..LOOKS_FOR_LOG {
        let written = database.position(name)?;
        let mark = database.log_mark().read()?;
        let tail = Tail::read(files, &**database.storage(), written)?;
        let is_missing = tail.is_none() && mark.is_some_and(|mark| mark.has_more_than(written));
        if !is_missing {
            return Ok(tail);
        }
        if seen == Some((written, mark)) {
            return Err(LogMark::missing(&files.shown_log()));
        }
        seen = Some((written, mark));
    }
    Ok(None)
}
