//! Handles in use: those whose call is under way while a function of the program runs.
//!
//! The thread that makes a call also runs the program's functions (`bw_read`, `bw_interrupted`, `bw_found`), so each thread
//! knows its own. A call with a handle in use is refused before anything of the handle is touched, as the call below it
//! goes on with what it had; freeing one waits until that call returns.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytewright::{Error, ErrorKind, Result};

use crate::buffer::given;
use crate::error::{bw_error, bw_status, guard_raw};

/// Handles in use of all threads: where there are none, as nearly always, nobody looks further.
static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Those of this thread, the innermost call last.
    static HANDLES: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

struct Handle {
    address: usize,
    /// The call only reads it, as others may meanwhile.
    is_shared: bool,
    /// Frees it, where the program did so meanwhile.
    free: Option<Box<dyn FnOnce()>>,
}

/// A handle in use, until this is dropped.
pub(crate) struct InUse(());

impl InUse {
    /// Marks a handle whose call may run functions of the program.
    pub(crate) fn mark<T>(handle: *const T) -> InUse {
        Self::mark_as(handle.addr(), false)
    }

    /// Marks a handle that the call only reads: other calls may read it, too, but neither change nor close it.
    pub(crate) fn mark_shared<T>(handle: *const T) -> InUse {
        Self::mark_as(handle.addr(), true)
    }

    fn mark_as(address: usize, is_shared: bool) -> InUse {
        COUNT.fetch_add(1, Ordering::Relaxed);
        HANDLES.with_borrow_mut(|handles| handles.push(Handle { address, is_shared, free: None }));
        InUse(())
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Relaxed);
        let ended = HANDLES.with_borrow_mut(Vec::pop);
        if let Some(free) = ended.and_then(|handle| handle.free) {
            free();
        }
    }
}

/// A handle with calls that may run functions of the program.
pub(crate) trait RunsProgram {
    /// Returns true if they may with this one.
    fn runs_program(&self) -> bool {
        true
    }
}

/// Does the work of a call that may run functions of the program, and has the handle in use meanwhile.
///
/// # Safety
/// `handle` is null or a handle, and `error` is null or an error.
pub(crate) unsafe fn call<T: RunsProgram>(
    handle: *mut T,
    what: &str,
    error: *mut bw_error,
    work: impl FnOnce(&T) -> Result<bw_status>,
) -> bw_status {
    let work = || {
        check(handle, what)?;
        // SAFETY: the caller's promise. A function of the program may free the handle: that waits for the end of
        // `_in_use`, when `work` has returned and the reference is used no more.
        let target = given(unsafe { handle.as_ref() }, what)?;
        let _in_use = target.runs_program().then(|| InUse::mark(handle));
        work(target)
    };
    // SAFETY: the caller's promise about `error`.
    unsafe { guard_raw(error, work) }
}

/// Fails where the handle is in use, by calls that only read it as well.
#[inline]
pub(crate) fn check<T>(handle: *const T, what: &str) -> Result<()> {
    check_marks(handle.addr(), what, |_| true)
}

/// Fails where a call is changing the handle.
#[inline]
pub(crate) fn check_shared<T>(handle: *const T, what: &str) -> Result<()> {
    check_marks(handle.addr(), what, |marked| !marked.is_shared)
}

#[inline]
fn check_marks(address: usize, what: &str, excludes: impl Fn(&Handle) -> bool) -> Result<()> {
    let excluded = |marked: &Handle| marked.address == address && excludes(marked);
    let is_excluded = || HANDLES.with_borrow(|handles| handles.iter().any(excluded));
    match COUNT.load(Ordering::Relaxed) > 0 && is_excluded() {
        true => Err(refusal(what)),
        false => Ok(()),
    }
}

#[cold]
fn refusal(what: &str) -> Error {
    let message = format!(
        "expected {what} that no call is using, found one whose call runs this function; use it when that has returned"
    );
    Error::new(ErrorKind::Lock, message)
}

/// Has a handle freed when the call that uses it returns; gives `free` back where no call does.
pub(crate) fn put_off<T, F: FnOnce() + 'static>(handle: *const T, free: F) -> Option<F> {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return Some(free);
    }
    HANDLES.with_borrow_mut(|handles| {
        let marked = handles.iter_mut().find(|marked| marked.address == handle.addr());
        match marked {
            Some(marked) => {
                marked.free = Some(Box::new(free));
                None
            }
            None => Some(free),
        }
    })
}
