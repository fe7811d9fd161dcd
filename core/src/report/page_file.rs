//! The file of a page: made before captures are read, so that a name that cannot be written to is refused before hours of
//! reading, and whole when it has its name.

use std::path::{Path, PathBuf};

use super::Report;
use crate::export::OutputOptions;
use crate::files::FileWriter;
use crate::{Error, ErrorKind, Result};

/// A file that a page is going to be written to. Dropping it leaves what was there.
#[derive(Debug)]
pub struct PageFile(FileWriter);

impl PageFile {
    /// A file that takes the place of the one at `path` when its page is written.
    ///
    /// # Errors
    /// `Argument` where `options` do not allow to replace what is there; those of
    /// [`FileWriter::replace`](crate::files::FileWriter::replace).
    pub fn create(path: &Path, options: &OutputOptions) -> Result<Self> {
        options.replace(path).map(PageFile)
    }

    /// As [`FileWriter::hidden_path`].
    pub fn hidden_path(&self) -> Option<PathBuf> {
        self.0.hidden_path()
    }

    /// Writes the page of a report, once all captures were read, and gives the file its name.
    ///
    /// # Errors
    /// `Argument` where no capture was read; those of writing.
    pub fn write(mut self, report: Report) -> Result<()> {
        if report.captures() == 0 {
            let message = "expected captures for a report, found none";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        self.0.write(&mut report.finish().into_bytes())?;
        self.0.finish()
    }
}
