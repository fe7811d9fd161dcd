//! Task `growth`: each single put on the way to all records, and the memory above keys and values at
//! every size on that way.

use std::time::{Duration, Instant};

use crate::process::processor_s;
use crate::{Engine, Records, Report, Resident, Result};

/// From where on memory is looked at, and by which factor the number of records grows until it is
/// looked at again.
const LOOKED_AT_MIN: usize = 100_000;
const STEP: f64 = 1.03;

/// Puts between two looks at the processor's clock, which takes as long as a put, and from where on a
/// put is long enough to look at once more: by this much at most, puts before it count with it.
const OWN_EVERY: usize = 64;
const LONG: Duration = Duration::from_micros(100);

pub fn run<E: Engine>(records: &Records, create: impl FnOnce() -> E) -> Result<Report> {
    let mut stream = records.stream()?;
    let mut durations = Durations::new();
    let mut overhead = Overhead::new(records)?;
    let mut engine = create();
    let mut count = 0;
    while let Some((key, value)) = stream.advance()? {
        if count % OWN_EVERY == 0 {
            durations.own_from = processor_s();
        }
        let start = Instant::now();
        engine.put(key, value)?;
        durations.add(start.elapsed());
        count += 1;
        overhead.look(count)?;
    }
    let mut report = Report::default();
    report
        .figure("longest_put_s", durations.longest.as_secs_f64())
        .figure("longest_put_own_s", durations.longest_own.as_secs_f64())
        .figure("put_9999_s", durations.of_ten_thousand(9_999).as_secs_f64())
        .figure("overhead_bytes_per_record", overhead.worst)
        .figure("overhead_worst_at", overhead.worst_at as f64);
    report.records(records, &engine)?;
    Ok(report)
}

/// Numbers of puts by their duration in microseconds.
struct Durations {
    counts: Vec<u32>,
    count: u64,
    longest: Duration,
    /// Without what the system gave to other programs meanwhile.
    longest_own: Duration,
    /// The processor time not long ago.
    own_from: f64,
}

impl Durations {
    const MICROSECONDS_MAX: usize = 10_000;

    fn new() -> Durations {
        // Ones, not zeroes, because then its pages are there before memory is looked at.
        let counts = vec![1; Self::MICROSECONDS_MAX + 1];
        Durations {
            counts,
            count: 0,
            longest: Duration::ZERO,
            longest_own: Duration::ZERO,
            own_from: 0.0,
        }
    }

    fn add(&mut self, took: Duration) {
        self.count += 1;
        self.longest = self.longest.max(took);
        let own = if took > LONG { took.min(self.own_at_most()) } else { took };
        self.longest_own = self.longest_own.max(own);
        let microseconds = (took.as_micros() as usize).min(Self::MICROSECONDS_MAX);
        self.counts[microseconds] += 1;
    }

    /// Returns the processor time of this program since it was last looked at.
    fn own_at_most(&self) -> Duration {
        Duration::from_secs_f64((processor_s() - self.own_from).max(0.0))
    }

    /// The duration below which `share` of ten thousand puts stayed.
    fn of_ten_thousand(&self, share: u64) -> Duration {
        let mut left = self.count * share / 10_000;
        let microseconds = self.counts.iter().position(|count| {
            let puts = u64::from(*count - 1);
            let reached = puts >= left;
            left = left.saturating_sub(puts);
            reached
        });
        microseconds.map_or(self.longest, |below| Duration::from_micros(below as u64 + 1))
    }
}

/// The most memory above keys and values, in bytes a record. Only anonymous memory counts: the pages of
/// the program's own code, which come with the first puts, would be more than a byte a record where
/// there are few.
struct Overhead {
    before: Resident,
    record_len: usize,
    next_look: usize,
    worst: f64,
    worst_at: usize,
}

impl Overhead {
    fn new(records: &Records) -> Result<Overhead> {
        Ok(Overhead {
            before: Resident::now()?,
            record_len: records.key_len + records.value_len,
            next_look: LOOKED_AT_MIN.min(records.count),
            worst: 0.0,
            worst_at: 0,
        })
    }

    fn look(&mut self, count: usize) -> Result<()> {
        if count < self.next_look {
            return Ok(());
        }
        self.next_look = (count as f64 * STEP) as usize + 1;
        let overhead = self.before.growth()?.anonymous / count as f64 - self.record_len as f64;
        if overhead > self.worst {
            (self.worst, self.worst_at) = (overhead, count);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_put_in_ten_thousand_shows_only_in_the_longest() {
        let mut durations = Durations::new();
        for _ in 0..9_999 {
            durations.add(Duration::from_micros(3));
        }
        durations.add(Duration::from_millis(40));
        assert_eq!(durations.of_ten_thousand(9_999), Duration::from_micros(4));
        assert_eq!(durations.longest, Duration::from_millis(40));
    }

    #[test]
    fn a_put_that_waited_for_the_processor_is_long_only_by_the_clock_on_the_wall() {
        let mut durations = Durations::new();
        durations.own_from = processor_s();
        durations.add(Duration::from_secs(3600));
        assert_eq!(durations.longest, Duration::from_secs(3600));
        assert!(durations.longest_own < Duration::from_secs(60));
    }
}
