//! The text of a table in a file that is whole or not there, or in a pipe as its entries come.

use std::path::{Path, PathBuf};

use super::output::OutputOptions;
use super::output_file::OutputFile;
use crate::Result;
use crate::table::Dump;

/// A dump that is being written. A file has its name after the last step; without it, nothing of the file is left.
///
/// ```
/// use bytewright::export::{DumpFile, OutputOptions};
/// use bytewright::table::{Dump, DumpFormat, Table, memory};
/// use bytewright::table::file::TableKind;
/// # fn main() -> bytewright::Result<()> {
/// # let path = std::env::temp_dir().join(format!("bytewright-doc-{}.dump", std::process::id()));
/// let mut table = memory::TreeTable::new();
/// table.put(b"key", b"value")?;
/// let dump = Dump::of(&table, TableKind::Ordered, DumpFormat::Db)?;
/// assert_eq!(DumpFile::create(&path, dump, &OutputOptions::default())?.write()?, 1);
/// # std::fs::remove_file(path).ok();
/// # Ok(())
/// # }
/// ```
pub struct DumpFile {
    dump: Dump,
    output: OutputFile,
}

impl DumpFile {
    /// Begins a file that takes the place of the one at `path` when all is written. What is there and no regular file, such
    /// as a named pipe, is written as entries come.
    ///
    /// # Errors
    /// `Io` where no file can be made there; `Argument` where `options` do not allow to replace what is there.
    pub fn create(path: &Path, dump: Dump, options: &OutputOptions) -> Result<DumpFile> {
        Ok(DumpFile { dump, output: OutputFile::create(path, options)? })
    }

    /// Writes some more entries, and with the last ones gives the file its name. Returns true if there is more to do.
    ///
    /// # Errors
    /// Those of reading the entries, and `Io`.
    pub fn step(&mut self) -> Result<bool> {
        let DumpFile { dump, output } = self;
        let has_more = dump.step(&mut |text| output.write(text))?;
        if !has_more {
            output.finish()?;
        }
        Ok(has_more)
    }

    /// Writes all of it, and returns the number of entries.
    ///
    /// # Errors
    /// Those of [`DumpFile::step`].
    pub fn write(mut self) -> Result<u64> {
        while self.step()? {}
        Ok(self.written())
    }

    /// As [`OutputFile::hidden_path`].
    pub fn hidden_path(&self) -> Option<PathBuf> {
        self.output.hidden_path()
    }

    /// Entries so far.
    pub fn written(&self) -> u64 {
        self.dump.written()
    }
}
