//! Smallest, largest, mean and deviation of numbers that come one by one.

/// The numbers so far, by Welford's method (Technometrics 4, 1962), which loses no digits where the deviation is small.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spread {
    count: u64,
    least: u64,
    most: u64,
    mean: f64,
    /// The sum of the squares of the distances from the mean.
    squares: f64,
}

impl Spread {
    pub(super) fn add(&mut self, number: u64) {
        self.least = if self.count == 0 { number } else { self.least.min(number) };
        self.most = self.most.max(number);
        self.count += 1;
        let distance = number as f64 - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (number as f64 - self.mean);
    }

    /// The smallest number.
    pub(super) fn least(&self) -> Option<u64> {
        (self.count > 0).then_some(self.least)
    }

    /// The largest number.
    pub(super) fn most(&self) -> Option<u64> {
        (self.count > 0).then_some(self.most)
    }

    /// The mean.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The standard deviation of a sample; none of fewer than two numbers.
    pub(super) fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn a_spread_is_that_of_all_its_numbers_at_once() {
        let numbers = [60_u64, 60, 1514, 1514, 590];
        let mut spread = Spread::default();
        assert_eq!((spread.least(), spread.mean(), spread.deviation()), (None, None, None));
        numbers.into_iter().for_each(|number| spread.add(number));
        let mean = numbers.iter().sum::<u64>() as f64 / 5.0;
        let squares: f64 = numbers.iter().map(|number| (*number as f64 - mean).powi(2)).sum();
        assert_eq!((spread.least(), spread.most()), (Some(60), Some(1514)));
        let is_near = |found: Option<f64>, expected: f64| {
            found.is_some_and(|found| (found - expected).abs() < 1e-9)
        };
        assert!(is_near(spread.mean(), mean));
        assert!(is_near(spread.deviation(), (squares / 4.0).sqrt()));
    }

    #[test]
    fn one_number_has_no_deviation() {
        let mut spread = Spread::default();
        spread.add(7);
        assert_eq!((spread.mean(), spread.deviation()), (Some(7.0), None));
    }
}
