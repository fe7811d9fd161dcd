//! Sums of rows by group and by interval of time, in bounded memory.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::group_key::{GroupKey, RowSide};
use super::group_sum::{GroupSum, RowsOf, SumKind, Ways, group_sums, kind_of_sum, sum_field};
use super::key;
use super::measure::{Measure, Measured, Now};
use super::numbered_groups::{NUMBERED_MAX, NumberedGroups};
use crate::batch::{Batch, DataType, Field, Schema, Value};
use crate::{Error, ErrorKind, Result};

// Bound (Queries): groups of a query = 262,144 of some 200 bytes, and as many again before the smallest half are
// counted together.
/// Groups that are kept, each in each interval, of some 200 bytes. When there are twice as many, the smallest half are
/// counted together.
pub const GROUPS_MAX: usize = 1 << 18;

/// Name of the field with the time of a row.
const TIME: &str = "ts";

/// Measures of fields at most, beside sums.
const MEASURES_MAX: usize = 64;

// Bound (Queries): different values, percentiles and other measures of all groups = 64 measures; 128 MiB, then counts
// of different values above 512 become estimates of 4 KiB, and then the smallest half of the groups are counted
// together until half of the room is free. A percentile takes 30 KiB at most.
/// Bytes that measures take for each group that may be kept.
const ROOM_PER_GROUP: usize = 512;

/// Fields that rows are grouped by, and those that are summed up.
#[derive(Debug, Clone)]
pub struct GroupBy {
    keys: Vec<GroupKey>,
    /// The places of the keys, where all are fields as they are.
    plain: Option<Box<[usize]>>,
    /// The place of the field of one side, where rows count for both of their sides.
    either: Option<usize>,
    sums: Vec<GroupSum>,
    measures: Vec<Measure>,
    /// The columns that were asked for, before those of what was sent and received.
    columns: Vec<GroupColumn>,
    interval: Option<(usize, i64)>,
    result: Schema,
}

/// Place of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupColumn {
    Sum(usize),
    Measure(usize),
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

    /// Groups rows of `schema` by `keys`, and by intervals of so many nanoseconds of their time, and sums the
    /// fields `sums` up in each group. Rows are counted in any case. A sum may be another measure of a field: `distinct(src_ip)`,
    /// `min(length)`, `max`, `mean`, `first`, `last`, and percentiles, `p50(length)`, `p99.9(length)`.
    ///
    /// A key is a field, or the network of one with addresses: `src_ip/24` has networks of 24 bits of IPv4 and 64 of IPv6, and
    /// `src_ip/24/48` names both. `host` and `port` are those of either side: a row counts for both of its sides, once where they
    /// are the same, and each sum is also told of what a side has sent and has received, as by [`Self::both_ways`].
    ///
    /// # Errors
    /// `Argument` for a field that is unknown, is named twice, or has no numbers to sum up; for more than 64 measures; for a network that is none; for an
    /// interval where rows have no time, or that is not above 0.
    pub fn new<S: AsRef<str>>(
        schema: &Schema,
        keys: &[S],
        sums: &[S],
        interval_ns: Option<i64>,
    ) -> Result<GroupBy> {
        GroupBy::of(schema, keys, sums, interval_ns, false)
    }

    /// Groups rows like [`Self::new`], and has each sum, and the number of rows, also of what the group has sent and has
    /// received. Of `rev_bytes` and its like, which count what came back, that is the other way round.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn both_ways<S: AsRef<str>>(
        schema: &Schema,
        keys: &[S],
        sums: &[S],
        interval_ns: Option<i64>,
    ) -> Result<GroupBy> {
        GroupBy::of(schema, keys, sums, interval_ns, true)
    }

    fn of<S: AsRef<str>>(
        schema: &Schema,
        keys: &[S],
        sums: &[S],
        interval_ns: Option<i64>,
        is_both_ways: bool,
    ) -> Result<GroupBy> {
        let keys = keys.iter().map(|key| GroupKey::new(schema, key.as_ref()));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let is_both_ways = is_both_ways || keys.iter().any(GroupKey::is_of_either);
        let interval = match interval_ns {
            Some(nanoseconds) if nanoseconds > 0 => Some((schema.place_of(TIME)?, nanoseconds)),
            Some(nanoseconds) => {
                let found = format!("found {nanoseconds} ns");
                return Err(argument(format!("expected an interval above 0, {found}")));
            }
            None => None,
        };
        let time = interval.map(|_| TIME);
        let names = time.into_iter().chain(keys.iter().map(GroupKey::name));
        let mut seen = Vec::new();
        for name in names.chain(sums.iter().map(AsRef::as_ref)) {
            if seen.contains(&name) {
                return Err(argument(format!("expected each field once, found {name} twice")));
            }
            seen.push(name);
        }
        let (mut kinds, mut measures, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for text in sums.iter().map(AsRef::as_ref) {
            if let Some(measure) = Measure::new(schema, text)? {
                columns.push(GroupColumn::Measure(measures.len()));
                measures.push(measure);
            } else {
                let place = schema.place_of(text)?;
                columns.push(GroupColumn::Sum(kinds.len()));
                kinds.push((place, kind_of_sum(schema, place)?));
            }
        }
        if measures.len() > MEASURES_MAX {
            let found = format!("found {}", measures.len());
            return Err(argument(format!("expected at most {MEASURES_MAX} measures, {found}")));
        }
        let sums = group_sums(schema, &kinds, is_both_ways);
        // What was sent and received stands behind what was asked for.
        columns.extend((kinds.len()..sums.len()).map(GroupColumn::Sum));
        let asked = columns.iter().filter_map(|column| match column {
            GroupColumn::Sum(place) => sum_field(schema, sums.get(*place)?),
            GroupColumn::Measure(place) => measures.get(*place).map(Measure::field),
        });
        let result = result_schema(schema, &keys, asked.collect(), interval.is_some());
        let either = keys.iter().find(|key| key.is_of_either()).map(|key| key.places()[0]);
        let plain = keys.iter().map(GroupKey::plain_place).collect();
        Ok(GroupBy { keys, plain, either, sums, measures, columns, interval, result })
    }

    /// The places of the fields that rows are grouped by, told apart by time and summed up by.
    pub fn places(&self) -> Vec<usize> {
        let sums = self.sums.iter().filter_map(|sum| sum.place);
        let interval = self.interval.iter().map(|(place, _)| *place);
        let measures = self.measures.iter().map(Measure::place);
        let keys = self.keys.iter().flat_map(GroupKey::places);
        keys.chain(sums).chain(measures).chain(interval).collect()
    }

    /// Returns true if the number that groups are sorted by can be added up over intervals.
    pub fn is_additive(&self) -> bool {
        !matches!(self.columns.first(), Some(GroupColumn::Measure(_)))
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
            numbered: self.numbered(groups_max),
            by: self,
            groups_max,
            kept: HashMap::new(),
            others: HashMap::new(),
            key: Vec::new(),
            other_key: Vec::new(),
            room: Room { max: groups_max * ROOM_PER_GROUP, ..Room::default() },
        }
    }
}

fn result_schema(
    schema: &Schema,
    keys: &[GroupKey],
    asked: Vec<Field>,
    has_interval: bool,
) -> Schema {
    let time = has_interval.then(|| {
        let meaning = "Begin of the interval, nanoseconds since 1970-01-01 00:00 UTC.";
        Field::new(TIME.to_owned(), DataType::TimeNs, true, meaning.to_owned())
    });
    let keys = keys.iter().map(GroupKey::field);
    let rows = schema.name();
    let count = Field::new(rows.to_owned(), DataType::U64, false, format!("Number of {rows}."));
    let meaning =
        "Groups that are counted together in the row, because there were too many; else 1.";
    let groups = Field::new("groups".to_owned(), DataType::U64, false, meaning.to_owned());
    let fields = time.into_iter().chain(keys).chain([count]).chain(asked).chain([groups]);
    Schema::new(format!("groups of {}", schema.name()), fields.collect())
}

/// Sums by group, under way.
#[derive(Debug)]
pub struct Groups {
    by: GroupBy,
    groups_max: usize,
    /// Those that are told by a small number alone.
    numbered: Option<NumberedGroups>,
    /// By the beginning of the interval and the values of the keys.
    kept: HashMap<Box<[u8]>, Totals>,
    /// Sums of groups that were counted together, by the beginning of the interval.
    others: HashMap<Option<i64>, Totals>,
    key: Vec<u8>,
    other_key: Vec<u8>,
    room: Room,
}

/// Room of what measures keep.
#[derive(Debug, Default)]
struct Room {
    max: usize,
    /// Bytes that they take.
    taken: usize,
    /// True from when on they were too many.
    is_short: bool,
    /// The number of the row that is added.
    row: u64,
    scratch: Vec<u8>,
}

/// Sums of a group.
#[derive(Debug, Clone, Default)]
pub(super) struct Totals {
    rows: u64,
    groups: u64,
    /// The bits of a number for each sum.
    sums: Box<[u64]>,
    measures: Box<[Measured]>,
}

impl Groups {
    /// Adds a row; `value` gives the value of the field at a place of the schema.
    pub fn add<'v>(&mut self, value: impl Fn(usize) -> Value<'v>) {
        if let Some(numbered) = &mut self.numbered {
            let found = numbered.find(&value(numbered.field), || self.by.totals());
            if let Some(totals) = found {
                return totals.add_row(&self.by.sums, &value, Ways::default());
            }
        }
        self.room.row += 1;
        self.key.clear();
        self.by.push_key(&mut self.key, RowSide::Source, &value);
        let Some(either) = self.by.either else {
            return self.add_to_key(&value, Ways::default());
        };
        self.other_key.clear();
        self.by.push_key(&mut self.other_key, RowSide::Destination, &value);
        if self.key == self.other_key {
            // A row without the field is sent by nobody.
            let is_there = !value(either).is_null();
            return self.add_to_key(&value, Ways { is_sent: is_there, is_received: is_there });
        }
        self.add_to_key(&value, Ways { is_sent: true, is_received: false });
        std::mem::swap(&mut self.key, &mut self.other_key);
        self.add_to_key(&value, Ways { is_sent: false, is_received: true });
    }

    /// Adds a row to the group of its keys, which has sent or received it.
    pub fn add_one_way<'v>(&mut self, value: impl Fn(usize) -> Value<'v>, ways: Ways) {
        self.room.row += 1;
        self.key.clear();
        self.by.push_key(&mut self.key, RowSide::Source, &value);
        self.add_to_key(&value, ways);
    }

    /// Adds a row to the group of the key that was made last.
    fn add_to_key<'v>(&mut self, value: &impl Fn(usize) -> Value<'v>, ways: Ways) {
        if let Some(totals) = self.kept.get_mut(self.key.as_slice()) {
            totals.add_row(&self.by.sums, value, ways);
            totals.measure(&self.by.measures, value, &mut self.room);
        } else {
            if self.kept.len() >= 2 * self.groups_max {
                self.put_smallest_together(self.groups_max);
            }
            let mut totals = self.by.totals();
            totals.add_row(&self.by.sums, value, ways);
            totals.measure(&self.by.measures, value, &mut self.room);
            self.kept.insert(self.key.as_slice().into(), totals);
        }
        if self.room.taken > self.room.max {
            self.make_room();
        }
    }

    /// Frees room that measures take: by estimates, and by counting groups together.
    fn make_room(&mut self) {
        self.room.is_short = true;
        let all = self.kept.values_mut().chain(self.others.values_mut());
        all.flat_map(|totals| &mut totals.measures).for_each(Measured::estimate);
        self.count_room();
        while self.room.taken > self.room.max / 2 && self.kept.len() > 1 {
            self.put_smallest_together(self.kept.len() / 2);
            self.count_room();
        }
        if self.room.taken > self.room.max / 2 {
            // Of all intervals.
            let mut all = self.by.totals();
            all.groups = 0;
            self.others.drain().for_each(|(_, totals)| all.add(&totals, &self.by));
            self.others.insert(None, all);
            self.count_room();
        }
    }

    fn count_room(&mut self) {
        let all = self.kept.values().chain(self.others.values());
        self.room.taken = all.flat_map(|totals| &totals.measures).map(Measured::heap).sum();
    }

    /// Keeps so many groups, the largest, and counts all others together in their intervals.
    fn put_smallest_together(&mut self, groups_max: usize) {
        let mut ranks: Vec<_> = self.kept.values().map(|totals| totals.rank(&self.by)).collect();
        let middle = ranks.len().saturating_sub(groups_max);
        ranks.select_nth_unstable(middle);
        let limit = ranks.get(middle).copied().unwrap_or_default();
        let mut equal_left = groups_max - ranks.iter().filter(|rank| **rank > limit).count();
        let (by, others) = (&self.by, &mut self.others);
        self.kept.retain(|key, totals| {
            let rank = totals.rank(by);
            let is_kept = rank > limit || (rank == limit && equal_left > 0);
            equal_left -= usize::from(is_kept && rank == limit);
            if !is_kept {
                // As many intervals as groups may be kept; behind them is no time at all.
                let begin = by.begin_of(key);
                let is_new = !others.contains_key(&begin) && others.len() >= groups_max;
                let other = others.entry(if is_new { None } else { begin });
                let totals = std::mem::take(totals);
                match other {
                    Entry::Occupied(mut other) => other.get_mut().add(&totals, by),
                    Entry::Vacant(place) => drop(place.insert(totals)),
                }
            }
            is_kept
        });
    }

    /// The groups as rows: by time where there are intervals, then the largest first, by the first sum or else by the
    /// number of rows. With `top`, only so many groups, those that are the largest over all of the time. Groups that
    /// were counted together come last in their interval in any case, without values for what they are told by.
    pub fn finish(self, top: Option<usize>) -> Batch {
        let Groups { by, mut kept, others, numbered, .. } = self;
        kept.extend(numbered.into_iter().flat_map(NumberedGroups::into_groups).map(
            |(value, totals)| {
                let mut key = Vec::new();
                key::push(&mut key, &value);
                (key.into(), totals)
            },
        ));
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
    /// Groups by a small number alone, where rows are grouped by that and no measure needs room: none has to make room for
    /// others then.
    fn numbered(&self, groups_max: usize) -> Option<NumberedGroups> {
        let is_one_way = self.sums.iter().all(|sum| sum.of == RowsOf::All);
        let is_bounded = NUMBERED_MAX <= groups_max && self.measures.is_empty() && is_one_way;
        match (self.plain.as_deref()?, self.keys.first()) {
            ([place], Some(key)) if is_bounded && self.interval.is_none() => {
                NumberedGroups::new(*place, key.data_type())
            }
            _ => None,
        }
    }

    /// A group without rows.
    fn totals(&self) -> Totals {
        let measures = self.measures.iter().map(Measure::begin).collect();
        Totals { rows: 0, groups: 1, sums: vec![0; self.sums.len()].into(), measures }
    }

    /// The value of a column.
    fn value<'g>(&self, column: GroupColumn, totals: &'g Totals) -> Value<'g> {
        let value = match column {
            GroupColumn::Sum(place) => {
                let sum = self.sums.get(place).zip(totals.sums.get(place));
                sum.map(|(sum, bits)| sum.kind.value(*bits))
            }
            GroupColumn::Measure(place) => {
                let measured = self.measures.get(place).zip(totals.measures.get(place));
                measured.map(|(measure, measured)| measure.value(measured))
            }
        };
        value.unwrap_or(Value::Null)
    }

    /// Appends the beginning of a row's interval and the values that tell its group.
    fn push_key<'v>(&self, key: &mut Vec<u8>, side: RowSide, value: &impl Fn(usize) -> Value<'v>) {
        if let Some((place, nanoseconds)) = self.interval {
            let begin = match value(place) {
                Value::Time(time) => Value::Time(time.saturating_sub(time.rem_euclid(nanoseconds))),
                _ => Value::Null,
            };
            key::push(key, &begin);
        }
        match &self.plain {
            Some(places) => places.iter().for_each(|place| key::push(key, &value(*place))),
            None => {
                self.keys.iter().for_each(|it| key::push(key, &it.value(side, value)));
            }
        }
    }

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
        if self.interval.is_none() {
            let ranks =
                groups.iter().filter_map(|group| Some((group.totals.rank(self), group.values?)));
            let mut sorted: Vec<_> = ranks.collect();
            sorted.sort_by_key(|(rank, values)| (Reverse(*rank), *values));
            return sorted.into_iter().take(top).map(|(_, values)| values).collect();
        }
        let mut all: HashMap<&[u8], Totals> = HashMap::new();
        for group in groups {
            let Some(values) = group.values else { continue };
            all.entry(values)
                .and_modify(|all| all.add(group.totals, self))
                .or_insert_with(|| group.totals.clone());
        }
        let mut sorted: Vec<_> = all.into_iter().collect();
        sorted.sort_by_key(|(values, totals)| (Reverse(totals.rank(self)), *values));
        sorted.into_iter().take(top).map(|(values, _)| values).collect()
    }

    fn push(&self, batch: &mut Batch, group: &GroupRow<'_>) {
        let GroupRow { begin, totals, .. } = group;
        let begin = self.interval.map(|_| begin.map_or(Value::Null, Value::Time));
        let asked = self.columns.iter().map(|column| self.value(*column, totals));
        let keys: Vec<_> = self.fields_of(group).collect();
        let texts = self.keys.iter().zip(&keys).map(|(key, value)| key.text(value));
        let texts: Vec<_> = texts.collect();
        let keys = keys.iter().zip(&texts).map(|(value, text)| match text {
            Some(text) => Value::Text(text),
            None => *value,
        });
        let counts =
            begin.into_iter().chain(keys).chain([Value::Unsigned(totals.rows)]).chain(asked);
        let row: Vec<_> = counts.chain([Value::Unsigned(totals.groups)]).collect();
        batch.push_row(|place| row.get(place).copied().unwrap_or(Value::Null));
    }
}

impl Totals {
    fn add_row<'v>(&mut self, sums: &[GroupSum], value: &impl Fn(usize) -> Value<'v>, ways: Ways) {
        self.rows += 1;
        for (GroupSum { place, kind, of }, sum) in sums.iter().zip(&mut self.sums) {
            let bits = match place {
                _ if !of.has(ways) => None,
                Some(place) => kind.bits(&value(*place)),
                None => Some(1),
            };
            if let Some(bits) = bits {
                *sum = kind.add(*sum, bits);
            }
        }
    }

    /// Adds what measures look at.
    fn measure<'v>(
        &mut self,
        measures: &[Measure],
        value: &impl Fn(usize) -> Value<'v>,
        room: &mut Room,
    ) {
        for (measure, measured) in measures.iter().zip(&mut self.measures) {
            let before = measured.heap();
            let now = Now { row: room.row, is_short: room.is_short, scratch: &mut room.scratch };
            measure.add(measured, &value(measure.place()), now);
            room.taken = (room.taken + measured.heap()).saturating_sub(before);
        }
    }

    fn add(&mut self, other: &Totals, by: &GroupBy) {
        self.rows += other.rows;
        self.groups += other.groups;
        for (GroupSum { kind, .. }, (sum, more)) in
            by.sums.iter().zip(self.sums.iter_mut().zip(&other.sums))
        {
            *sum = kind.add(*sum, *more);
        }
        let measures = self.measures.iter_mut().zip(&other.measures);
        for (measure, (measured, more)) in by.measures.iter().zip(measures) {
            measure.merge(measured, more);
        }
    }

    /// Returns the size of a group as a number to sort by: what was asked for first, or its number of rows.
    fn rank(&self, by: &GroupBy) -> u64 {
        if let Some(GroupColumn::Measure(_)) = by.columns.first() {
            let measured = by.measures.first().zip(self.measures.first());
            return measured
                .and_then(|(measure, measured)| rank(&measure.value(measured)))
                .unwrap_or(self.rows);
        }
        match by.sums.first().zip(self.sums.first()) {
            Some((GroupSum { kind, of: RowsOf::All, .. }, bits)) => kind.rank(*bits),
            _ => self.rows,
        }
    }
}

/// A number to sort by; none of what is no number.
fn rank(value: &Value<'_>) -> Option<u64> {
    Some(match value {
        Value::Null => 0,
        Value::Unsigned(number) | Value::Duration(number) => *number,
        Value::Signed(number) | Value::Time(number) => SumKind::Signed.rank(*number as u64),
        Value::Double(number) => SumKind::Double.rank(number.to_bits()),
        _ => return None,
    })
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
