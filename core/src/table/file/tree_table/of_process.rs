//! What belongs to the process that made it. A forked child has a copy of it, and with the copy the
//! locks and the file offsets of its parent: dropped there, it would write to the parent's file.

use crate::error::{Error, ErrorKind, Result};
use crate::files::ProcessMark;
use crate::panics;

/// The process that opened a table, told from its forked children in the time of a memory access: to
/// ask the operating system takes longer than finding many a key.
#[derive(Debug)]
pub(super) struct Opener {
    /// `None` stands for another process.
    mark: Option<ProcessMark>,
}

impl Opener {
    pub(super) fn here() -> Opener {
        Opener { mark: Some(ProcessMark::new()) }
    }

    #[cfg(test)]
    pub(super) fn elsewhere() -> Opener {
        Opener { mark: None }
    }

    pub(super) fn is_here(&self) -> bool {
        self.mark.as_ref().is_some_and(ProcessMark::is_here)
    }

    /// [`ErrorKind::Closed`] in another process.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_here() { Ok(()) } else { Err(inherited()) }
    }
}

/// A value that only the process that made it may use or drop. A copy in another is left alone.
#[derive(Debug)]
pub(super) struct OfProcess<T> {
    /// There until it is taken or dropped.
    value: Option<T>,
    process: u32,
}

impl<T> OfProcess<T> {
    pub(super) fn new(value: T) -> Self {
        OfProcess { value: Some(value), process: std::process::id() }
    }

    /// The value, for a caller who knows that this is the process.
    pub(super) fn checked(&self) -> Result<&T> {
        self.value.as_ref().ok_or_else(closed)
    }

    /// The same, to change it.
    pub(super) fn checked_mut(&mut self) -> Result<&mut T> {
        self.value.as_mut().ok_or_else(closed)
    }

    /// Takes the value out, which is then nobody's but the caller's.
    pub(super) fn take(&mut self) -> Result<T> {
        check_process(self.process)?;
        self.value.take().ok_or_else(closed)
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        let value = self.value.take();
        if self.process == std::process::id() {
            // redb may panic over a damaged file here, too, and there is nobody to tell.
            let _ = panics::catch(|| drop(value));
        } else {
            std::mem::forget(value);
        }
    }
}

/// [`ErrorKind::Closed`] where `process` is not this one.
pub(super) fn check_process(process: u32) -> Result<()> {
    match std::process::id() == process {
        true => Ok(()),
        false => Err(inherited()),
    }
}

fn inherited() -> Error {
    Error::new(
        ErrorKind::Closed,
        "expected the process that opened the table, found one forked from it: open the table again \
         here",
    )
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "expected an open table, found it closed")
}
