//! The text of a table in a file that is whole or not there, or in a pipe as its entries come.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::output::OutputOptions;
use crate::files::FileWriter;
use crate::table::Dump;
use crate::{Error, Result};

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
    output: DumpOutput,
    name: String,
}

/// Destination of the text.
enum DumpOutput {
    File(FileWriter),
    Pipe(File),
}

impl DumpFile {
    /// Begins a file that takes the place of the one at `path` when all is written. What is there and no regular file, such
    /// as a named pipe, is written as entries come.
    ///
    /// # Errors
    /// `Io` where no file can be made there; `Argument` where `options` do not allow to replace what is there.
    pub fn create(path: &Path, dump: Dump, options: &OutputOptions) -> Result<DumpFile> {
        let name = path.to_string_lossy().into_owned();
        let is_pipe = path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
        let output = match is_pipe {
            true => {
                options.check(path)?;
                let opened = File::options().write(true).open(path);
                let pipe = opened.map_err(|error| Error::io("open", &error).in_file(&name))?;
                DumpOutput::Pipe(pipe)
            }
            false => DumpOutput::File(options.replace(path)?),
        };
        Ok(DumpFile { dump, output, name })
    }

    /// Writes some more entries, and with the last ones gives the file its name. Returns true if there is more to do.
    ///
    /// # Errors
    /// Those of reading the entries, and `Io`.
    pub fn step(&mut self) -> Result<bool> {
        let DumpFile { dump, output, name } = self;
        let has_more = dump.step(&mut |text| output.write(text, name))?;
        if !has_more && let DumpOutput::File(file) = output {
            file.finish()?;
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

    /// As [`FileWriter::hidden_path`].
    pub fn hidden_path(&self) -> Option<PathBuf> {
        match &self.output {
            DumpOutput::File(file) => file.hidden_path(),
            DumpOutput::Pipe(_) => None,
        }
    }

    /// Entries so far.
    pub fn written(&self) -> u64 {
        self.dump.written()
    }
}

impl DumpOutput {
    fn write(&mut self, text: &mut Vec<u8>, name: &str) -> Result<()> {
        match self {
            DumpOutput::File(file) => file.write(text),
            DumpOutput::Pipe(pipe) => {
                let written = pipe.write_all(text);
                text.clear();
                written.map_err(|error| Error::io("write", &error).in_file(name))
            }
        }
    }
}
