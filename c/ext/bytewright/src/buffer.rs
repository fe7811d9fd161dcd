//! Bytes in, and bytes out.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use bytewright::Result;

use crate::error::is_null;
use crate::in_use;

/// Bytes that belong to somebody else: read them before that changes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_slice {
    /// The first byte; may be null where `len` is 0.
    pub data: *const u8,
    /// Number of bytes.
    pub len: usize,
}

impl bw_slice {
    pub(crate) fn of(bytes: &[u8]) -> bw_slice {
        bw_slice { data: bytes.as_ptr(), len: bytes.len() }
    }

    /// The bytes.
    ///
    /// # Safety
    /// As [`bytes`], for as long as the answer is used.
    pub(crate) unsafe fn bytes<'a>(self) -> Result<&'a [u8]> {
        // SAFETY: the caller's promise is handed on.
        unsafe { bytes(self.data, self.len) }
    }
}

/// Shows the value of a key. `value` is the table's: copy what you keep, and return as usual (a `longjmp` or a C++ exception
/// out of it is undefined behaviour). A call in it that changes or closes the table returns `BW_STATUS_LOCK`.
pub type bw_found =
    Option<unsafe extern "C" fn(context: *mut c_void, place: usize, value: *const bw_slice)>;

/// Memory of the caller's that calls fill and make larger as they need. Initialize it with `BW_BUFFER_INIT`, use it for
/// as many calls as you like, and free it with `bw_buffer_free`.
#[repr(C)]
#[derive(Debug)]
pub struct bw_buffer {
    /// The bytes; null before the first use.
    data: *mut u8,
    /// Bytes that the last call put there.
    len: usize,
    /// Bytes that there is room for.
    capacity: usize,
}

/// Frees the memory of a buffer and makes it as `BW_BUFFER_INIT` does. Null is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_buffer_free(buffer: Option<&mut bw_buffer>) {
    drop(buffer.map(bw_buffer::take));
}

/// The fields are those of `BW_BUFFER_INIT`, or [`bw_buffer::put`] set them.
impl bw_buffer {
    /// Takes the memory out as a vector; the buffer has none then.
    fn take(&mut self) -> Vec<u8> {
        let data = std::mem::replace(&mut self.data, ptr::null_mut());
        let (len, capacity) = (std::mem::take(&mut self.len), std::mem::take(&mut self.capacity));
        match data.is_null() {
            true => Vec::new(),
            // SAFETY: `put` took the three from one vector.
            false => unsafe { Vec::from_raw_parts(data, len, capacity) },
        }
    }

    fn put(&mut self, bytes: Vec<u8>) {
        let mut bytes = std::mem::ManuallyDrop::new(bytes);
        (self.data, self.len, self.capacity) = (bytes.as_mut_ptr(), bytes.len(), bytes.capacity());
    }

    /// Makes the buffer hold `bytes`.
    #[inline]
    pub(crate) fn fill(&mut self, bytes: &[u8]) {
        if bytes.len() <= self.capacity {
            // SAFETY: there is room for as many bytes at `data`, which is memory of ours and so not the table's.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.data, bytes.len()) };
            self.len = bytes.len();
            return;
        }
        let mut held = self.take();
        held.clear();
        held.extend_from_slice(bytes);
        self.put(held);
    }
}

/// The bytes that a pointer and a length stand for.
///
/// # Safety
/// `data` is null or points to `len` bytes that do not change while the result is in use.
#[inline]
pub(crate) unsafe fn bytes<'a>(data: *const u8, len: usize) -> Result<&'a [u8]> {
    match (data.is_null(), len) {
        (true, 0) => Ok(&[]),
        (true, _) => Err(is_null("bytes")),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(data, len) }),
    }
}

/// Room of the program for `capacity` bytes.
///
/// # Safety
/// `data` is null or has room for `capacity` bytes, which nobody else uses while the result is in use.
#[inline]
pub(crate) unsafe fn room<'a>(
    data: *mut u8,
    capacity: usize,
    what: &str,
) -> Result<&'a mut [MaybeUninit<u8>]> {
    match (data.is_null(), capacity) {
        (true, 0) => Ok(&mut []),
        (true, _) => Err(is_null(what)),
        // SAFETY: the caller's promise; the bytes may be uninitialized.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(data.cast(), capacity) }),
    }
}

/// The reference that C passes; an error where it is null.
#[inline]
pub(crate) fn given<T>(reference: Option<T>, what: &str) -> Result<T> {
    reference.ok_or_else(|| is_null(what))
}

/// A handle that other calls may read meanwhile. [`bytewright::ErrorKind::Lock`] where a call is changing it.
#[inline]
pub(crate) fn held<'a, T>(handle: Option<&'a T>, what: &str) -> Result<&'a T> {
    let handle = given(handle, what)?;
    in_use::check_shared(handle, what)?;
    Ok(handle)
}

/// A handle to change. [`bytewright::ErrorKind::Lock`] where a call is using it.
///
/// # Safety
/// `handle` is null or a handle.
#[inline]
pub(crate) unsafe fn held_mut<'a, T>(handle: *mut T, what: &str) -> Result<&'a mut T> {
    in_use::check(handle, what)?;
    // SAFETY: the caller's promise; no call below this one uses the handle, as it would have marked it.
    given(unsafe { handle.as_mut() }, what)
}

/// Memory of the program that a call writes to, and never through a reference: functions of the program that the call runs
/// may use it meanwhile, or it may be the place for another result, too.
pub(crate) struct Place<T>(NonNull<T>);

impl<T> Place<T> {
    /// # Safety
    /// `pointer` is null or a place, a buffer one that was initialized, for as long as the answer is used.
    #[inline]
    pub(crate) unsafe fn at(pointer: *mut T, what: &str) -> Result<Place<T>> {
        // SAFETY: the caller's promise is handed on.
        given(unsafe { Self::at_or_none(pointer) }, what)
    }

    /// # Safety
    /// As [`Place::at`].
    #[inline]
    pub(crate) unsafe fn at_or_none(pointer: *mut T) -> Option<Place<T>> {
        NonNull::new(pointer).map(Place)
    }

    /// Writes `value`, and drops nothing that was there.
    #[inline]
    pub(crate) fn write(&self, value: T) {
        // SAFETY: the promise to `at`.
        unsafe { self.0.write(value) };
    }
}

impl Place<bw_buffer> {
    /// Makes the buffer hold `bytes`.
    pub(crate) fn fill(&self, bytes: &[u8]) {
        // SAFETY: the promise to `at`; the reference ends here.
        unsafe { &mut *self.0.as_ptr() }.fill(bytes);
    }
}

/// Hands `value` to C as a handle.
pub(crate) fn handle<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Takes a handle back, if it is one. [`bytewright::ErrorKind::Lock`] where its own call is under way.
///
/// # Safety
/// `pointer` is null or came from [`handle`], and is not used again where this is no error.
pub(crate) unsafe fn take_back<T>(pointer: *mut T, what: &str) -> Result<Option<Box<T>>> {
    in_use::check(pointer, what)?;
    // SAFETY: the caller's promise.
    Ok((!pointer.is_null()).then(|| unsafe { Box::from_raw(pointer) }))
}

/// Frees a handle, if it is one; where its own call is under way, when that returns.
///
/// # Safety
/// `pointer` is null or came from [`handle`], and is not used again.
pub(crate) unsafe fn free<T: 'static>(pointer: *mut T) {
    if pointer.is_null() {
        return;
    }
    // SAFETY: the caller's promise; the call that is under way no longer uses it when this runs.
    let free = move || drop(unsafe { Box::from_raw(pointer) });
    if let Some(free) = in_use::put_off(pointer, free) {
        free();
    }
}
