//! Goal: a backup holds the entries of one moment, whole, in a table of the same kind, whatever becomes of
//! the table meanwhile; where it fails, nothing of it is left, and what it was to replace is still there.

use std::fs;
use std::path::Path;

use bytewright::ErrorKind;
use bytewright::table::file::{OpenOptions, SyncMode, TableKind, open};
use bytewright::table::{Backup, BackupOptions, Table, hash_of_entries, have_same_entries, memory};

use crate::folder::Folder;

const KINDS: [TableKind; 2] = [TableKind::Hashed, TableKind::Ordered];
const CREATE: OpenOptions = OpenOptions {
    create: true,
    read_only: false,
    exclusive: false,
    verify: false,
    sync: SyncMode::Never,
    timeout: std::time::Duration::ZERO,
    values: None,
};
const REPLACE: BackupOptions = BackupOptions { replace: true };
const REFUSE: BackupOptions = BackupOptions { replace: false };

/// More than a step writes.
const MANY: u32 = 40_000;

/// A table of `kind` in a file.
fn source(folder: &Folder, kind: TableKind) -> Box<dyn Table> {
    let path = folder.path(&format!("source.{}", kind.extension()));
    open(path, Some(kind), CREATE).unwrap().into_table()
}

/// The files in it that are not of the source.
fn copies(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|name| !name.starts_with("source")).collect()
}

fn in_memory(kind: TableKind) -> Box<dyn Table> {
    match kind {
        TableKind::Hashed => Box::new(memory::HashTable::new()),
        TableKind::Ordered => Box::new(memory::TreeTable::new()),
    }
}

fn fill(table: &mut dyn Table, count: u32) {
    table.begin().unwrap();
    for number in 0..count {
        table.put(format!("{:08}", number * 7919 % count).as_bytes(), b"value").unwrap();
    }
    table.commit().unwrap();
}

fn back_up(
    table: &dyn Table,
    kind: TableKind,
    to: &Path,
    options: BackupOptions,
) -> bytewright::Result<u64> {
    Backup::of(table, kind)?.write(to, options)
}

/// Asserts that the file at `path` holds the entries of `table`, and is of `kind`.
fn assert_holds(path: &Path, kind: TableKind, table: &dyn Table) {
    let options = OpenOptions { read_only: true, verify: true, ..OpenOptions::default() };
    let file = open(path, Some(kind), options).unwrap();
    let (ours, theirs) = (table.snapshot().unwrap(), file.as_table().snapshot().unwrap());
    assert!(have_same_entries(ours.as_ref(), theirs.as_ref()).unwrap());
}

#[test]
fn a_backup_of_every_table_holds_its_entries() {
    let folder = Folder::new("every");
    for kind in KINDS {
        for (name, mut table) in [("memory", in_memory(kind)), ("file", source(&folder, kind))] {
            for count in [0, 3, MANY] {
                fill(table.as_mut(), count);
                let to = folder.path(&format!("{name}-{count}.copy"));
                assert_eq!(
                    back_up(table.as_ref(), kind, &to, REFUSE).unwrap(),
                    table.len().unwrap()
                );
                assert_holds(&to, kind, table.as_ref());
                fs::remove_file(&to).unwrap();
            }
        }
    }
}

#[test]
fn changes_made_while_it_is_written_are_not_in_a_backup() {
    let folder = Folder::new("meanwhile");
    for kind in KINDS {
        for (name, mut table) in [("memory", in_memory(kind)), ("file", source(&folder, kind))] {
            fill(table.as_mut(), MANY);
            let mut before = in_memory(kind);
            before.put_all(table.snapshot().unwrap().scan().unwrap().as_mut()).unwrap();
            let to = folder.path(name);
            let mut file = Backup::of(table.as_ref(), kind).unwrap().begin(&to, REFUSE).unwrap();
            let mut number = 0;
            while file.step().unwrap() {
                assert!(!to.exists());
                table.put(b"00000001", b"another value").unwrap();
                table.put(format!("new {number}").as_bytes(), b"").unwrap();
                table.delete(format!("{number:08}").as_bytes()).unwrap();
                number += 1;
            }
            assert!(number >= 2, "{number}");
            assert_eq!(file.written(), u64::from(MANY));
            assert_eq!(file.finish().unwrap(), u64::from(MANY));
            assert_holds(&to, kind, before.as_ref());
            fs::remove_file(&to).unwrap();
        }
    }
}

#[test]
fn a_backup_that_is_given_up_leaves_nothing() {
    let folder = Folder::new("given-up");
    for kind in KINDS {
        let mut table = in_memory(kind);
        fill(table.as_mut(), MANY);
        let to = folder.path("copy");
        let mut file = Backup::of(table.as_ref(), kind).unwrap().begin(&to, REFUSE).unwrap();
        assert!(file.step().unwrap());
        assert!(!to.exists());
        drop(file);
        assert_eq!(copies(&folder), [""; 0]);
    }
}

#[test]
fn a_file_is_replaced_only_where_that_is_asked_for_and_it_is_a_table() {
    let folder = Folder::new("replace");
    for (kind, other) in [(KINDS[0], KINDS[1]), (KINDS[1], KINDS[0]), (KINDS[0], KINDS[0])] {
        let mut table = in_memory(kind);
        fill(table.as_mut(), 10);
        let to = folder.path("copy");
        let mut old = open(&to, Some(other), CREATE).unwrap();
        fill(old.as_table_mut(), MANY);
        let failed = |options| back_up(table.as_ref(), kind, &to, options).unwrap_err();
        assert_eq!(failed(REFUSE).kind(), ErrorKind::Argument);
        assert_eq!(failed(REPLACE).kind(), ErrorKind::Lock, "while it is written");
        old.as_table_mut().close().unwrap();
        drop(old);
        assert_eq!(failed(REFUSE).kind(), ErrorKind::Argument);
        assert_eq!(back_up(table.as_ref(), kind, &to, REPLACE).unwrap(), 10);
        assert_holds(&to, kind, table.as_ref());
        let names = copies(&folder);
        assert_eq!(names, ["copy"]);
        let mut reopened = open(&to, Some(kind), OpenOptions::default()).unwrap();
        assert_eq!(reopened.as_table().get(b"00000003").unwrap().as_deref(), Some(&b"value"[..]));
        reopened.as_table_mut().close().unwrap();
        drop(reopened);
        for name in copies(&folder) {
            fs::remove_file(folder.path(&name)).unwrap();
        }
        fs::write(&to, "a text that is no table").unwrap();
        assert!(matches!(failed(REPLACE).kind(), ErrorKind::Format));
        assert_eq!(fs::read(&to).unwrap(), b"a text that is no table");
        fs::remove_file(&to).unwrap();
    }
}

#[test]
fn a_table_is_not_backed_up_onto_itself_or_in_a_transaction() {
    let folder = Folder::new("itself");
    for kind in KINDS {
        let mut table = source(&folder, kind);
        fill(table.as_mut(), 3);
        let own = folder.path(&format!("source.{}", kind.extension()));
        assert_eq!(
            back_up(table.as_ref(), kind, &own, REPLACE).unwrap_err().kind(),
            ErrorKind::Lock
        );
        table.begin().unwrap();
        let failed = back_up(table.as_ref(), kind, &folder.path("copy"), REFUSE).unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Argument);
        table.abort().unwrap();
        assert_eq!(table.len().unwrap(), 3);
        assert_eq!(copies(&folder), [""; 0]);
    }
}

#[test]
fn tables_with_the_same_entries_have_the_same_hash() {
    let hasher = std::hash::RandomState::new();
    let hash =
        |table: &dyn Table| hash_of_entries(table.snapshot().unwrap().as_ref(), &hasher).unwrap();
    let (mut one, mut two) = (in_memory(KINDS[0]), in_memory(KINDS[1]));
    assert_eq!(hash(one.as_ref()), hash(two.as_ref()));
    for (key, value) in [(b"b", b"1"), (b"a", b"2")] {
        one.put(key, value).unwrap();
    }
    for (key, value) in [(b"a", b"2"), (b"b", b"1")] {
        two.put(key, value).unwrap();
    }
    assert_eq!(hash(one.as_ref()), hash(two.as_ref()));
    two.put(b"b", b"2").unwrap();
    assert_ne!(hash(one.as_ref()), hash(two.as_ref()));
    // The key's bytes are not the value's.
    two.clear().unwrap();
    one.clear().unwrap();
    one.put(b"ab", b"").unwrap();
    two.put(b"a", b"b").unwrap();
    assert_ne!(hash(one.as_ref()), hash(two.as_ref()));
}
