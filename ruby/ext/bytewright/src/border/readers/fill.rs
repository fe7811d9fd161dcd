//! A String that a reader fills.
//!
//! Its bytes are written to with Ruby's lock only, and it is locked while others have their turn between its pieces.

use std::mem::MaybeUninit;

use bytewright::host::Destination;
use magnus::Error;
use magnus::rb_sys::protect;
use rb_sys::VALUE;

use super::NIL;
use crate::border::tables::bytes;

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

/// Gives a String these bytes, which are no part of it, in place of those that it has.
///
/// # Safety
/// As for [`make_room`].
#[inline]
pub(super) unsafe fn replace(string: VALUE, bytes: &[u8]) {
    // SAFETY: the room is there, and belongs to the String alone. Making room runs no Ruby code.
    unsafe {
        make_room(string, 0, bytes.len());
        let to = rb_sys::RSTRING_PTR(string).cast_mut().cast::<u8>();
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        rb_sys::rb_str_set_len(string, bytes.len() as _);
    }
}

/// A String that grows, which Ruby keeps alive.
pub(super) struct FilledString(VALUE);

impl FilledString {
    /// # Safety
    /// `string` must be one that Ruby keeps alive for as long as this is used.
    pub(super) unsafe fn new(string: VALUE) -> FilledString {
        FilledString(string)
    }

    /// Makes it empty, and its memory its own.
    pub(super) fn empty(&mut self) -> Result<(), Error> {
        // SAFETY: it is a String, and what this raises `protect` returns.
        protect(|| unsafe {
            rb_sys::rb_str_modify(self.0);
            rb_sys::rb_str_set_len(self.0, 0);
            NIL
        })
        .map(drop)
    }
}

impl Destination for FilledString {
    type Error = Error;

    fn room(&mut self, len: usize, count: usize) -> Result<&mut [MaybeUninit<u8>], Error> {
        // SAFETY: making room may raise, which `protect` returns. Then the String has that much room, and nothing
        // of Ruby's runs while the core writes there.
        unsafe {
            protect(|| {
                make_room(self.0, len, count);
                NIL
            })?;
            let begin = rb_sys::RSTRING_PTR(self.0).cast_mut().cast::<MaybeUninit<u8>>();
            Ok(std::slice::from_raw_parts_mut(begin.add(len), count))
        }
    }

    fn set_len(&mut self, len: usize) {
        // If it cannot be emptied, because it was frozen meanwhile, the error that is being returned tells more.
        let _ = match len {
            0 => self.empty(),
            // SAFETY: the core has written so many bytes of it; what this raises `protect` returns.
            _ => protect(|| unsafe {
                rb_sys::rb_str_set_len(self.0, len as _);
                NIL
            })
            .map(drop),
        };
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the String is alive, and the core copies them before anything of Ruby's runs. It was locked
        // whenever others had their turn, so they are those that were read.
        unsafe { bytes(self.0) }
    }

    fn lock(&mut self) -> Result<(), Error> {
        // SAFETY: it is a String, and what this raises `protect` returns.
        protect(|| unsafe { rb_sys::rb_str_locktmp(self.0) }).map(drop)
    }

    fn unlock(&mut self) {
        // SAFETY: it is locked, so this does not raise.
        unsafe { rb_sys::rb_str_unlocktmp(self.0) };
    }
}
