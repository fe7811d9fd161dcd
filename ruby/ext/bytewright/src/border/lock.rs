//! When Ruby's lock is kept and when it is given up: the one policy of the gem, and the only way to give
//! it up.
//!
//! - **Kept** is the lock for work in memory that ends in less than a millisecond: a look at a buffer, a
//!   read of what the page cache has (`ByteStream::try_fill`), a piece that is decompressed. To give the
//!   lock up and get it back takes as long as to copy a kilobyte, and beside a thread that computes, the
//!   way back takes up to a tenth of a second. Work of many such pieces asks Ruby for interrupts between
//!   them (`Host::check_interrupts`), where other threads have their turn, too.
//! - **Given up** it is for what may wait: a disk, another process, a thread of ours; and for long work
//!   without any Ruby object, so that other threads run beside it.
//! - **Interrupts** (signals, `Thread#kill`, `Thread#raise`, `Timeout`) find work that can be called away
//!   (`without_lock`), that waits in a call of the system's (`without_lock_until_signal`),
//!   or that ends soon by itself (`without_lock_to_the_end`, `to_the_end`). Ruby is asked for them after it,
//!   and what it raises is an error that is returned: nothing that is held is jumped over.
//! - **What is not a regular file** is never read or written by us but by its own methods, as is
//!   everything where a fiber scheduler is set: they wait as Ruby waits (`rb_io_wait`), whether the
//!   descriptor blocks or not, and bytes that Ruby has buffered are not passed by. See
//!   `ruby/lib/bytewright/reader.rb`.
//! - **A lock of ours** is never waited for while Ruby's is kept, if its holder may call Ruby: both threads would wait for
//!   ever. So classes are looked up when they are defined (`class.rs`), not when they are first used.
//! - **Bytes of a String** are never touched without the lock: what is read without it goes to memory of
//!   ours, and what is written without it was copied. A String that is being filled while others have
//!   their turn is locked (`LockedString`) until the error, if there is one, is returned.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};

use bytewright::panics::{self, Panic};
use magnus::rb_sys::protect;
use magnus::{Error, Ruby};
use rb_sys::VALUE;

use crate::error::defect;

/// Work that runs without the lock, and its panic.
struct Unlocked<'a> {
    work: &'a dyn Fn(),
    panic: Option<Panic>,
}

/// Runs `work` without Ruby's lock, so that other Ruby threads run meanwhile. `wake` is called from
/// another thread when this one is to be interrupted; it must make `work` return soon. The answer is
/// `None` when an interrupt was pending and `work` did not run.
///
/// # Errors
/// InternalError where it panics; what an interrupt raises behind it, whose result is dropped then.
pub(crate) fn without_lock<T>(
    ruby: &Ruby,
    work: &dyn Fn() -> T,
    wake: &dyn Fn(),
) -> Result<Option<T>, Error> {
    run_unlocked(ruby, work, Waker::Call(wake))
}

/// Runs `work` without Ruby's lock, where it waits in a call of the system's that ends when a signal
/// comes: Ruby sends some when this thread is to be interrupted. Answer and errors are as above.
pub(crate) fn without_lock_until_signal<T>(
    ruby: &Ruby,
    work: &dyn Fn() -> T,
) -> Result<Option<T>, Error> {
    run_unlocked(ruby, work, Waker::Signal)
}

/// Runs `work` without Ruby's lock to its end, for work that nothing can wake and that ends soon by
/// itself. Where nothing can wake it, Ruby need not start a thread that could.
pub(crate) fn without_lock_to_the_end<T>(
    ruby: &Ruby,
    work: &dyn Fn() -> T,
) -> Result<Option<T>, Error> {
    run_unlocked(ruby, work, Waker::None)
}

/// Does `work` without Ruby's lock to its end, once, whatever interrupts are pending.
///
/// # Errors
/// The exception that an interrupt raises before it; InternalError if it panics.
pub(crate) fn to_the_end<T>(ruby: &Ruby, work: impl FnMut() -> T) -> Result<T, Error> {
    let work = RefCell::new(work);
    loop {
        match without_lock_to_the_end(ruby, &|| (work.borrow_mut())())? {
            Some(outcome) => return Ok(outcome),
            // An interrupt was pending: Ruby does what it has to, and raises it may be.
            None => ruby.thread_check_ints()?,
        }
    }
}

/// Tries to begin work that can be woken. Ruby starts a thread that could wake it, and where that takes longer
/// than a thread's share of time, as under GC.stress, an interrupt is pending each time; so after a few tries
/// the work is done without.
#[derive(Default)]
pub(crate) struct Tries {
    count: u32,
}

impl Tries {
    const MAX: u32 = 8;

    /// As [`without_lock`].
    pub(crate) fn without_lock<T>(
        &mut self,
        ruby: &Ruby,
        work: &dyn Fn() -> T,
        wake: &dyn Fn(),
    ) -> Result<Option<T>, Error> {
        self.count += 1;
        match self.count {
            ..Self::MAX => without_lock(ruby, work, wake),
            _ => without_lock_to_the_end(ruby, work),
        }
    }
}

/// Means to wake work that is to be interrupted.
enum Waker<'a> {
    None,
    Call(&'a dyn Fn()),
    Signal,
}

/// `RUBY_UBF_IO`, which Ruby's headers define as -1 and give no type: signals, until the work ends.
const BY_SIGNAL: usize = usize::MAX;

fn run_unlocked<T>(
    ruby: &Ruby,
    work: &dyn Fn() -> T,
    waker: Waker<'_>,
) -> Result<Option<T>, Error> {
    let result = Cell::new(None);
    run_without_result(ruby, &|| result.set(Some(work())), waker)?;
    Ok(result.into_inner())
}

/// Runs `work` without the lock, for any type of result.
fn run_without_result(ruby: &Ruby, work: &dyn Fn(), waker: Waker<'_>) -> Result<(), Error> {
    unsafe extern "C" fn run(data: *mut c_void) -> *mut c_void {
        // SAFETY: `data` is the `Unlocked` below, which outlives the call and is used by
        // nothing else.
        let unlocked = unsafe { &mut *data.cast::<Unlocked<'_>>() };
        unlocked.panic = panics::catch(unlocked.work).err();
        std::ptr::null_mut()
    }
    unsafe extern "C" fn wake_up(data: *mut c_void) {
        // SAFETY: `data` points to the `&dyn Fn()` below, which outlives the call.
        let wake = unsafe { &*data.cast::<&dyn Fn()>() };
        // A panic here would abort the process; nothing can be told about it either.
        let _ = panics::catch(wake);
    }
    let mut unlocked = Unlocked { work, panic: None };
    let mut wake: &dyn Fn() = &|| {};
    let unblock: rb_sys::rb_unblock_function_t = match waker {
        Waker::None => None,
        Waker::Call(call) => {
            wake = call;
            Some(wake_up)
        }
        // SAFETY: a pointer that is never called: Ruby knows it by its value, which is not null.
        Waker::Signal => unsafe {
            std::mem::transmute::<usize, rb_sys::rb_unblock_function_t>(BY_SIGNAL)
        },
    };
    // With INTR_FAIL it returns where an interrupt is pending. It raises all the same where it has started a thread that could
    // wake this one, which it does while there is no other: it waits for the end of that thread, and an interrupt may come.
    let left = protect(|| {
        // SAFETY: both functions have the C signatures that rb_nogvl wants and do not touch Ruby; their
        // data live in the frame around until it returns. What it raises goes from C to C up to `protect`.
        unsafe {
            rb_sys::rb_nogvl(
                Some(run),
                (&raw mut unlocked).cast(),
                unblock,
                (&raw mut wake).cast(),
                rb_sys::RB_NOGVL_INTR_FAIL as c_int,
            );
        }
        rb_sys::Qnil as VALUE
    });
    left?;
    unlocked.panic.map_or(Ok(()), |panic| Err(defect(ruby, &panic)))
}
