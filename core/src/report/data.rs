//! The sums of a report as JSON, for the script of its page.

use std::collections::BTreeMap;
use std::ops::Range;

use super::parts::IntervalParts;
use super::timeline::{Amount, Series};
use super::{CAPTURES_MAX, CaptureSums, LENGTH_CLASSES, PAGE_MAX, ROWS_MAX, Report, page};
use crate::batch::{Batch, Value, json};
use crate::packet::{PROTOCOLS, Status};
use crate::rpc::MethodField;

/// Intervals that are drawn at most.
const BINS_MAX: usize = 400;

/// Series that are drawn by themselves; all others are one.
const SERIES_MAX: usize = 8;

/// Characters of text from outside that are shown.
const TEXT_MAX: usize = 200;

/// Bytes of a page that are left to what ends its data.
const MARGIN: usize = 100;

/// Writes an object, member by member.
pub(super) struct JsonObject<'a> {
    into: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> JsonObject<'a> {
    pub(super) fn new(into: &'a mut Vec<u8>) -> Self {
        into.push(b'{');
        JsonObject { into, is_empty: true }
    }

    pub(super) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.into.push(b',');
        }
        json::text(self.into, key);
        self.into.push(b':');
        self.into
    }

    pub(super) fn value<'v>(&mut self, key: &str, value: impl Into<Value<'v>>) {
        json::value(self.key(key), value.into());
    }

    /// Text from outside, cut where it is long.
    fn text(&mut self, key: &str, text: &str) {
        json::text(self.key(key), &cut(text));
    }

    /// A time as text, because a script's numbers are too small for its nanoseconds.
    fn time(&mut self, key: &str, ts: Option<i64>) {
        match ts {
            Some(ts) => json::text(self.key(key), &ts.to_string()),
            None => self.value(key, Value::Null),
        }
    }

    pub(super) fn numbers<'v, V: Into<Value<'v>>>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = V>,
    ) {
        array(self.key(key), values, |into, value| json::value(into, value.into()));
    }

    pub(super) fn end(self) {
        self.into.push(b'}');
    }
}

pub(super) fn array<T>(
    into: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut Vec<u8>, T),
) {
    into.push(b'[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            into.push(b',');
        }
        write(into, item);
    }
    into.push(b']');
}

/// Text from outside, cut where it is long.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The intervals that are drawn.
pub(super) struct Axis {
    pub(super) width: i64,
    pub(super) first: i64,
    pub(super) count: usize,
}

impl Axis {
    fn places(&self) -> Range<i64> {
        self.first..self.first + self.count as i64
    }
}

/// Everything that the page shows.
pub(super) fn json(report: Report, title: &str, connections: u64) -> String {
    let mut report = report;
    let axis = axis(&report);
    let amounts = axis.as_ref().map(|axis| report.timeline.amounts(axis.width)).unwrap_or_default();
    let mut text = Vec::new();
    let mut page = JsonObject::new(&mut text);
    page.text("title", title);
    page.value("version", env!("CARGO_PKG_VERSION"));
    summary(&mut page, &report, connections);
    captures(page.key("captures"), &report.captures);
    if let Some(axis) = &axis {
        time(page.key("time"), axis);
        traffic(page.key("protocols"), &report, &amounts, axis, |series| {
            matches!(series, Series::Proto(_))
        });
        traffic(page.key("ports"), &report, &amounts, axis, |series| {
            matches!(series, Series::Port(_) | Series::OtherPorts)
        });
        tcp(page.key("tcp"), &report, &amounts, axis);
        if report.calls.all.calls > 0 {
            calls(page.key("calls"), &report, axis);
        }
    }
    totals(page.key("protocol_totals"), &report, |series| matches!(series, Series::Proto(_)));
    totals(page.key("port_totals"), &report, Series::is_port);
    lengths(page.key("lengths"), &report.lengths);
    statuses(page.key("statuses"), &report.statuses);
    methods(page.key("methods"), &report);
    protocol_names(page.key("protocol_names"));
    let Report { hosts, host_timeline, timeline, conversations, failures, .. } = report;
    let hosts = hosts.largest(ROWS_MAX);
    rows(page.key("hosts"), &hosts);
    rows(page.key("conversations"), &conversations.largest());
    rows(page.key("troubles"), &failures.largest(ROWS_MAX));
    let parts = axis.map(|axis| {
        let parts = IntervalParts::new(&hosts, host_timeline, &timeline, &amounts, &axis);
        let len = page::page(title, &String::from_utf8_lossy(page.into)).len();
        parts.json(&axis, PAGE_MAX.saturating_sub(len + MARGIN))
    });
    page.key("parts").extend_from_slice(parts.as_deref().unwrap_or(b"null"));
    page.end();
    String::from_utf8(text).unwrap_or_default()
}

/// The intervals of the page, which those of packets and of calls both go into.
fn axis(report: &Report) -> Option<Axis> {
    let bins = report.timeline.bins();
    let (first, last) = bins.span()?;
    let width = bins.shown_width(BINS_MAX);
    debug_assert_eq!(width % report.calls.width().min(width), 0, "calls have no wider intervals");
    let first = first.div_euclid(width);
    let count = last.div_euclid(width) - first + 1;
    Some(Axis { width, first, count: count as usize })
}

fn summary(page: &mut JsonObject<'_>, report: &Report, connections: u64) {
    page.value("packets", report.all.packets);
    page.value("bytes", report.all.bytes);
    page.value("captured_bytes", report.captured_bytes);
    page.value("untimed", report.untimed);
    page.value("packets_read", report.packets_read);
    let span = report.span;
    page.time("first", span.map(|(first, _)| first));
    page.time("last", span.map(|(_, last)| last));
    page.value("conversations_seen", report.conversations.seen());
    page.value("connections", connections);
    page.value("calls_seen", report.calls.all.calls);
    page.value("call_errors", report.calls.all.errors);
    page.value("resets", report.timeline.total(Series::Reset).packets);
    page.value("repeats", report.timeline.total(Series::Repeat).packets);
    page.value("fills", report.timeline.total(Series::Fill).packets);
    page.value("captures_seen", report.captures_seen);
    page.value("captures_damaged", report.captures_damaged);
    page.value("captures_max", CAPTURES_MAX as u64);
    page.value("rows_max", ROWS_MAX as u64);
    match report.options.asked() {
        Some(asked) => page.text("asked", &asked),
        None => page.value("asked", Value::Null),
    }
}

fn captures(into: &mut Vec<u8>, captures: &[CaptureSums]) {
    array(into, captures, |into, capture| {
        let mut object = JsonObject::new(into);
        object.text("name", &capture.name);
        object.value("format", capture.format);
        object.value("compression", capture.compression.as_str());
        object.value("file_bytes", capture.file_bytes);
        object.value("packets", capture.amount.packets);
        object.value("bytes", capture.amount.bytes);
        object.time("first", capture.span.map(|(first, _)| first));
        object.time("last", capture.span.map(|(_, last)| last));
        match &capture.damage {
            Some(damage) => object.text("damage", damage),
            None => object.value("damage", Value::Null),
        }
        object.end();
    });
}

fn time(into: &mut Vec<u8>, axis: &Axis) {
    let mut object = JsonObject::new(into);
    object.time("begin", Some(axis.first.saturating_mul(axis.width)));
    object.time("width", Some(axis.width));
    object.value("count", axis.count as u64);
    object.end();
}

/// The largest series over time, and all others as one.
fn traffic(
    into: &mut Vec<u8>,
    report: &Report,
    amounts: &BTreeMap<(Series, i64), Amount>,
    axis: &Axis,
    of: impl Fn(Series) -> bool,
) {
    let mut names: Vec<Series> = Vec::new();
    let mut others = vec![Amount::default(); axis.count];
    let totals = report.timeline.totals(&of);
    let told = totals.len() <= SERIES_MAX + 1;
    names.extend(totals.iter().take(if told { totals.len() } else { SERIES_MAX }).map(|t| t.0));
    for ((series, bin), amount) in amounts {
        if of(*series)
            && !names.contains(series)
            && let Some(other) = others.get_mut((bin - axis.first) as usize)
        {
            other.add(*amount);
        }
    }
    into.push(b'[');
    for (index, series) in names.iter().enumerate() {
        if index > 0 {
            into.push(b',');
        }
        let at = |bin| amounts.get(&(*series, bin)).copied().unwrap_or_default();
        series_over_time(into, &name(*series), axis.places().map(at));
    }
    if others.iter().any(|other| other.packets > 0) {
        if !names.is_empty() {
            into.push(b',');
        }
        series_over_time(into, "other", others.iter().copied());
    }
    into.push(b']');
}

fn series_over_time(into: &mut Vec<u8>, name: &str, amounts: impl Iterator<Item = Amount> + Clone) {
    let mut object = JsonObject::new(into);
    object.value("name", name);
    object.numbers("packets", amounts.clone().map(|amount| amount.packets));
    object.numbers("bytes", amounts.map(|amount| amount.bytes));
    object.end();
}

fn name(series: Series) -> String {
    match series {
        Series::Proto(Some(proto)) => {
            PROTOCOLS.name(proto).map_or_else(|| format!("protocol {proto}"), str::to_owned)
        }
        Series::Proto(None) => "no IP".to_owned(),
        Series::Port(Some(port)) => port.to_string(),
        Series::Port(None) => "no port".to_owned(),
        Series::OtherPorts => "other".to_owned(),
        Series::Syn => "opened".to_owned(),
        Series::Reset => "reset".to_owned(),
        Series::Repeat => "repeated".to_owned(),
        Series::Fill => "filled a gap".to_owned(),
    }
}

/// The largest series with what they have in all, and how many there are.
fn totals(into: &mut Vec<u8>, report: &Report, of: impl Fn(Series) -> bool) {
    let totals = report.timeline.totals(of);
    let mut object = JsonObject::new(into);
    object.value("count", totals.len() as u64);
    array(object.key("rows"), totals.iter().take(ROWS_MAX), |into, (series, amount)| {
        let mut object = JsonObject::new(into);
        object.value("name", name(*series).as_str());
        object.value("packets", amount.packets);
        object.value("bytes", amount.bytes);
        object.end();
    });
    object.end();
}

fn tcp(
    into: &mut Vec<u8>,
    report: &Report,
    amounts: &BTreeMap<(Series, i64), Amount>,
    axis: &Axis,
) {
    array(into, [Series::Syn, Series::Reset, Series::Repeat, Series::Fill], |into, series| {
        let at = |bin| amounts.get(&(series, bin)).map_or(0, |amount| amount.packets);
        let mut object = JsonObject::new(into);
        object.value("name", name(series).as_str());
        object.value("total", report.timeline.total(series).packets);
        object.numbers("packets", axis.places().map(at));
        object.end();
    });
}

/// Calls over time; latencies in microseconds.
fn calls(into: &mut Vec<u8>, report: &Report, axis: &Axis) {
    let bins = report.calls.by_time(axis.width);
    let of = |bin: i64| bins.get(&bin);
    let latency = |bin: i64, per_mille: u32| {
        let quantile = of(bin).and_then(|calls| calls.latency.quantile(per_mille));
        quantile.map_or(Value::Null, |ns| Value::Unsigned(ns / 1000))
    };
    let mut object = JsonObject::new(into);
    object.numbers("calls", axis.places().map(|bin| of(bin).map_or(0, |calls| calls.calls)));
    object.numbers("errors", axis.places().map(|bin| of(bin).map_or(0, |calls| calls.errors)));
    for (key, per_mille) in [("p50", 500), ("p99", 990), ("max", 1000)] {
        object.numbers(key, axis.places().map(|bin| latency(bin, per_mille)));
    }
    let all = &report.calls.all;
    for (key, per_mille) in [("p50_of_all", 500), ("p99_of_all", 990), ("max_of_all", 1000)] {
        let quantile = all.latency.quantile(per_mille);
        object.value(key, quantile.map_or(Value::Null, |ns| Value::Unsigned(ns / 1000)));
    }
    object.end();
}

fn methods(into: &mut Vec<u8>, report: &Report) {
    let methods = report.calls.methods();
    let mut object = JsonObject::new(into);
    object.value("count", methods.len() as u64);
    array(object.key("rows"), methods.iter().take(ROWS_MAX), |into, (name, summary)| {
        let mut object = JsonObject::new(into);
        for field in MethodField::ALL {
            match summary.value(name, *field) {
                Value::Text(text) => object.text(field.name(), text),
                value => object.value(field.name(), value),
            }
        }
        object.end();
    });
    object.end();
}

/// Packets by their length on the wire: from and to which, the last class without an end.
fn lengths(into: &mut Vec<u8>, lengths: &[Amount; LENGTH_CLASSES]) {
    array(into, lengths.iter().enumerate(), |into, (class, amount)| {
        let from = if class == 0 { 0u64 } else { 32 << class };
        let is_last = class + 1 == LENGTH_CLASSES;
        let mut object = JsonObject::new(into);
        object.value("from", from);
        match is_last {
            true => object.value("to", Value::Null),
            false => object.value("to", (64u64 << class) - 1),
        }
        object.value("packets", amount.packets);
        object.value("bytes", amount.bytes);
        object.end();
    });
}

fn statuses(into: &mut Vec<u8>, counts: &[u64; 16]) {
    let told = Status::ALL.iter().filter_map(|(status, name)| {
        let count = counts.get(status.0.trailing_zeros() as usize).copied()?;
        (count > 0).then_some((*name, count))
    });
    array(into, told, |into, (name, count)| {
        let mut object = JsonObject::new(into);
        object.value("name", name);
        object.value("packets", count);
        object.end();
    });
}

/// The names of protocols by their numbers.
fn protocol_names(into: &mut Vec<u8>) {
    let mut object = JsonObject::new(into);
    PROTOCOLS.names.iter().for_each(|(number, name)| object.value(&number.to_string(), *name));
    object.end();
}

/// Rows as objects. What was counted together because there was too much of it is left out.
fn rows(into: &mut Vec<u8>, batch: &Batch) {
    array(into, told_rows(batch), |into, row| {
        if let Some(text) = json::object(batch, row) {
            into.extend_from_slice(text.as_bytes());
        }
    });
}

/// The rows that are not of several groups.
pub(super) fn told_rows(batch: &Batch) -> impl Iterator<Item = usize> {
    let together = batch.schema().find("groups");
    let is_told = move |row: &usize| {
        together.is_none_or(|place| batch.value(*row, place) == Value::Unsigned(1))
    };
    (0..batch.len()).filter(is_told)
}
