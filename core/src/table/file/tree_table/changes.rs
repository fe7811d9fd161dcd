//! Changes that are not in the file yet: the newest value of each key, or that it has none.

use std::collections::BTreeMap;
use std::ops::Bound;

/// Memory that an entry takes beside its bytes: two boxes and its place in the map, roughly.
const ENTRY_OVERHEAD: usize = 80;

/// Changed keys in their order. A value of `None` takes the key out.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangedEntries {
    entries: BTreeMap<Box<[u8]>, Option<Box<[u8]>>>,
    memory_len: usize,
}

impl ChangedEntries {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of memory, roughly.
    pub(super) fn memory_len(&self) -> usize {
        self.memory_len
    }

    /// Returns the value that `key` got, or that it was deleted (`Some(None)`); `None` if it was not changed.
    pub(super) fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.entries.get(key).map(Option::as_deref)
    }

    /// Sets the value of `key`, or takes it out.
    pub(super) fn set(&mut self, key: &[u8], value: Option<&[u8]>) {
        let new_len = value.map_or(0, <[u8]>::len);
        let value = value.map(Box::from);
        if let Some(there) = self.entries.get_mut(key) {
            let old_len = there.as_ref().map_or(0, |old| old.len());
            self.memory_len = self.memory_len + new_len - old_len;
            *there = value;
        } else {
            self.memory_len += ENTRY_OVERHEAD + key.len() + new_len;
            self.entries.insert(key.into(), value);
        }
    }

    /// Does the `later` changes, too.
    pub(super) fn absorb(&mut self, later: ChangedEntries) {
        if self.is_empty() {
            *self = later;
            return;
        }
        for (key, value) in later.entries {
            self.set(&key, value.as_deref());
        }
    }

    /// All changes in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        self.entries.iter().map(|(key, value)| (&**key, value.as_deref()))
    }

    /// The first change between the bounds, or, from the other end, the last. There must be room
    /// between them.
    pub(super) fn next(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
        reverse: bool,
    ) -> Option<(&[u8], Option<&[u8]>)> {
        let mut range = self.entries.range::<[u8], _>((from, to));
        let (key, value) = if reverse { range.next_back() } else { range.next() }?;
        Some((key, value.as_deref()))
    }
}
