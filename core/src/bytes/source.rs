//! Sources of raw bytes, and the handle that calls off a read that waits for them.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, SeekFrom};
use rustix::io::{Errno, retry_on_intr};

use super::read_at::{NonblockingSupport, read_at, try_read_at, try_read_slice_at};
use crate::error::{Error, ErrorKind, Result};

/// A door through which raw (perhaps compressed) bytes come in.
///
/// The methods with a default are hints that make a source faster or stoppable; leaving them out is
/// always right.
// A length that may be unknown has no `is_empty` to go with it.
#[allow(clippy::len_without_is_empty)]
pub trait Source: Send {
    /// Appends at most `limit` bytes to `into`, which has that much spare capacity, and returns how
    /// many; 0 is the end. It waits only while there is no byte at all.
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize>;

    /// Reads as [`Source::read`] does, but waits for nothing, a disk included; `None` if it would have to.
    fn try_read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<Option<usize>> {
        let _ = (into, limit);
        Ok(None)
    }

    /// Reads as [`Source::try_read`] does into memory of the caller, of which it writes as many of the
    /// first bytes as it returns. `None` also if this source only appends.
    fn try_read_slice(&mut self, into: &mut [MaybeUninit<u8>]) -> Result<Option<usize>> {
        let _ = into;
        Ok(None)
    }

    /// Goes to `offset` bytes from where it was first read, which may be beyond the end; `false` where
    /// that cannot be done.
    fn seek(&mut self, offset: u64) -> Result<bool> {
        let _ = offset;
        Ok(false)
    }

    /// The number of raw bytes there are in all at the moment, where that is known.
    fn len(&self) -> Option<u64> {
        None
    }

    /// The time of the last change of the file, in nanoseconds since 1970, where it is a file that has one.
    fn modified(&self) -> Option<i64> {
        None
    }

    /// Returns true if a read never has to wait for somebody else to write. Then pieces are filled up;
    /// otherwise what is there is handed on at once.
    fn is_nonblocking(&self) -> bool {
        false
    }

    /// Returns true if people can look up an offset in its bytes: not if they are made of something else.
    fn has_offsets(&self) -> bool {
        true
    }

    /// Skips up to `count` bytes without reading them; returns how many, 0 if unsupported.
    fn skip(&mut self, count: u64) -> Result<u64> {
        let _ = count;
        Ok(0)
    }

    /// The handle that ends a read of this source that waits.
    fn cancel(&self) -> Option<Cancel> {
        None
    }

    /// A second reader of the same bytes, at their beginning and with a place of its own, so that another thread can
    /// read them, too; nothing where that cannot be had. It can [seek](Source::seek).
    fn another(&self) -> Option<Box<dyn Source>> {
        None
    }
}

/// Calls off reads from another thread.
///
/// Clones are one handle. After [`Cancel::cancel`] every read fails with `ECANCELED`, the one that
/// waits at the moment included, until [`Cancel::reset`]; nothing is lost, so reading can go on then.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<CancelState>);

/// Equality of handles: clones are one handle.
impl PartialEq for Cancel {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cancel {}

#[derive(Debug, Default)]
struct CancelState {
    cancelled: AtomicBool,
    /// Input ends where it is.
    ended: AtomicBool,
    /// Made by the first read that has to wait: most files never need one.
    bell: Mutex<Option<Bell>>,
}

#[derive(Debug)]
struct Bell {
    reader: Arc<PipeReader>,
    writer: PipeWriter,
    rung: bool,
}

impl Cancel {
    /// A handle that nothing is attached to yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the read that waits, if one does, and refuses later ones.
    pub fn cancel(&self) {
        self.raise(&self.0.cancelled);
    }

    /// Ends the input, as if its writer had closed it: reads give what is there already, and then find the end.
    /// There is no way back.
    pub fn end(&self) {
        self.raise(&self.0.ended);
    }

    /// Sets a flag, and wakes the read that waits.
    fn raise(&self, flag: &AtomicBool) {
        let mut bell = self.bell();
        flag.store(true, Ordering::Release);
        if let Some(bell) = bell.as_mut().filter(|bell| !bell.rung) {
            // One byte into an empty pipe neither blocks nor fails while we hold its reader.
            bell.rung = bell.writer.write(&[1]).is_ok();
        }
    }

    /// Allows reading again.
    pub fn reset(&self) {
        let mut bell = self.bell();
        self.0.cancelled.store(false, Ordering::Release);
        if let Some(bell) = bell.as_mut().filter(|bell| bell.rung) {
            let mut rung = [0];
            bell.rung = (&*bell.reader).read(&mut rung).is_err();
        }
    }

    /// Returns true while reads are refused.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Returns true after [`Cancel::end`].
    pub fn is_ended(&self) -> bool {
        self.0.ended.load(Ordering::Acquire)
    }

    /// Returns true if `error` is that of a read that was called off: one that may be tried again.
    pub fn caused(error: &Error) -> bool {
        error.kind() == Self::KIND
    }

    const KIND: ErrorKind = ErrorKind::Io(Some(Errno::CANCELED.raw_os_error()));

    /// The error of a read that was called off.
    fn error() -> Error {
        Error::new(Self::KIND, "cannot read: the read was cancelled")
    }

    /// Fails once it was cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Self::error()) } else { Ok(()) }
    }

    fn bell(&self) -> MutexGuard<'_, Option<Bell>> {
        self.0.bell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something to read from `file`, the end included; `false` where the input was ended before.
    pub(crate) fn wait_for(&self, file: BorrowedFd<'_>) -> Result<bool> {
        loop {
            match self.wait_once(&[file], None)? {
                Waited::Ready => return Ok(true),
                Waited::Ended => return Ok(false),
                Waited::Nothing => {}
            }
        }
    }

    /// Waits for input of one of `files` or its end, but at most for `time`; `false` if neither came.
    pub(crate) fn wait_for_any(&self, files: &[BorrowedFd<'_>], time: Duration) -> Result<bool> {
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos() as _ };
        Ok(self.wait_once(files, Some(&time))? != Waited::Nothing)
    }

    fn wait_once(&self, files: &[BorrowedFd<'_>], time: Option<&Timespec>) -> Result<Waited> {
        let bell = self.listen()?;
        if self.is_ended() {
            return Ok(Waited::Ended);
        }
        let mut waited = vec![PollFd::new(&*bell, PollFlags::IN)];
        waited.extend(files.iter().map(|file| PollFd::new(file, PollFlags::IN)));
        match poll(&mut waited, time) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(io_error("wait for input", errno)),
        }
        let mut ready = waited.iter().map(|fd| !fd.revents().is_empty());
        let bell = ready.next() == Some(true);
        match (ready.any(|file| file), bell) {
            (_, true) if self.is_ended() => Ok(Waited::Ended),
            (_, true) => Err(Self::error()),
            (true, false) => Ok(Waited::Ready),
            (false, false) => Ok(Waited::Nothing),
        }
    }

    /// Returns a pipe to wait for beside the data: readable once cancelled or ended.
    fn listen(&self) -> Result<Arc<PipeReader>> {
        let mut bell = self.bell();
        // Under the lock: a cancel is either seen here, or finds the bell and rings it.
        self.check()?;
        if let Some(bell) = bell.as_ref() {
            return Ok(Arc::clone(&bell.reader));
        }
        let (reader, writer) =
            std::io::pipe().map_err(|error| Error::io("make a pipe to cancel with", &error))?;
        let reader = Arc::new(reader);
        *bell = Some(Bell { reader: Arc::clone(&reader), writer, rung: false });
        Ok(reader)
    }
}

/// Result of a wait for input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waited {
    /// There is something to read.
    Ready,
    /// The input was ended.
    Ended,
    /// Neither, when the time was over or a signal came.
    Nothing,
}

/// Bytes that are taken of a pipe at most once its input is ended: what the largest pipe holds, because who writes may
/// go on.
const LAST_BYTES_MAX: usize = 1 << 20;

/// A file, a FIFO, a device, a socket or standard input.
#[derive(Debug)]
pub struct FileSource {
    file: Arc<File>,
    /// Set for a regular file, which is read at places of our own: neither another handle of it nor a
    /// forked process moves us.
    regular: Option<Regular>,
    cancel: Cancel,
    /// Bytes that are taken of what is there when the input is ended.
    last: usize,
    /// Takes a read that must be shorter than the spare capacity it goes into.
    short: Vec<u8>,
}

/// Place of the reader in a regular file.
#[derive(Debug)]
struct Regular {
    /// Offset of the file when we got it.
    start: u64,
    position: u64,
    support: NonblockingSupport,
}

impl FileSource {
    /// Opens the file at `path` for reading. A FIFO opens at once; reading it waits for a writer.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let fd = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))
            .map_err(|errno| io_error("open", errno).in_file(&path.display().to_string()))?;
        Self::from_fd(fd).map_err(|error| error.in_file(&path.display().to_string()))
    }

    /// Reads standard input from where it is.
    pub fn stdin() -> Result<Self> {
        let fd = std::io::stdin().as_fd().try_clone_to_owned();
        Self::from_fd(fd.map_err(|error| Error::io("open standard input", &error))?)
    }

    /// Reads `fd` from where it is. Of a regular file, that place is not moved.
    pub fn from_fd(fd: OwnedFd) -> Result<Self> {
        let status = rustix::fs::fstat(&fd).map_err(|errno| io_error("stat", errno))?;
        let kind = FileType::from_raw_mode(status.st_mode);
        if kind == FileType::Directory {
            let number = Errno::ISDIR.raw_os_error();
            let message = "expected a file or a pipe, found a directory";
            return Err(Error::new(ErrorKind::Io(Some(number)), message));
        }
        let regular = match kind {
            FileType::RegularFile => {
                let start = rustix::fs::seek(&fd, SeekFrom::Current(0))
                    .map_err(|errno| io_error("seek", errno))?;
                Some(Regular { start, position: start, support: NonblockingSupport::Unknown })
            }
            _ => None,
        };
        let cancel = Cancel::new();
        let file = Arc::new(File::from(fd));
        Ok(FileSource { file, regular, cancel, last: LAST_BYTES_MAX, short: Vec::new() })
    }

    /// Returns true if it is a regular file, which can be read at any place and never waits but for a disk.
    pub fn is_regular(&self) -> bool {
        self.regular.is_some()
    }

    /// Starts at `offset` of a regular file, instead of where the file was.
    #[must_use]
    pub fn from_offset(mut self, offset: u64) -> Self {
        if let Some(regular) = &mut self.regular {
            regular.start = offset;
            regular.position = offset;
        }
        self
    }

    /// Sets `cancel` as the handle that calls off its reads, instead of one of its own.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// The size that a regular file has now: it may grow or be cut while it is read.
    fn size(&self) -> Option<u64> {
        self.regular.as_ref()?;
        let status = rustix::fs::fstat(&self.file).ok()?;
        // Files of /proc and /sys call themselves regular and empty.
        u64::try_from(status.st_size).ok().filter(|size| *size > 0)
    }

    /// Returns true if [`Cancel::wait_for`] would find something at once.
    fn is_ready(&self) -> Result<bool> {
        let mut waited = [PollFd::new(&self.file, PollFlags::IN)];
        match poll(&mut waited, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(_) => Ok(waited.iter().all(|fd| !fd.revents().is_empty())),
            Err(Errno::INTR) => Ok(false),
            Err(errno) => Err(io_error("wait for input", errno)),
        }
    }

    /// Reads a pipe or its like once into the whole spare capacity of `into`.
    fn read_spare(&mut self, into: &mut Vec<u8>) -> Result<usize> {
        loop {
            self.cancel.check()?;
            let is_last = !self.cancel.wait_for(self.file.as_fd())?;
            if is_last && (self.last == 0 || !self.is_ready()?) {
                return Ok(0);
            }
            match rustix::io::read(&self.file, spare_capacity(into)) {
                Ok(count) => {
                    self.last = self.last.saturating_sub(if is_last { count } else { 0 });
                    return Ok(count);
                }
                // Somebody else was faster; wait again.
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(errno) => return Err(io_error("read", errno)),
            }
        }
    }
}

impl Source for FileSource {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let spare = into.capacity() - into.len();
        if limit == 0 || spare == 0 {
            let message = format!("a read of {limit} bytes into room for {spare}");
            return Err(Error::internal(message));
        }
        if let Some(regular) = &mut self.regular {
            let count = loop {
                self.cancel.check()?;
                if self.cancel.is_ended() {
                    return Ok(0);
                }
                match read_at(&self.file, into, limit, regular.position) {
                    Err(Errno::INTR) => {}
                    read => break read.map_err(|errno| io_error("read", errno))?,
                }
            };
            regular.position += count as u64;
            return Ok(count);
        }
        if spare <= limit {
            return self.read_spare(into);
        }
        let mut short = std::mem::take(&mut self.short);
        short.clear();
        short.shrink_to(limit);
        short.reserve_exact(limit);
        let read = self.read_spare(&mut short);
        into.extend_from_slice(&short);
        self.short = short;
        read
    }

    fn try_read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<Option<usize>> {
        self.cancel.check()?;
        let Some(regular) = &mut self.regular else {
            // Who else reads from here may be faster, but then `read` can be called off.
            let is_ready = self.is_ready()? || self.cancel.is_ended();
            return if is_ready { self.read(into, limit).map(Some) } else { Ok(None) };
        };
        if self.cancel.is_ended() {
            return Ok(Some(0));
        }
        let (offset, support) = (regular.position, &mut regular.support);
        let read = try_read_at(&self.file, into, limit, offset, support);
        let count = read.map_err(|errno| io_error("read", errno))?;
        regular.position += count.unwrap_or(0) as u64;
        Ok(count)
    }

    fn try_read_slice(&mut self, into: &mut [MaybeUninit<u8>]) -> Result<Option<usize>> {
        self.cancel.check()?;
        let Some(regular) = &mut self.regular else { return Ok(None) };
        if self.cancel.is_ended() {
            return Ok(Some(0));
        }
        let (offset, support) = (regular.position, &mut regular.support);
        let read = try_read_slice_at(&self.file, into, offset, support);
        let count = read.map_err(|errno| io_error("read", errno))?;
        regular.position += count.unwrap_or(0) as u64;
        Ok(count)
    }

    fn seek(&mut self, offset: u64) -> Result<bool> {
        let Some(regular) = &mut self.regular else { return Ok(false) };
        let target =
            regular.start.checked_add(offset).filter(|target| i64::try_from(*target).is_ok());
        regular.position = target.ok_or_else(|| io_error("seek", Errno::INVAL))?;
        Ok(true)
    }

    fn len(&self) -> Option<u64> {
        let regular = self.regular.as_ref()?;
        Some(self.size()?.saturating_sub(regular.start))
    }

    fn modified(&self) -> Option<i64> {
        self.regular.as_ref()?;
        let modified = self.file.metadata().ok()?.modified().ok()?;
        match modified.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()).ok(),
            Err(before) => i64::try_from(before.duration().as_nanos()).ok().map(|before| -before),
        }
    }

    fn is_nonblocking(&self) -> bool {
        self.is_regular()
    }

    fn skip(&mut self, count: u64) -> Result<u64> {
        let (size, Some(regular)) = (self.size(), &mut self.regular) else { return Ok(0) };
        let count = count.min(size.unwrap_or(0).saturating_sub(regular.position));
        regular.position += count;
        Ok(count)
    }

    fn cancel(&self) -> Option<Cancel> {
        Some(self.cancel.clone())
    }

    fn another(&self) -> Option<Box<dyn Source>> {
        let start = self.regular.as_ref()?.start;
        let regular =
            Some(Regular { start, position: start, support: NonblockingSupport::Unknown });
        let (file, cancel) = (Arc::clone(&self.file), self.cancel.clone());
        let last = LAST_BYTES_MAX;
        Some(Box::new(FileSource { file, regular, cancel, last, short: Vec::new() }))
    }
}

fn io_error(action: &str, errno: Errno) -> Error {
    Error::io(action, &errno.into())
}
