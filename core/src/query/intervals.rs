//! Numbers that a field of rows that meet a condition may have, as intervals: what lies outside needs no look.

// Bound (Captures): intervals of a condition = 65,536.
/// More are joined where the gaps are.
const INTERVALS_MAX: usize = 65_536;

/// Sets of integers: intervals in their order, which do not touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intervals(Vec<(i128, i128)>);

impl Intervals {
    /// All integers.
    pub fn all() -> Self {
        Intervals(vec![(i128::MIN, i128::MAX)])
    }

    /// The integers from `first` to `last`, both included.
    pub fn between(first: i128, last: i128) -> Self {
        Intervals::of(vec![(first, last)])
    }

    /// Those of any of these intervals.
    pub fn of(intervals: Vec<(i128, i128)>) -> Self {
        let mut joined = joined(intervals);
        if let (true, Some((first, _)), Some((_, last))) =
            (joined.len() > INTERVALS_MAX, joined.first(), joined.last())
        {
            joined = vec![(*first, *last)];
        }
        Intervals(joined)
    }

    /// The integers that are in both.
    #[must_use]
    pub fn and(&self, other: &Intervals) -> Self {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(&&(first, last)), Some(&&(other_first, other_last))) =
            (left.peek(), right.peek())
        {
            both.push((first.max(other_first), last.min(other_last)));
            if last < other_last {
                left.next()
            } else {
                right.next()
            };
        }
        Intervals::of(both)
    }

    /// The integers that are in one of them.
    #[must_use]
    pub fn or(&self, other: &Intervals) -> Self {
        Intervals::of([self.0.as_slice(), &other.0].concat())
    }

    /// Returns true if an integer from `first` to `last` is in the set.
    pub fn meet(&self, first: i128, last: i128) -> bool {
        let next = self.0.partition_point(|interval| interval.1 < first);
        self.0.get(next).is_some_and(|interval| interval.0 <= last)
    }

    /// Returns true if all integers are in it.
    pub fn are_all(&self) -> bool {
        self.0 == [(i128::MIN, i128::MAX)]
    }

    /// The last integer; none of an empty set.
    pub fn last(&self) -> Option<i128> {
        self.0.last().map(|interval| interval.1)
    }
}

/// Intervals in their order, of which none touch; empty ones are left out.
pub(super) fn joined(mut intervals: Vec<(i128, i128)>) -> Vec<(i128, i128)> {
    intervals.retain(|(first, last)| first <= last);
    intervals.sort_unstable();
    let mut joined: Vec<(i128, i128)> = Vec::with_capacity(intervals.len());
    for (first, last) in intervals {
        match joined.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_what_sets_of_integers_do() {
        // Every set of numbers below 8, twice.
        let set = |bits: u32| {
            let numbers = (0..8).filter(|number| bits >> number & 1 == 1);
            Intervals::of(numbers.map(|number| (number, number)).collect())
        };
        for (left, right) in (0..256).flat_map(|left| (0..256).map(move |right| (left, right))) {
            assert_eq!(set(left).and(&set(right)), set(left & right));
            assert_eq!(set(left).or(&set(right)), set(left | right));
        }
        for bits in 0..256_u32 {
            for (first, last) in (0..9).flat_map(|first| (first..9).map(move |last| (first, last)))
            {
                let meets = (first..=last).any(|number| number < 8 && bits >> number & 1 == 1);
                assert_eq!(set(bits).meet(first, last), meets);
            }
            assert_eq!(set(bits).and(&Intervals::all()), set(bits));
            assert!(set(bits).or(&Intervals::all()).are_all());
        }
    }
}
