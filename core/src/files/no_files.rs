//! Place of the files on systems that have none: there is none of them, and what could be asked of one is never asked.

use std::convert::Infallible;
use std::path::PathBuf;

use crate::Result;

/// File that is written, of which there is none.
#[derive(Debug)]
pub struct FileWriter(Infallible);

impl FileWriter {
    /// Returns the offset of the next byte once so many more are written.
    pub fn position(&self, _: usize) -> u64 {
        match self.0 {}
    }

    /// Returns the path under which it is written.
    pub fn hidden_path(&self) -> Option<PathBuf> {
        match self.0 {}
    }

    /// Appends bytes.
    pub fn write(&mut self, _: &mut Vec<u8>) -> Result<()> {
        match self.0 {}
    }

    /// Gives it its name.
    pub fn finish(&mut self) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn truncate(&mut self, _: u64) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn len(&self) -> Result<u64> {
        match self.0 {}
    }

    pub(crate) fn show(&mut self) {
        match self.0 {}
    }

    pub(crate) fn show_part(&mut self) {
        match self.0 {}
    }
}
