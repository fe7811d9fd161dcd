//! Guard of a value that belongs to the process that made it. A forked child has a copy of it, and with the copy the locks and
//! the file offsets of its parent: dropped there, it would write to the parent's file.

use crate::error::{Error, ErrorKind, Result};
use crate::files::ProcessMark;
use crate::panics;

/// Guard of a value that only the process that made it may use or drop. A copy in another is left alone.
#[derive(Debug)]
pub(super) struct ForkGuard<T> {
    /// There until it is taken or dropped.
    value: Option<T>,
    process: ProcessMark,
}

impl<T> ForkGuard<T> {
    pub(super) fn new(value: T) -> Self {
        ForkGuard { value: Some(value), process: ProcessMark::new() }
    }

    /// The value, for a caller that knows that this is the process.
    pub(super) fn checked(&self) -> Result<&T> {
        self.value.as_ref().ok_or_else(closed)
    }

    /// Returns the value to be changed, for a caller that knows that this is the process.
    pub(super) fn checked_mut(&mut self) -> Result<&mut T> {
        self.value.as_mut().ok_or_else(closed)
    }

    /// Takes the value out, which is then nobody's but the caller's.
    pub(super) fn take(&mut self) -> Result<T> {
        check_process(self.process)?;
        self.value.take().ok_or_else(closed)
    }
}

impl<T> Drop for ForkGuard<T> {
    fn drop(&mut self) {
        let value = self.value.take();
        if self.process.is_here() {
            // redb may panic over a damaged file here, too, and there is nobody to tell.
            let _ = panics::catch(|| drop(value));
        } else {
            std::mem::forget(value);
        }
    }
}

/// [`ErrorKind::Closed`] where `process` is not this one.
pub(super) fn check_process(process: ProcessMark) -> Result<()> {
    if process.is_here() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Closed,
        "expected the process that opened the table, found one forked from it: open the table again \
         here",
    ))
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "expected an open table, found it closed")
}
