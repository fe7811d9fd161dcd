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

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use bytewright::ErrorKind;
use bytewright::batch::{Batch, DataType, Field, Schema, Value};
use bytewright::packet::PROTOCOLS;
use bytewright::query::{Condition, GroupBy};

use crate::generate::{Random, seeds};

static FIELDS: [Field; 10] = [
    Field::constant("ts", DataType::TimeNs, true, "Time."),
    Field::constant("src_ip", DataType::Address, true, "From."),
    Field::constant("dst_ip", DataType::Address, true, "To."),
    Field::constant("dst_port", DataType::U16, true, "Port."),
    Field::constant("proto", DataType::Enumeration(&PROTOCOLS), true, "Protocol."),
    Field::constant("bytes", DataType::U64, false, "Bytes."),
    Field::constant("duration", DataType::DurationUs, true, "Duration."),
    Field::constant("method", DataType::Text, true, "Method."),
    Field::constant("tcp_flags", DataType::TcpFlags, true, "Flags."),
    Field::constant("service", DataType::Text, true, "Service."),
];

const SCHEMA: Schema = Schema::constant("flows", &FIELDS);

const SECOND: i64 = 1_000_000_000;

type Row = Vec<Value<'static>>;

fn row(random: &mut Random) -> Row {
    let ports = [22, 80, 443, 8080];
    let methods = ["", "ping", "getUser", "it's", "service"];
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
        Value::Unsigned(random.below_u64(0x200)),
        Value::Text(["ping", "service"][random.below(2)]),
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
    let of_bits = |place: usize, text: &str, holds: fn(i128) -> bool| -> (String, Twin) {
        (text.to_owned(), Box::new(move |row| number(&row[place]).is_some_and(holds)))
    };
    let of_text = |text: &str, holds: fn(&str) -> bool| -> (String, Twin) {
        let of = move |value: &Value<'_>| value.text().is_some_and(holds);
        (text.to_owned(), Box::new(move |row| of(&row[7])))
    };
    match random.below(35) {
        0 => of_number(0, "1970-01-01T00:04:00Z", 240 * i128::from(SECOND)),
        10 => of_number(0, "240", 240 * i128::from(SECOND)),
        11 => of_number(0, "-30000000000ns", -30 * i128::from(SECOND)),
        12 => of_bits(8, "tcp_flags has SYN+ACK", |flags| flags & 0x12 == 0x12),
        13 => of_bits(8, "tcp_flags & SA", |flags| flags & 0x12 != 0),
        14 => of_bits(8, "tcp_flags&0x12 == S", |flags| flags & 0x12 == 0x02),
        15 => of_bits(5, "bytes & 0xff00 != 0x100", |bytes| bytes & 0xff00 != 0x100),
        16 => of_text("method contains U", |text| text.contains('U')),
        17 => of_text("method StartsWith \"it's\"", |text| text.starts_with("it's")),
        18 => of_text("method endswith 'ing'", |text| text.ends_with("ing")),
        19 => of_text("method ~ /^(ge|PI)/", |text| text.starts_with("ge")),
        20 => of_text("method matches '(?i)PING|^$'", |text| text == "ping" || text.is_empty()),
        21 => of_text("method !~ /[a-z]$/", |text| !text.ends_with(|c: char| c.is_lowercase())),
        22 => of_bits(3, "dst_port not in (22, 443)", |port| port != 22 && port != 443),
        23 => {
            of_bits(3, "dst_port in 20-80, 8080", |port| (20..=80).contains(&port) || port == 8080)
        }
        24 => of_bits(3, "dst_port==80-500", |port| (80..=500).contains(&port)),
        25 => of_bits(3, "dst_port != 23-443", |port| !(23..=443).contains(&port)),
        26 => of_bits(6, "duration in (1s-2.5s, 5s-1m)", |us| {
            (1_000_000..=2_500_000).contains(&us) || us >= 5_000_000
        }),
        27 => of_bits(5, "bytes >= 0.5M or bytes < 4k", |bytes| !(4_000..500_000).contains(&bytes)),
        28 => of_bits(4, "proto == TCP or proto == Udp", |proto| proto == 6 || proto == 17),
        29 => of_bits(0, "ts NOT IN (0, 240s)", |ns| ns != 0 && ns != 240_000_000_000),
        30 => {
            let holds = |row: &Row| {
                number(&row[5]).zip(number(&row[3])).is_some_and(|(one, other)| one < other)
            };
            ("bytes < dst_port".to_owned(), Box::new(holds))
        }
        31 => {
            ("src_ip == dst_ip".to_owned(), Box::new(|row| !row[1].is_null() && row[1] == row[2]))
        }
        32 => {
            let holds = |row: &Row| !row[1].is_null() && !row[2].is_null() && row[1] != row[2];
            ("dst_ip != src_ip".to_owned(), Box::new(holds))
        }
        33 => {
            let holds = |row: &Row| {
                let (one, other) = (row[7].text(), row[9].text());
                one.zip(other).is_some_and(|(one, other)| one >= other)
            };
            ("method >= service".to_owned(), Box::new(holds))
        }
        34 => of_text("method == 'service'", |text| text == "service"),
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
        ("dst_port == ", "column 13: expected a number, such as 443, 1e6 or 10M", "found the end"),
        ("dst_port 443", "column 10: expected ==", "found 443"),
        (
            "tcp_flags has SIN",
            "column 15: expected a number, such as 0x12, or flags (FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, NS), such as SYN+ACK",
            "found SIN",
        ),
        (
            "tcp_flags hs SYN",
            "column 11: expected ==, !=, <, <=, >, >=, &, has, in, not in or is",
            "found hs",
        ),
        ("src_ip & 1", "column 8: expected ==, !=, <, <=, >, >=, in, not in or is", "found &"),
        ("bytes & 1.5", "column 9: expected a whole number, such as 0x12", "found 1.5"),
        (
            "method ~ /a(b/",
            "column 12: expected a regular expression",
            "found a(b (unclosed group)",
        ),
        ("method ~ '¶[z-a]'", "column 13: expected", "found ¶[z-a] (invalid character class range"),
        ("method ~ /ab", "column 10: expected a / at the end of the expression", "found none"),
        ("method ~ ab", "column 10: expected a regular expression, such as /^get/", "found ab"),
        (
            "method ~ /(x{900}){900}/",
            "column 11: expected a regular expression of 1048576 bytes",
            "found a larger one: (x{900}){900}",
        ),
        ("method contains (", "column 17: expected text", "found ("),
        (
            "method has x",
            "column 8: expected ==, !=, <, <=, >, >=, contains, startswith, endswith, ~, !~, in, not in or is",
            "found has",
        ),
        (
            "dst_port ~ /8/",
            "column 10: expected ==, !=, <, <=, >, >=, &, has, in, not in or is",
            "found ~",
        ),
        (
            "dst_port == 80-53",
            "column 13: expected a number, such as 443, 1e6 or 10M, or a range, such as 53-80",
            "found 80-53",
        ),
        (
            "dst_port < 53-80",
            "column 12: expected a number, such as 443, 1e6 or 10M",
            "found 53-80",
        ),
        ("dst_port not 5", "column 14: expected in", "found 5"),
        ("bytes > 10MB", "column 9: expected a number, such as 443, 1e6 or 10M", "found 10MB"),
        (
            "src_ip in 10.0.0.1-10.0.0.9",
            "column 11: expected an address or a network",
            "found 10.0.0.1-10.0.0.9",
        ),
        (
            "src_ip == dst_port",
            "column 11: expected an address or a network, such as 10.0.0.0/8, or a field of that kind (src_ip, dst_ip)",
            "found dst_port (u16)",
        ),
        (
            "bytes > duration",
            "column 9: expected a number",
            "or a field of that kind (dst_port, bytes), found duration (duration_us)",
        ),
        (
            "src_ip < dst_ip",
            "column 10: expected a number or a time behind < and >",
            "found address",
        ),
        ("bytes > dst_prt", "column 9: expected a number", "found dst_prt; did you mean dst_port?"),
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

#[test]
fn regular_expressions_match_bytes_within_bounded_time_and_room() {
    let holds = |text: &str, value: Value<'static>| {
        let condition = Condition::new(text, &SCHEMA).unwrap();
        condition.holds(|place| if place == 7 { value } else { Value::Null })
    };
    assert!(holds(r"method ~ /a\/b/", Value::Text("xa/by")));
    assert!(holds(r"method ~ /\xff/", Value::Bytes(b"a\xff")));
    assert!(holds("method ~ /^é..$/", Value::Bytes("éö".as_bytes())), "a point is a byte");
    assert!(!holds("method ~ /(?i)É/", Value::Text("é")), "letters of ASCII have cases");
    assert!(holds("method ~ /(?i)getÉ/", Value::Text("GETÉ")));
    assert!(!holds("method ~ /./", Value::Null) && !holds("method !~ /./", Value::Null));
    let long = "a".repeat(100_000);
    let condition = Condition::new("method ~ /(a*)*(a*)*(a*)*[^a]$/", &SCHEMA).unwrap();
    assert!(!condition.holds(|place| if place == 7 { Value::Text(&long) } else { Value::Null }));
    let many = ["method ~ /a/"; 65].join(" or ");
    let error = Condition::new(&many, &SCHEMA).unwrap_err();
    assert!(error.message().contains("expected at most 64 regular expressions"), "{error}");
    let nested = format!("method ~ /{}a{}/", "(".repeat(100_000), ")".repeat(100_000));
    assert!(Condition::new(&nested, &SCHEMA).is_err());
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
fn groups_of_ports_are_those_of_the_way_that_any_key_takes() {
    // As many groups as ports are kept of one; one fewer, and they are looked for by their bytes.
    const PORTS_MAX: usize = 65_537;
    seeds(20, |random| {
        let mut rows: Vec<_> = (0..random.below(3_000)).map(|_| row(random)).collect();
        for row in &mut rows {
            let port = [0, 65_535, random.below(65_536) as u64, 80][random.below(4)];
            row[3] = if random.once_in(9) { Value::Null } else { Value::Unsigned(port) };
        }
        let rows_by = |sums: &[&str], groups_max: usize, top: Option<usize>| {
            let by = GroupBy::new(&SCHEMA, &["dst_port"], sums, None).unwrap();
            let mut groups = by.groups(groups_max);
            rows.iter().for_each(|row| groups.add(|place| row[place]));
            rows_of(&groups.finish(top))
        };
        for sums in [&[][..], &["bytes"], &["duration", "bytes"], &["bytes", "max(bytes)"]] {
            for top in [None, Some(3)] {
                let expected = rows_by(sums, PORTS_MAX - 1, top);
                assert_eq!(rows_by(sums, PORTS_MAX, top), expected);
            }
        }
    });
}

/// The rows of a batch as text.
fn rows_of(batch: &Batch) -> Vec<String> {
    let columns = batch.schema().fields().len();
    let row = |row| (0..columns).map(|place| told(&batch.value(row, place))).collect::<Vec<_>>();
    (0..batch.len()).map(|at| row(at).join(" ").replace('=', "")).collect()
}

#[test]
fn measures_are_those_of_the_sorted_values() {
    let sums = [
        "distinct(method)",
        "bytes",
        "min(duration)",
        "max(ts)",
        "mean(bytes)",
        "p50(bytes)",
        "p99.9(bytes)",
        "first(method)",
        "last(src_ip)",
        "mean(duration)",
    ];
    seeds(20, |random| {
        let rows: Vec<_> = (0..1 + random.below(400)).map(|_| row(random)).collect();
        let by = GroupBy::new(&SCHEMA, &["proto"], &sums, None).unwrap();
        let mut groups = by.groups(usize::MAX);
        rows.iter().for_each(|row| groups.add(|place| row[place]));
        let batch = groups.finish(None);
        for at in 0..batch.len() {
            let of = |place: usize| -> Vec<Value<'static>> {
                let rows = rows.iter().filter(|row| row[4] == batch.value(at, 0));
                rows.map(|row| row[place]).filter(|value| !value.is_null()).collect()
            };
            let value = |name: &str| batch.column(name).unwrap().value(at);
            let (methods, mut bytes, durations) = (of(7), of(5), of(6));
            bytes.sort();
            let different: BTreeSet<_> = methods.iter().collect();
            assert_eq!(value(sums[0]), Value::Unsigned(different.len() as u64));
            let one = |value: Option<&Value<'static>>| value.copied().unwrap_or(Value::Null);
            assert_eq!(value(sums[2]), one(durations.iter().min()));
            assert_eq!(value(sums[3]), one(of(0).iter().max()));
            assert_eq!(told(&value(sums[7])), told(&one(methods.first())));
            assert_eq!(value(sums[8]), one(of(1).last()));
            let mean = |values: &[Value<'static>]| {
                let sum: i128 = values.iter().map(|value| number(value).unwrap()).sum();
                sum as f64 / values.len() as f64
            };
            assert_eq!(value(sums[4]), Value::Double(mean(&bytes)));
            match value(sums[9]) {
                Value::Duration(found) => assert!((found as f64 - mean(&durations)).abs() <= 0.5),
                found => assert!(found.is_null() && durations.is_empty()),
            }
            for (name, per_mille) in [(sums[5], 500), (sums[6], 999)] {
                let rank = (bytes.len() * per_mille).div_ceil(1000).max(1);
                let exact = number(&bytes[rank - 1]).unwrap();
                let found = number(&value(name)).unwrap();
                assert!(found >= exact && found - exact <= exact / 32, "{name}: {found}, {exact}");
            }
        }
        let firsts: Vec<_> = (0..batch.len()).map(|row| batch.value(row, 2)).collect();
        assert!(firsts.is_sorted_by(|left, right| left >= right), "by the first measure");
    });
}

#[test]
fn measures_take_bounded_room_and_lose_no_row() {
    let sums = ["distinct(bytes)", "p50(bytes)", "first(bytes)"];
    let by = GroupBy::new(&SCHEMA, &["dst_port"], &sums, Some(SECOND)).unwrap();
    let mut groups = by.groups(300);
    // One port has as many values as there are rows; the others have some.
    for at in 0..60_000_u64 {
        let port = if at % 2 == 0 { 1 } else { at % 1000 };
        groups.add(|place| match place {
            0 => Value::Time((at / 20_000) as i64 * SECOND),
            3 => Value::Unsigned(port),
            5 => Value::Unsigned(at),
            _ => Value::Null,
        });
    }
    let batch = groups.finish(None);
    let numbers = |name: &str| -> Vec<u64> {
        let column = batch.column(name).unwrap();
        (0..batch.len()).map(|row| number(&column.value(row)).unwrap() as u64).collect()
    };
    assert_eq!(numbers("flows").iter().sum::<u64>(), 60_000);
    assert!(numbers("groups").iter().sum::<u64>() >= 1500, "of each second, 500 ports");
    assert!(batch.len() <= 603, "{} groups of 300 with room for 150 KiB", batch.len());
    for (rows, found) in numbers("flows").iter().zip(numbers("distinct(bytes)")) {
        let error = (found as f64 / *rows as f64 - 1.0).abs();
        assert!(error < 0.08, "{found} of {rows}");
    }
}

#[test]
fn groups_of_either_side_have_what_each_has_sent_and_received() {
    seeds(30, |random| {
        let rows: Vec<_> = (0..random.below(300)).map(|_| row(random)).collect();
        let by = GroupBy::new(&SCHEMA, &["host", "dst_port"], &["bytes"], None).unwrap();
        let mut groups = by.groups(usize::MAX);
        rows.iter().for_each(|row| groups.add(|place| row[place]));
        let batch = groups.finish(None);
        let mut expected: BTreeMap<String, [u64; 6]> = BTreeMap::new();
        for row in &rows {
            let Value::Unsigned(bytes) = row[5] else { panic!("no bytes") };
            let mut add = |host: usize, is_sent: bool, is_received: bool| {
                let key = format!("{} {}", told(&row[host]), told(&row[3])).replace('=', "");
                let sums = expected.entry(key).or_default();
                let ways = [(true, 0), (is_sent, 2), (is_received, 4)];
                for at in ways.into_iter().filter(|(counts, _)| *counts).map(|(_, at)| at) {
                    sums[at] += 1;
                    sums[at + 1] += bytes;
                }
            };
            if row[1] == row[2] {
                add(1, !row[1].is_null(), !row[1].is_null());
            } else {
                add(1, true, false);
                add(2, false, true);
            }
        }
        let mut expected: Vec<_> = expected
            .into_iter()
            .map(|(key, sums)| format!("{key} {} 1", sums.map(|sum| sum.to_string()).join(" ")))
            .collect();
        let mut found = rows_of(&batch);
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    });
    let by = GroupBy::new(&SCHEMA, &["host"], &["bytes"], None).unwrap();
    let names: Vec<_> = by.schema().fields().iter().map(Field::name).collect();
    let ways = ["sent_flows", "sent_bytes", "received_flows", "received_bytes"];
    assert_eq!(names, [&["host", "flows", "bytes"], &ways[..], &["groups"]].concat());
}

#[test]
fn what_comes_back_is_received_by_the_source() {
    static BOTH: [Field; 4] = [
        Field::constant("src_port", DataType::U16, true, "From."),
        Field::constant("dst_port", DataType::U16, true, "To."),
        Field::constant("bytes", DataType::U64, false, "Bytes."),
        Field::constant("rev_bytes", DataType::U64, false, "Bytes back."),
    ];
    let schema = Schema::constant("flows", &BOTH);
    let by = GroupBy::new(&schema, &["port"], &["bytes", "rev_bytes"], None).unwrap();
    let mut groups = by.groups(usize::MAX);
    groups.add(|place| Value::Unsigned([1, 2, 100, 7][place]));
    // Both ports with all; port 1 has sent the 100, and received the 7.
    let names = ["sent_bytes", "sent_rev_bytes", "received_bytes", "received_rev_bytes"];
    let batch = groups.finish(None);
    let numbers = |row| names.map(|name| batch.column(name).unwrap().value(row).to_string());
    assert_eq!(numbers(0), ["100", "0", "0", "7"]);
    assert_eq!(numbers(1), ["0", "7", "100", "0"]);
}

#[test]
fn groups_of_networks_have_the_bits_of_each_version_of_ip() {
    let grouped = |key: &str| {
        let by = GroupBy::new(&SCHEMA, &[key], &[], None).unwrap();
        let mut groups = by.groups(usize::MAX);
        for address in
            ["10.1.2.3", "::ffff:10.1.2.9", "10.1.3.3", "2001:db8:1:2::1", "2001:db8:1:3::1"]
        {
            let address = Value::Address(address.parse().unwrap());
            groups.add(|place| if place == 1 { address } else { Value::Null });
        }
        rows_of(&groups.finish(None))
    };
    assert_eq!(
        grouped("src_ip/24"),
        ["10.1.2.0/24 2 1", "10.1.3.0/24 1 1", "2001:db8:1:2::/64 1 1", "2001:db8:1:3::/64 1 1"]
    );
    assert_eq!(grouped("src_ip/16/32"), ["10.1.0.0/16 3 1", "2001:db8::/32 2 1"]);
    assert_eq!(grouped("src_ip/0/0"), ["0.0.0.0/0 3 1", "::/0 2 1"]);
    assert_eq!(grouped("src_ip/32/128").len(), 5);
    assert_eq!(grouped("host/24").len(), 5, "four networks, and none at the other side");
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
    assert!(
        error(&["src_ip/33"], &[], None)
            .contains("such as src_ip/24 or src_ip/24/64, found src_ip/33")
    );
    assert!(error(&["src_ip/x"], &[], None).contains("found src_ip/x"));
    assert!(error(&["src_ip/24/129"], &[], None).contains("0 to 128"));
    assert!(
        error(&["bytes/24"], &[], None)
            .contains("expected a field of addresses in front of /, found bytes (u64)")
    );
    assert!(error(&["hosts"], &[], None).contains("expected a field"));
    assert_eq!(
        error(&[], &["meann(bytes)"], None),
        "expected a field, or distinct, min, max, mean, first, last or p0 to p100 of one, such as p95(length), found meann(bytes); did you mean mean?"
    );
    assert_eq!(
        error(&[], &["p95(ts)"], None),
        "expected a field of numbers that are never negative in p95(), found ts (time_ns)"
    );
    assert!(error(&[], &["mean(src_ip)"], None).contains("expected a field of numbers in mean()"));
    assert!(error(&[], &["max(byts)"], None).contains("did you mean bytes?"));
    for wrong in ["p101(bytes)", "p(bytes)", "p1.23(bytes)", "(bytes)", "p-1(bytes)"] {
        assert!(error(&[], &[wrong], None).contains("expected a field, or distinct"), "{wrong}");
    }
    assert!(error(&[], &["min(bytes)", "min(bytes)"], None).contains("found min(bytes) twice"));
    let many: Vec<_> = (0..65).map(|percent| format!("p{percent}(bytes)")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    assert!(error(&[], &many, None).contains("expected at most 64 measures, found 65"));
    let timeless = Schema::new("lines", vec![FIELDS[5].clone()]);
    assert!(
        GroupBy::new(&timeless, &["bytes"], &[], Some(1))
            .unwrap_err()
            .message()
            .contains("found ts")
    );
}
