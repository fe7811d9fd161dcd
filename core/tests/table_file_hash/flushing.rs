//! Commits that a thread makes last.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions, SyncMode};

use crate::{CREATE, path};

const INTERVAL: OpenOptions = OpenOptions { sync: SyncMode::Interval, ..CREATE };

/// Times that a slow machine may be late.
const TRIES: u32 = 50;

/// Longer than commits wait.
const PAUSE: Duration = Duration::from_millis(1300);

const FOLLOWS_SYNC: u8 = 2;

/// Returns the flags of the last frame that has `key`.
fn flags_of(path: &Path, key: &[u8]) -> u8 {
    let bytes = fs::read(path).unwrap();
    let at = bytes.windows(key.len()).rposition(|it| it == key).unwrap();
    let frame = bytes[..at].windows(3).rposition(|it| it == b"\xf5BW").unwrap();
    bytes[frame + 3]
}

/// Returns true if a commit was synced before the next one, which came later than commits wait.
fn is_synced_between(table: &mut HashTable, path: &Path) -> bool {
    (0..TRIES).any(|_| {
        table.put(b"the first of two", b"1").unwrap();
        sleep(PAUSE);
        table.put(b"the second of two", b"2").unwrap();
        flags_of(path, b"the second of two") & FOLLOWS_SYNC != 0
    })
}

#[test]
fn a_commit_lasts_a_second_later_although_no_other_follows() {
    let path = path("flushed");
    let mut table = HashTable::open(&path, INTERVAL).unwrap();
    assert!(is_synced_between(&mut table, &path));
}

#[test]
fn a_commit_of_a_compacted_table_lasts_a_second_later() {
    let path = path("flushed_compacted");
    let mut table = HashTable::open(&path, INTERVAL).unwrap();
    table.put(b"before", b"1").unwrap();
    table.compact().unwrap();
    assert!(is_synced_between(&mut table, &path));
}

#[test]
fn a_table_that_was_cut_is_told_at_a_change_and_closes() {
    let path = path("flushed_cut");
    let mut table = HashTable::open(&path, INTERVAL).unwrap();
    for number in 0..200_u8 {
        table.put(&[number], &[1; 3000]).unwrap();
    }
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    sleep(PAUSE);
    let error = table.put(b"later", b"1").unwrap_err();
    assert!(error.to_string().contains("cut"), "{error}");
    let _ = table.close();
}
