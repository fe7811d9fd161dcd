//! The index in the file: damaged, of another time, growing beside readers, or cut while it is in use, it never gives a wrong
//! answer.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use bytewright::ErrorKind;
use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions};

use crate::generate::{Random, seeds};
use crate::twin::{Twin, entries};
use crate::{CREATE, LOG_START, READ, WRITE, get, path};

/// As users open it, so that the index is trusted.
const QUICK: OpenOptions = OpenOptions { verify: false, ..CREATE };

/// The places of the index's rooms in a file.
fn rooms(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut at, mut rooms) = (LOG_START as usize, Vec::new());
    while at + 20 <= bytes.len() {
        assert_eq!(&bytes[at..at + 3], b"\xf5BW", "a frame at {at}");
        let len = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        if bytes[at + 3] & 32 != 0 {
            rooms.push((at + 20).next_multiple_of(16 << 10)..at + 20 + len);
        }
        at += 20 + len;
    }
    rooms
}

fn fill(path: &Path, twin: &mut Twin, random: &mut Random, count: u32) -> HashTable {
    let mut table = HashTable::open(path, QUICK).unwrap();
    for _ in 0..count / 500 {
        table.begin().unwrap();
        for _ in 0..500 {
            let key = (random.below(count as usize) as u32).to_be_bytes();
            match random.once_in(7) {
                true => drop((table.delete(&key).unwrap(), twin.delete(&key))),
                false => {
                    let value = random.bytes(9);
                    table.put(&key, &value).unwrap();
                    twin.put(&key, &value);
                }
            }
        }
        table.commit().unwrap();
    }
    table
}

fn check(table: &HashTable, twin: &Twin, count: u32, what: &str) {
    assert_eq!(table.len().unwrap(), twin.len(), "{what}");
    for number in (0..count).step_by(3) {
        let key = number.to_be_bytes();
        assert_eq!(get(table, &key), twin.get(&key), "{what}: {number}");
    }
}

// Promise (hash-table-file): A damaged index gives no wrong answer.
#[test]
fn an_index_that_was_damaged_since_it_was_closed_is_made_anew() {
    let (path, copy) = (path("garbled"), path("garbled_copy"));
    let (mut twin, count) = (Twin::default(), 12_000);
    fill(&path, &mut twin, &mut Random::new(3), count).close().unwrap();
    let whole = fs::read(&path).unwrap();
    let rooms = rooms(&whole);
    assert!(rooms.len() > 2 && rooms.iter().map(Range::len).sum::<usize>() > 150_000);
    seeds(24, |random| {
        let mut bytes = whole.clone();
        for _ in 0..1 + random.below(4) {
            let room = rooms[random.below(rooms.len())].clone();
            let at = room.start + random.below(room.len());
            let len = (1 + random.below(3_000)).min(room.end - at);
            match random.below(3) {
                0 => bytes[at..at + len].fill(0),
                1 => bytes[at..at + len].copy_from_slice(&random.bytes(len)),
                _ => bytes[at] ^= 1 << random.below(8),
            }
        }
        fs::write(&copy, &bytes).unwrap();
        let options = random.pick(&[QUICK, CREATE, OpenOptions { verify: false, ..READ }]);
        let beside = random.once_in(2).then(|| HashTable::open(&copy, QUICK).unwrap());
        let mut table = HashTable::open(&copy, options).unwrap();
        check(&table, &twin, count, "garbled");
        let mut twin = twin.clone();
        if !options.read_only {
            for number in 0..3_000_u32 {
                table.put(&number.to_be_bytes(), b"new").unwrap();
                twin.put(&number.to_be_bytes(), b"new");
            }
        }
        for table in beside.iter().chain([&table]) {
            check(table, &twin, count, "written");
            assert_eq!(entries(table).unwrap(), twin.entries());
        }
        drop((beside, table));
        check(&HashTable::open(&copy, QUICK).unwrap(), &twin, count, "closed");
    });
}

// Promise (hash-table-file): A copy of a table in use has what was committed.
#[test]
fn a_copy_of_a_table_that_is_in_use_has_what_was_committed() {
    let (path, copy) = (path("in_use"), path("in_use_copy"));
    let count = 6_000;
    seeds(4, |random| {
        let _ = fs::remove_file(&path);
        let mut twin = Twin::default();
        let table = fill(&path, &mut twin, random, count);
        let mut bytes = fs::read(&path).unwrap();
        for room in rooms(&bytes) {
            if random.once_in(2) {
                let (at, garbage) = (room.start + room.len() / 3, random.bytes(room.len() / 2));
                bytes[at..at + garbage.len()].copy_from_slice(&garbage);
            }
        }
        fs::write(&copy, &bytes).unwrap();
        for options in [READ, QUICK, QUICK] {
            check(&HashTable::open(&copy, options).unwrap(), &twin, count, "a copy");
        }
        drop(table);
    });
}

// Promise (hash-table-file): An index that grows hides nothing from readers.
#[test]
fn an_index_that_grows_beside_readers_gives_them_all_that_was_committed() {
    let path = path("growing");
    let mut table = HashTable::open(&path, QUICK).unwrap();
    let (committed, count) = (AtomicU32::new(0), 60_000);
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let (path, committed) = (&path, &committed);
            scope.spawn(move || {
                let reader = HashTable::open(path, OpenOptions { verify: false, ..READ }).unwrap();
                let mut random = Random::new(seed);
                while committed.load(SeqCst) < count {
                    let there = committed.load(SeqCst);
                    for _ in 0..200 {
                        let number = random.below(count as usize) as u32;
                        let found = get(&reader, &number.to_be_bytes());
                        match found {
                            Some(value) => assert_eq!(value, (number / 2).to_be_bytes()),
                            None => assert!(number >= there, "{number} of {there}"),
                        }
                    }
                    let snapshot = reader.snapshot().unwrap();
                    assert_eq!(snapshot.len().unwrap() % 500, 0);
                    if random.once_in(20) {
                        let mut scan = snapshot.scan().unwrap();
                        let mut seen = 0;
                        while scan.advance().unwrap().is_some() {
                            seen += 1;
                        }
                        assert_eq!(seen, snapshot.len().unwrap());
                    }
                }
            });
        }
        for first in (0..count).step_by(500) {
            table.begin().unwrap();
            for number in first..first + 500 {
                table.put(&number.to_be_bytes(), &(number / 2).to_be_bytes()).unwrap();
            }
            table.commit().unwrap();
            committed.store(first + 500, SeqCst);
        }
    });
    assert_eq!(table.len().unwrap(), u64::from(count));
}

#[test]
fn a_key_that_is_written_again_and_again_costs_a_snapshot_no_more_than_others() {
    let mut table = HashTable::open(path("hot"), QUICK).unwrap();
    let mut twin = Twin::default();
    table.begin().unwrap();
    for number in 0..20_000_u32 {
        let key = (number % 4).to_be_bytes();
        table.put(&key, &number.to_be_bytes()).unwrap();
        twin.put(&key, &number.to_be_bytes());
    }
    table.commit().unwrap();
    let snapshot = table.snapshot().unwrap();
    for _ in 0..40 {
        table.begin().unwrap();
        for number in 0..500_u32 {
            table.put(&0_u32.to_be_bytes(), &number.to_be_bytes()).unwrap();
        }
        table.commit().unwrap();
    }
    // Without what was found once, each of 5,000 older records would be looked for behind 20,000 newer ones.
    let began = std::time::Instant::now();
    assert_eq!(crate::twin::entries_of(&*snapshot).unwrap(), twin.entries());
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

// Promise (hash-table-file): also Cutting a table in use
#[test]
fn a_table_that_is_cut_while_it_is_used_is_an_error_and_no_signal() {
    let path = path("cut_in_use");
    let count = 12_000;
    seeds(6, |random| {
        let _ = fs::remove_file(&path);
        let mut twin = Twin::default();
        drop(fill(&path, &mut twin, random, count));
        let mut writer = HashTable::open(&path, OpenOptions { verify: false, ..WRITE }).unwrap();
        let reader = HashTable::open(&path, OpenOptions { verify: false, ..READ }).unwrap();
        let len = fs::metadata(&path).unwrap().len();
        let cut = fs::File::options().write(true).open(&path).unwrap();
        // The last part may be room that nothing is in yet.
        cut.set_len(random.below_u64(len / 2)).unwrap();
        let mut failed = 0;
        for number in (0..count).step_by(7) {
            let key = number.to_be_bytes();
            match reader.get(&key) {
                Ok(found) => assert_eq!(found, twin.get(&key)),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                    failed += 1;
                }
            }
        }
        assert!(failed > 0, "something was cut off");
        let changed = (0..50_u32).try_for_each(|n| writer.put(&n.to_be_bytes(), b"x"));
        let changed = changed.and_then(|()| writer.close());
        assert!(changed.is_err(), "it does not pass for whole");
    });
}

#[test]
fn entries_that_are_replaced_all_at_once_again_and_again_take_no_place_of_their_own_each_time() {
    for is_pinned in [false, true] {
        let path = path("replaced_all");
        let mut table = HashTable::open(&path, CREATE).unwrap();
        table.put(b"key 1", b"before").unwrap();
        let snapshot = is_pinned.then(|| table.snapshot().unwrap());
        for number in 0..300_u32 {
            table.begin().unwrap();
            table.clear().unwrap();
            for key in 0..number % 7 {
                table.put(format!("key {key}").as_bytes(), &number.to_le_bytes()).unwrap();
            }
            assert!(!table.delete(b"key 9").unwrap());
            table.commit().unwrap();
            assert_eq!(table.len().unwrap(), u64::from(number % 7), "{number}");
            let expected = (number % 7 > 1).then(|| number.to_le_bytes().to_vec());
            assert_eq!(get(&table, b"key 1"), expected, "{number}");
        }
        if let Some(snapshot) = snapshot {
            let mut found = Vec::new();
            assert!(snapshot.get_with(b"key 1", &mut |value| found = value.to_vec()).unwrap());
            assert_eq!((found, snapshot.len().unwrap()), (b"before".to_vec(), 1));
        }
        drop(table);
        let table = HashTable::open(&path, READ).unwrap();
        assert_eq!(table.len().unwrap(), 299 % 7);
    }
}
