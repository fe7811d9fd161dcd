//! Calls to the system that a shared area needs: locks on single bytes of an open file, which end with all processes that
//! have it, and sleep until a word changes. This file may hold `unsafe`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::files::ProcessMark;

/// Byte that who opens or closes a handle has locked, beyond the data of any file.
pub(super) const OPENING_BYTE: u64 = HANDLE_BYTES - 1;

/// First of the bytes of the handles.
const HANDLE_BYTES: u64 = 1 << 62;

/// Returns the byte that a handle has locked.
pub(super) fn handle_byte(index: usize) -> u64 {
    HANDLE_BYTES + index as u64
}

/// Locks of one open file. Forked children have it open, too, so those of the process go when this is dropped, not only
/// when the last of them closes it.
#[derive(Debug)]
pub(super) struct ByteLocks {
    file: File,
    mark: ProcessMark,
    threads: Mutex<()>,
}

impl ByteLocks {
    pub(super) fn new(file: File) -> ByteLocks {
        ByteLocks { file, mark: ProcessMark::new(), threads: Mutex::new(()) }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Keeps out the other threads of this process that use the same open file, which no lock on a byte does.
    pub(super) fn exclude_threads(&self) -> MutexGuard<'_, ()> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks a byte; false if another open file has it.
    pub(super) fn try_lock(&self, byte: u64) -> io::Result<bool> {
        match self.ask(SET_LOCK, LockRange { first: byte, count: 1, is_free: false }) {
            Ok(_) => Ok(true),
            Err(error) if is_taken(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Unlocks bytes; a count of 0 is for all from the first on.
    pub(super) fn unlock(&self, first: u64, count: u64) -> io::Result<()> {
        self.ask(SET_LOCK, LockRange { first, count, is_free: true }).map(drop)
    }

    /// Returns true if another open file has any of the bytes locked.
    pub(super) fn is_locked(&self, first: u64, count: u64) -> io::Result<bool> {
        self.ask(GET_LOCK, LockRange { first, count, is_free: false }).map(|is_free| !is_free)
    }

    /// Returns true if another open file has the byte of any handle locked.
    pub(super) fn is_any_handle_locked(&self, handles: usize) -> io::Result<bool> {
        self.is_locked(HANDLE_BYTES, handles as u64)
    }

    /// Does `command`, and says whether the range is free in its answer.
    #[cfg(target_os = "linux")]
    fn ask(&self, command: libc::c_int, range: LockRange) -> io::Result<bool> {
        #[cfg(test)]
        SYSTEM_CALLS.set(SYSTEM_CALLS.get() + 1);
        let place = |value: u64| {
            libc::off_t::try_from(value).map_err(|_| io::Error::from(io::ErrorKind::Unsupported))
        };
        let kind = if range.is_free { libc::F_UNLCK } else { libc::F_WRLCK };
        let mut asked = libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: place(range.first)?,
            l_len: place(range.count)?,
            l_pid: 0,
        };
        loop {
            // SAFETY: the file is open, and `asked` is a lock that these commands read and write and that nobody else has.
            if unsafe { libc::fcntl(self.file.as_raw_fd(), command, &raw mut asked) } != -1 {
                return Ok(asked.l_type == libc::F_UNLCK as libc::c_short);
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn ask(&self, _command: libc::c_int, _range: LockRange) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Drop for ByteLocks {
    fn drop(&mut self) {
        if self.mark.is_here() {
            // Where it cannot, there is no lock to undo.
            let _ = self.unlock(OPENING_BYTE, 0);
        }
    }
}

struct LockRange {
    first: u64,
    count: u64,
    is_free: bool,
}

#[cfg(target_os = "linux")]
const SET_LOCK: libc::c_int = libc::F_OFD_SETLK;
#[cfg(target_os = "linux")]
const GET_LOCK: libc::c_int = libc::F_OFD_GETLK;
#[cfg(not(target_os = "linux"))]
const SET_LOCK: libc::c_int = 0;
#[cfg(not(target_os = "linux"))]
const GET_LOCK: libc::c_int = 0;

fn is_taken(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES))
}

/// Sleeps until somebody wakes it, at once where the lower half of the word is not `low`. True if the time was over.
#[cfg(target_os = "linux")]
pub(super) fn sleep_while(word: &AtomicU64, low: u32, timeout: Duration) -> bool {
    #[cfg(test)]
    SYSTEM_CALLS.set(SYSTEM_CALLS.get() + 1);
    let time = libc::timespec {
        // 68 years, because the type has no name that all systems keep.
        tv_sec: timeout.as_secs().try_into().unwrap_or(i32::MAX.into()),
        tv_nsec: timeout.subsec_nanos() as _,
    };
    // SAFETY: the half is four aligned bytes of a word that is borrowed, which the system compares and nothing more; the
    // time is read before the call returns, and the other arguments are not used.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            lower_half(word),
            libc::FUTEX_WAIT,
            low,
            &raw const time,
            std::ptr::null::<u32>(),
            0,
        )
    };
    if result == 0 {
        return false;
    }
    match io::Error::last_os_error().raw_os_error() {
        Some(libc::ETIMEDOUT) => true,
        Some(libc::EAGAIN | libc::EINTR) => false,
        // Who cannot sleep so must not spin.
        _ => {
            std::thread::sleep(timeout.min(Duration::from_millis(1)));
            true
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn sleep_while(_word: &AtomicU64, _low: u32, timeout: Duration) -> bool {
    std::thread::sleep(timeout.min(Duration::from_millis(1)));
    true
}

/// Wakes one of those who sleep on the word.
#[cfg(target_os = "linux")]
pub(super) fn wake_one(word: &AtomicU64) {
    #[cfg(test)]
    SYSTEM_CALLS.set(SYSTEM_CALLS.get() + 1);
    // SAFETY: the address, of a word that is borrowed, only says whom to wake.
    unsafe {
        libc::syscall(libc::SYS_futex, lower_half(word), libc::FUTEX_WAKE, 1);
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn wake_one(_word: &AtomicU64) {}

/// Returns the address of the lower 32 bits of a word.
#[cfg(target_os = "linux")]
fn lower_half(word: &AtomicU64) -> *const u32 {
    let half = usize::from(cfg!(target_endian = "big"));
    word.as_ptr().cast::<u32>().cast_const().wrapping_add(half)
}

#[cfg(test)]
thread_local! {
    /// Calls that this thread made from here.
    pub(super) static SYSTEM_CALLS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Runs `child` in a forked process, and says whether it was content.
#[cfg(test)]
#[cfg(target_os = "linux")]
pub(super) fn in_forked_child(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs `child` and ends without what the test harness has to do at the end. An alarm ends one that
    // waits for what no thread of it holds.
    unsafe {
        match libc::fork() {
            0 => {
                libc::alarm(30);
                let is_content = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
                libc::_exit(i32::from(!is_content.unwrap_or(false)))
            }
            process => {
                let mut status = -1;
                assert_eq!(libc::waitpid(process, &raw mut status, 0), process);
                status == 0
            }
        }
    }
}
