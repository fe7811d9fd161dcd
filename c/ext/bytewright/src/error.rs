//! The status that every call returns, and the error that it fills.

use std::ffi::{CString, c_char};
use std::ptr;

use bytewright::{Error, ErrorKind, Result, host};

/// Outcome of a call.
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

/// Error of a call. Initialize it with `BW_ERROR_INIT` and clear it with `bw_error_clear`. A call that fails frees what
/// an earlier failure left and fills it again; a call that succeeds leaves it as it is.
#[repr(C)]
pub struct bw_error {
    /// Status that the call returned.
    status: bw_status,
    /// The operating system's number (`errno`), or 0.
    os_error: i32,
    /// Byte offset in the input, after decompression; -1 if unknown.
    offset: i64,
    /// Text of what was expected and what was found, in UTF-8, after the file and the place; harmless to a terminal.
    message: *mut c_char,
    /// The file, or null.
    file: *mut c_char,
}

/// Frees what an error holds and makes it as `BW_ERROR_INIT` does. Null is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_error_clear(error: Option<&mut bw_error>) {
    if let Some(error) = error {
        error.clear();
    }
}

impl bw_error {
    fn clear(&mut self) {
        for text in [&mut self.message, &mut self.file] {
            if !text.is_null() {
                // SAFETY: nobody but `fill` sets these, with `CString::into_raw`, and they are set to null here.
                drop(unsafe { CString::from_raw(std::mem::replace(text, ptr::null_mut())) });
            }
        }
        (self.status, self.os_error, self.offset) = (bw_status::Ok, 0, -1);
    }

    /// Makes it hold `failure`, or nothing.
    pub(crate) fn hold(&mut self, failure: Option<&Error>) {
        match failure {
            Some(failure) => self.fill(failure),
            None => self.clear(),
        }
    }

    fn fill(&mut self, failure: &Error) {
        self.clear();
        self.status = bw_status::from(failure.kind());
        self.os_error = match failure.kind() {
            ErrorKind::Io(number) => number.unwrap_or(0),
            _ => 0,
        };
        self.offset = failure.offset().map_or(-1, |offset| offset as i64);
        self.message = text(&failure.to_string());
        self.file = failure.file().map_or(ptr::null_mut(), text);
    }
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

/// Does the work of a call that runs no function of the program. Its error, or its panic, fills `error`.
#[inline]
pub(crate) fn guard(
    error: Option<&mut bw_error>,
    work: impl FnOnce() -> Result<bw_status>,
) -> bw_status {
    host::guard(work).unwrap_or_else(|failure| told(error, &failure))
}

/// Does the work of a call that may run functions of the program, which may use the same `error` meanwhile.
///
/// # Safety
/// `error` is null or an error.
#[inline]
pub(crate) unsafe fn guard_raw(
    error: *mut bw_error,
    work: impl FnOnce() -> Result<bw_status>,
) -> bw_status {
    // SAFETY: the caller's promise. The work has ended, and with it the functions that might use the error.
    host::guard(work).unwrap_or_else(|failure| told(unsafe { error.as_mut() }, &failure))
}

/// Puts `failure` into `error`, and returns its status.
#[cold]
fn told(error: Option<&mut bw_error>, failure: &Error) -> bw_status {
    if let Some(error) = error {
        error.fill(failure);
    }
    failure.kind().into()
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
        bytewright::panics::catch_all();
        let mut error = empty();
        let status = guard(Some(&mut error), || panic!("a wrong turn"));
        assert_eq!((status, error.status), (bw_status::Internal, bw_status::Internal));
        // SAFETY: the call failed and has filled the error.
        let told = unsafe { CStr::from_ptr(error.message) }.to_str().unwrap_or_default();
        let start = "a defect in Bytewright, please report it: a wrong turn at ";
        assert!(told.starts_with(start), "{told}");
        assert_eq!(guard(None, || panic!("nobody is told")), bw_status::Internal);
        assert_eq!(guard(Some(&mut error), || Ok(bw_status::None)), bw_status::None);
        bw_error_clear(Some(&mut error));
        assert_eq!((error.status, error.message), (bw_status::Ok, ptr::null_mut()));
    }
}
