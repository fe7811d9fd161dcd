//! Amounts of table rows in parts of the time, for a zoomed page: fewer and wider intervals than those of the pictures,
//! as many as the page has room for.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::ROWS_MAX;
use super::data::{Axis, JsonObject, array};
use super::host_timeline::{HostAmount, HostTimeline};
use super::timeline::{Amount, Series, Timeline};
use crate::batch::{Batch, Value, json};

/// Parts at most. Fewer are tried where rows of so many do not fit.
const PARTS_MAX: usize = 48;
const PARTS_LEAST: usize = 6;

/// Bytes of JSON at most.
const LEN_MAX: usize = 150_000;

/// Names of sums, each with what it is of an amount.
type Sums<A> = [(&'static str, fn(&A) -> u64)];

const OF_HOSTS: &Sums<HostAmount> = &[
    ("packets", |amount| amount.packets),
    ("bytes", |amount| amount.bytes),
    ("sent", |amount| amount.sent),
    ("received", |amount| amount.received),
];

const OF_SERIES: &Sums<Amount> =
    &[("packets", |amount| amount.packets), ("bytes", |amount| amount.bytes)];

/// Amounts of the rows of each table by interval; `None` for a row whose amounts were not all kept by time.
pub(super) struct IntervalParts {
    hosts: Vec<Option<Row>>,
    protocols: Vec<Option<Row>>,
    ports: Vec<Option<Row>>,
}

/// Amounts of a row in each interval of the pictures, one sum after the other, by name of the sum.
type Row = Vec<(&'static str, BTreeMap<usize, u64>)>;

impl IntervalParts {
    pub(super) fn new(
        hosts: &Batch,
        host_timeline: HostTimeline,
        timeline: &Timeline,
        amounts: &BTreeMap<(Series, i64), Amount>,
        axis: &Axis,
    ) -> Self {
        let is_protocol = |series| matches!(series, Series::Proto(_));
        IntervalParts {
            hosts: hosts_by_time(hosts, host_timeline, axis),
            protocols: series_by_time(timeline, amounts, axis, is_protocol),
            ports: series_by_time(timeline, amounts, axis, Series::is_port),
        }
    }

    /// As many parts as `room` is enough for; `null` where it is not enough for the fewest.
    pub(super) fn json(&self, axis: &Axis, room: usize) -> Vec<u8> {
        let mut count = PARTS_MAX;
        while count >= PARTS_LEAST {
            let text = self.json_of(axis.count.div_ceil(count), axis);
            if text.len() <= room.min(LEN_MAX) {
                return text;
            }
            count /= 2;
        }
        b"null".to_vec()
    }

    /// Writes the parts as JSON, with `each` intervals of the pictures in a part.
    fn json_of(&self, each: usize, axis: &Axis) -> Vec<u8> {
        let (mut text, count) = (Vec::new(), axis.count.div_ceil(each));
        let mut object = JsonObject::new(&mut text);
        object.value("each", each as u64);
        for (key, rows) in
            [("hosts", &self.hosts), ("protocols", &self.protocols), ("ports", &self.ports)]
        {
            array(object.key(key), rows, |into, row| match row {
                Some(row) => push_row(into, row, each, count),
                None => json::value(into, Value::Null),
            });
        }
        object.end();
        text
    }
}

fn push_row(into: &mut Vec<u8>, row: &Row, each: usize, count: usize) {
    let mut object = JsonObject::new(into);
    for (name, by_interval) in row {
        let part = |part: usize| by_interval.range(part * each..(part + 1) * each);
        object.numbers(name, (0..count).map(|at| part(at).map(|(_, number)| *number).sum::<u64>()));
    }
    object.end();
}

/// The sums of a row, if they come to what the table has.
fn row<A>(
    sums: &Sums<A>,
    by_interval: impl Iterator<Item = (usize, A)>,
    is_all: impl Fn(&str, u64) -> bool,
) -> Option<Row> {
    let mut row: Row = sums.iter().map(|(name, _)| (*name, BTreeMap::new())).collect();
    for (at, amount) in by_interval {
        for ((_, of), (_, numbers)) in sums.iter().zip(&mut row) {
            *numbers.entry(at).or_default() += of(&amount);
        }
    }
    let is_whole = row.iter().all(|(name, numbers)| is_all(name, numbers.values().sum()));
    is_whole.then_some(row)
}

/// Returns the amounts of the hosts of the table, in the order of its rows.
fn hosts_by_time(hosts: &Batch, timeline: HostTimeline, axis: &Axis) -> Vec<Option<Row>> {
    let number = |row, name: &str| {
        let place = hosts.schema().find(name);
        place.map_or(Value::Null, |place| hosts.value(row, place))
    };
    let addresses: Vec<Option<IpAddr>> = super::data::told_rows(hosts)
        .map(|at| match number(at, "ip") {
            Value::Address(ip) => Some(ip),
            _ => None,
        })
        .collect();
    let known: Vec<IpAddr> = addresses.iter().flatten().copied().collect();
    let amounts: HashMap<_, _> =
        known.iter().copied().zip(timeline.amounts(&known, axis.width)).collect();
    let rows = super::data::told_rows(hosts).zip(addresses);
    let by_time = rows.map(|(at, ip)| {
        let of_host = amounts.get(&ip?)?;
        let places = of_host.iter().map(|(bin, amount)| ((bin - axis.first) as usize, *amount));
        row(OF_HOSTS, places, |name, sum| number(at, name) == Value::Unsigned(sum))
    });
    by_time.collect()
}

/// Returns the amounts of the largest series, in the order of their table.
fn series_by_time(
    timeline: &Timeline,
    amounts: &BTreeMap<(Series, i64), Amount>,
    axis: &Axis,
    of: impl Fn(Series) -> bool,
) -> Vec<Option<Row>> {
    let totals = timeline.totals(of).into_iter().take(ROWS_MAX);
    let by_time = totals.map(|(series, total)| {
        let ours = amounts.range((series, i64::MIN)..=(series, i64::MAX));
        let places = ours.map(|((_, bin), amount)| ((bin - axis.first) as usize, *amount));
        row(OF_SERIES, places, |name, sum| match name {
            "packets" => sum == total.packets,
            _ => sum == total.bytes,
        })
    });
    by_time.collect()
}
