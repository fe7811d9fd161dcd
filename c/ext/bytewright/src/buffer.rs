//! Bytes in, and bytes out.

use std::ffi::c_void;
use std::ptr;

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
    pub data: *mut u8,
    /// Bytes that the last call put there.
    pub len: usize,
    /// Bytes that there is room for.
    pub capacity: usize,
}

/// Frees the memory of a buffer and makes it as `BW_BUFFER_INIT` does. Null is allowed.
///
/// # Safety
/// `buffer` is null, or was initialized, and its fields were changed by this library only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_buffer_free(buffer: *mut bw_buffer) {
    // SAFETY: the caller's promise.
    if let Some(buffer) = unsafe { buffer.as_mut() } {
        // SAFETY: the same.
        drop(unsafe { buffer.take() });
    }
}

impl bw_buffer {
    /// The memory as a vector; the buffer has none then.
    ///
    /// # Safety
    /// The fields were set by [`bw_buffer::put`] or are those of `BW_BUFFER_INIT`.
    unsafe fn take(&mut self) -> Vec<u8> {
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
    ///
    /// # Safety
    /// As [`bw_buffer::take`].
    #[inline]
    pub(crate) unsafe fn fill(&mut self, bytes: &[u8]) {
        if bytes.len() <= self.capacity {
            // SAFETY: there is room for as many bytes at `data`, which is memory of ours and so not the table's.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.data, bytes.len()) };
            self.len = bytes.len();
            return;
        }
        // SAFETY: the caller's promise.
        let mut held = unsafe { self.take() };
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

/// What an `out` pointer or a handle leads to.
///
/// # Safety
/// `pointer` is null, or may be used as a reference for as long as the answer is used.
#[inline]
pub(crate) unsafe fn target<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T> {
    in_use::check(pointer, what)?;
    // SAFETY: the caller's promise.
    unsafe { pointer.as_mut() }.ok_or_else(|| is_null(what))
}

/// What a handle or a pointer leads to, to be read.
///
/// # Safety
/// As [`target`], and it does not change meanwhile.
#[inline]
pub(crate) unsafe fn held<'a, T>(pointer: *const T, what: &str) -> Result<&'a T> {
    in_use::check_shared(pointer, what)?;
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| is_null(what))
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
