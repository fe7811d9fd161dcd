//! A report over captures that are read one after another, as a host has it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::report::{Report, ReportOptions, ReportedCapture};
use crate::scan::CaptureReader;
use crate::{Error, ErrorKind, Result};

/// A report under way over one or more captures, one pass after another. Clones are the same report.
#[derive(Clone)]
pub struct OpenReport(Arc<Mutex<Option<Report>>>);

impl OpenReport {
    /// No capture read yet.
    ///
    /// # Errors
    /// Those of [`Report::new`].
    pub fn new(options: ReportOptions) -> Result<Self> {
        Ok(OpenReport(Arc::new(Mutex::new(Some(Report::new(options)?)))))
    }

    /// Adds a capture.
    pub(super) fn read(&self, reader: &mut CaptureReader) -> Result<ReportedCapture> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_mut().ok_or_else(written)?.read(reader)
    }

    /// Writes the page, once all captures were read.
    ///
    /// # Errors
    /// Those of [`Report::write_to`]; `Closed` where it was written before.
    pub fn write_to(&self, path: &Path) -> Result<()> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let report = open.take();
        drop(open);
        report.ok_or_else(written)?.write_to(path)
    }
}

fn written() -> Error {
    Error::new(ErrorKind::Closed, "expected a report under way, found it written")
}
