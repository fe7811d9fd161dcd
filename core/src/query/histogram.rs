//! Counts of numbers, such as latencies, in bounded memory: exact below 64, and within 1/32 above.
//!
//! Numbers with the same six upper bits share a bucket:
//!
//! ```text
//! 0 .. 63        a bucket each
//! 64 .. 127      two numbers a bucket: 32 buckets
//! 128 .. 255     four numbers a bucket: 32 buckets
//! ```

/// Buckets for each power of two.
const PER_OCTAVE: u32 = 32;
const PER_OCTAVE_BITS: u32 = PER_OCTAVE.trailing_zeros();

// Bound (Flows): histogram of a method = 1,920 buckets of 16 bytes.
/// Counts of numbers by their size. At most 1,920 buckets, of which those that are used take 16 bytes each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Numbers of buckets and their counts, in order.
    buckets: Vec<(u16, u64)>,
    count: u64,
    max: u64,
}

impl Histogram {
    /// No number yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a number.
    pub fn add(&mut self, number: u64) {
        self.add_to(bucket_of(number), 1);
        self.max = self.max.max(number);
    }

    fn add_to(&mut self, bucket: u16, count: u64) {
        self.count = self.count.saturating_add(count);
        match self.buckets.binary_search_by_key(&bucket, |(number, _)| *number) {
            Ok(place) => {
                if let Some((_, sum)) = self.buckets.get_mut(place) {
                    *sum = sum.saturating_add(count);
                }
            }
            Err(place) => self.buckets.insert(place, (bucket, count)),
        }
    }

    /// Counts what another one has counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (bucket, count) in &other.buckets {
            self.add_to(*bucket, *count);
        }
        self.max = self.max.max(other.max);
    }

    /// Numbers that were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest of them, 0 without any.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The number that `per_mille` of 1000 are not above: 500 is the median. It is the largest of its bucket, but
    /// not above [`Self::max`]; `None` without any number.
    pub fn quantile(&self, per_mille: u32) -> Option<u64> {
        let wanted = u128::from(self.count) * u128::from(per_mille.min(1000));
        let rank = wanted.div_ceil(1000).max(1) as u64;
        let mut seen = 0u64;
        for (bucket, count) in &self.buckets {
            seen = seen.saturating_add(*count);
            if seen >= rank {
                return Some(largest_of(*bucket).min(self.max));
            }
        }
        None
    }

    /// The buckets that are used and their counts, in order.
    pub(crate) fn buckets(&self) -> &[(u16, u64)] {
        &self.buckets
    }

    /// A histogram of such buckets; `None` where they are out of order, or not buckets of this crate.
    pub(crate) fn of(buckets: Vec<(u16, u64)>, max: u64) -> Option<Self> {
        let in_order = buckets.is_sorted_by(|left, right| left.0 < right.0);
        let is_known = buckets.last().is_none_or(|(last, _)| *last <= bucket_of(u64::MAX));
        let count = buckets.iter().try_fold(0u64, |sum, (_, count)| sum.checked_add(*count))?;
        (in_order && is_known).then_some(Histogram { buckets, count, max })
    }
}

/// The bucket of a number.
fn bucket_of(number: u64) -> u16 {
    // The upper bits of the number, and how many there are below them.
    let below = (u64::BITS - number.leading_zeros()).saturating_sub(PER_OCTAVE_BITS + 1);
    let upper = (number >> below) as u32;
    (below * PER_OCTAVE + upper) as u16
}

/// The largest number of a bucket.
fn largest_of(bucket: u16) -> u64 {
    let bucket = u32::from(bucket);
    let below = (bucket / PER_OCTAVE).saturating_sub(1);
    let upper = u64::from(bucket - below * PER_OCTAVE);
    let smallest = u128::from(upper) << below;
    u64::try_from(smallest + (1 << below) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_in_the_bucket_that_has_it() {
        let mut last = 0;
        for number in (0..5000).chain((0..64).map(|bit| 1 << bit)).chain([u64::MAX - 1, u64::MAX]) {
            let bucket = bucket_of(number);
            assert!(largest_of(bucket) >= number && number >= last.min(number));
            assert!(bucket == 0 || largest_of(bucket - 1) < number);
            assert!(largest_of(bucket) - number <= number / 32, "{number}");
            last = number;
        }
        assert!(bucket_of(u64::MAX) < 1920);
    }

    #[test]
    fn quantiles_are_within_a_bucket_of_the_sorted_numbers() {
        let mut histogram = Histogram::new();
        let mut numbers: Vec<u64> = (0..10_000u64).map(|at| at * at * 7919 % 1_000_003).collect();
        let (left, right) = numbers.split_at(3000);
        let mut other = Histogram::new();
        left.iter().for_each(|number| histogram.add(*number));
        right.iter().for_each(|number| other.add(*number));
        histogram.merge(&other);
        numbers.sort_unstable();
        for per_mille in [1, 500, 900, 990, 1000] {
            let exact = numbers[(10_000 * per_mille as usize).div_ceil(1000) - 1];
            let found = histogram.quantile(per_mille).unwrap();
            assert!(found >= exact && found - exact <= exact / 32, "{per_mille}: {found}, {exact}");
        }
        assert_eq!(histogram.quantile(1000), Some(histogram.max()));
        assert_eq!(Histogram::new().quantile(500), None);
        let again = Histogram::of(histogram.buckets().to_vec(), histogram.max());
        assert_eq!(again, Some(histogram));
    }
}
