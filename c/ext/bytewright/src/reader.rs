//! Readers: values, bytes and records of binary input, through one buffer.

use std::ffi::{c_char, c_void};

use bytewright::batch::{Batch, Origin, Schema};
use bytewright::session::{Operation, Reader, SingleCaller, Whence, record_schema};
use bytewright::stream::{CompressionChoice, FileSource};
use bytewright::wire::RecordTemplate;
use bytewright::{Error, ErrorKind, Result, panics};

use crate::batch::bw_batch;
use crate::buffer::{free, handle, take_back, target};
use crate::error::{bw_error, bw_status, guard, is_null};
use crate::host::{CallerHost, Context, Input, ReaderHost, bw_interrupted, bw_read};
use crate::in_use::InUse;
use crate::rows::{ROWS_DEFAULT, bw_rows};
use crate::text::{self, bw_names, text};

/// Bytes of records that become a batch at most, unless one has more.
const BATCH_BYTES: usize = 1 << 20;

/// In which order the bytes of a number stand.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_order {
    /// The least significant first.
    Little = 0,
    /// The most significant first.
    Big = 1,
}

/// From where the place is counted to which a reader goes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_whence {
    /// From the beginning.
    Beginning = 0,
    /// From where the reader is.
    Here = 1,
    /// From the end.
    End = 2,
}

/// Binary input, plain, gzip or zstd, read through one buffer. One thread at a time may use it.
pub struct bw_reader {
    reader: Reader<SingleCaller>,
    host: ReaderHost,
}

impl bw_reader {
    /// Does `work` with the reader.
    fn operate<R>(&self, work: impl FnOnce(&Operation<'_, ReaderHost>) -> Result<R>) -> Result<R> {
        let _in_use = self.host.0.calls_program().then(|| InUse::mark(self));
        work(&self.reader.begin(&self.host)?)
    }

    /// Shows `make` the next `len` bytes; none at the end.
    fn value<R>(&self, len: usize, make: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        self.operate(|operation| match operation.want_record(len)? {
            true => operation.take(len, len, |bytes| Ok(Some(make(bytes)))),
            false => Ok(None),
        })
    }

    /// Up to `rows` records as columns, fewer where they take too much at once; no row at the end. An error comes behind all
    /// records that are whole.
    fn records(&self, template: &RecordTemplate, schema: &Schema, rows: usize) -> Result<Batch> {
        let len = template.record_len();
        let rows = rows.min((BATCH_BYTES / len).max(1));
        self.operate(|operation| {
            let wanted = operation.want(rows * len);
            let there = operation.with_stream(|stream| Ok(stream.buffered().len()))?;
            match (there / len).min(rows) {
                0 => {
                    wanted?;
                    operation.want_record(len)?;
                    Ok(Batch::new(schema.clone()))
                }
                whole => operation.columns(template, schema, whole),
            }
        })
    }
}

fn some<R>(found: Option<R>, out: &mut R) -> bw_status {
    match found {
        Some(value) => {
            *out = value;
            bw_status::Ok
        }
        None => bw_status::None,
    }
}

/// Opens the file at `path`, compressed or not, as its first bytes say. Close it with `bw_reader_close`.
///
/// # Safety
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_open(
    path: *const c_char,
    out: *mut *mut bw_reader,
    error: *mut bw_error,
) -> bw_status {
    panics::catch_all();
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let out = target(out, "a place for the reader")?;
            let path = text::path(path)?;
            let (source, name) = (FileSource::open(path)?, path.display().to_string());
            let reader = Reader::of_file(source, &name, CompressionChoice::AutoElseNone);
            *out = handle(bw_reader { reader, host: ReaderHost::default() });
            Ok(bw_status::Ok)
        })
    }
}

/// Opens a reader of the bytes that `read` brings, which is given `context`; `name` is what errors call them. Close it with
/// `bw_reader_close`.
///
/// # Safety
/// `name` ends with a zero byte; `read` keeps the rules of `bw_read` until the reader is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_open_input(
    name: *const c_char,
    read: bw_read,
    context: *mut c_void,
    out: *mut *mut bw_reader,
    error: *mut bw_error,
) -> bw_status {
    panics::catch_all();
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let out = target(out, "a place for the reader")?;
            let read = read.ok_or_else(|| is_null("a function that reads"))?;
            let name = text(name, "a name")?;
            let reader = Reader::of_object(None, name, CompressionChoice::AutoElseNone);
            let input = Some(Input { read, context: Context(context) });
            let host = ReaderHost(CallerHost { input, ..CallerHost::default() });
            *out = handle(bw_reader { reader, host });
            Ok(bw_status::Ok)
        })
    }
}

/// Has calls that wait for the input ask `interrupted`, which is given `context`, whether they are to end; null for never. Rows
/// that take the reader over ask it, too.
///
/// # Safety
/// `interrupted` keeps the rules of `bw_interrupted` until the reader is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_set_interrupted(
    reader: *mut bw_reader,
    interrupted: bw_interrupted,
    context: *mut c_void,
    error: *mut bw_error,
) -> bw_status {
    let asked = (interrupted, context);
    // SAFETY: the caller's promises are handed on.
    unsafe {
        CallerHost::set_interrupted(reader, "a reader", |reader| &mut reader.host.0, asked, error)
    }
}

/// Reads a number of 1 to 8 bytes that is never negative; `order` is a `bw_order`. `BW_STATUS_NONE` at the end of the input,
/// `BW_STATUS_TRUNCATED` where it ends within the number, of which nothing is taken then.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_unsigned(
    reader: *mut bw_reader,
    len: usize,
    order: u32,
    value: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let (reader, value) = (target(reader, "a reader")?, target(value, "a place")?);
            Ok(some(number(reader, len, order)?, value))
        })
    }
}

/// Reads a number of 1 to 8 bytes with a sign, as `bw_reader_unsigned` does one without.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_signed(
    reader: *mut bw_reader,
    len: usize,
    order: u32,
    value: *mut i64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let (reader, value) = (target(reader, "a reader")?, target(value, "a place")?);
            let found = number(reader, len, order)?.map(|number| {
                let unused = 64 - 8 * len as u32;
                (number << unused) as i64 >> unused
            });
            Ok(some(found, value))
        })
    }
}

/// Reads a floating-point number of 4 or 8 bytes (IEEE 754), as `bw_reader_unsigned` does a whole one.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_float(
    reader: *mut bw_reader,
    len: usize,
    order: u32,
    value: *mut f64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let (reader, value) = (target(reader, "a reader")?, target(value, "a place")?);
            if len != 4 && len != 8 {
                let message = format!("expected a float of 4 or 8 bytes, found {len}");
                return Err(Error::new(ErrorKind::Argument, message));
            }
            let found = number(reader, len, order)?.map(|bits| match len {
                4 => f32::from_bits(bits as u32).into(),
                _ => f64::from_bits(bits),
            });
            Ok(some(found, value))
        })
    }
}

/// Reads the bits of a number.
fn number(reader: &bw_reader, len: usize, order: u32) -> Result<Option<u64>> {
    if !(1..=8).contains(&len) {
        let message = format!("expected a number of 1 to 8 bytes, found {len}");
        return Err(Error::new(ErrorKind::Argument, message));
    }
    if order > bw_order::Big as u32 {
        let message = format!("expected a bw_order from 0 to 1, found {order}");
        return Err(Error::new(ErrorKind::Argument, message));
    }
    let add = |number, byte: &u8| number << 8 | u64::from(*byte);
    reader.value(len, |bytes| match order == bw_order::Big as u32 {
        true => bytes.iter().fold(0, add),
        false => bytes.iter().rev().fold(0, add),
    })
}

/// Reads a number of seven bits to a byte, the low ones first (LEB128), of at most 64 bits. `BW_STATUS_TRUNCATED` at the end.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_varint(
    reader: *mut bw_reader,
    value: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let (reader, value) = (target(reader, "a reader")?, target(value, "a place")?);
            *value = reader.operate(|operation| operation.varint())?;
            Ok(bw_status::Ok)
        })
    }
}

/// Reads up to `capacity` bytes to `data`, and sets `len` to how many they are: fewer at the end only. `BW_STATUS_NONE` where
/// there is none.
///
/// # Safety
/// `capacity` bytes can be written at `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_read(
    reader: *mut bw_reader,
    data: *mut u8,
    capacity: usize,
    len: *mut usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let reader = target(reader, "a reader")?;
            let len = target(len, "a place for the length")?;
            let mut room = match (data.is_null(), capacity) {
                (true, 0) => &mut [][..],
                (true, _) => return Err(is_null("a place for the bytes")),
                (false, _) => std::slice::from_raw_parts_mut(data, capacity),
            };
            *len = 0;
            // The whole call uses it, and not each read on its own: its own input may close it in the first of them.
            let _in_use = reader.host.0.calls_program().then(|| InUse::mark(&raw const *reader));
            while !room.is_empty() {
                let copied = reader.operate(|operation| copy(operation, room))?;
                if copied == 0 {
                    break;
                }
                *len += copied;
                room = &mut room[copied..];
            }
            Ok(if *len > 0 || capacity == 0 { bw_status::Ok } else { bw_status::None })
        })
    }
}

/// Takes what is buffered, at least a byte unless there is none, up to what there is room for.
fn copy(operation: &Operation<'_, ReaderHost>, room: &mut [u8]) -> Result<usize> {
    operation.want(1)?;
    let there = operation.with_stream(|stream| Ok(stream.buffered().len()))?.min(room.len());
    operation.take(there, there, |bytes| {
        room[..there].copy_from_slice(bytes);
        Ok(there)
    })
}

/// Sets `is_at_end` to whether there is no byte more.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_at_end(
    reader: *mut bw_reader,
    is_at_end: *mut bool,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let is_at_end = target(is_at_end, "a place for the answer")?;
            *is_at_end = target(reader, "a reader")?.operate(|operation| operation.want(1))? == 0;
            Ok(bw_status::Ok)
        })
    }
}

/// Passes over up to `count` bytes; sets `skipped`, which may be null, to how many there were.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_skip(
    reader: *mut bw_reader,
    count: u64,
    skipped: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let found = target(reader, "a reader")?.operate(|operation| operation.skip(count))?;
            if let Some(skipped) = skipped.as_mut() {
                *skipped = found;
            }
            Ok(bw_status::Ok)
        })
    }
}

/// Goes to a place, `offset` bytes from a `bw_whence`. `BW_STATUS_IO` with `ESPIPE` backwards in what can be read once.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_seek(
    reader: *mut bw_reader,
    whence: u32,
    offset: i64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let whence = match whence {
                0 => Whence::Beginning,
                1 => Whence::Here,
                2 => Whence::End,
                _ => {
                    let message = format!("expected a bw_whence from 0 to 2, found {whence}");
                    return Err(Error::new(ErrorKind::Argument, message));
                }
            };
            target(reader, "a reader")?.operate(|operation| operation.go(whence, offset))?;
            Ok(bw_status::Ok)
        })
    }
}

/// Where a reader is, in bytes from where it began, after decompression.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_position(
    reader: *mut bw_reader,
    position: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let position = target(position, "a place for the position")?;
            *position = target(reader, "a reader")?.operate(|operation| operation.position())?;
            Ok(bw_status::Ok)
        })
    }
}

/// Reads up to `rows` records of one length as columns; 0 for 65,536, and never more than 1 MiB of them. `record` says what is
/// in one, in the letters of Perl's `unpack` with a fixed length ("N n C a4"; docs/reader.md lists them). The columns have
/// `names`, or `f0`, `f1` and so on where that is null. `BW_STATUS_NONE` at the end. An error comes behind all whole records.
///
/// # Safety
/// `record` ends with a zero byte; `names` was initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_records(
    reader: *mut bw_reader,
    record: *const c_char,
    names: *const bw_names,
    rows: usize,
    out: *mut *mut bw_batch,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let reader = target(reader, "a reader")?;
            let out = target(out, "a place for the batch")?;
            let (template, schema) = form(record, names)?;
            let rows = if rows == 0 { ROWS_DEFAULT } else { rows };
            let batch = reader.records(&template, &schema, rows)?;
            if batch.is_empty() {
                return Ok(bw_status::None);
            }
            *out = bw_batch::handle_of_result(batch);
            Ok(bw_status::Ok)
        })
    }
}

/// Makes rows of all records from here on, as `bw_reader_records` does of some, and takes the reader over: it is closed with
/// the rows. Where this fails the reader stays. `bw_rows_stream` makes a stream of Arrow's of them. Free them with
/// `bw_rows_free`.
///
/// # Safety
/// `record` ends with a zero byte; `names` was initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_rows(
    reader: *mut bw_reader,
    record: *const c_char,
    names: *const bw_names,
    rows: usize,
    out: *mut *mut bw_rows,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let out = target(out, "a place for the rows")?;
            let (template, schema) = form(record, names)?;
            let reader = take_back(reader, "a reader")?.ok_or_else(|| is_null("a reader"))?;
            let rows = if rows == 0 { ROWS_DEFAULT } else { rows };
            let origin = Origin { sources: vec![reader.reader.name().to_owned()], filter: None };
            let of_rows = schema.clone();
            let next = move || {
                let batch = reader.records(&template, &schema, rows)?;
                Ok((!batch.is_empty()).then_some(batch))
            };
            *out = bw_rows::handle_of(of_rows, origin, Box::new(next));
            Ok(bw_status::Ok)
        })
    }
}

/// What records of a template are, and the columns that they become.
///
/// # Safety
/// As for [`bw_reader_records`].
unsafe fn form(record: *const c_char, names: *const bw_names) -> Result<(RecordTemplate, Schema)> {
    // SAFETY: the caller's promises.
    let (record, names) = unsafe { (text(record, "a template")?, bw_names::texts(names)?) };
    let template = RecordTemplate::parse(record)?;
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let schema = record_schema(&template, &names)?;
    Ok((template, schema))
}

/// Closes a reader and frees its handle. Null is allowed.
///
/// # Safety
/// As for all functions. The reader is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_close(reader: *mut bw_reader) {
    // SAFETY: the caller's promise; what it drops is memory and a file that is only read.
    unsafe { free(reader) };
}
