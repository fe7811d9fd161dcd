//! Additional operations of a table that keeps its entries in the order of their keys.

use std::ops::{Bound, RangeBounds};

use super::{Scan, Snapshot, Table};
use crate::error::Result;

/// Range of keys, and the end that comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    /// Lower bound of the keys.
    pub from: Bound<Vec<u8>>,
    /// Upper bound of the keys.
    pub to: Bound<Vec<u8>>,
    /// True if the last key comes first.
    pub reverse: bool,
}

impl KeyRange {
    /// All keys, the lowest first.
    pub const ALL: KeyRange =
        KeyRange { from: Bound::Unbounded, to: Bound::Unbounded, reverse: false };

    /// The keys that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> KeyRange {
        KeyRange {
            from: Bound::Included(prefix.to_vec()),
            to: end_of_prefix(prefix).map_or(Bound::Unbounded, Bound::Excluded),
            reverse: false,
        }
    }

    /// Those of the keys that are not below `key`.
    #[must_use]
    pub fn starting_at(self, key: &[u8]) -> KeyRange {
        match &self.from {
            Bound::Included(from) | Bound::Excluded(from) if from.as_slice() >= key => self,
            _ => KeyRange { from: Bound::Included(key.to_vec()), ..self },
        }
    }

    /// Those of the keys that are not above `key`.
    #[must_use]
    pub fn ending_with(self, key: &[u8]) -> KeyRange {
        match &self.to {
            Bound::Included(to) | Bound::Excluded(to) if to.as_slice() <= key => self,
            _ => KeyRange { to: Bound::Included(key.to_vec()), ..self },
        }
    }

    /// Those of the keys that are above `key`.
    #[must_use]
    pub fn starting_after(self, key: &[u8]) -> KeyRange {
        match &self.from {
            Bound::Included(from) if from.as_slice() > key => self,
            Bound::Excluded(from) if from.as_slice() >= key => self,
            _ => KeyRange { from: Bound::Excluded(key.to_vec()), ..self },
        }
    }

    /// Those of the keys that are below `key`.
    #[must_use]
    pub fn ending_before(self, key: &[u8]) -> KeyRange {
        match &self.to {
            Bound::Included(to) if to.as_slice() < key => self,
            Bound::Excluded(to) if to.as_slice() <= key => self,
            _ => KeyRange { to: Bound::Excluded(key.to_vec()), ..self },
        }
    }

    /// Returns the range of the same keys, from the other end.
    #[must_use]
    pub fn reversed(self) -> KeyRange {
        KeyRange { reverse: !self.reverse, ..self }
    }

    /// Returns true if `key` is one of them.
    pub fn contains(&self, key: &[u8]) -> bool {
        let (from, to) = (self.from.as_ref(), self.to.as_ref());
        let range = (from.map(Vec::as_slice), to.map(Vec::as_slice));
        // Said in full: other crates add ways to compare bytes.
        RangeBounds::<[u8]>::contains(&range, key)
    }

    /// Returns true if no key can be in it.
    pub fn is_empty(&self) -> bool {
        use Bound::{Excluded, Included, Unbounded};
        match (&self.from, &self.to) {
            (Unbounded, _) | (_, Unbounded) => false,
            (Included(from), Included(to)) => from > to,
            (Included(from) | Excluded(from), Included(to) | Excluded(to)) => from >= to,
        }
    }
}

/// The first key above all that begin with `prefix`.
fn end_of_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let kept = prefix.iter().rposition(|byte| *byte < u8::MAX)?;
    let mut end = prefix[..=kept].to_vec();
    end[kept] += 1;
    Some(end)
}

/// A table in the order of its keys, which compare as bytes.
pub trait OrderedTable: Table {
    /// The table as it is now, as [`Table::snapshot`] gives it, with its order.
    fn ordered_snapshot(&self) -> Result<Box<dyn OrderedSnapshot>>;

    /// Shows `found` the first entry of `range`, from the end where it begins, and says whether there
    /// is one.
    fn first_with(&self, range: &KeyRange, found: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let mut scan = self.ordered_snapshot()?.scan_range(range)?;
        let entry = scan.advance()?;
        if let Some((key, value)) = entry {
            found(key, value);
        }
        Ok(entry.is_some())
    }

    /// Deletes the entries whose keys are in `range`, all or none, and returns how many there were: a transaction of its own,
    /// or a part of the open one. Takes memory for a few keys at a time, beside what the transaction takes.
    fn delete_range(&mut self, range: &KeyRange) -> Result<u64> {
        self.begin()?;
        match self.delete_each(range) {
            Ok(count) => self.commit().map(|()| count),
            Err(error) => self.abort().and(Err(error)),
        }
    }

    /// Deletes the entries of `range` one after another, and returns how many there were; those before an error are gone.
    fn delete_each(&mut self, range: &KeyRange) -> Result<u64> {
        let mut left = KeyRange { reverse: false, ..range.clone() };
        let (mut keys, mut count) = (DoomedKeys::default(), 0);
        while !left.is_empty() {
            // The scan ends before the changes: pages that it uses would be copied for them.
            keys.fill(&mut *self.ordered_snapshot()?.scan_range(&left)?)?;
            let Some(last) = keys.last() else { break };
            left = left.starting_after(last);
            for key in keys.iter() {
                count += u64::from(self.delete(key)?);
            }
        }
        Ok(count)
    }
}

/// The next keys that a deletion takes, in one piece of memory.
#[derive(Default)]
struct DoomedKeys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl DoomedKeys {
    // Bound (Tables): keys of a range that is deleted = 4,096 keys, or 256 KiB and one key, at a time; besides what a
    // transaction takes.
    const COUNT_MAX: usize = 4096;

    /// Bytes of keys above which no further one is taken.
    const BYTES_MAX: usize = 1 << 18;

    /// Takes the first keys of `entries` in the place of those from before.
    fn fill(&mut self, entries: &mut dyn Scan) -> Result<()> {
        self.bytes.clear();
        self.ends.clear();
        while self.ends.len() < Self::COUNT_MAX && self.bytes.len() < Self::BYTES_MAX {
            let Some((key, _)) = entries.advance()? else { break };
            self.bytes.extend_from_slice(key);
            self.ends.push(self.bytes.len());
        }
        Ok(())
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }

    fn last(&self) -> Option<&[u8]> {
        let start = self.ends.iter().rev().nth(1).copied().unwrap_or(0);
        self.ends.last().map(|end| &self.bytes[start..*end])
    }
}

/// An ordered table as it was when this was taken.
pub trait OrderedSnapshot: Snapshot {
    /// The entries whose keys are in `range`.
    fn scan_range(&self, range: &KeyRange) -> Result<Box<dyn Scan>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_string_of_its_length() {
        assert_eq!(end_of_prefix(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(end_of_prefix(b"a\xff\xff"), Some(b"b".to_vec()));
        assert_eq!(end_of_prefix(b"\xff"), None);
        assert_eq!(end_of_prefix(b""), None);
    }

    #[test]
    fn narrowing_a_range_never_widens_it() {
        let keys = [&b"a"[..], b"b", b"c", b"d"];
        type Narrow = fn(KeyRange, &[u8]) -> KeyRange;
        type Holds = fn(&[u8], &[u8]) -> bool;
        let steps: [(Narrow, Holds); 4] = [
            (KeyRange::starting_at, |key, end| key >= end),
            (KeyRange::starting_after, |key, end| key > end),
            (KeyRange::ending_with, |key, end| key <= end),
            (KeyRange::ending_before, |key, end| key < end),
        ];
        for (first, is_in_first) in steps {
            for (second, is_in_second) in steps {
                for (one, two) in keys.iter().flat_map(|one| keys.iter().map(move |two| (one, two)))
                {
                    let range = second(first(KeyRange::ALL, one), two);
                    for key in keys {
                        let expected = is_in_first(key, one) && is_in_second(key, two);
                        assert_eq!(range.contains(key), expected, "{range:?} {key:?}");
                    }
                }
            }
        }
    }
}
