//! Task `churn`: values by a number, most of 100 bytes, that are put again and again, then for the most
//! part deleted, then in place of those others of 200 to 1000 bytes, until as many bytes are alive as
//! before. How long putting takes, and what is resident by bytes alive.

mod engines;

use generator::random::Random;
use table_workload::{Checksum, Report, Resident, Result, processor_s};

use engines::{BoxedValues, HashMapped, InHashTable, InRecordHeap};

const SEED: u64 = 12;
const VALUE_LEN: usize = 100;
/// Values put anew, for each that there is.
const PUTS_PER_VALUE: u32 = 3;
const DELETED_PERCENT: usize = 90;
/// Lengths of the values that come after.
const SHIFTED_LEN: (usize, usize) = (200, 1000);
/// Values are pieces of it.
const POOL_LEN: usize = 64 << 10;

/// Values by a number.
trait Values {
    fn put(&mut self, number: u32, value: &[u8]) -> Result<()>;
    fn delete(&mut self, number: u32) -> Result<()>;
    fn get(&self, number: u32) -> Option<&[u8]>;
}

/// Runs the task on `count` values. `None` where there is no such engine.
pub fn run(engine: &str, count: u32) -> Result<Option<Report>> {
    let report = match engine {
        "record-heap" => Run::new(count, InRecordHeap::new)?.measure(),
        "boxes" => Run::new(count, BoxedValues::new)?.measure(),
        "hash-table" => Run::new(count, |_| InHashTable::default())?.measure(),
        "hash-map" => Run::new(count, |_| HashMapped::default())?.measure(),
        _ => return Ok(None),
    };
    report.map(Some)
}

struct Run<V> {
    values: V,
    count: u32,
    random: Random,
    pool: Vec<u8>,
    /// The numbers in a random order: the first ones are deleted.
    order: Vec<u32>,
    before: Resident,
}

impl<V: Values> Run<V> {
    fn new(count: u32, create: impl FnOnce(usize) -> V) -> Result<Self> {
        let mut random = Random::new(SEED);
        let mut pool = vec![0; POOL_LEN];
        random.fill(&mut pool);
        let order = shuffled(count, &mut random);
        let before = Resident::now()?;
        Ok(Run { values: create(count as usize), count, random, pool, order, before })
    }

    fn measure(mut self) -> Result<Report> {
        for number in 0..self.count {
            self.put(number, VALUE_LEN)?;
        }
        let start_s = processor_s();
        for _ in 0..self.count * PUTS_PER_VALUE {
            let number = self.random.below(self.count as usize) as u32;
            self.put(number, VALUE_LEN)?;
        }
        let put_s = processor_s() - start_s;
        let after_delete = self.delete_most()?;
        let start_s = processor_s();
        let (end, live_bytes) = self.shift()?;
        let shift_s = processor_s() - start_s;
        let after_shift = self.before.growth()?.total / live_bytes as f64;
        let mut report = self.answer(end)?;
        report
            .figure("put_s", put_s)
            .figure("shift_s", shift_s)
            .figure("after_delete_ratio", after_delete)
            .figure("after_shift_ratio", after_shift);
        Ok(report)
    }

    #[inline]
    fn put(&mut self, number: u32, len: usize) -> Result<()> {
        let start = self.random.below(POOL_LEN - len);
        self.values.put(number, &self.pool[start..start + len])
    }

    fn deleted_count(&self) -> usize {
        self.count as usize * DELETED_PERCENT / 100
    }

    /// Deletes most values; returns the resident bytes for each byte alive afterwards.
    fn delete_most(&mut self) -> Result<f64> {
        let deleted = self.deleted_count();
        for number in &self.order[..deleted] {
            self.values.delete(*number)?;
        }
        let live_bytes = (self.count as usize - deleted) * VALUE_LEN;
        Ok(self.before.growth()?.total / live_bytes as f64)
    }

    /// Puts longer values in the place of those that were deleted. Gives how many, and the bytes alive.
    fn shift(&mut self) -> Result<(usize, usize)> {
        let deleted = self.deleted_count();
        let wanted_bytes = self.count as usize * VALUE_LEN;
        let mut live_bytes = (self.count as usize - deleted) * VALUE_LEN;
        for at in 0..deleted {
            if live_bytes >= wanted_bytes {
                return Ok((at, live_bytes));
            }
            let len = self.random.between(SHIFTED_LEN.0, SHIFTED_LEN.1);
            self.put(self.order[at], len)?;
            live_bytes += len;
        }
        Ok((deleted, live_bytes))
    }

    /// Every value that must be there: the first `end` of those that were deleted, and those that were not.
    fn answer(&self, end: usize) -> Result<Report> {
        let mut checksum = Checksum::default();
        let kept = &self.order[self.deleted_count()..];
        for number in self.order[..end].iter().chain(kept) {
            checksum.add(self.values.get(*number).ok_or("a value is missing")?);
        }
        let gone = self.order[end..self.deleted_count()].iter();
        if gone.into_iter().any(|number| self.values.get(*number).is_some()) {
            return Err("a value is there that was deleted".into());
        }
        let mut report = Report::default();
        report.answer("values", (end + kept.len()) as u64).answer("crc", checksum.value());
        Ok(report)
    }
}

/// Fisher and Yates.
fn shuffled(count: u32, random: &mut Random) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}
