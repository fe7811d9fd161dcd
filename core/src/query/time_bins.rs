//! Intervals of time whose width follows from the times themselves: fine for a second, coarse for a month, and never
//! more than so many.

/// Nanoseconds of the widths in use while times come in. Each divides the next, so that two intervals become one.
const STEPS: &[i64] = &[
    MICROSECOND,
    2 * MICROSECOND,
    10 * MICROSECOND,
    20 * MICROSECOND,
    100 * MICROSECOND,
    200 * MICROSECOND,
    MILLISECOND,
    2 * MILLISECOND,
    10 * MILLISECOND,
    20 * MILLISECOND,
    100 * MILLISECOND,
    200 * MILLISECOND,
    SECOND,
    2 * SECOND,
    10 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    10 * DAY,
    20 * DAY,
    100 * DAY,
    200 * DAY,
    1000 * DAY,
];

/// Widths that people read with ease, in the end.
const SHOWN: &[i64] = &[
    MICROSECOND,
    2 * MICROSECOND,
    5 * MICROSECOND,
    10 * MICROSECOND,
    20 * MICROSECOND,
    50 * MICROSECOND,
    100 * MICROSECOND,
    200 * MICROSECOND,
    500 * MICROSECOND,
    MILLISECOND,
    2 * MILLISECOND,
    5 * MILLISECOND,
    10 * MILLISECOND,
    20 * MILLISECOND,
    50 * MILLISECOND,
    100 * MILLISECOND,
    200 * MILLISECOND,
    500 * MILLISECOND,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    5 * DAY,
    10 * DAY,
    20 * DAY,
    50 * DAY,
    100 * DAY,
    200 * DAY,
    500 * DAY,
    1000 * DAY,
];

const MICROSECOND: i64 = 1000;
const MILLISECOND: i64 = 1000 * MICROSECOND;
const SECOND: i64 = 1000 * MILLISECOND;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

// Bound (Queries): intervals of a report = 2,048, of which at most 400 are shown.
/// Intervals while times come in: several for each that is shown.
const BINS_MAX: i64 = 2048;

/// The intervals of the times seen so far. Each begins at a multiple of the width since 1970, as those of
/// [`GroupBy`](super::GroupBy) do.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeBins {
    step: usize,
    /// The earliest and the latest time, nanoseconds since the epoch.
    span: Option<(i64, i64)>,
}

impl TimeBins {
    /// No time seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nanoseconds of an interval.
    pub fn width(&self) -> i64 {
        STEPS.get(self.step).copied().unwrap_or(DAY)
    }

    /// The earliest and the latest time.
    pub fn span(&self) -> Option<(i64, i64)> {
        self.span
    }

    /// Takes note of a time. Says whether intervals became wider by it.
    pub fn see(&mut self, ts: i64) -> bool {
        let (first, last) = self.span.map_or((ts, ts), |(a, z)| (a.min(ts), z.max(ts)));
        self.span = Some((first, last));
        let step = self.step;
        while self.step + 1 < STEPS.len() && count(first, last, self.width()) > BINS_MAX {
            self.step += 1;
        }
        self.step > step
    }

    /// The number of the interval that a time is in, counted from 1970.
    pub fn bin_of(&self, ts: i64) -> i64 {
        ts.div_euclid(self.width())
    }

    /// The narrowest of the widths that people read with ease, with which there are at most `shown_max` intervals.
    /// Intervals of [`Self::width`] go into it without a rest.
    pub fn shown_width(&self, shown_max: usize) -> i64 {
        let (first, last) = self.span.unwrap_or_default();
        let shown_max = i64::try_from(shown_max).unwrap_or(i64::MAX);
        let fits =
            |width: &&i64| **width % self.width() == 0 && count(first, last, **width) <= shown_max;
        SHOWN.iter().find(fits).copied().unwrap_or(1000 * DAY)
    }
}

/// Returns the number of intervals from the first time to the last.
fn count(first: i64, last: i64, width: i64) -> i64 {
    last.div_euclid(width) - first.div_euclid(width) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_width_divides_the_next_and_each_shown_one_can_be_reached() {
        assert!(STEPS.windows(2).all(|pair| pair[1] % pair[0] == 0 && pair[1] > pair[0]));
        assert!(SHOWN.is_sorted());
        for width in SHOWN {
            assert!(STEPS.iter().any(|step| width % step == 0), "{width}");
        }
    }

    #[test]
    fn widths_follow_the_span_of_time_and_intervals_stay_few() {
        let begin = 1_700_000_000 * SECOND + 123;
        let cases = [
            (1, MICROSECOND),
            (MILLISECOND, 5 * MICROSECOND),
            (SECOND, 5 * MILLISECOND),
            (60 * SECOND, 200 * MILLISECOND),
            (HOUR, 10 * SECOND),
            (DAY, 5 * MINUTE),
            (30 * DAY, 2 * HOUR),
            (365 * DAY, DAY),
        ];
        for (span, expected) in cases {
            let mut bins = TimeBins::new();
            bins.see(begin);
            bins.see(begin + span);
            assert_eq!(bins.shown_width(400), expected, "{span}");
            assert!(bins.bin_of(begin + span) - bins.bin_of(begin) < BINS_MAX);
        }
        let mut all = TimeBins::new();
        all.see(i64::MIN);
        assert!(all.see(i64::MAX));
        assert!(all.bin_of(i64::MAX) - all.bin_of(i64::MIN) < 1000 * BINS_MAX);
        assert_eq!(all.span(), Some((i64::MIN, i64::MAX)));
    }
}
