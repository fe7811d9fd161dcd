//! One read of a regular file at a place, into memory that nobody has written to before; and the same
//! where it takes no waiting.
//!
//! Linux answers at once, with `preadv2` and `RWF_NOWAIT`, whether what is asked for is in memory. So
//! who holds a lock needs to give it up only for a disk, which is rare, and not for each copy from the
//! page cache, which takes less than handing a lock over and getting it back.
//!
//! Some file systems do not answer that question. Those that are memory themselves never make anybody
//! wait; of the others nothing is known, and each read of theirs counts as one that may wait.
#![allow(unsafe_code)]

use std::fs::File;
use std::mem::MaybeUninit;

use rustix::io::Errno;

/// Appends at most `limit` bytes of `file` from `offset` on to the spare capacity of `into`, and
/// returns how many; 0 is the end of the file.
pub(super) fn read_at(
    file: &File,
    into: &mut Vec<u8>,
    limit: usize,
    offset: u64,
) -> Result<usize, Errno> {
    append(into, limit, |spare| rustix::io::pread(file, spare, offset).map(|(read, _)| read.len()))
}

/// Appends bytes as [`read_at`] does, without waiting; `None` if it would wait, or might.
pub(super) fn try_read_at(
    file: &File,
    into: &mut Vec<u8>,
    limit: usize,
    offset: u64,
    support: &mut NonblockingSupport,
) -> Result<Option<usize>, Errno> {
    let mut is_there = true;
    let count = append(into, limit, |spare| {
        let count = try_read_slice_at(file, spare, offset, support)?;
        is_there = count.is_some();
        Ok(count.unwrap_or(0))
    })?;
    Ok(is_there.then_some(count))
}

/// Reads as [`try_read_at`] does, but into any memory; writes as many of its first bytes as it returns.
pub(super) fn try_read_slice_at(
    file: &File,
    into: &mut [MaybeUninit<u8>],
    offset: u64,
    support: &mut NonblockingSupport,
) -> Result<Option<usize>, Errno> {
    if *support == NonblockingSupport::Unknown {
        match read_now(file, into, offset) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                *support = NonblockingSupport::of(file)
            }
            Err(Errno::AGAIN) => return Ok(None),
            answer => return answer.map(Some),
        }
    }
    match support {
        NonblockingSupport::IsMemory => {
            rustix::io::pread(file, into, offset).map(|(read, _)| Some(read.len()))
        }
        NonblockingSupport::Unknown | NonblockingSupport::MayWait => Ok(None),
    }
}

/// Support of a file system for reads that do not wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NonblockingSupport {
    /// It says so, as far as we know.
    Unknown,
    /// It keeps its files in memory, and in nothing else.
    IsMemory,
    /// Reads may wait.
    MayWait,
}

/// The numbers of Linux's file systems in memory: tmpfs and ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

impl NonblockingSupport {
    #[cfg(target_os = "linux")]
    fn of(file: &File) -> NonblockingSupport {
        match rustix::fs::fstatfs(file) {
            Ok(status) if IN_MEMORY.contains(&(status.f_type as u64 & 0xffff_ffff)) => {
                NonblockingSupport::IsMemory
            }
            _ => NonblockingSupport::MayWait,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: &File) -> NonblockingSupport {
        NonblockingSupport::MayWait
    }
}

/// Lets `read` write to at most `limit` bytes of the spare capacity, and adds those that it wrote.
fn append(
    into: &mut Vec<u8>,
    limit: usize,
    read: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let spare = into.spare_capacity_mut();
    let room = spare.len().min(limit);
    let count = read(&mut spare[..room])?.min(room);
    // SAFETY: both callers answer the number of bytes that the system wrote to the start of the spare
    // capacity, which is no more than there is.
    unsafe { into.set_len(into.len() + count) };
    Ok(count)
}

/// Reads what the page cache has: `EAGAIN` where it does not have the first byte.
#[cfg(target_os = "linux")]
fn read_now(file: &File, into: &mut [MaybeUninit<u8>], offset: u64) -> Result<usize, Errno> {
    use std::os::fd::AsRawFd;
    loop {
        let piece = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        // The offset goes as its two halves, of which a system of 64 bits takes the first alone.
        let (low, high) = (offset as libc::c_long, (offset >> 32) as libc::c_long);
        // SAFETY: the system writes to the one piece of memory that it is told of, at most its length,
        // and has done so when it returns. rustix has this call only for memory that was written to.
        let count = unsafe {
            libc::syscall(
                libc::SYS_preadv2,
                file.as_raw_fd(),
                &raw const piece,
                1,
                low,
                high,
                libc::RWF_NOWAIT,
            )
        };
        match usize::try_from(count) {
            Ok(count) => return Ok(count),
            Err(_) => match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                errno => return Err(errno.map_or(Errno::IO, Errno::from_raw_os_error)),
            },
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn read_now(_: &File, _: &mut [MaybeUninit<u8>], _: u64) -> Result<usize, Errno> {
    Err(Errno::NOSYS)
}
