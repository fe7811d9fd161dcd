//! What a table is made of at a moment, and how changes move through it.

use std::sync::Arc;
use std::time::Instant;

use super::changes::Changes;
use super::database::{self, CACHE_LEN, Database, Reading};
use super::of_process::OfProcess;
use super::view::{Below, Found, Spill, View, find};
use crate::error::{Error, ErrorKind, Result};
use crate::table::file::options::SyncMode;
use crate::table::{KeyRange, Scan, Snapshot, Stat};

/// Memory that changes may take before they are written to the file.
const CHANGES_LEN_MAX: usize = 8 << 20;

/// A change of usual length, with what it takes beside its bytes.
const CHANGE_LEN: usize = 64 << 10;

/// Changes for which the number of entries is kept up to date after it was asked for. Each costs a
/// look whether its key is there.
const COUNTED_CHANGES: u32 = 1000;

/// The parts of a table. Whoever has it has its lock, and is the process that opened the table.
pub(super) struct State {
    /// Gone after closing.
    database: Option<OfProcess<Database>>,
    name: String,
    process: u32,
    sync: SyncMode,
    /// The newest commit of the file, once it was read.
    reading: Option<Arc<Reading>>,
    /// Changes that are not in the file: first the committed ones, then those of open transactions.
    layers: Vec<Arc<Changes>>,
    /// Changes of the outermost transaction for which memory was too small. Then the first layer is
    /// empty: all before it is in the file.
    spill: Option<Arc<Spill>>,
    /// Since when committed changes wait to be written.
    waiting_since: Option<Instant>,
    /// The number of entries, where it is known, and for how many changes it will be.
    len: Option<(u64, u32)>,
    /// Why nothing can be done any more, and whether it was told.
    failure: Option<(Error, bool)>,
    is_closing: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("depth", &self.depth()).finish_non_exhaustive()
    }
}

impl State {
    pub(super) fn new(database: Database, name: &str, sync: SyncMode) -> State {
        State {
            database: Some(OfProcess::new(database)),
            name: name.to_owned(),
            process: std::process::id(),
            sync,
            reading: None,
            layers: vec![Arc::default()],
            spill: None,
            waiting_since: None,
            len: None,
            failure: None,
            is_closing: false,
        }
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_closing
    }

    pub(super) fn begin_closing(&mut self) {
        self.is_closing = true;
    }

    /// Fails after a failed write. The first time this is the error itself, which a thread in the
    /// background may have met.
    pub(super) fn check(&mut self) -> Result<()> {
        match &mut self.failure {
            None => Ok(()),
            Some((error, was_told)) if !*was_told => {
                *was_told = true;
                Err(error.clone())
            }
            Some((error, _)) => Err(Error::new(
                ErrorKind::Closed,
                format!(
                    "expected a table whose writes work, found one closed by an earlier failure \
                     ({}); what was in the file is whole: open it again",
                    error.message()
                ),
            )
            .in_file(&self.name)),
        }
    }

    /// Remembers that a write failed: what is in the file now is known only after opening it again.
    fn failed<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if let Err(error) = &outcome {
            self.failure = Some((error.clone(), true));
        }
        outcome
    }

    /// The same for a write that nobody called for.
    pub(super) fn flush_in_background(&mut self) {
        if self.failure.is_none() && self.flush().is_err() {
            self.failure = self.failure.take().map(|(error, _)| (error, false));
        }
    }

    fn database(&self) -> Result<&Database> {
        match &self.database {
            Some(database) => database.checked(),
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

    fn reading(&mut self) -> Result<Arc<Reading>> {
        if let Some(reading) = &self.reading {
            return Ok(reading.clone());
        }
        let database = self.database()?;
        let reading = database.read(&self.name)?;
        if database.keeps_readings() {
            self.reading = Some(reading.clone());
        }
        Ok(reading)
    }

    fn below(&mut self) -> Result<Below> {
        match &self.spill {
            Some(spill) => Ok(Below::Spill(spill.clone())),
            None => self.reading().map(Below::Reading),
        }
    }

    /// Where the value of `key` is.
    pub(super) fn find(&mut self, key: &[u8]) -> Result<Found> {
        let layers = std::mem::take(&mut self.layers);
        let found = find(&layers, || self.below(), key);
        self.layers = layers;
        found
    }

    pub(super) fn view(&mut self) -> Result<View> {
        let below = self.below()?;
        Ok(View::new(&self.layers, below, self.process))
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
        if let Some(layer) = self.layers.last_mut() {
            Arc::make_mut(layer).set(key, value);
        }
        self.moved()
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

    /// After changes of the newest layer: makes room, and writes what is due.
    fn moved(&mut self) -> Result<()> {
        match self.layers.as_slice() {
            [committed] if committed.is_empty() => Ok(()),
            [committed] => {
                if self.sync == SyncMode::Commit || committed.memory_len() > CHANGES_LEN_MAX {
                    return self.flush();
                }
                self.waiting_since.get_or_insert_with(Instant::now);
                Ok(())
            }
            [_, outermost] if outermost.memory_len() > CHANGES_LEN_MAX && self.may_spill() => {
                self.spill()
            }
            _ => Ok(()),
        }
    }

    /// Whether a change made now will be written to the file before it returns, unless it is longer
    /// than [`CHANGE_LEN`].
    pub(super) fn next_change_is_written(&self) -> bool {
        match self.layers.as_slice() {
            [committed] => {
                self.sync == SyncMode::Commit
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
        if self.depth() == 0
            && let Some(spill) = self.spill.take()
        {
            let outcome = spill.end().and_then(|writing| {
                database::apply(writing.checked()?, &ended, &self.name)?;
                database::commit(writing, &self.name)
            });
            self.reading = None;
            return self.failed(outcome);
        }
        if let Some(layer) = self.layers.last_mut() {
            Arc::make_mut(layer).absorb(ended);
        }
        self.moved()
    }

    pub(super) fn abort(&mut self) -> Result<()> {
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
    fn end_layer(&mut self) -> Result<Arc<Changes>> {
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
        let Some(committed) = self.layers.first_mut() else { return Ok(()) };
        self.waiting_since = None;
        if committed.is_empty() {
            return Ok(());
        }
        let changes = std::mem::take(committed);
        self.reading = None;
        let outcome = self.write(|writing, name| database::apply(writing, &changes, name));
        self.failed(outcome)
    }

    /// Does `change` as a commit of redb.
    fn write(
        &self,
        change: impl FnOnce(&redb::WriteTransaction, &str) -> Result<()>,
    ) -> Result<()> {
        let writing = self.database()?.begin_write(&self.name)?;
        change(writing.checked()?, &self.name)?;
        database::commit(writing, &self.name)
    }

    /// Whether no view shows the part of the transaction that would be changed.
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

    /// What is above a savepoint can be taken back, so every entry is taken out by itself.
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
        let outcome = database.checked_mut()?.compact(&self.name);
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
        let changes: usize = self.layers.iter().map(|layer| layer.memory_len()).sum();
        stat.memory_bytes = changes as u64 + file_bytes.min(CACHE_LEN as u64);
        Ok(stat)
    }

    /// Gives up open transactions, writes what was committed, and lets go of the file.
    pub(super) fn close(&mut self) {
        self.layers.truncate(1);
        if let Some(Ok(writing)) = self.spill.take().map(|spill| spill.end()) {
            let _ = database::abort(writing, &self.name);
        }
        if self.failure.is_none() {
            let _ = self.flush();
        }
        self.reading = None;
        self.database = None;
    }
}
