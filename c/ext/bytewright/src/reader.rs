//! Readers: values, bytes and records of binary input, through one buffer.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

use bytewright::batch::{Batch, RowOrigin, Schema};
use bytewright::bytes::FileSource;
use bytewright::host::{HostReader, Operation, ReaderOptions, SingleCaller, Whence, record_schema};
use bytewright::options::NamedOptions;
use bytewright::wire::{RecordTemplate, from_zigzag};
use bytewright::{Error, ErrorKind, Result, panics};

use crate::batch::bw_batch;
use crate::buffer::{Place, free, given, handle, held_mut, take_back};
use crate::error::{bw_error, bw_status, guard, is_null};
use crate::host::{CallerHost, Context, Input, ReaderHost, bw_interrupted, bw_read};
use crate::in_use::{self, RunsProgram};
use crate::named;
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

/// From where the place is counted to which a reader or a writer goes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_whence {
    /// From the beginning.
    Beginning = 0,
    /// From where it is.
    Here = 1,
    /// From the end.
    End = 2,
}

impl bw_order {
    /// The order of a number that C passes.
    pub(crate) fn of(number: u32) -> Result<bw_order> {
        match number {
            0 => Ok(bw_order::Little),
            1 => Ok(bw_order::Big),
            _ => {
                let message = format!("expected a bw_order from 0 to 1, found {number}");
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }
}

impl bw_whence {
    /// The place of a number that C passes, as the core has it.
    pub(crate) fn of_core(number: u32) -> Result<Whence> {
        match number {
            0 => Ok(Whence::Beginning),
            1 => Ok(Whence::Here),
            2 => Ok(Whence::End),
            _ => {
                let message = format!("expected a bw_whence from 0 to 2, found {number}");
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }
}

/// Fails for a length that no number has.
pub(crate) fn check_number_len(len: usize) -> Result<()> {
    if (1..=8).contains(&len) {
        return Ok(());
    }
    let message = format!("expected a number of 1 to 8 bytes, found {len}");
    Err(Error::new(ErrorKind::Argument, message))
}

/// Fails for a length that no float has.
pub(crate) fn check_float_len(len: usize) -> Result<()> {
    if len == 4 || len == 8 {
        return Ok(());
    }
    let message = format!("expected a float of 4 or 8 bytes, found {len}");
    Err(Error::new(ErrorKind::Argument, message))
}

/// Binary input, plain, gzip or zstd, read through one buffer. One thread at a time may use it.
pub struct bw_reader {
    reader: HostReader<SingleCaller>,
    host: ReaderHost,
}

impl bw_reader {
    /// Does `work` with the reader.
    fn operate<R>(&self, work: impl FnOnce(&Operation<'_, ReaderHost>) -> Result<R>) -> Result<R> {
        work(&self.reader.begin(&self.host)?)
    }

    /// Shows `make` the next `len` bytes; none at the end.
    fn value<R>(&self, len: usize, make: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        self.operate(|operation| match operation.want_record(len)? {
            true => operation.take(len, len, |bytes| Ok(Some(make(bytes)))),
            false => Ok(None),
        })
    }

    /// Shows `copy` what is buffered, at least a byte unless there is none, and at most `len` bytes; says how many.
    fn take_up_to(&self, len: usize, copy: impl FnOnce(&[u8])) -> Result<usize> {
        self.operate(|operation| {
            operation.want(1)?;
            let there = operation.with_stream(|stream| Ok(stream.buffered().len()))?.min(len);
            operation.take(there, there, |bytes| {
                copy(&bytes[..there]);
                Ok(there)
            })
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

impl RunsProgram for bw_reader {
    fn runs_program(&self) -> bool {
        self.host.0.calls_program()
    }
}

/// Does the work of a call that reads one value.
///
/// # Safety
/// `reader` is a handle, `value` is a place, and `error` is null or an error.
unsafe fn read_value<R>(
    reader: *mut bw_reader,
    value: *mut R,
    error: *mut bw_error,
    read: impl FnOnce(&bw_reader) -> Result<Option<R>>,
) -> bw_status {
    // SAFETY: the caller's promise about `value`.
    let value = unsafe { Place::at(value, "a place") };
    let work = |reader: &bw_reader| {
        let value = value?;
        let Some(found) = read(reader)? else { return Ok(bw_status::None) };
        value.write(found);
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promises about `reader` and `error`.
    unsafe { in_use::call(reader, "a reader", error, work) }
}

/// Opens the file at `path`, compressed or not, as its first bytes say. Close it with `bw_reader_close`.
///
/// # Safety
/// `path` is text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_open(
    path: *const c_char,
    out: Option<&mut MaybeUninit<*mut bw_reader>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `path`.
    unsafe { bw_reader_open_with(path, None, out, error) }
}

/// Opens a file as `bw_reader_open` does, with options by name, as "name=value": those of readers in docs/options.md.
///
/// # Safety
/// `path` is text, and `named` has texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_open_with(
    path: *const c_char,
    named: Option<&bw_names>,
    out: Option<&mut MaybeUninit<*mut bw_reader>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    panics::catch_all();
    // SAFETY: the caller's promise about `path`.
    let path = unsafe { text::path(path) };
    guard(error, || {
        let out = given(out, "a place for the reader")?;
        let path = path?;
        // SAFETY: the caller's promise about `named`.
        let options = unsafe { options_of(named) }?;
        let (source, name) = (FileSource::open(path)?, path.display().to_string());
        let reader = HostReader::of_file(source, &name, options);
        out.write(handle(bw_reader { reader, host: ReaderHost::default() }));
        Ok(bw_status::Ok)
    })
}

/// Opens a reader of the bytes that `read` brings, which is given `context`; `name` is what errors call them. Close it with
/// `bw_reader_close`.
///
/// # Safety
/// `name` is text; `read` keeps the rules of `bw_read` until the reader is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_open_input(
    name: *const c_char,
    read: bw_read,
    context: *mut c_void,
    out: Option<&mut MaybeUninit<*mut bw_reader>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `name` and `read`.
    unsafe { bw_reader_open_input_with(name, read, context, None, out, error) }
}

/// Opens a reader as `bw_reader_open_input` does, with options by name, as `bw_reader_open_with` has them.
///
/// # Safety
/// As [`bw_reader_open_input`]; `named` has texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_open_input_with(
    name: *const c_char,
    read: bw_read,
    context: *mut c_void,
    named: Option<&bw_names>,
    out: Option<&mut MaybeUninit<*mut bw_reader>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    panics::catch_all();
    // SAFETY: the caller's promise about `name`.
    let name = unsafe { text(name, "a name") };
    guard(error, || {
        let out = given(out, "a place for the reader")?;
        let read = given(read, "a function that reads")?;
        // SAFETY: the caller's promise about `named`.
        let options = unsafe { options_of(named) }?;
        let reader = HostReader::of_object(None, name?, options);
        let input = Some(Input { read, context: Context(context) });
        let host = ReaderHost(CallerHost { input, ..CallerHost::default() });
        out.write(handle(bw_reader { reader, host }));
        Ok(bw_status::Ok)
    })
}

/// The options of a reader.
///
/// # Safety
/// `named` is none or has texts.
unsafe fn options_of(named: Option<&bw_names>) -> Result<ReaderOptions> {
    let mut options = ReaderOptions::default();
    // SAFETY: the caller's promise.
    unsafe { named::fill(&mut options, &[ReaderOptions::OPTIONS], named) }?;
    Ok(options)
}

/// Has calls that wait for the input ask `interrupted`, which is given `context`, whether they are to end; null for never. Rows
/// that take the reader over ask it, too.
///
/// # Safety
/// `reader` is a handle; `interrupted` keeps the rules of `bw_interrupted` until the reader is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_set_interrupted(
    reader: *mut bw_reader,
    interrupted: bw_interrupted,
    context: *mut c_void,
    error: Option<&mut bw_error>,
) -> bw_status {
    let asked = (interrupted, context);
    // SAFETY: the caller's promises about `reader` and `interrupted`.
    unsafe {
        let host = held_mut(reader, "a reader").map(|reader| &mut reader.host.0);
        CallerHost::set_interrupted(host, asked, error)
    }
}

/// Reads a number of 1 to 8 bytes that is never negative; `order` is a `bw_order`. `BW_STATUS_NONE` at the end of the input,
/// `BW_STATUS_TRUNCATED` where it ends within the number, of which nothing is taken then.
///
/// # Safety
/// `reader` is a handle, `value` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_unsigned(
    reader: *mut bw_reader,
    len: usize,
    order: u32,
    value: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about `reader`, `value` and `error`.
    unsafe { read_value(reader, value, error, |reader| number(reader, len, order)) }
}

/// Reads a number of 1 to 8 bytes with a sign, as `bw_reader_unsigned` does one without.
///
/// # Safety
/// As [`bw_reader_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_signed(
    reader: *mut bw_reader,
    len: usize,
    order: u32,
    value: *mut i64,
    error: *mut bw_error,
) -> bw_status {
    let signed = |number: u64| {
        let unused = 64 - 8 * len as u32;
        (number << unused) as i64 >> unused
    };
    let read = |reader: &bw_reader| Ok(number(reader, len, order)?.map(signed));
    // SAFETY: the caller's promises about `reader`, `value` and `error`.
    unsafe { read_value(reader, value, error, read) }
}

/// Reads a floating-point number of 4 or 8 bytes (IEEE 754), as `bw_reader_unsigned` does a whole one.
///
/// # Safety
/// As [`bw_reader_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_float(
    reader: *mut bw_reader,
    len: usize,
    order: u32,
    value: *mut f64,
    error: *mut bw_error,
) -> bw_status {
    let read = |reader: &bw_reader| {
        check_float_len(len)?;
        Ok(number(reader, len, order)?.map(|bits| match len {
            4 => f32::from_bits(bits as u32).into(),
            _ => f64::from_bits(bits),
        }))
    };
    // SAFETY: the caller's promises about `reader`, `value` and `error`.
    unsafe { read_value(reader, value, error, read) }
}

/// Reads the bits of a number.
fn number(reader: &bw_reader, len: usize, order: u32) -> Result<Option<u64>> {
    check_number_len(len)?;
    let order = bw_order::of(order)?;
    let add = |number, byte: &u8| number << 8 | u64::from(*byte);
    reader.value(len, |bytes| match order {
        bw_order::Big => bytes.iter().fold(0, add),
        bw_order::Little => bytes.iter().rev().fold(0, add),
    })
}

/// Reads a number of seven bits to a byte, the low ones first (LEB128), of at most 64 bits. `BW_STATUS_TRUNCATED` at the end.
///
/// # Safety
/// As [`bw_reader_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_varint(
    reader: *mut bw_reader,
    value: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    let read = |reader: &bw_reader| reader.operate(|operation| operation.varint()).map(Some);
    // SAFETY: the caller's promises about `reader`, `value` and `error`.
    unsafe { read_value(reader, value, error, read) }
}

/// Reads a number with a sign as `bw_reader_varint` does, in the form of protocol buffers: 0, 1, 2, 3 are 0, -1, 1, -2.
///
/// # Safety
/// As [`bw_reader_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_zigzag(
    reader: *mut bw_reader,
    value: *mut i64,
    error: *mut bw_error,
) -> bw_status {
    let read = |reader: &bw_reader| {
        reader.operate(|operation| operation.varint()).map(|number| Some(from_zigzag(number)))
    };
    // SAFETY: the caller's promises about `reader`, `value` and `error`.
    unsafe { read_value(reader, value, error, read) }
}

/// Reads up to `capacity` bytes to `data`, and sets `len` to how many they are: fewer at the end only. `BW_STATUS_NONE` where
/// there is none.
///
/// # Safety
/// `reader` is a handle, `data` has room for `capacity` bytes, `len` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_read(
    reader: *mut bw_reader,
    data: *mut u8,
    capacity: usize,
    len: *mut usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promise about `len`.
    let len = unsafe { Place::at(len, "a place for the length") };
    let work = |reader: &bw_reader| {
        let len = len?;
        if data.is_null() && capacity > 0 {
            return Err(is_null("a place for the bytes"));
        }
        let mut filled = 0;
        len.write(0);
        while filled < capacity {
            let copied = reader.take_up_to(capacity - filled, |bytes| {
                // SAFETY: the caller's promise about `data`, and there are at most as many bytes as there is room for.
                unsafe { data.add(filled).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
            })?;
            if copied == 0 {
                break;
            }
            filled += copied;
            len.write(filled);
        }
        Ok(if filled > 0 || capacity == 0 { bw_status::Ok } else { bw_status::None })
    };
    // SAFETY: the caller's promises about `reader` and `error`.
    unsafe { in_use::call(reader, "a reader", error, work) }
}

/// Sets `is_at_end` to whether there is no byte more.
///
/// # Safety
/// `reader` is a handle, `is_at_end` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_at_end(
    reader: *mut bw_reader,
    is_at_end: *mut bool,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promise about `is_at_end`.
    let is_at_end = unsafe { Place::at(is_at_end, "a place for the answer") };
    let work = |reader: &bw_reader| {
        is_at_end?.write(reader.operate(|operation| operation.want(1))? == 0);
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promises about `reader` and `error`.
    unsafe { in_use::call(reader, "a reader", error, work) }
}

/// Passes over up to `count` bytes; sets `skipped`, which may be null, to how many there were.
///
/// # Safety
/// `reader` is a handle, `skipped` is null or a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_skip(
    reader: *mut bw_reader,
    count: u64,
    skipped: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promise about `skipped`.
    let skipped = unsafe { Place::at_or_none(skipped) };
    let work = |reader: &bw_reader| {
        let found = reader.operate(|operation| operation.skip(count))?;
        skipped.inspect(|skipped| skipped.write(found));
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promises about `reader` and `error`.
    unsafe { in_use::call(reader, "a reader", error, work) }
}

/// Goes to a place, `offset` bytes from a `bw_whence`. `BW_STATUS_IO` with `ESPIPE` backwards in what can be read once.
///
/// # Safety
/// `reader` is a handle, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_seek(
    reader: *mut bw_reader,
    whence: u32,
    offset: i64,
    error: *mut bw_error,
) -> bw_status {
    let work = |reader: &bw_reader| {
        let whence = bw_whence::of_core(whence)?;
        reader.operate(|operation| operation.go(whence, offset))?;
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promises about `reader` and `error`.
    unsafe { in_use::call(reader, "a reader", error, work) }
}

/// Gives the position of a reader, in bytes from where it began, after decompression.
///
/// # Safety
/// `reader` is a handle, `position` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_position(
    reader: *mut bw_reader,
    position: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promise about `position`.
    let position = unsafe { Place::at(position, "a place for the position") };
    let work = |reader: &bw_reader| {
        position?.write(reader.operate(|operation| operation.position())?);
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promises about `reader` and `error`.
    unsafe { in_use::call(reader, "a reader", error, work) }
}

/// Reads up to `rows` records of one length as columns; 0 for 65,536, and never more than 1 MiB of them. `record` says what is
/// in one, in the letters of Perl's `unpack` with a fixed length ("N n C a4"; docs/reader.md lists them). The columns have
/// `names`, or `f0`, `f1` and so on where that is null. `BW_STATUS_NONE` at the end. An error comes behind all whole records.
///
/// # Safety
/// `reader` is a handle, `record` is text, `names` is null or has texts, `out` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_records(
    reader: *mut bw_reader,
    record: *const c_char,
    names: *const bw_names,
    rows: usize,
    out: *mut *mut bw_batch,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promise about `out`.
    let out = unsafe { Place::at(out, "a place for the batch") };
    let work = |reader: &bw_reader| {
        let out = out?;
        // SAFETY: the caller's promises about `record` and `names`, which are not used while functions of the program run.
        let (template, schema) = unsafe { form(record, names.as_ref()) }?;
        let rows = if rows == 0 { ROWS_DEFAULT } else { rows };
        let batch = reader.records(&template, &schema, rows)?;
        if batch.is_empty() {
            return Ok(bw_status::None);
        }
        out.write(bw_batch::handle_of_result(batch));
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promises about `reader` and `error`.
    unsafe { in_use::call(reader, "a reader", error, work) }
}

/// Makes rows of all records from here on, as `bw_reader_records` does of some, and takes the reader over: it is closed with
/// the rows. Where this fails the reader stays. `bw_rows_stream` makes a stream of Arrow's of them. Free them with
/// `bw_rows_free`.
///
/// # Safety
/// `reader` is a handle, which is not used again where this is no error; `record` is text, and `names` has texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_rows(
    reader: *mut bw_reader,
    record: *const c_char,
    names: Option<&bw_names>,
    rows: usize,
    out: Option<&mut MaybeUninit<*mut bw_rows>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let out = given(out, "a place for the rows")?;
        // SAFETY: the caller's promises about `record` and `names`.
        let (template, schema) = unsafe { form(record, names) }?;
        // SAFETY: the caller's promise about `reader`.
        let reader = given(unsafe { take_back(reader, "a reader") }?, "a reader")?;
        let rows = if rows == 0 { ROWS_DEFAULT } else { rows };
        let origin = RowOrigin { sources: vec![reader.reader.name().to_owned()], filter: None };
        let of_rows = schema.clone();
        let next = move || {
            let batch = reader.records(&template, &schema, rows)?;
            Ok((!batch.is_empty()).then_some(batch))
        };
        out.write(bw_rows::handle_of(of_rows, origin, Box::new(next)));
        Ok(bw_status::Ok)
    })
}

/// Makes the template of records, and the columns that they become.
///
/// # Safety
/// `record` is text, and `names` has texts.
unsafe fn form(
    record: *const c_char,
    names: Option<&bw_names>,
) -> Result<(RecordTemplate, Schema)> {
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
/// `reader` is a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_reader_close(reader: *mut bw_reader) {
    // SAFETY: the caller's promise; what it drops is memory and a file that is only read.
    unsafe { free(reader) };
}
