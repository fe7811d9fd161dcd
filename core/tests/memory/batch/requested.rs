//! Goal: columns leave in the Arrow types that a program requests, with the same values, or there is an error.
//!
//! Method: schemas as a program in another language makes them; the values are read by the requested types alone, and
//! compared with what the values that went in are in those types. What does not fit fails.

#![allow(unsafe_code, reason = "programs in C have no other way")]

use std::ffi::CString;
use std::ptr;

use bytewright::ErrorKind;
use bytewright::batch::arrow::{ArrowSchema, Layout};
use bytewright::batch::{
    AddressForm, Batch, DataType, ExportOptions, Field, Schema, TimeUnit, Value,
};

use super::arrow::{CArray, CSchema, expected, hex, rows};
use super::{Model, TYPES, schema};
use crate::generate::{Random, seeds};

/// A requested column: its name, its format and that of a dictionary's values.
type Wanted = (String, &'static str, Option<&'static str>);

/// A schema of a program in another language, which frees it itself.
struct Foreign {
    schema: CSchema,
    children: Vec<Foreign>,
    pointers: Vec<*mut CSchema>,
    dictionary: Option<Box<Foreign>>,
    _format: CString,
    _name: CString,
}

unsafe extern "C" fn nothing(_: *mut CSchema) {}

impl Foreign {
    fn new(
        name: &str,
        format: &str,
        dictionary: Option<&str>,
        children: Vec<Foreign>,
    ) -> Box<Self> {
        let text = |text: &str| CString::new(text).expect("no zero");
        let (format, name) = (text(format), text(name));
        let mut this = Box::new(Foreign {
            schema: CSchema {
                format: format.as_ptr(),
                name: name.as_ptr(),
                metadata: ptr::null(),
                flags: 2,
                n_children: children.len() as i64,
                children: ptr::null_mut(),
                dictionary: ptr::null_mut(),
                release: Some(nothing),
                private_data: ptr::null_mut(),
            },
            children,
            pointers: Vec::new(),
            dictionary: dictionary.map(|format| Foreign::new("", format, None, Vec::new())),
            _format: format,
            _name: name,
        });
        this.pointers = this.children.iter_mut().map(|child| &raw mut child.schema).collect();
        this.schema.children = this.pointers.as_mut_ptr();
        if let Some(values) = &mut this.dictionary {
            this.schema.dictionary = &raw mut values.schema;
        }
        this
    }

    fn of(wanted: &[Wanted]) -> Box<Self> {
        let child =
            |(name, format, values): &Wanted| *Foreign::new(name, format, *values, Vec::new());
        Foreign::new("", "+s", None, wanted.iter().map(child).collect())
    }

    fn ours(&self) -> &ArrowSchema {
        // SAFETY: both are the struct that the specification declares, and it is alive.
        unsafe { &*(&raw const self.schema).cast::<ArrowSchema>() }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.schema.release = None;
    }
}

fn layout(schema: &Schema, wanted: &[Wanted]) -> bytewright::Result<Layout> {
    Layout::requested(schema, ExportOptions::default(), Foreign::of(wanted).ours())
}

/// Returns the types that can be requested of a type: the format and that of a dictionary's values.
fn choices(data_type: DataType) -> Vec<(&'static str, Option<&'static str>)> {
    let plain = |formats: &[&'static str]| formats.iter().map(|format| (*format, None)).collect();
    let integers = ["c", "C", "s", "S", "i", "I", "l", "L"];
    let variable = |formats: &[&'static str]| {
        let dictionaries =
            formats.iter().flat_map(|values| integers.map(|index| (index, Some(*values))));
        dictionaries.chain(formats.iter().map(|format| (*format, None))).collect::<Vec<_>>()
    };
    match data_type {
        DataType::TimeNs | DataType::TimeUs => {
            plain(&["tss:UTC", "tsm:", "tsu:UTC", "tsn:UTC", "tsn:Europe/Berlin"])
        }
        DataType::DurationUs => plain(&["tDs", "tDm", "tDu", "tDn"]),
        DataType::Address => [variable(&["u", "U", "vu"]), vec![("w:16", None)]].concat(),
        DataType::Enumeration(names) if names.is_closed => variable(&["u", "U", "vu"]),
        DataType::Text | DataType::Json => variable(&["u", "U", "vu", "z", "Z", "vz"]),
        DataType::Bytes => variable(&["z", "Z", "vz"]),
        DataType::Double => plain(&["g"]),
        DataType::Bool => plain(&["b"]),
        DataType::Uuid => plain(&["w:16"]),
        _ => plain(&integers),
    }
}

/// Returns a value in a requested type, as text; None if the type cannot hold it.
fn held(data_type: DataType, value: Value<'_>, format: &str) -> Option<String> {
    let scaled = |number: i128, own: i128| {
        let parts = match format.as_bytes()[2] {
            b's' => 1,
            b'm' => 1_000,
            b'u' => 1_000_000,
            _ => 1_000_000_000,
        };
        let exact = number * parts % own == 0;
        exact.then_some(number * parts / own).and_then(|held| i64::try_from(held).ok())
    };
    let is_bytes = matches!(format, "z" | "Z" | "vz");
    match value {
        Value::Time(time) => scaled(time.into(), 1_000_000_000).map(|time| time.to_string()),
        Value::Duration(time) => scaled(time.into(), 1_000_000).map(|time| time.to_string()),
        Value::Unsigned(number) => within(number.into(), format),
        Value::Signed(number) => within(number.into(), format),
        Value::Address(_) if format == "w:16" => {
            let options =
                ExportOptions { addresses: AddressForm::Binary, ..ExportOptions::default() };
            expected(data_type, value, options).map(|columns| columns[0].1.clone())
        }
        Value::Null => Some("null".to_owned()),
        value if is_bytes && data_type != DataType::Bytes => {
            Some(hex(value.to_string().as_bytes()))
        }
        value => {
            expected(data_type, value, ExportOptions::default()).map(|columns| columns[0].1.clone())
        }
    }
}

fn within(number: i128, format: &str) -> Option<String> {
    let fits = match format {
        "c" => i8::try_from(number).is_ok(),
        "C" => u8::try_from(number).is_ok(),
        "s" => i16::try_from(number).is_ok(),
        "S" => u16::try_from(number).is_ok(),
        "i" => i32::try_from(number).is_ok(),
        "I" => u32::try_from(number).is_ok(),
        "l" => i64::try_from(number).is_ok(),
        _ => u64::try_from(number).is_ok(),
    };
    fits.then(|| number.to_string())
}

/// The values of a column as text, by the formats alone.
fn read(array: &CArray, (_, format, values): &Wanted) -> Vec<String> {
    let value = |row| match values {
        None => array.value(format, row),
        Some(_) if array.is_null(row) => "null".to_owned(),
        Some(values) => {
            let index: usize = array.value(format, row).parse().expect("an index");
            // SAFETY: the array is alive, and a column of a dictionary has one.
            let dictionary = unsafe { array.dictionary.as_ref() }.expect("a dictionary");
            assert!(index < dictionary.length as usize);
            dictionary.value(values, index)
        }
    };
    (0..array.length as usize).map(value).collect()
}

/// The name of each column, its format and that of a dictionary's values.
type Described = (String, String, Option<String>);

fn described(schema: &CSchema) -> Vec<Described> {
    let column = |column: &&CSchema| {
        // SAFETY: the schema is alive.
        let values = unsafe { column.dictionary.as_ref() };
        let values = values.map(|values| CSchema::text(values.format));
        (CSchema::text(column.name), CSchema::text(column.format), values)
    };
    schema.children().iter().map(column).collect()
}

fn owned((name, format, values): &Wanted) -> Described {
    (name.clone(), (*format).to_owned(), values.map(str::to_owned))
}

#[test]
fn columns_leave_in_the_types_and_the_order_that_a_program_requests() {
    seeds(400, |random| {
        let count = random.below(20);
        let (batch, model) = rows(random, count);
        let mut places: Vec<usize> = (0..TYPES.len()).collect();
        places.swap(random.below(TYPES.len()), random.below(TYPES.len()));
        // One type that may not fit is enough to fail: the others are requested as they are.
        let changed = random.below(TYPES.len());
        let wanted: Vec<Wanted> = places
            .iter()
            .map(|place| {
                let choices = choices(TYPES[*place]);
                let own = expected(TYPES[*place], Value::Null, ExportOptions::default());
                let (format, values) = match *place == changed {
                    true => choices[random.below(choices.len())],
                    false => (own.expect("a type")[0].0, None),
                };
                (format!("field_{place}"), format, values)
            })
            .collect();
        let texts: Option<Vec<Vec<String>>> = places
            .iter()
            .zip(&wanted)
            .map(|(place, (_, format, values))| {
                let format = values.unwrap_or(format);
                model.iter().map(|row| held(TYPES[*place], row[*place].value(), format)).collect()
            })
            .collect();
        let layout = layout(&schema(), &wanted).expect("it can be made");
        let described = described(&CSchema::take(layout.schema(&[])));
        assert_eq!(described, wanted.iter().map(owned).collect::<Vec<_>>());
        match texts {
            Some(texts) => {
                let array = CArray::take(layout.array(batch).expect("all of it fits"));
                let found = array.children().iter().zip(&wanted);
                assert_eq!(
                    found.map(|(array, wanted)| read(array, wanted)).collect::<Vec<_>>(),
                    texts
                );
            }
            None => assert_eq!(layout.array(batch).expect_err("a value").kind(), ErrorKind::Limit),
        }
    });
}

#[test]
fn long_text_is_viewed_where_it_lies() {
    let text =
        Schema::new("rows", vec![Field::new("t".into(), DataType::Text, true, String::new())]);
    let values = ["", "twelve bytes", "thirteen byte", "a text that is longer than a view", "x"];
    for format in ["u", "vu"] {
        let mut batch = Batch::new(text.clone());
        values.iter().for_each(|value| batch.push_row(|_| Value::Text(value)));
        batch.push_row(|_| Value::Null);
        let wanted = vec![("t".to_owned(), format, None)];
        let layout = layout(&text, &wanted).expect("it can be made");
        let array = CArray::take(layout.array(batch).expect("it fits"));
        let found = read(array.children()[0], &wanted[0]);
        assert_eq!(found[..5], values);
        assert_eq!(found[5], "null");
    }
}

#[test]
fn text_that_is_not_utf_8_leaves_as_bytes_where_bytes_are_requested() {
    let text =
        Schema::new("rows", vec![Field::new("t".into(), DataType::Text, true, String::new())]);
    for (format, values) in [("Z", None), ("z", None), ("vz", None), ("i", Some("z"))] {
        let mut batch = Batch::new(text.clone());
        batch.push_row(|_| Value::Bytes(b"a\xff"));
        let wanted = vec![("t".to_owned(), format, values)];
        let array = layout(&text, &wanted).and_then(|layout| layout.array(batch));
        let array = CArray::take(array.expect("bytes"));
        assert_eq!(read(array.children()[0], &wanted[0]), ["61ff"]);
    }
}

#[test]
fn a_dictionary_with_more_values_than_its_indices_count_is_an_error() {
    let text =
        Schema::new("rows", vec![Field::new("t".into(), DataType::Text, true, String::new())]);
    let layout = layout(&text, &[("t".to_owned(), "c", Some("u"))]).expect("it can be made");
    for (count, fits) in [(128, true), (129, false)] {
        let mut batch = Batch::new(text.clone());
        let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        names.iter().chain(&names).for_each(|name| batch.push_row(|_| Value::Text(name)));
        let made = layout.array(batch).map(drop).map_err(|error| error.to_string());
        let told = "expected different values in a batch of the column t of at most 128, found 129";
        assert_eq!(made, if fits { Ok(()) } else { Err(told.to_owned()) });
    }
}

#[test]
fn a_value_that_does_not_fit_is_named() {
    let field = Field::new("ts".into(), DataType::TimeNs, true, String::new());
    let times = Schema::new("rows", vec![field]);
    let layout = layout(&times, &[("ts".to_owned(), "tsu:UTC", None)]).expect("it can be made");
    let mut batch = Batch::new(times);
    batch.push_row(|_| Value::Time(1_000));
    batch.push_row(|_| Value::Time(1_500));
    let told = "expected values of the column ts that the requested type can hold, found 1500";
    assert_eq!(layout.array(batch).expect_err("a rest").to_string(), told);
}

#[test]
fn a_type_of_the_same_kind_that_is_not_made_leaves_the_column_as_it_is() {
    let kinds = [
        (DataType::U16, "S", ("f", None)),
        (DataType::Double, "g", ("e", None)),
        (DataType::U16, "S", ("c", Some("S"))),
        (DataType::Text, "U", ("w:4", None)),
        (DataType::Bytes, "Z", ("u", None)),
        (DataType::Uuid, "w:16", ("u", None)),
        (DataType::TimeNs, "tsn:UTC", ("tsx:UTC", None)),
        (DataType::DurationUs, "tDu", ("tDx", None)),
    ];
    for (data_type, own, (format, values)) in kinds {
        let field = Field::new("a".into(), data_type, false, String::new());
        let one = Schema::new("rows", vec![field]);
        let layout = layout(&one, &[("a".to_owned(), format, values)]).expect("of the same kind");
        let schema = CSchema::take(layout.schema(&[]));
        assert_eq!(described(&schema), [("a".to_owned(), own.to_owned(), None)]);
        assert_eq!(schema.children()[0].flags, 2, "what may be null was requested");
    }
}

#[test]
fn other_columns_and_other_kinds_of_types_are_refused() {
    let field = |name: &str, data_type| Field::new(name.into(), data_type, true, String::new());
    let two =
        Schema::new("rows", vec![field("ts", DataType::TimeNs), field("port", DataType::U16)]);
    let told = |wanted: &[(&str, &'static str, Option<&'static str>)]| {
        let wanted: Vec<Wanted> = wanted
            .iter()
            .map(|(name, format, values)| ((*name).to_owned(), *format, *values))
            .collect();
        let error = layout(&two, &wanted).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Argument);
        error.to_string()
    };
    let columns = "expected a requested schema of the columns ts, port, found ";
    let (ts, port) = (("ts", "tsn:UTC", None), ("port", "S", None));
    assert_eq!(told(&[ts]), format!("{columns}ts"));
    assert_eq!(told(&[]), columns);
    assert_eq!(told(&[ts, ("ports", "S", None)]), format!("{columns}ts, ports"));
    assert_eq!(told(&[ts, port, port]), format!("{columns}ts, port, port"));
    assert_eq!(
        told(&[ts, ("port", "u", None)]),
        "expected a number type for the column port in the requested schema, found u"
    );
    assert_eq!(
        told(&[("ts", "c", Some("u")), port]),
        "expected a timestamp type for the column ts in the requested schema, found u"
    );
    assert_eq!(
        told(&[("ts", "tdD", None), port]),
        "expected a timestamp type for the column ts in the requested schema, found tdD"
    );
}

#[test]
fn a_requested_schema_that_is_none_is_refused() {
    let one = Schema::new("rows", vec![Field::new("a".into(), DataType::U8, true, String::new())]);
    let told = |foreign: &Foreign| {
        let layout = Layout::requested(&one, ExportOptions::default(), foreign.ours());
        layout.expect_err("refused").to_string()
    };
    let text = Foreign::new("", "u", None, Vec::new());
    assert_eq!(told(&text), "expected a requested schema of columns (+s), found u");
    let mut released = Foreign::of(&[("a".to_owned(), "C", None)]);
    released.schema.release = None;
    assert_eq!(told(&released), "expected a requested schema, found one that was released");
    let mut nameless = Foreign::of(&[("a".to_owned(), "C", None)]);
    nameless.children[0].schema.format = c"\xff".as_ptr();
    assert_eq!(
        told(&nameless),
        "expected names and types in the requested schema, found none in UTF-8"
    );
}

#[test]
fn a_request_meets_the_columns_as_the_options_have_them() {
    let field = Field::new("ts".into(), DataType::TimeNs, true, String::new());
    let times = Schema::new("rows", vec![field]);
    let options = ExportOptions { timestamps: TimeUnit::Microseconds, ..ExportOptions::default() };
    let wanted = vec![("ts_nanos".to_owned(), "l", None), ("ts".to_owned(), "tsn:", None)];
    let layout = Layout::requested(&times, options, Foreign::of(&wanted).ours());
    let mut batch = Batch::new(times);
    let model = [Model::Plain(Value::Time(1_002_003_004)), Model::Plain(Value::Null)];
    model.iter().for_each(|value| batch.push_row(|_| value.value()));
    let array = layout.and_then(|layout| layout.array(batch)).expect("it fits");
    let array = CArray::take(array);
    assert_eq!(read(array.children()[0], &wanted[0]), ["4", "null"]);
    assert_eq!(read(array.children()[1], &wanted[1]), ["1002003000", "null"]);
}

#[test]
fn random_requests_never_panic() {
    let formats = [
        "", "c", "L", "u", "vu", "z", "w:", "w:16", "tsn:", "ts", "t", "tDn", "+l", "+s", "d:1",
        "é",
    ];
    seeds(300, |random| {
        let wanted: Vec<Wanted> = (0..TYPES.len())
            .map(|place| {
                let values = random.once_in(3).then(|| formats[random.below(formats.len())]);
                let own = choices(TYPES[place]);
                let format = match random.once_in(20) {
                    true => formats[random.below(formats.len())],
                    false => own[random.below(own.len())].0,
                };
                (format!("field_{place}"), format, values.filter(|_| random.once_in(8)))
            })
            .collect();
        let (batch, _) = rows(&mut Random::new(1), 5);
        drop(layout(&schema(), &wanted).and_then(|layout| layout.array(batch)));
    });
}
