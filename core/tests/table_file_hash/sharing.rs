//! Handles beside each other: one writes, others follow it, at any pace, through compactions, cuts and
//! a file that is replaced.

use std::time::Duration;

use bytewright::ErrorKind;
use bytewright::table::file::{HashTable, OpenOptions, open};
use bytewright::table::{Origin, Snapshot, Table};

use crate::generate::seeds;
use crate::simulated_disk::SimulatedDisk;
use crate::twin::{Change, Twin, entries, entries_of};
use crate::{CREATE, READ, WRITE, get, kind, open_on, path};

#[test]
fn writers_take_turns_and_see_each_others_commits_through_compactions() {
    let path = path("writers");
    let mut first = HashTable::open(&path, CREATE).unwrap();
    first.put(b"a", b"1").unwrap();
    let mut second = HashTable::open(&path, WRITE).unwrap();
    assert_eq!(get(&second, b"a").as_deref(), Some(&b"1"[..]));
    second.put(b"b", b"2").unwrap();
    assert_eq!(get(&first, b"b").as_deref(), Some(&b"2"[..]));
    first.begin().unwrap();
    first.put(b"c", b"3").unwrap();
    let error = second.put(b"d", b"4").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lock);
    assert!(error.to_string().contains("write") && error.file().is_some(), "{error}");
    assert_eq!(get(&second, b"c"), None);
    first.commit().unwrap();
    second.put(b"d", b"4").unwrap();
    first.compact().unwrap();
    second.put(b"e", b"5").unwrap();
    assert_eq!(first.len().unwrap(), 5);
    second.compact().unwrap();
    second.compact().unwrap();
    first.begin().unwrap();
    assert!(first.delete(b"e").unwrap());
    first.abort().unwrap();
    assert_eq!(entries(&first).unwrap(), entries(&second).unwrap());
    assert_eq!(kind(HashTable::repair(&path, Duration::ZERO)), ErrorKind::Lock);
    first.close().unwrap();
    second.put(b"f", b"6").unwrap();
    drop(second);
    assert_eq!(HashTable::open(&path, READ).unwrap().len().unwrap(), 6);
}

#[test]
fn who_reads_a_file_while_it_is_repaired_goes_on_with_the_new_one() {
    let path = path("repaired");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    (0..1_000_u16).for_each(|n| table.put(&n.to_le_bytes(), &[1; 40]).unwrap());
    table.close().unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    assert_eq!(reader.len().unwrap(), 1_000);
    let bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(40).rposition(|value| value == [1; 40]).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"damage", at as u64).unwrap();
    assert!(HashTable::repair(&path, Duration::ZERO).unwrap().lost_bytes > 0);
    assert_eq!(reader.len().unwrap(), 999);
    let mut table = HashTable::open(&path, WRITE).unwrap();
    table.put(b"after", b"1").unwrap();
    assert_eq!(get(&reader, b"after").as_deref(), Some(&b"1"[..]));
}

#[test]
fn who_reads_a_table_before_anybody_has_written_to_it_shares_its_index_later() {
    let path = path("early");
    drop(HashTable::open(&path, CREATE).unwrap());
    let reader = HashTable::open(&path, READ).unwrap();
    assert_eq!(reader.len().unwrap(), 0);
    let mut table = HashTable::open(&path, WRITE).unwrap();
    for n in 0..10_000_u16 {
        table.put(&n.to_le_bytes(), b"1").unwrap();
        assert_eq!(get(&reader, &n.to_le_bytes()).as_deref(), Some(&b"1"[..]));
    }
    assert!(reader.stat().unwrap().memory_bytes < 64 << 10, "no index of its own");
}

#[test]
fn a_table_that_is_open_exclusively_keeps_other_writers_out_through_compactions() {
    let path = path("exclusive");
    let alone = OpenOptions { exclusive: true, ..CREATE };
    let mut first = HashTable::open(&path, alone).unwrap();
    first.put(b"a", b"1").unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    let is_alone = || {
        [WRITE, alone].map(|options| kind(HashTable::open(&path, options))) == [ErrorKind::Lock; 2]
    };
    assert!(is_alone());
    first.compact().unwrap();
    assert!(is_alone());
    for number in 0..400_u16 {
        first.put(&[number as u8 % 4], &vec![1; 20_000]).unwrap();
    }
    assert!(std::fs::metadata(&path).unwrap().len() < 4 << 20, "it was compacted by itself");
    assert!(is_alone());
    assert_eq!(reader.len().unwrap(), 5);
    first.close().unwrap();
    let mut second = HashTable::open(&path, WRITE).unwrap();
    assert_eq!(kind(HashTable::open(&path, alone)), ErrorKind::Lock);
    second.put(b"b", b"").unwrap();
    assert_eq!(reader.len().unwrap(), 6);
}

#[test]
fn a_turn_that_is_kept_holds_other_writers_up_until_it_is_given_back() {
    let path = path("kept_turn");
    let mut first = HashTable::open(&path, CREATE).unwrap();
    let mut second = HashTable::open(&path, WRITE).unwrap();
    first.take_turn(None).unwrap();
    first.take_turn(None).unwrap();
    first.put(b"a", b"1").unwrap();
    assert_eq!(kind(second.put(b"b", b"")), ErrorKind::Lock);
    first.compact().unwrap();
    first.put(b"c", b"").unwrap();
    first.give_turn_back();
    assert_eq!(kind(second.take_turn(Some(Duration::from_millis(1)))), ErrorKind::Lock);
    first.give_turn_back();
    assert_eq!(second.increment(b"n", 5).unwrap(), 5);
    first.increment(b"n", 1).unwrap();
    assert_eq!((first.len().unwrap(), get(&second, b"n")), (3, Some(b"6".to_vec())));
}

#[test]
fn readers_see_what_was_committed_at_each_call_and_through_compactions() {
    seeds(6, |random| {
        let path = path(&format!("follow_{}", random.next()));
        let mut table = HashTable::open(&path, CREATE).unwrap();
        let mut twin = Twin::default();
        let lazy = HashTable::open(&path, READ).unwrap();
        let reader = HashTable::open(&path, READ).unwrap();
        let mut snapshots = Vec::new();
        for _ in 0..400 {
            match random.below(20) {
                0 => table.compact().unwrap(),
                1 => {
                    table.close().unwrap();
                    table = HashTable::open(&path, WRITE).unwrap();
                }
                2 => snapshots.push((reader.snapshot().unwrap(), twin.entries())),
                _ => {
                    let change = Change::random(random, 50, 300);
                    change.make(&mut table).unwrap();
                    change.make_to_twin(&mut twin);
                }
            }
            assert_eq!(reader.len().unwrap(), twin.len());
            let key = crate::twin::key(random, 50);
            assert_eq!(get(&reader, &key), twin.get(&key));
        }
        for table in [&reader, &lazy, &HashTable::open(&path, READ).unwrap()] {
            assert_eq!(entries(table).unwrap(), twin.entries());
        }
        for (snapshot, wanted) in &snapshots {
            assert_eq!(&entries_of(&**snapshot).unwrap(), wanted);
        }
        assert!(lazy.stat().unwrap().pinned_bytes == 0);
    });
}

#[test]
fn a_snapshot_outlives_compactions_and_says_what_it_keeps() {
    let path = path("snapshots");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    let mut twin = Twin::default();
    for number in 0..2_000_u16 {
        table.put(&number.to_le_bytes(), &[1; 50]).unwrap();
        twin.put(&number.to_le_bytes(), &[1; 50]);
    }
    let snapshot: Box<dyn Snapshot> = table.snapshot().unwrap();
    for number in 0..2_000_u16 {
        table.put(&number.to_le_bytes(), &[2; 50]).unwrap();
    }
    table.compact().unwrap();
    table.compact().unwrap();
    assert!(table.stat().unwrap().pinned_bytes > 2_000 * 50);
    assert_eq!(entries_of(&*snapshot).unwrap(), twin.entries());
    snapshot.get_with(&7_u16.to_le_bytes(), &mut |value| assert_eq!(value, [1; 50])).unwrap();
    drop(snapshot);
    assert_eq!(table.stat().unwrap().pinned_bytes, 0);
}

/// On a disk without shared memory, as a reader that may not write follows a log.
#[test]
fn a_reader_goes_on_where_a_writer_cut_off_what_it_had_read() {
    let disk = SimulatedDisk::new();
    let mut table = open_on(&disk, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    let before = disk.bytes("x.bwh").unwrap();
    table.put(b"b", b"1").unwrap();
    let reader = open_on(&disk, READ).unwrap();
    assert_eq!(reader.len().unwrap(), 2);
    std::mem::forget(table);
    // As if the writer's sync had failed, and the next writer had written another commit there.
    disk.file("x.bwh").set_len(before.len() as u64).unwrap();
    let mut next = open_on(&disk, WRITE).unwrap();
    next.begin().unwrap();
    next.put(b"c", b"1").unwrap();
    next.put(b"d", b"1").unwrap();
    next.commit().unwrap();
    std::mem::forget(next);
    assert_eq!(get(&reader, b"b"), None);
    assert_eq!(reader.len().unwrap(), 3);
}

#[test]
fn a_reader_of_a_file_that_is_gone_reads_on_and_finds_the_next_one() {
    let path = path("removed");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    drop(table);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(get(&reader, b"a").as_deref(), Some(&b"1"[..]));
    let mut table = HashTable::open(&path, CREATE).unwrap();
    table.put(b"b", b"2").unwrap();
    assert_eq!(get(&HashTable::open(&path, READ).unwrap(), b"b").as_deref(), Some(&b"2"[..]));
}

/// A table of ten entries, behind which a writer that was killed has left `len` bytes of a transaction.
fn torn(len: usize) -> Vec<u8> {
    let path = path("torn");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    (0..10_u8).for_each(|number| table.put(&[number], &[1; 300]).unwrap());
    table.sync().unwrap();
    table.begin().unwrap();
    for number in 0..len / 100_000 {
        table.put(&number.to_le_bytes(), &vec![0xf5; 100_000]).unwrap();
    }
    let torn = std::fs::read(&path).unwrap();
    assert!(torn.len() > len / 2);
    // As if the process had died.
    std::mem::forget(table);
    std::fs::remove_file(path).unwrap();
    torn
}

// Promise (hash-table-file): A reader finds no damage where there is none.
#[test]
fn a_reader_finds_no_damage_while_a_writer_cuts_a_torn_end_and_writes_there() {
    let heavy = std::env::var("BYTEWRIGHT_KILLS").is_ok();
    let torn = torn(if heavy { 60 << 20 } else { 14 << 20 });
    let path = path("cut_beside");
    for round in 0..if heavy { 60 } else { 8_u64 } {
        std::fs::write(&path, &torn).unwrap();
        let follower = HashTable::open(&path, OpenOptions { verify: false, ..READ }).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(round % 7));
                let mut table =
                    HashTable::open(&path, OpenOptions { verify: false, ..WRITE }).unwrap();
                for number in 0..200_u8 {
                    table.put(&[number], &[2; 3_000]).unwrap();
                    if number % 50 == 0 {
                        table.sync().unwrap();
                    }
                }
                std::mem::forget(table);
            });
            for _ in 0..12 {
                let options = OpenOptions { verify: false, ..READ };
                let reader = HashTable::open(&path, options);
                assert!(reader.is_ok(), "round {round}: {:?}", reader.err());
                assert!(follower.len().unwrap() >= 10);
            }
        });
        assert_eq!(HashTable::open(&path, READ).unwrap().len().unwrap(), 200);
        assert_eq!(follower.len().unwrap(), 200);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn many_values_that_a_reader_asks_for_are_those_of_one_commit() {
    let path = path("many_of_one_commit");
    let mut writer = HashTable::open(&path, CREATE).unwrap();
    writer.put(b"a", &[100]).unwrap();
    writer.put(b"b", &[0]).unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    for moved in 1..=50 {
        let mut found = Vec::new();
        let mut transfer = |place: usize, value: Option<&[u8]>| {
            found.push(value.unwrap()[0]);
            if place == 0 {
                writer.begin().unwrap();
                writer.put(b"a", &[100 - moved]).unwrap();
                writer.put(b"b", &[moved]).unwrap();
                writer.commit().unwrap();
            }
        };
        reader.get_many(&[b"a", b"b"], &mut transfer).unwrap();
        assert_eq!(found, [100 - (moved - 1), moved - 1]);
    }
}

#[test]
fn a_reader_that_is_asked_for_many_values_may_be_asked_for_more_meanwhile() {
    let path = path("many_and_more");
    let mut writer = HashTable::open(&path, CREATE).unwrap();
    writer.put(b"a", b"1").unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    let mut found = Vec::new();
    let mut ask = |place: usize, value: Option<&[u8]>| {
        found.push((place, value.map(<[u8]>::to_vec), get(&reader, b"a")));
    };
    reader.get_many(&[b"nothing", b"a"], &mut ask).unwrap();
    let one = Some(b"1".to_vec());
    assert_eq!(found, [(0, None, one.clone()), (1, one.clone(), one)]);
}

#[test]
fn a_file_that_is_opened_as_whatever_it_holds_gives_many_values_of_one_commit() {
    for ending in ["bwh", "bwt"] {
        let path = path("of_any_kind").with_extension(ending);
        let _ = std::fs::remove_file(&path);
        let mut writer = open(&path, None, CREATE).unwrap().into_table();
        writer.put(b"a", b"1").unwrap();
        writer.put(b"b", b"1").unwrap();
        writer.sync().unwrap();
        let (origin, mut found) = (Origin::open(&path, false).unwrap(), Vec::new());
        let mut change = |place: usize, value: Option<&[u8]>| {
            found.push(value.map(<[u8]>::to_vec));
            if place == 0 {
                writer.put(b"b", b"2").unwrap();
                writer.put(b"c", b"2").unwrap();
                writer.sync().unwrap();
            }
        };
        origin.get_many(&[b"a", b"b", b"c"], &mut change).unwrap();
        assert_eq!(found, [Some(b"1".to_vec()), Some(b"1".to_vec()), None], "{ending}");
    }
}
