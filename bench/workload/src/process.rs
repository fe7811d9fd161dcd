//! Costs of this process: memory that is resident, and processor time.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

use crate::Result;

/// Resident memory in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Resident {
    pub total: u64,
    /// Without what is mapped from files.
    pub anonymous: u64,
}

impl Resident {
    /// Counted page by page. The sums in /proc/self/status are up to a megabyte behind where a
    /// machine has several processors, which matters for small tables.
    pub fn now() -> Result<Resident> {
        let rollup = fs::read_to_string("/proc/self/smaps_rollup")?;
        let bytes = |name: &str| -> Result<u64> {
            let line = rollup.lines().find_map(|line| line.strip_prefix(name));
            let kilobytes = line.and_then(|rest| rest.split_whitespace().next());
            Ok(kilobytes.ok_or("smaps_rollup has no such line")?.parse::<u64>()? * 1024)
        };
        Ok(Resident { total: bytes("Rss:")?, anonymous: bytes("Anonymous:")? })
    }

    /// Returns the memory that was added since then.
    pub fn growth(self) -> Result<Growth> {
        let now = Resident::now()?;
        let total = now.total as f64 - self.total as f64;
        let anonymous = now.anonymous as f64 - self.anonymous as f64;
        Ok(Growth { total, anonymous })
    }
}

/// Resident memory that was added, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    pub total: f64,
    pub anonymous: f64,
}

/// Processor time of all threads of this process so far, in seconds.
pub fn processor_s() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

/// Processor time of this thread so far, in seconds.
pub fn thread_s() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
