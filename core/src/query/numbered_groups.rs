//! Groups that are told by one small number, such as a port or a protocol: each has a place, and no key has to be made of bytes
//! and looked for.

use super::groups::Totals;
use crate::batch::{DataType, Value};

/// Numbers that a group may be told by.
const NUMBERS: usize = 1 << 16;

/// Groups at most: one for each number, and that of rows without one.
pub(super) const NUMBERED_MAX: usize = NUMBERS + 1;

/// Groups by a field of small numbers.
#[derive(Debug)]
pub(super) struct NumberedGroups {
    /// The place of the field.
    pub(super) field: usize,
    /// For each number, and behind them for none, how many groups there were with the one of it; 0 where it has none.
    counts: Vec<u32>,
    groups: Vec<(usize, Totals)>,
}

impl NumberedGroups {
    /// No group yet, of a field with values of this type; none where numbers are larger.
    pub(super) fn new(field: usize, data_type: DataType) -> Option<Self> {
        let is_small = matches!(data_type, DataType::U8 | DataType::U16);
        is_small.then(|| NumberedGroups { field, counts: Vec::new(), groups: Vec::new() })
    }

    /// The group of a value, which `begin` makes where there is none; nothing for what is no small number.
    #[inline]
    pub(super) fn find(
        &mut self,
        value: &Value<'_>,
        begin: impl FnOnce() -> Totals,
    ) -> Option<&mut Totals> {
        let number = match value {
            Value::Unsigned(number) => usize::try_from(*number).ok().filter(|it| *it < NUMBERS)?,
            Value::Null => NUMBERS,
            _ => return None,
        };
        if self.counts.is_empty() {
            self.counts.resize(NUMBERED_MAX, 0);
        }
        let count = self.counts.get_mut(number)?;
        if *count == 0 {
            self.groups.push((number, begin()));
            *count = self.groups.len() as u32;
        }
        self.groups.get_mut(*count as usize - 1).map(|(_, totals)| totals)
    }

    /// The values with their groups.
    pub(super) fn into_groups(self) -> impl Iterator<Item = (Value<'static>, Totals)> {
        self.groups.into_iter().map(|(number, totals)| match number {
            NUMBERS => (Value::Null, totals),
            number => (Value::Unsigned(number as u64), totals),
        })
    }
}
