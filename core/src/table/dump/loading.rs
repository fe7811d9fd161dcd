//! A dump put into the table in a file.

use std::path::Path;

use super::DumpReader;
use crate::bytes::ByteStream;
use crate::error::Result;
use crate::table::file::{self, OpenOptions, TableKind};
use crate::table::new_file::{Existing, NewFile};
use crate::table::{Scan, Table, ValueType};

/// Entries of one commit of a new hashed table, which keeps in memory how to take each back.
const BATCH_LEN: u64 = 16_384;

/// Puts the entries of the dump that `stream` gives into the table in the file at `to`, all or none, and returns how many
/// there were. A missing file is made, a table of the kind that its name ends in, and has its name when it is whole.
pub fn load(to: &Path, stream: ByteStream, options: OpenOptions) -> Result<u64> {
    if options.create && to.symlink_metadata().is_err() {
        return load_new(to, stream, options);
    }
    let mut table = file::open(to, None, options)?;
    let table = table.as_table_mut();
    let mut dump = DumpReader::new(stream, table.values());
    table.put_all(&mut dump)?;
    table.close()?;
    Ok(dump.count())
}

fn load_new(to: &Path, stream: ByteStream, options: OpenOptions) -> Result<u64> {
    let (kind, values) = (TableKind::of_name(to)?, options.values.unwrap_or(ValueType::BYTES));
    let mut new = NewFile::create(to, kind, values, Existing::Refuse)?;
    let mut dump = DumpReader::new(stream, values);
    let table = new.table_mut().as_table_mut();
    match kind {
        TableKind::Ordered => table.put_all(&mut dump)?,
        TableKind::Hashed => put_in_batches(table, &mut dump)?,
    }
    new.finish()?;
    Ok(dump.count())
}

/// Nobody sees the table before it is whole, so it may have several commits.
fn put_in_batches(table: &mut dyn Table, dump: &mut DumpReader) -> Result<()> {
    let mut in_batch = 0;
    table.begin()?;
    while let Some((key, value)) = dump.advance()? {
        table.put(key, value)?;
        in_batch += 1;
        if in_batch == BATCH_LEN {
            in_batch = 0;
            table.commit()?;
            table.begin()?;
        }
    }
    table.commit()
}
