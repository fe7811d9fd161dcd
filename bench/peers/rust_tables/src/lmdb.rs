//! LMDB by the crate heed.

use std::path::Path;

use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions};
use table_workload::{Result, StoredEngine};

/// LMDB wants to know beforehand how far the file may grow.
const MAP_BYTES: usize = 4 << 30;

pub struct Lmdb {
    environment: Env,
    records: Database<Bytes, Bytes>,
}

impl Lmdb {
    pub fn create(folder: &Path) -> Result<Lmdb> {
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES);
        // SAFETY: NO_SYNC risks the file in a power cut, which nobody will need then.
        unsafe { options.flags(EnvFlags::NO_SYNC) };
        // SAFETY: the folder is this process's own and new, so nobody else changes or maps the file.
        let environment = unsafe { options.open(folder)? };
        let mut transaction = environment.write_txn()?;
        let records = environment.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Lmdb { environment, records })
    }
}

impl StoredEngine for Lmdb {
    fn put_all(&mut self, records: &mut dyn Iterator<Item = (&[u8], &[u8])>) -> Result<()> {
        let mut transaction = self.environment.write_txn()?;
        for (key, value) in records {
            self.records.put(&mut transaction, key, value)?;
        }
        Ok(transaction.commit()?)
    }

    fn get_all(
        &self,
        keys: &mut dyn Iterator<Item = &[u8]>,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let transaction = self.environment.read_txn()?;
        for key in keys {
            found(self.records.get(&transaction, key)?.ok_or("a record is missing")?);
        }
        Ok(())
    }

    fn scan(&self, seen: &mut dyn FnMut(&[u8], &[u8])) -> Result<()> {
        let transaction = self.environment.read_txn()?;
        for record in self.records.iter(&transaction)? {
            let (key, value) = record?;
            seen(key, value);
        }
        Ok(())
    }

    fn delete_all(&mut self, keys: &mut dyn Iterator<Item = &[u8]>) -> Result<()> {
        let mut transaction = self.environment.write_txn()?;
        for key in keys {
            self.records.delete(&mut transaction, key)?;
        }
        Ok(transaction.commit()?)
    }

    fn count(&self) -> Result<u64> {
        let transaction = self.environment.read_txn()?;
        Ok(self.records.len(&transaction)?)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(self.environment.force_sync()?)
    }
}
