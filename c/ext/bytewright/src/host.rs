//! The program as the host of a pass: functions of its own that bring bytes, and that ask whether to go on.

use std::ffi::c_void;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use bytewright::host::{Host, SingleCallerHost, StreamHost};
use bytewright::{Error, ErrorKind, Result, threads};

use crate::error::{bw_error, bw_status, guard};

/// Brings up to `capacity` bytes to `data`: how many it brought, 0 at the end, or a negative number of the system
/// (`-errno`). It is called only while a call of the library is under way, by the thread that makes that call, and returns
/// as usual (a `longjmp` or a C++ exception out of it is undefined behaviour). A call in it with the handle of that call
/// returns `BW_STATUS_LOCK`; a handle that it frees is freed when that call returns.
pub type bw_read =
    Option<unsafe extern "C" fn(context: *mut c_void, data: *mut u8, capacity: usize) -> i64>;

/// Returns true to end the current call: that returns `BW_STATUS_IO` with `os_error` `EINTR` then, and can be made
/// again. Asked ten times a second while a call waits, under the rules of `bw_read`.
pub type bw_interrupted = Option<unsafe extern "C" fn(context: *mut c_void) -> bool>;

/// The number of an interrupted call, which all systems agree on.
const EINTR: i32 = 4;

/// The functions of the program.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallerHost {
    pub(crate) input: Option<Input>,
    pub(crate) interrupted: bw_interrupted,
    pub(crate) interrupted_context: Context,
}

impl CallerHost {
    /// Returns true if functions of the program may run.
    pub(crate) fn calls_program(&self) -> bool {
        self.input.is_some() || self.interrupted.is_some()
    }

    /// Does the work of a call that has the host of a handle ask `interrupted` from now on, which is given `context`.
    ///
    /// # Safety
    /// `interrupted` keeps the rules of `bw_interrupted` as long as the host is asked.
    pub(crate) unsafe fn set_interrupted(
        host: Result<&mut CallerHost>,
        (interrupted, context): (bw_interrupted, *mut c_void),
        error: Option<&mut bw_error>,
    ) -> bw_status {
        guard(error, || {
            let host = host?;
            (host.interrupted, host.interrupted_context) = (interrupted, Context(context));
            Ok(bw_status::Ok)
        })
    }
}

/// Source of the bytes of a capture that is no file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input {
    pub(crate) read: unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> i64,
    pub(crate) context: Context,
}

/// Argument of the program's functions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context(pub(crate) *mut c_void);

// SAFETY: the pointer is not followed here. Its functions are called by the thread that makes a call, which the program
// chooses, also where it reads a stream of Arrow's.
unsafe impl Send for Context {}

impl Default for Context {
    fn default() -> Self {
        Context(std::ptr::null_mut())
    }
}

impl Host for CallerHost {
    type Error = Error;

    fn error(&self, error: Error) -> Error {
        error
    }

    fn check_interrupts(&self) -> Result<()> {
        let Some(interrupted) = self.interrupted else { return Ok(()) };
        // SAFETY: the program passed the two together, and keeps the rules of `bw_interrupted`.
        match unsafe { interrupted(self.interrupted_context.0) } {
            true => {
                Err(Error::new(ErrorKind::Io(Some(EINTR)), "expected to go on, found an interrupt"))
            }
            false => Ok(()),
        }
    }

    fn read(&self, count_max: usize) -> Result<Vec<u8>> {
        let Some(input) = self.input else { return Ok(Vec::new()) };
        let mut bytes = vec![0; count_max];
        // SAFETY: the program passed the two together and keeps the rules of `bw_read`; `bytes` has room for as many.
        let count = unsafe { (input.read)(input.context.0, bytes.as_mut_ptr(), bytes.len()) };
        if count < 0 {
            return Err(failed_with(count));
        }
        if count as u64 > count_max as u64 {
            let message =
                format!("expected a bw_read that brings at most {count_max} bytes, found {count}");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        bytes.truncate(count as usize);
        Ok(bytes)
    }
}

impl SingleCallerHost for CallerHost {}

/// The program as the host of a reader, whose input is waited for by the call itself: another thread does so where there is
/// a function to ask meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReaderHost(pub(crate) CallerHost);

/// Between two questions whether to go on.
const ASKED_EVERY: Duration = Duration::from_millis(100);

impl Host for ReaderHost {
    type Error = Error;

    fn error(&self, error: Error) -> Error {
        error
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        wake: &(dyn Fn() + Sync),
    ) -> Result<Option<T>> {
        if self.0.interrupted.is_none() {
            return Ok(Some(work()));
        }
        let (done, outcome) = mpsc::channel();
        // Nobody waits for what a panic would have sent: it goes on here.
        let waiting = move || drop(done.send(work()));
        let asking = || loop {
            match outcome.recv_timeout(ASKED_EVERY) {
                Ok(outcome) => break Some(outcome),
                Err(RecvTimeoutError::Timeout) if self.check_interrupts().is_err() => wake(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        Ok(threads::beside("bytewright", waiting, asking).unwrap_or_else(|_| Some(work())))
    }

    fn check_interrupts(&self) -> Result<()> {
        self.0.check_interrupts()
    }

    fn read(&self, count_max: usize) -> Result<Vec<u8>> {
        self.0.read(count_max)
    }
}

impl SingleCallerHost for ReaderHost {}

impl StreamHost for ReaderHost {}

/// The error of a function that answered `-errno`.
fn failed_with(count: i64) -> Error {
    let number = i32::try_from(count.unsigned_abs()).ok();
    Error::new(ErrorKind::Io(number), "cannot read: the program's bw_read failed")
}
