//! Limits of a capture, or of each file of one that is in files one after another.

use std::str::FromStr;

use crate::error::excerpt;
use crate::options::duration_ns;
use crate::{Error, ErrorKind, Result};

/// Units of lengths, in bytes.
const BYTE_UNITS: [(&str, u64); 7] = [
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("B", 1),
];

/// Least length of a file in bytes: room for a header and the longest of most packets.
const BYTES_MIN: u64 = 4096;

/// Least interval in nanoseconds: the names of files have seconds.
const INTERVAL_MIN: f64 = 1e9;

/// Limits of a capture, or of each file of it: whichever comes first ends it.
///
/// ```
/// use bytewright::export::CaptureLimits;
/// # fn main() -> bytewright::Result<()> {
/// let limits: CaptureLimits = "1h,100MB".parse()?;
/// assert_eq!((limits.interval, limits.bytes), (Some(3_600_000_000_000), Some(100_000_000)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureLimits {
    /// Nanoseconds. Of files one after another, a packet in another of the intervals that begin at 1970-01-01 00:00 UTC begins the
    /// next.
    pub interval: Option<i64>,
    /// Bytes: of a file, or of the packets of a capture as far as they were captured.
    pub bytes: Option<u64>,
    /// Packets.
    pub packets: Option<u64>,
}

impl FromStr for CaptureLimits {
    type Err = Error;

    /// Reads limits with commas between: `1h`, `100MB`, `50000p`.
    fn from_str(text: &str) -> Result<CaptureLimits> {
        let mut limits = CaptureLimits::default();
        for limit in text.split(',') {
            if !limits.take(limit.trim()) {
                let message = format!(
                    "expected limits with commas between, such as 1h (1s or more), 100MB (4 kB or more) or 50000p \
                     (packets), found {}",
                    excerpt(limit)
                );
                return Err(Error::new(ErrorKind::Argument, message));
            }
        }
        Ok(limits)
    }
}

impl CaptureLimits {
    /// Takes one limit; false for other text, and where there is one of its kind.
    fn take(&mut self, limit: &str) -> bool {
        let number = |unit: &str| limit.strip_suffix(unit)?.trim_end().parse::<f64>().ok();
        let bytes = BYTE_UNITS
            .iter()
            .find_map(|(unit, bytes)| Some(number(unit)? * *bytes as f64))
            .filter(|bytes| (BYTES_MIN as f64..9e18).contains(bytes));
        if let Some(bytes) = bytes {
            return self.bytes.replace(bytes as u64).is_none();
        }
        let packets = limit.strip_suffix('p').and_then(|count| count.trim_end().parse().ok());
        if let Some(packets) = packets.filter(|count: &u64| *count > 0) {
            return self.packets.replace(packets).is_none();
        }
        let interval = duration_ns(limit).filter(|ns| (INTERVAL_MIN..9e18).contains(ns));
        interval.is_some_and(|ns| self.interval.replace(ns as i64).is_none())
    }

    /// Returns the end of the interval with the time `ts`, both in nanoseconds since 1970.
    pub(super) fn end_of_interval(&self, ts: i64) -> Option<i64> {
        let interval = self.interval?;
        Some(ts.div_euclid(interval).saturating_add(1).saturating_mul(interval))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_by_their_units() {
        let read = |text: &str| text.parse::<CaptureLimits>();
        let all = CaptureLimits {
            interval: Some(90_000_000_000),
            bytes: Some(1 << 30),
            packets: Some(7),
        };
        assert_eq!(read("1.5m, 1GiB ,7p").unwrap(), all);
        assert_eq!(read("1h").unwrap().interval, Some(3_600_000_000_000));
        assert_eq!(read("100 MB").unwrap().bytes, Some(100_000_000));
        for text in
            ["", "1", "1h,2h", "100", "0p", "-1h", "0.5s", "100B", "1p2", "h", "1.5p", "1h,"]
        {
            let error = read(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{text}");
        }
    }

    #[test]
    fn intervals_begin_at_their_multiples() {
        let hourly: CaptureLimits = "1h".parse().unwrap();
        let hour = 3_600_000_000_000;
        assert_eq!(hourly.end_of_interval(0), Some(hour));
        assert_eq!(hourly.end_of_interval(hour - 1), Some(hour));
        assert_eq!(hourly.end_of_interval(hour), Some(2 * hour));
        assert_eq!(hourly.end_of_interval(-1), Some(0));
        assert_eq!(hourly.end_of_interval(i64::MAX), Some(i64::MAX));
    }
}
