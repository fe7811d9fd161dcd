//! Files that are damaged, cut or put together wrongly: an error, or whole commits; never a wrong value.

use std::collections::HashSet;

use bytewright::ErrorKind;
use bytewright::table::Table;
use bytewright::table::file::{Check, HashTable, OpenOptions, SyncMode};

use crate::generate::{Random, seeds};
use crate::simulated_disk::SimulatedDisk;
use crate::twin::{Change, Entries, Twin, entries};
use crate::{CREATE, LOG_START, READ, WRITE, kind, open_on, path};

/// A closed table's files, and all that it ever held.
struct Sample {
    log: Vec<u8>,
    states: HashSet<Entries>,
    values: HashSet<(Vec<u8>, Vec<u8>)>,
}

/// A history of so many steps.
fn sample(steps: usize, value_len: usize) -> Sample {
    let disk = SimulatedDisk::new();
    let mut random = Random::new(7);
    let mut twin = Twin::default();
    let mut sample =
        Sample { log: Vec::new(), states: HashSet::from([twin.entries()]), values: HashSet::new() };
    let mut table = open_on(&disk, OpenOptions { sync: SyncMode::Never, ..CREATE }).unwrap();
    for step in 0..steps {
        let changes = if step % 9 == 0 { 5 } else { 1 };
        table.begin().unwrap();
        for _ in 0..changes {
            let change = Change::random(&mut random, steps / 4, value_len);
            change.make(&mut table).unwrap();
            change.make_to_twin(&mut twin);
            if let Change::Put(key, value) = change {
                sample.values.insert((key, value));
            }
        }
        table.commit().unwrap();
        sample.states.insert(twin.entries());
        if step % (steps / 8) == 0 {
            table.sync().unwrap();
        }
    }
    table.close().unwrap();
    sample.log = disk.bytes("x.bwh").unwrap();
    sample
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len());
    let len = random.below(2_000).min(bytes.len() - at);
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => bytes[at..at + len].fill(0),
        2 => {
            let piece = bytes[at..at + len].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, piece);
        }
        3 => {
            let piece = bytes[at..at + len].to_vec();
            let to = random.below(bytes.len() - len + 1);
            bytes[to..to + len].copy_from_slice(&piece);
        }
        4 => drop(bytes.drain(at..at + len)),
        5 => bytes.extend((0..len).map(|_| random.byte())),
        _ => (0..1 + random.below(3)).for_each(|_| {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }),
    }
}

fn disk_with(log: &[u8]) -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    disk.file("x.bwh").write_at(0, log).unwrap();
    disk
}

/// Everything that can be read is something that was written.
fn check_values(table: &HashTable, sample: &Sample) {
    let found = entries(table);
    if let Ok(found) = &found {
        assert!(sample.states.contains(found), "what the table held at no time");
    }
    for (key, _) in sample.values.iter().take(60) {
        if let Ok(Some(value)) = table.get(key) {
            assert!(sample.values.contains(&(key.clone(), value)), "a value that no key had");
        }
    }
}

// Promise (hash-table-file): Damage never gives a value that was not written.
#[test]
fn of_a_thousand_damaged_files_none_gives_a_value_that_was_not_written() {
    let (short, long) = (sample(60, 300), sample(400, 1_600));
    seeds(1_000, |random| {
        let sample = if random.once_in(10) { &long } else { &short };
        let mut log = sample.log.clone();
        if !random.once_in(6) {
            mutate(random, &mut log);
        }
        let disk = disk_with(&log);
        let verify = random.once_in(2);
        let options = OpenOptions { verify, ..random.pick(&[READ, WRITE]) };
        match open_on(&disk, options) {
            Ok(table) => check_values(&table, sample),
            Err(error) => {
                assert!(!matches!(error.kind(), ErrorKind::Io(_)), "{error}");
                assert_eq!(disk.bytes("x.bwh").as_ref(), Some(&log), "nothing was changed");
            }
        }
        let Ok(check) = HashTable::check_in(std::sync::Arc::new(disk.clone()), "x.bwh") else {
            return;
        };
        let repaired =
            HashTable::repair_in(std::sync::Arc::new(disk.clone()), "x.bwh", CREATE.timeout);
        assert_eq!(repaired.unwrap(), check);
        let table = open_on(&disk, WRITE).unwrap();
        for (key, value) in entries(&table).unwrap() {
            assert!(sample.values.contains(&(key, value)));
        }
    });
}

#[test]
fn repairing_keeps_every_whole_transaction_and_says_what_it_cost() {
    let disk = SimulatedDisk::new();
    let mut table = open_on(&disk, OpenOptions { sync: SyncMode::Commit, ..CREATE }).unwrap();
    let mut ends = vec![LOG_START];
    for number in 0..20_u8 {
        if number == 9 {
            // Three frames of one transaction.
            table.begin().unwrap();
            for part in 0..3 {
                table.put(&[number, part], &vec![number; 9 << 18]).unwrap();
            }
            table.commit().unwrap();
        } else {
            table.put(&[number], &[number; 100]).unwrap();
        }
        ends.push(disk.bytes("x.bwh").unwrap().len() as u64);
    }
    table.close().unwrap();
    let whole = disk.bytes("x.bwh").unwrap();
    let no_index = || {
        let disk = disk_with(&whole);
        (disk.clone(), std::sync::Arc::new(disk))
    };
    let (_, directory) = no_index();
    let check = HashTable::check_in(directory, "x.bwh").unwrap();
    assert_eq!(check, Check { transactions: 21, ..Check::default() });
    for (lost, at) in [
        (vec![3], ends[3] + 60),
        (vec![0], ends[0] + 2),
        (vec![9], ends[9] + 100),
        (vec![9], ends[9] + (9 << 18) + 10_000),
        (vec![9], ends[10] - 5),
    ] {
        let (disk, directory) = no_index();
        disk.file("x.bwh").write_at(at, &[0x55; 3]).unwrap();
        let error = open_on(&disk, WRITE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.offset().is_some_and(|offset| offset <= at), "{error}");
        assert_eq!(kind(open_on(&disk, READ)), ErrorKind::Corrupt);
        let check = HashTable::check_in(directory.clone(), "x.bwh").unwrap();
        let repaired = HashTable::repair_in(directory, "x.bwh", CREATE.timeout).unwrap();
        assert_eq!(check, repaired);
        assert_eq!(check.damaged_at, error.offset());
        assert_eq!(check.lost_bytes, ends[lost[0] + 1] - ends[lost[0]], "{lost:?}");
        let table = open_on(&disk, WRITE).unwrap();
        let is_there = |number: usize| table.contains(&[number as u8]).unwrap();
        assert!((0..20).filter(|n| *n != 9).all(|n| is_there(n) != lost.contains(&n)));
        let parts = (0..3).filter(|part| table.contains(&[9, *part]).unwrap()).count();
        assert_eq!(parts, if lost.contains(&9) { 0 } else { 3 });
    }
}

#[test]
fn a_value_that_holds_a_table_is_no_part_of_the_log() {
    let inner = sample(400, 1_600).log;
    let disk = SimulatedDisk::new();
    let mut table = open_on(&disk, CREATE).unwrap();
    table.put(b"before", b"1").unwrap();
    let at = disk.bytes("x.bwh").unwrap().len() as u64;
    table.put(b"copy", &inner).unwrap();
    let own = disk.bytes("x.bwh").unwrap();
    table.put(b"own copy", &own).unwrap();
    table.put(b"after", b"2").unwrap();
    table.close().unwrap();
    disk.file("x.bwh").write_at(at + 10, &[0x55; 2]).unwrap();
    assert_eq!(kind(open_on(&disk, WRITE)), ErrorKind::Corrupt);
    HashTable::repair_in(std::sync::Arc::new(disk.clone()), "x.bwh", CREATE.timeout).unwrap();
    let table = open_on(&disk, WRITE).unwrap();
    let keys: Vec<Vec<u8>> = entries(&table).unwrap().into_iter().map(|entry| entry.0).collect();
    assert_eq!(keys, [&b"before"[..], b"own copy", b"after"]);
}

// Promise (hash-table-file): Files of the format are readable.
/// A file of each format, which must be readable for ever. `BYTEWRIGHT_WRITE_SAMPLE=1` writes the one of the newest where
/// it is missing, to be compressed by gzip.
#[test]
fn the_files_of_every_format_are_readable() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let newest = folder.join("hash_table_2.bwh.gz");
    if std::env::var_os("BYTEWRIGHT_WRITE_SAMPLE").is_some() && !newest.exists() {
        write_sample(&newest.with_extension(""));
    }
    let options = bytewright::bytes::StreamOptions::default();
    let mut stream = bytewright::bytes::ByteStream::open(&newest, &options).unwrap();
    let copy = path("sample");
    std::fs::write(&copy, stream.fill(2 << 20).unwrap()).unwrap();
    let table = HashTable::open(&copy, READ).unwrap();
    let wanted: Entries = vec![
        (b"empty".to_vec(), Vec::new()),
        (b"\x00\xff".to_vec(), vec![0xf5; 1000]),
        (b"changed".to_vec(), b"new".to_vec()),
        (b"in a transaction".to_vec(), b"1".to_vec()),
        (Vec::new(), b"of the empty key".to_vec()),
    ];
    assert_eq!(entries(&table).unwrap(), wanted);
    drop(table);
    let mut table = HashTable::open(&copy, WRITE).unwrap();
    table.put(b"more", b"2").unwrap();
    table.compact().unwrap();
    assert_eq!(table.len().unwrap(), 6);
}

#[test]
fn a_file_of_the_draft_before_is_refused_and_how_to_keep_it_is_told() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let copy = path("sample_of_a_draft");
    std::fs::copy(folder.join("hash_table_1.bwh"), &copy).unwrap();
    for options in [READ, WRITE] {
        let error = HashTable::open(&copy, options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert!(
            error.to_string().contains("earlier draft of Bytewright wrote; dump it"),
            "{error}"
        );
    }
}

fn write_sample(path: &std::path::Path) {
    let mut table = HashTable::open(path, CREATE).unwrap();
    table.put(b"cleared", b"gone").unwrap();
    table.clear().unwrap();
    table.put(b"changed", b"old").unwrap();
    table.put(b"empty", b"").unwrap();
    table.put(b"\x00\xff", &[0xf5; 1000]).unwrap();
    table.put(b"deleted", b"gone").unwrap();
    table.put(b"changed", b"new").unwrap();
    table.begin().unwrap();
    table.put(b"in a transaction", b"1").unwrap();
    table.delete(b"deleted").unwrap();
    table.put(b"", b"of the empty key").unwrap();
    table.commit().unwrap();
    table.close().unwrap();
}
