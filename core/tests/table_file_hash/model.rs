//! Random operations beside the twin, with snapshots held and a reader beside.

use bytewright::table::file::{HashTable, OpenOptions};
use bytewright::table::{Snapshot, Table};

use crate::generate::{Random, seeds};
use crate::twin::{Change, Entries, Twin, entries, entries_of, key, value};
use crate::{CREATE, READ, get, path};

/// A table, what it must hold, and what it held when each open transaction began.
struct Pair {
    table: HashTable,
    twin: Twin,
    before: Vec<Twin>,
    reader: HashTable,
    snapshots: Vec<(Box<dyn Snapshot>, Entries)>,
}

impl Pair {
    fn step(&mut self, random: &mut Random, keys: usize) {
        match random.below(100) {
            0..=59 => {
                let (key, value) = (key(random, keys), value(random));
                self.table.put(&key, &value).unwrap();
                self.twin.put(&key, &value);
            }
            60..=74 => {
                let key = key(random, keys);
                assert_eq!(self.table.delete(&key).unwrap(), self.twin.delete(&key));
            }
            75..=79 => self.transaction(random),
            80 if random.once_in(8) => {
                self.table.clear().unwrap();
                self.twin.clear();
            }
            81 if random.once_in(4) && self.before.is_empty() => self.table.compact().unwrap(),
            82 if self.snapshots.len() < 4 => {
                let snapshot = self.table.snapshot().unwrap();
                self.snapshots.push((snapshot, self.twin.entries()));
            }
            83 if !self.snapshots.is_empty() => self.check_snapshot(random),
            84 => assert_eq!(entries(&self.table).unwrap(), self.twin.entries()),
            _ => self.look_up(random, keys),
        }
    }

    fn transaction(&mut self, random: &mut Random) {
        match random.below(3) {
            0 if self.before.len() < 4 => {
                self.table.begin().unwrap();
                self.before.push(self.twin.clone());
            }
            1 if !self.before.is_empty() => {
                self.table.commit().unwrap();
                self.before.pop();
            }
            2 => {
                if let Some(before) = self.before.pop() {
                    self.table.abort().unwrap();
                    self.twin = before;
                }
            }
            _ => {}
        }
        assert_eq!(self.table.depth(), self.before.len());
    }

    fn check_snapshot(&mut self, random: &mut Random) {
        let (snapshot, wanted) = &self.snapshots[random.below(self.snapshots.len())];
        assert_eq!(&entries_of(&**snapshot).unwrap(), wanted);
        for (key, value) in wanted.iter().step_by(7) {
            let mut found = None;
            snapshot.get_with(key, &mut |bytes| found = Some(bytes.to_vec())).unwrap();
            assert_eq!(found.as_ref(), Some(value));
        }
        assert!(!snapshot.get_with(b"never there", &mut |_| ()).unwrap());
        if random.once_in(2) {
            let gone = random.below(self.snapshots.len());
            drop(self.snapshots.swap_remove(gone));
        }
    }

    fn look_up(&self, random: &mut Random, keys: usize) {
        let key = key(random, keys);
        assert_eq!(get(&self.table, &key), self.twin.get(&key));
        assert_eq!(self.table.len().unwrap(), self.twin.len());
        let committed = self.before.first().unwrap_or(&self.twin);
        if random.once_in(4) {
            assert_eq!(get(&self.reader, &key), committed.get(&key), "the reader");
            assert_eq!(self.reader.len().unwrap(), committed.len(), "the reader");
        }
    }
}

#[test]
fn random_operations_give_what_a_map_gives() {
    let steps = std::env::var("BYTEWRIGHT_OPERATIONS").map_or(5_000, |n| n.parse().unwrap());
    seeds(8, |random| {
        let path = path(&format!("model_{}", random.next()));
        let keys = random.pick(&[20, 300, 3_000]);
        let table = HashTable::open(&path, CREATE).unwrap();
        let reader = HashTable::open(&path, READ).unwrap();
        let (twin, before, snapshots) = (Twin::default(), Vec::new(), Vec::new());
        let mut pair = Pair { table, twin, before, reader, snapshots };
        for _ in 0..steps {
            if random.once_in(400) {
                if let Some(before) = pair.before.first() {
                    pair.twin = before.clone();
                }
                pair.before.clear();
                pair.table.close().unwrap();
                let verify = random.once_in(2);
                pair.table = HashTable::open(&path, OpenOptions { verify, ..CREATE }).unwrap();
            }
            pair.step(random, keys);
        }
        assert_eq!(entries(&pair.table).unwrap().len() as u64, pair.twin.len());
        assert_eq!(HashTable::check(&path).unwrap().damaged_at, None);
        drop(pair);
        std::fs::remove_file(path).unwrap();
    });
}

#[test]
fn changes_made_while_a_scan_runs_are_not_seen_by_it() {
    let mut table = HashTable::open(path("scan"), CREATE).unwrap();
    let mut twin = Twin::default();
    let mut random = Random::new(1);
    for _ in 0..3_000 {
        let change = Change::random(&mut random, 800, 50);
        change.make(&mut table).unwrap();
        change.make_to_twin(&mut twin);
    }
    let snapshot = table.snapshot().unwrap();
    let mut scan = snapshot.scan().unwrap();
    drop(snapshot);
    for (number, (key, value)) in twin.entries().into_iter().enumerate() {
        assert_eq!(scan.advance().unwrap(), Some((&key[..], &value[..])));
        match number % 100 {
            50 => table.clear().unwrap(),
            90 => table.compact().unwrap(),
            _ => Change::random(&mut random, 800, 50).make(&mut table).unwrap(),
        }
    }
    assert_eq!(scan.advance().unwrap(), None);
}
