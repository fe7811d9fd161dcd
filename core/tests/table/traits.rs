//! Goal: what every table can do by way of its trait does the same in each kind, and a cursor moves over
//! an ordered one as over a sorted list.
//! Method: the four kinds side by side, in memory and in a folder of its own; random moves of a cursor
//! beside a position in a list (a failure prints its seed for BYTEWRIGHT_SEED).

use std::collections::BTreeMap;
use std::ops::Bound;

use bytewright::ErrorKind;
use bytewright::table::file::{self, FileTable, OpenOptions, SyncMode, TableKind};
use bytewright::table::{
    Cursor, KEY_LEN_MAX, KeyRange, OrderedTable, PackedEntries, Scan, Selection, Snapshot, Table,
    VALUE_LEN_MAX, have_same_entries, memory,
};

use crate::folder::Folder;
use crate::generate::{Random, seeds};

fn open(folder: &Folder, kind: TableKind) -> FileTable {
    let options = OpenOptions { create: true, sync: SyncMode::Never, ..OpenOptions::default() };
    file::open(folder.path("table").with_extension(kind.extension()), Some(kind), options).unwrap()
}

/// A table of each kind.
fn tables(folder: &Folder) -> Vec<Box<dyn Table>> {
    vec![
        Box::new(memory::HashTable::new()),
        Box::new(memory::TreeTable::new()),
        open(folder, TableKind::Hashed).into_table(),
        open(folder, TableKind::Ordered).into_table(),
    ]
}

fn ordered_tables(folder: &Folder) -> Vec<Box<dyn OrderedTable>> {
    let tree = open(folder, TableKind::Ordered).into_ordered().unwrap();
    vec![Box::new(memory::TreeTable::new()), tree]
}

fn entries(snapshot: &dyn Snapshot) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut scan = snapshot.scan().unwrap();
    let mut entries = Vec::new();
    while let Some((key, value)) = scan.advance().unwrap() {
        entries.push((text(key), text(value)));
    }
    entries
}

fn packed(entries: &[(&str, &str)]) -> PackedEntries {
    let mut packed = PackedEntries::default();
    entries.iter().for_each(|(key, value)| packed.push(key.as_bytes(), value.as_bytes()));
    packed
}

fn fill(table: &mut dyn Table, entries: &[(&str, &str)]) {
    table.put_all(&mut packed(entries).scan()).unwrap();
}

#[test]
fn many_entries_are_put_together() {
    let given = packed(&[("a", "1"), ("", "empty"), ("b", ""), ("a", "2")]);
    assert_eq!(given.bytes_len(), 10);
    for mut table in tables(&Folder::new("put-all")) {
        table.put_all(&mut given.scan()).unwrap();
        assert_eq!(table.len().unwrap(), 3);
        assert_eq!(table.get(b"a").unwrap().unwrap(), b"2");
        assert_eq!(table.depth(), 0);
    }
}

#[test]
fn many_entries_are_what_putting_one_by_one_leaves() {
    seeds(20, |random| {
        // Some keys come again, at once and later.
        let entries: Vec<_> = (0..random.below(200))
            .map(|_| (random.below(60).to_string(), random.below(1000).to_string()))
            .collect();
        let mut given = PackedEntries::default();
        entries.iter().for_each(|(key, value)| given.push(key.as_bytes(), value.as_bytes()));
        let skipped = random.below(20);
        let expected: BTreeMap<_, _> = entries.into_iter().skip(skipped).collect();
        for mut table in tables(&Folder::new("put-many")) {
            let mut scan = given.scan();
            for _ in 0..skipped {
                scan.advance().unwrap();
            }
            table.put_all(&mut scan).unwrap();
            assert_eq!(table.len().unwrap(), expected.len() as u64);
            let found: BTreeMap<_, _> = contents(table.as_ref()).into_iter().collect();
            assert_eq!(found, expected);
        }
    });
}

#[test]
fn where_one_entry_cannot_be_put_none_is() {
    /// One entry, and then one that is too long.
    struct TooLong(u32, Vec<u8>);
    impl Scan for TooLong {
        fn advance(&mut self) -> bytewright::Result<Option<(&[u8], &[u8])>> {
            self.0 += 1;
            Ok(Some((b"key", if self.0 == 1 { b"short" } else { &self.1 })))
        }
    }
    // Nobody writes to these bytes, so that they take no memory.
    let too_long = vec![0; VALUE_LEN_MAX + 1];
    let mut entries = TooLong(0, too_long);
    for mut table in tables(&Folder::new("none")) {
        fill(table.as_mut(), &[("a", "1")]);
        entries.0 = 0;
        assert_eq!(table.put_all(&mut entries).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(contents(table.as_ref()), [("a".into(), "1".into())]);
        assert_eq!(table.depth(), 0);
    }
}

#[test]
fn entries_behind_one_that_cannot_be_put_are_found_once_they_are() {
    let mut given = PackedEntries::default();
    (0..50).for_each(|number: u32| given.push(&number.to_be_bytes(), b"value"));
    given.push(&vec![0; KEY_LEN_MAX + 1], b"");
    (50..150).for_each(|number: u32| given.push(&number.to_be_bytes(), b"value"));
    for mut table in tables(&Folder::new("rest")) {
        let mut scan = given.scan();
        assert_eq!(table.put_all(&mut scan).unwrap_err().kind(), ErrorKind::Limit);
        table.put_all(&mut scan).unwrap();
        assert_eq!(table.len().unwrap(), 100);
        let is_there = |number: u32| table.contains(&number.to_be_bytes()).unwrap();
        assert!((50..150).all(is_there) && !is_there(49));
    }
}

fn contents(table: &dyn Table) -> Vec<(String, String)> {
    entries(table.snapshot().unwrap().as_ref())
}

#[test]
fn the_first_entry_is_taken_out() {
    for mut table in tables(&Folder::new("shift")) {
        fill(table.as_mut(), &[("a", "1"), ("b", "2")]);
        let mut taken = Vec::new();
        let mut shift = || {
            let is_there =
                table.shift(&mut |key, value| taken.push([key, value].concat())).unwrap();
            assert_eq!(is_there, !table.is_empty().unwrap() || taken.len() == 2);
            is_there
        };
        assert!(shift() && shift());
        assert!(!table.shift(&mut |_, _| panic!("nothing is there")).unwrap());
        assert_eq!(taken, [b"a1", b"b2"]);
    }
}

/// Keys go up, so that the order of writing is also that of the keys.
#[test]
fn entries_leave_a_queue_in_their_order_whatever_else_leaves_it() {
    seeds(2, |random| {
        for mut table in tables(&Folder::new("queue")) {
            let mut twin: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
            let mut before = None;
            table.clear().unwrap();
            for number in 0..3_000_u32 {
                let key = number.to_be_bytes().to_vec();
                let value = vec![b'v'; random.below(300)];
                table.put(&key, &value).unwrap();
                twin.insert(key, value);
                let deleted = random.below(number as usize + 1) as u32;
                let key = deleted.to_be_bytes();
                assert_eq!(table.delete(&key).unwrap(), twin.remove(&key[..]).is_some());
                // The queue grows and shrinks.
                for _ in 0..random.below(if number % 1_000 < 600 { 1 } else { 4 }) {
                    let mut first = None;
                    let mut taken =
                        |key: &[u8], value: &[u8]| first = Some((key.to_vec(), value.to_vec()));
                    assert_eq!(table.shift(&mut taken).unwrap(), !twin.is_empty());
                    assert_eq!(first, twin.pop_first());
                }
                match before.take() {
                    Some(_) if random.once_in(20) => table.commit().unwrap(),
                    Some(old) if random.once_in(20) => {
                        table.abort().unwrap();
                        twin = old;
                    }
                    None if random.once_in(20) => {
                        table.begin().unwrap();
                        before = Some(twin.clone());
                    }
                    other => before = other,
                }
            }
        }
    });
}

#[test]
fn a_view_stays_whatever_becomes_of_its_entry() {
    for mut table in tables(&Folder::new("view")) {
        let long = vec![7; 100_000];
        table.put(b"long", &long).unwrap();
        table.put(b"short", b"bytes").unwrap();
        let views = [b"long".as_slice(), b"short"].map(|key| table.view(key).unwrap().unwrap());
        assert!(table.view(b"none").unwrap().is_none());
        table.put(b"short", b"other").unwrap();
        table.clear().unwrap();
        drop(table);
        assert_eq!(views[0].as_ref(), long);
        assert_eq!(views[1].as_ref(), b"bytes");
    }
}

#[test]
fn tables_of_all_kinds_are_compared_by_their_entries() {
    let folder = Folder::new("same");
    let mut tables = tables(&folder);
    for table in &mut tables {
        fill(table.as_mut(), &[("b", "2"), ("a", "1")]);
    }
    let snapshots: Vec<_> = tables.iter().map(|table| table.snapshot().unwrap()).collect();
    for a in &snapshots {
        assert!(snapshots.iter().all(|b| have_same_entries(a.as_ref(), b.as_ref()).unwrap()));
    }
    for different in [&[("a", "1")][..], &[("a", "1"), ("b", "3")], &[("a", "1"), ("c", "2")]] {
        let mut table = memory::HashTable::new();
        fill(&mut table, different);
        let other = table.snapshot().unwrap();
        for a in &snapshots {
            assert!(!have_same_entries(a.as_ref(), other.as_ref()).unwrap());
        }
    }
}

#[test]
fn tables_in_memory_wait_for_no_disk() {
    assert!(!memory::HashTable::new().waits_for_disk());
    assert!(!memory::TreeTable::new().waits_for_disk());
    let folder = Folder::new("waits");
    for kind in [TableKind::Hashed, TableKind::Ordered] {
        for (sync, waits) in [(SyncMode::Commit, true), (SyncMode::Never, false)] {
            let path = folder.path("waits").with_extension(kind.extension());
            let options = OpenOptions { create: true, sync, ..OpenOptions::default() };
            let mut table = file::open(&path, Some(kind), options).unwrap().into_table();
            assert_eq!(table.waits_for_disk(), waits, "{kind:?} {sync:?}");
            table.begin().unwrap();
            assert!(!table.waits_for_disk(), "in a transaction of {kind:?} {sync:?}");
            table.commit().unwrap();
            table.close().unwrap();
            let options = OpenOptions { read_only: true, sync, ..OpenOptions::default() };
            let mut table = file::open(&path, Some(kind), options).unwrap().into_table();
            assert!(!table.waits_for_disk() && !table.is_busy());
            table.close().unwrap();
        }
    }
}

#[test]
fn a_range_is_narrowed_and_never_widened() {
    let range = KeyRange::prefix(b"b");
    let narrowed = |from: &[u8], to: &[u8]| {
        let KeyRange { from, to, .. } = range.clone().starting_at(from).ending_with(to);
        (from, to)
    };
    let included = |key: &str| Bound::Included(key.as_bytes().to_vec());
    let excluded = |key: &str| Bound::Excluded(key.as_bytes().to_vec());
    assert_eq!(narrowed(b"a", b"z"), (included("b"), excluded("c")));
    assert_eq!(narrowed(b"ba", b"bz"), (included("ba"), included("bz")));
    assert_eq!(narrowed(b"b", b"c"), (included("b"), excluded("c")));
    assert!(range.clone().starting_at(b"c").is_empty());
    assert_eq!(KeyRange::ALL.starting_at(b"a").ending_with(b"b").from, included("a"));
}

#[test]
fn a_cursor_is_a_place_in_a_sorted_list() {
    let folder = Folder::new("cursor");
    seeds(20, |random| {
        for mut table in ordered_tables(&folder) {
            table.clear().unwrap();
            let mut keys: Vec<Vec<u8>> = (0..random.below(40)).map(|_| short_key(random)).collect();
            keys.sort();
            keys.dedup();
            for key in &keys {
                table.put(key, &[key.as_slice(), b"!"].concat()).unwrap();
            }
            let mut cursor = Cursor::new(table.ordered_snapshot().unwrap());
            table.clear().unwrap();
            walk(random, &mut cursor, &keys);
        }
    });
}

#[test]
fn a_range_is_deleted_whole_and_nothing_else_is() {
    let folder = Folder::new("delete-range");
    seeds(30, |random| {
        for mut table in ordered_tables(&folder) {
            table.clear().unwrap();
            let mut model = BTreeMap::new();
            for _ in 0..random.below(60) {
                let key = short_key(random);
                table.put(&key, &[key.as_slice(), b"!"].concat()).unwrap();
                model.insert(key, ());
            }
            let selection = random_selection(random);
            let mut selected = Vec::new();
            let mut scan = selection.scan(&*table.ordered_snapshot().unwrap()).unwrap();
            while let Some((key, _)) = scan.advance().unwrap() {
                selected.push(key.to_vec());
            }
            drop(scan);
            table.begin().unwrap();
            assert_eq!(selection.delete(table.as_mut()).unwrap(), selected.len() as u64);
            assert_eq!(table.len().unwrap(), (model.len() - selected.len()) as u64);
            table.abort().unwrap();
            assert_eq!(table.len().unwrap(), model.len() as u64, "{selection:?}");
            assert_eq!(selection.delete(table.as_mut()).unwrap(), selected.len() as u64);
            assert_eq!(table.depth(), 0);
            selected.iter().for_each(|key| assert!(model.remove(key).is_some()));
            let left = keys(&*table.ordered_snapshot().unwrap());
            assert_eq!(left, model.into_keys().collect::<Vec<_>>(), "{selection:?}");
        }
    });
}

fn random_selection(random: &mut Random) -> Selection {
    let mut range = match random.below(3) {
        0 => KeyRange::prefix(&short_key(random)),
        _ => KeyRange::ALL,
    };
    for narrow in [KeyRange::starting_at, KeyRange::starting_after] {
        if random.below(3) == 0 {
            range = narrow(range, &short_key(random));
        }
    }
    for narrow in [KeyRange::ending_with, KeyRange::ending_before] {
        if random.below(3) == 0 {
            range = narrow(range, &short_key(random));
        }
    }
    range.reverse = random.below(2) == 0;
    let limit = (random.below(3) == 0).then(|| random.below(8) as u64);
    Selection { range, limit }
}

fn keys(snapshot: &dyn Snapshot) -> Vec<Vec<u8>> {
    let mut scan = snapshot.scan().unwrap();
    let mut keys = Vec::new();
    while let Some((key, _)) = scan.advance().unwrap() {
        keys.push(key.to_vec());
    }
    keys
}

#[test]
fn a_long_range_is_deleted_in_pieces() {
    let folder = Folder::new("delete-long-range");
    for mut table in ordered_tables(&folder) {
        table.begin().unwrap();
        let long = [b'l'; 1000];
        for number in 0..10_000_u32 {
            let key = number.to_be_bytes();
            // Some pieces end by the number of their keys, some by their bytes.
            let key = if number < 5000 { key.to_vec() } else { [&key[..], &long].concat() };
            table.put(&key, b"value").unwrap();
        }
        table.commit().unwrap();
        let range = KeyRange::ALL.starting_at(&1_u32.to_be_bytes());
        let range = range.ending_before(&9999_u32.to_be_bytes());
        assert_eq!(table.delete_range(&range).unwrap(), 9998);
        assert_eq!(table.len().unwrap(), 2);
        assert_eq!(table.delete_range(&KeyRange::ALL.reversed()).unwrap(), 2);
        assert!(table.is_empty().unwrap());
    }
}

#[test]
fn a_hashed_table_refuses_to_delete_a_range() {
    let folder = Folder::new("delete-range-hashed");
    let mut table = open(&folder, TableKind::Hashed);
    let selection = Selection { range: KeyRange::ALL, limit: None };
    let error = table.delete_range(&selection).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.to_string().contains("expected an ordered table"), "{error}");
}

fn short_key(random: &mut Random) -> Vec<u8> {
    (0..random.below(3)).map(|_| [0, 1, 254, 255][random.below(4)]).collect()
}

/// Moves a cursor, and a number beside it: 0 before the first of `keys`, and so on.
fn walk(random: &mut Random, cursor: &mut Cursor, keys: &[Vec<u8>]) {
    let mut place = 0;
    for _ in 0..200 {
        let is_there = match random.below(10) {
            0 => {
                place = keys.len().min(1);
                // Of no entries there is nothing before the first and behind the last to tell apart.
                cursor.first()
            }
            1 => {
                place = keys.len();
                cursor.last()
            }
            2 => {
                let key = short_key(random);
                place = keys.partition_point(|other| *other < key) + 1;
                cursor.seek(&key)
            }
            3..=6 => {
                place = (place + 1).min(keys.len() + 1);
                cursor.next()
            }
            _ => {
                place = place.saturating_sub(1);
                cursor.prev()
            }
        };
        let expected = place.checked_sub(1).and_then(|at| keys.get(at));
        assert_eq!(is_there.unwrap(), expected.is_some());
        let value = expected.map(|key| [key.as_slice(), b"!"].concat());
        assert_eq!(cursor.entry().map(|(key, _)| key), expected.map(Vec::as_slice));
        assert_eq!(cursor.entry().map(|(_, value)| value), value.as_deref());
    }
}
