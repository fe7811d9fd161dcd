//! Destination of a cut: one capture, or files one after another.

use std::path::Path;

use super::cut_options::CutOptions;
use crate::capture::{BlockOptions, Interface, WrittenFrame};
use crate::export::{CaptureFile, CapturePieces, OutputOptions};
use crate::{Result, query};

/// Nanoseconds that a packet of an interface may take from the network to here.
const DELAY_MAX: i64 = 2_000_000_000;

/// Destination of a cut.
pub enum CutOutput {
    /// One capture.
    File(Box<CaptureFile>),
    /// Captures one after another.
    Pieces(Box<CapturePieces>),
}

impl From<CaptureFile> for CutOutput {
    fn from(file: CaptureFile) -> CutOutput {
        CutOutput::File(Box::new(file))
    }
}

impl CutOutput {
    /// Begins what `options` ask for: a capture at `path`, or captures whose names it is the form of.
    ///
    /// # Errors
    /// Those of [`CaptureFile::create`] and of [`CapturePieces::create`].
    pub fn create(path: &Path, options: &CutOptions, output: &OutputOptions) -> Result<CutOutput> {
        let Some(rotation) = options.rotate else {
            options.check_not_rotated()?;
            return CaptureFile::create(path, output).map(CutOutput::from);
        };
        let pieces = CapturePieces::create(path, rotation, options.keep, output)?;
        Ok(CutOutput::Pieces(Box::new(pieces)))
    }

    /// Has the end kept by [`CutOutput::keep`], should the system take no more.
    pub(super) fn keep_end(&mut self) {
        match self {
            CutOutput::File(file) => file.keep_end(),
            CutOutput::Pieces(pieces) => pieces.keep_end(),
        }
    }

    /// Prepares for packets that nobody can read again. One file has its name early; of several, one that cannot be made does not
    /// end the capture, and each is there as a part.
    pub(super) fn take_live(&mut self) {
        match self {
            CutOutput::File(file) => file.show_early(),
            CutOutput::Pieces(pieces) => pieces.go_on(),
        }
    }

    pub(super) fn like(&mut self, interface: &Interface) {
        match self {
            CutOutput::File(file) => file.like(interface),
            CutOutput::Pieces(pieces) => pieces.like(interface),
        }
    }

    pub(super) fn interface(
        &mut self,
        interface: &Interface,
        options: Option<BlockOptions<'_>>,
    ) -> Result<u32> {
        match self {
            CutOutput::File(file) => file.interface(interface, options),
            CutOutput::Pieces(pieces) => pieces.interface(interface, options),
        }
    }

    #[inline]
    pub(super) fn frame(&mut self, frame: &WrittenFrame<'_>) -> Result<()> {
        match self {
            CutOutput::File(file) => file.frame(frame),
            CutOutput::Pieces(pieces) => pieces.frame(frame),
        }
    }

    /// Hands on what is gathered while the input waits, and completes a file whose time is over.
    pub(super) fn flush(&mut self) -> Result<()> {
        match self {
            CutOutput::File(file) => file.flush(),
            CutOutput::Pieces(pieces) => {
                pieces.complete_by(query::now() - DELAY_MAX)?;
                pieces.flush()
            }
        }
    }

    pub(super) fn finish_writing(&mut self) -> Result<()> {
        match self {
            CutOutput::File(file) => file.finish_writing(),
            CutOutput::Pieces(pieces) => pieces.finish_writing(),
        }
    }

    /// As [`CaptureFile::keep`].
    pub(super) fn keep(self) -> Result<bool> {
        match self {
            CutOutput::File(file) => file.keep(),
            CutOutput::Pieces(pieces) => pieces.keep(),
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            CutOutput::File(file) => file.name(),
            CutOutput::Pieces(pieces) => pieces.name(),
        }
    }

    /// Number of files.
    pub(super) fn count(&self) -> u64 {
        match self {
            CutOutput::File(_) => 1,
            CutOutput::Pieces(pieces) => pieces.count(),
        }
    }
}
