//! Sums of rows by group and by interval of time, in bounded memory.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::key;
use crate::batch::{Batch, DataType, Field, Schema, Value};
use crate::{Error, ErrorKind, Result};

/// Groups that are kept, each in each interval, of some 200 bytes. When there are twice as many, the smallest half are
/// counted together.
pub const GROUPS_MAX: usize = 1 << 18;

/// Name of the field with the time of a row.
const TIME: &str = "ts";

/// Fields that rows are grouped by, and those that are summed up.
#[derive(Debug, Clone)]
pub struct GroupBy {
    keys: Vec<usize>,
    sums: Vec<(usize, SumKind)>,
    interval: Option<(usize, i64)>,
    result: Schema,
}

/// Kind of the sum of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SumKind {
    Unsigned,
    Duration,
    Signed,
    Double,
}

impl GroupBy {
    /// Nanoseconds of an interval that a program has in seconds; the most that there are for a longer one.
    ///
    /// # Errors
    /// `Argument` for NaN, and for less than a nanosecond.
    pub fn interval_ns(seconds: f64) -> Result<i64> {
        // The cast turns too large a number into the largest, and NaN into 0.
        let nanoseconds = (seconds * 1e9) as i64;
        if nanoseconds > 0 {
            return Ok(nanoseconds);
        }
        let found = format!("found {seconds:?} seconds");
        Err(argument(format!("expected an interval of a nanosecond or more, {found}")))
    }

    /// Groups rows of `schema` by the fields `keys`, and by intervals of so many nanoseconds of their time, and sums the
    /// fields `sums` up in each group. Rows are counted in any case.
    ///
    /// # Errors
    /// `Argument` for a field that is unknown, is named twice, or has no numbers to sum up; for an
    /// interval where rows have no time, or that is not above 0.
    pub fn new<S: AsRef<str>>(
        schema: &Schema,
        keys: &[S],
        sums: &[S],
        interval_ns: Option<i64>,
    ) -> Result<GroupBy> {
        let places = |names: &[S]| {
            names.iter().map(|name| schema.place_of(name.as_ref())).collect::<Result<Vec<_>>>()
        };
        let (keys, sums) = (places(keys)?, places(sums)?);
        let interval = match interval_ns {
            Some(nanoseconds) if nanoseconds > 0 => Some((schema.place_of(TIME)?, nanoseconds)),
            Some(nanoseconds) => {
                let found = format!("found {nanoseconds} ns");
                return Err(argument(format!("expected an interval above 0, {found}")));
            }
            None => None,
        };
        let all = interval.iter().map(|(place, _)| place).chain(&keys).chain(&sums);
        let mut seen = Vec::new();
        for place in all {
            if seen.contains(place)
                && let Some(field) = schema.fields().get(*place)
            {
                let found = format!("found {} twice", field.name());
                return Err(argument(format!("expected each field once, {found}")));
            }
            seen.push(*place);
        }
        let sums = sums.into_iter().map(|place| Ok((place, kind(schema, place)?)));
        let sums = sums.collect::<Result<Vec<_>>>()?;
        let result = result_schema(schema, &keys, &sums, interval.is_some());
        Ok(GroupBy { keys, sums, interval, result })
    }

    /// The places of the fields that rows are grouped by, told apart by time and summed up by.
    pub fn places(&self) -> Vec<usize> {
        let sums = self.sums.iter().map(|(place, _)| *place);
        let interval = self.interval.iter().map(|(place, _)| *place);
        self.keys.iter().copied().chain(sums).chain(interval).collect()
    }

    /// Returns the schema of the groups: the beginning of the interval, the fields that identify them, the number of
    /// rows (as `packets`, `flows`), the sums, and in `groups` how many groups are counted together in the row.
    pub fn schema(&self) -> &Schema {
        &self.result
    }

    /// No row added yet; `groups_max` is [`GROUPS_MAX`] or less.
    pub fn groups(self, groups_max: usize) -> Groups {
        let groups_max = groups_max.clamp(1, GROUPS_MAX);
        Groups {
            by: self,
            groups_max,
            kept: HashMap::new(),
            others: HashMap::new(),
            key: Vec::new(),
        }
    }
}

/// Returns the kind of the sum of a field.
fn kind(schema: &Schema, place: usize) -> Result<SumKind> {
    let Some(field) = schema.fields().get(place) else { return Ok(SumKind::Unsigned) };
    Ok(match field.data_type() {
        DataType::U8 | DataType::U16 | DataType::U32 | DataType::U64 => SumKind::Unsigned,
        DataType::DurationUs => SumKind::Duration,
        DataType::I8 | DataType::I16 | DataType::I32 | DataType::I64 => SumKind::Signed,
        DataType::Double => SumKind::Double,
        other => {
            let found = format!("found {} ({})", field.name(), other.name());
            return Err(argument(format!("expected a field of numbers to sum up, {found}")));
        }
    })
}

fn result_schema(
    schema: &Schema,
    keys: &[usize],
    sums: &[(usize, SumKind)],
    has_interval: bool,
) -> Schema {
    let time = has_interval.then(|| {
        let meaning = "Begin of the interval, nanoseconds since 1970-01-01 00:00 UTC.";
        Field::new(TIME.to_owned(), DataType::TimeNs, true, meaning.to_owned())
    });
    let keys = keys.iter().filter_map(|place| schema.fields().get(*place)).map(|field| {
        Field::new(field.name().to_owned(), field.data_type(), true, field.meaning().to_owned())
    });
    let rows = schema.name();
    let count = Field::new(rows.to_owned(), DataType::U64, false, format!("Number of {rows}."));
    let sums = sums.iter().filter_map(|(place, kind)| {
        let field = schema.fields().get(*place)?;
        let data_type = match kind {
            SumKind::Unsigned => DataType::U64,
            SumKind::Duration => DataType::DurationUs,
            SumKind::Signed => DataType::I64,
            SumKind::Double => DataType::Double,
        };
        let meaning = format!("Sum of: {}", field.meaning());
        Some(Field::new(field.name().to_owned(), data_type, false, meaning))
    });
    let meaning =
        "Groups that are counted together in the row, because there were too many; else 1.";
    let groups = Field::new("groups".to_owned(), DataType::U64, false, meaning.to_owned());
    let fields = time.into_iter().chain(keys).chain([count]).chain(sums).chain([groups]);
    Schema::new(format!("groups of {}", schema.name()), fields.collect())
}

/// Sums by group, under way.
#[derive(Debug)]
pub struct Groups {
    by: GroupBy,
    groups_max: usize,
    /// By the beginning of the interval and the values of the keys.
    kept: HashMap<Box<[u8]>, Totals>,
    /// Sums of groups that were counted together, by the beginning of the interval.
    others: HashMap<Option<i64>, Totals>,
    key: Vec<u8>,
}

/// Sums of a group.
#[derive(Debug, Clone)]
struct Totals {
    rows: u64,
    groups: u64,
    /// The bits of a number for each sum.
    sums: Box<[u64]>,
}

impl Groups {
    /// Adds a row; `value` gives the value of the field at a place of the schema.
    pub fn add<'v>(&mut self, value: impl Fn(usize) -> Value<'v>) {
        self.key.clear();
        if let Some((place, nanoseconds)) = self.by.interval {
            let begin = match value(place) {
                Value::Time(time) => Value::Time(time.saturating_sub(time.rem_euclid(nanoseconds))),
                _ => Value::Null,
            };
            key::push(&mut self.key, &begin);
        }
        for place in &self.by.keys {
            key::push(&mut self.key, &value(*place));
        }
        if let Some(totals) = self.kept.get_mut(self.key.as_slice()) {
            totals.add_row(&self.by.sums, &value);
            return;
        }
        if self.kept.len() >= 2 * self.groups_max {
            self.put_smallest_together();
        }
        let mut totals = Totals { rows: 0, groups: 1, sums: vec![0; self.by.sums.len()].into() };
        totals.add_row(&self.by.sums, &value);
        self.kept.insert(self.key.as_slice().into(), totals);
    }

    /// Keeps the largest groups, and counts all others together in their intervals.
    fn put_smallest_together(&mut self) {
        let mut ranks: Vec<_> = self.kept.values().map(|totals| totals.rank(&self.by)).collect();
        let middle = ranks.len().saturating_sub(self.groups_max);
        ranks.select_nth_unstable(middle);
        let limit = ranks.get(middle).copied().unwrap_or_default();
        let mut equal_left = self.groups_max - ranks.iter().filter(|rank| **rank > limit).count();
        let (by, others) = (&self.by, &mut self.others);
        self.kept.retain(|key, totals| {
            let rank = totals.rank(by);
            let is_kept = rank > limit || (rank == limit && equal_left > 0);
            equal_left -= usize::from(is_kept && rank == limit);
            if !is_kept {
                // As many intervals as groups may be kept; behind them is no time at all.
                let begin = by.begin_of(key);
                let is_new = !others.contains_key(&begin) && others.len() >= self.groups_max;
                let other = others.entry(if is_new { None } else { begin });
                other.and_modify(|other| other.add(totals, &by.sums)).or_insert(totals.clone());
            }
            is_kept
        });
    }

    /// The groups as rows: by time where there are intervals, then the largest first, by the first sum or else by the
    /// number of rows. With `top`, only so many groups, those that are the largest over all of the time. Groups that
    /// were counted together come last in their interval in any case, without values for what they are told by.
    pub fn finish(self, top: Option<usize>) -> Batch {
        let Groups { by, kept, others, .. } = self;
        let kept = kept.iter().map(|(key, totals)| GroupRow {
            begin: by.begin_of(key),
            values: Some(by.values_of(key)),
            totals,
        });
        let mut groups: Vec<_> = kept.collect();
        if let Some(top) = top {
            let largest = by.largest(&groups, top);
            groups.retain(|group| group.values.is_some_and(|values| largest.contains(values)));
        }
        groups.extend(others.iter().map(|(begin, totals)| GroupRow {
            begin: *begin,
            values: None,
            totals,
        }));
        groups.sort_by_cached_key(|group| {
            let rank = Reverse(group.totals.rank(&by));
            (group.begin, group.values.is_none(), rank, by.fields_of(group).collect::<Vec<_>>())
        });
        let mut batch = Batch::new(by.result.clone());
        groups.iter().for_each(|group| by.push(&mut batch, group));
        batch
    }
}

/// A group as a row.
struct GroupRow<'g> {
    begin: Option<i64>,
    /// Values that identify it; None if groups were counted together.
    values: Option<&'g [u8]>,
    totals: &'g Totals,
}

impl GroupBy {
    /// The beginning of the interval that a key has.
    fn begin_of(&self, mut key: &[u8]) -> Option<i64> {
        self.interval?;
        match key::take(&mut key) {
            Value::Time(begin) => Some(begin),
            _ => None,
        }
    }

    /// Returns the values of a key, which are behind the interval.
    fn values_of<'k>(&self, mut key: &'k [u8]) -> &'k [u8] {
        if self.interval.is_some() {
            key::take(&mut key);
        }
        key
    }

    /// The values that a group is told by; null where groups were counted together.
    fn fields_of<'g>(&self, group: &GroupRow<'g>) -> impl Iterator<Item = Value<'g>> {
        let mut bytes = group.values.unwrap_or_default();
        self.keys.iter().map(move |_| key::take(&mut bytes))
    }

    /// The groups that are the largest over all intervals.
    fn largest<'g>(&self, groups: &[GroupRow<'g>], top: usize) -> HashSet<&'g [u8]> {
        let mut all: HashMap<&[u8], Totals> = HashMap::new();
        for group in groups {
            let Some(values) = group.values else { continue };
            all.entry(values)
                .and_modify(|all| all.add(group.totals, &self.sums))
                .or_insert_with(|| group.totals.clone());
        }
        let mut sorted: Vec<_> = all.into_iter().collect();
        sorted.sort_by_key(|(values, totals)| (Reverse(totals.rank(self)), *values));
        sorted.into_iter().take(top).map(|(values, _)| values).collect()
    }

    fn push(&self, batch: &mut Batch, group: &GroupRow<'_>) {
        let GroupRow { begin, totals, .. } = group;
        let begin = self.interval.map(|_| begin.map_or(Value::Null, Value::Time));
        let sums = self.sums.iter().zip(&totals.sums).map(|((_, kind), bits)| kind.value(*bits));
        let fields = begin.into_iter().chain(self.fields_of(group));
        let counts = fields.chain([Value::Unsigned(totals.rows)]).chain(sums);
        let row: Vec<_> = counts.chain([Value::Unsigned(totals.groups)]).collect();
        batch.push_row(|place| row.get(place).copied().unwrap_or(Value::Null));
    }
}

impl Totals {
    fn add_row<'v>(&mut self, sums: &[(usize, SumKind)], value: &impl Fn(usize) -> Value<'v>) {
        self.rows += 1;
        for ((place, kind), sum) in sums.iter().zip(&mut self.sums) {
            if let Some(bits) = kind.bits(&value(*place)) {
                *sum = kind.add(*sum, bits);
            }
        }
    }

    fn add(&mut self, other: &Totals, sums: &[(usize, SumKind)]) {
        self.rows += other.rows;
        self.groups += other.groups;
        for ((_, kind), (sum, more)) in sums.iter().zip(self.sums.iter_mut().zip(&other.sums)) {
            *sum = kind.add(*sum, *more);
        }
    }

    /// Returns the size of a group as a number to sort by: its first sum, or its number of rows.
    fn rank(&self, by: &GroupBy) -> u64 {
        match by.sums.first().zip(self.sums.first()) {
            Some(((_, kind), bits)) => kind.rank(*bits),
            None => self.rows,
        }
    }
}

/// The bit that tells negative numbers.
const SIGN: u64 = 1 << 63;

impl SumKind {
    /// The bits of a value; nothing where there is none.
    fn bits(self, value: &Value<'_>) -> Option<u64> {
        match (self, value) {
            (
                SumKind::Unsigned | SumKind::Duration,
                Value::Unsigned(number) | Value::Duration(number),
            ) => Some(*number),
            (SumKind::Signed, Value::Signed(number)) => Some(*number as u64),
            (SumKind::Double, Value::Double(number)) => Some(number.to_bits()),
            _ => None,
        }
    }

    /// Both together. What does not fit stays at the largest number.
    fn add(self, sum: u64, more: u64) -> u64 {
        match self {
            SumKind::Unsigned | SumKind::Duration => sum.saturating_add(more),
            SumKind::Signed => (sum as i64).saturating_add(more as i64) as u64,
            SumKind::Double => (f64::from_bits(sum) + f64::from_bits(more)).to_bits(),
        }
    }

    fn rank(self, bits: u64) -> u64 {
        match self {
            SumKind::Unsigned | SumKind::Duration => bits,
            SumKind::Signed => bits ^ SIGN,
            SumKind::Double if bits & SIGN == 0 => bits | SIGN,
            SumKind::Double => !bits,
        }
    }

    fn value<'v>(self, bits: u64) -> Value<'v> {
        match self {
            SumKind::Unsigned => Value::Unsigned(bits),
            SumKind::Duration => Value::Duration(bits),
            SumKind::Signed => Value::Signed(bits as i64),
            SumKind::Double => Value::Double(f64::from_bits(bits)),
        }
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
