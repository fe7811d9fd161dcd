//! `bytewright thrift`: messages of Thrift, looked into by an IDL file.

mod definitions;
mod messages;
mod plucker;
pub(crate) mod show;

use std::io;
use std::path::Path;

use bytewright::bytes::StreamOptions;
use bytewright::terminal::push_visible;
use bytewright::thrift::{
    Encoding, FieldSchema, MessageForm, MessageHeader, MessageKind, Projection, StructId, Tape,
    ThriftSchema, Type, json,
};
use bytewright::{Error, Result};

use crate::args::{ThriftCommand, ThriftDecodeArgs, ThriftInput, ThriftPluckArgs};
use crate::json::Object;
use crate::notation;
use crate::session::Session;
use definitions::Definitions;
use messages::{Headers, Message, Messages};
use plucker::Plucker;

/// Bad messages that are told one by one; of more, the number.
const TOLD_MAX: u64 = 10;

/// The id of a bool that looks like a header in Compact.
const COMPACT_HEADER_ID: i16 = 8;

pub(crate) fn run(command: &ThriftCommand, session: &mut Session) -> io::Result<()> {
    match command {
        ThriftCommand::Decode(args) => decode(args, session),
        ThriftCommand::Pluck(args) => pluck(args, session),
    }
}

fn decode(args: &ThriftDecodeArgs, session: &mut Session) -> io::Result<()> {
    let (definitions, root) = match Definitions::load(&args.input, args.type_name.as_deref()) {
        Ok(loaded) => loaded,
        Err(error) => return session.report(&error),
    };
    let mut decoder = Decoder { definitions, root, tape: Tape::new(), as_json: args.json };
    let headers = match root {
        None => Headers::Always,
        Some(root) => {
            seen_headers(decoder.definitions.plan.schema(), root, args.input.layout().form)
        }
    };
    each_message(&args.file, &args.input, headers, session, |message, into| {
        decoder.print(message, into)
    })
}

fn pluck(args: &ThriftPluckArgs, session: &mut Session) -> io::Result<()> {
    let loaded = Definitions::load(&args.input, Some(&args.type_name));
    let plucker = loaded.and_then(|(definitions, root)| {
        let root = root.unwrap_or(StructId(u32::MAX));
        Plucker::new(Projection::new(definitions.plan, root, &args.paths)?, args.json)
    });
    let mut plucker = match plucker {
        Ok(plucker) => plucker,
        Err(error) => return session.report(&error),
    };
    let (schema, root) = (plucker.projection().plan().schema(), plucker.projection().root());
    let headers = seen_headers(schema, root, args.input.layout().form);
    each_message(&args.file, &args.input, headers, session, |message, into| {
        plucker.print(message, into)
    })
}

/// Returns `WhereSeen` if messages of a type may be looked at for a header, else `Never`.
fn seen_headers(schema: &ThriftSchema, root: StructId, form: MessageForm) -> Headers {
    let is_like_header =
        |field: &FieldSchema| field.id == COMPACT_HEADER_ID && field.value_type == Type::Bool;
    match form {
        MessageForm::Packed(Encoding::Compact)
            if schema.fields(root).iter().any(is_like_header) =>
        {
            Headers::Never
        }
        _ => Headers::WhereSeen,
    }
}

/// Prints each message of a file by `print`, and tells what is wrong with it. Where bytes show the way to
/// the next message, that is printed too.
fn each_message(
    path: &Path,
    input: &ThriftInput,
    headers: Headers,
    session: &mut Session,
    mut print: impl FnMut(&Message<'_>, &mut Vec<u8>) -> Result<()>,
) -> io::Result<()> {
    let mut messages = match open(path, input, headers, session) {
        Ok(messages) => messages,
        Err(error) => return session.report(&error),
    };
    let (mut left, mut bad_count) = (input.limit.unwrap_or(u64::MAX), 0);
    while left > 0 {
        let mut written = session.output.settle();
        // Messages from a pipe are shown as they come.
        let message = messages.next(&mut || {
            if written.is_ok() {
                written = session.output.flush();
            }
        });
        let printed = match message {
            Ok(None) => return written.and_then(|()| tell_more(bad_count, &messages, session)),
            Ok(Some(message)) => print(&message, session.output.buffer()),
            Err(error) => Err(error),
        };
        written?;
        match printed {
            Ok(()) => left -= 1,
            Err(error) => {
                bad_count += 1;
                if bad_count <= TOLD_MAX {
                    session.report(&error)?;
                }
            }
        }
    }
    tell_more(bad_count, &messages, session)
}

fn open(
    path: &Path,
    input: &ThriftInput,
    headers: Headers,
    session: &mut Session,
) -> Result<Messages> {
    session.progress.expect(&[path]);
    if session.output.is_terminal() {
        session.progress.renounce();
    }
    let mut options = StreamOptions::default();
    options.max_buffer = options.max_buffer.max(input.max_message as usize * 2);
    let stream = session.open(path, &options)?;
    Ok(Messages::new(stream, input.layout(), headers))
}

/// Tells how many bad messages there were beside those that were told, and what may be the reason.
fn tell_more(bad_count: u64, messages: &Messages, session: &mut Session) -> io::Result<()> {
    if bad_count > TOLD_MAX {
        session.fail(&format!("{} more messages are damaged", bad_count - TOLD_MAX))?;
    }
    if bad_count > 0 && messages.looks_framed() {
        session.fail("the file begins as frames do, with a length: --framed reads those")?;
    }
    Ok(())
}

/// Prints messages whole.
struct Decoder {
    definitions: Definitions,
    root: Option<StructId>,
    tape: Tape,
    as_json: bool,
}

impl Decoder {
    fn print(&mut self, message: &Message<'_>, into: &mut Vec<u8>) -> Result<()> {
        let id = match &message.header {
            None => self.root,
            Some(header) => self.definitions.body(header, self.root),
        };
        let Some(id) = id else {
            self.begin(message, into);
            into.extend_from_slice(if self.as_json { b"null}\n" } else { b"?\n" });
            return Err(unknown_function(message));
        };
        let plan = &self.definitions.plan;
        let packed = message.packed(plan, id)?;
        let read = plan.decode(packed.encoding, id, &packed.bytes, message.limits, &mut self.tape);
        let len = read.map_err(|error| message.placed(error))?;
        self.begin(message, into);
        let mut cursor = self.tape.cursor(&packed.bytes);
        let (schema, value) = (plan.schema(), cursor.value());
        if self.as_json {
            json(into, schema, &mut cursor, value, &Type::Struct(id));
            into.extend_from_slice(if message.header.is_some() { b"}\n" } else { b"\n" });
        } else {
            show::text(into, schema, &mut cursor, value, &Type::Struct(id));
            into.push(b'\n');
        }
        match message.left(&packed, len) {
            (0, _) => Ok(()),
            (left, at) => {
                let error =
                    Error::format("the end of the frame", format_args!("{left} more bytes"));
                Err(message.error_at(error, at))
            }
        }
    }

    /// Writes the text before the struct.
    fn begin(&self, message: &Message<'_>, into: &mut Vec<u8>) {
        if !self.as_json {
            into.extend_from_slice(b"byte ");
            notation::unsigned(into, message.offset);
            into.extend_from_slice(b": ");
        }
        let Some(header) = &message.header else { return };
        // Row (thrift-json, calls): a call or an answer | `{"name": ..., "kind": ..., "sequence_id": ..., "value":
        // ...}`
        if self.as_json {
            into.extend_from_slice(b"{\"name\":");
            notation::json_bytes(into, header.name);
            into.push(b',');
            let mut object = Object::within(into);
            object.text("kind", &kind_name(header.kind));
            object.value("sequence_id", header.sequence_id);
            into.extend_from_slice(b",\"value\":");
        } else {
            into.extend_from_slice(kind_name(header.kind).as_bytes());
            into.push(b' ');
            push_visible(into, header.name);
            into.extend_from_slice(b", sequence id ");
            notation::signed(into, header.sequence_id.into());
            into.extend_from_slice(b": ");
        }
    }
}

fn unknown_function(message: &Message<'_>) -> Error {
    let name = message.header.map(|header: MessageHeader<'_>| header.name).unwrap_or_default();
    let found = String::from_utf8_lossy(name).into_owned();
    let expected = "a function of the IDL file's services (or --type)";
    message.error_at(Error::format(expected, format_args!("{found:?}")), 0)
}

fn kind_name(kind: MessageKind) -> String {
    match kind {
        MessageKind::CALL => "call".to_owned(),
        MessageKind::REPLY => "reply".to_owned(),
        MessageKind::EXCEPTION => "exception".to_owned(),
        MessageKind::ONEWAY => "oneway".to_owned(),
        MessageKind(number) => format!("kind {number}"),
    }
}
