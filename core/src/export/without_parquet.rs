//! Stub used without the feature `parquet`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::OutputOptions;
use crate::batch::{Batch, ExportOptions, Schema, Value};
use crate::{Error, ErrorKind, Result};

/// Stands for a Parquet file in a build without Parquet.
#[derive(Debug)]
pub enum ParquetFile {}

impl ParquetFile {
    /// Fails.
    ///
    /// # Errors
    /// `MissingLibrary`.
    pub fn create(
        path: &Path,
        _output: &OutputOptions,
        _schema: Schema,
        _options: ExportOptions,
        _metadata: &[(String, String)],
    ) -> Result<Self> {
        let message = "expected a build with Parquet, found one without; install the command from its sources: \
                       cargo install --path cli";
        Err(Error::new(ErrorKind::MissingLibrary, message).in_file(&path.to_string_lossy()))
    }

    /// Answers nothing, as there is no file.
    pub fn hidden_path(&self) -> Option<PathBuf> {
        match *self {}
    }

    /// Appends a row.
    ///
    /// # Errors
    /// None, as there is no file.
    pub fn push_row<'v>(&mut self, _value: impl FnMut(usize) -> Value<'v>) -> Result<()> {
        match *self {}
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// None, as there is no file.
    pub fn write(&mut self, _batch: Batch) -> Result<()> {
        match *self {}
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// None, as there is no file.
    pub fn finish_encoding(&mut self, _patience: Duration) -> Result<bool> {
        match *self {}
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// None, as there is no file.
    pub fn publish(&mut self) -> Result<()> {
        match *self {}
    }

    /// Does both.
    ///
    /// # Errors
    /// None, as there is no file.
    pub fn finish(self) -> Result<()> {
        match self {}
    }
}
