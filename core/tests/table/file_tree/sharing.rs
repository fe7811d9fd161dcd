//! Goal: what the processes share of a table counts only where it belongs to the file, and who may not write there reads whole
//! commits all the same.
//! Method: writers that are killed, copies that are made while one writes, files that are opened to be read only by their mode.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bytewright::files::{FileStorage, StorageMode};
use bytewright::table::file::{OpenOptions, SyncMode, TreeTable};
use bytewright::table::{KeyRange, OrderedTable, Table};
use bytewright::{ErrorKind, Result};

use super::processes::{Writer, numbers};
use super::{CREATE, READ, WRITE, all, path, rest};

/// Bytes of the pages that the processes share, and all before.
const SHARED_END: usize = 17 * 4096;

/// Opens the file as somebody does who may not write to it.
fn open_without_rights(path: &Path) -> Result<TreeTable> {
    let file = FileStorage::open_unlocked(path, StorageMode::Follow)?;
    TreeTable::open_storage(Box::new(file), "read", READ)
}

#[test]
fn commits_of_a_killed_writer_are_there_for_readers_and_for_the_next_writer() {
    let path = path("killed_unsynced");
    let mut writer = Writer::start(&path, "never");
    writer.hear("begun");
    let reader = TreeTable::open(&path, READ).unwrap();
    while writer.hear("lasts") < 20 {}
    let snapshot = reader.ordered_snapshot().unwrap();
    let seen = rest(snapshot.scan().unwrap()).unwrap();
    let said = writer.kill();
    let found = numbers(&reader);
    assert!(found.len() == 1 && found.iter().all(|number| *number >= said), "{found:?} {said}");
    drop(reader);
    let mut next = TreeTable::open(&path, WRITE).unwrap();
    assert_eq!(numbers(&next), found);
    for number in 0..200_u32 {
        next.put(&number.to_be_bytes(), &[1; 300]).unwrap();
    }
    assert_eq!(rest(snapshot.scan().unwrap()).unwrap(), seen, "what is read stays");
}

// Promise (tree-table-file): A copy that was torn is the last synced commit or damaged, never half
// a commit, also where it is written over its file.
#[test]
fn a_copy_that_was_made_while_a_table_was_written_is_never_half_a_commit() {
    let (path, copy) = (path("copied"), path("copied_back"));
    for pause in 0..20 {
        let _ = (fs::remove_file(&path), fs::remove_file(&copy));
        let mut writer = Writer::start(&path, "interval");
        while writer.hear("lasts") < 30 {}
        let mut torn = fs::read(&path).unwrap();
        // The beginning was copied first, the rest later.
        let began = writer.hear("lasts");
        while writer.hear("lasts") < began + pause * 10 {}
        let later = fs::read(&path).unwrap();
        torn.truncate(SHARED_END);
        torn.extend_from_slice(&later[SHARED_END..]);
        writer.kill();
        // As `cp` does it: the file stays the same one.
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(0).unwrap();
        file.write_all_at(&torn, 0).unwrap();
        fs::write(&copy, &torn).unwrap();
        for path in [&path, &copy] {
            match TreeTable::open(path, WRITE) {
                Ok(mut table) => {
                    assert!(numbers(&table).len() <= 1, "one commit");
                    table.put(&[9; 9], b"new").unwrap();
                    drop(table);
                    let verified = TreeTable::open(path, OpenOptions { verify: true, ..READ });
                    assert_eq!(
                        verified.unwrap().get(&[9; 9]).unwrap().as_deref(),
                        Some(&b"new"[..])
                    );
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
            }
        }
    }
}

// Promise (tree-table-file): Who may not write follows what is synced.
#[test]
fn who_may_not_write_to_the_file_follows_what_is_synced() {
    let path = path("without_rights");
    let mut writer = TreeTable::open(&path, CREATE).unwrap();
    writer.put(b"a", b"1").unwrap();
    let reader = open_without_rights(&path).unwrap();
    assert_eq!(reader.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
    for number in 0..300_u32 {
        writer.put(b"a", &number.to_be_bytes()).unwrap();
        assert_eq!(reader.get(b"a").unwrap().as_deref(), Some(&number.to_be_bytes()[..]));
    }
    for number in 0..3000_u32 {
        writer.begin().unwrap();
        writer.put(&number.to_be_bytes(), &vec![7; (number % 2000) as usize]).unwrap();
        writer.commit().unwrap();
        if number % 1000 == 0 {
            assert_eq!(all(&reader), all(&writer));
        }
    }
    let mut many = Vec::new();
    reader.get_many(&[b"a", b"b"], &mut |_, value| many.push(value.map(<[u8]>::to_vec))).unwrap();
    assert_eq!(many, [writer.get(b"a").unwrap(), None]);
}

// Promise (tree-table-file): also Who may not write follows what is synced
#[test]
fn a_scan_without_the_right_to_keep_its_pages_is_whole_or_says_that_they_were_written_over() {
    let path = path("overtaken");
    let mut writer = TreeTable::open(&path, CREATE).unwrap();
    let fill = |writer: &mut TreeTable, number: u8| {
        writer.begin().unwrap();
        for key in 0..2000_u32 {
            writer.put(&key.to_be_bytes(), &[number; 50]).unwrap();
        }
        writer.commit().unwrap();
    };
    fill(&mut writer, 0);
    let reader = open_without_rights(&path).unwrap();
    let mut scan = reader.ordered_snapshot().unwrap().scan_range(&KeyRange::ALL).unwrap();
    assert_eq!(scan.advance().unwrap().unwrap().1, [0; 50]);
    let mut outcome = Ok(1);
    for number in 1..20 {
        fill(&mut writer, number);
    }
    while let Ok(count) = outcome {
        outcome = match scan.advance() {
            Ok(Some((_, value))) => {
                assert_eq!(value, [0; 50], "of the tree that the scan began with");
                Ok(count + 1)
            }
            Ok(None) => break,
            Err(error) => Err(error),
        };
    }
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lock, "{error}");
    assert!(error.message().contains("read again"), "{error}");
    assert_eq!(all(&reader), all(&writer));
}

// Promise (tree-table-file): A snapshot of a commit that was never synced is read to its end.
#[test]
fn a_snapshot_of_a_commit_that_was_never_synced_is_whole_after_a_later_one_was() {
    let path = path("never_synced");
    let options = OpenOptions { sync: SyncMode::Never, ..CREATE };
    let mut writer = TreeTable::open(&path, options).unwrap();
    let reader = TreeTable::open(&path, READ).unwrap();
    let fill = |writer: &mut TreeTable, number: u8| {
        writer.begin().unwrap();
        for key in 0..500_u32 {
            let len = if key % 50 == 0 { 9000 } else { 50 };
            writer.put(&key.to_be_bytes(), &vec![number; len]).unwrap();
        }
        writer.commit().unwrap();
    };
    fill(&mut writer, 0);
    writer.sync().unwrap();
    fill(&mut writer, 1);
    // It reads no page before they were replaced, and those that replaced them were synced.
    let snapshot = reader.ordered_snapshot().unwrap();
    fill(&mut writer, 2);
    writer.sync().unwrap();
    let entries = rest(snapshot.scan().unwrap()).unwrap();
    assert!(
        entries.len() == 500
            && entries.iter().all(|(_, value)| value.iter().all(|byte| *byte == 1))
    );
}

// Promise (tree-table-file): Repairing makes the root that is whole count.
#[test]
fn repairing_makes_the_root_that_is_whole_count() {
    let path = path("repaired");
    let mut table = TreeTable::open(&path, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    drop(table);
    let whole = fs::read(&path).unwrap();
    for place in [512, 1024] {
        let mut bytes = whole.clone();
        bytes[place + 20] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(
            TreeTable::open(&path, READ).unwrap().get(b"a").unwrap().as_deref(),
            Some(&b"1"[..])
        );
        TreeTable::repair(&path, std::time::Duration::ZERO).unwrap();
        let repaired = fs::read(&path).unwrap();
        assert_eq!(repaired[512..576], repaired[1024..1088]);
        assert_eq!(all(&TreeTable::open(&path, READ).unwrap()).len(), 1);
    }
}

#[test]
fn a_closed_table_tells_nobody_who_used_it() {
    let path = path("settled");
    let mut table =
        TreeTable::open(&path, OpenOptions { sync: SyncMode::Interval, ..CREATE }).unwrap();
    let reader = TreeTable::open(&path, READ).unwrap();
    table.put(b"a", b"1").unwrap();
    assert!(fs::read(&path).unwrap()[4096..SHARED_END].iter().any(|byte| *byte != 0));
    table.close().unwrap();
    drop((table, reader));
    assert!(fs::read(&path).unwrap()[4096..SHARED_END].iter().all(|byte| *byte == 0));
}
