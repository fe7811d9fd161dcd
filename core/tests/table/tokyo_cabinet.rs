//! Goal: what Tokyo Cabinet wrote is read as it reads it itself, in both byte orders; damage is an
//! error with its place, after everything that was good; and no file is read without an end.
//!
//! Method: the files of `samples/tokyo-cabinet` were written by the library, which also listed their
//! entries (`make.rb` there). They are big-endian, as Debian's library writes; the same files with
//! every number turned around stand for those of other builds. Damage is done to all of them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io};

use bytewright::files::{MemoryStorage, Storage};
use bytewright::table::tokyo_cabinet::{Database, DatabaseKind};
use bytewright::wire::Endian;
use bytewright::{Error, ErrorKind};

use crate::generate::{Random, seeds};

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// The files whose entries can be read.
const READABLE: &[&str] = &[
    "hash.tch",
    "hash-aligned.tch",
    "hash-large.tch",
    "hash-deflate.tch",
    "hash-large-deflate.tch",
    "hash-empty.tch",
    "tree.tcb",
    "tree-large.tcb",
    "tree-deflate.tcb",
    "tree-large-deflate.tcb",
    "tree-empty.tcb",
    "tree-duplicates.tcb",
    "tree-decimal.tcb",
];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples/tokyo-cabinet").join(name)
}

fn sample(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap()
}

/// Reads the entries that the library lists.
fn listing(name: &str) -> Entries {
    let text = fs::read_to_string(path(&format!("{name}.txt"))).unwrap();
    let bytes = |hex: &str| {
        let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    };
    let entry = |line: &str| line.split_once('\t').map(|(key, value)| (bytes(key), bytes(value)));
    text.lines().map(|line| entry(line).unwrap()).collect()
}

/// Every entry up to the end, and what it ends with.
fn scan(database: &Database) -> (Entries, Option<Error>) {
    let mut entries = Vec::new();
    let mut scan = match database.scan() {
        Ok(scan) => scan,
        Err(error) => return (entries, Some(error)),
    };
    let error = loop {
        match scan.advance() {
            Ok(Some((key, value))) => entries.push((key.to_vec(), value.to_vec())),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(scan.advance().unwrap().is_none(), "a scan that is over stays over");
    (entries, error)
}

fn open(bytes: Vec<u8>) -> bytewright::Result<Database> {
    Database::open_storage(Box::new(MemoryStorage::new(bytes)), "x.tc")
}

fn scan_bytes(bytes: Vec<u8>) -> (Entries, Option<Error>) {
    match open(bytes) {
        Ok(database) => scan(&database),
        Err(error) => (Vec::new(), Some(error)),
    }
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_be_bytes(bytes[offset..offset + 8].try_into().unwrap())
}

/// A big-endian file as a build that does not swap would have written it.
fn little_endian(mut bytes: Vec<u8>) -> Vec<u8> {
    let width = if bytes[36] & 1 != 0 { 8 } else { 4 };
    let (bucket_count, used_len) = (u64_at(&bytes, 40) as usize, u64_at(&bytes, 56) as usize);
    let mut offset = u64_at(&bytes, 64) as usize;
    let mut turn = |start: usize, width: usize| bytes[start..start + width].reverse();
    (40..72).step_by(8).for_each(|start| turn(start, 8));
    // The opaque part, in a tree: two numbers of 32 bits, then six of 64.
    [136, 140].into_iter().for_each(|start| turn(start, 4));
    (144..192).step_by(8).for_each(|start| turn(start, 8));
    (0..bucket_count).for_each(|bucket| turn(256 + bucket * width, width));
    while offset < used_len {
        if bytes[offset] == 0xb0 {
            let len: [u8; 4] = bytes[offset + 1..offset + 5].try_into().unwrap();
            bytes[offset + 1..offset + 5].reverse();
            offset += u32::from_be_bytes(len) as usize;
            continue;
        }
        assert_eq!(bytes[offset], 0xc8);
        bytes[offset + 2..offset + 2 + width].reverse();
        bytes[offset + 2 + width..offset + 2 + 2 * width].reverse();
        let mut at = offset + 2 + 2 * width;
        let padding = usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1]);
        bytes[at..at + 2].reverse();
        at += 2;
        let (key_len, value_len) = (length(&bytes, &mut at), length(&bytes, &mut at));
        offset = at + key_len + value_len + padding;
    }
    bytes
}

/// The number of variable length at `at`, which moves behind it.
fn length(bytes: &[u8], at: &mut usize) -> usize {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes[*at];
        *at += 1;
        if byte < 0x80 {
            return number | usize::from(byte) << shift;
        }
        number |= usize::from(!byte) << shift;
    }
    unreachable!()
}

#[test]
fn every_file_is_read_as_the_library_lists_it() {
    for name in READABLE {
        let database = Database::open(path(name)).unwrap();
        let (entries, error) = scan(&database);
        assert!(error.is_none(), "{name}: {error:?}");
        assert_eq!(entries, listing(name), "{name}");
        assert_eq!(database.record_count(), entries.len() as u64, "{name}");
        assert_eq!(database.byte_order(), Endian::Big, "{name}");
        let kind = if name.starts_with("hash") { DatabaseKind::Hash } else { DatabaseKind::Tree };
        assert_eq!(database.kind(), kind, "{name}");
        assert_eq!(database.file_bytes(), sample(name).len() as u64, "{name}");
        assert!(!database.is_left_open(), "{name}");
        assert!(Database::is_beginning(&sample(name)[..32]), "{name}");
    }
}

#[test]
fn the_other_byte_order_gives_the_same_entries() {
    for name in READABLE {
        let database = open(little_endian(sample(name))).unwrap();
        assert_eq!(database.byte_order(), Endian::Little, "{name}");
        let (entries, error) = scan(&database);
        assert!(error.is_none(), "{name}: {error:?}");
        assert_eq!(entries, listing(name), "{name}");
    }
}

#[test]
fn a_value_is_found_by_its_key_and_of_several_the_first() {
    for name in READABLE {
        let database = Database::open(path(name)).unwrap();
        let get = |key: &[u8]| {
            let mut value = None;
            let is_there =
                database.get_with(key, &mut |found| value = Some(found.to_vec())).unwrap();
            assert_eq!(is_there, value.is_some());
            value
        };
        let listing = listing(name);
        for (key, _) in &listing {
            let first = listing.iter().find(|(other, _)| other == key).map(|(_, value)| value);
            assert_eq!(get(key).as_ref(), first, "{name}");
        }
        assert_eq!(get(b"no such key"), None, "{name}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_what_to_do() {
    let cases = [
        ("hash-bzip2.tch", "found bzip2; `tchmgr optimize -td FILE` rewrites it"),
        ("tree-tcbs.tcb", "found TCBS; `tcbmgr optimize -td FILE` rewrites it"),
        ("fixed.tcf", "found a fixed-length database"),
        ("table.tct", "found a table database"),
        ("hash-in-transaction.tch", "hash-in-transaction.tch.wal: open the file once with Tokyo"),
        ("make.rb", "expected a file of Tokyo Cabinet, found text that begins with \"#"),
    ];
    for (name, words) in cases {
        let error =
            Database::open(path(name)).and_then(|file| file.scan().map(|_| ())).unwrap_err();
        assert!(error.to_string().contains(words), "{name}: {error}");
        assert_eq!(error.kind(), ErrorKind::Format, "{name}");
        assert!(error.file().unwrap().ends_with(name), "{name}");
    }
    let error = Database::open(path("no-such.tch")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(Some(2)));
}

#[test]
fn a_hash_that_was_left_open_is_whole() {
    let database = Database::open(path("hash-left-open.tch")).unwrap();
    assert!(database.is_left_open());
    let (entries, error) = scan(&database);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(entries, listing("hash.tch"));
}

#[test]
fn a_tree_that_was_left_open_gives_what_reached_the_file_and_says_so() {
    let database = Database::open(path("tree-left-open.tcb")).unwrap();
    assert!(database.is_left_open());
    let (entries, error) = scan(&database);
    // Each leaf that is there is sound by itself, and its entries are what was put.
    assert!(entries.len() > 20, "{} entries", entries.len());
    for (key, value) in &entries {
        let number = (0..200).find(|i| format!("key{:03}", i * 77 % 200).as_bytes() == key);
        assert_eq!(value, format!("value {}", number.unwrap()).as_bytes());
    }
    let error = error.unwrap();
    assert!(error.to_string().contains("was left open by its writer"), "{error}");
    assert!(error.offset().is_some(), "{error}");
}

#[test]
fn a_file_that_is_cut_gives_the_entries_before_the_cut_and_an_error() {
    for name in ["hash.tch", "hash-aligned.tch", "hash-large-deflate.tch"] {
        let (bytes, listing) = (sample(name), listing(name));
        for len in (0..bytes.len()).step_by(3) {
            let (entries, error) = scan_bytes(bytes[..len].to_vec());
            let error = error.unwrap_or_else(|| panic!("{name} cut to {len} bytes"));
            assert_eq!(error.file(), Some("x.tc"));
            assert!(error.offset().is_none_or(|at| at <= len as u64), "{name}: {len}: {error}");
            assert_eq!(entries, listing[..entries.len()], "{name} cut to {len} bytes");
        }
        let (entries, _) = scan_bytes(bytes[..bytes.len() - 1].to_vec());
        assert!(entries.len() + 1 >= listing.len(), "{name}: {} entries", entries.len());
    }
    for name in ["tree.tcb", "tree-large-deflate.tcb"] {
        let (bytes, listing) = (sample(name), listing(name));
        let mut most = 0;
        for len in (0..bytes.len()).step_by(3) {
            let (entries, error) = scan_bytes(bytes[..len].to_vec());
            assert!(error.is_some(), "{name} cut to {len} bytes");
            assert!(entries.iter().all(|entry| listing.contains(entry)), "{name}: {len}");
            most = most.max(entries.len());
        }
        assert!(most > listing.len() / 2 || name.contains("large"), "{name}: {most}");
    }
}

#[test]
fn damage_in_a_hash_is_named_with_its_place_after_the_entries_before_it() {
    let (bytes, listing) = (sample("hash.tch"), listing("hash.tch"));
    // The first block is what a deletion left; the next is a record.
    let first_block = u64_at(&bytes, 64) as usize;
    let first_record = first_block + bytes[first_block..].iter().position(|b| *b == 0xc8).unwrap();
    let damaged = |offset: usize, with: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[offset..offset + with.len()].copy_from_slice(with);
        let (entries, error) = scan_bytes(bytes);
        assert_eq!(entries, listing[..entries.len()]);
        (entries.len(), error.unwrap())
    };
    // The magic number of the first, then its lengths.
    let (count, error) = damaged(first_record, &[0]);
    assert_eq!((count, error.offset()), (0, Some(first_record as u64)));
    assert_eq!(error.message(), "expected a record or free space, found a byte 00");
    let (_, error) = damaged(first_record + 12, &[0x80, 0x80, 0x80, 0x80, 0x7f]);
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Format, Some(first_record as u64)));
    // Numbers of lengths without an end.
    let (_, error) = damaged(first_record + 12, &[0x80; 40]);
    assert_eq!(error.offset(), Some(first_record as u64), "{error}");
    // Free space that would keep the reader where it is.
    let (_, error) = damaged(first_record, &[0xb0, 0, 0, 0, 0]);
    assert_eq!(error.message(), "expected free space of at least 5 bytes, found 0");
    // A count that lies.
    let (count, error) = damaged(48, &(listing.len() as u64 + 1).to_be_bytes());
    assert_eq!((count, error.offset()), (listing.len(), Some(48)));
    assert_eq!(error.message(), "expected 52 entries, as the header says, found 51");
    // A length that is not the file's: more than there is, and less.
    let (count, error) = damaged(56, &(bytes.len() as u64 + 9).to_be_bytes());
    assert_eq!(count, listing.len());
    assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
    let (count, error) = damaged(56, &(bytes.len() as u64 - 9).to_be_bytes());
    assert!(count < listing.len(), "{error}");
    // A first record outside of the file, and inside of the buckets.
    let (_, error) = damaged(64, &(1_u64 << 40).to_be_bytes());
    assert_eq!(error.offset(), Some(40), "{error}");
    let (_, error) = damaged(64, &100_u64.to_be_bytes());
    assert_eq!(error.offset(), Some(40), "{error}");
}

/// Offsets of a tree's leaves, by number.
fn leaf_offset(bytes: &[u8], number: u8) -> usize {
    let digit = format!("{number:x}");
    let head = [1_u8];
    (u64_at(bytes, 64) as usize..bytes.len())
        .step_by(4)
        .find(|offset| {
            let mut at = offset + 12;
            bytes[*offset] == 0xc8
                && bytes.get(at) == Some(&head[0])
                && length(bytes, &mut at) == 1
                && length(bytes, &mut at) < 4096
                && bytes.get(at) == Some(&digit.as_bytes()[0])
        })
        .unwrap()
}

/// Returns the offsets of the links of a leaf: before, behind.
fn links(bytes: &[u8], leaf: usize) -> (usize, usize) {
    let mut at = leaf + 12;
    let (key_len, _) = (length(bytes, &mut at), length(bytes, &mut at));
    let before = at + key_len;
    let mut behind = before;
    length(bytes, &mut behind);
    (before, behind)
}

#[test]
fn a_chain_of_leaves_that_goes_round_or_nowhere_ends_with_every_entry_once() {
    let (bytes, listing) = (sample("tree.tcb"), listing("tree.tcb"));
    let first = u64_at(&bytes, 152) as u8;
    let (_, behind) = links(&bytes, leaf_offset(&bytes, first));
    for target in 0..=20 {
        let mut bytes = bytes.clone();
        if bytes[behind] == target {
            continue;
        }
        bytes[behind] = target;
        let (mut entries, error) = scan_bytes(bytes);
        let error = error.unwrap_or_else(|| panic!("behind the first leaf is {target}"));
        assert!(error.offset().is_some(), "{error}");
        let mut expected = listing.clone();
        entries.sort();
        expected.sort();
        assert_eq!(entries, expected, "behind the first leaf is {target}: {error}");
    }
}

#[test]
fn a_link_that_does_not_lead_back_is_told_after_all_entries_in_their_order() {
    let (mut bytes, listing) = (sample("tree.tcb"), listing("tree.tcb"));
    let first = u64_at(&bytes, 152) as u8;
    let (before, _) = links(&bytes, leaf_offset(&bytes, first));
    bytes[before] = 3;
    let (entries, error) = scan_bytes(bytes);
    assert_eq!(entries, listing);
    assert_eq!(error.unwrap().message(), "expected leaf 1 to come after leaf 0, found after 3");
}

#[test]
fn a_count_of_a_tree_that_lies_is_told_after_all_entries() {
    let (mut bytes, listing) = (sample("tree.tcb"), listing("tree.tcb"));
    bytes[191] += 1;
    let (entries, error) = scan_bytes(bytes);
    assert_eq!(entries, listing);
    let error = error.unwrap();
    assert_eq!(error.message(), "expected 52 entries, as the header says, found 51");
    assert_eq!(error.offset(), Some(184));
}

/// A hash with one record, its value deflated.
fn deflated(value: &[u8]) -> Vec<u8> {
    let mut bytes = sample("hash-deflate.tch")[..256].to_vec();
    let mut record = vec![0xc8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let mut len = value.len();
    while len >= 0x80 {
        record.push(!(len as u8 & 0x7f));
        len >>= 7;
    }
    record.push(len as u8);
    record.push(b'k');
    record.extend_from_slice(value);
    let used_len = 256 + record.len() as u64;
    for (offset, number) in [(40, 0), (48, 1), (56, used_len), (64, 256)] {
        bytes[offset..offset + 8].copy_from_slice(&u64::to_be_bytes(number));
    }
    bytes.extend(record);
    bytes
}

fn deflate(value: &[u8]) -> Vec<u8> {
    use flate2::{Compress, Compression, FlushCompress};
    let mut deflated = Vec::with_capacity(value.len() / 100 + 1024);
    let mut compress = Compress::new(Compression::fast(), false);
    compress.compress_vec(value, &mut deflated, FlushCompress::Finish).unwrap();
    deflated
}

#[test]
fn a_deflated_value_is_inflated_whole_and_never_beyond_the_bound() {
    let value = vec![7; 5_000_000];
    let (entries, error) = scan_bytes(deflated(&deflate(&value)));
    assert!(error.is_none(), "{error:?}");
    assert_eq!(entries, [(b"k".to_vec(), value)]);

    // 257 MiB of zeros.
    let (entries, error) = scan_bytes(deflated(&deflate(&vec![0; 257 << 20])));
    let error = error.unwrap();
    assert!(entries.is_empty());
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, Some(256)), "{error}");

    let whole = deflate(b"some value, some value");
    for bad in
        [vec![], whole[..whole.len() - 2].to_vec(), vec![0xff; 9], [&whole[..], b"xx"].concat()]
    {
        let (entries, error) = scan_bytes(deflated(&bad));
        let error = error.unwrap();
        assert!(entries.is_empty());
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Format, Some(256)), "{error}");
    }
}

/// A file that counts reads and fails one of them.
#[derive(Debug)]
struct Failing {
    file: MemoryStorage,
    calls_left: AtomicUsize,
}

impl Storage for Failing {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        match self.calls_left.fetch_sub(1, Ordering::Relaxed) {
            1 => Err(io::Error::from_raw_os_error(5)),
            _ => self.file.read_at(offset, bytes),
        }
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        panic!("a file of Tokyo Cabinet is never written")
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        panic!("a file of Tokyo Cabinet is never cut")
    }

    fn sync(&self) -> io::Result<()> {
        panic!("a file of Tokyo Cabinet is never written")
    }
}

#[test]
fn a_read_that_fails_is_an_error_of_the_system_and_not_of_the_file() {
    for name in ["hash.tch", "tree.tcb", "tree-deflate.tcb"] {
        let mut failures = 0;
        for calls_left in 1.. {
            let file = MemoryStorage::new(sample(name));
            let file = Failing { file, calls_left: AtomicUsize::new(calls_left) };
            let (entries, error) = match Database::open_storage(Box::new(file), name) {
                Ok(database) => scan(&database),
                Err(error) => (Vec::new(), Some(error)),
            };
            assert_eq!(entries, listing(name)[..entries.len()]);
            let Some(error) = error else { break };
            assert_eq!(error.kind(), ErrorKind::Io(Some(5)), "{error}");
            failures += 1;
        }
        assert!(failures > 1, "{name}: {failures}");
    }
}

/// A file with bytes changed, moved, cut out or repeated.
fn mutated(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    let len = bytes.len();
    // Half of the damage goes to where the numbers are.
    let place = |random: &mut Random, len: usize| match random.once_in(3) {
        true => 32 + random.below(160.min(len - 32)),
        false => random.below(len),
    };
    for _ in 0..1 + random.below(4) {
        let at = place(random, len);
        match random.below(6) {
            0 => bytes[at] = random.byte(),
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = random.pick(&[0, 0x7f, 0x80, 0xff, 0xc8, 0xb0]),
            3 => {
                let from = random.below(len);
                let count = random.below(40).min(len - at.max(from));
                bytes.copy_within(from..from + count, at);
            }
            4 => {
                let count = random.below(9).min(len - at);
                bytes[at..at + count].fill(random.pick(&[0, 0xff]));
            }
            _ => {
                let number = random.next() >> random.below(64);
                let number = number.to_be_bytes();
                let count = 8.min(len - at);
                bytes[at..at + count].copy_from_slice(&number[8 - count..]);
            }
        }
    }
    if random.once_in(6) {
        bytes.truncate(random.below(len));
    }
    bytes
}

#[test]
fn a_thousand_mutated_files_give_entries_and_errors_and_always_end() {
    let files: Vec<_> = READABLE
        .iter()
        .chain(&["hash-left-open.tch", "tree-left-open.tcb", "hash-bzip2.tch", "table.tct"])
        .flat_map(|name| [sample(name), little_endian_or_same(name)])
        .collect();
    seeds(1000, |random| {
        let original = &files[random.below(files.len())];
        let bytes = mutated(original.clone(), random);
        let (len, is_deflated) = (bytes.len(), bytes.get(36).is_some_and(|bits| bits & 2 != 0));
        let (entries, error) = scan_bytes(bytes);
        // Entries that are not inflated come from bytes of their own.
        let given: usize = entries.iter().map(|(_, value)| value.len() + 1).sum();
        assert!(is_deflated || given <= len, "{given} bytes out of {len}");
        if let Some(error) = error {
            assert!(!matches!(error.kind(), ErrorKind::Io(_) | ErrorKind::Internal), "{error}");
            assert_eq!(error.file(), Some("x.tc"));
        }
    });
}

fn little_endian_or_same(name: &str) -> Vec<u8> {
    match name.ends_with("tct") {
        true => sample(name),
        false => little_endian(sample(name)),
    }
}
