//! Fields of Thrift messages as columns, by an IDL file.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use bytewright::batch::Origin;
use bytewright::session::{MessageRows, MessageSource};
use bytewright::stream::{ByteStream, StreamOptions};
use bytewright::thrift::{Columns, Encoding, Limits, MessageLayout, Plan, Projection};
use bytewright::{Error, ErrorKind, Result, panics};

use crate::batch::bw_batch;
use crate::buffer::{bytes, free, handle, held, target};
use crate::error::{bw_error, bw_status, guard};
use crate::host::{CallerHost, ReaderHost, bw_interrupted};
use crate::idl::bw_idl;
use crate::rows::{NextBatch, ROWS_DEFAULT, bw_rows};
use crate::schema::bw_schema;
use crate::text::{self, bw_names, text};

/// How messages are written.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_protocol {
    /// Thrift's binary protocol.
    Binary = 0,
    /// Thrift's compact protocol.
    Compact = 1,
}

/// Some fields of messages of one struct: their rows, which are added and taken out. One thread at a time may use it.
pub struct bw_thrift {
    columns: Columns,
    schema: Arc<bw_schema>,
    encoding: Encoding,
    /// How many bytes of the messages that were added came before, for errors.
    position: u64,
    /// What rows of a file ask.
    host: CallerHost,
}

impl bw_thrift {
    fn layout(&self, is_framed: bool) -> MessageLayout {
        MessageLayout { encoding: self.encoding, is_framed, limits: Limits::default() }
    }
}

fn encoding(protocol: u32) -> Result<Encoding> {
    match protocol {
        0 => Ok(Encoding::Binary),
        1 => Ok(Encoding::Compact),
        _ => {
            let message = format!("expected a bw_protocol from 0 to 1, found {protocol}");
            Err(Error::new(ErrorKind::Argument, message))
        }
    }
}

/// Chooses fields of the struct, union or exception `type_name` of an IDL file: a column for each path, such as "time" or
/// "place.city" through a struct in the struct; at most 64. A field that a message does not have is null. `protocol` is a
/// `bw_protocol`. `BW_STATUS_ARGUMENT` for a path that ends in a struct or a container, or does not exist. Free it with
/// `bw_thrift_free`.
///
/// # Safety
/// `type_name` ends with a zero byte; `idl` and `paths` were initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_new(
    idl: *const bw_idl,
    type_name: *const c_char,
    paths: *const bw_names,
    protocol: u32,
    out: *mut *mut bw_thrift,
    error: *mut bw_error,
) -> bw_status {
    panics::catch_all();
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let out = target(out, "a place for the fields")?;
            let encoding = encoding(protocol)?;
            let document = bw_idl::document(idl)?;
            let root = document.struct_named(text(type_name, "the name of a struct")?)?;
            let plan = Arc::new(Plan::new(Arc::new(document.schema))?);
            let projection = Projection::new(plan, root, &bw_names::texts(paths)?)?;
            let columns = Columns::new(Arc::new(projection))?;
            let schema = Arc::new(bw_schema::new(columns.batch().schema().clone()));
            let host = CallerHost::default();
            *out = handle(bw_thrift { columns, schema, encoding, position: 0, host });
            Ok(bw_status::Ok)
        })
    }
}

/// The columns, for as long as `fields`; null for null.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_schema(fields: *const bw_thrift) -> *const bw_schema {
    // SAFETY: the caller's promise.
    unsafe { fields.as_ref() }.map_or(std::ptr::null(), |fields| Arc::as_ptr(&fields.schema))
}

/// Adds a row for the message whose struct begins with the first byte. It is read up to the last of the fields. There is no
/// row where it fails, with the place in the message.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_add(
    fields: *mut bw_thrift,
    message: *const u8,
    message_len: usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let fields = target(fields, "fields")?;
            let message = bytes(message, message_len)?;
            fields
                .columns
                .push(fields.encoding, message, Limits::default())
                .map_err(Error::from)?;
            Ok(bw_status::Ok)
        })
    }
}

/// Adds a row for each message in bytes of any length, in frames (the length of each before it, in 4 bytes, the most
/// significant first) or one behind the other. Sets `used` to the bytes of those that are whole: show the others again with
/// more behind them. `is_last` says that no more come; a message that is not whole is an error then. On an error the rows
/// before it are there, with the place in all bytes that were used.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_add_many(
    fields: *mut bw_thrift,
    data: *const u8,
    len: usize,
    is_framed: bool,
    is_last: bool,
    used: *mut usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let fields = target(fields, "fields")?;
            let used = target(used, "a place for the number of bytes")?;
            let (layout, data) = (fields.layout(is_framed), bytes(data, len)?);
            let start = fields.position;
            let taken = fields.columns.extend_whole(layout, data, start, is_last, usize::MAX);
            *used = taken.map_err(Error::from)?;
            fields.position += *used as u64;
            Ok(bw_status::Ok)
        })
    }
}

/// Takes the rows out that were added; `BW_STATUS_NONE` without any. Free the batch with `bw_batch_free`.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_take(
    fields: *mut bw_thrift,
    out: *mut *mut bw_batch,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let fields = target(fields, "fields")?;
            let out = target(out, "a place for the batch")?;
            let batch = fields.columns.take();
            if batch.is_empty() {
                return Ok(bw_status::None);
            }
            *out = bw_batch::handle_of(batch, &fields.schema);
            Ok(bw_status::Ok)
        })
    }
}

/// Has rows that `bw_thrift_rows` begins from now on ask `interrupted`, which is given `context`, whether a call that waits for
/// the file is to end; null for never. Rows of a regular file, which never wait, ask it once a batch.
///
/// # Safety
/// `interrupted` keeps the rules of `bw_interrupted` until those rows are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_set_interrupted(
    fields: *mut bw_thrift,
    interrupted: bw_interrupted,
    context: *mut c_void,
    error: *mut bw_error,
) -> bw_status {
    let asked = (interrupted, context);
    // SAFETY: the caller's promises are handed on.
    unsafe {
        CallerHost::set_interrupted(fields, "fields", |fields| &mut fields.host, asked, error)
    }
}

/// Begins to read the messages of the file at `path`, plain, gzip or zstd, in frames or one behind the other, in batches of at
/// most `rows` rows; 0 for 65,536. A message that is no such struct ends them with its error, after the rows before it.
/// `fields` stays as it is, and may be freed. Free the rows with `bw_rows_free`.
///
/// # Safety
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_rows(
    fields: *const bw_thrift,
    path: *const c_char,
    is_framed: bool,
    rows: usize,
    out: *mut *mut bw_rows,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let fields = held(fields, "fields")?;
            let out = target(out, "a place for the rows")?;
            let stream = ByteStream::open(text::path(path)?, &StreamOptions::default())?;
            let origin = Origin { sources: vec![stream.name().to_owned()], filter: None };
            let columns = Columns::new(Arc::clone(fields.columns.projection()))?;
            let rows = if rows == 0 { ROWS_DEFAULT } else { rows };
            let (host, never_waits) = (fields.host, stream.never_waits());
            let source = MessageSource::of_stream(stream);
            let mut messages = MessageRows::new(source, fields.layout(is_framed), columns, rows);
            let schema = messages.schema().clone();
            // What may wait is read by another thread where there is a function to ask meanwhile.
            let next: NextBatch = match never_waits {
                true => Box::new(move || messages.next(&host)),
                false => Box::new(move || messages.next(&ReaderHost(host))),
            };
            *out = bw_rows::handle_of(schema, origin, next);
            Ok(bw_status::Ok)
        })
    }
}

/// Frees fields with the rows that were not taken. Null is allowed.
///
/// # Safety
/// As for all functions. The fields are not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_free(fields: *mut bw_thrift) {
    // SAFETY: the caller's promise; what they drop is memory only.
    unsafe { free(fields) };
}
