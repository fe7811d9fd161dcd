//! The twin of a table: a map that knows the order of the last writes.

use std::collections::HashMap;

use bytewright::Result;
use bytewright::table::{Snapshot, Table};

use crate::generate::Random;

pub(crate) type Entries = Vec<(Vec<u8>, Vec<u8>)>;

#[derive(Debug, Clone, Default)]
pub(crate) struct Twin {
    values: HashMap<Vec<u8>, (u64, Vec<u8>)>,
    time: u64,
}

impl Twin {
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) {
        self.time += 1;
        self.values.insert(key.to_vec(), (self.time, value.to_vec()));
    }

    pub(crate) fn delete(&mut self, key: &[u8]) -> bool {
        self.values.remove(key).is_some()
    }

    pub(crate) fn clear(&mut self) {
        self.values.clear();
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.values.get(key).map(|(_, value)| value.clone())
    }

    pub(crate) fn len(&self) -> u64 {
        self.values.len() as u64
    }

    /// In the order of their last write.
    pub(crate) fn entries(&self) -> Entries {
        let mut entries: Vec<_> = self.values.iter().collect();
        entries.sort_by_key(|(_, (time, _))| *time);
        entries.into_iter().map(|(key, (_, value))| (key.clone(), value.clone())).collect()
    }
}

pub(crate) fn entries_of(snapshot: &dyn Snapshot) -> Result<Entries> {
    let mut scan = snapshot.scan()?;
    let mut entries = Vec::new();
    while let Some((key, value)) = scan.advance()? {
        entries.push((key.to_vec(), value.to_vec()));
    }
    assert_eq!(entries.len() as u64, snapshot.len()?, "a snapshot knows its length");
    Ok(entries)
}

pub(crate) fn entries(table: &dyn Table) -> Result<Entries> {
    entries_of(&*table.snapshot()?)
}

/// One of few keys, so that they are written again and again.
pub(crate) fn key(random: &mut Random, keys: usize) -> Vec<u8> {
    let number = random.below(keys);
    match number % 9 {
        0 => number.to_le_bytes()[..3].to_vec(),
        1 => vec![number as u8; number % 300],
        _ => format!("key {number}").into_bytes(),
    }
}

/// Mostly short, sometimes longer than what is read at once.
pub(crate) fn value(random: &mut Random) -> Vec<u8> {
    let len = match random.below(2000) {
        0 => random.below(600_000),
        1..=20 => random.below(20_000),
        21..=300 => random.below(300),
        _ => random.below(12),
    };
    vec![random.byte(); len]
}

/// One change that a history makes to a table and to its twin.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    Clear,
}

impl Change {
    pub(crate) fn random(random: &mut Random, keys: usize, len: usize) -> Change {
        match random.below(40) {
            0 if random.once_in(5) => Change::Clear,
            0..=8 => Change::Delete(key(random, keys)),
            _ => {
                let len = random.below(len);
                Change::Put(key(random, keys), random.bytes(len))
            }
        }
    }

    pub(crate) fn make(&self, table: &mut dyn Table) -> Result<()> {
        match self {
            Change::Put(key, value) => table.put(key, value),
            Change::Delete(key) => table.delete(key).map(drop),
            Change::Clear => table.clear(),
        }
    }

    pub(crate) fn make_to_twin(&self, twin: &mut Twin) {
        match self {
            Change::Put(key, value) => twin.put(key, value),
            Change::Delete(key) => drop(twin.delete(key)),
            Change::Clear => twin.clear(),
        }
    }
}
