//! `bytewright table`.

use std::path::Path;

use bytewright::bytes::{ByteStream, StreamOptions};
use bytewright::table::file::{OpenOptions, open};
use bytewright::table::{ValueType, integer_value};

use crate::run::Folder;

/// The path of a file that Tokyo Cabinet wrote.
fn tokyo_cabinet(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/tests/samples/tokyo-cabinet");
    format!("{folder}/{name}")
}

/// A folder with the table `t.bwt`, in which the keys a, b and c have the values 1, 2 and 3.
fn folder() -> Folder {
    let folder = Folder::new();
    for (key, value) in [("a", "1"), ("b", "2"), ("c", "3")] {
        let put = folder.run(&["table", "put", "t.bwt", key, value]);
        assert_eq!((put.code, put.stdout.as_str(), put.stderr.as_str()), (0, "", ""));
    }
    folder
}

/// Runs the command, which must succeed; returns what it prints.
fn printed(folder: &Folder, args: &[&str]) -> String {
    let outcome = folder.run(&[&["table"], args].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{args:?}");
    outcome.stdout
}

#[test]
fn what_was_put_is_got_until_it_is_deleted() {
    let folder = folder();
    assert_eq!(printed(&folder, &["get", "t.bwt", "c", "a"]), "3\n1\n");
    assert_eq!(printed(&folder, &["put", "t.bwt", "a", "-7"]), "");
    assert_eq!(
        printed(&folder, &["get", "t.bwt", "a", "--json"]),
        "{\"key\":\"a\",\"value\":\"-7\"}\n"
    );
    assert_eq!(printed(&folder, &["delete", "t.bwt", "a", "c"]), "");
    assert_eq!(printed(&folder, &["scan", "t.bwt"]), "b\t2\n");
}

#[test]
fn a_range_is_deleted_at_once_and_counted() {
    let folder = folder();
    let delete = |range: &[&str]| {
        printed(&folder, &[&["put", "t.bwt", "bb", "4"][..]].concat());
        let told = printed(&folder, &[&["delete", "t.bwt"], range].concat());
        (told, printed(&folder, &["scan", "t.bwt", "--keys"]))
    };
    let told = |text: &str, left: &str| (text.to_owned(), left.to_owned());
    assert_eq!(delete(&["--prefix", "x"]), told("t.bwt: 0 entries deleted\n", "a\nb\nbb\nc\n"));
    assert_eq!(delete(&["--prefix", "b"]), told("t.bwt: 2 entries deleted\n", "a\nc\n"));
    assert_eq!(delete(&["--from", "bb", "--to", "c"]), told("t.bwt: 2 entries deleted\n", "a\n"));
    assert_eq!(delete(&["--from", ""]), told("t.bwt: 2 entries deleted\n", ""));
    for args in [&[][..], &["a", "--prefix", "a"], &["--prefix", "a", "--to", "b"]] {
        assert_eq!(folder.run(&[&["table", "delete", "t.bwt"], args].concat()).code, 2, "{args:?}");
    }
    printed(&folder, &["put", "t.bwh", "a", "1"]);
    let hashed = folder.run(&["table", "delete", "t.bwh", "--prefix", "a"]);
    assert_eq!(hashed.code, 2);
    assert!(hashed.stderr.contains("expected an ordered table"), "{}", hashed.stderr);
    assert_eq!(printed(&folder, &["get", "t.bwh", "a"]), "1\n");
}

#[test]
fn a_table_is_dumped_and_loaded_through_files_and_pipes() {
    let folder = folder();
    let text = "VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n 61\n 31\n 62\n 32\n 63\n 33\nDATA=END\n";
    assert_eq!(printed(&folder, &["dump", "t.bwt"]), text);
    assert_eq!(printed(&folder, &["dump", "t.bwt", "--format", "db", "-o", "-"]), text);
    for format in ["db", "lmdb", "sql"] {
        let told = printed(&folder, &["dump", "t.bwt", "--format", format, "-o", "dump"]);
        assert_eq!(told, "dump: 3 entries\n");
        for new in [format!("{format}.bwh"), format!("{format}.bwt")] {
            let told = printed(&folder, &["load", &new, "dump"]);
            assert_eq!(told, format!("{new}: 3 entries loaded\n"));
            assert_eq!(printed(&folder, &["scan", &new]), "a\t1\nb\t2\nc\t3\n");
        }
    }
    printed(&folder, &["put", "db.bwt", "a", "old"]);
    printed(&folder, &["put", "db.bwt", "d", "4"]);
    let loaded = folder.run_with_input(&["table", "load", "db.bwt"], text.as_bytes());
    assert_eq!(loaded.stdout_of_success(), "db.bwt: 3 entries loaded\n");
    assert_eq!(printed(&folder, &["scan", "db.bwt"]), "a\t1\nb\t2\nc\t3\nd\t4\n");
    let old = printed(&folder, &["dump", &tokyo_cabinet("hash.tch"), "-o", "dump"]);
    printed(&folder, &["load", "old.bwt", "dump"]);
    let entries = printed(&folder, &["scan", "old.bwt", "--keys"]).lines().count();
    assert_eq!(old, format!("dump: {entries} entries\n"));
}

#[test]
fn changes_are_printed_from_a_position_on() {
    let folder = folder();
    printed(&folder, &["put", "t.bwh", "a", "1"]);
    printed(&folder, &["put", "t.bwh", "b", "2"]);
    let all = printed(&folder, &["changes", "t.bwh"]);
    let (all, position) = all.trim_end().rsplit_once('\n').unwrap();
    let entries = "{\"change\":\"put\",\"key\":\"a\",\"value\":\"1\"}\n\
                   {\"change\":\"put\",\"key\":\"b\",\"value\":\"2\"}";
    assert_eq!(all, format!("{{\"change\":\"clear\"}}\n{entries}"));
    let position = position.trim_start_matches("{\"position\":\"").trim_end_matches("\"}");
    printed(&folder, &["delete", "t.bwh", "a"]);
    let since = printed(&folder, &["changes", "t.bwh", "--since", position]);
    assert!(since.starts_with("{\"change\":\"delete\",\"key\":\"a\"}\n{\"position\":"), "{since}");
    assert_eq!(since.lines().count(), 2);
    let ordered = folder.run(&["table", "changes", "t.bwt"]);
    assert_eq!((ordered.code, ordered.stdout.as_str()), (2, ""));
    assert!(ordered.stderr.contains("t.bwt: expected a HashTable in a file"), "{}", ordered.stderr);
    let wrong = folder.run(&["table", "changes", "t.bwh", "--since", "x"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("expected a position"), "{}", wrong.stderr);
}

#[test]
fn a_dump_that_is_wrong_somewhere_says_where_and_changes_nothing() {
    let folder = folder();
    folder.write("dump", b"VERSION=3\nformat=print\ntype=btree\nHEADER=END\n a\n 9\n b\n \\zz\n");
    for table in ["t.bwt", "new.bwt", "new.bwh"] {
        let load = folder.run(&["table", "load", table, "dump"]);
        assert_eq!((load.code, load.stdout.as_str()), (1, ""));
        let told = "bytewright: dump: byte 56: expected two hexadecimal digits for each byte, found \"z\" in line 8\n";
        assert_eq!(load.stderr, told);
    }
    assert_eq!(printed(&folder, &["scan", "t.bwt"]), "a\t1\nb\t2\nc\t3\n");
    assert_eq!(folder.names(), ["dump", "t.bwt"]);
    let missing = folder.run(&["table", "load", "new.bwt", "none"]);
    assert_eq!((missing.code, missing.stderr.contains("none: cannot open")), (1, true));
    let own = folder.run(&["table", "load", "t.bwt", "t.bwt"]);
    assert_eq!((own.code, own.stderr.contains("found an ordered table")), (1, true));
}

#[test]
fn a_dump_replaces_text_and_no_table_but_with_force_and_never_its_own() {
    let folder = folder();
    printed(&folder, &["put", "other.bwh", "a", "1"]);
    folder.write("text", b"text");
    printed(&folder, &["dump", "t.bwt", "-o", "text"]);
    let own = "expected an output beside the inputs";
    for (output, force, words) in [
        ("t.bwt", &[][..], own),
        ("./t.bwt", &["--force"], own),
        ("other.bwh", &[], "found a hashed table"),
    ] {
        let args = [&["table", "dump", "t.bwt", "-o", output], force].concat();
        let refused = folder.run(&args);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    printed(&folder, &["dump", "t.bwt", "-o", "other.bwh", "--force"]);
    assert!(folder.read("other.bwh").starts_with(b"VERSION=3"));
    assert_eq!(folder.run(&["table", "dump", "t.bwt", "--format", "csv"]).code, 2);
}

#[test]
fn a_key_that_is_not_there_fails_after_those_that_are() {
    let folder = folder();
    let missing = "bytewright: t.bwt: no entry for the key \"x\"\n";
    let get = folder.run(&["table", "get", "t.bwt", "a", "x", "b"]);
    assert_eq!((get.code, get.stdout.as_str(), get.stderr.as_str()), (1, "1\n2\n", missing));
    let get = folder.run(&["table", "get", "t.bwt", "x", "--json"]);
    assert_eq!((get.code, get.stdout.as_str()), (1, "{\"key\":\"x\",\"value\":null}\n"));
    let delete = folder.run(&["table", "delete", "t.bwt", "a", "x"]);
    assert_eq!((delete.code, delete.stdout.as_str(), delete.stderr.as_str()), (1, "", missing));
    assert_eq!(printed(&folder, &["scan", "t.bwt", "--keys"]), "b\nc\n");
}

#[test]
fn a_table_that_is_not_there_is_made_by_put_alone() {
    let folder = Folder::new();
    let no_file: &[&[&str]] = &[
        &["get", "t.bwt", "a"],
        &["delete", "t.bwt", "a"],
        &["scan", "t.bwt"],
        &["stat", "t.bwt"],
    ];
    for args in no_file {
        let outcome = folder.run(&[&["table"], *args].concat());
        assert_eq!(outcome.code, 1, "{args:?}");
        assert!(outcome.stderr.contains("t.bwt: cannot open"), "{}", outcome.stderr);
    }
    let put = folder.run(&["table", "put", "t.db", "a", "1"]);
    assert_eq!(put.code, 2);
    assert!(
        put.stderr.contains("expected the name of a new table to end in .bwh"),
        "{}",
        put.stderr
    );
    folder.write("other.bwt", b"something else, not a table");
    let get = folder.run(&["table", "get", "other.bwt", "a"]);
    assert_eq!(get.code, 1);
    assert!(get.stderr.contains("expected a table file of Bytewright"), "{}", get.stderr);
}

#[test]
fn bytes_that_are_no_text_come_through() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..=255).collect();
    let put = folder.run_with_input(&["table", "put", "t.bwt", "bytes", "-"], &bytes);
    assert_eq!((put.code, put.stderr.as_str()), (0, ""));
    let raw = folder.command(&["table", "get", "t.bwt", "bytes", "--raw"]).output().unwrap();
    assert_eq!(raw.stdout, bytes);
    let line = folder.command(&["table", "get", "t.bwt", "bytes"]).output().unwrap();
    assert_eq!(line.stdout, [&bytes[..], b"\n"].concat());
    let json = printed(&folder, &["scan", "t.bwt", "--json"]);
    assert!(json.starts_with("{\"key\":\"bytes\",\"value\":{\"base64\":\"AAECAwQF"), "{json}");
    let people = printed(&folder, &["scan", "t.bwt"]);
    assert!(people.starts_with("bytes\t\\x00\\x01"), "{people}");
    assert!(people.ends_with("\\xfe\\xff\n") && people.is_ascii(), "{people}");
}

#[test]
fn a_scan_takes_the_keys_that_it_is_asked_for() {
    let folder = Folder::new();
    for key in ["a", "ab", "abc", "b", "c,\"d"] {
        printed(&folder, &["put", "t.bwt", key, &format!("is {key}")]);
    }
    let cases: &[(&[&str], &str)] = &[
        (&["--from", "ab", "--to", "b"], "ab\nabc\nb\n"),
        (&["--from", "abd"], "b\nc,\"d\n"),
        (&["--to", "ab", "--reverse"], "ab\na\n"),
        (&["--prefix", "ab"], "ab\nabc\n"),
        (&["--prefix", "ab", "--reverse", "--limit", "1"], "abc\n"),
        (&["--limit", "0"], ""),
        (&["--from", "x"], ""),
        (&["--from", "b", "--to", "a"], ""),
    ];
    for (args, keys) in cases {
        let args = [&["scan", "t.bwt", "--keys"], *args].concat();
        assert_eq!(printed(&folder, &args), *keys, "{args:?}");
    }
    let csv = printed(&folder, &["scan", "t.bwt", "--csv", "--from", "b"]);
    assert_eq!(csv, "key,value\nb,is b\n\"c,\"\"d\",\"is c,\"\"d\"\n");
    let json = printed(&folder, &["scan", "t.bwt", "--json", "--keys", "--limit", "1"]);
    assert_eq!(json, "{\"key\":\"a\"}\n");
    let both = folder.run(&["table", "scan", "t.bwt", "--prefix", "a", "--from", "b"]);
    assert_eq!(both.code, 2);
}

#[test]
fn a_table_is_described_compacted_and_checked() {
    let folder = folder();
    let stat = printed(&folder, &["stat", "t.bwt", "--json"]);
    assert!(stat.starts_with("{\"file\":\"t.bwt\",\"kind\":\"ordered\",\"records\":3,"), "{stat}");
    let stat = printed(&folder, &["stat", "t.bwt"]);
    assert!(stat.contains("\n  records      3\n"), "{stat}");
    let before = folder.read("t.bwt").len();
    let compacted = printed(&folder, &["compact", "t.bwt"]);
    assert!(compacted.starts_with("t.bwt: ") && compacted.ends_with(" before\n"), "{compacted}");
    assert!(folder.read("t.bwt").len() <= before);
    assert_eq!(printed(&folder, &["check", "t.bwt"]), "t.bwt: ordered, 3 entries, whole\n");
    let json = printed(&folder, &["check", "t.bwt", "--json"]);
    let expected = "{\"file\":\"t.bwt\",\"kind\":\"ordered\",\"records\":3,\"damage\":null}\n";
    assert_eq!(json, expected);
}

#[test]
fn a_damaged_table_fails_its_check() {
    let folder = folder();
    let mut bytes = folder.read("t.bwt");
    // Behind the header.
    bytes[4096..].iter_mut().for_each(|byte| *byte ^= 0x55);
    folder.write("t.bwt", &bytes);
    let check = folder.run(&["table", "check", "t.bwt"]);
    assert_eq!(check.code, 1, "{}", check.stdout);
    assert!(check.stderr.contains("t.bwt: "), "{}", check.stderr);
}

#[test]
fn files_of_tokyo_cabinet_are_looked_into_as_they_are() {
    let folder = Folder::new();
    let tree = tokyo_cabinet("tree.tcb");
    assert_eq!(printed(&folder, &["get", &tree, "key1"]), "value 1 \n");
    assert_eq!(
        printed(&folder, &["scan", &tree, "--prefix", "key1", "--limit", "2", "--keys"]),
        "key1\nkey11\n"
    );
    let stat = printed(&folder, &["stat", &tree, "--json"]);
    let expected = "\"kind\":\"Tokyo Cabinet tree\",\"records\":51,\"file_bytes\":4684,\
                    \"byte_order\":\"big\",\"left_open\":false}\n";
    assert!(stat.ends_with(expected), "{stat}");
    let checked = printed(&folder, &["check", &tokyo_cabinet("hash.tch")]);
    assert!(checked.ends_with("hash.tch: Tokyo Cabinet hash, 51 entries, whole\n"), "{checked}");

    let put = folder.run(&["table", "put", &tree, "a", "1"]);
    assert_eq!(put.code, 1);
    assert!(put.stderr.contains("can be read and converted only"), "{}", put.stderr);
    let reverse = folder.run(&["table", "scan", &tree, "--reverse"]);
    assert_eq!(reverse.code, 2);
    assert!(
        reverse.stderr.contains("expected an ordered table to read in reverse"),
        "{}",
        reverse.stderr
    );
}

#[test]
fn files_of_tokyo_cabinet_become_tables_with_the_same_entries() {
    let folder = Folder::new();
    for (number, old) in
        ["hash.tch", "hash-large-deflate.tch", "tree.tcb", "tree-deflate.tcb"].iter().enumerate()
    {
        let (old, new) = (tokyo_cabinet(old), format!("new{number}.bwt"));
        assert_eq!(printed(&folder, &["convert", &old, &new]), format!("{new}: 51 entries\n"));
        let mut expected: Vec<_> =
            printed(&folder, &["scan", &old, "--json"]).lines().map(str::to_owned).collect();
        let mut found: Vec<_> =
            printed(&folder, &["scan", &new, "--json"]).lines().map(str::to_owned).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{old}");
    }
    assert_eq!(
        printed(&folder, &["convert", "new0.bwt", "again.bwt", "--json"]),
        "{\"file\":\"again.bwt\",\"records\":51,\"left_out\":0,\"damage\":null}\n"
    );
}

/// Makes sure that a conversion fails with this exit code and these words, and leaves no file.
fn refused(folder: &Folder, args: &[&str], code: i32, words: &str) {
    let outcome = folder.run(&[&["table", "convert"], args].concat());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{args:?}");
    assert!(outcome.stderr.contains(words), "{args:?}: {}", outcome.stderr);
    assert_eq!(folder.names(), [] as [String; 0], "{args:?}");
}

#[test]
fn a_conversion_that_fails_leaves_no_file() {
    let folder = Folder::new();
    let tree = tokyo_cabinet("tree.tcb");
    let duplicates = tokyo_cabinet("tree-duplicates.tcb");
    refused(&folder, &[&tree, "new.db"], 2, "expected the name of a new table to end in");
    refused(&folder, &["no-such.tcb", "new.bwt"], 1, "no-such.tcb: cannot open");
    refused(&folder, &[&duplicates, "new.bwt"], 1, "several for \"key1\"");
    refused(&folder, &[&tokyo_cabinet("hash-bzip2.tch"), "new.bwt"], 1, "found bzip2");
    refused(
        &folder,
        &[&tokyo_cabinet("tree-left-open.tcb"), "new.bwt"],
        1,
        "left open by its writer",
    );
}

#[test]
fn no_file_is_overwritten_by_a_conversion() {
    let folder = Folder::new();
    folder.write("new.bwt", b"something");
    let outcome = folder.run(&["table", "convert", &tokyo_cabinet("tree.tcb"), "new.bwt"]);
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("new.bwt: expected the name of a new file"),
        "{}",
        outcome.stderr
    );
    assert_eq!(folder.read("new.bwt"), b"something");
    assert_eq!(folder.names(), ["new.bwt"]);
}

#[test]
fn of_several_values_the_one_that_is_asked_for_is_kept() {
    let folder = Folder::new();
    let old = tokyo_cabinet("tree-duplicates.tcb");
    for (which, value) in [("first", "value 0 of 3\n"), ("last", "value 3 of 3\n")] {
        let new = format!("{which}.bwt");
        let line = printed(&folder, &["convert", &old, &new, "--duplicates", which]);
        assert_eq!(line, format!("{new}: 20 entries, 30 further values of their keys left out\n"));
        assert_eq!(printed(&folder, &["get", &new, "key3"]), value);
    }
}

#[test]
fn what_can_be_read_of_a_damaged_file_is_kept_when_it_is_asked_for() {
    let folder = Folder::new();
    let mut bytes = std::fs::read(tokyo_cabinet("hash.tch")).unwrap();
    bytes.truncate(3000);
    folder.write("old.tch", &bytes);
    let plain = folder.run(&["table", "convert", "old.tch", "new.bwt"]);
    assert_eq!((plain.code, plain.stdout.as_str()), (1, ""));
    assert!(plain.stderr.contains("old.tch: byte 2"), "{}", plain.stderr);
    assert_eq!(folder.names(), ["old.tch"]);
    let salvaged = folder.run(&["table", "convert", "old.tch", "new.bwt", "--salvage"]);
    assert_eq!((salvaged.code, salvaged.stderr), (1, plain.stderr));
    let entries = printed(&folder, &["scan", "new.bwt", "--keys"]).lines().count();
    assert_eq!(salvaged.stdout, format!("new.bwt: {entries} entries\n"));
    assert!(entries > 10);
}

#[test]
fn a_hashed_table_is_used_checked_and_repaired_like_an_ordered_one() {
    let folder = Folder::new();
    for (key, value) in [("c", "3"), ("a", "1"), ("b", "2"), ("c", "4")] {
        printed(&folder, &["put", "t.bwh", key, value]);
    }
    assert_eq!(printed(&folder, &["scan", "t.bwh"]), "a\t1\nb\t2\nc\t4\n");
    assert_eq!(printed(&folder, &["delete", "t.bwh", "a"]), "");
    printed(&folder, &["compact", "t.bwh"]);
    assert_eq!(printed(&folder, &["get", "t.bwh", "b", "c"]), "2\n4\n");
    printed(&folder, &["put", "t.bwh", "z", "last"]);
    assert!(printed(&folder, &["check", "t.bwh"]).ends_with("3 entries, whole\n"));

    let mut bytes = folder.read("t.bwh");
    let at = bytes.windows(4).position(|window| window == b"last").unwrap() - 30;
    bytes[at] ^= 0xff;
    folder.write("t.bwh", &bytes);
    let check = folder.run(&["table", "check", "t.bwh"]);
    assert_eq!(check.code, 1);
    let repaired = folder.run(&["table", "check", "t.bwh", "--repair"]);
    assert_eq!(repaired.code, 0, "{}", repaired.stderr);
    assert!(repaired.stderr.contains("bytes could not be saved"), "{}", repaired.stderr);
    assert!(printed(&folder, &["check", "t.bwh"]).ends_with("whole\n"));
}

#[test]
fn a_copy_of_an_open_ordered_table_is_that_of_its_last_sync() {
    let folder = Folder::new();
    let options = OpenOptions { create: true, ..OpenOptions::default() };
    let mut table = open(folder.path("t.bwt"), None, options).unwrap();
    table.as_table_mut().put(b"a", b"1").unwrap();
    table.as_table_mut().sync().unwrap();
    table.as_table_mut().put(b"b", b"2").unwrap();
    assert_eq!(printed(&folder, &["scan", "t.bwt"]), "a\t1\nb\t2\n");
    std::fs::copy(folder.path("t.bwt"), folder.path("copy.bwt")).unwrap();
    assert!(printed(&folder, &["check", "copy.bwt"]).ends_with("1 entries, whole\n"));
    assert_eq!(printed(&folder, &["scan", "copy.bwt"]), "a\t1\n");
    assert_eq!(printed(&folder, &["put", "copy.bwt", "b", "3"]), "");
    assert_eq!(printed(&folder, &["scan", "copy.bwt"]), "a\t1\nb\t3\n");
}

#[test]
fn a_tokyo_cabinet_hash_becomes_a_hashed_table() {
    let folder = Folder::new();
    let old = tokyo_cabinet("hash.tch");
    printed(&folder, &["convert", &old, "new.bwh"]);
    let mut ours: Vec<String> =
        printed(&folder, &["scan", "new.bwh"]).lines().map(String::from).collect();
    let mut theirs: Vec<String> =
        printed(&folder, &["scan", &old]).lines().map(String::from).collect();
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
}

#[test]
fn a_table_that_somebody_crafted_is_told_of_in_one_line() {
    let folder = Folder::new();
    // Somebody crafted it: its pages name places outside of them, and match their checks.
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/samples");
    let sample = samples.join("tree_table_crafted.bwt.gz");
    let mut stream = ByteStream::open(&sample, &StreamOptions::default()).unwrap();
    let bytes = stream.fill(2 << 20).unwrap().to_vec();
    folder.write("t.bwt", &bytes);
    let outcome = folder.run(&["table", "scan", "t.bwt"]);
    assert_eq!(outcome.code, 1);
    let expected = "expected a page of the tree, found fields that do not fit together";
    assert!(outcome.stderr.starts_with("bytewright: t.bwt: byte "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
}

#[test]
fn a_backup_is_a_table_of_the_same_kind_and_replaces_one_only_if_asked_to() {
    let folder = folder();
    assert_eq!(printed(&folder, &["backup", "t.bwt", "copy.bwt"]), "copy.bwt: 3 entries\n");
    assert_eq!(printed(&folder, &["scan", "copy.bwt"]), "a\t1\nb\t2\nc\t3\n");
    assert_eq!(printed(&folder, &["delete", "t.bwt", "a"]), "");
    let refused = folder.run(&["table", "backup", "t.bwt", "copy.bwt"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(
        refused.stderr.contains("copy.bwt: expected the name of a new file"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        printed(&folder, &["backup", "t.bwt", "copy.bwt", "--replace"]),
        "copy.bwt: 2 entries\n"
    );
    assert_eq!(printed(&folder, &["scan", "copy.bwt"]), "b\t2\nc\t3\n");
    let missing = folder.run(&["table", "backup", "missing.bwt", "new.bwt"]);
    assert_eq!(missing.code, 1);
}

#[test]
fn integers_are_printed_in_digits_and_put_from_them() {
    for file in ["n.bwt", "n.bwh"] {
        let folder = Folder::new();
        let options = OpenOptions {
            create: true,
            values: Some(ValueType::INTEGER),
            ..OpenOptions::default()
        };
        let mut table = open(folder.path(file), None, options).unwrap().into_table();
        table.put(b"a", &integer_value(-7)).unwrap();
        table.close().unwrap();
        drop(table);
        assert_eq!(printed(&folder, &["put", file, "b", "12"]), "");
        assert_eq!(printed(&folder, &["get", file, "a", "b"]), "-7\n12\n");
        assert_eq!(printed(&folder, &["get", file, "b", "--raw"]), "\u{c}\0\0\0\0\0\0\0");
        assert_eq!(
            printed(&folder, &["get", file, "a", "--json"]),
            "{\"key\":\"a\",\"value\":-7}\n"
        );
        assert_eq!(printed(&folder, &["scan", file]), "a\t-7\nb\t12\n");
        assert_eq!(printed(&folder, &["scan", file, "--csv"]), "key,value\na,-7\nb,12\n");
        let stat = printed(&folder, &["stat", file, "--json"]);
        assert!(stat.ends_with(",\"values\":\"integer\"}\n"), "{stat}");
        let text = folder.run(&["table", "put", file, "a", "one"]);
        assert_eq!(text.code, 2);
        assert!(text.stderr.contains("expected an integer from -2**63"), "{}", text.stderr);
        for args in
            [&["convert", file, "copy.bwt"][..], &["backup", file, "copy.bwh"], &["compact", file]]
        {
            printed(&folder, args);
        }
        assert_eq!(printed(&folder, &["get", "copy.bwt", "b"]), "12\n");
        assert_eq!(printed(&folder, &["get", "copy.bwh", "b"]), "12\n");
        assert_eq!(printed(&folder, &["delete", file, "b"]), "");
        assert_eq!(printed(&folder, &["scan", file]), "a\t-7\n");
    }
}

#[test]
fn a_change_waits_as_long_as_it_is_told_for_another_writer() {
    let folder = folder();
    let exclusive = OpenOptions { exclusive: true, ..OpenOptions::default() };
    let held = open(folder.path("t.bwt"), None, exclusive).unwrap();
    let refused = folder.run(&["table", "put", "t.bwt", "a", "2", "--wait", "0.1"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("found it locked"), "{}", refused.stderr);
    let freed = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(200));
        drop(held);
    });
    assert_eq!(printed(&folder, &["delete", "t.bwt", "a", "--wait", "60"]), "");
    freed.join().unwrap();
    assert_eq!(printed(&folder, &["put", "t.bwt", "a", "5", "--timeout", "1"]), "");
    assert_eq!(printed(&folder, &["get", "t.bwt", "a"]), "5\n");
}

#[test]
fn a_link_beside_a_table_is_not_followed() {
    let folder = Folder::new();
    std::fs::write(folder.path("secret"), "root's").unwrap();
    for (table, beside) in [("u.bwt", "u.bwt.new"), ("u.bwh", "u.bwh.new")] {
        std::os::unix::fs::symlink("secret", folder.path(beside)).unwrap();
        assert_eq!(printed(&folder, &["put", table, "a", "1"]), "");
        assert_eq!(printed(&folder, &["get", table, "a"]), "1\n");
    }
    std::os::unix::fs::symlink("nowhere", folder.path("u.bwt.log")).unwrap();
    assert_eq!(printed(&folder, &["put", "u.bwt", "a", "2"]), "");
    assert!(!folder.path("nowhere").exists());
    assert_eq!(std::fs::read_to_string(folder.path("secret")).unwrap(), "root's");
}
