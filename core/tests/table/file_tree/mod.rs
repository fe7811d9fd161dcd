//! Goal: an ordered table in a file keeps what it promised to keep and nothing else, whatever happens
//! to it, and says so when it cannot.
//! Method: behaviours one by one; random operations against a `BTreeMap`; a simulated disk that fails
//! at each of its calls, or loses its power; damaged files; other processes that write, read and die.

mod behaviour;
mod cuts;
mod damage;
mod disks;
mod model;
mod processes;
mod sharing;
mod turns;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use bytewright::Result;
use bytewright::table::file::{OpenOptions, SyncMode, TreeTable};
use bytewright::table::{KeyRange, OrderedSnapshot, OrderedTable, Scan};

const CREATE: OpenOptions = OpenOptions {
    create: true,
    read_only: false,
    exclusive: false,
    verify: false,
    sync: SyncMode::Commit,
    timeout: Duration::ZERO,
    values: None,
};
const WRITE: OpenOptions = OpenOptions { create: false, ..CREATE };
const READ: OpenOptions = OpenOptions { read_only: true, ..WRITE };

/// Returns the factor by which more is tried than in an everyday run: `BYTEWRIGHT_HARDER`.
fn harder() -> usize {
    let named = std::env::var("BYTEWRIGHT_HARDER").ok();
    named.map_or(1, |times| times.parse().expect("a number in BYTEWRIGHT_HARDER"))
}

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// A path for one test, where nothing is.
fn path(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tree_{name}.bwt"));
    for ending in ["", ".log", ".new"] {
        let _ = std::fs::remove_file(format!("{}{ending}", path.display()));
    }
    path
}

fn rest(mut scan: Box<dyn Scan>) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut entries = Vec::new();
    while let Some((key, value)) = scan.advance()? {
        entries.push((key.to_vec(), value.to_vec()));
    }
    Ok(entries)
}

fn range_of(table: &dyn OrderedTable, range: &KeyRange) -> Vec<(Vec<u8>, Vec<u8>)> {
    rest(table.ordered_snapshot().unwrap().scan_range(range).unwrap()).unwrap()
}

fn try_all(table: &TreeTable) -> Result<Entries> {
    let snapshot: Box<dyn OrderedSnapshot> = table.ordered_snapshot()?;
    Ok(rest(snapshot.scan()?)?.into_iter().collect())
}

fn all(table: &TreeTable) -> Entries {
    try_all(table).unwrap()
}
