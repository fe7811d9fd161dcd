//! Task `times`: processor time of all puts in the file's order and all gets in shuffled order, with
//! keys and values in memory before.

use crate::process::processor_s;
use crate::{Engine, Records, Report, Result};

pub fn run(records: &Records, engine: &mut impl Engine) -> Result<Report> {
    let loaded = records.load()?;
    let order = records.order(records.count)?;
    let start_s = processor_s();
    for (key, value) in loaded.iter() {
        engine.put(key, value)?;
    }
    let stored_s = processor_s();
    let mut value_bytes = 0;
    for number in &order {
        engine.get(loaded.key(*number), |value| value_bytes += value.len() as u64)?;
    }
    let got_s = processor_s();
    let mut report = Report::default();
    report
        .answer("value_bytes", value_bytes)
        .figure("put_s", stored_s - start_s)
        .figure("get_s", got_s - stored_s);
    report.records(records, engine)?;
    Ok(report)
}
