//! Goal: the text of a dump is what other programs read, what they write is read, and text that is wrong somewhere says where,
//! and changes nothing.
//! Method: texts that db_dump, mdb_dump and sqlite3 wrote; random tables there and back; each text cut at each byte and with
//! each byte changed, which must end in an error or in entries, read whole or in pieces (BYTEWRIGHT_SEED).

use std::path::PathBuf;

use bytewright::ErrorKind;
use bytewright::bytes::{ByteStream, StreamOptions};
use bytewright::export::{DumpFile, OutputOptions};
use bytewright::table::file::{OpenOptions, TableKind, open};
use bytewright::table::{
    Dump, DumpDecoder, DumpFormat, DumpReader, Origin, PackedEntries, Scan, Table, ValueType,
    have_same_entries, load, memory,
};

use crate::folder::Folder;
use crate::generate::{Random, seeds};

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

const DB_DUMP: &str = "VERSION=3\nformat=bytevalue\ntype=hash\ndb_pagesize=4096\nHEADER=END\n 61\n 0062\n 63\n \nDATA=END\n";
const MDB_DUMP_PRINT: &str = "VERSION=3\nformat=print\ntype=btree\nmapsize=1048576\nmaxreaders=126\ndb_pagesize=4096\nHEADER=END\n a\n \\00b\n c\\5c\\\\\n  d\nDATA=END\n";
const SQLITE_DUMP: &str = "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE entries(key BLOB PRIMARY KEY, value BLOB);\nINSERT INTO entries VALUES(X'61',X'0062');\nINSERT INTO entries VALUES('t''x','a;\nb');\nCOMMIT;\n";

fn decoded(text: &[u8], piece: usize) -> bytewright::Result<Entries> {
    let (mut decoder, mut packed) = (DumpDecoder::new(ValueType::BYTES), PackedEntries::default());
    for piece in text.chunks(piece.max(1)) {
        decoder.push(piece, &mut packed)?;
    }
    decoder.finish()?;
    let (mut scan, mut entries) = (packed.scan(), Entries::new());
    while let Some((key, value)) = scan.advance()? {
        entries.push((key.to_vec(), value.to_vec()));
    }
    assert_eq!(decoder.count(), entries.len() as u64);
    Ok(entries)
}

fn owned(entries: &[(&[u8], &[u8])]) -> Entries {
    entries.iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
}

fn take(text: &mut Vec<u8>, piece: &mut Vec<u8>) -> bytewright::Result<()> {
    text.append(piece);
    Ok(())
}

fn text_of(table: &dyn Table, kind: TableKind, format: DumpFormat) -> Vec<u8> {
    let mut dump = Dump::of(table, kind, format).unwrap();
    let mut text = Vec::new();
    while dump.step(&mut |piece| take(&mut text, piece)).unwrap() {}
    assert_eq!(dump.written(), table.len().unwrap());
    text
}

#[test]
fn what_other_programs_write_is_read() {
    for piece in [1, 3, 4096] {
        assert_eq!(
            decoded(DB_DUMP.as_bytes(), piece).unwrap(),
            owned(&[(b"a", b"\0b"), (b"c", b"")])
        );
        assert_eq!(
            decoded(MDB_DUMP_PRINT.as_bytes(), piece).unwrap(),
            owned(&[(b"a", b"\0b"), (b"c\\\\", b" d")])
        );
        assert_eq!(
            decoded(SQLITE_DUMP.as_bytes(), piece).unwrap(),
            owned(&[(b"a", b"\0b"), (b"t'x", b"a;\nb")])
        );
        let other = "-- by hand\ncreate table if not exists \"A b\" (k, v); insert into `a B` values (x'', 'é'), ('b', ''); commit transaction;--";
        assert_eq!(
            decoded(other.as_bytes(), piece).unwrap(),
            owned(&[(b"", "é".as_bytes()), (b"b", b"")])
        );
    }
}

#[test]
fn a_table_is_written_as_other_programs_write_it() {
    let mut table = memory::TreeTable::new();
    table.put(b"a", b"\0b").unwrap();
    table.put(b"c", b"").unwrap();
    let text = |kind, format| String::from_utf8(text_of(&table, kind, format)).unwrap();
    let entries = " 61\n 0062\n 63\n \nDATA=END\n";
    let header = "VERSION=3\nformat=bytevalue\ntype=";
    assert_eq!(
        text(TableKind::Hashed, DumpFormat::Db),
        format!("{header}hash\nHEADER=END\n{entries}")
    );
    assert_eq!(
        text(TableKind::Ordered, DumpFormat::Db),
        format!("{header}btree\nHEADER=END\n{entries}")
    );
    assert_eq!(
        text(TableKind::Hashed, DumpFormat::Lmdb),
        format!("{header}btree\nmapsize=17825792\nHEADER=END\n{entries}")
    );
    assert_eq!(
        text(TableKind::Ordered, DumpFormat::Sql),
        "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE entries(key BLOB PRIMARY KEY, value BLOB);\n\
         INSERT INTO entries VALUES(X'61',X'0062');\nINSERT INTO entries VALUES(X'63',X'');\nCOMMIT;\n"
    );
}

fn random_bytes(random: &mut Random) -> Vec<u8> {
    let count = if random.below(20) == 0 { random.below(400_000) } else { random.below(12) };
    (0..count).map(|_| random.below(256) as u8).collect()
}

#[test]
fn what_is_dumped_is_loaded() {
    let folder = Folder::new("dump-there-and-back");
    seeds(10, |random| {
        for format in DumpFormat::ALL {
            let mut table = memory::TreeTable::new();
            for _ in 0..random.below(30) {
                table.put(&random_bytes(random), &random_bytes(random)).unwrap();
            }
            let path = folder.path("dump");
            let dump = Dump::of(&table, TableKind::Ordered, *format).unwrap();
            let count =
                DumpFile::create(&path, dump, &OutputOptions::default()).unwrap().write().unwrap();
            assert_eq!(count, table.len().unwrap());
            let mut again = memory::HashTable::new();
            again.put_all(&mut DumpReader::open(&path, ValueType::BYTES).unwrap()).unwrap();
            let (one, two) = (table.snapshot().unwrap(), again.snapshot().unwrap());
            assert!(have_same_entries(&*one, &*two).unwrap());
        }
    });
}

#[test]
fn more_entries_than_a_step_writes_are_dumped_and_loaded() {
    let mut table = memory::HashTable::new();
    for number in 0..20_000_u32 {
        table.put(&number.to_le_bytes(), b"value").unwrap();
    }
    for format in DumpFormat::ALL {
        let text = text_of(&table, TableKind::Hashed, *format);
        assert_eq!(decoded(&text, 1 << 16).unwrap().len(), 20_000);
    }
}

#[test]
fn text_that_is_cut_or_changed_is_an_error_or_entries_however_it_comes() {
    seeds(4, |random| {
        for text in [DB_DUMP, MDB_DUMP_PRINT, SQLITE_DUMP] {
            let text = text.as_bytes();
            // The last line end may be missing.
            for cut in 0..text.len() - 1 {
                let error = decoded(&text[..cut], 1 + random.below(9)).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{cut}: {error}");
            }
            // The first byte tells the form; of text in none of them, an error shows what there is.
            for place in 1..text.len() {
                let mut changed = text.to_vec();
                changed[place] = random.below(256) as u8;
                let (whole, pieces) = (decoded(&changed, 4096), decoded(&changed, 1));
                let told = |found: &bytewright::Result<Entries>| {
                    found.clone().map_err(|error| error.to_string())
                };
                assert_eq!(told(&whole), told(&pieces), "{place}");
            }
        }
    });
}

#[test]
fn an_error_says_the_line_and_what_was_expected() {
    let db =
        |entries: &str| format!("VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n{entries}");
    let sql = |inserts: &str| format!("BEGIN;\nCREATE TABLE t(k,v);\n{inserts}COMMIT;\n");
    for (text, told) in [
        ("VERSION=2\n".to_owned(), "byte 9: expected VERSION=3, found \"VERSION=2\" in line 1"),
        (
            "VERSION=3\nformat=bytevalue\ntype=recno\n".to_owned(),
            "expected type=btree or type=hash, found \"type=recno\" in line 3",
        ),
        (
            db(" 61\n 6g\nDATA=END\n"),
            "expected two hexadecimal digits for each byte, found \"g\" in line 6",
        ),
        (
            db(" 61\n 6\n"),
            "expected two hexadecimal digits for each byte, found the end of the line in line 6",
        ),
        (db(" 61\nDATA=END\n"), "expected a space before a value, found \"D\" in line 6"),
        (db("61\n"), "expected a space before a key, or DATA=END, found \"6\" in line 5"),
        (
            db(" 61\n 62\n 61\n 63\nDATA=END\n"),
            "expected one value for each key, found several for \"a\" in line 8",
        ),
        (db("DATA=END\nVERSION=3\n"), "expected one database"),
        (db(" 61\n 62\n"), "expected DATA=END, found the end of the input in line 7"),
        (sql("INSERT INTO t VALUES(1,2);\n"), "expected a key as X'..' or '..', found 1 in line 3"),
        (
            sql("INSERT INTO t VALUES(X'61',NULL);\n"),
            "expected a value as X'..' or '..', found NULL in line 3",
        ),
        (
            sql("INSERT INTO t VALUES(X'61',X'6');\n"),
            "expected two hexadecimal digits for each byte in X'..', found \"'\" in line 3",
        ),
        (
            sql("INSERT INTO u VALUES(X'61',X'62');\n"),
            "expected the table \"t\", found u in line 3",
        ),
        (
            sql("INSERT INTO t VALUES(X'61',X'62',X'63');\n"),
            "expected ) behind a key and a value, found \",\" in line 3",
        ),
        (
            sql("CREATE TABLE u(k,v);\n"),
            "expected INSERT or COMMIT for one table alone, found CREATE in line 3",
        ),
        (
            "{\"a\": 1}\n".to_owned(),
            "expected a dump of db_dump, mdb_dump or sqlite3, found text that begins with",
        ),
        ("\u{89}BWT\r\n".to_owned(), "expected a dump of db_dump, mdb_dump or sqlite3"),
    ] {
        let error = decoded(text.as_bytes(), 7).unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
}

#[test]
fn an_error_far_behind_leaves_the_table_as_it_was() {
    let folder = Folder::new("dump-error");
    let path = folder.path("dump");
    let mut text = b"VERSION=3\nformat=print\ntype=btree\nHEADER=END\n".to_vec();
    for number in 0..50_000 {
        text.extend_from_slice(format!(" key {number}\n value\n").as_bytes());
    }
    std::fs::write(&path, &text).unwrap();
    for kind in [TableKind::Hashed, TableKind::Ordered] {
        let options = OpenOptions { create: true, ..OpenOptions::default() };
        let name = folder.path(&format!("t.{}", kind.extension()));
        let mut table = open(name, Some(kind), options).unwrap().into_table();
        table.put(b"key 7", b"old").unwrap();
        let mut dump = DumpReader::open(&path, table.values()).unwrap();
        let error = table.put_all(&mut dump).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
        assert!(error.to_string().contains("in line 100005"), "{error}");
        assert_eq!((table.depth(), table.len().unwrap()), (0, 1));
        assert_eq!(table.get(b"key 7").unwrap().as_deref(), Some(&b"old"[..]));
    }
}

#[test]
fn values_of_a_table_of_integers_are_integers() {
    let text = b"VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n 61\n 0100000000000000\n 62\n 01\nDATA=END\n";
    let mut decoder = DumpDecoder::new(ValueType::INTEGER);
    let error = decoder.push(text, &mut PackedEntries::default()).unwrap_err().to_string();
    let told =
        "expected a value of 8 bytes for a table of integers, found one of 1 bytes in line 8";
    assert!(error.ends_with(told), "{error}");
}

#[test]
fn a_transaction_is_not_dumped() {
    let mut table = memory::TreeTable::new();
    table.begin().unwrap();
    let refused = Dump::of(&table, TableKind::Ordered, DumpFormat::Db).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Argument);
}

#[test]
fn files_of_tokyo_cabinet_are_dumped_where_each_key_has_one_value() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples/tokyo-cabinet");
    for (name, is_hash) in [("hash.tch", true), ("tree-deflate.tcb", false)] {
        let origin = Origin::open(folder.join(name), false).unwrap();
        let mut dump = Dump::of_origin(&origin, DumpFormat::Db).unwrap();
        let mut text = Vec::new();
        while dump.step(&mut |piece| take(&mut text, piece)).unwrap() {}
        let header = if is_hash { "type=hash\n" } else { "type=btree\n" };
        assert!(String::from_utf8_lossy(&text).contains(header));
        assert_eq!(decoded(&text, 4096).unwrap().len() as u64, origin.len().unwrap());
    }
    let origin = Origin::open(folder.join("tree-duplicates.tcb"), false).unwrap();
    let mut dump = Dump::of_origin(&origin, DumpFormat::Db).unwrap();
    let error = dump.step(&mut |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("expected one value for each key"), "{error}");
}

#[test]
fn a_new_table_is_made_whole_or_not_at_all() {
    let folder = Folder::new("dump-new");
    let stream = |text: &str| {
        std::fs::write(folder.path("dump"), text).unwrap();
        ByteStream::open(&folder.path("dump"), &StreamOptions::default()).unwrap()
    };
    let options = OpenOptions { create: true, ..OpenOptions::default() };
    for kind in [TableKind::Hashed, TableKind::Ordered] {
        let path = folder.path("new").with_extension(kind.extension());
        let cut = stream(&DB_DUMP[..DB_DUMP.len() - 9]);
        let error = load(&path, cut, options).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
        assert!(!path.exists());
        assert_eq!(load(&path, stream(DB_DUMP), options).unwrap(), 2);
        assert_eq!(load(&path, stream(SQLITE_DUMP), options).unwrap(), 2);
        let table = open(&path, Some(kind), OpenOptions::default()).unwrap().into_table();
        assert_eq!(table.len().unwrap(), 3);
        drop(table);
        let error = load(&path, stream("VERSION=2\n"), options).unwrap_err();
        assert!(error.to_string().contains("dump: byte 9: expected VERSION=3"), "{error}");
    }
}
