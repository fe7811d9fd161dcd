//! `bytewright cache`.

use bytewright::table::cache::{Cache, CacheData, CacheEntry, CacheKind, CacheOptions};
use bytewright::table::file::{TableKind, open};
use bytewright::wire::CborItem;

use crate::run::{Folder, Outcome};

/// Milliseconds since 1970 that are long over.
const PAST: u64 = 1000;

/// Milliseconds since 1970 that no test lives to see.
const FUTURE: u64 = 9_000_000_000_500;

fn text(text: &str) -> CacheData<'_> {
    CacheData::new(CacheKind::Text, text.as_bytes())
}

fn entry<'a>(
    value: CacheData<'a>,
    expires_at: Option<u64>,
    tag: Option<&'a str>,
) -> CacheEntry<'a> {
    CacheEntry { value, expires_at, tag: tag.map(text) }
}

/// Sets entries in the cache at `c.bwc`.
fn set(folder: &Folder, entries: &[(CacheData<'_>, CacheEntry<'_>)]) {
    let options = CacheOptions::default();
    let mut table = open(folder.path("c.bwc"), Some(TableKind::Hashed), options.opening).unwrap();
    let cache = Cache::new(options.limits).unwrap();
    for (key, entry) in entries {
        cache.set(table.as_table_mut(), &key.to_key(), *entry, Cache::now()).unwrap();
    }
}

/// A folder with a cache of two texts, an integer that has expired, and nested data under a key that is a number.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut nested = Vec::new();
    for item in [CborItem::Map(2), CborItem::Text("n"), CborItem::integer(-2), CborItem::integer(1)]
    {
        item.put(&mut nested);
    }
    for item in [CborItem::Tag(258), CborItem::Array(2), CborItem::Null, CborItem::Float(1.5)] {
        item.put(&mut nested);
    }
    let five = 5_i64.to_le_bytes();
    let entries = [
        (text("a"), entry(text("one"), None, Some("x"))),
        (text("b"), entry(text("two\n"), Some(FUTURE), None)),
        (text("old"), entry(CacheData::new(CacheKind::Integer, &five), Some(PAST), Some("x"))),
        (
            CacheData::new(CacheKind::Integer, &five),
            entry(CacheData::new(CacheKind::Nested, &nested), None, Some("x")),
        ),
        (text("raw"), entry(CacheData::new(CacheKind::Bytes, b"\xff\x1b"), None, None)),
        (text("sealed"), entry(CacheData::new(CacheKind::Sealed, b"\0\x01\x02"), None, None)),
    ];
    set(&folder, &entries);
    folder
}

fn run(folder: &Folder, args: &[&str]) -> Outcome {
    folder.run(&[&["cache"], args].concat())
}

/// Runs the command, which must succeed; returns what it prints.
fn printed(folder: &Folder, args: &[&str]) -> String {
    let outcome = run(folder, args);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{args:?}");
    outcome.stdout
}

#[test]
fn values_are_printed_as_they_are_and_those_that_have_expired_are_missing() {
    let folder = folder();
    assert_eq!(printed(&folder, &["get", "c.bwc", "b", "a"]), "two\n\none\n");
    assert_eq!(printed(&folder, &["get", "c.bwc", "a", "b", "--raw"]), "onetwo\n");
    let expired = run(&folder, &["get", "c.bwc", "old", "a", "--json"]);
    assert_eq!(expired.code, 1);
    assert_eq!(
        expired.stdout,
        "{\"key\":\"old\",\"value\":null}\n{\"key\":\"a\",\"value\":\"one\",\"tag\":\"x\"}\n"
    );
    assert_eq!(expired.stderr, "bytewright: c.bwc: no entry for the key \"old\"\n");
}

#[test]
fn entries_are_shown_in_the_order_of_writing() {
    let folder = folder();
    let lines = "a\tone\nb\ttwo\\n\n5\t{\"n\":-2,\"1\":[null,1.5]}\nraw\t\\xff\\x1b\n\
        sealed\t\\x00\\x01\\x02\n";
    assert_eq!(printed(&folder, &["scan", "c.bwc"]), lines);
    assert_eq!(printed(&folder, &["scan", "c.bwc", "--keys", "--limit", "3"]), "a\nb\n5\n");
    let json = "{\"key\":\"a\",\"value\":\"one\",\"tag\":\"x\"}\n\
        {\"key\":\"b\",\"value\":\"two\\n\",\"expire_time\":9000000000.5}\n\
        {\"key\":5,\"value\":{\"n\":-2,\"1\":[null,1.5]},\"tag\":\"x\"}\n\
        {\"key\":\"raw\",\"value\":{\"base64\":\"/xs=\"}}\n\
        {\"key\":\"sealed\",\"value\":{\"sealed\":\"AAEC\"}}\n";
    assert_eq!(printed(&folder, &["scan", "c.bwc", "--json"]), json);
    assert_eq!(
        printed(&folder, &["scan", "c.bwc", "--json", "--keys", "--limit", "1"]),
        "{\"key\":\"a\"}\n"
    );
}

#[test]
fn long_integers_are_printed_in_digits() {
    let folder = Folder::new();
    let long = |tag, bytes: &[u8]| {
        let mut nested = Vec::new();
        CborItem::Tag(tag).put(&mut nested);
        CborItem::Bytes(bytes).put(&mut nested);
        nested
    };
    let numbers = [
        long(2, &[1, 0, 0, 0, 0, 0, 0, 0, 0]),
        long(3, &[1, 0, 0, 0, 0, 0, 0, 0, 0]),
        long(2, &[255; 16]),
        long(3, &[255; 16]),
        long(2, &[1; 17]),
    ];
    for number in &numbers {
        set(&folder, &[(text("k"), entry(CacheData::new(CacheKind::Nested, number), None, None))]);
        let shown = printed(&folder, &["get", "c.bwc", "k"]);
        let expected = match (number[0] & 1 == 0, number.len()) {
            (true, 11) => "18446744073709551616\n".to_owned(),
            (false, 11) => "-18446744073709551617\n".to_owned(),
            (true, 18) => format!("{}\n", u128::MAX),
            (false, 18) => "\"-1-0xffffffffffffffffffffffffffffffff\"\n".to_owned(),
            _ => format!("\"0x{}\"\n", "01".repeat(17)),
        };
        assert_eq!(shown, expected);
    }
}

#[test]
fn nested_data_that_no_cache_wrote_ends_what_is_shown_and_no_half_of_it_is() {
    let folder = Folder::new();
    let chain = [&[0xd9, 1, 2].repeat(100_000)[..], &[0x80]].concat();
    let deep = [&[0x81].repeat(101)[..], &[0x80]].concat();
    for wrong in [&chain[..], &deep, b"\x81", b"\xc4\x40", b"\xc2\x80", b"\xf6\xf6"] {
        let nested = |bytes| entry(CacheData::new(CacheKind::Nested, bytes), None, None);
        set(&folder, &[(text("a"), nested(&b"\x81\xf6"[..])), (text("k"), nested(wrong))]);
        for args in
            [&["scan", "c.bwc"][..], &["scan", "c.bwc", "--json"], &["get", "c.bwc", "a", "k"]]
        {
            let outcome = run(&folder, args);
            assert_eq!(outcome.code, 1, "{args:?}");
            assert_eq!(outcome.stdout.lines().count(), 1, "{args:?}: {}", outcome.stdout);
            let told = "c.bwc: expected nested data of a cache, found other bytes\n";
            assert!(outcome.stderr.ends_with(told), "{}", outcome.stderr);
        }
    }
}

#[test]
fn entries_are_deleted_by_key_by_tag_and_by_expiry() {
    let folder = folder();
    let missing = run(&folder, &["delete", "c.bwc", "raw", "none", "sealed"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (1, ""));
    assert_eq!(missing.stderr, "bytewright: c.bwc: no entry for the key \"none\"\n");
    assert_eq!(printed(&folder, &["delete", "c.bwc", "--expired"]), "c.bwc: 1 entries deleted\n");
    assert_eq!(printed(&folder, &["delete", "c.bwc", "--tag", "x"]), "c.bwc: 2 entries deleted\n");
    assert_eq!(printed(&folder, &["scan", "c.bwc", "--keys"]), "b\n");
    assert_eq!(printed(&folder, &["clear", "c.bwc"]), "c.bwc: 1 entries deleted\n");
    assert_eq!(printed(&folder, &["scan", "c.bwc"]), "");
    for args in [&[][..], &["a", "--expired"], &["--tag", "x", "--expired"]] {
        assert_eq!(run(&folder, &[&["delete", "c.bwc"], args].concat()).code, 2, "{args:?}");
    }
}

#[test]
fn entries_are_counted_and_the_expired_ones_apart() {
    let folder = folder();
    let used = |text: &str| {
        text.rsplit([' ', ':']).next().unwrap().trim_end_matches(['}', '\n']).to_owned()
    };
    let people = printed(&folder, &["stat", "c.bwc"]);
    let bytes = used(&people);
    assert!(bytes.parse::<u64>().unwrap() > 100, "{people}");
    assert_eq!(
        people,
        format!("c.bwc\n  entries      5\n  expired      1\n  bytes        {bytes}\n")
    );
    let json = format!("{{\"file\":\"c.bwc\",\"entries\":5,\"expired\":1,\"bytes\":{bytes}}}\n");
    assert_eq!(printed(&folder, &["stat", "c.bwc", "--json"]), json);
}

#[test]
fn a_file_that_is_no_cache_is_refused_and_stays_as_it_is() {
    let folder = folder();
    assert_eq!(folder.run(&["table", "put", "t.bwh", "a", "1"]).code, 0);
    folder.write(
        "notes.txt",
        b"some notes, which are no cache, and go on for more than a header has",
    );
    for (name, commands) in [
        ("t.bwh", "t.bwh: expected a cache, found a table of string, which bytewright table reads"),
        ("notes.txt", "notes.txt: "),
        ("none.bwc", "none.bwc: cannot open"),
    ] {
        let before = std::fs::read(folder.path(name)).ok();
        for args in [
            &["stat", name][..],
            &["get", name, "a"],
            &["scan", name],
            &["delete", name, "a"],
            &["clear", name],
        ] {
            let refused = run(&folder, args);
            assert_ne!(refused.code, 0, "{args:?}");
            assert_eq!(refused.stdout, "", "{args:?}");
            assert!(refused.stderr.contains(commands), "{args:?}: {}", refused.stderr);
            assert_eq!(std::fs::read(folder.path(name)).ok(), before, "{args:?}");
        }
    }
}

#[test]
fn a_writer_in_a_transaction_is_waited_for_and_keeps_nobody_from_reading() {
    let folder = folder();
    let opening = CacheOptions::default().opening;
    let mut writer = open(folder.path("c.bwc"), Some(TableKind::Hashed), opening).unwrap();
    writer.as_table_mut().begin().unwrap();
    writer.as_table_mut().delete(b"a").unwrap();
    for args in
        [&["delete", "c.bwc", "a"][..], &["clear", "c.bwc"], &["delete", "c.bwc", "--expired"]]
    {
        let refused = run(&folder, &[args, &["--wait", "0.05"]].concat());
        assert_eq!(refused.code, 1, "{args:?}");
        assert!(refused.stderr.contains(&std::process::id().to_string()), "{}", refused.stderr);
    }
    assert_eq!(printed(&folder, &["get", "c.bwc", "a"]), "one\n");
    writer.as_table_mut().abort().unwrap();
    assert_eq!(printed(&folder, &["scan", "c.bwc", "--keys"]), "a\nb\n5\nraw\nsealed\n");
    assert_eq!(printed(&folder, &["delete", "c.bwc", "a"]), "");
}
