//! A report under way over captures, and what became of them.

use bytewright::report::{ReportOptions, ReportedCapture, ReportedField};
use bytewright::session;
use magnus::{Error, RString, Ruby, Value, function, method, prelude::*};

use crate::border::{lock, path_of};
use crate::class;
use crate::error::{damage, raised};
use crate::record::row_to_hash;

/// A report under way over one or more captures, one pass after another.
#[magnus::wrap(class = "Bytewright::OpenReport", free_immediately, size)]
pub(crate) struct OpenReport(pub(crate) session::OpenReport);

impl OpenReport {
    /// `OpenReport.new(title, filter, flow, where)`.
    fn new(
        ruby: &Ruby,
        title: Option<String>,
        filter: Option<String>,
        flow: Option<String>,
        condition: Option<String>,
    ) -> Result<Self, Error> {
        let report = session::OpenReport::new(ReportOptions { title, filter, flow, condition });
        raised(ruby, report).map(OpenReport)
    }

    fn expect_output(ruby: &Ruby, this: &Self, path: RString, force: bool) -> Result<(), Error> {
        let (report, path) = (this.0.clone(), path_of(path)?);
        raised(ruby, lock::to_the_end(ruby, || report.expect_output(&path, force))?)
    }

    fn write_to(ruby: &Ruby, this: &Self, path: RString, force: bool) -> Result<(), Error> {
        let (report, path) = (this.0.clone(), path_of(path)?);
        raised(ruby, lock::to_the_end(ruby, || report.write_to(&path, force))?)
    }
}

/// What became of a capture that went into a report, as a Hash.
pub(crate) fn reported_to_hash(ruby: &Ruby, reported: &ReportedCapture) -> Result<Value, Error> {
    let hash = row_to_hash(ruby, &reported.to_batch(), 0)?;
    let damage = damage(ruby, reported.damage.as_ref());
    hash.aset(ruby.to_symbol(ReportedField::Damage.name()), damage)?;
    Ok(hash.as_value())
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<OpenReport>(ruby, "OpenReport")?;
    class.define_singleton_method("new", function!(OpenReport::new, 4))?;
    class.define_method("expect_output", method!(OpenReport::expect_output, 2))?;
    class.define_method("write_to", method!(OpenReport::write_to, 2))?;
    Ok(())
}
