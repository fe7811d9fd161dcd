//! Fields that are taken out of a message are those that it has when it is read whole.

use std::sync::Arc;

use bytewright::batch::{DataType, Value};
use bytewright::thrift::{
    Columns, Encoding, FieldSchema, Frames, Limits, Plan, Projection, ProtocolErrorKind, StructId,
    StructKind, Tape, ThriftSchema, Type, WireType,
};

use super::invent::Inventor;
use super::tree::Tree;
use super::twin::{self, Raw};
use super::{ENCODINGS, cases};
use crate::generate::{Random, seeds};

/// Random paths, none in another: their names with the types of their ends.
fn paths(
    random: &mut Random,
    schema: &ThriftSchema,
    id: StructId,
    depth: usize,
) -> Vec<(String, Type)> {
    let mut paths = Vec::new();
    for field in &schema.get(id).unwrap().fields {
        match &field.value_type {
            _ if random.once_in(2) => {}
            Type::Struct(inside) if depth > 0 && random.once_in(2) => {
                for (path, value_type) in self::paths(random, schema, *inside, depth - 1) {
                    paths.push((format!("{}.{path}", field.name), value_type));
                }
            }
            value_type => paths.push((field.name.clone(), value_type.clone())),
        }
    }
    for at in (1..paths.len()).rev() {
        paths.swap(at, random.below(at + 1));
    }
    paths.truncate(10);
    paths
}

/// The value at a path: the first of the right type, all the way.
fn value_at(schema: &ThriftSchema, id: StructId, raw: &Raw, path: &str) -> Option<Tree> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let field = schema.get(id).unwrap().fields.iter().find(|field| field.name == name).unwrap();
    let kind = WireType::of(&field.value_type).number();
    let Raw::Struct(fields) = raw else { panic!("no struct") };
    let is_meant = |(id, raw): &&(i32, Raw)| *id == i32::from(field.id) && raw.kind() == kind;
    let (_, found) = fields.iter().find(is_meant)?;
    match (rest, &field.value_type) {
        (Some(rest), Type::Struct(inside)) => value_at(schema, *inside, found, rest),
        _ => Some(Tree::typed(schema, &field.value_type, found)),
    }
}

fn names(paths: &[(String, Type)]) -> Vec<String> {
    paths.iter().map(|(path, _)| path.clone()).collect()
}

#[test]
fn fields_are_plucked_as_a_whole_reading_finds_them() {
    seeds(cases(400), |random| {
        let inventor = Inventor::new(random);
        let (id, raw) = inventor.message(random);
        let paths = paths(random, &inventor.schema, id, 3);
        let projection = Projection::new(inventor.plan.clone(), id, &names(&paths)).unwrap();
        assert_eq!(projection.paths(), paths);
        for encoding in ENCODINGS {
            let mut bytes = twin::encode(encoding, &raw);
            if random.once_in(2) {
                bytes.extend(random.bytes(5));
            }
            let mut tape = Tape::new();
            projection.pluck(encoding, &bytes, Limits::default(), &mut tape).unwrap();
            let Tree::Struct(_, None, mut found) = Tree::of_tape(&tape, &bytes) else {
                panic!("no struct")
            };
            found.sort_by_key(|(path, _)| *path);
            let expected = paths.iter().enumerate().filter_map(|(number, (path, _))| {
                Some((number, value_at(&inventor.schema, id, &raw, path)?))
            });
            assert_eq!(found, expected.collect::<Vec<_>>(), "{encoding:?} {paths:?} {raw:?}");
        }
    });
}

/// The bytes of a value in a column.
fn packed(tree: &Tree, data_type: DataType) -> Vec<u8> {
    match tree {
        Tree::Int(value) => value.to_le_bytes()[..data_type.width().unwrap()].to_vec(),
        Tree::Double(bits) => bits.to_le_bytes().to_vec(),
        Tree::String(bytes) | Tree::Binary(bytes) | Tree::Uuid(bytes) => bytes.clone(),
        other => panic!("{other:?} is in no column"),
    }
}

#[test]
fn columns_hold_the_fields_of_each_frame_and_nulls_where_there_are_none() {
    seeds(cases(150), |random| {
        let inventor = Inventor::new(random);
        let id = StructId(0);
        let is_scalar = |(_, value_type): &(String, Type)| {
            !matches!(value_type, Type::Struct(_) | Type::List(_) | Type::Set(_) | Type::Map(..))
        };
        let paths: Vec<(String, Type)> =
            paths(random, &inventor.schema, id, 2).into_iter().filter(is_scalar).collect();
        let projection = Projection::new(inventor.plan.clone(), id, &names(&paths)).unwrap();
        for encoding in ENCODINGS {
            let (mut framed, mut expected) = (Vec::new(), Vec::new());
            for _ in 0..random.below(30) {
                let (of, raw) = inventor.message(random);
                // A message of another struct would be a bad one, or one without the fields.
                let raw = if of == id { raw } else { Raw::Struct(vec![(7777, Raw::Byte(1))]) };
                let bytes = twin::encode(encoding, &raw);
                framed.extend((bytes.len() as u32).to_be_bytes());
                framed.extend(bytes);
                expected.push(raw);
            }
            let mut columns = Columns::new(Arc::new(projection.clone())).unwrap();
            let mut frames = Frames::new(&framed, 0);
            let row_max = 1 + random.below(40);
            let limits = Limits::default();
            let first = columns.extend(encoding, &mut frames, row_max, limits).unwrap();
            assert_eq!(first, row_max.min(expected.len()));
            columns.extend(encoding, &mut frames, usize::MAX, limits).unwrap();
            assert_eq!(columns.batch().len(), expected.len());
            for (column, (path, _)) in columns.batch().columns().iter().zip(&paths) {
                let mut nulls = 0;
                for (row, raw) in expected.iter().enumerate() {
                    let value = value_at(&inventor.schema, id, raw, path);
                    nulls += usize::from(value.is_none());
                    assert_eq!(column.is_valid(row), value.is_some(), "row {row} of {path}");
                    match value {
                        Some(Tree::Bool(value)) => {
                            assert_eq!(
                                column.value(row),
                                Value::Bool(value),
                                "row {row} of {path}"
                            );
                        }
                        Some(tree) => {
                            let bytes = packed(&tree, column.data_type());
                            assert_eq!(column.bytes(row), bytes, "row {row} of {path}");
                        }
                        None => assert_eq!(column.value(row), Value::Null),
                    }
                }
                assert_eq!(column.value(expected.len()), Value::Null);
                assert_eq!(column.null_count(), nulls);
                assert_eq!(column.validity().len(), expected.len().div_ceil(8));
                match column.data_type().width() {
                    Some(width) => assert_eq!(column.values().len(), width * expected.len()),
                    None if column.data_type() == DataType::Bool => {
                        assert_eq!(column.values().len(), expected.len().div_ceil(8));
                    }
                    None => assert_eq!(column.offsets().len(), expected.len() + 1),
                }
            }
        }
    });
}

/// `{1: i64 id, 2: string name, 3: Address address}`, `{1: string city, 2: list<i32> numbers}`
fn people() -> Arc<Plan> {
    let mut schema = ThriftSchema::new();
    let person = schema.declare_struct("Person", StructKind::Struct);
    let address = schema.declare_struct("Address", StructKind::Struct);
    let fields = vec![
        FieldSchema::new(1, "id", Type::I64),
        FieldSchema::new(2, "name", Type::String),
        FieldSchema::new(3, "address", Type::Struct(address)),
    ];
    schema.define_struct(person, fields).unwrap();
    let fields = vec![
        FieldSchema::new(1, "city", Type::String),
        FieldSchema::new(2, "numbers", Type::list(Type::I32)),
    ];
    schema.define_struct(address, fields).unwrap();
    Arc::new(Plan::new(Arc::new(schema)).unwrap())
}

fn person(id: i64, name: &[u8]) -> Vec<u8> {
    let fields = vec![(1, Raw::I64(id)), (2, Raw::Bytes(name.to_vec()))];
    twin::encode(Encoding::Binary, &Raw::Struct(fields))
}

#[test]
fn reading_ends_with_the_last_field_that_is_wanted() {
    let projection = Projection::new(people(), StructId(0), &["id"]).unwrap();
    let bytes = person(5, b"Ada");
    let mut tape = Tape::new();
    // The field is the first 11 bytes; behind them is nothing, or nonsense.
    for rest in [&[][..], &[0xff; 9]] {
        let bytes = [&bytes[..11], rest].concat();
        projection.pluck(Encoding::Binary, &bytes, Limits::default(), &mut tape).unwrap();
        let expected = Tree::Struct(0, None, vec![(0, Tree::Int(5))]);
        assert_eq!(Tree::of_tape(&tape, &bytes), expected);
    }
    let error = projection.pluck(Encoding::Binary, &bytes[..10], Limits::default(), &mut tape);
    assert_eq!(error.unwrap_err().kind(), ProtocolErrorKind::Truncated);
    assert_eq!(Tree::of_tape(&tape, &bytes[..10]), Tree::Null);
}

#[test]
fn a_bad_message_leaves_no_row_and_the_next_call_goes_on_behind_it() {
    let projection = Projection::new(people(), StructId(0), &["name", "id"]).unwrap();
    let mut columns = Columns::new(Arc::new(projection)).unwrap();
    let mut framed = Vec::new();
    let mut bad = person(2, b"Bob");
    bad.truncate(15);
    for message in [person(1, b"Ada"), bad, person(3, b"")] {
        framed.extend((message.len() as u32).to_be_bytes());
        framed.extend(message);
    }
    let mut frames = Frames::new(&framed, 1000);
    let limits = Limits::default();
    let error = columns.extend(Encoding::Binary, &mut frames, 9, limits).unwrap_err();
    assert_eq!(error.kind(), ProtocolErrorKind::Truncated);
    let second_frame = 1000 + 4 + person(1, b"Ada").len() as u64 + 4;
    assert_eq!(error.error().offset(), Some(second_frame + 14), "where its name has no length");
    assert_eq!(columns.batch().len(), 1);
    assert_eq!(columns.extend(Encoding::Binary, &mut frames, 9, limits).unwrap(), 1);
    let [names, ids] = columns.batch().columns() else { panic!("two columns") };
    assert_eq!((names.values(), names.offsets()), (&b"Ada"[..], &[0, 3, 3][..]));
    assert_eq!(ids.values(), [1_i64.to_le_bytes(), 3_i64.to_le_bytes()].concat());
    // Of a row that ends early, what was found before is taken back too.
    let mut backwards = person(7, b"Zoe")[11..21].to_vec();
    backwards.extend([10, 0, 1, 9]);
    columns.push(Encoding::Binary, &backwards, limits).unwrap_err();
    columns.push(Encoding::Binary, &person(5, b"Kim"), limits).unwrap();
    assert_eq!(columns.batch().value(2, 0), Value::Text("Kim"));
    assert_eq!(columns.batch().columns()[0].values(), b"AdaKim");
    columns.clear();
    assert!(columns.batch().is_empty());
    columns.push(Encoding::Binary, &person(4, b"Eve"), limits).unwrap();
    assert_eq!(columns.batch().value(0, 0), Value::Text("Eve"));
}

#[test]
fn paths_that_lead_nowhere_are_refused_with_what_there_is() {
    let refused = |paths: &[&str]| {
        let error = Projection::new(people(), StructId(0), paths).unwrap_err();
        assert_eq!(error.kind(), bytewright::ErrorKind::Argument);
        error.to_string()
    };
    assert!(refused(&["nme"]).contains("id, name, address"));
    assert!(refused(&["address.town"]).contains("city, numbers"));
    assert!(refused(&["name.first"]).contains("found string name"));
    assert!(refused(&[""]).contains("found \"\""));
    assert!(refused(&["id", "id"]).contains("twice"));
    refused(&["address", "address.city"]);
    refused(&["address.city", "address"]);
    refused(&["address.numbers.1"]);
    let many: Vec<String> = (0..65).map(|number| number.to_string()).collect();
    assert!(Projection::new(people(), StructId(0), &many).is_err());
    assert!(Projection::new(people(), StructId(9), &["id"]).is_err());
}
