//! Files that lost their end or their history: a table that was closed cleanly never passes for whole
//! when it is not, and an index never stands for a log that it was not made of.

use std::fs;
use std::path::Path;

use bytewright::ErrorKind;
use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions};

use crate::simulated_disk::SimulatedDisk;
use crate::{CREATE, READ, WRITE, get, kind, open_on, path};

/// As users open it, so that an index is trusted.
const QUICK: OpenOptions = OpenOptions { verify: false, ..CREATE };

fn fill(path: &Path, keys: std::ops::Range<u32>, fill: u8) {
    let mut table = HashTable::open(path, QUICK).unwrap();
    for number in keys {
        table.put(&number.to_be_bytes(), &[fill; 300]).unwrap();
    }
    table.close().unwrap();
}

fn cut(path: &Path, len: u64) {
    fs::File::options().write(true).open(path).unwrap().set_len(len).unwrap();
}

#[test]
fn a_closed_table_that_was_cut_is_damaged_and_check_says_what_is_missing() {
    let path = path("cut");
    fill(&path, 0..1_000, 1);
    let whole = fs::read(&path).unwrap();
    assert!(path.with_extension("bwh.idx").exists(), "a longer index is beside it");
    // The frame that closing adds holds no entry.
    let closed_len = whole.len() as u64 - 41;
    for len in [128, 129, 4_096, 100_000, closed_len - 1] {
        fs::write(&path, &whole[..len as usize]).unwrap();
        for options in [CREATE, WRITE, READ, QUICK] {
            let error = HashTable::open(&path, options).unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Corrupt, Some(len)), "{error}");
            assert!(error.to_string().contains(&format!("{closed_len} bytes")), "{error}");
            assert_eq!(fs::metadata(&path).unwrap().len(), len, "nothing more is cut");
        }
        let check = HashTable::check(&path).unwrap();
        assert_eq!(check.missing_bytes, closed_len - len);
        assert!(check.damaged_at.is_some() && check.lost_bytes >= check.missing_bytes);
        assert_eq!(HashTable::repair(&path, CREATE.timeout).unwrap(), check);
        let table = HashTable::open(&path, QUICK).unwrap();
        assert_eq!(table.len().unwrap(), check.transactions, "what is there is kept");
        assert_eq!(table.len().unwrap(), (len - 128) / 331, "each is 331 bytes long");
    }
}

#[test]
fn a_compacted_table_that_was_cut_is_damaged_before_it_was_ever_closed() {
    let path = path("cut_compacted");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    (0..100_u8).for_each(|number| table.put(&[number], &[1; 300]).unwrap());
    table.compact().unwrap();
    let whole = fs::read(&path).unwrap();
    std::mem::forget(table);
    let copy = crate::path("cut_compacted_copy");
    fs::write(&copy, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(kind(HashTable::open(&copy, WRITE)), ErrorKind::Corrupt);
    // Damage that is not behind a synced frame is damage all the same.
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&copy, &damaged).unwrap();
    assert_eq!(kind(HashTable::open(&copy, WRITE)), ErrorKind::Corrupt);
    assert_eq!(fs::read(&copy).unwrap(), damaged);
}

#[test]
fn a_file_that_is_not_empty_never_becomes_a_new_table() {
    let path = path("begun");
    fill(&path, 0..3, 1);
    let whole = fs::read(&path).unwrap();
    let zeros = [0; 128];
    for len in (1..128).step_by(9).chain([64, 127, 128]) {
        for bytes in [&whole[..len], &zeros[..len]] {
            fs::write(&path, bytes).unwrap();
            for options in [CREATE, WRITE, READ] {
                assert!(HashTable::open(&path, options).is_err(), "{len} bytes");
            }
            assert_eq!(fs::read(&path).unwrap(), bytes, "{len} bytes are left alone");
        }
    }
    fs::write(&path, b"").unwrap();
    HashTable::open(&path, CREATE).unwrap().put(b"a", b"1").unwrap();
    assert_eq!(HashTable::open(&path, READ).unwrap().len().unwrap(), 1);
}

#[test]
fn a_table_whose_making_is_interrupted_is_not_there_or_whole() {
    let disk = SimulatedDisk::new();
    drop(open_on(&disk, CREATE).unwrap());
    for call in 0..=disk.calls() {
        for way in 0..8 {
            for left in [disk.cut(call, way), disk.killed(call, way)] {
                match open_on(&left, READ) {
                    Ok(table) => assert_eq!(table.len().unwrap(), 0),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Io(Some(2)), "call {call}"),
                }
                open_on(&left, CREATE).unwrap().put(b"a", b"1").unwrap();
                assert_eq!(open_on(&left, READ).unwrap().len().unwrap(), 1);
            }
        }
    }
}

#[test]
fn of_processes_that_make_a_table_at_once_each_finds_a_whole_one() {
    let path = path("made_at_once");
    let patient = OpenOptions { timeout: std::time::Duration::from_secs(60), ..CREATE };
    for _ in 0..20 {
        let _ = fs::remove_file(&path);
        std::thread::scope(|scope| {
            for number in 0..4_u8 {
                let path = &path;
                scope.spawn(move || {
                    HashTable::open(path, patient).unwrap().put(&[number], b"").unwrap();
                    assert!(HashTable::open(path, READ).unwrap().contains(&[number]).unwrap());
                });
            }
        });
        assert_eq!(HashTable::open(&path, READ).unwrap().len().unwrap(), 4);
        assert!(!path.with_extension("bwh.new").exists());
    }
}

#[test]
fn an_index_of_another_history_of_the_table_is_refused() {
    let (path, other) = (path("history"), path("history_other"));
    fill(&path, 0..4_000, 1);
    fs::copy(&path, &other).unwrap();
    // Two histories go on from the same beginning, as long as each other.
    fill(&path, 10_000..14_000, 2);
    fill(&other, 20_000..24_000, 3);
    let index = |path: &Path| path.with_extension("bwh.idx");
    assert_eq!(fs::metadata(&path).unwrap().len(), fs::metadata(&other).unwrap().len());
    fs::copy(index(&path), index(&other)).unwrap();
    for options in [OpenOptions { read_only: true, ..QUICK }, QUICK] {
        let mut table = HashTable::open(&other, options).unwrap();
        assert_eq!(table.len().unwrap(), 8_000);
        if !options.read_only {
            table.compact().unwrap();
        }
        for number in 20_000..24_000_u32 {
            assert_eq!(get(&table, &number.to_be_bytes()), Some(vec![3; 300]));
        }
        assert_eq!(get(&table, &10_000_u32.to_be_bytes()), None);
    }
    // Its own is taken: what was closed is not read again.
    let mut table = HashTable::open(&path, QUICK).unwrap();
    assert_eq!(table.len().unwrap(), 8_000);
    table.close().unwrap();
    assert!(index(&path).exists());
}

#[test]
fn an_index_that_is_cut_while_tables_use_it_costs_nothing() {
    let path = path("cut_index");
    let index = path.with_extension("bwh.idx");
    let mut table = HashTable::open(&path, QUICK).unwrap();
    table.begin().unwrap();
    for number in 0..200_000_u32 {
        table.put(&number.to_be_bytes(), b"value").unwrap();
    }
    table.commit().unwrap();
    table.close().unwrap();
    let reader = HashTable::open(&path, OpenOptions { read_only: true, ..QUICK }).unwrap();
    let mut writer = HashTable::open(&path, QUICK).unwrap();
    assert!(writer.stat().unwrap().index_bytes > 1 << 20, "it is mapped");
    for len in [4_096, 0] {
        cut(&index, len);
        for number in (0..200_000_u32).step_by(7) {
            assert!(reader.contains(&number.to_be_bytes()).unwrap());
            assert!(writer.contains(&number.to_be_bytes()).unwrap());
        }
        writer.put(b"more", &len.to_be_bytes()).unwrap();
    }
    writer.close().unwrap();
    assert_eq!(HashTable::open(&path, QUICK).unwrap().len().unwrap(), 200_001);
}
