//! One generation of a hashed table: its log, and the index of it, which snapshots share with the
//! table that goes on changing it.
//!
//! Records never change, so a snapshot is the end of the log at its time. A record before that end is
//! alive in it if the index still has it, or has displaced it since. So the index remembers what it
//! displaced, as long as there is a snapshot that could ask. Clearing and compacting begin a new view, so an older one stays as
//! it is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use super::header::Log;
use super::log_index::{KeyHash, LogIndex, Words};
use crate::error::Result;

/// Number of tries to lock the index before another thread may have the processor.
const SPINS: u32 = 200;

/// Number of tries before this thread sleeps.
const YIELDS: u32 = 230;

/// Time that it sleeps.
const PAUSE: Duration = Duration::from_micros(100);

/// One generation, or what came after all entries were taken out of it.
#[derive(Debug)]
pub(super) struct GenerationView {
    pub(super) log: Arc<Log>,
    tracked: Mutex<TrackedIndex>,
}

impl GenerationView {
    pub(super) fn new(log: Arc<Log>, index: LogIndex, memory: Arc<dyn Words>) -> GenerationView {
        let tracked = TrackedIndex {
            index,
            memory,
            is_in_transaction: false,
            snapshots: BTreeMap::new(),
            displaced: BTreeMap::new(),
            displaced_len_checked: 0,
        };
        GenerationView { log, tracked: Mutex::new(tracked) }
    }

    /// Returns a view of the same log without entries.
    pub(super) fn cleared(&self) -> Result<GenerationView> {
        let memory = self.index().memory.clone();
        let index = LogIndex::with_room(0, &*memory)?;
        Ok(GenerationView::new(self.log.clone(), index, memory))
    }

    pub(super) fn index(&self) -> MutexGuard<'_, TrackedIndex> {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the index for a thread that the table's own calls must not have to wake: it tries again while they have
    /// the index.
    pub(super) fn index_beside(&self) -> MutexGuard<'_, TrackedIndex> {
        let mut tries = 0;
        loop {
            match self.tracked.try_lock() {
                Ok(index) => return index,
                Err(TryLockError::Poisoned(index)) => return index.into_inner(),
                Err(TryLockError::WouldBlock) => tries += 1,
            }
            match tries {
                0..SPINS => std::hint::spin_loop(),
                SPINS..YIELDS => thread::yield_now(),
                // It is held while a disk is read.
                _ => thread::sleep(PAUSE),
            }
        }
    }

    pub(super) fn hash(&self, key: &[u8]) -> KeyHash {
        KeyHash::new(key, self.log.header.seed)
    }
}

/// An index that knows of its snapshots.
#[derive(Debug)]
pub(super) struct TrackedIndex {
    pub(super) index: LogIndex,
    memory: Arc<dyn Words>,
    /// True if it has changes that may be taken back.
    pub(super) is_in_transaction: bool,
    /// Number of snapshots of each end of the log.
    snapshots: BTreeMap<u64, usize>,
    /// Records that were displaced while there were snapshots of them, each with the one that displaced it.
    displaced: BTreeMap<(KeyHash, u64), u64>,
    /// Number of these when the needless ones were taken out last.
    displaced_len_checked: usize,
}

impl TrackedIndex {
    /// Makes sure that the next change succeeds.
    pub(super) fn reserve(&mut self) -> Result<()> {
        self.index.reserve(&*self.memory)
    }

    /// Replaces the place `old`, if any, by `new`, if any, because of the record at `because`.
    pub(super) fn change(
        &mut self,
        hash: KeyHash,
        old: Option<u64>,
        new: Option<u64>,
        because: u64,
    ) -> Result<()> {
        if let Some(old) = old {
            self.displace(hash, old, because);
        }
        match (old, new) {
            (Some(old), Some(new)) => self.index.replace(hash, old, new),
            (Some(old), None) => self.index.remove(hash, old),
            (None, Some(new)) => self.index.insert(hash, new, &*self.memory)?,
            (None, None) => {}
        }
        Ok(())
    }

    /// Remembers that the record at `old` was the newest until the one at `because`.
    pub(super) fn displace(&mut self, hash: KeyHash, old: u64, because: u64) {
        if self.snapshots.last_key_value().is_some_and(|(end, _)| *end > old) {
            self.displaced.insert((hash, old), because);
        }
    }

    /// Returns true if the record at `place` was the newest of its key when the log ended at `end`.
    pub(super) fn was_alive(&self, hash: KeyHash, place: u64, end: u64) -> bool {
        place < end
            && (self.index.contains(hash, place)
                || self.displaced.get(&(hash, place)).is_some_and(|because| *because >= end))
    }

    /// The places of entries with `hash` that were alive when the log ended at `end`, and are not any
    /// more.
    pub(super) fn displaced_since(
        &self,
        hash: KeyHash,
        end: u64,
    ) -> impl Iterator<Item = u64> + use<'_> {
        let of_hash = self.displaced.range((hash, 0)..(hash, end));
        of_hash.filter(move |(_, because)| **because >= end).map(|((_, place), _)| *place)
    }

    /// From now on, there is a snapshot of the log up to `end`.
    pub(super) fn add_snapshot(&mut self, end: u64) {
        *self.snapshots.entry(end).or_default() += 1;
    }

    /// A snapshot of the log up to `end` is gone, and with it what only it needed.
    pub(super) fn remove_snapshot(&mut self, end: u64) {
        if let Some(count) = self.snapshots.get_mut(&end) {
            *count -= 1;
            if *count == 0 {
                self.snapshots.remove(&end);
            }
        }
        match self.snapshots.first_key_value() {
            None => self.displaced.clear(),
            // To look at all of them is worth it only when they have become many.
            Some((oldest, _)) if self.displaced.len() > 2 * self.displaced_len_checked + 1024 => {
                self.displaced.retain(|_, because| *because >= *oldest);
                self.displaced_len_checked = self.displaced.len();
            }
            Some(_) => {}
        }
    }

    /// Bytes that what was displaced takes, about.
    pub(super) fn displaced_bytes(&self) -> u64 {
        (self.displaced.len() * 32) as u64
    }
}
