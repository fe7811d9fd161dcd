//! Task `file`: all puts, all gets in shuffled order, and what the table takes in memory and on disk.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use crate::process::processor_s;
use crate::report::Checksum;
use crate::{Records, Report, Resident, Result, StoredEngine};

/// Grouping of puts: one by one, or all in one transaction.
#[derive(Debug, Clone, Copy)]
pub enum Batch {
    Single,
    All,
}

pub fn run<E: StoredEngine>(
    records: &Records,
    folder: &Path,
    batch: Batch,
    create: impl FnOnce() -> Result<E>,
) -> Result<Report> {
    let loaded = records.load()?;
    let order = records.order(records.count)?;
    let before = Resident::now()?;
    let mut engine = create()?;
    let (start, start_s) = (Instant::now(), processor_s());
    match batch {
        Batch::Single => loaded.iter().try_for_each(|(key, value)| engine.put(key, value))?,
        Batch::All => engine.put_all(&mut loaded.iter())?,
    }
    let (stored, stored_s) = (start.elapsed(), processor_s());
    let grown = before.growth()?;
    let got_start_s = processor_s();
    let mut value_bytes = 0;
    let mut keys = order.iter().map(|number| loaded.key(*number));
    engine.get_all(&mut keys, &mut |value| value_bytes += value.len() as u64)?;
    let got_s = processor_s();
    engine.finish()?;

    let mut checksum = Checksum::default();
    let keys = Report::checked_keys(records)?;
    engine.get_all(&mut keys.iter().map(Vec::as_slice), &mut |value| checksum.add(value))?;
    let mut report = Report::default();
    report
        .answer("records", engine.count()?)
        .answer("value_bytes", value_bytes)
        .answer("crc", checksum.value())
        .figure("put_s", stored_s - start_s)
        .figure("put_wall_s", stored.as_secs_f64())
        .figure("get_s", got_s - got_start_s)
        .figure("grown_bytes", grown.total)
        .figure("anonymous_bytes", grown.anonymous)
        .figure("finished_folder_bytes", folder_bytes(folder)? as f64)
        .figure("payload_bytes", records.payload_bytes() as f64);
    Ok(report)
}

/// Length of all files in the folder.
fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}

/// Bytes that the files in the folder take on the disk.
pub fn disk_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.blocks() * 512;
    }
    Ok(bytes)
}
