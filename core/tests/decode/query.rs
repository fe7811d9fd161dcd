//! Goal: a condition holds exactly for the rows that it says, groups add up to what a naive count gives, whatever their
//! number, and what is no condition is refused with its place.
//!
//! Method: random rows of a small schema; random conditions, built as text and as a function beside it, which is the
//! slow and obvious twin; sums beside a `BTreeMap` of all rows.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::net::IpAddr;

use bytewright::ErrorKind;
use bytewright::batch::{Batch, DataType, Field, Schema, Value};
use bytewright::packet::PROTOCOLS;
use bytewright::query::{Condition, GroupBy};

use crate::generate::{Random, seeds};

static FIELDS: [Field; 8] = [
    Field::constant("ts", DataType::TimeNs, true, "Time."),
    Field::constant("src_ip", DataType::Address, true, "From."),
    Field::constant("dst_ip", DataType::Address, true, "To."),
    Field::constant("dst_port", DataType::U16, true, "Port."),
    Field::constant("proto", DataType::Enumeration(&PROTOCOLS), true, "Protocol."),
    Field::constant("bytes", DataType::U64, false, "Bytes."),
    Field::constant("duration", DataType::DurationUs, true, "Duration."),
    Field::constant("method", DataType::Text, true, "Method."),
];

const SCHEMA: Schema = Schema::constant("flows", &FIELDS);

const SECOND: i64 = 1_000_000_000;

type Row = Vec<Value<'static>>;

fn row(random: &mut Random) -> Row {
    let ports = [22, 80, 443, 8080];
    let methods = ["", "ping", "getUser", "it's"];
    let address = |random: &mut Random| -> IpAddr {
        match random.below(3) {
            0 => [10, 0, 0, random.below(4) as u8].into(),
            1 => [192, 168, 1, random.below(4) as u8].into(),
            _ => [0x2001, 0xdb8, 0, 0, 0, 0, 0, random.below(4) as u16].into(),
        }
    };
    let all = vec![
        Value::Time(random.below(600) as i64 * SECOND - 60 * SECOND),
        Value::Address(address(random)),
        Value::Address(address(random)),
        Value::Unsigned(ports[random.below(ports.len())]),
        Value::Unsigned([6, 17, 200][random.below(3)]),
        Value::Unsigned(random.below_u64(1 << 20)),
        Value::Duration(random.below_u64(10_000_000)),
        Value::Text(methods[random.below(methods.len())]),
    ];
    let is_null = |place: usize, random: &mut Random| place != 5 && random.once_in(8);
    all.into_iter()
        .enumerate()
        .map(|(place, value)| if is_null(place, random) { Value::Null } else { value })
        .collect()
}

type Holds = fn(i128, i128) -> bool;

type Twin = Box<dyn Fn(&Row) -> bool>;

fn number(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::Unsigned(number) | Value::Duration(number) => Some((*number).into()),
        Value::Time(number) => Some((*number).into()),
        _ => None,
    }
}

/// A comparison as text, and what it means.
fn comparison(random: &mut Random) -> (String, Twin) {
    let signs: [(&str, Holds); 7] = [
        ("==", |a, b| a == b),
        ("=", |a, b| a == b),
        ("!=", |a, b| a != b),
        ("<", |a, b| a < b),
        ("<=", |a, b| a <= b),
        (">", |a, b| a > b),
        (">=", |a, b| a >= b),
    ];
    let (sign, holds) = signs[random.below(signs.len())];
    let of_number = |place: usize, literal: &str, wanted: i128| -> (String, Twin) {
        let text = format!("{} {sign} {literal}", FIELDS[place].name());
        (text, Box::new(move |row| number(&row[place]).is_some_and(|number| holds(number, wanted))))
    };
    match random.below(12) {
        0 => of_number(0, "1970-01-01T00:04:00Z", 240 * i128::from(SECOND)),
        10 => of_number(0, "240", 240 * i128::from(SECOND)),
        11 => of_number(0, "-30000000000ns", -30 * i128::from(SECOND)),
        1 => of_number(3, "443", 443),
        2 => of_number(5, "5e5", 500_000),
        3 => of_number(6, "2.5s", 2_500_000),
        4 => of_number(4, "tcp", 6),
        5 => {
            let inside = |value: &Value<'_>| matches!(value, Value::Address(IpAddr::V4(address)) if address.octets()[0] == 10);
            ("src_ip in 10.0.0.0/8".to_owned(), Box::new(move |row| inside(&row[1])))
        }
        6 => {
            let wanted: IpAddr = "2001:db8::1".parse().unwrap();
            let is_it = move |value: &Value<'_>| *value == Value::Address(wanted);
            ("host==2001:db8::1".to_owned(), Box::new(move |row| is_it(&row[1]) || is_it(&row[2])))
        }
        7 => {
            let holds = |row: &Row| matches!(row[3], Value::Unsigned(22 | 80));
            ("dst_port in (80, 22, 80)".to_owned(), Box::new(holds))
        }
        8 => {
            let holds = |row: &Row| !row[7].is_null() && row[7] != Value::Text("it's");
            ("method != \"it's\"".to_owned(), Box::new(holds))
        }
        _ => {
            let place = random.below(FIELDS.len());
            let name = FIELDS[place].name();
            match random.once_in(2) {
                true => (format!("{name} is null"), Box::new(move |row| row[place].is_null())),
                false => {
                    (format!("{name} IS NOT NULL"), Box::new(move |row| !row[place].is_null()))
                }
            }
        }
    }
}

fn condition(random: &mut Random, depth: usize) -> (String, Twin) {
    match random.below(if depth == 0 { 1 } else { 4 }) {
        0 => comparison(random),
        1 => {
            let (text, twin) = condition(random, depth - 1);
            let not = if random.once_in(2) { "not " } else { "!" };
            (format!("{not}({text})"), Box::new(move |row| !twin(row)))
        }
        which => {
            let (left, one) = condition(random, depth - 1);
            let (right, other) = condition(random, depth - 1);
            match which {
                2 => {
                    let and = if random.once_in(2) { "and" } else { "&&" };
                    (
                        format!("({left}) {and} ({right})"),
                        Box::new(move |row| one(row) && other(row)),
                    )
                }
                _ => {
                    let or = if random.once_in(2) { "or" } else { "||" };
                    (
                        format!("({left}) {or} ({right})"),
                        Box::new(move |row| one(row) || other(row)),
                    )
                }
            }
        }
    }
}

#[test]
fn a_condition_holds_for_the_rows_that_it_says() {
    seeds(300, |random| {
        let (text, twin) = condition(random, 3);
        let condition =
            Condition::new(&text, &SCHEMA).unwrap_or_else(|error| panic!("{text}: {error}"));
        for _ in 0..50 {
            let row = row(random);
            assert_eq!(condition.holds(|place| row[place]), twin(&row), "{text}: {row:?}");
        }
    });
}

#[test]
fn and_binds_more_than_or_and_not_more_than_both() {
    let holds = |text: &str, port: u64| {
        let condition = Condition::new(text, &SCHEMA).unwrap();
        condition.holds(|place| if place == 3 { Value::Unsigned(port) } else { Value::Null })
    };
    assert!(holds("dst_port == 1 or dst_port == 2 and dst_port == 3", 1));
    assert!(!holds("dst_port == 1 or dst_port == 2 and dst_port == 3", 2));
    assert!(holds("not dst_port == 1 and dst_port == 2", 2));
    assert!(holds("not dst_port == 2 or dst_port == 2", 2));
}

#[test]
fn what_is_no_condition_is_refused_with_its_column() {
    let cases = [
        ("dst_prot == 443", "column 1: expected a field", "did you mean dst_port?"),
        ("dst_port == ", "column 13: expected a number, such as 443 or 1e6", "found the end"),
        ("dst_port 443", "column 10: expected ==", "found 443"),
        ("dst_port == x", "column 13: expected a number", "found x"),
        (
            "src_ip in 10.0.0.0/99",
            "column 11: expected an address or a network",
            "found 10.0.0.0/99",
        ),
        ("src_ip < 10.0.0.1", "column 10: expected a number or a time", "found address"),
        ("ts > yesterday", "column 6: expected a time", "found yesterday"),
        ("proto == tpc", "column 10: expected a number or a name (icmp", "found tpc"),
        ("(dst_port == 1", "column 15: expected )", "found the end"),
        (
            "dst_port == 1 dst_port == 2",
            "column 15: expected and, or, or the end",
            "found dst_port",
        ),
        ("method == 'x", "column 11: expected a quote at its end", "found none"),
        ("", "column 1: expected a field", "found the end"),
        ("§ == 1", "column 1: expected a field, a value or an operator", "found §"),
    ];
    for (text, place, found) in cases {
        let error = Condition::new(text, &SCHEMA).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{text}");
        assert!(
            error.message().contains(place) && error.message().contains(found),
            "{text}: {error}"
        );
    }
    let nested = format!("{}dst_port == 1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(Condition::new(&nested, &SCHEMA).unwrap_err().message().contains("at most 64"));
}

/// A value as text that tells null from nothing.
fn told(value: &Value<'_>) -> String {
    if value.is_null() { "-".to_owned() } else { format!("={value}") }
}

/// Rows by key, each with its count and its sum of bytes.
fn counted(rows: &[Row], keys: &[usize], interval: Option<i64>) -> BTreeMap<String, (u64, u64)> {
    let mut counts = BTreeMap::new();
    for row in rows {
        let begin = interval.map(|interval| match row[0] {
            Value::Time(time) => Some(time - time.rem_euclid(interval)),
            _ => None,
        });
        let keys: Vec<_> = keys.iter().map(|place| told(&row[*place])).collect();
        let Value::Unsigned(bytes) = row[5] else { panic!("no bytes") };
        let (count, sum) = counts.entry(format!("{begin:?} {keys:?}")).or_insert((0, 0));
        *count += 1;
        *sum += bytes;
    }
    counts
}

fn shown(batch: &Batch, keys_len: usize, has_interval: bool) -> BTreeMap<String, (u64, u64)> {
    let first = usize::from(has_interval);
    let number = |row, place| match batch.value(row, place) {
        Value::Unsigned(number) => number,
        other => panic!("{other:?}"),
    };
    let shown = (0..batch.len()).map(|row| {
        let begin = has_interval.then(|| match batch.value(row, 0) {
            Value::Time(time) => Some(time),
            _ => None,
        });
        let keys: Vec<_> =
            (first..first + keys_len).map(|place| told(&batch.value(row, place))).collect();
        let at = first + keys_len;
        (format!("{begin:?} {keys:?}"), (number(row, at), number(row, at + 1)))
    });
    shown.collect()
}

#[test]
fn groups_add_up_to_what_a_naive_count_gives() {
    seeds(60, |random| {
        let rows: Vec<_> = (0..random.below(500)).map(|_| row(random)).collect();
        let places: Vec<_> = [1, 3, 4, 7].into_iter().filter(|_| random.once_in(2)).collect();
        let keys: Vec<_> = places.iter().map(|place| FIELDS[*place].name()).collect();
        let interval =
            random.once_in(2).then(|| [SECOND, 60 * SECOND, 7 * SECOND][random.below(3)]);
        let by = GroupBy::new(&SCHEMA, &keys, &["bytes"], interval).unwrap();
        let mut groups = by.groups(usize::MAX);
        rows.iter().for_each(|row| groups.add(|place| row[place]));
        let batch = groups.finish(None);
        let expected = counted(&rows, &places, interval);
        assert_eq!(shown(&batch, keys.len(), interval.is_some()), expected);
        assert_eq!(batch.len(), expected.len());
        assert!(
            (0..batch.len())
                .all(|row| batch.column("groups").unwrap().value(row) == Value::Unsigned(1))
        );
        let names: Vec<_> = batch.schema().fields().iter().map(Field::name).collect();
        let time = interval.map(|_| "ts");
        assert_eq!(
            names,
            time.into_iter().chain(keys).chain(["flows", "bytes", "groups"]).collect::<Vec<_>>()
        );
    });
}

#[test]
fn the_largest_groups_come_first_and_top_keeps_those_that_are_largest_over_all_intervals() {
    let by = GroupBy::new(&SCHEMA, &["dst_port"], &["bytes"], Some(SECOND)).unwrap();
    let mut groups = by.groups(usize::MAX);
    // Port 1 is the largest in the first second, port 2 over both, port 3 never.
    for (second, port, bytes) in
        [(0, 1, 100), (0, 2, 90), (1, 2, 50), (0, 3, 10), (1, 3, 20), (1, 1, 5)]
    {
        groups.add(|place| match place {
            0 => Value::Time(second * SECOND + 7),
            3 => Value::Unsigned(port),
            5 => Value::Unsigned(bytes),
            _ => Value::Null,
        });
    }
    let batch = groups.finish(Some(2));
    let rows: Vec<_> = (0..batch.len())
        .map(|row| {
            (0..4).map(|place| batch.value(row, place).to_string()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(rows, ["0 1 1 100", "0 2 1 90", "1000000000 2 1 50", "1000000000 1 1 5"]);
}

#[test]
fn too_many_groups_lose_nothing_the_smallest_are_counted_together_and_said_to_be() {
    seeds(20, |random| {
        let max = 1 + random.below(50);
        let by = GroupBy::new(&SCHEMA, &["bytes"], &["duration"], Some(60 * SECOND)).unwrap();
        let mut groups = by.groups(max);
        let rows: Vec<_> = (0..2000).map(|_| row(random)).collect();
        rows.iter().for_each(|row| groups.add(|place| row[place]));
        let batch = groups.finish(None);
        let sum = |name: &str| -> u64 {
            let column = batch.column(name).unwrap();
            let numbers = (0..batch.len()).map(|row| match column.value(row) {
                Value::Unsigned(number) | Value::Duration(number) => number,
                other => panic!("{other:?}"),
            });
            numbers.sum()
        };
        assert_eq!(sum("flows"), 2000);
        let durations =
            rows.iter().map(|row| if let Value::Duration(time) = row[6] { time } else { 0 });
        assert_eq!(sum("duration"), durations.sum::<u64>());
        assert!(batch.len() <= 2 * max + max + 1, "{} rows of at most {max} groups", batch.len());
        assert!(sum("groups") > batch.len() as u64);
    });
}

#[test]
fn a_question_that_makes_no_sense_is_refused() {
    let error = |keys: &[&str], sums: &[&str], interval| {
        GroupBy::new(&SCHEMA, keys, sums, interval).unwrap_err().message().to_owned()
    };
    assert!(error(&["dst_prot"], &[], None).contains("did you mean dst_port?"));
    assert_eq!(
        error(&[], &["src_ip"], None),
        "expected a field of numbers to sum up, found src_ip (address)"
    );
    assert_eq!(error(&["bytes"], &["bytes"], None), "expected each field once, found bytes twice");
    assert_eq!(error(&[], &[], Some(0)), "expected an interval above 0, found 0 ns");
    let timeless = Schema::new("lines", vec![FIELDS[5].clone()]);
    assert!(
        GroupBy::new(&timeless, &["bytes"], &[], Some(1))
            .unwrap_err()
            .message()
            .contains("found ts")
    );
}
