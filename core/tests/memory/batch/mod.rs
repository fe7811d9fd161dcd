//! Goal: a batch holds the rows that were put into it, in the layout that Arrow's specification draws.
//!
//! Method: random rows of every type go into a batch and into a list of lists; the batch is read by its values
//! and, as a program in another language would read it, by its bytes.

mod arrow;
mod nested;
#[cfg(feature = "parquet")]
mod nested_parquet;
mod requested;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytewright::batch::{
    Batch, Column, DataType, Enumeration, Field, Schema, ShortText, Value, csv, json,
};

use crate::data_types::data_types;
use crate::generate::{Random, seeds};

static COLORS: Enumeration =
    Enumeration { names: &[(1, "red"), (2, "green"), (250, "blue")], is_closed: true };

static PROTOCOLS: Enumeration = Enumeration { names: &[(6, "tcp")], is_closed: false };

const TYPES: [DataType; 20] = data_types(&COLORS, &PROTOCOLS);

/// A value that lives by itself.
#[derive(Debug, Clone)]
enum Model {
    Plain(Value<'static>),
    Text(String),
    Bytes(Vec<u8>),
}

impl Model {
    fn value(&self) -> Value<'_> {
        match self {
            Model::Plain(value) => *value,
            Model::Text(text) => Value::Text(text),
            Model::Bytes(bytes) => Value::Bytes(bytes),
        }
    }

    fn random(random: &mut Random, data_type: DataType) -> Model {
        if random.once_in(4) {
            return Model::Plain(Value::Null);
        }
        let number = random.next() >> random.below(64);
        Model::Plain(match data_type {
            DataType::TimeNs | DataType::TimeUs => Value::Time(number as i64),
            DataType::DurationUs => Value::Duration(number),
            DataType::Address if random.once_in(2) => {
                Value::Address(Ipv4Addr::from(random.array::<4>()).into())
            }
            DataType::Address => Value::Address(Ipv6Addr::from(random.array::<16>()).into()),
            DataType::U8 => Value::Unsigned((number as u8).into()),
            DataType::U16 | DataType::TcpFlags => Value::Unsigned((number as u16).into()),
            DataType::U32 => Value::Unsigned((number as u32).into()),
            DataType::U64 => Value::Unsigned(number),
            DataType::I8 => Value::Signed((number as i8).into()),
            DataType::I16 => Value::Signed((number as i16).into()),
            DataType::I32 => Value::Signed((number as i32).into()),
            DataType::I64 => Value::Signed(number as i64),
            DataType::Double => Value::Double(f64::from_bits(number)),
            DataType::Bool => Value::Bool(number & 1 == 1),
            DataType::Text if random.once_in(3) => {
                Value::ShortText(ShortText::new("1:a short text").expect("it is short"))
            }
            DataType::Text => return Model::Text("aé\n☃".repeat(random.below(4))),
            DataType::Bytes => {
                let count = random.below(9);
                return Model::Bytes(random.bytes(count));
            }
            DataType::Uuid => Value::Uuid(random.array()),
            DataType::Json => Value::Json("{\"a\":[1]}"),
            DataType::Enumeration(names) if names.is_closed => {
                Value::Text(names.names[random.below(names.names.len())].1)
            }
            DataType::Enumeration(_) => Value::Unsigned((number as u8).into()),
            DataType::List | DataType::Struct | DataType::Map => panic!("of several values"),
        })
    }

    /// The value as the batch's bytes have it.
    fn packed(&self, data_type: DataType) -> Vec<u8> {
        match self.value() {
            Value::Unsigned(number) | Value::Duration(number) => {
                number.to_le_bytes()[..data_type.width().expect("a number")].to_vec()
            }
            Value::Signed(number) | Value::Time(number) => {
                number.to_le_bytes()[..data_type.width().expect("a number")].to_vec()
            }
            Value::Double(number) => number.to_le_bytes().to_vec(),
            Value::Address(IpAddr::V4(address)) => address.to_ipv6_mapped().octets().to_vec(),
            Value::Address(IpAddr::V6(address)) => address.octets().to_vec(),
            Value::Uuid(bytes) => bytes.to_vec(),
            Value::Text(name) if matches!(data_type, DataType::Enumeration(_)) => {
                vec![COLORS.number(name).expect("a color")]
            }
            Value::Bytes(bytes) => bytes.to_vec(),
            Value::Json(text) => text.as_bytes().to_vec(),
            value => value.text().expect("text").as_bytes().to_vec(),
        }
    }
}

fn schema() -> Schema {
    let field = |(place, data_type): (usize, &DataType)| {
        Field::new(format!("field_{place}"), *data_type, true, String::new())
    };
    Schema::new("rows", TYPES.iter().enumerate().map(field).collect())
}

fn push(batch: &mut Batch, model: &mut Vec<Vec<Model>>, random: &mut Random, rows: usize) {
    for _ in 0..rows {
        let row: Vec<Model> = TYPES.iter().map(|of| Model::random(random, *of)).collect();
        batch.push_row(|place| row[place].value());
        model.push(row);
    }
}

fn holds(batch: &Batch, model: &[Vec<Model>]) {
    assert_eq!((batch.len(), batch.is_empty()), (model.len(), model.is_empty()));
    for (place, column) in batch.columns().iter().enumerate() {
        let values: Vec<&Model> = model.iter().map(|row| &row[place]).collect();
        for (row, value) in values.iter().enumerate() {
            assert_eq!(batch.value(row, place), value.value(), "{:?} of {row}", column.data_type());
        }
        assert_eq!(batch.value(model.len(), place), Value::Null, "past the end");
        assert!(std::ptr::eq(batch.column(&format!("field_{place}")).expect("named"), column));
        is_laid_out(column, &values);
    }
}

/// Reads a column as Arrow's specification says.
fn is_laid_out(column: &Column, values: &[&Model]) {
    let bit = |bits: &[u8], row: usize| bits[row / 8] >> (row % 8) & 1 == 1;
    let no_more = |bits: &[u8]| {
        let used = values.len() % 8;
        assert_eq!(bits.len(), values.len().div_ceil(8));
        assert!(
            used == 0 || bits[bits.len() - 1] >> used == 0,
            "the bits behind the last row are 0"
        );
    };
    let nulls = values.iter().filter(|value| value.value().is_null()).count();
    assert_eq!((column.len(), column.null_count()), (values.len(), nulls));
    no_more(column.validity());
    let data_type = column.data_type();
    for (row, value) in values.iter().enumerate() {
        assert_eq!(bit(column.validity(), row), !value.value().is_null());
        if let (Some(width), false) = (data_type.width(), value.value().is_null()) {
            assert_eq!(column.values()[row * width..(row + 1) * width], value.packed(data_type));
        }
        if let Value::Bool(value) = value.value() {
            assert_eq!(bit(column.values(), row), value);
        }
    }
    match data_type {
        DataType::Bool => no_more(column.values()),
        DataType::Text | DataType::Json | DataType::Bytes => {
            let packed = values.iter().map(|value| match value.value() {
                Value::Null => Vec::new(),
                _ => value.packed(data_type),
            });
            let packed: Vec<Vec<u8>> = packed.collect();
            assert_eq!(column.values(), packed.concat());
            let ends = packed.iter().scan(0, |end, bytes| {
                *end += bytes.len() as i64;
                Some(*end)
            });
            assert_eq!(column.offsets(), std::iter::once(0).chain(ends).collect::<Vec<_>>());
        }
        _ => {
            assert_eq!(column.values().len(), values.len() * data_type.width().expect("a width"));
            assert!(column.offsets().is_empty());
        }
    }
}

#[test]
fn a_batch_holds_the_rows_that_were_put_into_it() {
    seeds(60, |random| {
        let (mut batch, mut model) = (Batch::new(schema()), Vec::new());
        for _ in 0..random.below(6) {
            let rows = random.below(40);
            push(&mut batch, &mut model, random, rows);
            holds(&batch, &model);
            let kept = random.below(60);
            batch.truncate(kept);
            model.truncate(kept);
            holds(&batch, &model);
        }
        let taken = batch.take();
        holds(&taken, &model);
        holds(&batch, &[]);
        assert_eq!(batch.memory_bytes(), Batch::new(schema()).memory_bytes());
        let mut model = Vec::new();
        push(&mut batch, &mut model, random, 9);
        holds(&batch, &model);
    });
}

#[test]
fn a_batch_that_was_cleared_is_filled_again_without_more_memory() {
    let mut random = Random::new(7);
    let (mut batch, mut model) = (Batch::new(schema()), Vec::new());
    push(&mut batch, &mut model, &mut random, 500);
    let memory_bytes = batch.memory_bytes();
    batch.clear();
    assert_eq!((batch.memory_bytes(), batch.len()), (memory_bytes, 0));
    for row in &model {
        batch.push_row(|place| row[place].value());
    }
    holds(&batch, &model);
    assert_eq!(batch.memory_bytes(), memory_bytes);
    let reserved = {
        let mut batch = Batch::new(schema());
        batch.reserve(500);
        batch.memory_bytes()
    };
    let text_bytes: usize =
        [13, 14, 16].iter().map(|place| batch.columns()[*place].values().len()).sum();
    assert!(reserved + text_bytes <= memory_bytes, "room for the rows was all that was reserved");
}

#[test]
fn the_memory_of_a_batch_is_given_up_without_a_copy() {
    let (mut batch, mut model) = (Batch::new(schema()), Vec::new());
    push(&mut batch, &mut model, &mut Random::new(3), 70);
    let places: Vec<[*const u8; 3]> = batch
        .columns()
        .iter()
        .map(|column| {
            [column.values().as_ptr(), column.offsets().as_ptr().cast(), column.validity().as_ptr()]
        })
        .collect();
    for (column, [values, offsets, validity]) in batch.take().into_columns().into_iter().zip(places)
    {
        assert_eq!((column.values().as_ptr(), column.validity().as_ptr()), (values, validity));
        assert_eq!(column.offsets().as_ptr().cast(), offsets);
    }
}

#[test]
fn text_that_is_not_utf_8_is_read_as_bytes_and_found() {
    let mut column = Column::new(DataType::Text);
    column.push(Value::Text("né"));
    assert_eq!(column.invalid_text_row(), None);
    // Two halves of a character are UTF-8 together, and neither is by itself.
    column.push(Value::Bytes(b"\xc3"));
    column.push(Value::Bytes(b"\xa9"));
    assert_eq!(column.invalid_text_row(), Some(1));
    let values: Vec<Value<'_>> = (0..4).map(|row| column.value(row)).collect();
    let expected = [Value::Text("né"), Value::Bytes(b"\xc3"), Value::Bytes(b"\xa9"), Value::Null];
    assert_eq!(values, expected);
    let mut bytes = Column::new(DataType::Bytes);
    bytes.push(Value::Bytes(b"\xff"));
    assert_eq!(bytes.invalid_text_row(), None, "bytes need not be text");
}

/// One row with values and one without, of every type.
fn two_rows() -> Batch {
    let mut batch = Batch::new(schema());
    let values = [
        Value::Time(-5),
        Value::Duration(7),
        Value::Address(Ipv4Addr::new(10, 0, 0, 1).into()),
        Value::Unsigned(255),
        Value::Unsigned(65535),
        Value::Unsigned(1),
        Value::Unsigned(u64::MAX),
        Value::Signed(-1),
        Value::Signed(-2),
        Value::Signed(-3),
        Value::Signed(i64::MIN),
        Value::Double(0.1),
        Value::Bool(true),
        Value::Text("a \"b\", c"),
        Value::Bytes(b"\xff,"),
        Value::Uuid([0x11; 16]),
        Value::Json("{\"a\":[1]}"),
        Value::Unsigned(18),
        Value::Text("green"),
        Value::Unsigned(6),
    ];
    batch.push_row(|place| values[place]);
    batch.push_row(|_| Value::Null);
    batch
}

#[test]
fn rows_are_written_as_objects_in_json() {
    let batch = two_rows();
    let mut lines = Vec::new();
    json::RowWriter::new(batch.schema()).push_batch(&mut lines, &batch);
    let values = [
        "-5",
        "7",
        "\"10.0.0.1\"",
        "255",
        "65535",
        "1",
        "18446744073709551615",
        "-1",
        "-2",
        "-3",
        "-9223372036854775808",
        "0.1",
        "true",
        "\"a \\\"b\\\", c\"",
        "{\"base64\":\"/yw=\"}",
        "\"11111111-1111-1111-1111-111111111111\"",
        "{\"a\":[1]}",
        "18",
        "\"green\"",
        "6",
    ];
    let object = |value: &dyn Fn(usize) -> String| {
        let members = (0..values.len()).map(|place| format!("\"field_{place}\":{}", value(place)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    let expected = [object(&|place| values[place].to_owned()), object(&|_| "null".to_owned())];
    assert_eq!(String::from_utf8_lossy(&lines), format!("{}\n{}\n", expected[0], expected[1]));
    let mut array = Vec::new();
    json::array(&mut array, &batch);
    assert_eq!(String::from_utf8_lossy(&array), format!("[{},{}]", expected[0], expected[1]));
}

#[test]
fn rows_are_written_as_csv_below_a_header() {
    let batch = two_rows();
    let mut lines = Vec::new();
    csv::RowWriter::new(batch.schema(), &mut lines).unwrap().push_batch(&mut lines, &batch);
    let names: Vec<&str> = batch.schema().fields().iter().map(Field::name).collect();
    let values = b"-5,7,10.0.0.1,255,65535,1,18446744073709551615,-1,-2,-3,-9223372036854775808,0.1,true,\
        \"a \"\"b\"\", c\",\"\xff,\",11111111-1111-1111-1111-111111111111,\"{\"\"a\"\":[1]}\",18,green,6";
    let expected =
        [names.join(",").as_bytes(), values, ",".repeat(19).as_bytes(), b""].join(&b'\n');
    assert_eq!(String::from_utf8_lossy(&lines), String::from_utf8_lossy(&expected));
    assert_eq!(lines, expected);
}
