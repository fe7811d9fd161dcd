//! Streams of batches for a program that knows nothing but Arrow's C interface: `check_arrow.py` loads this library
//! into Python. The value of each field in a row follows from the row's number, as it does there.

#![allow(unsafe_code, reason = "what a program calls that is written in another language")]

#[path = "../data_types/mod.rs"]
mod data_types;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use bytewright::batch::arrow::ArrowArrayStream;
use bytewright::batch::{
    AddressForm, Batch, DataType, Enumeration, ExportOptions, Field, RowOrigin, Schema, TimeUnit,
    Value,
};
use bytewright::{Error, Result};
use data_types::data_types;

static COLORS: Enumeration = Enumeration { names: &[(0, "red"), (1, "green")], is_closed: true };
static NUMBERS: Enumeration = Enumeration { names: &[(6, "tcp")], is_closed: false };

const TYPES: [DataType; 20] = data_types(&COLORS, &NUMBERS);

/// Streams whose memory was freed.
static FREED: AtomicUsize = AtomicUsize::new(0);

/// Resource that a stream holds as long as it lives.
struct Held;

impl Drop for Held {
    fn drop(&mut self) {
        FREED.fetch_add(1, SeqCst);
    }
}

/// Returns the number of streams that were freed.
#[unsafe(no_mangle)]
pub extern "C" fn freed() -> usize {
    FREED.load(SeqCst)
}

/// Puts a stream of `batches` batches of `rows` rows into `out`. Where `has_nulls` is not 0, the value of column `c` in
/// row `r` is null where `(r + c) % 5` is 0; where `fails` is not 0, an error stands behind the batches; `choices` are
/// bits: 1 microseconds, 2 signed, 4 binary addresses.
///
/// # Safety
/// `out` is memory for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stream(
    batches: usize,
    rows: usize,
    has_nulls: u8,
    fails: u8,
    choices: u8,
    out: *mut ArrowArrayStream,
) {
    let options = ExportOptions {
        timestamps: [TimeUnit::Nanoseconds, TimeUnit::Microseconds][usize::from(choices & 1)],
        signed: choices & 2 != 0,
        addresses: [AddressForm::Text, AddressForm::Binary][usize::from(choices >> 2 & 1)],
    };
    let schema = Schema::new("rows", TYPES.iter().map(|of| field(*of, has_nulls != 0)).collect());
    let (held, mut given) = (Held, 0);
    let batch_schema = schema.clone();
    let next = move || {
        let _ = &held;
        if given < batches {
            given += 1;
            return Ok(Some(batch(&batch_schema, (given - 1) * rows, rows, has_nulls != 0)));
        }
        end(fails != 0)
    };
    let origin = RowOrigin { sources: vec!["one".to_owned(), "two".to_owned()], filter: None };
    let stream = ArrowArrayStream::new(&schema, options, origin.metadata(&schema), next);
    // SAFETY: the caller gives memory for a stream.
    unsafe { out.write(stream) };
}

fn end(fails: bool) -> Result<Option<Batch>> {
    match fails {
        true => Err(Error::truncated("a packet", 60, 8).at(24).in_file("web.pcap")),
        false => Ok(None),
    }
}

fn field(data_type: DataType, is_nullable: bool) -> Field {
    let name = match data_type {
        DataType::Enumeration(names) if names.is_closed => "color",
        other => other.name(),
    };
    let meaning = format!("A field of type {}.", data_type.name());
    Field::new(name.to_owned(), data_type, is_nullable, meaning)
}

fn batch(schema: &Schema, start: usize, rows: usize, has_nulls: bool) -> Batch {
    let mut batch = Batch::new(schema.clone());
    let texts: Vec<String> = (start..start + rows).map(|row| "é".repeat(row % 4)).collect();
    for (text, row) in texts.iter().zip(start..) {
        batch.push_row(|place| match has_nulls && (row + place) % 5 == 0 {
            true => Value::Null,
            false => value(TYPES[place], row, text),
        });
    }
    batch
}

fn value(data_type: DataType, row: usize, text: &str) -> Value<'_> {
    let number = row as u64;
    match data_type {
        DataType::TimeNs | DataType::TimeUs => Value::Time(number as i64 * 1_000_000_007 - 5),
        DataType::DurationUs => Value::Duration(number * 3),
        DataType::Address if row.is_multiple_of(2) => {
            Value::Address(IpAddr::V4(Ipv4Addr::from(row as u32)))
        }
        DataType::Address => {
            Value::Address(IpAddr::V6(Ipv6Addr::from(0xfd00_u128 << 112 | row as u128)))
        }
        DataType::U8 => Value::Unsigned(number & 0xff),
        DataType::U16 => Value::Unsigned(0xffff - (number & 0xff)),
        DataType::U32 => Value::Unsigned(0xffff_ffff - number),
        DataType::U64 => Value::Unsigned(i64::MAX as u64 - number),
        DataType::I8 => Value::Signed(-((number & 0x7f) as i64)),
        DataType::I16 | DataType::I32 => Value::Signed(-(number as i64 & 0x7fff)),
        DataType::I64 => Value::Signed(i64::MIN + number as i64),
        DataType::Double => Value::Double(row as f64 / 4.0),
        DataType::Bool => Value::Bool(row.is_multiple_of(3)),
        DataType::Text => Value::Text(text),
        DataType::Bytes => Value::Bytes(text.as_bytes()),
        DataType::Uuid => Value::Uuid((row as u128).to_be_bytes()),
        DataType::Json => Value::Json("[1]"),
        DataType::TcpFlags => Value::Unsigned(number & 0xfff),
        DataType::Enumeration(names) if names.is_closed => {
            Value::Text(names.names[row % names.names.len()].1)
        }
        DataType::Enumeration(_) => Value::Unsigned(number & 0xff),
        DataType::List | DataType::Struct | DataType::Map => Value::Null,
    }
}
