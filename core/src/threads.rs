//! Threads of the library, which no signal that the program handles is ever delivered to.
//!
//! The system hands a signal to any thread of the process that does not block it, and the handler runs there. Handlers of
//! a language's interpreter use what only its own threads have, so one that ran on a thread of the library would end the
//! process: every thread of the library blocks all signals but SIGBUS, and a thread is started nowhere but here.
//!
//! SIGBUS comes to the thread that touches a page which is not in its file any more. The system ends the process if that
//! thread blocks it; otherwise the handler of `files` makes an error of it, which is no interpreter's.
//!
//! A new thread blocks what the thread that starts it blocks. So that one blocks those signals until the new one is there:
//! there is no moment in which the new thread could take one, and those that come meanwhile wait.
//!
//! Threads are the system's own (POSIX `pthread_create`), not those of `std::thread`. One of these takes a lock of the
//! standard library when it begins and another time when it ends, which no fork waits for: a child that was forked in that
//! moment waits for ever when a thread ends in it. The C library takes care of its own locks at a fork.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Result;

/// Bytes of a thread's stack, as `std::thread` has them.
const STACK_LEN: usize = 2 << 20;

/// Bytes of a thread's name that the system keeps.
const NAME_MAX: usize = 15;

/// Thread whose end can be waited for. It goes on by itself when this is dropped.
pub struct JoinHandle<T> {
    thread: libc::pthread_t,
    outcome: Arc<Mutex<Option<Result<T>>>>,
}

// SAFETY: the number of a thread may be used in any thread. `pthread_t` is a pointer with some C libraries, which nobody follows.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: as above; a shared handle has no method.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended, and returns its result, or the value that it panicked with.
    pub fn join(self) -> Result<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the thread was neither waited for nor let go: only this method and `drop` do that, and both take the handle. A
        // thread that waits for itself is told so, and takes its outcome from where there is none yet.
        unsafe { libc::pthread_join(this.thread, ptr::null_mut()) };
        // SAFETY: `this` is never dropped, so that the field is read once.
        let outcome = unsafe { ptr::read(&raw const this.outcome) };
        let ended = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        ended.unwrap_or_else(|| Err(Box::new("the thread did not end")))
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        // SAFETY: as in `join`.
        unsafe { libc::pthread_detach(self.thread) };
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Starts a thread that blocks all signals but SIGBUS.
///
/// # Errors
/// Returns an error if the system gives no thread.
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    // SAFETY: the body, its result and all they refer to last.
    unsafe { start(name, body) }
}

/// Runs `body` on a thread that blocks all signals but SIGBUS, and `work` here, and waits for the ends of both. A panic of `body`
/// goes on here.
///
/// # Errors
/// Returns an error if the system gives no thread; neither has run then.
pub fn beside<R>(
    name: &str,
    body: impl FnOnce() + Send,
    work: impl FnOnce() -> R,
) -> io::Result<R> {
    /// Waits for the thread, also where a panic leaves `work`.
    struct Joining(Option<JoinHandle<()>>);
    impl Joining {
        fn end(&mut self) -> Result<()> {
            self.0.take().map_or(Ok(()), JoinHandle::join)
        }
    }
    impl Drop for Joining {
        fn drop(&mut self) {
            let _ = self.end();
        }
    }
    // SAFETY: what the body refers to lasts as long as this call, which does not end, nor unwind, before the thread has ended.
    let mut waiting = Joining(Some(unsafe { start(name, body) }?));
    let result = work();
    match waiting.end() {
        Ok(()) => Ok(result),
        Err(panic) => resume_unwind(panic),
    }
}

/// Work of a thread.
type Body<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Starts a thread.
///
/// # Safety
/// All that `body` and its result refer to lasts until the thread has ended.
unsafe fn start<'a, T: Send + 'a>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'a,
) -> io::Result<JoinHandle<T>> {
    let outcome = Arc::new(Mutex::new(None));
    let (of_thread, name) = (Arc::clone(&outcome), system_name(name));
    let body: Body<'a> = Box::new(move || {
        set_name(&name);
        let ended = catch_unwind(AssertUnwindSafe(body));
        *of_thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
    });
    let argument = Box::into_raw(Box::new(body));
    let _blocked = BlockedSignals::all_but_bus_errors();
    let (mut attributes, mut thread) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the attributes are made before they are used, and taken down once. `run` takes the argument over, which is a
    // `Body`, unless there is no thread; then it is still ours. Its lifetime is the promise of the caller. Where there is a thread, its
    // number was written.
    unsafe {
        libc::pthread_attr_init(attributes.as_mut_ptr());
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK_LEN);
        let code =
            libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), run, argument.cast());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if code != 0 {
            drop(Box::from_raw(argument));
            return Err(io::Error::from_raw_os_error(code));
        }
        Ok(JoinHandle { thread: thread.assume_init(), outcome })
    }
}

extern "C" fn run(argument: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: `start` gave a `Body` away, to this thread alone, with all that it refers to.
    let body = unsafe { Box::from_raw(argument.cast::<Body<'_>>()) };
    body();
    ptr::null_mut()
}

/// Returns as much of a name as the system keeps.
fn system_name(name: &str) -> CString {
    let end = name.bytes().take(NAME_MAX).take_while(|byte| *byte != 0 && byte.is_ascii()).count();
    CString::new(&name.as_bytes()[..end]).unwrap_or_default()
}

/// Names the calling thread, as `ps` and debuggers show it.
fn set_name(name: &CString) {
    // SAFETY: the name is text that ends in 0.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
    }
    #[cfg(not(target_os = "linux"))]
    let _ = name;
}

/// All signals but SIGBUS blocked in this thread until it is dropped; then those that were blocked before.
struct BlockedSignals {
    before: libc::sigset_t,
}

impl BlockedSignals {
    fn all_but_bus_errors() -> BlockedSignals {
        let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: both have room for a set. `sigfillset` fills the first, which `sigdelset` changes; `pthread_sigmask` fails
        // only for a number that is no way to change a set, so it fills the second.
        let before = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::sigdelset(all.as_mut_ptr(), libc::SIGBUS);
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            before.assume_init()
        };
        BlockedSignals { before }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: the set is one that `pthread_sigmask` answered, and null asks for no answer.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut())
        };
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[allow(clippy::unwrap_used)]
mod tests {
    //! Goal: a thread is never open to a signal but SIGBUS, and the one that starts it stays as open as it was.

    use super::*;

    /// The signals that the calling thread blocks, as the bits of a number.
    fn blocked() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap() & !OF_THE_C_LIBRARY
    }

    /// The two that the C library keeps for itself, and blocks in a thread that begins.
    const OF_THE_C_LIBRARY: u64 = 1 << 31 | 1 << 32;

    /// All but SIGBUS and those that cannot be blocked: SIGKILL, SIGSTOP, and those two.
    const ALL: u64 = !(1 << (libc::SIGBUS - 1) | 1 << 8 | 1 << 18 | OF_THE_C_LIBRARY);

    #[test]
    fn a_thread_blocks_all_signals_but_one_and_its_starter_what_it_blocked() {
        let before = blocked();
        assert_ne!(before, ALL);
        assert_eq!(spawn("bytewright", blocked).unwrap().join().unwrap(), ALL);
        assert_eq!(blocked(), before);
        let mut inside = 0;
        assert_eq!(beside("bytewright", || inside = blocked(), || 5).unwrap(), 5);
        assert_eq!(inside, ALL);
        assert_eq!(blocked(), before);
    }

    #[test]
    fn a_thread_of_a_thread_blocks_the_same() {
        let inner = || spawn("bytewright", blocked).unwrap().join().unwrap();
        assert_eq!(spawn("bytewright", inner).unwrap().join().unwrap(), ALL);
    }

    #[test]
    fn a_panic_of_a_thread_comes_to_who_waits_for_it() {
        let panicking = || -> u32 { resume_unwind(Box::new("gone")) };
        let told = spawn("bytewright", panicking).unwrap().join().unwrap_err();
        assert_eq!(told.downcast_ref::<&str>(), Some(&"gone"));
        let told = catch_unwind(|| beside("bytewright", || resume_unwind(Box::new("gone")), || ()));
        assert_eq!(told.unwrap_err().downcast_ref::<&str>(), Some(&"gone"));
    }

    #[test]
    fn a_panic_beside_a_thread_waits_for_its_end() {
        let (mut is_done, done) = (false, std::sync::Barrier::new(2));
        let body = || {
            done.wait();
            is_done = true;
        };
        let work = || {
            done.wait();
            resume_unwind(Box::new("gone"))
        };
        let told = catch_unwind(AssertUnwindSafe(|| beside::<()>("bytewright", body, work)));
        assert_eq!(told.unwrap_err().downcast_ref::<&str>(), Some(&"gone"));
        assert!(is_done);
    }

    #[test]
    fn a_thread_that_nobody_waits_for_goes_on_and_is_known_by_its_name() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let name = move || sender.send(std::fs::read_to_string("/proc/thread-self/comm").unwrap());
        drop(spawn("bytewright-table", name).unwrap());
        assert_eq!(receiver.recv().unwrap(), "bytewright-tabl\n");
    }
}
