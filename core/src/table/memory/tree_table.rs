//! An ordered table of byte strings in memory: a B-tree that takes little more than the bytes
//! themselves.
//!
//! A snapshot is the root of the tree, which is never changed while someone else holds it.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use super::savepoint::Savepoint;
use super::tree_check;
use super::tree_entry::{EntryBody, LongEntry};
use super::tree_node::LEAF_LEN;
use super::tree_root::Root;
use super::tree_scan::TreeScan;
use super::tree_sizes::Sizes;
use crate::error::{Error, ErrorKind, Result};
use crate::table::{
    KeyRange, OrderedSnapshot, OrderedTable, Scan, Snapshot, Stat, Table, check_entry,
};

/// An ordered table in memory.
///
/// The longest pause is that of splitting or copying one page of 64 KiB, whatever the number of
/// entries.
pub struct TreeTable {
    root: Root,
    /// State that each open [`Table::begin`] goes back to.
    savepoints: Vec<Savepoint>,
    /// Snapshots and scans that may still be there.
    held: RefCell<Vec<Weak<Root>>>,
}

impl TreeTable {
    /// An empty table.
    pub fn new() -> TreeTable {
        TreeTable { root: Root::new(), savepoints: Vec::new(), held: RefCell::default() }
    }

    /// The value of `key`.
    #[inline]
    pub fn value(&self, key: &[u8]) -> Option<&[u8]> {
        self.root.get(key)
    }

    /// The tree as it is now, for others to hold.
    fn hold(&self) -> Arc<Root> {
        let root = Arc::new(self.root.clone());
        let mut held = self.held.borrow_mut();
        if held.len() == held.capacity() {
            held.retain(|root| root.strong_count() > 0);
            let len = held.len();
            held.reserve(len + 1);
        }
        held.push(Arc::downgrade(&root));
        root
    }

    /// Looks whether all of the tree is as it must be. For tests: it takes as long as a scan.
    #[doc(hidden)]
    pub fn check(&self) -> Result<()> {
        let found = tree_check::check(&self.root.node)?;
        let known = (self.root.len, self.root.live_bytes);
        match found == known {
            true => Ok(()),
            false => Err(tree_check::broken(format!("entries and bytes {known:?}, not {found:?}"))),
        }
    }

    fn end(&mut self) -> Result<Savepoint> {
        let none = || Error::new(ErrorKind::Argument, "expected a transaction, found none");
        self.savepoints.pop().ok_or_else(none)
    }
}

impl Default for TreeTable {
    fn default() -> Self {
        TreeTable::new()
    }
}

impl Table for TreeTable {
    fn len(&self) -> Result<u64> {
        Ok(self.root.len)
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.root.get(key);
        Ok(value.map(found).is_some())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_entry(key, value)?;
        if let Some(savepoint) = self.savepoints.last_mut() {
            savepoint.before_change(&self.root, key);
        }
        let long = LongEntry::for_page(LEAF_LEN, key, value);
        self.root.put(key, long.as_ref().map_or(EntryBody::Value(value), EntryBody::Long));
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        if let Some(savepoint) = self.savepoints.last_mut()
            && self.root.get(key).is_some()
        {
            savepoint.before_change(&self.root, key);
        }
        Ok(self.root.delete(key))
    }

    fn clear(&mut self) -> Result<()> {
        if let Some(savepoint) = self.savepoints.last_mut() {
            savepoint.hold(&self.root);
        }
        self.root = Root::new();
        Ok(())
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(TreeSnapshot { root: self.hold() }))
    }

    fn begin(&mut self) -> Result<()> {
        self.savepoints.push(Savepoint::default());
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let inner = self.end()?;
        if let Some(outer) = self.savepoints.last_mut() {
            outer.absorb(inner, &self.root);
        }
        Ok(())
    }

    fn abort(&mut self) -> Result<()> {
        self.root = self.end()?.restored(&self.root);
        Ok(())
    }

    fn depth(&self) -> usize {
        self.savepoints.len()
    }

    fn compact(&mut self) -> Result<()> {
        let old = std::mem::replace(&mut self.root, Root::new());
        let mut full = Root::new();
        let mut key = Vec::new();
        old.node.into_leaves(&mut |leaf| {
            for entry in leaf.entries() {
                entry.copy_key(&mut key);
                full.put(&key, entry.body);
            }
        });
        self.root = full;
        Ok(())
    }

    fn stat(&self) -> Result<Stat> {
        let mut sizes = Sizes::default();
        sizes.add(&self.root.node);
        let (live, index, dead) = (sizes.memory, sizes.index, sizes.dead);
        let saved = self.savepoints.iter().filter_map(Savepoint::tree);
        saved.for_each(|root| sizes.add(&root.node));
        let held = self.held.borrow();
        held.iter().filter_map(Weak::upgrade).for_each(|root| sizes.add(&root.node));
        Ok(Stat {
            records: self.root.len,
            live_bytes: self.root.live_bytes,
            dead_bytes: dead as u64,
            pinned_bytes: (sizes.memory - live) as u64,
            index_bytes: index as u64,
            memory_bytes: (sizes.memory + size_of::<TreeTable>()) as u64,
            file_bytes: 0,
        })
    }
}

impl OrderedTable for TreeTable {
    fn ordered_snapshot(&self) -> Result<Box<dyn OrderedSnapshot>> {
        Ok(Box::new(TreeSnapshot { root: self.hold() }))
    }

    fn first_with(&self, range: &KeyRange, found: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let mut scan = TreeScan::new(self.hold(), range);
        let entry = scan.advance()?;
        Ok(entry.map(|(key, value)| found(key, value)).is_some())
    }
}

/// A tree as it was.
struct TreeSnapshot {
    root: Arc<Root>,
}

impl Snapshot for TreeSnapshot {
    fn len(&self) -> Result<u64> {
        Ok(self.root.len)
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.root.get(key);
        Ok(value.map(found).is_some())
    }

    fn scan(&self) -> Result<Box<dyn Scan>> {
        self.scan_range(&KeyRange::ALL)
    }
}

impl OrderedSnapshot for TreeSnapshot {
    fn scan_range(&self, range: &KeyRange) -> Result<Box<dyn Scan>> {
        Ok(Box::new(TreeScan::new(Arc::clone(&self.root), range)))
    }
}
