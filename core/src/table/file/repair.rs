//! Making a damaged table whole again, whatever kind it is.

use std::path::Path;
use std::time::Duration;

use super::open::kind_of_file;
use super::{HashTable, TableKind, TreeTable};
use crate::error::Result;

/// Result of repairing a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repaired {
    /// Bytes that are lost; `None` where the engine does not count them.
    pub lost_bytes: Option<u64>,
}

/// Makes the table in the file at `path` whole again: every commit that can be read is kept. A table
/// without damage is left as it is. It waits up to `timeout` for another writer to go.
pub fn repair(path: impl AsRef<Path>, timeout: Duration) -> Result<Repaired> {
    let path = path.as_ref();
    if kind_of_file(path, false)? == Some(TableKind::Hashed) {
        let check = HashTable::repair(path, timeout)?;
        return Ok(Repaired { lost_bytes: Some(check.lost_bytes) });
    }
    TreeTable::repair(path, timeout)?;
    Ok(Repaired { lost_bytes: None })
}
