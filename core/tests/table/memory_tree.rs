//! Goal: an ordered table in memory is a sorted map that takes little more than its bytes, whatever
//! the keys, and what was taken from it, a snapshot or a way back, stays as it was.
//! Method: behaviours one by one, and random operations against a `BTreeMap` with the tree checked
//! now and then; a failure prints its seed (BYTEWRIGHT_SEED), and BYTEWRIGHT_OPERATIONS=5000000 makes
//! the run as long.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytewright::ErrorKind;
use bytewright::table::memory::TreeTable;
use bytewright::table::{
    KEY_LEN_MAX, KeyRange, OrderedSnapshot, OrderedTable, Scan, Table, VALUE_LEN_MAX,
};

use crate::generate::{Random, seeds};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn collect(mut scan: Box<dyn Scan>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    while let Some((key, value)) = scan.advance().unwrap() {
        found.push((key.to_vec(), value.to_vec()));
    }
    assert!(scan.advance().unwrap().is_none(), "over is over");
    found
}

fn range(table: &TreeTable, range: &KeyRange) -> Vec<(Vec<u8>, Vec<u8>)> {
    collect(table.ordered_snapshot().unwrap().scan_range(range).unwrap())
}

fn keys_in(table: &TreeTable, from: Bound<&str>, to: Bound<&str>, reverse: bool) -> Vec<String> {
    let bytes = |bound: Bound<&str>| bound.map(|key| key.as_bytes().to_vec());
    let entries = range(table, &KeyRange { from: bytes(from), to: bytes(to), reverse });
    entries.into_iter().map(|(key, _)| String::from_utf8(key).unwrap()).collect()
}

/// Returns the entries in a range of a map, by the map's own means.
fn range_of(model: &Model, range: &KeyRange) -> Vec<(Vec<u8>, Vec<u8>)> {
    let is_in = |key: &Vec<u8>| {
        let above = match &range.from {
            Bound::Included(from) => key >= from,
            Bound::Excluded(from) => key > from,
            Bound::Unbounded => true,
        };
        above
            && match &range.to {
                Bound::Included(to) => key <= to,
                Bound::Excluded(to) => key < to,
                Bound::Unbounded => true,
            }
    };
    let entries = model.iter().filter(|(key, _)| is_in(key));
    let entries = entries.map(|(key, value)| (key.clone(), value.clone()));
    match range.reverse {
        true => entries.rev().collect(),
        false => entries.collect(),
    }
}

fn assert_same(table: &TreeTable, model: &Model) {
    table.check().unwrap();
    assert_eq!(table.len().unwrap(), model.len() as u64);
    let expected: Vec<_> = model.clone().into_iter().collect();
    assert!(range(table, &KeyRange::ALL) == expected, "all entries");
}

fn payload(model: &Model) -> u64 {
    model.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum()
}

/// A table and a map with the same entries.
fn loaded(entries: impl Iterator<Item = (Vec<u8>, Vec<u8>)>) -> (TreeTable, Model) {
    let (mut table, mut model) = (TreeTable::new(), Model::new());
    for (key, value) in entries {
        table.put(&key, &value).unwrap();
        model.insert(key, value);
    }
    (table, model)
}

fn random_entries(random: &mut Random, count: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    (0..count).map(|_| (random.bytes(16), vec![random.byte(); 100])).collect()
}

#[test]
fn an_entry_is_there_from_its_put_to_its_delete() {
    let mut table = TreeTable::new();
    assert!(table.is_empty().unwrap());
    assert_eq!(table.get(b"").unwrap(), None);
    table.put(b"", b"").unwrap();
    table.put(b"a", b"1").unwrap();
    table.put(b"a", b"22").unwrap();
    assert_eq!(table.get(b"").unwrap().as_deref(), Some(&b""[..]));
    assert_eq!(table.get(b"a").unwrap().as_deref(), Some(&b"22"[..]));
    assert_eq!(table.len().unwrap(), 2);
    assert!(!table.create(b"a", b"3").unwrap());
    table.append(b"a", b"3").unwrap();
    assert_eq!(table.increment(b"a", -1).unwrap(), 222);
    assert!(table.delete(b"a").unwrap());
    assert!(!table.delete(b"a").unwrap());
    assert!(table.delete(b"").unwrap());
    assert!(table.is_empty().unwrap());
    assert_eq!(range(&table, &KeyRange::ALL), []);
}

#[test]
fn keys_that_end_in_zeros_are_all_different_and_in_order() {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    for front in [&b""[..], b"a", b"abc", b"abcd", b"abcde"] {
        keys.extend((0..7).map(|zeros| [front, &vec![0; zeros]].concat()));
        keys.push([front, b"\0\0\x01"].concat());
        keys.push([front, b"\xff\xff\xff\xff\xff"].concat());
    }
    let entries = keys.iter().rev().map(|key| (key.clone(), key.clone()));
    let (table, model) = loaded(entries);
    assert_same(&table, &model);
    for key in &keys {
        assert_eq!(table.get(key).unwrap().as_ref(), Some(key));
        assert_eq!(table.get(&[key, &b"\0x"[..]].concat()).unwrap(), None);
    }
}

#[test]
fn a_range_has_its_bounds_or_not_from_both_ends() {
    use Bound::{Excluded, Included, Unbounded};
    let keys = ["a", "b", "bb", "c"].map(|key| (key.as_bytes().to_vec(), Vec::new()));
    let (table, _) = loaded(keys.into_iter());
    assert_eq!(keys_in(&table, Unbounded, Unbounded, false), ["a", "b", "bb", "c"]);
    assert_eq!(keys_in(&table, Included("b"), Excluded("c"), false), ["b", "bb"]);
    assert_eq!(keys_in(&table, Excluded("b"), Included("c"), true), ["c", "bb"]);
    assert_eq!(keys_in(&table, Included("aa"), Unbounded, true), ["c", "bb", "b"]);
    assert_eq!(keys_in(&table, Included("b"), Included("b"), true), ["b"]);
    for reverse in [false, true] {
        assert!(keys_in(&table, Excluded("b"), Included("b"), reverse).is_empty());
        assert!(keys_in(&table, Excluded("b"), Excluded("bb"), reverse).is_empty());
        assert!(keys_in(&table, Included("d"), Included("a"), reverse).is_empty());
        assert!(keys_in(&table, Included("d"), Unbounded, reverse).is_empty());
        assert!(keys_in(&table, Unbounded, Excluded("a"), reverse).is_empty());
    }
    let first = |range: &KeyRange| {
        let mut found = None;
        let is_found = table.first_with(range, &mut |key, _| found = Some(key.to_vec())).unwrap();
        assert_eq!(is_found, found.is_some());
        found
    };
    assert_eq!(first(&KeyRange::prefix(b"b")), Some(b"b".to_vec()));
    assert_eq!(first(&KeyRange::prefix(b"b").reversed()), Some(b"bb".to_vec()));
    assert_eq!(first(&KeyRange::prefix(b"x")), None);
}

#[test]
fn every_order_of_loading_gives_the_same_entries() {
    let entry =
        |number: usize| (format!("{number:08}").into_bytes(), number.to_string().into_bytes());
    let count = 20_000;
    seeds(1, |random| {
        let mut shuffled: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            shuffled.swap(at, random.below(at + 1));
        }
        let ascending = loaded((0..count).map(entry));
        let descending = loaded((0..count).rev().map(entry));
        let random = loaded(shuffled.iter().copied().map(entry));
        for (table, model) in [&ascending, &descending, &random] {
            assert_same(table, model);
            let reversed = range(table, &KeyRange::ALL.reversed());
            assert!(reversed == range_of(model, &KeyRange::ALL.reversed()));
        }
    });
}

#[test]
fn memory_is_little_more_than_the_bytes_in_any_order() {
    let entry = |number: u32| {
        let digits = format!("{number:08}").into_bytes();
        (digits.clone(), digits)
    };
    for (table, model) in [loaded((0..100_000).map(entry)), loaded((0..100_000).rev().map(entry))] {
        let stat = table.stat().unwrap();
        assert_eq!((stat.records, stat.live_bytes), (100_000, payload(&model)));
        assert!(stat.memory_bytes * 100 < stat.live_bytes * 115, "{stat:?}");
    }
    seeds(1, |random| {
        let (table, _) = loaded(random_entries(random, 30_000).into_iter());
        let stat = table.stat().unwrap();
        assert!(stat.memory_bytes * 100 < stat.live_bytes * 125, "{stat:?}");
    });
}

#[test]
fn memory_follows_when_most_is_deleted_or_shrinks() {
    seeds(1, |random| {
        let entries = random_entries(random, 30_000);
        let (mut table, mut model) = loaded(entries.iter().cloned());
        for (key, _) in &entries[..27_000] {
            assert!(table.delete(key).unwrap());
            model.remove(key);
        }
        assert_same(&table, &model);
        let stat = table.stat().unwrap();
        assert!(stat.memory_bytes < stat.live_bytes * 2, "{stat:?}");
        table.clear().unwrap();
        assert!(table.stat().unwrap().memory_bytes < 1_000);

        let (mut table, _) = loaded(entries.iter().cloned());
        for (key, _) in &entries {
            table.put(key, b"short").unwrap();
        }
        let stat = table.stat().unwrap();
        assert!(stat.memory_bytes < stat.live_bytes * 5 / 2, "{stat:?}");
        table.compact().unwrap();
        table.check().unwrap();
        let stat = table.stat().unwrap();
        assert!(stat.dead_bytes == 0 && stat.memory_bytes < stat.live_bytes * 3 / 2, "{stat:?}");
    });
}

#[test]
fn long_keys_and_values_are_kept_whole() {
    let key =
        |number: usize| [&vec![b'k'; 3_000 * (number % 7)], &number.to_be_bytes()[..]].concat();
    let entries = (0..400).map(|number| (key(number), vec![number as u8; number * 337 % 50_000]));
    let (mut table, mut model) = loaded(entries);
    assert_same(&table, &model);
    for number in (0..400).step_by(2) {
        let long = vec![1; 20_000];
        table.put(&key(number), &long).unwrap();
        model.insert(key(number), long);
        assert!(table.delete(&key(number + 1)).unwrap());
        model.remove(&key(number + 1));
    }
    assert_same(&table, &model);
}

#[test]
fn a_key_apart_does_not_burst_a_page_of_long_common_prefixes() {
    let key = |number: usize| [&[b'p'; 5_000], format!("{number:06}").as_bytes()].concat();
    let (mut table, mut model) = loaded((0..6_000).map(|number| (key(number), vec![1; 8])));
    for apart in [&b"a"[..], b"z", b"", b"pp", &[b'p'; 2_500], &[b'p'; 6_000]] {
        table.put(apart, b"apart").unwrap();
        model.insert(apart.to_vec(), b"apart".to_vec());
    }
    for number in 0..2_000 {
        let between = [&key(number * 3)[..], b"x"].concat();
        table.put(&between, b"between").unwrap();
        model.insert(between, b"between".to_vec());
    }
    assert_same(&table, &model);
    let stat = table.stat().unwrap();
    assert!(stat.memory_bytes < stat.live_bytes / 10, "prefixes are cut: {stat:?}");
}

#[test]
fn an_entry_too_long_for_any_table_is_refused_and_changes_nothing() {
    let mut table = TreeTable::new();
    table.put(b"k", b"v").unwrap();
    let error = table.put(&vec![0; KEY_LEN_MAX + 1], b"").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    let error = table.put(b"k", &vec![0; VALUE_LEN_MAX + 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(range(&table, &KeyRange::ALL), [(b"k".to_vec(), b"v".to_vec())]);
}

#[test]
fn a_snapshot_and_its_scans_stay_as_they_were_in_any_thread() {
    seeds(1, |random| {
        let entries = random_entries(random, 5_000);
        let (mut table, model) = loaded(entries.iter().cloned());
        let snapshot = table.ordered_snapshot().unwrap();
        let mut begun = snapshot.scan().unwrap();
        assert!(begun.advance().unwrap().is_some());
        let expected: Vec<_> = model.into_iter().collect();
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || {
                assert!(collect(snapshot.scan().unwrap()) == expected);
                assert!(collect(begun) == expected[1..]);
                let (key, value) = &expected[77];
                let mut same = false;
                assert!(snapshot.get_with(key, &mut |found| same = found == value).unwrap());
                assert!(same && snapshot.len().unwrap() == 5_000);
                snapshot
            });
            for (at, (key, _)) in entries.iter().enumerate() {
                match at % 3 {
                    0 => assert!(table.delete(key).unwrap()),
                    1 => table.put(key, b"changed").unwrap(),
                    _ => table.put(&[key, &b"new"[..]].concat(), b"new").unwrap(),
                }
            }
            let snapshot = reader.join().unwrap();
            assert!(table.stat().unwrap().pinned_bytes > 500_000, "held by the snapshot");
            drop(snapshot);
        });
        assert_eq!(table.stat().unwrap().pinned_bytes, 0);
        table.check().unwrap();
    });
}

#[test]
fn a_transaction_is_taken_back_whole_however_much_it_changed() {
    for changes in [1, 7, 8, 9, 500] {
        let key = |number: usize| format!("{number:05}").into_bytes();
        let (mut table, model) = loaded((0..3_000).map(|number| (key(number), key(number))));
        table.begin().unwrap();
        for number in 0..changes {
            match number % 3 {
                0 => assert!(table.delete(&key(number * 5)).unwrap()),
                1 => table.put(&key(number * 5), b"changed").unwrap(),
                _ => table.put(&key(number + 7_000), &vec![1; 30_000]).unwrap(),
            }
        }
        assert_eq!(table.depth(), 1);
        table.abort().unwrap();
        assert_same(&table, &model);
        table.begin().unwrap();
        table.clear().unwrap();
        table.put(b"other", b"").unwrap();
        table.abort().unwrap();
        assert_same(&table, &model);
    }
}

#[test]
fn a_savepoint_is_taken_back_by_itself_and_goes_with_what_is_around_it() {
    for count in [1, 5, 50] {
        let mut table = TreeTable::new();
        let fill = |table: &mut TreeTable, value: &[u8]| {
            (0..count).for_each(|number: u32| table.put(&number.to_be_bytes(), value).unwrap());
        };
        let value = |table: &TreeTable| table.get(&0_u32.to_be_bytes()).unwrap();
        fill(&mut table, b"before");
        table.begin().unwrap();
        fill(&mut table, b"outer");
        table.begin().unwrap();
        fill(&mut table, b"inner");
        table.begin().unwrap();
        table.delete(&0_u32.to_be_bytes()).unwrap();
        assert_eq!(table.depth(), 3);
        table.abort().unwrap();
        assert_eq!(value(&table).unwrap(), b"inner");
        table.abort().unwrap();
        assert_eq!(value(&table).unwrap(), b"outer");
        table.begin().unwrap();
        fill(&mut table, b"kept");
        table.commit().unwrap();
        assert_eq!(value(&table).unwrap(), b"kept");
        table.abort().unwrap();
        assert_eq!(value(&table).unwrap(), b"before");
        assert_eq!((table.depth(), table.len().unwrap()), (0, u64::from(count)));
        assert_eq!(table.commit().unwrap_err().kind(), ErrorKind::Argument);
        assert_eq!(table.abort().unwrap_err().kind(), ErrorKind::Argument);
        table.check().unwrap();
    }
}

/// Kinds of keys, each hard on another part of the tree.
#[derive(Debug, Clone, Copy)]
enum Keys {
    Ascending,
    Descending,
    Few,
    Zeros,
    Clustered,
    LongPrefix,
    LongKey,
}

impl Keys {
    const ALL: [Keys; 7] = [
        Keys::Ascending,
        Keys::Descending,
        Keys::Few,
        Keys::Zeros,
        Keys::Clustered,
        Keys::LongPrefix,
        Keys::LongKey,
    ];

    fn key(self, random: &mut Random, step: usize) -> Vec<u8> {
        match self {
            Keys::Ascending => format!("{step:08}").into_bytes(),
            Keys::Descending => format!("z{:08}", 90_000_000 - step).into_bytes(),
            Keys::Few => random.below(3_000).to_be_bytes()[6..].to_vec(),
            Keys::Zeros => {
                let len = random.below(12);
                (0..len).map(|_| random.pick(&[0, 0, 0, 1, 255])).collect()
            }
            Keys::Clustered => {
                let cluster = random.below(20);
                format!("cluster {cluster}/{}", step / 4 + random.below(8)).into_bytes()
            }
            Keys::LongPrefix => {
                let len = 100 * random.below(10);
                [&vec![b'l'; len], &random.below(500).to_be_bytes()[6..]].concat()
            }
            Keys::LongKey => {
                let len = 9_000 + random.below(3) * 20;
                [&vec![b'm'; len], &random.below(40).to_be_bytes()[7..]].concat()
            }
        }
    }
}

fn random_value(random: &mut Random) -> Vec<u8> {
    let len = match random.below(100) {
        0..60 => random.below(20),
        60..98 => random.below(300),
        98 => random.below(5_000),
        _ => random.below(30_000),
    };
    vec![random.byte(); len]
}

/// A table beside the map that it must be like.
struct Pair {
    table: TreeTable,
    model: Model,
    savepoints: Vec<Model>,
    snapshots: Vec<(Box<dyn OrderedSnapshot>, Model)>,
    keys: Keys,
    /// Puts of ten changes.
    puts: usize,
}

impl Pair {
    fn step(&mut self, random: &mut Random, step: usize) {
        if random.once_in(2_000) {
            self.keys = random.pick(&Keys::ALL);
            self.puts = if self.model.len() > 4_000 { 1 } else { 2 + random.below(8) };
            self.check_all();
        }
        match random.below(1_000) {
            0..700 => self.change(random, step),
            700..900 => self.look(random, step),
            900..902 => self.scan(random, step),
            902..904 => self.begin_or_end(random),
            904 => self.take_or_drop_snapshot(random),
            905 if random.once_in(30) => self.rare(random),
            _ => self.change_near(random),
        }
    }

    fn change(&mut self, random: &mut Random, step: usize) {
        let key = self.keys.key(random, step);
        if random.below(10) < self.puts {
            self.put(key, random_value(random));
        } else {
            self.delete(&key);
        }
    }

    /// Changes an entry that is there, the next above a key.
    fn change_near(&mut self, random: &mut Random) {
        let near = random.pick(&Keys::ALL).key(random, 0);
        let Some((key, value)) = self.model.range(near..).next() else { return };
        let (key, mut value) = (key.clone(), value.clone());
        match random.below(10) {
            0 => self.put(key, random_value(random)),
            1 => {
                value.truncate(random.below(value.len() + 1));
                self.put(key, value);
            }
            2 => {
                self.table.append(&key, b"more").unwrap();
                value.extend_from_slice(b"more");
                self.model.insert(key, value);
            }
            _ if random.below(10) < self.puts => {}
            _ => self.delete(&key),
        }
    }

    fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.table.put(&key, &value).unwrap();
        self.model.insert(key, value);
    }

    fn delete(&mut self, key: &[u8]) {
        assert_eq!(self.table.delete(key).unwrap(), self.model.remove(key).is_some());
    }

    fn look(&self, random: &mut Random, step: usize) {
        let key = self.keys.key(random, step);
        assert!(self.table.get(&key).unwrap().as_ref() == self.model.get(&key));
    }

    fn scan(&self, random: &mut Random, step: usize) {
        let mut bound = || {
            let key = random.pick(&[self.keys, Keys::Few, Keys::Zeros]).key(random, step);
            match random.below(5) {
                0 => Bound::Unbounded,
                1 | 2 => Bound::Included(key),
                _ => Bound::Excluded(key),
            }
        };
        let (from, to) = (bound(), bound());
        let wanted = KeyRange { from, to, reverse: random.once_in(2) };
        assert!(range(&self.table, &wanted) == range_of(&self.model, &wanted), "{wanted:?}");
    }

    fn begin_or_end(&mut self, random: &mut Random) {
        if self.savepoints.len() < 4 && random.once_in(2) {
            self.table.begin().unwrap();
            self.savepoints.push(self.model.clone());
        } else if let Some(before) = self.savepoints.pop() {
            if random.once_in(2) {
                self.table.commit().unwrap();
            } else {
                self.table.abort().unwrap();
                self.model = before;
            }
        }
        assert_eq!(self.table.depth(), self.savepoints.len());
    }

    fn take_or_drop_snapshot(&mut self, random: &mut Random) {
        if self.snapshots.len() < 3 {
            self.snapshots.push((self.table.ordered_snapshot().unwrap(), self.model.clone()));
        } else {
            let (snapshot, model) = self.snapshots.swap_remove(random.below(3));
            assert_eq!(snapshot.len().unwrap(), model.len() as u64);
            let wanted = KeyRange { reverse: random.once_in(2), ..KeyRange::ALL };
            assert!(collect(snapshot.scan_range(&wanted).unwrap()) == range_of(&model, &wanted));
        }
    }

    fn rare(&mut self, random: &mut Random) {
        if random.once_in(3) {
            self.table.clear().unwrap();
            self.model.clear();
        } else {
            self.table.compact().unwrap();
        }
        self.check_all();
    }

    fn check_all(&self) {
        assert_same(&self.table, &self.model);
        assert_eq!(self.table.stat().unwrap().live_bytes, payload(&self.model));
    }
}

#[test]
fn random_operations_give_what_a_sorted_map_gives() {
    let operations = std::env::var("BYTEWRIGHT_OPERATIONS").ok();
    let operations = operations.map_or(50_000, |count| count.parse().unwrap());
    seeds(4, |random| {
        let mut pair = Pair {
            table: TreeTable::new(),
            model: Model::new(),
            savepoints: Vec::new(),
            snapshots: Vec::new(),
            keys: random.pick(&Keys::ALL),
            puts: 8,
        };
        (0..operations).for_each(|step| pair.step(random, step));
        pair.check_all();
    });
}
