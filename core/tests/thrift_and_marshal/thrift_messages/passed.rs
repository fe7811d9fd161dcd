//! Goal: fields of Compact that are passed by their first bytes are passed as those that are read one by one, in messages of any
//! shape, damaged or not, and at any depth.
//!
//! Method: with a bound of strings below 2^14 fields are read one by one. Both ways read the same messages, for the same columns.

use std::sync::Arc;

use bytewright::thrift::{
    Columns, Encoding, FieldSchema, Limits, MessageLayout, NarrowVarint, Plan, Projection,
    ProtocolErrorKind, StructId, StructKind, ThriftSchema, Type, WireType,
};

use super::twin::{self, Raw};
use super::{ENCODINGS, cases};
use crate::generate::{Random, seeds};

/// Bound of strings with which fields are read one by one.
const ONE_BY_ONE: u32 = (1 << 14) - 1;

const KINDS: [u8; 12] = [2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16];

const WANTED: [i32; 3] = [50, 100, 150];

/// `Root {1: list<Item> items}`, `Item {50: i64 first, 100: string second, 150: list<i32> third}`
fn plan() -> Arc<Plan> {
    let mut schema = ThriftSchema::new();
    let [root, item] = ["Root", "Item"].map(|name| schema.declare_struct(name, StructKind::Struct));
    let items = Type::list(Type::Struct(item));
    schema.define_struct(root, vec![FieldSchema::new(1, "items", items)]).unwrap();
    let fields = vec![
        FieldSchema::new(50, "first", Type::I64),
        FieldSchema::new(100, "second", Type::String),
        FieldSchema::new(150, "third", Type::list(Type::I32)),
    ];
    schema.define_struct(item, fields).unwrap();
    Arc::new(Plan::new(Arc::new(schema)).unwrap())
}

fn projection(paths: &[&str]) -> Arc<Projection> {
    Arc::new(Projection::new(plan(), StructId(0), paths).unwrap())
}

fn number(random: &mut Random) -> u64 {
    random.next() >> random.below(64)
}

fn value(random: &mut Random, kind: u8, depth: usize) -> Raw {
    let len = |random: &mut Random| match random.below(8) {
        0 => 0,
        1 => 120 + random.below(20),
        2 => 14 + random.below(3),
        _ => random.below(9),
    };
    let inner = |random: &mut Random| {
        let kind = random.pick(&KINDS);
        if depth == 0 && kind > 11 && kind != 16 { 8 } else { kind }
    };
    match kind {
        2 => Raw::Bool(random.once_in(2)),
        3 => Raw::Byte(random.byte() as i8),
        4 => Raw::Double(random.next()),
        6 => Raw::I16(number(random) as i16),
        8 => Raw::I32(number(random) as i32),
        10 => Raw::I64(number(random) as i64),
        11 => {
            let len = len(random);
            Raw::Bytes(random.bytes(len))
        }
        12 => Raw::Struct(fields(random, depth.saturating_sub(1), &[])),
        13 => {
            let (key, of) = (inner(random), inner(random));
            let entries = (0..random.below(4)).map(|_| {
                (
                    value(random, key, depth.saturating_sub(1)),
                    value(random, of, depth.saturating_sub(1)),
                )
            });
            Raw::Map(key, of, entries.collect())
        }
        16 => Raw::Uuid(random.array()),
        _ => {
            let of = inner(random);
            let count = if of > 11 { random.below(4) } else { len(random) };
            let values = (0..count).map(|_| value(random, of, depth.saturating_sub(1))).collect();
            if kind == 14 { Raw::Set(of, values) } else { Raw::List(of, values) }
        }
    }
}

/// Fields of which most have rising ids and no name, and some are those that are wanted.
fn fields(random: &mut Random, depth: usize, wanted: &[i32]) -> Vec<(i32, Raw)> {
    let mut ids: Vec<i32> = (0..random.below(12)).map(|_| 1 + random.below(200) as i32).collect();
    ids.extend(wanted.iter().filter(|_| !random.once_in(4)));
    ids.sort_unstable();
    if random.once_in(6) && !ids.is_empty() {
        let (from, to) = (random.below(ids.len()), random.below(ids.len()));
        ids.swap(from, to);
    }
    ids.into_iter()
        .map(|id| {
            let raw = match wanted.iter().position(|wanted| *wanted == id) {
                Some(0) if !random.once_in(8) => Raw::I64(number(random) as i64),
                Some(1) if !random.once_in(8) => value(random, 11, 0),
                Some(2) if !random.once_in(8) => {
                    Raw::List(8, (0..random.below(20)).map(|_| value(random, 8, 0)).collect())
                }
                _ => {
                    let kind = random.pick(&KINDS);
                    value(
                        random,
                        if depth == 0 && (12..16).contains(&kind) { 11 } else { kind },
                        depth,
                    )
                }
            };
            (id, raw)
        })
        .collect()
}

/// Reads a message that is the first of some bytes: its rows and its length, or the error.
fn read(
    projection: &Arc<Projection>,
    encoding: Encoding,
    bytes: &[u8],
    limits: Limits,
) -> Result<(String, usize), (ProtocolErrorKind, String)> {
    let layout =
        MessageLayout { form: encoding.into(), is_framed: false, has_frame_headers: false, limits };
    let mut columns = Columns::new(projection.clone()).unwrap();
    let len = columns.extend_whole(layout, bytes, 0, true, 1);
    let len = len.map_err(|error| (error.kind(), error.to_string()))?;
    let batch = columns.batch();
    let row = |row| -> Vec<String> {
        (0..batch.columns().len()).map(|place| format!("{:?}", batch.value(row, place))).collect()
    };
    Ok((format!("{:?}", (0..batch.len()).map(row).collect::<Vec<_>>()), len))
}

#[test]
fn fields_passed_by_their_first_bytes_are_those_passed_one_by_one() {
    let projections = [
        &["items[].first", "items[].third"][..],
        &["items[].second"],
        &["items.third", "items.first", "items.second"],
    ]
    .map(projection);
    seeds(cases(600), |random| {
        let items = (0..random.below(6)).map(|_| Raw::Struct(fields(random, 3, &WANTED)));
        let items = Raw::List(WireType::STRUCT.number(), items.collect());
        let mut all = fields(random, 3, &[]);
        all.retain(|(id, _)| *id > 1);
        all.insert(random.below(all.len() + 1), (1, items));
        let message = Raw::Struct(all);
        let narrow_varint =
            random.pick(&[NarrowVarint::Any, NarrowVarint::FiveBytes, NarrowVarint::Exact]);
        let limits = Limits { narrow_varint, ..Limits::default() };
        let one_by_one = Limits { string_max: ONE_BY_ONE, ..limits };
        for encoding in ENCODINGS {
            let whole = twin::encode(encoding, &message);
            for round in 0..12 {
                let mut bytes = whole.clone();
                let at = random.below(bytes.len());
                match random.below(3) {
                    _ if round == 0 => {}
                    0 => bytes.truncate(at),
                    1 => bytes[at] ^= 1 << random.below(8),
                    _ => bytes[at] = random.pick(&[0, 1, 0x10, 0x19, 0x1c, 0x7f, 0x80, 0xff]),
                }
                for projection in &projections {
                    let found = read(projection, encoding, &bytes, limits);
                    let wanted = read(projection, encoding, &bytes, one_by_one);
                    match (&found, &wanted) {
                        // The bound of the one is below what the bytes of the other claim, and do not have.
                        (Err(_), Err((ProtocolErrorKind::SizeLimit, _))) if round > 0 => {}
                        _ => assert_eq!(found, wanted, "{encoding:?} {bytes:02x?}"),
                    }
                    assert!(round > 0 || found.is_ok(), "{found:?}");
                }
            }
        }
    });
}

#[test]
fn structs_that_are_passed_may_be_as_deep_by_their_first_bytes_as_one_by_one() {
    let projection = projection(&["items[].first"]);
    // Structs in fields, and in lists of one or more, in any order.
    seeds(cases(400), |random| {
        let depth = random.below(80);
        let deepest = Raw::Struct(vec![(1, Raw::List(8, vec![Raw::I32(1)])), (2, Raw::I32(1))]);
        let deep = (0..depth).fold(deepest, |inside, _| {
            let before = (1, Raw::Struct(vec![(1, Raw::I32(7))]));
            let inside = match random.below(4) {
                0 => inside,
                1 => Raw::List(12, vec![inside]),
                2 => Raw::Set(12, vec![Raw::Struct(vec![]), inside, Raw::Struct(vec![])]),
                _ => Raw::List(15, vec![Raw::List(12, vec![inside])]),
            };
            Raw::Struct(vec![before, (3, inside), (4, Raw::Bool(true))])
        });
        let item = Raw::Struct(vec![(2, deep), (50, Raw::I64(9))]);
        let bytes = twin::encode(
            Encoding::Compact,
            &Raw::Struct(vec![(1, Raw::List(12, vec![item.clone(), item]))]),
        );
        for skipped_depth_max in [1, 2, 7, 8, 9, 10, 17, 40, 64, 80, 256] {
            let limits = Limits { skipped_depth_max, ..Limits::default() };
            let one_by_one = Limits { string_max: ONE_BY_ONE, ..limits };
            let found = read(&projection, Encoding::Compact, &bytes, limits);
            assert_eq!(found, read(&projection, Encoding::Compact, &bytes, one_by_one));
            if depth < skipped_depth_max as usize / 2 {
                assert_eq!(found.unwrap().1, bytes.len());
            } else if depth > skipped_depth_max as usize {
                assert_eq!(found.unwrap_err().0, ProtocolErrorKind::DepthLimit);
            }
        }
    });
}
