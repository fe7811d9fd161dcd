//! Task `memory`: what a table of all records takes. Nothing else is kept meanwhile.

use crate::{Engine, Records, Report, Resident, Result};

pub fn run<E: Engine>(records: &Records, create: impl FnOnce() -> E) -> Result<Report> {
    let mut stream = records.stream()?;
    let before = Resident::now()?;
    let mut engine = create();
    while let Some((key, value)) = stream.advance()? {
        engine.put(key, value)?;
    }
    let grown = before.growth()?;
    let mut report = Report::default();
    report
        .figure("grown_bytes", grown.total)
        .figure("anonymous_bytes", grown.anonymous)
        .figure("payload_bytes", records.payload_bytes() as f64);
    report.records(records, &engine)?;
    Ok(report)
}
