//! Text in: strings as C has them, which end with a zero byte.

use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bytewright::error::excerpt;
use bytewright::{Error, ErrorKind, Result};

use crate::error::is_null;

/// Names, each of which ends with a zero byte. No names are `BW_NAMES_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_names {
    /// As many strings as `count` says; may be null where that is 0.
    pub names: *const *const c_char,
    /// Number of names.
    pub count: usize,
}

impl bw_names {
    /// The strings, in their order.
    ///
    /// # Safety
    /// As [`string`] for each of them, for as long as the answer is used.
    unsafe fn strings<'a>(self) -> Result<Vec<&'a CStr>> {
        if self.names.is_null() && self.count > 0 {
            return Err(is_null("names"));
        }
        // SAFETY: the caller's promise.
        (0..self.count).map(|place| unsafe { string(*self.names.add(place), "a name") }).collect()
    }

    /// The names as text.
    ///
    /// # Safety
    /// As [`bw_names::strings`].
    pub(crate) unsafe fn texts<'a>(names: Option<&bw_names>) -> Result<Vec<&'a str>> {
        let Some(names) = names else { return Ok(Vec::new()) };
        // SAFETY: the caller's promise.
        unsafe { names.strings() }?.into_iter().map(|name| utf8(name, "a name")).collect()
    }

    /// The names as paths.
    ///
    /// # Safety
    /// As [`bw_names::strings`].
    pub(crate) unsafe fn paths(self) -> Result<Vec<PathBuf>> {
        // SAFETY: the caller's promise.
        Ok(unsafe { self.strings() }?.into_iter().map(|name| path_of(name).to_owned()).collect())
    }
}

/// # Safety
/// `text` is null, or ends with a zero byte and stays while the answer is used.
unsafe fn string<'a>(text: *const c_char, what: &str) -> Result<&'a CStr> {
    if text.is_null() {
        return Err(is_null(what));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// A path, in any encoding.
///
/// # Safety
/// As [`string`].
pub(crate) unsafe fn path<'a>(text: *const c_char) -> Result<&'a Path> {
    // SAFETY: the caller's promise.
    Ok(path_of(unsafe { string(text, "a path") }?))
}

fn path_of(text: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(text.to_bytes()))
}

/// The bytes of text in any encoding, which must be there.
///
/// # Safety
/// As [`string`].
pub(crate) unsafe fn text_bytes<'a>(text: *const c_char, what: &str) -> Result<&'a [u8]> {
    // SAFETY: the caller's promise.
    Ok(unsafe { string(text, what) }?.to_bytes())
}

/// Text in UTF-8, which must be there.
///
/// # Safety
/// As [`string`].
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    utf8(unsafe { string(text, what) }?, what)
}

/// Text in UTF-8; none for null.
///
/// # Safety
/// As [`string`].
pub(crate) unsafe fn text_or_none<'a>(
    pointer: *const c_char,
    what: &str,
) -> Result<Option<&'a str>> {
    // SAFETY: the caller's promise.
    (!pointer.is_null()).then(|| unsafe { text(pointer, what) }).transpose()
}

fn utf8<'a>(text: &'a CStr, what: &str) -> Result<&'a str> {
    text.to_str().map_err(|_| {
        let found = text.to_bytes().escape_ascii().to_string();
        let message = format!("expected {what} in UTF-8, found {}", excerpt(&found));
        Error::new(ErrorKind::Argument, message)
    })
}
