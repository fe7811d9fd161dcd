//! Goal: the hashed table in memory is a `HashMap` with the order of last write, whatever is done to it
//! and whoever holds on to its bytes.
//! Method: random operations beside a slow, obvious twin, with snapshots, views and transactions held
//! meanwhile; a failure prints the seed that repeats it (BYTEWRIGHT_SEED). BYTEWRIGHT_OPERATIONS sets
//! how many operations each seed does.

use std::collections::HashMap;

use bytewright::ErrorKind;
use bytewright::heap::Pin;
use bytewright::table::memory::HashTable;
use bytewright::table::{Snapshot, Table};

use crate::generate::{Random, seeds};

/// The twin: values by key, and the time of each key's last write.
#[derive(Debug, Clone, Default)]
struct Twin {
    values: HashMap<Vec<u8>, (u64, Vec<u8>)>,
    time: u64,
}

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

impl Twin {
    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.time += 1;
        self.values.insert(key.to_vec(), (self.time, value.to_vec()));
    }

    fn shift(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        let first = self.values.iter().min_by_key(|(_, (time, _))| *time)?.0.clone();
        self.values.remove(&first).map(|(_, value)| (first, value))
    }

    fn entries(&self) -> Entries {
        let mut entries: Vec<_> = self.values.iter().collect();
        entries.sort_by_key(|(_, (time, _))| *time);
        entries.into_iter().map(|(key, (_, value))| (key.clone(), value.clone())).collect()
    }
}

fn entries(snapshot: &dyn Snapshot) -> Entries {
    let mut scan = snapshot.scan().unwrap();
    let mut entries = Vec::new();
    while let Some((key, value)) = scan.advance().unwrap() {
        entries.push((key.to_vec(), value.to_vec()));
    }
    entries
}

/// Mostly short, sometimes long enough for a segment of its own.
fn value(random: &mut Random) -> Vec<u8> {
    let len = match random.below(1000) {
        0 => random.below(200_000),
        1..=20 => random.below(20_000),
        21..=300 => random.below(300),
        _ => random.below(12),
    };
    vec![random.byte(); len]
}

fn key(random: &mut Random, keys: usize) -> Vec<u8> {
    let number = random.below(keys);
    match number % 7 {
        0 => number.to_le_bytes()[..3].to_vec(),
        1 => vec![number as u8; number % 300],
        _ => format!("key {number}").into_bytes(),
    }
}

/// Pins and snapshots held while the table changes, with the contents they must keep.
#[derive(Default)]
struct Held {
    pins: Vec<(Pin, Vec<u8>)>,
    snapshots: Vec<(Box<dyn Snapshot>, Entries)>,
}

impl Held {
    fn check(&self) {
        for (pin, bytes) in &self.pins {
            assert_eq!(pin.as_ref(), bytes);
        }
        for (snapshot, expected) in &self.snapshots {
            assert!(entries(snapshot.as_ref()) == *expected, "a snapshot changed");
            for (key, value) in expected.iter().take(20) {
                assert!(snapshot.get_with(key, &mut |found| assert_eq!(found, value)).unwrap());
            }
        }
    }
}

#[test]
fn is_a_map_in_the_order_of_last_write_whatever_is_held() {
    let operations = std::env::var("BYTEWRIGHT_OPERATIONS").ok();
    let operations = operations.map_or(25_000, |count| count.parse::<usize>().unwrap());
    seeds(8, |random| {
        let mut table = HashTable::new();
        let mut twin = Twin::default();
        let mut before: Vec<Twin> = Vec::new();
        let mut held = Held::default();
        let mut keys = 3000;
        for _ in 0..operations {
            match random.below(1000) {
                0 => keys = [1, 50, 3000, 20_000][random.below(4)],
                1 if held.pins.len() < 50 => {
                    let key = key(random, keys);
                    if let Some(pin) = table.pin(&key) {
                        held.pins.push((pin, twin.values[&key].1.clone()));
                    }
                }
                2 if !held.pins.is_empty() => drop(held.pins.swap_remove(0)),
                3 if held.snapshots.len() < 3 => {
                    held.snapshots.push((table.snapshot().unwrap(), twin.entries()));
                }
                4..=6 if !held.snapshots.is_empty() => drop(held.snapshots.swap_remove(0)),
                7 if before.len() < 3 => {
                    table.begin().unwrap();
                    before.push(twin.clone());
                }
                8..=14 => match before.pop() {
                    None => assert_eq!(table.commit().unwrap_err().kind(), ErrorKind::Argument),
                    Some(old) if random.once_in(2) => {
                        table.abort().unwrap();
                        twin = old;
                    }
                    Some(_) => table.commit().unwrap(),
                },
                15 if random.once_in(10) => {
                    table.clear().unwrap();
                    twin.values.clear();
                }
                16 if random.once_in(3) && before.is_empty() => table.compact().unwrap(),
                17 => held.check(),
                18..=60 => {
                    let mut first = None;
                    let taken =
                        table.shift(&mut |key, value| first = Some((key.to_vec(), value.to_vec())));
                    assert_eq!(taken.unwrap(), first.is_some());
                    assert_eq!(first, twin.shift());
                }
                61..=400 => {
                    let key = key(random, keys);
                    assert_eq!(table.delete(&key).unwrap(), twin.values.remove(&key).is_some());
                }
                _ => {
                    let (key, value) = (key(random, keys), value(random));
                    table.put(&key, &value).unwrap();
                    twin.put(&key, &value);
                }
            }
            let key = key(random, keys);
            assert_eq!(table.value(&key), twin.values.get(&key).map(|(_, value)| &value[..]));
            assert_eq!(table.len().unwrap(), twin.values.len() as u64);
        }
        held.check();
        assert!(entries(table.snapshot().unwrap().as_ref()) == twin.entries());
    });
}

#[test]
fn many_keys_at_once_are_found_as_one_by_one() {
    seeds(5, |random| {
        let mut table = HashTable::new();
        for _ in 0..random.below(5000) {
            table.put(&key(random, 5000), &value(random)).unwrap();
        }
        let keys: Vec<Vec<u8>> = (0..random.below(100)).map(|_| key(random, 5000)).collect();
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        let mut places = 0..keys.len();
        let mut check = |place: usize, value: Option<&[u8]>| {
            assert_eq!(Some(place), places.next());
            assert_eq!(value, table.value(keys[place]));
        };
        table.get_many(&keys, &mut check).unwrap();
        assert!(places.is_empty());
    });
}

#[test]
fn memory_follows_what_is_alive() {
    let mut table = HashTable::new();
    let memory = |table: &HashTable| table.stat().unwrap().memory_bytes;
    let put = |table: &mut HashTable, number: usize, len: usize| {
        table.put(&number.to_le_bytes(), &vec![number as u8; len]).unwrap();
    };
    (0..100_000).for_each(|number| put(&mut table, number, 100));
    let full = memory(&table);
    assert!(full < 100_000 * (108 + 13), "{full} bytes for 100,000 entries of 108");
    for number in (0..100_000_usize).filter(|number| number % 10 != 0) {
        assert!(table.delete(&number.to_le_bytes()).unwrap());
    }
    let (live, left) = (10_000 * 108, memory(&table));
    assert!(left < live * 2, "{left} bytes for {live} alive");
    (0..200_000).for_each(|round| put(&mut table, round % 10 * 10, 1000));
    let stat = table.stat().unwrap();
    assert!(stat.memory_bytes < stat.live_bytes * 2, "{stat:?}");
    table.clear().unwrap();
    assert!(memory(&table) < 1000);
}

#[test]
fn pinned_bytes_are_counted_and_go_with_the_last_pin() {
    let mut table = HashTable::new();
    table.put(b"long", &[7; 100_000]).unwrap();
    let pin = table.pin(b"long").unwrap();
    assert_eq!(table.stat().unwrap().pinned_bytes, 0);
    table.delete(b"long").unwrap();
    table.put(b"next", b"").unwrap();
    assert!(table.stat().unwrap().pinned_bytes >= 100_000);
    assert_eq!(pin.as_ref(), [7; 100_000]);
    drop(pin);
    assert_eq!(table.stat().unwrap().pinned_bytes, 0);
}

#[test]
fn a_snapshot_outlives_its_table() {
    let mut table = HashTable::new();
    for number in 0..10_000_u32 {
        table.put(&number.to_le_bytes(), b"value").unwrap();
    }
    let snapshot = table.snapshot().unwrap();
    drop(table);
    assert_eq!(entries(snapshot.as_ref()).len(), 10_000);
}

#[test]
fn numbers_are_incremented_and_what_is_no_number_is_left_alone() {
    let mut table = HashTable::new();
    assert_eq!(table.increment(b"n", 5).unwrap(), 5);
    assert_eq!(table.increment(b"n", -7).unwrap(), -2);
    assert_eq!(table.value(b"n"), Some(&b"-2"[..]));
    table.put(b"word", b"abc").unwrap();
    let error = table.increment(b"word", 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(error.message(), "expected a whole number to increment, found \"abc\"");
    table.put(b"most", i64::MAX.to_string().as_bytes()).unwrap();
    assert_eq!(table.increment(b"most", 1).unwrap_err().kind(), ErrorKind::Argument);
    assert_eq!(table.value(b"most"), Some(&b"9223372036854775807"[..]));
    assert!(table.create(b"new", b"1").unwrap());
    assert!(!table.create(b"new", b"2").unwrap());
    table.append(b"new", b"23").unwrap();
    assert_eq!(table.value(b"new"), Some(&b"123"[..]));
}
