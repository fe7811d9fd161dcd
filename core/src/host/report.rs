//! A report over captures that are read one after another, as a host has it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::export::OutputOptions;
use crate::files::FileId;
use crate::input::CaptureReader;
use crate::report::{Report, ReportOptions, ReportedCapture};
use crate::{Error, ErrorKind, Result};

/// A report under way over one or more captures, one pass after another. Clones are the same report.
#[derive(Clone)]
pub struct OpenReport(Arc<Mutex<UnderWay>>);

struct UnderWay {
    /// None once it was written.
    report: Option<Report>,
    /// The files that were read.
    inputs: Vec<FileId>,
    /// Path of the page, if that is known before captures are read.
    output: Option<PathBuf>,
}

impl OpenReport {
    /// No capture read yet.
    ///
    /// # Errors
    /// Those of [`Report::new`].
    pub fn new(options: ReportOptions) -> Result<Self> {
        let (report, inputs) = (Some(Report::new(options)?), Vec::new());
        Ok(OpenReport(Arc::new(Mutex::new(UnderWay { report, inputs, output: None }))))
    }

    /// Takes note of where the page is going to be: what is wrong with that is told before captures are read, and not after
    /// hours of it. A capture that is there is refused when it is to be read.
    ///
    /// # Errors
    /// Those that [`OpenReport::write_to`] would have for what is there now.
    pub fn expect_output(&self, path: &Path, force: bool) -> Result<()> {
        OutputOptions { force, inputs: Vec::new() }.replace(path).map(drop)?;
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.output = Some(path.to_owned());
        Ok(())
    }

    /// Adds a capture, whose packets are in the file `input`, if they are in one.
    pub(super) fn read(
        &self,
        reader: &mut CaptureReader,
        input: Option<FileId>,
    ) -> Result<ReportedCapture> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.inputs.extend(input);
        if let Some(path) = &open.output {
            let inputs = open.inputs.clone();
            OutputOptions { force: true, inputs }.check_inputs(path, &path.to_string_lossy())?;
        }
        open.report.as_mut().ok_or_else(written)?.read(reader)
    }

    /// Writes the page, once all captures were read. It replaces none of them, and another capture, a table or a store only
    /// with `force`.
    ///
    /// # Errors
    /// Those of [`Report::write_to`]; `Closed` where it was written before.
    pub fn write_to(&self, path: &Path, force: bool) -> Result<()> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (report, inputs) = (open.report.take(), std::mem::take(&mut open.inputs));
        drop(open);
        report.ok_or_else(written)?.write_to(path, &OutputOptions { force, inputs })
    }
}

fn written() -> Error {
    Error::new(ErrorKind::Closed, "expected a report under way, found it written")
}
