//! Fields of Thrift messages as columns, by an IDL file.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::sync::Arc;

use bytewright::batch::RowOrigin;
use bytewright::bytes::{ByteStream, StreamOptions};
use bytewright::host::{MessageRows, MessageSource};
use bytewright::thrift::{Columns, MessageLayout, Plan, Projection};
use bytewright::{Error, ErrorKind, Result, panics};

use crate::batch::bw_batch;
use crate::buffer::{bytes, given, handle};
use crate::error::{bw_error, bw_status, guard};
use crate::host::{CallerHost, ReaderHost, bw_interrupted};
use crate::idl::bw_idl;
use crate::rows::{NextBatch, ROWS_DEFAULT, bw_rows};
use crate::schema::bw_schema;
use crate::text::{self, bw_names, text};

/// Encoding of messages.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_protocol {
    /// Thrift's binary protocol.
    Binary = 0,
    /// Thrift's compact protocol.
    Compact = 1,
    /// One of both, as the header of THeader in each frame says.
    Header = 2,
    /// Thrift's JSON protocol.
    Json = 3,
}

/// Some fields of messages of one struct: their rows, which are added and taken out. One thread at a time may use it.
pub struct bw_thrift {
    columns: Columns,
    schema: Arc<bw_schema>,
    /// Layout of messages in frames.
    layout: MessageLayout,
    /// Number of bytes of the messages that were added before, for errors.
    position: u64,
    /// Host that rows of a file ask.
    host: CallerHost,
}

impl bw_thrift {
    fn layout(&self, is_framed: bool) -> Result<MessageLayout> {
        MessageLayout { is_framed, ..self.layout }.checked()
    }
}

fn layout_of(protocol: u32) -> Result<MessageLayout> {
    MessageLayout::numbered(protocol as usize).ok_or_else(|| {
        let last = MessageLayout::PROTOCOLS.len() - 1;
        let message = format!("expected a bw_protocol from 0 to {last}, found {protocol}");
        Error::new(ErrorKind::Argument, message)
    })
}

/// Chooses fields of the struct, union or exception `type_name` of an IDL file: a column for each path, such as "time" or
/// "place.city" through a struct in the struct; at most 64, and all fields without any. A field that a message does not have is
/// null. A path through a list has a list, "rows.columns.size", and with `[]` behind a list or a set, `{}` behind a map, a row for
/// each element, "rows[].columns[].size" and "tags{}.key", with the columns of its parents repeated beside it. Lists, structs and
/// maps leave by `bw_batch_arrow`. `protocol` is a `bw_protocol`. `BW_STATUS_ARGUMENT` for a path that does not exist, a struct
/// that holds itself, and rows of lists that are not in each other. Free it with `bw_thrift_free`.
///
/// # Safety
/// `type_name` is text, `idl` is initialized, and it and `paths` have texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_new(
    idl: *const bw_idl,
    type_name: *const c_char,
    paths: Option<&bw_names>,
    protocol: u32,
    out: Option<&mut MaybeUninit<*mut bw_thrift>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `type_name` and `paths`.
    let (type_name, paths) =
        unsafe { (text(type_name, "the name of a struct"), bw_names::texts(paths)) };
    panics::catch_all();
    guard(error, || {
        let out = given(out, "a place for the fields")?;
        let layout = layout_of(protocol)?;
        // SAFETY: the caller's promise about `idl`.
        let document = unsafe { bw_idl::document(idl) }?;
        let root = document.struct_named(type_name?)?;
        let plan = Arc::new(Plan::new(Arc::new(document.schema))?);
        let projection = Projection::of_columns(plan, root, &paths?)?;
        let columns = Columns::new(Arc::new(projection))?;
        let schema = Arc::new(bw_schema::new(columns.batch().schema().clone()));
        let host = CallerHost::default();
        out.write(handle(bw_thrift { columns, schema, layout, position: 0, host }));
        Ok(bw_status::Ok)
    })
}

/// The columns, for as long as `fields`; null for null.
#[unsafe(no_mangle)]
pub extern "C" fn bw_thrift_schema(fields: Option<&bw_thrift>) -> Option<&bw_schema> {
    fields.map(|fields| &*fields.schema)
}

/// Adds the rows of the message whose struct begins with the first byte, or of `BW_PROTOCOL_HEADER` its frame. It is read up to the last of the
/// fields, but of `BW_PROTOCOL_JSON` to its end. There is no row where it fails, with the place in the message.
///
/// # Safety
/// `message` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_add(
    fields: Option<&mut bw_thrift>,
    message: *const u8,
    message_len: usize,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `message`.
    let message = unsafe { bytes(message, message_len) };
    guard(error, || {
        let fields = given(fields, "fields")?;
        fields.columns.push_first(fields.layout, message?).map_err(Error::from)?;
        Ok(bw_status::Ok)
    })
}

/// Adds the rows of each message in bytes of any length, in frames (the length of each before it, in 4 bytes, the most
/// significant first) or one behind the other. Sets `used` to the bytes of those that are whole: show the others again with
/// more behind them. `is_last` says that no more come; a message that is not whole is an error then. On an error the rows
/// before it are there, with the place in all bytes that were used.
///
/// # Safety
/// `data` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_add_many(
    fields: Option<&mut bw_thrift>,
    data: *const u8,
    len: usize,
    is_framed: bool,
    is_last: bool,
    used: Option<&mut MaybeUninit<usize>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `data`.
    let data = unsafe { bytes(data, len) };
    guard(error, || {
        let fields = given(fields, "fields")?;
        let used = given(used, "a place for the number of bytes")?;
        let (layout, data) = (fields.layout(is_framed)?, data?);
        let start = fields.position;
        let taken = fields.columns.extend_whole(layout, data, start, is_last, usize::MAX);
        fields.position += *used.write(taken.map_err(Error::from)?) as u64;
        Ok(bw_status::Ok)
    })
}

/// Takes the rows out that were added; `BW_STATUS_NONE` without any. Free the batch with `bw_batch_free`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_thrift_take(
    fields: Option<&mut bw_thrift>,
    out: Option<&mut MaybeUninit<*mut bw_batch>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let fields = given(fields, "fields")?;
        let out = given(out, "a place for the batch")?;
        let batch = fields.columns.take();
        if batch.is_empty() {
            return Ok(bw_status::None);
        }
        out.write(bw_batch::handle_of(batch, &fields.schema));
        Ok(bw_status::Ok)
    })
}

/// Has rows that `bw_thrift_rows` begins from now on ask `interrupted`, which is given `context`, whether a call that waits for
/// the file is to end; null for never. Rows of a regular file, which never wait, ask it once a batch.
///
/// # Safety
/// `interrupted` keeps the rules of `bw_interrupted` until those rows are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_set_interrupted(
    fields: Option<&mut bw_thrift>,
    interrupted: bw_interrupted,
    context: *mut c_void,
    error: Option<&mut bw_error>,
) -> bw_status {
    let asked = (interrupted, context);
    let host = given(fields, "fields").map(|fields| &mut fields.host);
    // SAFETY: the caller's promise about `interrupted`.
    unsafe { CallerHost::set_interrupted(host, asked, error) }
}

/// Begins to read the messages of the file at `path`, plain, gzip or zstd, in frames or one behind the other, in batches of at
/// most `rows` rows, or those of one message that has more; 0 for 65,536. A message that is no such struct ends them with its error, after the rows before it.
/// `fields` stays as it is, and may be freed. Free the rows with `bw_rows_free`.
///
/// # Safety
/// `path` is text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_thrift_rows(
    fields: Option<&bw_thrift>,
    path: *const c_char,
    is_framed: bool,
    rows: usize,
    out: Option<&mut MaybeUninit<*mut bw_rows>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `path`.
    let path = unsafe { text::path(path) };
    guard(error, || {
        let fields = given(fields, "fields")?;
        let out = given(out, "a place for the rows")?;
        let stream = ByteStream::open(path?, &StreamOptions::default())?;
        let origin = RowOrigin { sources: vec![stream.name().to_owned()], filter: None };
        let columns = Columns::new(Arc::clone(fields.columns.projection()))?;
        let rows = if rows == 0 { ROWS_DEFAULT } else { rows };
        let (host, is_nonblocking) = (fields.host, stream.is_nonblocking());
        let source = MessageSource::of_stream(stream);
        let mut messages = MessageRows::new(source, fields.layout(is_framed)?, columns, rows);
        let schema = messages.schema().clone();
        // A source that may wait is read by another thread if there is a function to ask meanwhile.
        let next: NextBatch = match is_nonblocking {
            true => Box::new(move || messages.next(&host)),
            false => Box::new(move || messages.next(&ReaderHost(host))),
        };
        out.write(bw_rows::handle_of(schema, origin, next));
        Ok(bw_status::Ok)
    })
}

/// Frees fields with the rows that were not taken. Null is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_thrift_free(fields: Option<Box<bw_thrift>>) {
    drop(fields);
}
