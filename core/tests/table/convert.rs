//! Goal: a conversion gives a whole table under the name that it was asked for, or nothing; what a
//! conversion that was killed left is no obstacle, and what another one is at is left alone.

use std::ops::Bound;
use std::path::{Path, PathBuf};

use bytewright::ErrorKind;
use bytewright::table::{ConvertOptions, Converted, KeyRange, Origin, convert};

use crate::folder::Folder;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/tokyo-cabinet").join(name)
}

fn convert_sample(name: &str, to: &Path) -> bytewright::Result<Converted> {
    convert(&Origin::open(sample(name), false)?, to, ConvertOptions::default(), &mut |_| ())
}

fn entries(origin: &Origin, range: &KeyRange) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut scan = origin.scan(range).unwrap();
    let mut entries = Vec::new();
    while let Some((key, value)) = scan.advance().unwrap() {
        entries.push((key.to_vec(), value.to_vec()));
    }
    entries
}

#[test]
fn the_new_table_has_its_name_when_it_is_whole() {
    let folder = Folder::new("whole");
    let new = folder.path("new.bwt");
    let origin = Origin::open(sample("tree.tcb"), false).unwrap();
    let mut counts = Vec::new();
    let converted = convert(&origin, &new, ConvertOptions::default(), &mut |count| {
        assert!(!new.exists());
        counts.push(count);
    })
    .unwrap();
    assert_eq!((converted.records, converted.left_out), (51, 0));
    assert_eq!(counts.last(), Some(&51));
    assert_eq!(folder.names(), ["new.bwt"]);
    let converted = Origin::open(&new, true).unwrap();
    assert_eq!(entries(&converted, &KeyRange::ALL), entries(&origin, &KeyRange::ALL));
}

#[test]
fn two_conversions_at_once_make_one_table() {
    let folder = Folder::new("busy");
    let new = folder.path("new.bwt");
    let origin = Origin::open(sample("hash.tch"), false).unwrap();
    let mut first = None;
    let second = convert(&origin, &new, ConvertOptions::default(), &mut |_| {
        first.get_or_insert_with(|| convert_sample("hash.tch", &new));
    });
    first.unwrap().unwrap();
    assert!(second.unwrap_err().to_string().contains("a file that exists"));
    assert_eq!(folder.names(), ["new.bwt"]);
}

#[test]
fn a_range_of_keys_is_taken_out_of_any_file() {
    let folder = Folder::new("range");
    convert_sample("hash.tch", &folder.path("new.bwt")).unwrap();
    let hash = Origin::open(sample("hash.tch"), false).unwrap();
    let table = Origin::open(folder.path("new.bwt"), false).unwrap();
    let from_to = |from: &[u8], to: &[u8]| KeyRange {
        from: Bound::Included(from.to_vec()),
        to: Bound::Excluded(to.to_vec()),
        reverse: false,
    };
    let ranges =
        [KeyRange::ALL, KeyRange::prefix(b"key1"), from_to(b"key3", b"key41"), from_to(b"z", b"a")];
    for range in ranges {
        let mut expected = entries(&hash, &range);
        expected.sort();
        assert_eq!(entries(&table, &range), expected, "{range:?}");
    }
    let Err(error) = hash.scan(&KeyRange::ALL.reversed()) else { panic!("a hash has no order") };
    assert_eq!(error.kind(), ErrorKind::Argument);
}
