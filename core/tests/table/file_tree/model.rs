//! Goal: whatever is done in whatever order, a table holds what a `BTreeMap` holds, and a snapshot what
//! the table held when it was taken.
//! Method: random operations, savepoints in each other, snapshots that outlive changes, ranges in both
//! directions, closing and opening; the seed is printed where it fails.

use std::ops::Bound;

use bytewright::files::MemoryStorage;
use bytewright::table::file::{OpenOptions, SyncMode, TreeTable};
use bytewright::table::{KeyRange, OrderedSnapshot, OrderedTable, Table};

use super::{CREATE, Entries, all, harder, rest};
use crate::generate::{Random, seeds};

struct Pair {
    storage: MemoryStorage,
    sync: SyncMode,
    table: Option<TreeTable>,
    /// Contents of the table, now and at the beginning of each open transaction.
    models: Vec<Entries>,
    snapshots: Vec<(Box<dyn OrderedSnapshot>, Entries)>,
    /// The longest value; long ones make transactions too large for memory.
    value_len_max: usize,
}

impl Pair {
    fn new(random: &mut Random) -> Pair {
        Pair {
            storage: MemoryStorage::default(),
            sync: random.pick(&[SyncMode::Commit, SyncMode::Interval, SyncMode::Never]),
            table: None,
            models: vec![Entries::new()],
            snapshots: Vec::new(),
            value_len_max: random.pick(&[20, 3_000, 20, 3_000, 600_000]),
        }
    }

    fn table(&mut self) -> &mut TreeTable {
        let options = OpenOptions { sync: self.sync, ..CREATE };
        let storage = Box::new(self.storage.clone());
        self.table
            .get_or_insert_with(|| TreeTable::open_storage(storage, "memory", options).unwrap())
    }

    fn model(&mut self) -> &mut Entries {
        self.models.last_mut().unwrap()
    }

    fn step(&mut self, random: &mut Random) {
        let key = random.below(300).to_be_bytes()[6..].to_vec();
        match random.below(40) {
            0..=15 => {
                let value = vec![random.byte(); random.below(self.value_len_max)];
                self.table().put(&key, &value).unwrap();
                self.model().insert(key, value);
            }
            16..=21 => {
                let was_there = self.model().remove(&key).is_some();
                assert_eq!(self.table().delete(&key).unwrap(), was_there);
            }
            22..=24 => {
                let value = self.model().get(&key).cloned();
                assert_eq!(self.table().get(&key).unwrap(), value);
            }
            25 => {
                let len = self.model().len() as u64;
                assert_eq!(self.table().len().unwrap(), len);
            }
            26..=28 => self.begin(),
            29..=31 => self.end(random),
            32 | 33 => self.snapshot(),
            34 => drop(self.snapshots.pop()),
            35 if random.once_in(4) => {
                self.table().clear().unwrap();
                self.model().clear();
            }
            36 => self.table().sync().unwrap(),
            37 => self.reopen(random),
            _ => self.compare_range(random),
        }
    }

    fn begin(&mut self) {
        if self.models.len() < 4 {
            self.table().begin().unwrap();
            let model = self.model().clone();
            self.models.push(model);
        }
    }

    fn end(&mut self, random: &mut Random) {
        let depth = self.models.len() - 1;
        assert_eq!(self.table().depth(), depth);
        if depth == 0 {
            return;
        }
        // One taken within a transaction can end with it.
        self.snapshots.clear();
        let model = self.models.pop().unwrap();
        if random.once_in(3) {
            self.table().abort().unwrap();
        } else {
            self.table().commit().unwrap();
            *self.model() = model;
        }
    }

    fn snapshot(&mut self) {
        if self.snapshots.len() < 3 {
            let snapshot = self.table().ordered_snapshot().unwrap();
            let model = self.model().clone();
            self.snapshots.push((snapshot, model));
        }
    }

    fn reopen(&mut self, random: &mut Random) {
        self.snapshots.clear();
        self.table = None;
        self.models.truncate(1);
        if random.once_in(2) {
            self.table().compact().unwrap();
        }
    }

    fn compare_range(&mut self, random: &mut Random) {
        let key = |random: &mut Random| random.below(310).to_be_bytes()[6..].to_vec();
        let bound = |random: &mut Random| match random.below(3) {
            0 => Bound::Unbounded,
            1 => Bound::Included(key(random)),
            _ => Bound::Excluded(key(random)),
        };
        let range = KeyRange { from: bound(random), to: bound(random), reverse: random.once_in(2) };
        let held = self.table().ordered_snapshot().unwrap();
        let held = (held, self.model().clone());
        for (snapshot, model) in self.snapshots.iter().chain([&held]) {
            let mut expected: Vec<_> = match range.is_empty() {
                true => Vec::new(),
                false => {
                    let bounds = (range.from.clone(), range.to.clone());
                    model.range(bounds).map(|(k, v)| (k.clone(), v.clone())).collect()
                }
            };
            if range.reverse {
                expected.reverse();
            }
            assert!(rest(snapshot.scan_range(&range).unwrap()).unwrap() == expected, "{range:?}");
            assert_eq!(snapshot.len().unwrap(), model.len() as u64);
        }
    }
}

// Promise (tree-table-file): The table has the entries that a map in memory has.
#[test]
fn random_operations_give_what_a_map_in_memory_gives() {
    seeds(12 * harder() as u64, |random| {
        let mut pair = Pair::new(random);
        for _ in 0..500 {
            pair.step(random);
        }
        let model = pair.model().clone();
        assert!(all(pair.table()) == model);
        let committed = pair.models.swap_remove(0);
        pair.snapshots.clear();
        drop(pair.table.take());
        assert!(all(pair.table()) == committed);
    });
}
