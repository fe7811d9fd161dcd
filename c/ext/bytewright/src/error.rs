//! The status that every call returns, and the error that it fills.

use std::ffi::{CString, c_char};
use std::ptr;

use bytewright::{Error, ErrorKind, panics};

/// What became of a call.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_status {
    /// It was done.
    Ok = 0,
    /// It was done: there is no such entry, or there are no more. The error is not filled.
    None = 1,
    /// The operating system refused; `bw_error.os_error` has its number.
    Io = 16,
    /// The bytes are not what the format allows.
    Format = 17,
    /// The input ends in the middle of something.
    Truncated = 18,
    /// A length, count or depth is above the bound kept for it.
    Limit = 19,
    /// Another process or handle uses the file.
    Lock = 20,
    /// The object was closed, or belongs to the process that forked this one.
    Closed = 21,
    /// A checksum or an invariant of a file that Bytewright wrote does not hold.
    Corrupt = 22,
    /// A library that is not on this machine is needed.
    MissingLibrary = 23,
    /// The caller asked for something that does not exist.
    Argument = 24,
    /// A defect in Bytewright.
    Internal = 25,
}

/// What went wrong. Initialize it with `BW_ERROR_INIT` and clear it with `bw_error_clear`. A call that fails frees what
/// an earlier failure left and fills it anew; a call that succeeds leaves it as it is.
#[repr(C)]
pub struct bw_error {
    /// The status that the call answered.
    pub status: bw_status,
    /// The operating system's number (`errno`), or 0.
    pub os_error: i32,
    /// Byte offset in the input, after decompression; -1 if unknown.
    pub offset: i64,
    /// What was expected and what was found, in UTF-8, with the file and the place before it; harmless to a terminal.
    pub message: *mut c_char,
    /// The file, or null.
    pub file: *mut c_char,
}

/// Frees what an error holds and makes it as `BW_ERROR_INIT` does. Null is allowed.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_error_clear(error: *mut bw_error) {
    // SAFETY: the caller's promise: null, or an error that was initialized.
    let Some(error) = (unsafe { error.as_mut() }) else { return };
    for text in [&mut error.message, &mut error.file] {
        if !text.is_null() {
            // SAFETY: only `fill` sets these, with `CString::into_raw`, and they are set to null here.
            drop(unsafe { CString::from_raw(std::mem::replace(text, ptr::null_mut())) });
        }
    }
    (error.status, error.os_error, error.offset) = (bw_status::Ok, 0, -1);
}

impl From<ErrorKind> for bw_status {
    fn from(kind: ErrorKind) -> bw_status {
        match kind {
            ErrorKind::Io(_) => bw_status::Io,
            ErrorKind::Format => bw_status::Format,
            ErrorKind::Truncated { .. } => bw_status::Truncated,
            ErrorKind::Limit => bw_status::Limit,
            ErrorKind::Lock => bw_status::Lock,
            ErrorKind::Closed => bw_status::Closed,
            ErrorKind::Corrupt => bw_status::Corrupt,
            ErrorKind::MissingLibrary => bw_status::MissingLibrary,
            ErrorKind::Argument => bw_status::Argument,
            _ => bw_status::Internal,
        }
    }
}

/// Does the work of a call. Its error, or its panic, fills `error`.
///
/// # Safety
/// `error` is null, or points to an error that was initialized.
#[inline]
pub(crate) unsafe fn guard(
    error: *mut bw_error,
    work: impl FnOnce() -> bytewright::Result<bw_status>,
) -> bw_status {
    match panics::catch(work) {
        Ok(Ok(status)) => status,
        // SAFETY: the caller's promise is handed on.
        Ok(Err(failure)) => unsafe { fill(error, &failure) },
        // SAFETY: the same.
        Err(panic) => unsafe { fill(error, &Error::internal(panic)) },
    }
}

/// Puts `failure` into `error`, and returns its status.
///
/// # Safety
/// As [`guard`].
#[cold]
unsafe fn fill(error: *mut bw_error, failure: &Error) -> bw_status {
    let status = bw_status::from(failure.kind());
    // SAFETY: the caller's promise.
    unsafe {
        bw_error_clear(error);
        if let Some(error) = error.as_mut() {
            error.status = status;
            error.os_error = match failure.kind() {
                ErrorKind::Io(number) => number.unwrap_or(0),
                _ => 0,
            };
            error.offset = failure.offset().map_or(-1, |offset| offset as i64);
            error.message = text(&failure.to_string());
            error.file = failure.file().map_or(ptr::null_mut(), text);
        }
    }
    status
}

fn text(text: &str) -> *mut c_char {
    // A zero byte would end it for C; errors escape what a terminal would act on, zeros among it.
    CString::new(text.replace('\0', "\\0")).map_or(ptr::null_mut(), CString::into_raw)
}

/// The error for a pointer that must not be null.
pub(crate) fn is_null(what: &str) -> Error {
    Error::new(ErrorKind::Argument, format!("expected {what}, found a null pointer"))
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    fn empty() -> bw_error {
        bw_error {
            status: bw_status::Ok,
            os_error: 0,
            offset: -1,
            message: ptr::null_mut(),
            file: ptr::null_mut(),
        }
    }

    #[test]
    #[expect(clippy::panic, reason = "it is what is tested")]
    fn a_panic_is_told_as_a_defect_and_the_next_call_works() {
        panics::catch_all();
        let mut error = empty();
        // SAFETY: the error is one, and is cleared.
        unsafe {
            let status = guard(&raw mut error, || panic!("a wrong turn"));
            assert_eq!((status, error.status), (bw_status::Internal, bw_status::Internal));
            let told = CStr::from_ptr(error.message).to_str().unwrap_or_default();
            let start = "a defect in Bytewright, please report it: a wrong turn at ";
            assert!(told.starts_with(start), "{told}");
            assert_eq!(guard(ptr::null_mut(), || panic!("nobody is told")), bw_status::Internal);
            assert_eq!(guard(&raw mut error, || Ok(bw_status::None)), bw_status::None);
            bw_error_clear(&raw mut error);
        }
        assert_eq!((error.status, error.message), (bw_status::Ok, ptr::null_mut()));
    }
}
