//! Waiting and working without Ruby's lock.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What runs without the lock: the work, and its result.
struct Unlocked<'a, T> {
    work: &'a dyn Fn() -> T,
    result: Option<T>,
}

/// Runs `work` without Ruby's lock, so that other Ruby threads run meanwhile. `wake` is called from
/// another thread when this one is to be interrupted; it must make `work` return soon. The answer is
/// `None` when an interrupt was pending and `work` did not run, or panicked.
pub(crate) fn without_lock<T>(work: &dyn Fn() -> T, wake: &dyn Fn()) -> Option<T> {
    run_unlocked(work, Waker::Call(wake))
}

/// Runs `work` without Ruby's lock, where it waits in a call of the system's that ends when a signal
/// comes: Ruby sends some when this thread is to be interrupted. The answer is `None` as above.
pub(crate) fn without_lock_until_signal<T>(work: &dyn Fn() -> T) -> Option<T> {
    run_unlocked(work, Waker::Signal)
}

/// Runs `work` without Ruby's lock to its end, for work that nothing can wake and that ends soon by
/// itself. Where nothing can wake it, Ruby need not start a thread that could.
pub(crate) fn without_lock_to_the_end<T>(work: &dyn Fn() -> T) -> Option<T> {
    run_unlocked(work, Waker::None)
}

/// What wakes work that is to be interrupted.
enum Waker<'a> {
    None,
    Call(&'a dyn Fn()),
    Signal,
}

/// `RUBY_UBF_IO`, which Ruby's headers define as -1 and give no type: signals, until the work ends.
const BY_SIGNAL: usize = usize::MAX;

fn run_unlocked<T>(work: &dyn Fn() -> T, waker: Waker<'_>) -> Option<T> {
    unsafe extern "C" fn run<T>(data: *mut c_void) -> *mut c_void {
        // SAFETY: `data` is the `Unlocked` below, which outlives the call and is used by
        // nothing else.
        let unlocked = unsafe { &mut *data.cast::<Unlocked<'_, T>>() };
        unlocked.result = catch_unwind(AssertUnwindSafe(unlocked.work)).ok();
        std::ptr::null_mut()
    }
    unsafe extern "C" fn wake_up(data: *mut c_void) {
        // SAFETY: `data` points to the `&dyn Fn()` below, which outlives the call.
        let wake = unsafe { &*data.cast::<&dyn Fn()>() };
        // A panic here would abort the process; nothing can be told about it either.
        let _ = catch_unwind(AssertUnwindSafe(wake));
    }
    let mut unlocked = Unlocked { work, result: None };
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
    // SAFETY: both functions have the C signatures that rb_nogvl wants and do not touch Ruby; their
    // data live in this frame until it returns. With INTR_FAIL it returns instead of raising, so no
    // frame of ours is jumped over.
    unsafe {
        rb_sys::rb_nogvl(
            Some(run::<T>),
            (&raw mut unlocked).cast(),
            unblock,
            (&raw mut wake).cast(),
            rb_sys::RB_NOGVL_INTR_FAIL as c_int,
        );
    }
    unlocked.result
}
