//! Files that lost their end or their history: a table that was closed cleanly never passes for whole
//! when it is not.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use bytewright::ErrorKind;
use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions};

use crate::generate::{Random, seeds};
use crate::simulated_disk::SimulatedDisk;
use crate::{CREATE, LOG_START, READ, WRITE, kind, open_on, path};

/// As users open it, so that an index is trusted.
const QUICK: OpenOptions = OpenOptions { verify: false, ..CREATE };

fn fill(path: &Path, keys: std::ops::Range<u32>, fill: u8) {
    let mut table = HashTable::open(path, QUICK).unwrap();
    for number in keys {
        table.put(&number.to_be_bytes(), &[fill; 300]).unwrap();
    }
    table.close().unwrap();
}

// Promise (hash-table-file): A closed table that was cut is damaged.
#[test]
fn a_closed_table_that_was_cut_is_damaged_and_check_says_what_is_missing() {
    let path = path("cut");
    fill(&path, 0..1_000, 1);
    let whole = fs::read(&path).unwrap();
    // The frame that closing adds holds no entry.
    let closed_len = u64::from_le_bytes(whole[40..48].try_into().unwrap());
    assert!(closed_len > whole.len() as u64 - 200);
    for len in [128, 129, 4_096, LOG_START, 200_000, closed_len - 1] {
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
        let bytes = len.saturating_sub(LOG_START);
        assert!(table.len().unwrap() <= bytes / 332, "each is 332 bytes long");
        assert!(table.len().unwrap() + 500 >= bytes / 332, "and the index not so long");
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
    assert_eq!(fs::read(&copy).unwrap()[LOG_START as usize..], damaged[LOG_START as usize..]);
}

// Promise (hash-table-file): A file with bytes in it never becomes a new table.
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

// Promise (hash-table-file): A new table is complete or does not exist.
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
    }
}

// Promise (hash-table-file): Cutting a table in use is an error, no signal and no wrong answer.
#[test]
fn a_page_that_is_cut_while_it_is_read_makes_no_answer_wrong() {
    // The system fills the rest of a page with zeros from the cut on. A record that was whole when its check was compared is not
    // when it is copied, and a segment of the index seems to have room where it has an entry.
    let path = path("one_page");
    fill(&path, 0..30, 1);
    let whole = fs::read(&path).unwrap();
    seeds(100, |random: &mut Random| {
        fs::write(&path, &whole).unwrap();
        let (key, found) = ((20 + random.below(10) as u32).to_be_bytes(), Some(vec![1; 300]));
        let table = HashTable::open(&path, WRITE).unwrap();
        let (gets, is_over) = (&AtomicUsize::new(0), &AtomicBool::new(false));
        std::thread::scope(|scope| {
            let reading = scope.spawn(move || {
                while !is_over.load(Relaxed) {
                    match table.get(&key) {
                        Ok(answer) => assert!(answer == found, "a wrong answer"),
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                            break;
                        }
                    }
                    gets.fetch_add(1, Relaxed);
                }
            });
            // So that it looks at pages that it knows.
            while gets.load(Relaxed) < 3 && !reading.is_finished() {
                std::hint::spin_loop();
            }
            let cut = (whole.len() - random.below(4_000)) as u64;
            fs::File::options().write(true).open(&path).unwrap().set_len(cut).unwrap();
            is_over.store(true, Relaxed);
        });
    });
}
