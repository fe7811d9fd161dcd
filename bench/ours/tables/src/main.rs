//! Ours, without a host language: `tables TASK ENGINE RECORDS`. The crate `table-workload` has the
//! tasks.

use std::process::ExitCode;

use bytewright::table::{Table, memory};
use table_workload::{Engine, Engines, Report, Result, StoredTask, Task};

struct Ours;

impl Engines for Ours {
    fn in_memory(name: &str, task: &Task) -> Option<Result<Report>> {
        match name {
            "hash" => Some(task.run(&mut InMemory(memory::HashTable::new()))),
            "tree" => Some(task.run(&mut InMemory(memory::TreeTable::new()))),
            _ => None,
        }
    }

    fn stored(_name: &str, _task: &StoredTask) -> Option<Result<Report>> {
        None
    }
}

fn main() -> ExitCode {
    table_workload::main_with::<Ours>()
}

struct InMemory<T>(T);

impl<T: Table> Engine for InMemory<T> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        Ok(self.0.put(key, value)?)
    }

    fn get(&self, key: &[u8], mut found: impl FnMut(&[u8])) -> Result<bool> {
        Ok(self.0.get_with(key, &mut found)?)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.delete(key)?;
        Ok(())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.0.len()?)
    }
}
