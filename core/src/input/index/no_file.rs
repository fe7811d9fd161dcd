//! Place of `file.rs` on systems that keep no files: a capture has no index there.

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};

use super::capture_version::{CaptureVersion, VersionMatch};
use super::table::{IndexPart, IndexTable, WindowPlace};
use crate::bytes::{ByteStream, SeekPlaces, SeekPoint};
use crate::{Error, ErrorKind, Result};

/// Place that there is none of.
#[derive(Debug, Clone)]
pub(crate) struct IndexPlace(Infallible);

/// File of an index that there is none of.
#[derive(Debug)]
pub(crate) struct IndexFile {
    never: Infallible,
    pub(super) table: IndexTable,
}

/// File that nobody makes.
#[derive(Debug)]
pub(super) struct NewIndexFile(Infallible);

impl IndexPlace {
    /// Returns the error of a system without files.
    pub(crate) fn of(_: &Path, _: Option<&Path>) -> Result<Self> {
        let message = "expected a system that keeps files for the index of a capture, found none";
        Err(Error::new(ErrorKind::Io(None), message))
    }

    /// Returns the path.
    pub(crate) fn path(&self) -> PathBuf {
        match self.0 {}
    }

    /// Opens the index.
    pub(crate) fn open_for(&self, _: &ByteStream) -> Result<Option<(IndexFile, VersionMatch)>> {
        match self.0 {}
    }

    /// Makes a file.
    pub(super) fn create(&self) -> Result<NewIndexFile> {
        match self.0 {}
    }

    /// Ends a file.
    pub(super) fn publish(
        &self,
        _: &NewIndexFile,
        _: CaptureVersion,
        _: &IndexTable,
    ) -> Result<()> {
        match self.0 {}
    }

    /// Checks the name.
    pub(crate) fn check_displaced(&self) -> Result<()> {
        match self.0 {}
    }
}

impl IndexFile {
    /// Returns the place at which reading begins for a part.
    pub(super) fn place_of(&self, _: &IndexPart) -> Option<SeekPoint> {
        match self.never {}
    }

    /// Returns true if the capture has one interface.
    pub(crate) fn has_one_interface(&self) -> bool {
        match self.never {}
    }

    /// Returns the numbers of the first packets of pieces.
    pub(crate) fn pieces(&self, _: u64) -> Vec<u64> {
        match self.never {}
    }

    /// Returns the bytes of the file.
    pub(super) fn len(&self) -> u64 {
        match self.never {}
    }
}

impl SeekPlaces for IndexFile {
    fn position(&self, _: usize) -> Option<u64> {
        match self.never {}
    }

    fn place(&self, _: usize) -> Option<SeekPoint> {
        match self.never {}
    }
}

impl NewIndexFile {
    /// Returns the bytes of the file.
    pub(super) fn len(&self) -> u64 {
        match self.0 {}
    }

    /// Writes a window.
    pub(super) fn add_window(&mut self, _: &[u8]) -> io::Result<WindowPlace> {
        match self.0 {}
    }

    /// Copies the windows of an older index.
    pub(super) fn copy_windows(&mut self, _: &IndexFile) -> io::Result<()> {
        match self.0 {}
    }
}
