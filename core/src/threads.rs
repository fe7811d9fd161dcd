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
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// Starts a thread that blocks all signals but SIGBUS.
///
/// # Errors
/// Returns an error if the system gives no thread.
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let _blocked = BlockedSignals::all_but_bus_errors();
    Builder::new().name(name.to_owned()).spawn(body)
}

/// Starts a thread that blocks all signals but SIGBUS and ends within `scope`.
///
/// # Errors
/// As for [`spawn`].
pub fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    body: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    let _blocked = BlockedSignals::all_but_bus_errors();
    Builder::new().name(name.to_owned()).spawn_scoped(scope, body)
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
        std::thread::scope(|scope| {
            let thread = spawn_scoped(scope, "bytewright", blocked).unwrap();
            assert_eq!(thread.join().unwrap(), ALL);
        });
        assert_eq!(blocked(), before);
    }

    #[test]
    fn a_thread_of_a_thread_blocks_the_same() {
        let inner = || spawn("bytewright", blocked).unwrap().join().unwrap();
        assert_eq!(spawn("bytewright", inner).unwrap().join().unwrap(), ALL);
    }
}
