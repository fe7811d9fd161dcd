//! Goal: a file remembers what its values are, whatever becomes of it, and is opened for nothing else.
//!
//! Method: each kind of table in a file, with values of each name; what the files begin with is compared with what
//! `docs/hash-table-file.md` and `docs/tree-table-file.md` draw.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytewright::ErrorKind;
use bytewright::table::file::{self, OpenOptions, SyncMode, TableKind, open};
use bytewright::table::{
    Backup, BackupOptions, ConvertOptions, Origin, Table, ValueType, add_integer, convert,
    integer_of, integer_value, memory,
};

use crate::folder::Folder;

const KINDS: [TableKind; 2] = [TableKind::Hashed, TableKind::Ordered];

fn path_in(folder: &Folder, name: &str, kind: TableKind) -> PathBuf {
    folder.path(&format!("{name}.{}", kind.extension()))
}

fn create(values: Option<ValueType>) -> OpenOptions {
    OpenOptions { create: true, sync: SyncMode::Never, values, ..OpenOptions::default() }
}

/// A closed table with one entry.
fn make(path: &Path, kind: TableKind, values: ValueType) {
    let mut table = open(path, Some(kind), create(Some(values))).unwrap().into_table();
    table.put(b"a", &integer_value(-1)).unwrap();
    table.close().unwrap();
}

#[test]
fn a_file_is_opened_for_its_own_values_or_for_any_and_for_no_others() {
    let folder = Folder::new("opening");
    let names = ["string", "integer", "json", "twelve-bytes"];
    for (kind, name) in KINDS.into_iter().flat_map(|kind| names.map(|name| (kind, name))) {
        let (path, values) = (path_in(&folder, name, kind), ValueType::by_name(name).unwrap());
        make(&path, kind, values);
        for wanted in names.map(|name| ValueType::by_name(name).unwrap()) {
            for read_only in [false, true] {
                let options = OpenOptions { read_only, ..create(Some(wanted)) };
                match open(&path, None, options) {
                    Ok(table) => {
                        assert_eq!(wanted, values);
                        assert_eq!(table.as_table().values(), values);
                    }
                    Err(error) => {
                        assert_ne!(wanted, values, "{error}");
                        assert_eq!(error.kind(), ErrorKind::Format);
                        let advice = format!("open it with values: {name}");
                        assert!(error.to_string().contains(&advice), "{error}");
                        assert_eq!(error.file(), Some(&*path.to_string_lossy()));
                    }
                }
            }
        }
        assert_eq!(open(&path, None, create(None)).unwrap().as_table().values(), values);
    }
}

#[test]
fn a_new_file_has_bytes_where_nothing_is_said() {
    let folder = Folder::new("default");
    for kind in KINDS {
        let path = path_in(&folder, "new", kind);
        assert_eq!(open(&path, None, create(None)).unwrap().as_table().values(), ValueType::BYTES);
        open(&path, None, create(Some(ValueType::BYTES))).unwrap();
    }
}

#[test]
fn both_headers_of_a_file_name_its_format_and_its_values() {
    let folder = Folder::new("formats");
    for (kind, place, format) in [(TableKind::Hashed, 48, 2_u32), (TableKind::Ordered, 24, 2)] {
        for (name, written) in [("string", [0; 12]), ("integer", *b"integer\0\0\0\0\0")] {
            let path = path_in(&folder, name, kind);
            make(&path, kind, ValueType::by_name(name).unwrap());
            let bytes = fs::read(&path).unwrap();
            for header in [&bytes[..64], &bytes[64..128]] {
                assert_eq!(header[8..12], format.to_le_bytes(), "{kind:?} {name}");
                assert_eq!(header[place..place + 12], written, "{kind:?} {name}");
            }
        }
    }
}

#[test]
fn a_format_of_later_is_refused_by_its_number() {
    let folder = Folder::new("later");
    for kind in KINDS {
        let path = path_in(&folder, "later", kind);
        make(&path, kind, ValueType::INTEGER);
        let mut bytes = fs::read(&path).unwrap();
        for header in bytes[..128].chunks_exact_mut(64) {
            header[8..12].copy_from_slice(&9_u32.to_le_bytes());
            let check = crc32c::crc32c(&header[..60]).to_le_bytes();
            header[60..].copy_from_slice(&check);
        }
        fs::write(&path, bytes).unwrap();
        let error = open(&path, None, create(None)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Format, "{error}");
        assert!(error.to_string().contains("another version of Bytewright"), "{error}");
    }
}

#[test]
fn compacting_repairing_copying_and_converting_keep_what_the_values_are() {
    let folder = Folder::new("kept");
    let json = ValueType::by_name("json").unwrap();
    for kind in KINDS {
        let path = path_in(&folder, "first", kind);
        make(&path, kind, json);
        let mut table = open(&path, None, create(Some(json))).unwrap();
        table.as_table_mut().compact().unwrap();
        let copy = path_in(&folder, "copy", kind);
        let backup = Backup::of(table.as_table(), kind).unwrap();
        backup.write(&copy, BackupOptions::default()).unwrap();
        // A table that has the name is replaced, whatever its values are.
        let other = Backup::of(table.as_table(), kind).unwrap().with_values(ValueType::INTEGER);
        other.write(&copy, BackupOptions { replace: true }).unwrap();
        assert_eq!(
            open(&copy, None, create(None)).unwrap().as_table().values(),
            ValueType::INTEGER
        );
        table.as_table_mut().close().unwrap();
        drop(table);
        file::repair(&path, Duration::ZERO).unwrap();
        assert_eq!(open(&path, None, create(None)).unwrap().as_table().values(), json);
        for to in KINDS {
            let converted = path_in(&folder, &format!("from-{}", kind.extension()), to);
            let origin = Origin::open(&path, true).unwrap();
            assert_eq!(origin.values(), json);
            convert(&origin, &converted, ConvertOptions::default(), &mut |_| ()).unwrap();
            assert_eq!(open(&converted, None, create(None)).unwrap().as_table().values(), json);
        }
    }
}

#[test]
fn a_reader_follows_a_table_of_integers_through_a_compaction() {
    let folder = Folder::new("reader");
    for kind in KINDS {
        let path = path_in(&folder, "followed", kind);
        make(&path, kind, ValueType::INTEGER);
        let options = create(Some(ValueType::INTEGER));
        let reader = open(&path, None, OpenOptions { read_only: true, ..options }).unwrap();
        let mut writer = open(&path, None, options).unwrap().into_table();
        add_integer(writer.as_mut(), b"a", 43).unwrap();
        writer.sync().unwrap();
        if kind == TableKind::Hashed {
            writer.compact().unwrap();
        }
        let value = reader.as_table().get(b"a").unwrap().unwrap();
        assert_eq!(integer_of(&value).unwrap(), 42);
        assert_eq!(reader.as_table().values(), ValueType::INTEGER);
    }
}

#[test]
fn integers_are_added_up_to_64_bits_and_a_sum_beyond_changes_nothing() {
    let tables: [Box<dyn Table>; 2] =
        [Box::new(memory::HashTable::new()), Box::new(memory::TreeTable::new())];
    for mut table in tables {
        assert_eq!(add_integer(table.as_mut(), b"a", 1).unwrap(), 1);
        assert_eq!(add_integer(table.as_mut(), b"a", -3).unwrap(), -2);
        assert_eq!(add_integer(table.as_mut(), b"a", i64::MIN + 2).unwrap(), i64::MIN);
        let error = add_integer(table.as_mut(), b"a", -1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert_eq!(table.get(b"a").unwrap().unwrap(), i64::MIN.to_le_bytes());
        table.put(b"text", b"12").unwrap();
        assert_eq!(add_integer(table.as_mut(), b"text", 1).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(integer_of(&integer_value(i64::MAX)).unwrap(), i64::MAX);
    }
}
