//! Place of `output.rs` on systems without files: no output has a name there, so nothing is replaced.

use std::convert::Infallible;
use std::path::Path;

use crate::Result;
use crate::files::FileWriter;

/// Options for the file of an output, of which there is none.
#[derive(Debug, Clone)]
pub struct OutputOptions(Infallible);

impl OutputOptions {
    /// Refuses what must not be replaced.
    ///
    /// # Errors
    /// None.
    pub fn check(&self, _: &Path) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn replace(&self, _: &Path) -> Result<FileWriter> {
        match self.0 {}
    }
}
