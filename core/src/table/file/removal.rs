//! Taking back a table file that was made for nothing.

use std::path::Path;
use std::time::Duration;

use super::options::{OpenOptions, SyncMode};
use super::tree_table::TreeTable;
use crate::error::{Error, Result};
use crate::table::Table;

/// Removes the ordered table in the file at `path` if it has no more than `entries_max` entries, which its maker put
/// there; returns true if it did. The table was closed before; nobody else may have it open to write.
///
/// # Errors
/// Returns the errors of opening and removing the file.
pub fn remove_untouched(path: &Path, entries_max: u64) -> Result<bool> {
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    // No other writer is let in before the name is gone.
    let options = OpenOptions {
        exclusive: true,
        timeout: Duration::ZERO,
        sync: SyncMode::Never,
        ..OpenOptions::default()
    };
    let mut table = TreeTable::open(path, options)?;
    let is_untouched = !is_link && table.len()? <= entries_max;
    if is_untouched {
        let removed = std::fs::remove_file(path);
        removed.map_err(|error| Error::io("remove", &error).in_file(&path.to_string_lossy()))?;
    }
    table.close()?;
    Ok(is_untouched)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn table_at(folder: &str, entries: &[&str]) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("bytewright-{folder}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("table.bwt");
        let mut table =
            TreeTable::open(&path, OpenOptions { create: true, ..OpenOptions::default() }).unwrap();
        for key in entries {
            table.put(key.as_bytes(), b"").unwrap();
        }
        table.close().unwrap();
        path
    }

    #[test]
    fn a_table_that_nobody_added_to_is_removed() {
        let path = table_at("untouched", &["format"]);
        assert!(remove_untouched(&path, 1).unwrap());
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_table_that_is_in_use_has_more_or_is_a_link_stays() {
        let path = table_at("touched", &["format", "more"]);
        assert!(!remove_untouched(&path, 1).unwrap());
        let table = TreeTable::open(&path, OpenOptions::default()).unwrap();
        assert_eq!(remove_untouched(&path, 2).unwrap_err().kind(), crate::ErrorKind::Lock);
        drop(table);
        let link = path.with_file_name("link.bwt");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(!remove_untouched(&link, 2).unwrap());
        assert!(path.exists() && link.exists());
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
