//! Goal: an error repeats at most a line of an input, however long the input is.
//!
//! Method: a megabyte of letters, of newlines, of control characters and of bytes that are no text is given to whatever takes
//! words from outside; each error is as short as people read, and has its end, where the hints are.

use std::path::Path;
use std::time::Duration;

use bytewright::ask::load_methods;
use bytewright::bytes::{ByteStream, StreamOptions};
use bytewright::flow::FlowField;
use bytewright::input::Filter;
use bytewright::packet::{Field, FlowSelector};
use bytewright::query::{Condition, GroupBy, time};
use bytewright::table::file::{OpenOptions, SyncMode, open};
use bytewright::table::memory::HashTable;
use bytewright::table::{Table, ValueType};
use bytewright::thrift::idl::{IdlOptions, SourceText, parse};
use bytewright::wire::RecordTemplate;
use bytewright::{Error, ErrorKind};

const LEN: usize = 1 << 20;

/// Characters of an error's text at most: excerpts of two texts with each character escaped, and words around them.
const SHOWN_MAX: usize = 4096;

fn texts() -> [String; 4] {
    ["a", "\n", "\u{1b}", "\u{1f600}'"].map(|piece| piece.repeat(LEN / piece.len()))
}

#[track_caller]
fn assert_short(what: &str, error: &Error) {
    let text = error.to_string();
    let count = text.chars().count();
    assert!(count <= SHOWN_MAX, "{what}: {count} characters, {:.100}", text);
}

/// Gives every long text to something that must refuse it.
#[track_caller]
fn check<T>(what: &str, take: impl Fn(&str) -> Result<T, Error>) {
    for text in texts() {
        match take(&text) {
            Ok(_) => panic!("{what}: a text of {LEN} bytes was taken, {:?}", text.chars().next()),
            Err(error) => assert_short(what, &error),
        }
    }
}

#[test]
fn words_of_people_are_repeated_by_a_line_at_most() {
    let schema = Field::SCHEMA;
    check("a condition", |text| Condition::new(text, &schema));
    check("a field", |text| Condition::new(&format!("{text} == 1"), &schema));
    check("a value", |text| Condition::new(&format!("src_ip == {text}"), &schema));
    check("a quoted value", |text| Condition::new(&format!("port == '{text}'"), &schema));
    check("what follows", |text| Condition::new(&format!("port == 53 {text} x"), &schema));
    check("a group", |text| GroupBy::new(&FlowField::SCHEMA, &[text], &["bytes"], None));
    check("a sum", |text| GroupBy::new(&FlowField::SCHEMA, &["proto"], &[text], None));
    check("a name", Field::named);
    check("a time", time);
    check("a flow", |text| text.parse::<FlowSelector>());
    check("a template", |text| RecordTemplate::parse(&format!("{text}!")));
    check("what values are", ValueType::by_name);
    if Filter::new("port 53").is_ok() {
        check("a filter", |text| Filter::new(&format!("port {text} x")));
    } else {
        println!("gap: libpcap is not here, so no filter was tried");
    }
}

#[test]
fn names_of_files_are_repeated_by_a_line_at_most() {
    let options = OpenOptions {
        create: false,
        read_only: true,
        exclusive: false,
        verify: false,
        sync: SyncMode::Interval,
        timeout: Duration::ZERO,
        values: None,
    };
    check("a capture", |text| ByteStream::open(Path::new(text), &StreamOptions::default()));
    check("a table", |text| open(Path::new(text), None, options));
    check("an IDL file", |text| load_methods(Path::new(text), &[], None));
}

#[test]
fn what_files_hold_is_repeated_by_a_line_at_most() {
    let mut table = HashTable::new();
    for text in texts() {
        table.put(b"number", text.as_bytes()).unwrap();
        assert_short("a number", &table.increment(b"number", 1).unwrap_err());
    }
    let parsed = |text: String| {
        let main = SourceText { path: "long.thrift".to_owned(), bytes: text.into_bytes() };
        let mut none = |_: &str, _: &str| Err(Error::new(ErrorKind::Io(Some(2)), "no such file"));
        parse(main, &mut none, IdlOptions::default())
    };
    let name = "n".repeat(LEN);
    for text in [
        name.clone(),
        format!("struct {name} {{1: i32 a, 1: i32 b}}"),
        format!("struct S {{1: i32 {name}, 2: i32 {name}}}"),
        format!("struct S {{1: {name} a}}"),
        format!("struct {name} {{}} struct {name} {{}}"),
        format!("enum E {{A = {name}}}"),
        format!("const i32 C = \"{name}\""),
        format!("const {name} C = 5"),
        format!("service S extends {name} {{}}"),
        format!("// {}\nstruct S {{", "\t".repeat(LEN)),
        format!("struct S {{ {} 1: nope a }}", " ".repeat(LEN)),
        format!("namespace rb {}", "\u{1f600}".repeat(LEN / 4)),
    ] {
        match parsed(text.clone()) {
            Ok(_) => panic!("{text:.60} was taken"),
            Err(error) => assert_short(&format!("{text:.60}"), &error),
        }
    }
    let document = parsed("struct S {}".to_owned()).unwrap();
    check("a struct", |text| document.struct_named(text));
}
