//! Goal: a message in JSON is read as the same message in Binary, and a text that is none is refused with its place.
//!
//! Method: a slow and obvious twin writes messages as text, by the schema, which says what strings are binary; their bytes in Binary are
//! compared with those that the text is transcoded to. Texts are cut at each byte and damaged. Texts that were written by Apache's
//! library are in Python's tests.

use bytewright::thrift::{
    Columns, FieldSchema, Frames, Limits, MessageForm, MessageHeader, MessageKind, MessageLayout,
    Plan, Progress, Projection, ProtocolErrorKind, ProtocolResult, ReadableMessage, Strictness,
    StructExtent, StructId, StructKind, Tape, ThriftSchema, Type, WireType,
};
use std::fmt::Write;
use std::sync::Arc;

use super::invent::Inventor;
use super::tree::Tree;
use super::twin::{self, Raw};
use super::{cases, damaged};
use crate::generate::{Random, seeds};
use bytewright::thrift::Encoding;

const TYPES: [(u8, &str); 12] = [
    (2, "tf"),
    (3, "i8"),
    (4, "dbl"),
    (6, "i16"),
    (8, "i32"),
    (10, "i64"),
    (11, "str"),
    (12, "rec"),
    (13, "map"),
    (14, "set"),
    (15, "lst"),
    (16, "uid"),
];

fn name(kind: u8) -> &'static str {
    TYPES.iter().find(|(number, _)| *number == kind).expect("a type").1
}

/// The twin: writes a message as text.
struct TextWriter<'s> {
    schema: &'s ThriftSchema,
    random: &'s mut Random,
    text: Vec<u8>,
}

impl TextWriter<'_> {
    fn put(&mut self, text: &str) {
        self.text.extend(text.bytes());
        // As an editor may set it.
        if self.random.once_in(40) {
            self.text.push(self.random.pick(b" \t\r\n"));
        }
    }

    fn structure(&mut self, fields: &[(i32, Raw)], of: Option<StructId>) {
        self.put("{");
        for (number, (id, raw)) in fields.iter().enumerate() {
            if number > 0 {
                self.put(",");
            }
            self.put(&format!("\"{id}\""));
            self.put(":");
            self.put("{");
            self.put(&format!("\"{}\"", name(raw.kind())));
            self.put(":");
            let known = of.and_then(|of| {
                self.schema.fields(of).iter().find(|field| i32::from(field.id) == *id)
            });
            let value_type = known.map(|field| field.value_type.clone());
            self.value(raw, value_type.as_ref(), false);
            self.put("}");
        }
        self.put("}");
    }

    fn value(&mut self, raw: &Raw, of: Option<&Type>, is_key: bool) {
        let of = of.filter(|of| WireType::of(of).number() == raw.kind());
        let number = match raw {
            Raw::Bool(truth) => u8::from(*truth).to_string(),
            Raw::Byte(number) => number.to_string(),
            Raw::I16(number) => number.to_string(),
            Raw::I32(number) => number.to_string(),
            Raw::I64(number) => number.to_string(),
            Raw::Double(bits) => {
                let number = f64::from_bits(*bits);
                if !number.is_finite() {
                    let text = match number {
                        _ if number.is_nan() => "NaN",
                        _ if number > 0.0 => "Infinity",
                        _ => "-Infinity",
                    };
                    return self.put(&format!("\"{text}\""));
                }
                // With an exponent or without.
                if self.random.once_in(2) { format!("{number:e}") } else { format!("{number}") }
            }
            Raw::Bytes(bytes) if of == Some(&Type::Binary) => return self.base64(bytes),
            Raw::Bytes(bytes) => return self.string(bytes),
            Raw::Uuid(bytes) => {
                let mut text = String::from("\"");
                for (at, byte) in bytes.iter().enumerate() {
                    let hyphen = if [4, 6, 8, 10].contains(&at) { "-" } else { "" };
                    write!(text, "{hyphen}{byte:02x}").unwrap();
                }
                return self.put(&(text + "\""));
            }
            Raw::Struct(fields) => {
                let id = match of {
                    Some(Type::Struct(id)) => Some(*id),
                    _ => None,
                };
                return self.structure(fields, id);
            }
            Raw::List(kind, elements) | Raw::Set(kind, elements) => {
                let element = of.map(Type::element);
                let element = element.filter(|of| WireType::of(of).number() == *kind);
                self.put(&format!("[\"{}\",{}", name(*kind), elements.len()));
                for raw in elements {
                    self.put(",");
                    self.value(raw, element, false);
                }
                return self.put("]");
            }
            Raw::Map(key_kind, value_kind, entries) => {
                let known = of.map(Type::entry).filter(|(key, value)| {
                    let kinds = [WireType::of(key).number(), WireType::of(value).number()];
                    kinds == [*key_kind, *value_kind]
                });
                let (key, value) = known.unzip();
                let (first, second) = (name(*key_kind), name(*value_kind));
                self.put(&format!("[\"{first}\",\"{second}\",{},", entries.len()));
                self.put("{");
                for (number, (raw_key, raw)) in entries.iter().enumerate() {
                    if number > 0 {
                        self.put(",");
                    }
                    self.value(raw_key, key, true);
                    self.put(":");
                    self.value(raw, value, false);
                }
                self.put("}");
                return self.put("]");
            }
        };
        self.put(&if is_key { format!("\"{number}\"") } else { number });
    }

    fn base64(&mut self, bytes: &[u8]) {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let is_padded = self.random.once_in(2);
        self.text.push(b'"');
        for bytes in bytes.chunks(3) {
            let mut three = [0; 3];
            three[..bytes.len()].copy_from_slice(bytes);
            let number = u32::from_be_bytes([0, three[0], three[1], three[2]]);
            for digit in 0..4 {
                if digit <= bytes.len() {
                    let digit = DIGITS[(number >> (18 - 6 * digit)) as usize & 63];
                    if digit == b'/' && self.random.once_in(3) {
                        self.text.push(b'\\');
                    }
                    self.text.push(digit);
                } else if is_padded {
                    self.text.push(b'=');
                }
            }
        }
        self.text.push(b'"');
    }

    fn string(&mut self, bytes: &[u8]) {
        self.text.push(b'"');
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            // The character that it begins with, if there is one.
            let character = (1..=rest.len().min(4))
                .find_map(|len| std::str::from_utf8(&rest[..len]).ok())
                .and_then(|text| text.chars().next());
            match character {
                Some(character) if self.random.once_in(6) => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        self.text.extend(format!("\\u{unit:04x}").bytes());
                    }
                    rest = &rest[character.len_utf8()..];
                    continue;
                }
                _ => {}
            }
            let letters = [(8, 'b'), (12, 'f'), (10, 'n'), (13, 'r'), (9, 't')];
            match first {
                b'"' | b'\\' => self.text.extend([b'\\', *first]),
                _ if letters.iter().any(|(byte, _)| byte == first) => {
                    let letter = letters.iter().find(|(byte, _)| byte == first).unwrap().1;
                    self.text.extend([b'\\', letter as u8]);
                }
                _ => self.text.push(*first),
            }
            rest = &rest[1..];
        }
        self.text.push(b'"');
    }
}

fn text(inventor: &Inventor, random: &mut Random, id: StructId, raw: &Raw) -> Vec<u8> {
    let mut writer = TextWriter { schema: &inventor.schema, random, text: Vec::new() };
    let Raw::Struct(fields) = raw else { panic!("no struct") };
    writer.structure(fields, Some(id));
    writer.text
}

/// The value with the NaN that texts have.
fn with_one_nan(raw: Raw) -> Raw {
    let all = |raws: Vec<Raw>| raws.into_iter().map(with_one_nan).collect();
    match raw {
        Raw::Double(bits) if f64::from_bits(bits).is_nan() => Raw::Double(f64::NAN.to_bits()),
        Raw::Struct(fields) => {
            Raw::Struct(fields.into_iter().map(|(id, raw)| (id, with_one_nan(raw))).collect())
        }
        Raw::List(kind, elements) => Raw::List(kind, all(elements)),
        Raw::Set(kind, elements) => Raw::Set(kind, all(elements)),
        Raw::Map(key, value, entries) => {
            let entries = entries.into_iter();
            let entries = entries.map(|(key, raw)| (with_one_nan(key), with_one_nan(raw)));
            Raw::Map(key, value, entries.collect())
        }
        other => other,
    }
}

/// The bytes in Binary that a text is transcoded to, and how many of it were read.
fn packed(plan: &Plan, id: StructId, text: &[u8]) -> ProtocolResult<(Vec<u8>, usize)> {
    packed_within(plan, id, text, Limits::default())
}

fn packed_within(
    plan: &Plan,
    id: StructId,
    text: &[u8],
    limits: Limits,
) -> ProtocolResult<(Vec<u8>, usize)> {
    let message = ReadableMessage { form: MessageForm::Json, offset: 0, bytes: text.into() };
    let packed = message.packed(plan, id, limits)?;
    assert_eq!(packed.encoding, Encoding::Binary);
    Ok((packed.bytes.into_owned(), packed.text_len.expect("it was a text")))
}

#[test]
fn a_text_is_read_as_the_message_in_binary() {
    seeds(cases(300), |random| {
        let inventor = Inventor::new(random);
        for _ in 0..5 {
            let (id, raw) = inventor.message(random);
            let raw = with_one_nan(raw);
            let mut text = text(&inventor, random, id, &raw);
            let len = text.len();
            // Bytes after a message are not its business.
            text.extend(random.bytes(3));
            let (bytes, taken) = packed(&inventor.plan, id, &text)
                .unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&text)));
            assert_eq!(bytes, twin::encode(Encoding::Binary, &raw));
            assert_eq!(taken, text[..len].trim_ascii_end().len());
        }
    });
}

#[test]
fn a_text_that_ends_early_is_truncated_wherever_it_ends() {
    seeds(cases(100), |random| {
        let inventor = Inventor::new(random);
        let (id, raw) = inventor.message(random);
        let text = text(&inventor, random, id, &raw);
        let text = text.trim_ascii_end();
        for len in 0..text.len() {
            let error = packed(&inventor.plan, id, &text[..len]).expect_err("it is not whole");
            assert_eq!(error.kind(), ProtocolErrorKind::Truncated, "{len}: {error}");
            assert_eq!(error.error().offset(), Some(len as u64), "{error}");
        }
    });
}

#[test]
fn a_damaged_text_is_refused_with_its_place_or_read_as_a_message() {
    seeds(cases(300), |random| {
        let inventor = Inventor::new(random);
        let (id, raw) = inventor.message(random);
        let text = text(&inventor, random, id, &raw);
        let mut tape = Tape::new();
        for _ in 0..30 {
            let mut damaged = damaged(random, &text);
            if random.once_in(2) {
                let at = random.below(damaged.len());
                damaged[at] = random.pick(b"{}[]:,\"\\0123456789-+.eE ");
            }
            let mut extent = StructExtent::new(MessageForm::Json, Limits::default());
            let progress = extent.advance(&damaged);
            match packed(&inventor.plan, id, &damaged) {
                Ok((bytes, len)) => {
                    let limits = Limits::default();
                    let decoded =
                        inventor.plan.decode(Encoding::Binary, id, &bytes, limits, &mut tape);
                    assert_eq!(decoded.unwrap(), bytes.len());
                    assert_eq!(progress.unwrap(), Progress::Complete(len));
                }
                Err(error) => {
                    let offset = error.error().offset().expect("a place");
                    assert!(offset <= damaged.len() as u64, "{error}");
                    if error.kind() == ProtocolErrorKind::Truncated {
                        assert!(!matches!(progress, Ok(Progress::Complete(_))), "{error}");
                    }
                }
            }
        }
    });
}

#[test]
fn the_extent_of_a_text_is_found_piece_by_piece_without_a_wish_for_more() {
    seeds(cases(150), |random| {
        let inventor = Inventor::new(random);
        let (id, raw) = inventor.message(random);
        let text = text(&inventor, random, id, &raw);
        let is_call = random.once_in(2);
        let text = text.trim_ascii_end();
        let text = if is_call { [text, b"]"].concat() } else { text.to_vec() };
        let (form, limits) = (MessageForm::Json, Limits::default());
        let mut extent = match is_call {
            true => StructExtent::behind_header(form, limits),
            false => StructExtent::new(form, limits),
        };
        let (mut shown, mut wanted) = (0, true);
        loop {
            match extent.advance(&text[..shown]).expect("it is whole") {
                Progress::Complete(len) => {
                    assert_eq!((len, shown), (text.len(), text.len()));
                    break;
                }
                Progress::Needs(more) => {
                    assert!(more > 0 && shown + more <= text.len(), "{shown} and {more}");
                    shown += if wanted { more } else { 1 };
                    wanted = random.once_in(2);
                }
            }
        }
    });
}

#[test]
fn texts_follow_each_other_with_frames_or_without() {
    seeds(cases(100), |random| {
        let inventor = Inventor::without_recursion(random);
        let (id, first) = inventor.message(random);
        let projection = Projection::whole(inventor.plan.clone(), id).unwrap();
        let mut raws = vec![first];
        while raws.len() < 4 {
            let (other, raw) = inventor.message(random);
            raws.extend((other == id).then_some(raw));
            if random.once_in(30) {
                break;
            }
        }
        let mut expected = Columns::new(Arc::new(projection.clone())).unwrap();
        let (mut framed, mut lines) = (Vec::new(), Vec::new());
        for raw in raws {
            let raw = with_one_nan(raw);
            let bytes = twin::encode(Encoding::Binary, &raw);
            expected.push(Encoding::Binary, &bytes, Limits::default()).unwrap();
            let text = text(&inventor, random, id, &raw);
            framed.extend((text.len() as u32).to_be_bytes());
            framed.extend(&text);
            lines.extend([&text[..], b"\n"].concat());
        }
        for (is_framed, bytes) in [(true, &framed), (false, &lines)] {
            let layout = MessageLayout { is_framed, ..MessageLayout::named("json").unwrap() };
            let mut columns = Columns::new(Arc::new(projection.clone())).unwrap();
            let (mut used, mut shown) = (0, 0);
            while shown < bytes.len() {
                shown = (shown + 1 + random.below(80)).min(bytes.len());
                let (rest, is_last) = (&bytes[used..shown], shown == bytes.len());
                let start = used as u64;
                used += columns.extend_whole(layout, rest, start, is_last, usize::MAX).unwrap();
            }
            assert_eq!(used, bytes.len());
            assert_eq!(columns.batch().len(), expected.batch().len());
            let same = columns.batch().columns().iter().zip(expected.batch().columns());
            for (found, expected) in same {
                assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            }
        }
    });
}

/// A struct of all types, with binary, itself, and a map.
fn schema() -> Arc<Plan> {
    let mut schema = ThriftSchema::new();
    let root = schema.declare_struct("Root", StructKind::Struct);
    let fields = [
        Type::I32,
        Type::Binary,
        Type::Struct(root),
        Type::list(Type::Binary),
        Type::map(Type::I64, Type::Bool),
        Type::Double,
        Type::Uuid,
        Type::Bool,
    ];
    let fields = (1..).zip(fields).map(|(id, of)| FieldSchema::new(id, format!("f{id}"), of));
    schema.define_struct(root, fields.collect()).unwrap();
    Arc::new(Plan::new(Arc::new(schema)).unwrap())
}

#[test]
fn what_is_wrong_in_a_text_is_named_with_its_place() {
    let plan = schema();
    let refused = |text: &str, expected: &str| {
        let error = packed(&plan, StructId(0), text.as_bytes()).expect_err(text);
        assert!(error.to_string().contains(expected), "{text}: {error}");
    };
    refused("[1]", "byte 0: expected a struct in JSON, {, found [");
    refused("{1", "byte 1: expected the id of a field, found 1");
    refused("{\"x\":", "byte 1: expected the id of a field, found x");
    refused("{\"40000\":", "byte 1: expected the id of a field, found 40000");
    refused(
        "{\"1\":{\"i33\":",
        "byte 6: expected tf, i8, i16, i32, i64, dbl, str, rec, map, lst, set or uid, found i33",
    );
    refused("{\"1\":{\"i32\":2147483648}}", "byte 12: expected an i32, found 2147483648");
    refused("{\"1\":{\"i32\":1.5}}", "byte 12: expected an i32, found 1.5");
    refused("{\"1\":{\"i32\":\"5\"}}", "byte 12: expected an i32, found \"");
    refused("{\"1\":{\"i32\":5,", "byte 13: expected the end of a field, found ,");
    refused("{\"1\":{\"i32\":5};", "byte 14: expected a comma or the end of a struct, found ;");
    refused(&format!("{{\"1\":{{\"i32\":{}", "9".repeat(1 << 20)), "byte 1048588");
    refused(
        &format!("{{\"1\":{{\"i32\":{}}}}}", "9".repeat(1 << 20)),
        "byte 12: expected an i32, found 99999",
    );
    refused("{\"2\":{\"str\":\"*\"}}", "byte 12: expected binary in base64, found \"*\"");
    refused("{\"2\":{\"str\":\"a", "byte 14: expected binary in base64 and more");
    refused(
        "{\"9\":{\"str\":\"\\x\"}}",
        "byte 14: expected an escape of JSON behind a backslash, found x",
    );
    refused(
        "{\"9\":{\"str\":\"\\u12g4\"}}",
        "byte 15: expected four hexadecimal digits, found 12g4",
    );
    refused(
        "{\"9\":{\"str\":\"\\ud800 \"}}",
        "byte 14: expected both halves of a pair, found a half of a surrogate pair",
    );
    refused(
        "{\"9\":{\"str\":\"\\udc00\"}}",
        "byte 14: expected both halves of a pair, found a half of a surrogate pair",
    );
    refused(
        "{\"4\":{\"lst\":[\"str\",2,\"\"]}}",
        "byte 23: expected a comma before an element, found ]",
    );
    refused(
        "{\"4\":{\"lst\":[\"str\",0,\"\"]}}",
        "byte 20: expected the end of a list or a set behind as many elements as it says, found ,",
    );
    refused(
        "{\"4\":{\"lst\":[\"str\",-1]}}",
        "byte 19: expected the number of elements, 0 or above, found -1",
    );
    refused(
        "{\"4\":{\"lst\":[\"str\",2147483647]}}",
        "byte 29: expected a comma before an element, found ]",
    );
    refused("{\"5\":{\"map\":[\"i64\",\"tf\",1,{1:0}]}}", "byte 27: expected an i64, found 1");
    refused(
        "{\"5\":{\"map\":[\"i64\",\"tf\",1,{\"1\":2}]}}",
        "byte 31: expected a bool, 0 or 1, found 2",
    );
    refused(
        "{\"5\":{\"map\":[\"i64\",\"tf\",1,{\"1\":1,\"2\":1}]}}",
        "byte 32: expected the end of a map behind as many entries as it says, found ,",
    );
    refused("{\"6\":{\"dbl\":1e999}}", "byte 12: expected a double, found 1e999");
    refused("{\"6\":{\"dbl\":\"1\"}}", "byte 12: expected a double, found 1");
    refused("{\"6\":{\"dbl\":\"nan\"}}", "byte 12: expected a double, found nan");
    refused("{\"7\":{\"uid\":\"12\"}}", "byte 12: expected a uuid of 36 characters, found 12");
    refused("{\"8\":{\"tf\":true}}", "byte 11: expected a bool, 0 or 1, found t");
}

#[test]
fn what_is_nested_too_deep_is_refused_with_its_place_and_in_bounded_memory() {
    let plan = schema();
    for (field, depth) in [("{\"3\":{\"rec\":", 64), ("{\"30\":{\"rec\":", 65)] {
        let nested = |count: usize| {
            let open = field.repeat(count);
            format!("{open}{{}}{}", "}}".repeat(count))
        };
        let fits = nested(depth - 1);
        let (bytes, len) = packed(&plan, StructId(0), fits.as_bytes()).unwrap();
        let limits = Limits::default();
        let mut tape = Tape::new();
        let read = plan.decode(Encoding::Binary, StructId(0), &bytes, limits, &mut tape).unwrap();
        assert_eq!((len, read), (fits.len(), bytes.len()));
        for count in [depth, 100_000] {
            let deep = nested(count);
            let error = packed(&plan, StructId(0), deep.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ProtocolErrorKind::DepthLimit);
            assert_eq!(error.error().offset(), Some((field.len() * depth) as u64), "{error}");
        }
        let deep = nested(100_000);
        let mut extent = StructExtent::new(MessageForm::Json, limits);
        let error = extent.advance(deep.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ProtocolErrorKind::DepthLimit);
        assert!(extent.memory_bytes() < 4096);
    }
    let lists = format!("{{\"30\":{{\"lst\":{}", "[\"lst\",1,".repeat(100_000));
    let error = packed(&plan, StructId(0), lists.as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ProtocolErrorKind::DepthLimit);
}

#[test]
fn sizes_have_the_bounds_that_they_have_in_binary() {
    let plan = schema();
    let limits = Limits { string_max: 3, container_max: 2, ..Limits::default() };
    let read = |text: &str| {
        packed_within(&plan, StructId(0), text.as_bytes(), limits)
            .map_err(|error| error.to_string())
    };
    assert!(read("{\"9\":{\"str\":\"abc\"}}").is_ok());
    let error = read("{\"9\":{\"str\":\"abcd\"}}").unwrap_err();
    assert!(
        error.contains("byte 12: expected the size of a string of at most 3, found 4"),
        "{error}"
    );
    assert!(read("{\"4\":{\"lst\":[\"tf\",2,0,0]}}").is_ok());
    let error = read("{\"4\":{\"lst\":[\"tf\",3,0,0,0]}}").unwrap_err();
    assert!(
        error.contains("byte 18: expected the number of elements of at most 2, found 3"),
        "{error}"
    );
}

#[test]
fn the_header_of_a_call_in_json_is_read_up_to_its_struct() {
    let read = |text: &[u8]| {
        let (form, strictness) = (MessageForm::Json, Strictness::Strict);
        MessageHeader::read(form, strictness, text, Limits::default())
            .map(|header| (header.name.to_vec(), header.kind, header.sequence_id, header.len))
    };
    let text = b"[1,\"echo\",1,-7,{}]";
    assert_eq!(read(text).unwrap(), (b"echo".to_vec(), MessageKind::CALL, -7, 15));
    for len in 0..15 {
        assert_eq!(read(&text[..len]).unwrap_err().kind(), ProtocolErrorKind::Truncated, "{len}");
    }
    for (text, kind) in [
        (&b"[2,\"echo\",1,7,{}]"[..], ProtocolErrorKind::BadVersion),
        (b"{}", ProtocolErrorKind::BadVersion),
        (b"[1,\"a\\n\",1,7,{}]", ProtocolErrorKind::InvalidData),
        (b"[1,\"echo\",256,7,{}]", ProtocolErrorKind::InvalidData),
        (b"[1,\"echo\",1,2147483648,{}]", ProtocolErrorKind::InvalidData),
        (b"[1,7,1,7,{}]", ProtocolErrorKind::InvalidData),
    ] {
        assert_eq!(read(text).unwrap_err().kind(), kind, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn spaces_behind_the_last_text_are_its_end() {
    for (text, count) in [(&b""[..], 0), (b"\n", 0), (b" {}\r\n\t{ } \n", 2)] {
        let frames = Frames::unframed(text, 0, MessageForm::Json, Limits::default());
        assert_eq!(frames.map(Result::unwrap).count(), count);
    }
    let mut frames = Frames::unframed(b"{}\n{", 0, MessageForm::Json, Limits::default());
    assert_eq!(frames.next().unwrap().unwrap().bytes, b"{}");
    let error = frames.next().unwrap().unwrap_err();
    assert_eq!((error.kind(), error.error().offset()), (ProtocolErrorKind::Truncated, Some(3)));
    let tree = |text: &[u8]| {
        let plan = schema();
        let (bytes, _) = packed(&plan, StructId(0), text).unwrap();
        let mut tape = Tape::new();
        plan.decode(Encoding::Binary, StructId(0), &bytes, Limits::default(), &mut tape).unwrap();
        Tree::of_tape(&tape, &bytes)
    };
    assert_eq!(tree(b" { \"1\" : { \"i32\" : 5 } } "), tree(b"{\"1\":{\"i32\":5}}"));
}
