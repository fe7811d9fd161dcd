//! Writers: values and bytes of binary output, gathered and written in few calls.

use std::ffi::{c_char, c_void};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use bytewright::files::FileWriter;
use bytewright::host::{
    GATHERED_MAX, Host, HostWriter, SingleCaller, SingleCallerHost, StreamHost,
};
use bytewright::wire::{VARINT_LEN_MAX, to_zigzag, write_varint};
use bytewright::{Error, ErrorKind, Result, panics};

use crate::buffer::{Place, bytes, free, given, handle, take_back};
use crate::error::{bw_error, bw_status, guard, guard_raw};
use crate::host::Context;
use crate::in_use::{self, InUse, RunsProgram};
use crate::reader::{bw_order, bw_whence, check_float_len, check_number_len};
use crate::sized_struct::{self, sized_struct};
use crate::text::{self, text};

/// Name of the handle in errors.
const A_WRITER: &str = "a writer";

/// Takes up to `len` bytes of a writer at `data`: how many it took, at least 1, or a negative number of the system (`-errno`).
/// Those that it did not take come again. An error ends the call, which can be made again, as after `-EINTR`. The rules of
/// `bw_read` hold for it.
pub type bw_write =
    Option<unsafe extern "C" fn(context: *mut c_void, data: *const u8, len: usize) -> i64>;

/// Treatment of a file that has the name already.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_writer_mode {
    /// It is emptied, and written anew.
    Anew = 0,
    /// It stays, and what is written goes behind it, also behind what others append meanwhile.
    Append = 1,
    /// It stays until `bw_writer_close`, which puts the new file in its place: a reader, or a power cut, finds the one or the
    /// other, whole.
    Replace = 2,
}

/// Options of writing a file. Initialize it with `BW_WRITER_OPTIONS_INIT`, and change what you need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_writer_options {
    /// Bytes of the struct, which `BW_WRITER_OPTIONS_INIT` sets.
    pub size: usize,
    /// `bw_writer_flush` and `bw_writer_close` return when what was written will survive a power cut.
    pub sync: bool,
    /// Treatment of a file that is there: a `bw_writer_mode`.
    pub mode: u32,
}

sized_struct!(bw_writer_options { sync, mode } + {});

impl bw_writer_options {
    const DEFAULT: bw_writer_options = bw_writer_options {
        size: size_of::<bw_writer_options>(),
        sync: false,
        mode: bw_writer_mode::Anew as u32,
    };

    /// Copies the options of a program; the defaults for null.
    ///
    /// # Safety
    /// `options` is null or initialized.
    unsafe fn copied(options: *const bw_writer_options) -> Result<bw_writer_options> {
        // SAFETY: the caller's promise.
        Ok(unsafe { sized_struct::copied(options) }?.unwrap_or(Self::DEFAULT))
    }

    fn mode(self) -> Result<bw_writer_mode> {
        match self.mode {
            0 => Ok(bw_writer_mode::Anew),
            1 => Ok(bw_writer_mode::Append),
            2 => Ok(bw_writer_mode::Replace),
            _ => {
                let message = format!("expected a bw_writer_mode from 0 to 2, found {}", self.mode);
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }
}

/// Binary output by values and bytes, gathered in a buffer of 128 KiB and written in few calls. One thread at a time may use it.
pub struct bw_writer {
    writer: HostWriter<SingleCaller>,
    host: WriterHost,
    is_synced: bool,
    /// The file takes the place of another when it is closed.
    replaces: bool,
}

impl bw_writer {
    fn put(&self, value: &[u8]) -> Result<()> {
        self.writer.put(&self.host, value)
    }

    fn close(&self) -> Result<()> {
        match self.replaces {
            true if self.writer.is_closed() => Ok(()),
            true => self.writer.finish_replacement(&self.host),
            false => self.writer.close(&self.host, self.is_synced),
        }
    }
}

impl Drop for bw_writer {
    fn drop(&mut self) {
        // Bytes that were not written are not to be written now, when nobody is told of an error. One that is closed has none.
        let _ = self.writer.abandon(&self.host);
    }
}

impl RunsProgram for bw_writer {
    fn runs_program(&self) -> bool {
        matches!(self.host.target, Target::Program { .. })
    }
}

/// Host of a writer: its object is a function of the program, or a file that can be written once.
struct WriterHost {
    target: Target,
}

/// Destination of the bytes.
enum Target {
    /// A file with places, which the core writes.
    File,
    /// A named pipe or a terminal.
    Stream(File),
    Program {
        write: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> i64,
        context: Context,
    },
}

impl Host for WriterHost {
    type Error = Error;

    fn error(&self, error: Error) -> Error {
        error
    }
}

impl SingleCallerHost for WriterHost {}

impl StreamHost for WriterHost {
    fn write_from(&self, writer: &HostWriter<SingleCaller>) -> Result<()> {
        let taken = writer.gathered(GATHERED_MAX, |bytes| match &self.target {
            Target::File => Err(Error::internal("a file that is written as an object")),
            Target::Stream(file) => write_some(file, bytes),
            Target::Program { write, context } => {
                // SAFETY: the program passed the two together and keeps the rules of `bw_write`; the bytes are gathered still
                // when it returns, as the calls that would change them are refused meanwhile.
                let taken = unsafe { write(context.0, bytes.as_ptr(), bytes.len()) };
                taken_of(taken, bytes.len())
            }
        });
        writer.forget(taken.map_err(|error| error.in_file(writer.name()))?);
        Ok(())
    }
}

/// Writes some of the bytes, and says how many.
fn write_some(mut file: &File, bytes: &[u8]) -> Result<usize> {
    match file.write(bytes) {
        Ok(0) => Err(Error::io("write", &io::ErrorKind::WriteZero.into())),
        Ok(count) => Ok(count),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(error) => Err(Error::io("write", &error)),
    }
}

/// The number of bytes that a function of the program says it took of `len`.
fn taken_of(taken: i64, len: usize) -> Result<usize> {
    if taken < 0 {
        let number = i32::try_from(taken.unsigned_abs()).ok();
        let message = "cannot write: the program's bw_write failed";
        return Err(Error::new(ErrorKind::Io(number), message));
    }
    match usize::try_from(taken) {
        Ok(count) if (1..=len).contains(&count) => Ok(count),
        _ => {
            let message = format!("expected a bw_write that takes 1 to {len} bytes, found {taken}");
            Err(Error::new(ErrorKind::Argument, message))
        }
    }
}

/// Does the work of a call that puts a value.
///
/// # Safety
/// `writer` is a handle, and `error` is null or an error.
unsafe fn put(
    writer: *mut bw_writer,
    error: *mut bw_error,
    value: impl FnOnce(&bw_writer) -> Result<()>,
) -> bw_status {
    let work = |writer: &bw_writer| value(writer).map(|()| bw_status::Ok);
    // SAFETY: the caller's promises.
    unsafe { in_use::call(writer, A_WRITER, error, work) }
}

/// Opens the file at `path` to be written, and makes it where it is missing. `options` may be null for
/// `BW_WRITER_OPTIONS_INIT`. A named pipe is waited for until somebody reads it. Nothing is compressed. Close it with
/// `bw_writer_close`.
///
/// # Safety
/// `path` is text, and `options` is null or initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_open(
    path: *const c_char,
    options: *const bw_writer_options,
    out: Option<&mut MaybeUninit<*mut bw_writer>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    panics::catch_all();
    // SAFETY: the caller's promises about `path` and `options`.
    let (path, options) = unsafe { (text::path(path), bw_writer_options::copied(options)) };
    guard(error, || {
        let out = given(out, "a place for the writer")?;
        let (path, options) = (path?, options?);
        let mode = options.mode()?;
        let (writer, target) = opened(path, mode)?;
        let (host, is_synced) = (WriterHost { target }, options.sync);
        let replaces = mode == bw_writer_mode::Replace;
        out.write(handle(bw_writer { writer, host, is_synced, replaces }));
        Ok(bw_status::Ok)
    })
}

fn opened(path: &Path, mode: bw_writer_mode) -> Result<(HostWriter<SingleCaller>, Target)> {
    let file = match mode {
        bw_writer_mode::Replace => FileWriter::replace(path),
        _ if has_no_places(path) => return stream(path),
        bw_writer_mode::Append => FileWriter::append(path),
        bw_writer_mode::Anew => FileWriter::open(path),
    };
    Ok((HostWriter::of_file(file?), Target::File))
}

/// Returns true if each byte that is written there goes behind the one before.
fn has_no_places(path: &Path) -> bool {
    let found = path.metadata().map(|found| found.file_type());
    found.is_ok_and(|found| found.is_fifo() || found.is_char_device())
}

fn stream(path: &Path) -> Result<(HostWriter<SingleCaller>, Target)> {
    let name = path.to_string_lossy();
    let file = OpenOptions::new().write(true).open(path);
    let file = file.map_err(|error| Error::io("open", &error).in_file(&name))?;
    Ok((HostWriter::of_object(None, &name), Target::Stream(file)))
}

/// Opens a writer to `write`, which is given the bytes and `context`; `name` is what errors call it. Close it with
/// `bw_writer_close`.
///
/// # Safety
/// `name` is text; `write` keeps the rules of `bw_write` until the writer is closed or discarded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_open_output(
    name: *const c_char,
    write: bw_write,
    context: *mut c_void,
    out: Option<&mut MaybeUninit<*mut bw_writer>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    panics::catch_all();
    // SAFETY: the caller's promise about `name`.
    let name = unsafe { text(name, "a name") };
    guard(error, || {
        let out = given(out, "a place for the writer")?;
        let write = given(write, "a function that writes")?;
        let writer = HostWriter::of_object(None, name?);
        let host = WriterHost { target: Target::Program { write, context: Context(context) } };
        out.write(handle(bw_writer { writer, host, is_synced: false, replaces: false }));
        Ok(bw_status::Ok)
    })
}

/// Writes a number of 1 to 8 bytes that is never negative; `order` is a `bw_order`. `BW_STATUS_ARGUMENT` where it does not fit.
/// After an error, of this call and of those for other values, nothing of the value is written, and what was gathered before is
/// gathered still: the call can be made again.
///
/// # Safety
/// `writer` is a handle, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_unsigned(
    writer: *mut bw_writer,
    len: usize,
    order: u32,
    value: u64,
    error: *mut bw_error,
) -> bw_status {
    let work = |writer: &bw_writer| {
        check_number_len(len)?;
        match value >> (8 * len - 1) > 1 {
            true => Err(does_not_fit(len, value)),
            false => put_number(writer, len, order, value),
        }
    };
    // SAFETY: the caller's promises about `writer` and `error`.
    unsafe { put(writer, error, work) }
}

/// Writes a number of 1 to 8 bytes with a sign, as `bw_writer_unsigned` does one without.
///
/// # Safety
/// As [`bw_writer_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_signed(
    writer: *mut bw_writer,
    len: usize,
    order: u32,
    value: i64,
    error: *mut bw_error,
) -> bw_status {
    let work = |writer: &bw_writer| {
        check_number_len(len)?;
        match value >> (8 * len - 1) {
            0 | -1 => put_number(writer, len, order, value as u64),
            _ => Err(does_not_fit(len, value)),
        }
    };
    // SAFETY: the caller's promises about `writer` and `error`.
    unsafe { put(writer, error, work) }
}

/// Writes a floating-point number of 4 or 8 bytes (IEEE 754), of 4 bytes the nearest one. `BW_STATUS_ARGUMENT` where that
/// would be infinite, and `value` is not.
///
/// # Safety
/// As [`bw_writer_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_float(
    writer: *mut bw_writer,
    len: usize,
    order: u32,
    value: f64,
    error: *mut bw_error,
) -> bw_status {
    let work = |writer: &bw_writer| {
        check_float_len(len)?;
        let nearest = value as f32;
        match len {
            4 if nearest.is_infinite() && value.is_finite() => Err(does_not_fit(len, value)),
            4 => put_number(writer, len, order, nearest.to_bits().into()),
            _ => put_number(writer, len, order, value.to_bits()),
        }
    };
    // SAFETY: the caller's promises about `writer` and `error`.
    unsafe { put(writer, error, work) }
}

/// Writes the lowest `len` bytes of a number.
fn put_number(writer: &bw_writer, len: usize, order: u32, bits: u64) -> Result<()> {
    let (little, big) = (bits.to_le_bytes(), bits.to_be_bytes());
    let bytes = match bw_order::of(order)? {
        bw_order::Little => little.get(..len),
        bw_order::Big => big.get(big.len() - len..),
    };
    writer.put(bytes.unwrap_or_default())
}

#[cold]
fn does_not_fit(len: usize, value: impl std::fmt::Display) -> Error {
    let message = format!("expected a number that fits into {len} bytes, found {value}");
    Error::new(ErrorKind::Argument, message)
}

/// Writes a number of seven bits to a byte, the low ones first (LEB128).
///
/// # Safety
/// As [`bw_writer_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_varint(
    writer: *mut bw_writer,
    value: u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about `writer` and `error`.
    unsafe { put(writer, error, |writer| put_varint(writer, value)) }
}

/// Writes a number with a sign as `bw_writer_varint` does, in the form of protocol buffers: 0, -1, 1, -2 are 0, 1, 2, 3.
///
/// # Safety
/// As [`bw_writer_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_zigzag(
    writer: *mut bw_writer,
    value: i64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about `writer` and `error`.
    unsafe { put(writer, error, |writer| put_varint(writer, to_zigzag(value))) }
}

fn put_varint(writer: &bw_writer, number: u64) -> Result<()> {
    let mut encoded = [0; VARINT_LEN_MAX];
    let len = write_varint(&mut encoded, number);
    writer.put(encoded.get(..len).unwrap_or_default())
}

/// Writes `len` bytes; `written`, which may be null, gets how many of them were taken, also where that were not all: after an
/// error, the call can be made again with the others.
///
/// # Safety
/// `writer` is a handle, `data` are bytes that stay as they are while the call runs, `written` is null or a place, and `error`
/// is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_write(
    writer: *mut bw_writer,
    data: *const u8,
    len: usize,
    written: *mut usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promise about `written`.
    let written = unsafe { Place::at_or_none(written) };
    let work = |writer: &bw_writer| {
        let mut taken = 0;
        let tell = |taken| written.iter().for_each(|written| written.write(taken));
        tell(0);
        // SAFETY: the caller's promise about `data`.
        for piece in unsafe { bytes(data, len) }?.chunks(GATHERED_MAX) {
            writer.put(piece)?;
            taken += piece.len();
            tell(taken);
        }
        Ok(())
    };
    // SAFETY: the caller's promises about `writer` and `error`.
    unsafe { put(writer, error, work) }
}

/// Writes what is gathered, and goes to a place from which on the next bytes are written, `offset` bytes from a `bw_whence`.
/// They go to the end all the same where it appends. `BW_STATUS_IO` with `ESPIPE` where the bytes go to a function or to a
/// pipe, and with `EINVAL` where the place is before the beginning.
///
/// # Safety
/// As [`bw_writer_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_seek(
    writer: *mut bw_writer,
    whence: u32,
    offset: i64,
    error: *mut bw_error,
) -> bw_status {
    let work =
        |writer: &bw_writer| writer.writer.go(&writer.host, bw_whence::of_core(whence)?, offset);
    // SAFETY: the caller's promises about `writer` and `error`.
    unsafe { put(writer, error, work) }
}

/// Gives the position of the next byte: in a file, and else in bytes from the first that was written.
///
/// # Safety
/// `writer` is a handle, `position` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_position(
    writer: *mut bw_writer,
    position: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promise about `position`.
    let position = unsafe { Place::at(position, "a place for the position") };
    let work = |writer: &bw_writer| {
        position?.write(writer.writer.position(&writer.host)?);
        Ok(())
    };
    // SAFETY: the caller's promises about `writer` and `error`.
    unsafe { put(writer, error, work) }
}

/// Hands all that is gathered to the system, or to the function of the program. What was not taken after an error is gathered
/// still: the call goes on when it is made again.
///
/// # Safety
/// As [`bw_writer_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_flush(
    writer: *mut bw_writer,
    error: *mut bw_error,
) -> bw_status {
    let work = |writer: &bw_writer| writer.writer.flush(&writer.host, writer.is_synced);
    // SAFETY: the caller's promises about `writer` and `error`.
    unsafe { put(writer, error, work) }
}

/// Flushes a writer, and returns when what was written to a file will survive a power cut.
///
/// # Safety
/// As [`bw_writer_unsigned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_sync(writer: *mut bw_writer, error: *mut bw_error) -> bw_status {
    let work = |writer: &bw_writer| writer.writer.flush(&writer.host, true);
    // SAFETY: the caller's promises about `writer` and `error`.
    unsafe { put(writer, error, work) }
}

/// Flushes a writer, gives a file that replaces another its name, closes it, and frees the handle. After an error it is open
/// still, with what was not written: close it again, or give that up with `bw_writer_discard`. In a forked child it writes
/// nothing. Null is allowed.
///
/// # Safety
/// `writer` is a handle, which is not used again where this is no error; `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_close(
    writer: *mut bw_writer,
    error: *mut bw_error,
) -> bw_status {
    let work = || {
        in_use::check(writer, A_WRITER)?;
        // SAFETY: the caller's promise about `writer`.
        let Some(closing) = (unsafe { writer.as_ref() }) else { return Ok(bw_status::Ok) };
        let in_use = InUse::mark(writer);
        closing.close()?;
        // SAFETY: the same; it is freed when `in_use` is dropped, and used no more.
        unsafe { free(writer) };
        drop(in_use);
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promise about `error`.
    unsafe { guard_raw(error, work) }
}

/// Closes a writer and frees its handle without writing what is gathered. A file that was to be replaced stays as it was; another
/// one keeps what was written before. Null is allowed.
///
/// # Safety
/// `writer` is a handle, which is not used again where this is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_writer_discard(
    writer: *mut bw_writer,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        // SAFETY: the caller's promise about `writer`.
        drop(unsafe { take_back(writer, A_WRITER) }?);
        Ok(bw_status::Ok)
    })
}
