//! Task `churn`: what stays resident when most records go, and when others of another size come.

use generator::random::Random;

use crate::report::Checksum;
use crate::{Engine, Loaded, Records, Report, Resident, Result};

const SEED: u64 = 11;
const DELETED_PERCENT: usize = 90;
/// Lengths of the values that come after.
const REFILL_LEN: (usize, usize) = (200, 1000);

pub fn run<E: Engine>(records: &Records, create: impl FnOnce() -> E) -> Result<Report> {
    let loaded = records.load()?;
    let order = records.order(records.count)?;
    let (deleted, kept) = order.split_at(records.count * DELETED_PERCENT / 100);
    let before = Resident::now()?;
    let mut engine = create();
    for (key, value) in loaded.iter() {
        engine.put(key, value)?;
    }
    for number in deleted {
        engine.delete(loaded.key(*number))?;
    }
    let record_len = records.key_len + records.value_len;
    let after_delete = before.growth()?.total / (kept.len() * record_len) as f64;
    let refilled = refill(records, &loaded, deleted, kept.len() * record_len, &mut engine)?;
    let after_shift = before.growth()?.total / refilled.live_bytes as f64;

    let mut checksum = Checksum::default();
    for number in kept.iter().chain(&deleted[..refilled.count]) {
        if !engine.get(loaded.key(*number), |value| checksum.add(value))? {
            return Err("a record is missing".into());
        }
    }
    let mut report = Report::default();
    report
        .answer("records", engine.len()?)
        .answer("crc", checksum.value())
        .figure("after_delete_ratio", after_delete)
        .figure("after_shift_ratio", after_shift);
    Ok(report)
}

struct Refilled {
    count: usize,
    live_bytes: usize,
}

/// Puts longer values under the keys that were deleted, until as many bytes are live as at first.
fn refill(
    records: &Records,
    loaded: &Loaded,
    deleted: &[u32],
    mut live_bytes: usize,
    engine: &mut impl Engine,
) -> Result<Refilled> {
    let mut random = Random::new(SEED);
    let mut pool = vec![0; 64 << 10];
    random.fill(&mut pool);
    let mut count = 0;
    while live_bytes < records.payload_bytes() as usize && count < deleted.len() {
        let len = random.between(REFILL_LEN.0, REFILL_LEN.1);
        let start = random.below(pool.len() - len);
        engine.put(loaded.key(deleted[count]), &pool[start..start + len])?;
        live_bytes += records.key_len + len;
        count += 1;
    }
    Ok(Refilled { count, live_bytes })
}
