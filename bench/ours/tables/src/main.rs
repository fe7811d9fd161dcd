//! Ours, without a host language: `tables TASK ENGINE RECORDS`. The crate `table-workload` has the
//! tasks.

use std::process::ExitCode;

use bytewright::table::file::OpenOptions;
use bytewright::table::{Table, file, memory};
use table_workload::{Engine, Engines, Report, Result, StoredEngine, StoredTask, Task};

struct Ours;

impl Engines for Ours {
    fn in_memory(name: &str, task: &Task) -> Option<Result<Report>> {
        match name {
            "hash" => Some(task.run(|| InMemory(memory::HashTable::new()))),
            "tree" => Some(task.run(|| InMemory(memory::TreeTable::new()))),
            _ => None,
        }
    }

    fn stored(name: &str, task: &StoredTask) -> Option<Result<Report>> {
        let options = OpenOptions { create: true, ..OpenOptions::default() };
        let path = |name| task.folder().join(name);
        match name {
            "hash-file" => {
                Some(task.run(|| Ok(InFile(file::HashTable::open(path("x.bwh"), options)?))))
            }
            "tree-file" => {
                Some(task.run(|| Ok(InFile(file::TreeTable::open(path("x.bwt"), options)?))))
            }
            _ => None,
        }
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

struct InFile<T>(T);

impl<T: Table> StoredEngine for InFile<T> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        Ok(self.0.put(key, value)?)
    }

    fn put_all(&mut self, records: &mut dyn Iterator<Item = (&[u8], &[u8])>) -> Result<()> {
        self.0.begin()?;
        for (key, value) in records {
            self.0.put(key, value)?;
        }
        Ok(self.0.commit()?)
    }

    fn get_all(
        &self,
        keys: &mut dyn Iterator<Item = &[u8]>,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        for key in keys {
            if !self.0.get_with(key, found)? {
                return Err("a record is missing".into());
            }
        }
        Ok(())
    }

    fn scan(&self, seen: &mut dyn FnMut(&[u8], &[u8])) -> Result<()> {
        let mut scan = self.0.snapshot()?.scan()?;
        while let Some((key, value)) = scan.advance()? {
            seen(key, value);
        }
        Ok(())
    }

    fn delete_all(&mut self, keys: &mut dyn Iterator<Item = &[u8]>) -> Result<()> {
        self.0.begin()?;
        for key in keys {
            self.0.delete(key)?;
        }
        Ok(self.0.commit()?)
    }

    fn count(&self) -> Result<u64> {
        Ok(self.0.len()?)
    }

    fn finish(&mut self) -> Result<()> {
        self.0.sync()?;
        Ok(self.0.compact()?)
    }
}
