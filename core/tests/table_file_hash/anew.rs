//! Empty tables in the place of damaged ones: all who have the file open go on with one of them, whoever dies or fails meanwhile.

use std::fs;
use std::path::Path;
use std::time::Duration;

use bytewright::ErrorKind;
use bytewright::table::Table;
use bytewright::table::cache::Cache;
use bytewright::table::file::{HashTable, OpenOptions};

use crate::generate::seeds;
use crate::processes::in_child;
use crate::simulated_disk::{Failure, SimulatedDisk};
use crate::watched::{Moments, WatchedDirectory};
use crate::{CREATE, LOG_START, READ, WRITE, get, kind, open_on, path};

const BESIDE: OpenOptions = OpenOptions { timeout: Duration::from_secs(60), ..WRITE };

fn fill(table: &mut HashTable) {
    for number in 0..200_u16 {
        table.put(&number.to_le_bytes(), &[7; 300]).unwrap();
    }
}

/// Changes bytes of all frames and records.
fn spoil(bytes: &mut [u8]) {
    for at in (LOG_START as usize..bytes.len()).step_by(64) {
        bytes[at] ^= 0xff;
    }
}

fn spoil_file(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    spoil(&mut bytes);
    // Those who have mapped the file go on with it.
    std::os::unix::fs::FileExt::write_all_at(
        &fs::OpenOptions::new().write(true).open(path).unwrap(),
        &bytes,
        0,
    )
    .unwrap();
}

fn cut_file(path: &Path) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(LOG_START + 5_000).unwrap();
}

/// Every way to damage a file that is open.
const HURTS: [fn(&Path); 3] = [spoil_file, cut_file, |path| {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(100).unwrap();
}];

// Promise (hash-table-file): A damaged table is replaced by one empty table for all who have it
// open.
#[test]
fn an_empty_table_takes_the_place_of_a_damaged_one_for_all_who_have_it_open() {
    for (number, hurt) in HURTS.iter().enumerate() {
        let path = path(&format!("anew_{number}"));
        let mut table = HashTable::open(&path, CREATE).unwrap();
        fill(&mut table);
        let mut other = HashTable::open(&path, BESIDE).unwrap();
        let reader = HashTable::open(&path, READ).unwrap();
        let snapshot = table.snapshot().unwrap();
        hurt(&path);
        assert!(table.start_anew(false).unwrap());
        table.put(b"a", b"1").unwrap();
        // Another one, that has met the damage, too, does not begin again.
        assert!(!other.start_anew(false).unwrap());
        assert_eq!(get(&other, b"a").as_deref(), Some(&b"1"[..]));
        other.put(b"b", b"2").unwrap();
        if number == 0 {
            // The mark of the old file tells a reader; the name does so where that was cut.
            assert_eq!(reader.len().unwrap(), 2);
        }
        assert_eq!((table.len().unwrap(), get(&table, b"b").as_deref()), (2, Some(&b"2"[..])));
        assert!(snapshot.scan().and_then(|mut scan| scan.advance().map(drop)).is_err());
        drop((snapshot, reader));
        table.close().unwrap();
        other.close().unwrap();
        let table = HashTable::open(&path, READ).unwrap();
        assert_eq!(table.len().unwrap(), 2);
    }
}

#[test]
fn a_table_is_not_begun_anew_in_a_transaction_or_by_who_only_reads() {
    let path = path("anew_refused");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    fill(&mut table);
    table.begin().unwrap();
    assert_eq!(kind(table.start_anew(false)), ErrorKind::Argument);
    table.abort().unwrap();
    table.take_turn(None).unwrap();
    assert_eq!(kind(table.start_anew(false)), ErrorKind::Argument);
    table.give_turn_back();
    assert_eq!(kind(HashTable::open(&path, READ).unwrap().start_anew(false)), ErrorKind::Argument);
    let mut other = HashTable::open(&path, WRITE).unwrap();
    other.begin().unwrap();
    // Another one writes.
    assert_eq!(kind(table.start_anew(false)), ErrorKind::Lock);
    other.abort().unwrap();
    assert_eq!(table.len().unwrap(), 200);
    let mut memory = bytewright::table::memory::HashTable::new();
    assert_eq!(kind(memory.start_anew(false)), ErrorKind::Argument);
}

#[test]
fn a_write_that_found_damage_does_not_keep_a_table_from_being_begun_anew() {
    let path = path("anew_failed");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    fill(&mut table);
    cut_file(&path);
    assert_eq!(kind(table.sync()), ErrorKind::Corrupt);
    assert_eq!(kind(table.put(b"a", b"1")), ErrorKind::Corrupt);
    assert!(table.start_anew(false).unwrap());
    table.put(b"a", b"1").unwrap();
    table.sync().unwrap();
    assert_eq!(table.len().unwrap(), 1);
}

#[test]
fn a_forked_child_begins_the_table_of_its_parent_anew() {
    let path = path("anew_forked");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    fill(&mut table);
    let mut child = || table.start_anew(true).unwrap() && table.put(b"child", b"1").is_ok();
    assert!(in_child(&mut child));
    assert_eq!((table.len().unwrap(), get(&table, b"child").as_deref()), (1, Some(&b"1"[..])));
}

/// Not a test by itself: a process that dies when the empty table has the name, before it tells anybody.
#[test]
fn dies_when_the_empty_table_has_the_name() {
    let Some(path) = std::env::var_os("BYTEWRIGHT_BEGINS_ANEW") else { return };
    let dies = Moments { published: || std::process::abort(), ..Moments::NONE };
    let _ = WatchedDirectory::open(Path::new(&path), dies, BESIDE).start_anew(true);
}

// Promise (hash-table-file): also A damaged table is replaced by one empty table
#[test]
fn nobody_stays_with_a_damaged_file_whose_successor_was_named_by_a_process_that_died() {
    let path = path("anew_killed");
    let mut stays = HashTable::open(&path, OpenOptions { create: true, ..BESIDE }).unwrap();
    for _ in 0..4 {
        fill(&mut stays);
        let died = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "anew::dies_when_the_empty_table_has_the_name"])
            .env("BYTEWRIGHT_BEGINS_ANEW", &path)
            .output()
            .unwrap();
        assert!(!died.status.success());
        let mut comes = HashTable::open(&path, BESIDE).unwrap();
        assert_eq!(comes.len().unwrap(), 0);
        stays.put(b"a", b"1").unwrap();
        assert_eq!((comes.len().unwrap(), stays.len().unwrap()), (1, 1));
        assert!(!HashTable::start_anew_at(&path, BESIDE).unwrap());
        comes.close().unwrap();
    }
}

#[test]
fn a_disk_that_fails_leaves_the_damaged_table_or_an_empty_one() {
    for failure in [Failure::Io, Failure::NoSpace, Failure::ShortWrite, Failure::Sync] {
        for nth in 0.. {
            let disk = SimulatedDisk::new();
            let mut table = open_on(&disk, CREATE).unwrap();
            fill(&mut table);
            let calls = disk.calls();
            disk.fail(calls + nth..calls + nth + 1, failure);
            let begun = table.start_anew(true);
            let is_over = disk.calls() <= calls + nth;
            // What failed is tried again.
            if begun.is_err() {
                table.start_anew(true).unwrap();
            }
            assert_eq!(table.len().unwrap(), 0, "{failure:?} at {nth}");
            if is_over {
                break;
            }
            table.put(b"a", b"1").unwrap();
            assert_eq!(open_on(&disk, READ).unwrap().len().unwrap(), 1, "{failure:?} at {nth}");
        }
    }
}

#[test]
fn a_power_cut_leaves_the_damaged_table_or_an_empty_one() {
    seeds(20, |random| {
        let seed = random.below(1 << 30) as u64;
        let disk = SimulatedDisk::new();
        let mut table = open_on(&disk, CREATE).unwrap();
        fill(&mut table);
        table.sync().unwrap();
        let before = disk.calls();
        table.start_anew(true).unwrap();
        table.sync().unwrap();
        for call in before..=disk.calls() {
            let left = open_on(&disk.cut(call, seed), WRITE).unwrap().len().unwrap();
            assert!([0, 200].contains(&left), "{left} at {call}, seed {seed}");
        }
        assert_eq!(open_on(&disk.cut(disk.calls(), seed), WRITE).unwrap().len().unwrap(), 0);
    });
}

#[test]
fn a_file_that_cannot_be_opened_is_begun_anew_and_no_other_one() {
    let path = path("anew_at");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    fill(&mut table);
    assert!(!HashTable::start_anew_at(&path, WRITE).unwrap());
    table.close().unwrap();
    assert!(!HashTable::start_anew_at(&path, WRITE).unwrap());
    assert_eq!(HashTable::open(&path, READ).unwrap().len().unwrap(), 200);
    let whole = fs::read(&path).unwrap();
    let hurts: [fn(&mut Vec<u8>); 3] = [
        |bytes| spoil(bytes),
        |bytes| bytes.truncate(LOG_START as usize + 5_000),
        |bytes| bytes[20..128].fill(0xff),
    ];
    for hurt in hurts {
        let mut bytes = whole.clone();
        hurt(&mut bytes);
        // Nothing of a clean close is left.
        fs::write(&path, bytes).unwrap();
        assert_eq!(HashTable::open(&path, WRITE).map(drop).unwrap_err().kind(), ErrorKind::Corrupt);
        assert!(HashTable::start_anew_at(&path, WRITE).unwrap());
        assert!(!HashTable::start_anew_at(&path, WRITE).unwrap());
        let mut table = HashTable::open(&path, WRITE).unwrap();
        assert_eq!(table.len().unwrap(), 0);
        table.put(b"a", b"1").unwrap();
    }
    let others = OpenOptions { values: Some(Cache::VALUES), ..WRITE };
    assert_eq!(kind(HashTable::start_anew_at(&path, others)), ErrorKind::Format);
    fs::write(&path, "text").unwrap();
    assert_eq!(kind(HashTable::start_anew_at(&path, WRITE)), ErrorKind::Format);
    assert_eq!(fs::read(&path).unwrap(), b"text");
}

#[test]
fn a_cut_file_that_others_have_open_is_begun_anew_for_them() {
    let path = path("anew_beside");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    fill(&mut table);
    table.close().unwrap();
    let mut table = HashTable::open(&path, WRITE).unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    cut_file(&path);
    assert_eq!(HashTable::open(&path, WRITE).map(drop).unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(HashTable::start_anew_at(&path, BESIDE).unwrap());
    let mut comes = HashTable::open(&path, WRITE).unwrap();
    comes.put(b"a", b"1").unwrap();
    assert_eq!((table.len().unwrap(), reader.len().unwrap()), (1, 1));
    table.put(b"b", b"2").unwrap();
    assert_eq!(comes.len().unwrap(), 2);
}

#[test]
fn a_damaged_header_beside_others_who_have_the_file_open_is_an_error_until_they_close_it() {
    let path = path("anew_header");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    fill(&mut table);
    let header = fs::read(&path).unwrap()[..128].to_vec();
    let write = |bytes: &[u8]| {
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, bytes, 0).unwrap();
    };
    write(&[&header[..20], &[0xff; 108]].concat());
    assert_eq!(kind(HashTable::start_anew_at(&path, WRITE)), ErrorKind::Lock);
    table.put(b"a", b"1").unwrap();
    drop(table);
    write(&[&header[..20], &[0xff; 108]].concat());
    assert!(HashTable::start_anew_at(&path, WRITE).unwrap());
    assert_eq!(HashTable::open(&path, WRITE).unwrap().len().unwrap(), 0);
}
