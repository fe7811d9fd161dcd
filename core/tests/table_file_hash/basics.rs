//! Behaviours one by one.

use bytewright::ErrorKind;
use bytewright::table::Table;
use bytewright::table::file::{HashTable, TableKind, open};
use std::os::unix::fs::PermissionsExt;

use crate::twin::entries;
use crate::{CREATE, LOG_START, READ, WRITE, get, kind, path};

#[test]
fn what_was_put_is_there_after_opening_again() {
    let path = path("reopen");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    table.put(b"b", b"2").unwrap();
    table.put(b"a", b"1").unwrap();
    table.put(b"c", b"").unwrap();
    assert!(table.delete(b"b").unwrap());
    assert!(!table.delete(b"b").unwrap());
    drop(table);
    let table = HashTable::open(&path, WRITE).unwrap();
    assert_eq!(table.len().unwrap(), 2);
    assert_eq!(get(&table, b"a").as_deref(), Some(&b"1"[..]));
    assert_eq!(get(&table, b"b"), None);
    let wanted = [(b"a".to_vec(), b"1".to_vec()), (b"c".to_vec(), Vec::new())];
    assert_eq!(entries(&table).unwrap(), wanted);
    assert_eq!(table.name(), path.to_str().unwrap());
}

#[test]
fn a_table_opened_to_read_leaves_the_file_as_it_is() {
    let path = path("read_only");
    HashTable::open(&path, CREATE).unwrap().put(b"a", b"1").unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut table = HashTable::open(&path, READ).unwrap();
    assert!(table.is_read_only());
    assert_eq!(get(&table, b"a").as_deref(), Some(&b"1"[..]));
    assert_eq!(kind(table.put(b"b", b"")), ErrorKind::Argument);
    assert_eq!(kind(table.begin()), ErrorKind::Argument);
    table.sync().unwrap();
    drop(table);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_closed_table_says_so_and_lets_others_write_while_its_snapshots_are_read() {
    let path = path("closed");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    let snapshot = table.snapshot().unwrap();
    table.close().unwrap();
    table.close().unwrap();
    assert_eq!(kind(table.get(b"a")), ErrorKind::Closed);
    assert_eq!(kind(table.put(b"a", b"2")), ErrorKind::Closed);
    assert_eq!(kind(table.snapshot()), ErrorKind::Closed);
    let mut next = HashTable::open(&path, WRITE).unwrap();
    next.put(b"a", b"2").unwrap();
    snapshot.get_with(b"a", &mut |value| assert_eq!(value, b"1")).unwrap();
}

#[test]
fn a_missing_an_empty_and_a_foreign_file_are_told_apart() {
    let path = path("foreign");
    let opened = |options| kind(HashTable::open(&path, options));
    assert!(matches!(opened(WRITE), ErrorKind::Io(Some(2))));
    assert!(matches!(opened(READ), ErrorKind::Io(Some(2))));
    std::fs::write(&path, b"").unwrap();
    assert_eq!((opened(WRITE), opened(READ)), (ErrorKind::Format, ErrorKind::Format));
    std::fs::write(&path, b"\xd4\xc3\xb2\xa1 is not a table").unwrap();
    let error = HashTable::open(&path, CREATE).unwrap_err();
    assert_eq!((error.kind(), error.file()), (ErrorKind::Format, path.to_str()));
    assert!(error.to_string().ends_with("found a packet capture"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap().len(), 19, "left alone");
    std::fs::write(&path, [0; 5_000]).unwrap();
    assert_eq!(opened(CREATE), ErrorKind::Format);
}

#[test]
fn the_file_tells_that_it_is_a_hashed_table_and_so_does_the_name_of_a_new_one() {
    let hashed = path("kind");
    let nameless = hashed.with_extension("data");
    let _ = std::fs::remove_file(&nameless);
    open(&hashed, None, CREATE).unwrap().into_table().put(b"a", b"1").unwrap();
    std::fs::copy(&hashed, &nameless).unwrap();
    assert!(open(&nameless, None, READ).unwrap().into_table().contains(b"a").unwrap());
    assert_eq!(kind(open(&nameless, Some(TableKind::Ordered), WRITE)), ErrorKind::Format);
    assert_eq!(kind(open(&hashed, None, WRITE).unwrap().into_ordered()), ErrorKind::Argument);
}

#[test]
fn another_format_is_refused_with_its_number() {
    let path = path("newer");
    drop(HashTable::open(&path, CREATE).unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    for header in bytes[..128].chunks_mut(64) {
        header[8] = 4;
        let check = crc32c::crc32c(&header[..60]).to_le_bytes();
        header[60..].copy_from_slice(&check);
    }
    std::fs::write(&path, &bytes).unwrap();
    let error = HashTable::open(&path, CREATE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
    assert!(error.to_string().contains("format 4, which another version"), "{error}");
}

#[test]
fn parts_of_a_transaction_are_taken_back_by_themselves() {
    let path = path("savepoints");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    table.put(b"kept", b"0").unwrap();
    table.begin().unwrap();
    table.put(b"outer", b"1").unwrap();
    table.begin().unwrap();
    table.put(b"outer", b"2").unwrap();
    table.clear().unwrap();
    table.put(b"inner", b"3").unwrap();
    assert_eq!((table.len().unwrap(), table.depth()), (1, 2));
    table.abort().unwrap();
    assert_eq!(get(&table, b"outer").as_deref(), Some(&b"1"[..]));
    assert_eq!((table.len().unwrap(), table.depth()), (2, 1));
    assert_eq!(kind(table.compact()), ErrorKind::Argument);
    table.commit().unwrap();
    assert_eq!(kind(table.commit()), ErrorKind::Argument);
    assert_eq!(kind(table.abort()), ErrorKind::Argument);
    drop(table);
    assert_eq!(HashTable::open(&path, READ).unwrap().len().unwrap(), 2);
}

#[test]
fn a_transaction_larger_than_memory_should_hold_is_written_in_parts_and_taken_back_in_parts() {
    let path = path("large");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    let value = |fill: usize| vec![fill as u8; 1 << 20];
    table.put(b"0", &value(200)).unwrap();
    table.begin().unwrap();
    for number in 0..10 {
        table.put(number.to_string().as_bytes(), &value(number)).unwrap();
    }
    table.begin().unwrap();
    for number in 10..20 {
        table.put(number.to_string().as_bytes(), &value(number)).unwrap();
    }
    table.put(b"3", b"changed").unwrap();
    assert!(table.stat().unwrap().memory_bytes < 8 << 20, "the rest is in the file");
    assert_eq!(table.snapshot().unwrap().len().unwrap(), 20);
    assert_eq!(reader.len().unwrap(), 1, "others see none of it");
    table.abort().unwrap();
    assert_eq!(table.len().unwrap(), 10);
    assert_eq!(get(&table, b"3"), Some(value(3)));
    table.put(b"last", b"1").unwrap();
    assert_eq!(reader.len().unwrap(), 1);
    table.commit().unwrap();
    for table in [&table, &reader, &HashTable::open(&path, READ).unwrap()] {
        assert_eq!(table.len().unwrap(), 11);
        assert_eq!(get(table, b"9"), Some(value(9)));
        assert_eq!(get(table, b"19"), None);
    }
    table.begin().unwrap();
    (0..20).for_each(|number: u8| table.put(&[number], &value(7)).unwrap());
    let end = table.stat().unwrap().file_bytes;
    table.abort().unwrap();
    assert!(table.stat().unwrap().file_bytes < end - (8 << 20), "the file is cut again");
    assert_eq!(table.len().unwrap(), 11);
}

#[test]
fn a_callback_may_look_something_up() {
    let mut table = HashTable::open(path("nested"), CREATE).unwrap();
    table.put(b"a", b"b").unwrap();
    table.put(b"b", b"c").unwrap();
    let mut seen = Vec::new();
    table
        .get_with(b"a", &mut |value| {
            assert!(table.get_with(value, &mut |next| seen = next.to_vec()).unwrap());
            assert_eq!(value, b"b");
        })
        .unwrap();
    assert_eq!(seen, b"c");
}

#[test]
fn compacting_gives_back_what_is_gone_and_keeps_the_order() {
    let path = path("compact");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    for round in 0..10_u8 {
        for number in 0..200_u16 {
            table.put(&number.to_le_bytes(), &[round; 116 - 16]).unwrap();
        }
    }
    table.put(&7_u16.to_le_bytes(), b"last").unwrap();
    let before = (entries(&table).unwrap(), table.stat().unwrap());
    table.compact().unwrap();
    let after = table.stat().unwrap();
    assert_eq!(entries(&table).unwrap(), before.0);
    assert!(after.live_bytes <= before.1.live_bytes, "distances are shorter");
    assert!(before.1.dead_bytes > 9 * after.live_bytes);
    assert!(after.dead_bytes < 100, "{after:?}");
    let bytes = LOG_START + after.index_bytes + after.live_bytes + after.dead_bytes;
    assert_eq!(after.file_bytes, bytes);
    drop(table);
    let table = HashTable::open(&path, WRITE).unwrap();
    assert_eq!(entries(&table).unwrap(), before.0);
}

#[test]
fn a_table_in_a_directory_that_must_not_be_written_is_read() {
    let folder = path("sealed").with_extension("d");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("x.bwh");
    let mut table = HashTable::open(&file, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    drop(table);
    // It keeps out everyone but root, for whom the test says less.
    let access = |mode| std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
    access(0o555);
    let reader = HashTable::open(&file, READ).unwrap();
    assert_eq!(get(&reader, b"a").as_deref(), Some(&b"1"[..]));
    drop(reader);
    access(0o755);
    std::fs::remove_dir_all(&folder).unwrap();
}
