//! Goal: the hashed table in a file is a map that outlives its process: whatever is done to it, to its
//! disk or to its file, it holds whole commits in their order, or says that it cannot.
//!
//! Method: random histories beside a slow, obvious twin; on real files with readers beside, processes
//! killed and forked; on a simulated disk with the power cut and failures at every call; on damaged
//! files. A failure prints the seed that repeats it (BYTEWRIGHT_SEED).
//!
//! An executable of its own, because its tests fork: a child has whatever other tests of the process have open.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../generate/mod.rs"]
mod generate;
#[path = "../simulated_disk/mod.rs"]
mod simulated_disk;

mod anew;
mod basics;
mod changes;
mod compaction;
mod cuts;
mod damage;
mod eviction;
mod failures;
mod flushing;
mod index;
mod model;
mod places;
mod power;
mod processes;
mod sharing;
mod turns;
mod twin;
mod watched;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions, SyncMode};
use simulated_disk::SimulatedDisk;

pub(crate) const CREATE: OpenOptions = OpenOptions {
    create: true,
    read_only: false,
    exclusive: false,
    verify: true,
    sync: SyncMode::Never,
    timeout: Duration::ZERO,
    values: None,
};
pub(crate) const WRITE: OpenOptions = OpenOptions { create: false, ..CREATE };
pub(crate) const READ: OpenOptions = OpenOptions { read_only: true, ..WRITE };

/// Offset of the first frame.
pub(crate) const LOG_START: u64 = 69_632;

/// A path for one test, where nothing is.
pub(crate) fn path(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("table_file_hash");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.bwh"));
    let _ = std::fs::remove_file(&path);
    path
}

/// The table in the file `x.bwh` of a simulated disk.
pub(crate) fn open_on(disk: &SimulatedDisk, options: OpenOptions) -> bytewright::Result<HashTable> {
    HashTable::open_in(Arc::new(disk.clone()), "x.bwh", options)
}

pub(crate) fn kind<T>(result: bytewright::Result<T>) -> bytewright::ErrorKind {
    match result {
        Ok(_) => panic!("expected an error"),
        Err(error) => error.kind(),
    }
}

pub(crate) fn get(table: &dyn Table, key: &[u8]) -> Option<Vec<u8>> {
    table.get(key).unwrap()
}
