//! Peers: what a Rust program takes today. `rust-tables TASK ENGINE RECORDS`; the crate
//! `table-workload` has the tasks.
//!
//! `hash-map` and `btree-map` are the standard library's maps with a key and a value of their own in
//! each entry, by the system's malloc. `redb` and `lmdb` are in files; they leave it to the system
//! when what they wrote gets to the disk, as ours does between its syncs.

mod lmdb;
mod redb;

use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;

use table_workload::{Engine, Engines, Report, Result, StoredTask, Task};

struct Peers;

impl Engines for Peers {
    fn in_memory(name: &str, task: &Task) -> Option<Result<Report>> {
        match name {
            "hash-map" => Some(task.run(|| Hashed(HashMap::new()))),
            "btree-map" => Some(task.run(|| Ordered(BTreeMap::new()))),
            _ => None,
        }
    }

    fn stored(name: &str, task: &StoredTask) -> Option<Result<Report>> {
        match name {
            "redb" => Some(task.run(|| redb::Redb::create(task.folder()))),
            "lmdb" => Some(task.run(|| lmdb::Lmdb::create(task.folder()))),
            _ => None,
        }
    }
}

fn main() -> ExitCode {
    table_workload::main_with::<Peers>()
}

/// The two maps have the same methods, but no trait that says so.
macro_rules! engine {
    ($name:ident, $map:ident) => {
        struct $name($map<Vec<u8>, Vec<u8>>);

        impl Engine for $name {
            fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
                self.0.insert(key.to_vec(), value.to_vec());
                Ok(())
            }

            fn get(&self, key: &[u8], found: impl FnMut(&[u8])) -> Result<bool> {
                Ok(self.0.get(key).map(Vec::as_slice).map(found).is_some())
            }

            fn delete(&mut self, key: &[u8]) -> Result<()> {
                self.0.remove(key);
                Ok(())
            }

            fn len(&self) -> Result<u64> {
                Ok(self.0.len() as u64)
            }
        }
    };
}

engine!(Hashed, HashMap);
engine!(Ordered, BTreeMap);
