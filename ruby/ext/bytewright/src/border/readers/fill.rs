//! A long String, filled by the file itself and not through the buffer.
//!
//! The bytes of a String are written to with Ruby's lock only, and the String is locked while others have
//! their turn between its pieces.

use std::mem::MaybeUninit;

use bytewright::stream::{ByteStream, Compression, Fill};
use magnus::Error;
use magnus::rb_sys::protect;
use rb_sys::VALUE;

use super::NIL;
use crate::border::tables::bytes;
use crate::reader::{Operation, PIECE};

/// From how many bytes on a String is filled from the file itself and not from the buffer: to copy as many
/// takes as long as the system calls that the buffer spares.
pub(super) const DIRECT_MIN: usize = 8 << 10;
/// Bytes after which Ruby is asked for interrupts.
const STEP_LEN: usize = 1 << 20;

/// How many bytes came, and why there are no more.
struct FillStep {
    count: usize,
    fill: Fill,
}

/// Makes room for `more` bytes behind the first `len` of a String.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping; `string` must be one that may be changed.
#[inline]
pub(super) unsafe fn make_room(string: VALUE, len: usize, more: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        rb_sys::rb_str_modify(string);
        if (rb_sys::rb_str_capacity(string) as usize) < len + more {
            rb_sys::rb_str_set_len(string, len as _);
            rb_sys::rb_str_modify_expand(string, more as _);
        }
    }
}

/// Puts up to `length` bytes into an empty String, and answers how many there were. After an error the
/// String is empty, and the reader as it was.
///
/// # Safety
/// Ruby must keep `string` alive, which must be one, with memory of its own.
pub(super) unsafe fn fill_string(
    operation: &Operation<'_>,
    string: VALUE,
    length: usize,
) -> Result<usize, Error> {
    // SAFETY: as the caller promises.
    let filled = unsafe { fill_in_steps(operation, string, length) };
    if filled.is_err() {
        give_back(operation, string);
    }
    filled
}

/// # Safety
/// As for [`fill_string`].
unsafe fn fill_in_steps(
    operation: &Operation<'_>,
    string: VALUE,
    length: usize,
) -> Result<usize, Error> {
    let (mut len, mut checked) = (0, 0);
    while len < length {
        let room = room_wanted(operation, length - len, len)?;
        // SAFETY: making room may raise, which `protect` returns.
        protect(|| unsafe {
            make_room(string, len, room);
            NIL
        })?;
        // SAFETY: the String has that much room, and nothing of Ruby's runs in the step.
        let spare = unsafe {
            let begin = rb_sys::RSTRING_PTR(string).cast_mut().cast::<MaybeUninit<u8>>();
            std::slice::from_raw_parts_mut(begin.add(len), room)
        };
        let step = operation.with_stream(|stream| fill_step(stream, spare))?;
        len += step.count;
        // SAFETY: so many bytes of it are written.
        unsafe { rb_sys::rb_str_set_len(string, len as _) };
        match step.fill {
            Fill::Ended => break,
            Fill::Ready if len - checked < STEP_LEN => {}
            Fill::Ready => {
                checked = len;
                let _lock = LockedString::new(string)?;
                operation.let_interrupts()?;
            }
            Fill::WouldWait => {
                let _lock = LockedString::new(string)?;
                operation.want(1)?;
            }
        }
    }
    Ok(len)
}

/// How many more bytes the String is to have room for: no more than `left`, as a length that is wrong must
/// cost no memory. What a file has left is known; of what is not known, as much comes at once as has come.
fn room_wanted(operation: &Operation<'_>, left: usize, come: usize) -> Result<usize, Error> {
    let likely = come.max(PIECE);
    if left <= likely {
        return Ok(left);
    }
    let known = operation.with_stream(|stream| Ok(known_left(stream)))?;
    Ok(left.min(known.map_or(0, |known| known.saturating_add(1)).max(likely)))
}

fn known_left(stream: &ByteStream) -> Option<usize> {
    let len = stream.input_len().filter(|_| stream.compression() == Compression::None)?;
    usize::try_from(len.saturating_sub(stream.position())).ok()
}

/// Writes to the start of `spare` what is buffered, or what the file has without waiting.
fn fill_step(
    stream: &mut ByteStream,
    spare: &mut [MaybeUninit<u8>],
) -> bytewright::Result<FillStep> {
    let bytes = stream.buffered();
    let count = bytes.len().min(spare.len());
    if count > 0 {
        for (to, byte) in spare.iter_mut().zip(bytes) {
            to.write(*byte);
        }
        stream.consume(count);
        return Ok(FillStep { count, fill: Fill::Ready });
    }
    if spare.len() >= DIRECT_MIN
        && let Some(count) = stream.try_read_slice(spare)?
    {
        let fill = if count == 0 { Fill::Ended } else { Fill::Ready };
        return Ok(FillStep { count, fill });
    }
    Ok(FillStep { count: 0, fill: stream.try_fill(1)? })
}

/// Makes a String empty, and its memory its own.
pub(super) fn empty(string: VALUE) -> Result<(), Error> {
    protect(|| {
        // SAFETY: it is a String, and what this raises `protect` returns.
        unsafe {
            rb_sys::rb_str_modify(string);
            rb_sys::rb_str_set_len(string, 0);
        }
        NIL
    })
    .map(drop)
}

/// Gives the bytes in a String back to the stream that they were taken from.
fn give_back(operation: &Operation<'_>, string: VALUE) {
    // SAFETY: the String is alive and nothing of Ruby's runs before the bytes are copied. It was
    // locked whenever others had their turn, so they are those that were taken.
    let taken = unsafe { bytes(string) };
    // Where the stream is closed there is nothing to give back to.
    let _ = operation.with_stream(|stream| {
        stream.give_back(taken);
        Ok(())
    });
    // Where it cannot be emptied, because it was frozen meanwhile, the error that is being returned tells more.
    let _ = empty(string);
}

/// A String that nobody else may change, until this is dropped.
struct LockedString(VALUE);

impl LockedString {
    fn new(string: VALUE) -> Result<Self, Error> {
        // SAFETY: it is a String, and what this raises `protect` returns.
        protect(|| unsafe { rb_sys::rb_str_locktmp(string) })?;
        Ok(LockedString(string))
    }
}

impl Drop for LockedString {
    fn drop(&mut self) {
        // SAFETY: it is locked, so this does not raise.
        unsafe { rb_sys::rb_str_unlocktmp(self.0) };
    }
}
