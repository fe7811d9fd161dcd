//! A report under way over captures, and what became of them.

use std::path::PathBuf;

use bytewright::export::OutputOptions;
use bytewright::host;
use bytewright::input::CaptureOptions;
use bytewright::options::NamedOptions;
use bytewright::report::{ReportOptions, ReportedCapture, ReportedField};
use magnus::{Error, RHash, RString, Ruby, Value, function, method, prelude::*};

use crate::border::{lock, path_of};
use crate::class;
use crate::error::{damage, raised};
use crate::options::settings;
use crate::record::row_to_hash;

/// A report under way over one or more captures, one pass after another.
#[magnus::wrap(class = "Bytewright::OpenReport", free_immediately, size)]
pub(crate) struct OpenReport {
    pub(crate) report: host::OpenReport,
    path: PathBuf,
    force: bool,
}

impl OpenReport {
    /// `OpenReport.new(path, options)`: one whose page is going to be at `path`, where one may be written.
    fn new(ruby: &Ruby, path: RString, options: RHash) -> Result<Self, Error> {
        let path = path_of(path)?;
        let tables = &[ReportOptions::OPTIONS, OutputOptions::OPTIONS, CaptureOptions::OPTIONS];
        let settings = settings(ruby, tables, options)?;
        let OutputOptions { force, .. } = raised(ruby, settings.take())?;
        let options = raised(ruby, ReportOptions::of(&settings))?;
        let report = raised(ruby, host::OpenReport::new(options))?;
        raised(ruby, lock::to_the_end(ruby, || report.expect_output(&path, force))?)?;
        Ok(OpenReport { report, path, force })
    }

    fn write(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        let OpenReport { report, path, force } = this;
        let (report, path, force) = (report.clone(), path.clone(), *force);
        raised(ruby, lock::to_the_end(ruby, || report.write_to(&path, force))?)
    }
}

/// Returns the outcome of a capture that went into a report, as a Hash.
pub(crate) fn reported_to_hash(ruby: &Ruby, reported: &ReportedCapture) -> Result<Value, Error> {
    let hash = row_to_hash(ruby, &reported.to_batch(), 0)?;
    let damage = damage(ruby, reported.damage.as_ref())?;
    hash.aset(ruby.to_symbol(ReportedField::Damage.name()), damage)?;
    Ok(hash.as_value())
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<OpenReport>(ruby, "OpenReport")?;
    class.define_singleton_method("new", function!(OpenReport::new, 2))?;
    class.define_method("write", method!(OpenReport::write, 0))?;
    Ok(())
}
