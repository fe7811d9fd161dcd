//! redb, with less cache than the gigabyte that it takes unasked: a table in a file is there to save
//! memory.

use std::path::Path;

use redb::{
    Database, Durability, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition,
};
use table_workload::{Result, StoredEngine};

const RECORDS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("records");
const CACHE_BYTES: usize = 64 << 20;

pub struct Redb(Database);

impl Redb {
    pub fn create(folder: &Path) -> Result<Redb> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        Ok(Redb(builder.create(folder.join("records.redb"))?))
    }

    fn transaction(&self, durability: Durability) -> Result<redb::WriteTransaction> {
        let mut transaction = self.0.begin_write()?;
        transaction.set_durability(durability)?;
        Ok(transaction)
    }
}

impl StoredEngine for Redb {
    fn put_all(&mut self, records: &mut dyn Iterator<Item = (&[u8], &[u8])>) -> Result<()> {
        let transaction = self.transaction(Durability::None)?;
        let mut table = transaction.open_table(RECORDS)?;
        for (key, value) in records {
            table.insert(key, value)?;
        }
        drop(table);
        Ok(transaction.commit()?)
    }

    fn get_all(
        &self,
        keys: &mut dyn Iterator<Item = &[u8]>,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let table = self.0.begin_read()?.open_table(RECORDS)?;
        for key in keys {
            found(table.get(key)?.ok_or("a record is missing")?.value());
        }
        Ok(())
    }

    fn scan(&self, seen: &mut dyn FnMut(&[u8], &[u8])) -> Result<()> {
        for record in self.0.begin_read()?.open_table(RECORDS)?.iter()? {
            let (key, value) = record?;
            seen(key.value(), value.value());
        }
        Ok(())
    }

    fn delete_all(&mut self, keys: &mut dyn Iterator<Item = &[u8]>) -> Result<()> {
        let transaction = self.transaction(Durability::None)?;
        let mut table = transaction.open_table(RECORDS)?;
        for key in keys {
            table.remove(key)?;
        }
        drop(table);
        Ok(transaction.commit()?)
    }

    fn count(&self) -> Result<u64> {
        Ok(self.0.begin_read()?.open_table(RECORDS)?.len()?)
    }

    fn finish(&mut self) -> Result<()> {
        self.transaction(Durability::Immediate)?.commit()?;
        self.0.compact()?;
        Ok(())
    }
}
