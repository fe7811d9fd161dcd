//! Task `commits`: puts in commits of one length, gets in shuffled order, a scan, and deletions of most records, with what the
//! file takes after the puts and after the deletions.

use std::path::Path;

use crate::process::{processor_s, thread_s};
use crate::report::Checksum;
use crate::stored::disk_bytes;
use crate::{Loaded, Records, Report, Result, StoredEngine};

const DELETED_PERCENT: usize = 90;

pub fn run<E: StoredEngine>(
    records: &Records,
    folder: &Path,
    commit_len: usize,
    create: impl FnOnce() -> Result<E>,
) -> Result<Report> {
    let loaded = records.load()?;
    let order = records.order(records.count)?;
    let mut engine = create()?;
    let mut report = Report::default();
    put(&loaded, commit_len, &mut engine, &mut report)?;
    report.figure("file_bytes", disk_bytes(folder)? as f64);
    read(&loaded, &order, &engine, &mut report)?;
    let (deleted, kept) = order.split_at(records.count * DELETED_PERCENT / 100);
    for numbers in deleted.chunks(commit_len) {
        engine.delete_all(&mut numbers.iter().map(|number| loaded.key(*number)))?;
    }
    report.figure("left_open_file_bytes", disk_bytes(folder)? as f64);

    let mut checksum = Checksum::default();
    let mut keys = kept.iter().map(|number| loaded.key(*number));
    engine.get_all(&mut keys, &mut |value| checksum.add(value))?;
    report.answer("records", engine.count()?).answer("crc", checksum.value());
    drop(engine);
    report.figure("left_file_bytes", disk_bytes(folder)? as f64);
    Ok(report)
}

fn put(
    loaded: &Loaded,
    commit_len: usize,
    engine: &mut impl StoredEngine,
    report: &mut Report,
) -> Result<()> {
    let mut records = loaded.iter();
    let mut longest_s: f64 = 0.0;
    let start_s = processor_s();
    for _ in 0..loaded.len().div_ceil(commit_len) {
        let commit_start_s = thread_s();
        engine.put_all(&mut records.by_ref().take(commit_len))?;
        longest_s = longest_s.max(thread_s() - commit_start_s);
    }
    report.figure("put_s", processor_s() - start_s).figure("longest_commit_s", longest_s);
    Ok(())
}

fn read(
    loaded: &Loaded,
    order: &[u32],
    engine: &impl StoredEngine,
    report: &mut Report,
) -> Result<()> {
    let mut got = Sum::default();
    let start_s = processor_s();
    let mut keys = order.iter().map(|number| loaded.key(*number));
    engine.get_all(&mut keys, &mut |value| got.add(value))?;
    let got_s = processor_s();
    let mut scanned = Sum::default();
    engine.scan(&mut |_, value| scanned.add(value))?;
    report.figure("get_s", got_s - start_s).figure("scan_s", processor_s() - got_s);
    report.answer("got", got.0).answer("scanned", scanned.0);
    Ok(())
}

/// Sum of values, whatever their order, that costs next to nothing.
#[derive(Default)]
struct Sum(u64);

impl Sum {
    fn add(&mut self, value: &[u8]) {
        let number = value.first_chunk().map_or(1, |bytes| u64::from_le_bytes(*bytes));
        self.0 = self.0.wrapping_add(number ^ value.len() as u64);
    }
}
