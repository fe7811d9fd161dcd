//! Goal: a journal that the first release left beside a store that it was writing is finished by every later one.
//!
//! Method: a store that a killed program left in part, and its journal, which stay as they are. `BYTEWRIGHT_WRITE_SAMPLE=1`
//! writes those that are missing, to be compressed by gzip.

use std::fs;
use std::path::{Path, PathBuf};

use bytewright::bytes::{ByteStream, StreamOptions};
use bytewright::pstore::{Durability, Options, Store};

use crate::folder::Folder;
use crate::model::{Table, change, read};
use crate::simulated::SimulatedSystem;
use crate::simulated_disk::SimulatedDisk;

/// Length of the value that changes, which takes several blocks.
const LEN: usize = 20_000;

/// Place of the state in a journal, and the state of a live one.
const STATE: usize = 16;
const LIVE: u8 = 1;

fn table(value: &[u8]) -> Table {
    let root = |key: &str, value: &[u8]| (key.to_owned(), value.to_vec());
    Table(vec![root("first", b"stays"), root("second", value), root("third", b"stays, too")])
}

fn sample(name: &str, end: &str) -> PathBuf {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    samples.join(format!("{name}_1.pstore{end}.gz"))
}

fn is_finished(name: &str, durability: Durability) {
    let (old, new) = (table(&[b'o'; LEN]), table(&[b'n'; LEN]));
    if std::env::var_os("BYTEWRIGHT_WRITE_SAMPLE").is_some() && !sample(name, "").exists() {
        write_samples(name, durability, &old, &new);
    }
    let folder = Folder::new(name);
    for end in ["", ".journal"] {
        let mut stream = ByteStream::open(&sample(name, end), &StreamOptions::default()).unwrap();
        fs::write(folder.path(&format!("x{end}")), stream.fill(1 << 20).unwrap()).unwrap();
    }
    let path = folder.path("x");
    let unfinished = fs::read(&path).unwrap();
    assert!(unfinished != old.dump() && unfinished != new.dump(), "the store is written in part");
    assert_eq!(read(&mut Store::new(Options::default()), &path), new.dump());
    assert_eq!(fs::read(&path).unwrap(), new.dump());
}

/// Writes what the first call leaves that ends in the middle of the store.
fn write_samples(name: &str, durability: Durability, old: &Table, new: &Table) {
    let disk = SimulatedDisk::new();
    let system = SimulatedSystem::new(disk.clone(), 1);
    let mut store = Store::with_file_system(Options::default(), Box::new(system));
    for table in [old, new] {
        let changes = (table, &Table::default(), &[][..]);
        assert!(change(&mut store, Path::new("x"), changes, durability, false).unwrap());
    }
    let left = (0..disk.calls()).flat_map(|call| (0..9).map(move |seed| (call, seed)));
    let (store, journal) = left
        .map(|(call, seed)| disk.killed(call, seed))
        .filter_map(|disk| Some((disk.bytes("x")?, disk.bytes("x.journal")?)))
        .find(|(store, journal)| {
            let is_part = *store != old.dump() && *store != new.dump() && store.len() > LEN;
            is_part && journal.get(STATE) == Some(&LIVE)
        })
        .expect("a call ends in the middle of the store");
    fs::write(sample(name, "").with_extension(""), store).unwrap();
    fs::write(sample(name, ".journal").with_extension(""), journal).unwrap();
}

#[test]
fn a_write_of_the_first_release_is_finished() {
    is_finished("store_killed", Durability::Process);
}

#[test]
fn a_write_of_the_first_release_that_survives_a_power_cut_is_finished() {
    is_finished("store_killed_durable", Durability::Power);
}
