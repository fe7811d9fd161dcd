//! Goal: messages that follow each other are the same one by one and as columns, however their bytes come, and those before
//! damage come before its error.
//!
//! Method: what a source of random pieces gives is compared with what `Frames` finds in all of the bytes.

use std::cell::RefCell;
use std::sync::Arc;

use bytewright::bytes::{ByteStream, CompressionChoice, Feed, StreamOptions};
use bytewright::host::{
    Blocking, Host, MessageOptions, MessageQuestion, MessageRows, MessageSource, Messages,
};
use bytewright::options::{NamedOptions, Settings};
use bytewright::thrift::{
    Columns, Encoding, FieldSchema, Limits, MessageLayout, Plan, Projection, StructId, StructKind,
    ThriftSchema, Type,
};
use bytewright::{Error, ErrorKind};

use crate::folder::Folder;
use crate::generate::{Random, seeds};

/// A host that brings bytes in pieces, and is interrupted now and then.
struct Pieces {
    left: RefCell<Vec<Vec<u8>>>,
    interrupts: RefCell<u32>,
}

impl Pieces {
    fn new(bytes: &[u8], random: &mut Random) -> Self {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, left) = rest.split_at((1 + random.below(40)).min(rest.len()));
            pieces.insert(0, piece.to_vec());
            rest = left;
        }
        Pieces { left: RefCell::new(pieces), interrupts: RefCell::new(0) }
    }
}

impl Host for Pieces {
    type Error = Error;

    fn error(&self, error: Error) -> Error {
        error
    }

    fn read(&self, _: usize) -> Result<Vec<u8>, Error> {
        let mut interrupts = self.interrupts.borrow_mut();
        *interrupts += 1;
        if interrupts.is_multiple_of(3) {
            return Err(Error::new(ErrorKind::Lock, "interrupted"));
        }
        Ok(self.left.borrow_mut().pop().unwrap_or_default())
    }
}

fn columns() -> Columns {
    let mut schema = ThriftSchema::new();
    let id = schema.declare_struct("Line", StructKind::Struct);
    let fields =
        vec![FieldSchema::new(1, "number", Type::I32), FieldSchema::new(2, "text", Type::String)];
    schema.define_struct(id, fields).unwrap();
    let plan = Arc::new(Plan::new(Arc::new(schema)).unwrap());
    let projection = Projection::new(plan, StructId(0), &["number", "text"]).unwrap();
    Columns::new(Arc::new(projection)).unwrap()
}

/// `{1: i32, 2: string}` in Binary.
fn message(number: i32, text: &str) -> Vec<u8> {
    let text_len = text.len() as u32;
    let (number, text_len) = (number.to_be_bytes(), text_len.to_be_bytes());
    [&[8, 0, 1], &number[..], &[11, 0, 2], &text_len[..], text.as_bytes(), &[0]].concat()
}

fn random_messages(random: &mut Random, is_framed: bool) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut bytes = Vec::new();
    let messages: Vec<_> = (0..random.below(40))
        .map(|number| message(number as i32, &"x".repeat(random.below(100))))
        .collect();
    for message in &messages {
        if is_framed {
            bytes.extend((message.len() as u32).to_be_bytes());
        }
        bytes.extend(message);
    }
    (messages, bytes)
}

fn layout(is_framed: bool) -> MessageLayout {
    MessageLayout {
        form: Encoding::Binary.into(),
        is_framed,
        has_frame_headers: false,
        limits: Limits::default(),
    }
}

/// The messages up to the first error that is none of an interrupt.
fn one_by_one<H: Host<Error = Error>>(
    source: MessageSource,
    is_framed: bool,
    host: &H,
) -> (Vec<Vec<u8>>, Option<Error>) {
    let mut messages = Messages::new(source, layout(is_framed));
    let mut found = Vec::new();
    loop {
        match messages.next(host, |frame| Ok(frame.bytes.to_vec())) {
            Ok(Some(message)) => found.push(message),
            Ok(None) => return (found, None),
            Err(error) if matches!(error.kind(), ErrorKind::Lock) => {}
            Err(error) => return (found, Some(error)),
        }
    }
}

/// The number and the text of each row, up to the first error that is none of an interrupt.
fn rows<H: Host<Error = Error>>(
    source: MessageSource,
    is_framed: bool,
    rows_max: usize,
    host: &H,
) -> (Vec<String>, Option<Error>) {
    let mut rows = MessageRows::new(source, layout(is_framed), columns(), rows_max);
    let mut found = Vec::new();
    loop {
        match rows.next(host) {
            Ok(Some(batch)) => {
                assert!((1..=rows_max).contains(&batch.len()));
                found.extend(
                    (0..batch.len())
                        .map(|row| format!("{} {}", batch.value(row, 0), batch.value(row, 1))),
                );
            }
            Ok(None) => return (found, None),
            Err(error) if matches!(error.kind(), ErrorKind::Lock) => {}
            Err(error) => {
                let again = rows.next(host).unwrap_err();
                assert_eq!(again.to_string(), error.to_string());
                return (found, Some(error));
            }
        }
    }
}

fn of_host() -> MessageSource {
    MessageSource::of_host("pieces", &plain())
}

fn plain() -> StreamOptions {
    let mut options = StreamOptions::default();
    options.compression = CompressionChoice::AutoElseNone;
    options
}

#[test]
fn messages_are_the_same_however_their_bytes_come() {
    seeds(60, |random| {
        let is_framed = random.once_in(2);
        let (messages, mut bytes) = random_messages(random, is_framed);
        let is_cut = !bytes.is_empty() && random.once_in(2);
        if is_cut {
            bytes.pop();
        }
        let whole: Vec<_> = messages.iter().take(messages.len() - usize::from(is_cut)).collect();
        let given = || MessageSource::of_bytes(Arc::new(bytes.clone()));
        let streamed = || {
            let feed = Feed::new(false);
            feed.push(&bytes);
            feed.end();
            MessageSource::of_stream(ByteStream::unread(Box::new(feed.source()), "bytes", &plain()))
        };
        let rows_max = 1 + random.below(50);
        let expected = rows(given(), is_framed, usize::MAX, &Blocking).0;
        assert_eq!(expected.len(), whole.len());
        let pieces = Pieces::new(&bytes, random);
        for (found, error) in [
            one_by_one(given(), is_framed, &Blocking),
            one_by_one(streamed(), is_framed, &Blocking),
            one_by_one(of_host(), is_framed, &pieces),
        ] {
            assert!(found.iter().eq(whole.iter().copied()));
            assert_eq!(error.is_some(), is_cut, "{error:?}");
        }
        let pieces = Pieces::new(&bytes, random);
        for (found, error) in [
            rows(given(), is_framed, rows_max, &Blocking),
            rows(streamed(), is_framed, rows_max, &Blocking),
            rows(of_host(), is_framed, rows_max, &pieces),
        ] {
            assert_eq!(found, expected);
            let is_truncated = |error: Error| matches!(error.kind(), ErrorKind::Truncated { .. });
            assert_eq!(error.is_some_and(is_truncated), is_cut);
        }
    });
}

#[test]
fn files_of_messages_are_rows_of_the_fields_that_are_wanted() {
    let folder = Folder::new("message-files");
    let idl = folder.path("lines.thrift");
    let text = "struct Part { 1: i32 size } struct Line { 1: i64 number, 2: list<Part> parts }";
    std::fs::write(&idl, text).unwrap();
    // A number, and a list of two parts.
    let line = [
        &[10, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 15, 0, 2, 12, 0, 0, 0, 2][..],
        &[8, 0, 1, 0, 0, 0, 3, 0, 0, 0],
    ];
    let files = [1, 2].map(|number| folder.path(&format!("{number}.bin")));
    for file in &files {
        std::fs::write(file, line.concat()).unwrap();
    }
    let mut settings = Settings::of(&[MessageOptions::OPTIONS]);
    let missing = |settings: &Settings, expected: &str| {
        let options: MessageOptions = settings.take().unwrap();
        let error = MessageQuestion::new(Vec::new(), &options).unwrap_err();
        assert_eq!(
            error.message(),
            format!("expected {expected} with messages of Thrift, found none")
        );
    };
    missing(&settings, "idl");
    settings.give_text("idl", idl.to_str().unwrap()).unwrap();
    missing(&settings, "type");
    settings.give_named(&["type=Line", "paths=number", "paths=parts[].size"]).unwrap();
    let question = MessageQuestion::new(files.into(), &settings.take().unwrap()).unwrap();
    let told = |is_wanted: &dyn Fn(&str) -> bool| {
        let (mut rows, mut told) = (question.rows(is_wanted).unwrap(), Vec::new());
        while let Some(batch) = rows.next(&Blocking).unwrap() {
            assert_eq!(batch.schema(), rows.schema());
            let places = 0..batch.columns().len();
            for row in 0..batch.len() {
                let values = places.clone().map(|place| batch.value(row, place).to_static());
                told.push(format!("{:?}", values.map(Option::unwrap).collect::<Vec<_>>()));
            }
        }
        told
    };
    let rows = ["[Signed(7), Signed(3)]", "[Signed(7), Null]"];
    assert_eq!(told(&|_| true), [rows, rows].concat());
    // The list whose elements are rows comes in any case.
    assert_eq!(told(&|name| name == "number"), told(&|_| true));
    assert_eq!(told(&|_| false), ["[Signed(3)]", "[Null]"].repeat(2));
}
