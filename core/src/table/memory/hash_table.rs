//! A hashed table in memory: records in a heap, and an index that finds them. Neither knows of the other: the heap gives out
//! addresses, and the index leads from the hash of a key to an address.
//!
//! - A put appends a record to the open segment and releases the one that it replaces, whose bytes are dead from then on. A
//!   record never changes, so a view, a snapshot or a scan needs no copy and no lock.
//! - Segments have an order of their own, and a record moves only to where its segment was. So a scan of the heap that asks
//!   the index for what is alive goes in the order of last write.
//! - When a quarter of the memory is dead, each change moves a few live records out of the segment that gives most for the
//!   work. Nothing moves while a transaction is open, so a rollback points the index at the old addresses again.
//! - A segment is freed with its last user: the heap, or the pin of a view or a snapshot.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::address_uses::AddressUses;
use super::hash_index::HashIndex;
use crate::error::{Error, ErrorKind, Result};
use crate::heap::{Address, HeapCursor, HeapSnapshot, Pin, RecordHeap, prefetch};
use crate::table::{Eviction, EvictionJudge, Scan, Snapshot, Stat, Table, View, check_entry};

// Bound (Tables): records moved for one change of a table in memory = 64, and 4 bytes for each that it writes or
// releases.
/// So dead bytes never get ahead, and no change takes long.
const MOVED_PER_BYTE: usize = 4;
const MOVED_RECORDS: usize = 64;

/// Keys that are looked up side by side.
const BLOCK_LEN: usize = 16;

/// A table of byte strings by hash, with a fixed cost of about eleven bytes an entry.
///
/// Scans go in the order of last write. The hash has a random seed of the table's own, so that keys
/// chosen with evil intent cannot collide on purpose.
#[derive(Debug)]
pub struct HashTable {
    seed: u64,
    content: HashContent,
    /// Changes of the open transactions, the last change last.
    changes: Vec<HashChange>,
    /// For each open transaction, the changes made before it.
    savepoints: Vec<usize>,
    uses: AddressUses,
}

/// Records, and where they are.
#[derive(Debug, Default)]
struct HashContent {
    heap: RecordHeap,
    index: HashIndex,
}

/// A change that can be taken back.
#[derive(Debug)]
enum HashChange {
    Entry { hash: u64, old: Option<Address>, new: Option<Address> },
    Cleared(Box<HashContent>),
}

impl Default for HashTable {
    fn default() -> Self {
        Self::new()
    }
}

impl HashTable {
    /// An empty table.
    pub fn new() -> HashTable {
        HashTable {
            // The standard library's source of randomness for the same purpose.
            seed: RandomState::new().hash_one(0),
            content: HashContent::default(),
            changes: Vec::new(),
            savepoints: Vec::new(),
            uses: AddressUses::default(),
        }
    }

    #[inline]
    fn hash(&self, key: &[u8]) -> u64 {
        xxh3_64_with_seed(key, self.seed)
    }

    /// The value of `key`.
    #[inline]
    pub fn value(&self, key: &[u8]) -> Option<&[u8]> {
        let address = self.content.find(self.hash(key), key)?;
        Some(self.content.heap.record(address).1)
    }

    /// The value of `key`, to keep: the bytes stay as and where they are, whatever becomes of the entry.
    pub fn pin(&self, key: &[u8]) -> Option<Pin> {
        let address = self.content.find(self.hash(key), key)?;
        self.content.heap.pin_value(address)
    }

    /// The hashes of keys that come next, as far as they are known, whose buckets are prefetched.
    #[inline]
    fn hashes_ahead(&self, entries: &mut dyn Scan) -> [Option<u64>; BLOCK_LEN] {
        let mut hashes = [None; BLOCK_LEN];
        for hash in &mut hashes {
            let Some(key) = entries.look_ahead() else { break };
            let found = self.hash(key);
            self.content.index.prefetch_bucket(found);
            *hash = Some(found);
        }
        hashes
    }

    /// Makes `new` the address of the entry of a key with that hash, and gives what it was.
    fn set(&mut self, hash: u64, old: Option<Address>, new: Option<Address>) {
        self.content.set(self.seed, hash, old, new);
        if !self.savepoints.is_empty() {
            self.changes.push(HashChange::Entry { hash, old, new });
        }
    }

    /// Writes the entry of a key with that hash, whose record was `old`.
    #[inline]
    fn put_anew(
        &mut self,
        hash: u64,
        old: Option<Address>,
        key: &[u8],
        value: &[u8],
    ) -> Result<Address> {
        let new = self.content.heap.append(key, value)?;
        self.uses.begin(new);
        self.set(hash, old, Some(new));
        self.clean(key.len() + value.len())?;
        Ok(new)
    }

    /// Takes out the entry of a key with that hash.
    fn take_out(&mut self, hash: u64, old: Address) -> Result<()> {
        let (key, value) = self.content.heap.record(old);
        let len = key.len() + value.len();
        self.set(hash, Some(old), None);
        self.clean(len)
    }

    /// Moves live records out of segments that are mostly dead, for a change of `len` bytes.
    fn clean(&mut self, len: usize) -> Result<()> {
        // What a transaction released may be alive again.
        if !self.savepoints.is_empty() {
            return Ok(());
        }
        let HashContent { heap, index } = &mut self.content;
        let mut bytes_left = len * MOVED_PER_BYTE;
        for _ in 0..MOVED_RECORDS {
            let Some(from) = heap.next_to_move() else { return Ok(()) };
            let (key, value) = heap.record(from);
            let (len, hash) = (key.len() + value.len(), xxh3_64_with_seed(key, self.seed));
            if index.contains(hash, from) {
                let to = heap.move_record(from)?;
                self.uses.begin(to);
                self.uses.set(to, self.uses.of(from));
                index.replace(hash, from, to);
                match bytes_left.checked_sub(len) {
                    Some(left) => bytes_left = left,
                    None => return Ok(()),
                }
            }
        }
        Ok(())
    }

    fn end_transaction(&mut self) -> Result<usize> {
        self.savepoints.pop().ok_or_else(|| {
            Error::new(ErrorKind::Argument, "expected an open transaction, found none")
        })
    }

    fn take_back(&mut self, change: HashChange) {
        match change {
            HashChange::Entry { hash, old, new } => {
                self.content.take_back(self.seed, hash, old, new);
            }
            HashChange::Cleared(content) => self.content = *content,
        }
    }
}

impl HashContent {
    #[inline]
    fn find(&self, hash: u64, key: &[u8]) -> Option<Address> {
        self.index.find(hash, |address| self.heap.record(address).0 == key)
    }

    /// Prefetches the record that a search for `hash` looks at first. Where there is none, no key has that hash.
    #[inline]
    fn prefetch_record(&self, hash: u64) -> bool {
        let found = self.index.find(hash, |_| true);
        if let Some(address) = found {
            self.heap.prefetch(address);
        }
        found.is_some()
    }

    /// The entry that was written first of all.
    fn first(&mut self, seed: u64) -> Option<Address> {
        let HashContent { heap, index } = self;
        heap.first(|address, key| index.contains(xxh3_64_with_seed(key, seed), address))
    }

    fn set(&mut self, seed: u64, hash: u64, old: Option<Address>, new: Option<Address>) {
        self.point(seed, hash, old, new);
        if let Some(old) = old {
            self.heap.release(old);
        }
    }

    fn take_back(&mut self, seed: u64, hash: u64, old: Option<Address>, new: Option<Address>) {
        self.point(seed, hash, new, old);
        if let Some(new) = new {
            self.heap.release(new);
        }
        if let Some(old) = old {
            self.heap.revive(old);
        }
    }

    /// Lets the index lead to `to` instead of `from`.
    fn point(&mut self, seed: u64, hash: u64, from: Option<Address>, to: Option<Address>) {
        let heap = &self.heap;
        let hash_of = |address| xxh3_64_with_seed(heap.record(address).0, seed);
        match (from, to) {
            (Some(from), Some(to)) => self.index.replace(hash, from, to),
            (None, Some(to)) => self.index.insert(hash, to, hash_of),
            (Some(from), None) => self.index.remove(hash, from),
            (None, None) => (),
        }
    }
}

impl Table for HashTable {
    fn len(&self) -> Result<u64> {
        Ok(self.content.index.len() as u64)
    }

    #[inline]
    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let Some(address) = self.content.find(self.hash(key), key) else { return Ok(false) };
        self.uses.note(address);
        found(self.content.heap.record(address).1);
        Ok(true)
    }

    fn view(&self, key: &[u8]) -> Result<Option<View>> {
        Ok(self.pin(key).map(View::from))
    }

    /// The steps of a search wait for memory. Each step is done for a block of keys before the next,
    /// so that their waits are one.
    fn get_many(&self, keys: &[&[u8]], found: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        for (block, keys) in keys.chunks(BLOCK_LEN).enumerate() {
            let mut hashes = [0; BLOCK_LEN];
            keys.iter().filter_map(|key| key.first()).for_each(prefetch);
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = self.hash(key);
                self.content.index.prefetch_bucket(*hash);
            }
            let hashes = &hashes[..keys.len()];
            hashes.iter().for_each(|hash| self.content.index.prefetch_groups(*hash));
            for hash in hashes {
                self.content.prefetch_record(*hash);
            }
            for (place, (hash, key)) in hashes.iter().zip(keys).enumerate() {
                let address = self.content.find(*hash, key);
                let value = address.map(|address| {
                    self.uses.note(address);
                    self.content.heap.record(address).1
                });
                found(block * BLOCK_LEN + place, value);
            }
        }
        Ok(())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_entry(key, value)?;
        let hash = self.hash(key);
        let old = self.content.find(hash, key);
        self.put_anew(hash, old, key, value).map(drop)
    }

    /// As in [`Table::get_many`], a block of keys waits for memory together, and for its buckets while the block before
    /// it is put.
    fn put_each(&mut self, entries: &mut dyn Scan) -> Result<()> {
        let mut next = self.hashes_ahead(entries);
        loop {
            let coming = next;
            coming.iter().flatten().for_each(|hash| self.content.index.prefetch_groups(*hash));
            next = self.hashes_ahead(entries);
            let mut is_new = [false; BLOCK_LEN];
            for (is_new, hash) in is_new.iter_mut().zip(coming.iter().flatten()) {
                *is_new = !self.content.prefetch_record(*hash);
            }
            for place in 0..BLOCK_LEN {
                let Some((key, value)) = entries.advance()? else { return Ok(()) };
                check_entry(key, value)?;
                // Hashed again: what was told ahead may be others, after an error for one.
                let hash = self.hash(key);
                // Of the block, only a key with the same hash can have been put since that was found out.
                let old = match is_new[place] && coming[place] == Some(hash) {
                    true if !coming[..place].contains(&Some(hash)) => None,
                    _ => self.content.find(hash, key),
                };
                self.put_anew(hash, old, key, value)?;
            }
        }
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        let hash = self.hash(key);
        let Some(old) = self.content.find(hash, key) else { return Ok(false) };
        self.take_out(hash, old).map(|()| true)
    }

    fn shift(&mut self, taken: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let Some(first) = self.content.first(self.seed) else { return Ok(false) };
        let (key, value) = self.content.heap.record(first);
        taken(key, value);
        self.take_out(self.hash(key), first).map(|()| true)
    }

    fn evict(&mut self, bytes: u64, keeps: &mut EvictionJudge<'_>) -> Result<Eviction> {
        if !self.savepoints.is_empty() {
            return Err(Error::new(
                ErrorKind::Argument,
                "expected no open transaction to evict entries, found one",
            ));
        }
        let (mut eviction, mut bytes_left) = (Eviction::default(), bytes);
        for _ in 1..self.content.index.len() {
            let Some(first) = self.content.first(self.seed) else { break };
            let (key, value) = self.content.heap.record(first);
            let (hash, len) = (self.hash(key), (key.len() + value.len()) as u64);
            let uses = self.uses.of(first);
            if keeps(key, value, uses) {
                let (key, value) = (key.to_vec(), value.to_vec());
                let written = self.put_anew(hash, Some(first), &key, &value)?;
                self.uses.set(written, uses.saturating_sub(1));
                eviction.kept += 1;
            } else {
                self.take_out(hash, first)?;
                eviction.evicted += 1;
            }
            match bytes_left.checked_sub(len) {
                Some(left) if left > 0 => bytes_left = left,
                _ => break,
            }
        }
        Ok(eviction)
    }

    /// Without what only views and snapshots keep, which no change of the table gives back.
    fn used_bytes(&self) -> Result<u64> {
        let HashContent { heap, index } = &self.content;
        let bytes = heap.live_bytes() + heap.dead_bytes() + index.memory_bytes();
        Ok(bytes as u64 + self.uses.memory_bytes())
    }

    fn count_uses(&mut self, _: u64) -> Result<()> {
        self.uses.begin_counting();
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        let content = std::mem::take(&mut self.content);
        if !self.savepoints.is_empty() {
            self.changes.push(HashChange::Cleared(Box::new(content)));
        }
        Ok(())
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(HashSnapshot(Arc::new(SnapshotState {
            seed: self.seed,
            records: self.content.heap.snapshot(),
            index: self.content.index.clone(),
        }))))
    }

    fn begin(&mut self) -> Result<()> {
        self.savepoints.push(self.changes.len());
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.end_transaction()?;
        if self.savepoints.is_empty() {
            self.changes = Vec::new();
        }
        Ok(())
    }

    fn abort(&mut self) -> Result<()> {
        let kept = self.end_transaction()?;
        while self.changes.len() > kept {
            if let Some(change) = self.changes.pop() {
                self.take_back(change);
            }
        }
        Ok(())
    }

    fn depth(&self) -> usize {
        self.savepoints.len()
    }

    /// Writes all entries anew, side by side. [`ErrorKind::Argument`] in a transaction.
    fn compact(&mut self) -> Result<()> {
        if !self.savepoints.is_empty() {
            return Err(Error::new(
                ErrorKind::Argument,
                "expected no open transaction to compact a table, found one",
            ));
        }
        let mut compacted = HashContent::default();
        let records = self.content.heap.snapshot();
        let mut cursor = HeapCursor::default();
        while let Some((address, key, value)) = records.next(&mut cursor) {
            let hash = self.hash(key);
            if self.content.index.contains(hash, address) {
                let address = compacted.heap.append(key, value)?;
                compacted.point(self.seed, hash, None, Some(address));
            }
        }
        self.content = compacted;
        Ok(())
    }

    fn stat(&self) -> Result<Stat> {
        let HashContent { heap, index } = &self.content;
        let changes_bytes = self.changes.capacity() * size_of::<HashChange>();
        Ok(Stat {
            records: index.len() as u64,
            live_bytes: heap.live_bytes() as u64,
            dead_bytes: heap.dead_bytes() as u64,
            pinned_bytes: heap.pinned_bytes() as u64,
            index_bytes: index.memory_bytes() as u64,
            memory_bytes: (heap.memory_bytes() + index.memory_bytes() + changes_bytes) as u64
                + self.uses.memory_bytes(),
            file_bytes: 0,
        })
    }
}

/// A [`HashTable`] as it was.
#[derive(Debug, Clone)]
pub struct HashSnapshot(Arc<SnapshotState>);

#[derive(Debug)]
struct SnapshotState {
    seed: u64,
    records: HeapSnapshot,
    index: HashIndex,
}

impl Snapshot for HashSnapshot {
    fn len(&self) -> Result<u64> {
        Ok(self.0.index.len() as u64)
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let SnapshotState { seed, records, index } = &*self.0;
        let is_it = |address| records.record(address).0 == key;
        let address = index.find(xxh3_64_with_seed(key, *seed), is_it);
        Ok(address.map(|address| found(records.record(address).1)).is_some())
    }

    fn scan(&self) -> Result<Box<dyn Scan>> {
        Ok(Box::new(HashScan { state: Arc::clone(&self.0), cursor: HeapCursor::default() }))
    }
}

/// The entries of a [`HashSnapshot`] in the order of their last write.
#[derive(Debug)]
pub struct HashScan {
    state: Arc<SnapshotState>,
    cursor: HeapCursor,
}

impl Scan for HashScan {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let SnapshotState { seed, records, index } = &*self.state;
        while let Some((address, key, value)) = records.next(&mut self.cursor) {
            // To look a key up takes longer than to read its record.
            let is_alive = !records.may_be_dead(address)
                || index.contains(xxh3_64_with_seed(key, *seed), address);
            if is_alive {
                return Ok(Some((key, value)));
            }
        }
        Ok(None)
    }
}
