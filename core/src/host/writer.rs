//! Writing for hosts: bytes that are gathered, and where they go.
//!
//! Bytes leave the gathered ones when they are written, so neither an error nor an interrupt loses or doubles any. Who
//! writes has the turn until it is done, closing included, so that nothing of another thread comes between. A signal's
//! handler, or the object that is written to, may come back in the middle of that: it is refused, because it could not
//! wait for what waits for it.

use std::cell::{Cell, RefCell};
use std::io::SeekFrom;
use std::sync::{Mutex, PoisonError};

use super::failure::Failure;
use super::stream_host::{EINVAL, ESPIPE, StreamHost, Whence, no_place};
use super::turn::{Taken, Turn};
use crate::error::{Error, ErrorKind, Result as CoreResult};
use crate::files::{FileWriter, ProcessMark};

// Bound (Streams): buffer of a Writer = 128 KiB.
/// Bytes that are gathered before they are written. Giving a host's lock up for them costs little then.
pub const GATHERED_MAX: usize = 128 << 10;

/// A stream that is written, shared by the threads of a host that has one lock, or used by one thread.
///
/// Dropped, it writes what is left, as files of most languages do, where the file is not one that only finishing makes
/// whole.
///
/// ```
/// use bytewright::files::FileWriter;
/// use bytewright::host::{Blocking, HostWriter};
/// # fn main() -> bytewright::Result<()> {
/// # let path = std::env::temp_dir().join(format!("bytewright-doc-{}", std::process::id()));
/// let writer = HostWriter::of_file(FileWriter::open(&path)?);
/// writer.put(&Blocking, &258_u16.to_be_bytes())?;
/// writer.close(&Blocking, false)?;
/// assert_eq!(std::fs::read(&path).ok(), Some(vec![1, 2]));
/// # let _ = std::fs::remove_file(path);
/// # Ok(())
/// # }
/// ```
pub struct HostWriter<C> {
    gathered: RefCell<Vec<u8>>,
    /// Nothing where bytes go to an object of the host's.
    file: RefCell<Option<FileWriter>>,
    object: TargetObject,
    name: String,
    is_closed: Cell<bool>,
    turn: Turn<C>,
    /// A forked child has a copy of what the parent gathered, and must not write it, too.
    process: ProcessMark,
}

/// Position of an object of the host's.
#[derive(Default)]
struct TargetObject {
    /// Position at first, if the object can seek.
    origin: Option<u64>,
    /// Position of the next byte, counted from there.
    position: Cell<u64>,
    /// True if it may be elsewhere, and has to go back there before it is given anything.
    is_elsewhere: Cell<bool>,
}

/// Who may use a writer.
#[derive(PartialEq, Eq)]
enum WriterState {
    Open,
    Closed,
    /// The parent of this process, which was forked.
    TheParents,
}

impl<C> Drop for HostWriter<C> {
    fn drop(&mut self) {
        let is_open = self.state() == WriterState::Open;
        let (file, gathered) = (self.file.get_mut(), self.gathered.get_mut());
        if let Some(file) = file.as_mut().filter(|file| is_open && !file.replaces())
            && !gathered.is_empty()
        {
            // Nobody is there any more to be told.
            let _ = file.write(gathered);
        }
    }
}

impl<C> HostWriter<C> {
    /// Every use asks this first.
    #[inline]
    fn state(&self) -> WriterState {
        match self.is_closed.get() {
            true => WriterState::Closed,
            false if self.process.is_here() => WriterState::Open,
            false => WriterState::TheParents,
        }
    }
}

impl<C: Clone> HostWriter<C> {
    /// Writes a file.
    pub fn of_file(file: FileWriter) -> Self {
        let name = file.name().to_owned();
        Self::new(Some(file), TargetObject::default(), name)
    }

    /// Writes to an object of the host's, which errors call `name`, and which was at `origin` if it can be told to go
    /// elsewhere.
    pub fn of_object(origin: Option<u64>, name: &str) -> Self {
        Self::new(None, TargetObject { origin, ..TargetObject::default() }, name.to_owned())
    }

    fn new(file: Option<FileWriter>, object: TargetObject, name: String) -> Self {
        HostWriter {
            gathered: RefCell::new(Vec::with_capacity(GATHERED_MAX)),
            file: RefCell::new(file),
            object,
            name,
            is_closed: Cell::new(false),
            turn: Turn::default(),
            process: ProcessMark::new(),
        }
    }

    /// Whose turn it is.
    pub fn turn(&self) -> &Turn<C> {
        &self.turn
    }

    /// Returns its name in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true after it was closed.
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    fn check_open<H: StreamHost<Caller = C>>(&self, host: &H) -> Result<(), H::Error> {
        let message = match self.state() {
            WriterState::Open => return Ok(()),
            WriterState::Closed => "closed stream",
            WriterState::TheParents => "opened by another process; open it again after fork",
        };
        Err(host.error(Error::new(ErrorKind::Closed, message)))
    }

    /// Puts the bytes of a value behind those that are gathered, where there is room and nobody is writing.
    #[inline]
    pub fn try_put(&self, value: &[u8]) -> bool {
        if self.turn.is_taken() || self.state() != WriterState::Open {
            return false;
        }
        let Ok(mut gathered) = self.gathered.try_borrow_mut() else { return false };
        let has_room = gathered.len() + value.len() <= GATHERED_MAX;
        if has_room {
            gathered.extend_from_slice(value);
        }
        has_room
    }

    /// Puts the bytes of a value, at most [`GATHERED_MAX`], behind those that are gathered, which are written first where
    /// there is no room.
    ///
    /// # Errors
    /// `Closed`; `Lock` where this very thread writes; what the system or the object refuses, and what is raised
    /// meanwhile. The value is not put then, and what was not written is gathered still.
    pub fn put<H: StreamHost<Caller = C>>(&self, host: &H, value: &[u8]) -> Result<(), H::Error> {
        while !self.try_put(value) {
            if value.len() > GATHERED_MAX {
                let found = value.len() as u64;
                return Err(host.error(Error::limit("a value", GATHERED_MAX as u64, found)));
            }
            self.in_turn(host, || self.write_gathered(host))?;
        }
        Ok(())
    }

    /// Does `work` on a writer that is open, while nobody else uses it.
    fn in_turn<H: StreamHost<Caller = C>>(
        &self,
        host: &H,
        work: impl FnOnce() -> Result<(), H::Error>,
    ) -> Result<(), H::Error> {
        match self.in_turn_if_open(host, work)? {
            true => Ok(()),
            false => self.check_open(host),
        }
    }

    /// Does `work` as [`Self::in_turn`] does, if it is open; whether it was.
    fn in_turn_if_open<H: StreamHost<Caller = C>>(
        &self,
        host: &H,
        work: impl FnOnce() -> Result<(), H::Error>,
    ) -> Result<bool, H::Error> {
        if self.state() != WriterState::Open {
            return Ok(false);
        }
        let raised = |failure: Failure<H::Error>| failure.into_host(host);
        if self.turn.take(host).map_err(raised)? == Taken::Already {
            return Err(self.busy(host));
        }
        // Whoever had the turn before may have closed it.
        let is_open = self.state() == WriterState::Open;
        let outcome = if is_open { work().map(|()| true) } else { Ok(false) };
        self.turn.give_back(host).map_err(raised)?;
        outcome
    }

    fn busy<H: StreamHost<Caller = C>>(&self, host: &H) -> H::Error {
        let message = "expected an idle writer, found one that this thread is already using: a signal handler \
                       came while it writes, or the object that it writes to uses it";
        host.error(Error::new(ErrorKind::Lock, message))
    }

    fn write_gathered<H: StreamHost<Caller = C>>(&self, host: &H) -> Result<(), H::Error> {
        while !self.gathered.borrow().is_empty() {
            if self.file.borrow().is_some() {
                self.with_file(host, FileWriter::write)?;
            } else {
                self.return_object(host)?;
                host.write_from(self)?;
            }
        }
        Ok(())
    }

    /// Does `work` with the file, where there is one, and the gathered bytes.
    fn with_file<H: StreamHost<Caller = C>>(
        &self,
        host: &H,
        work: impl Fn(&mut FileWriter, &mut Vec<u8>) -> CoreResult<()> + Sync,
    ) -> Result<(), H::Error> {
        let (mut file, mut gathered) = (self.file.borrow_mut(), self.gathered.borrow_mut());
        let Some(file) = file.as_mut() else { return Ok(()) };
        let both = Mutex::new((file, &mut *gathered));
        let outcome = host.wait_to_the_end(&|| {
            let mut both = both.lock().unwrap_or_else(PoisonError::into_inner);
            let (file, gathered) = &mut *both;
            work(file, gathered)
        })?;
        outcome.map_err(|error| host.error(error))
    }

    /// Writes what is gathered, and has an object handed on what it was given; with `sync`, returns when that will survive
    /// a power cut.
    fn write_through<H: StreamHost<Caller = C>>(
        &self,
        host: &H,
        sync: bool,
    ) -> Result<(), H::Error> {
        self.write_gathered(host)?;
        if self.file.borrow().is_none() {
            return host.flush(sync);
        }
        if sync { self.with_file(host, |file, _| file.sync()) } else { Ok(()) }
    }

    /// Shows the first bytes that are gathered, at most `count`.
    pub fn gathered<R>(&self, count: usize, show: impl FnOnce(&[u8]) -> R) -> R {
        let gathered = self.gathered.borrow();
        show(gathered.get(..count).unwrap_or(&gathered))
    }

    /// So many of them went to the object.
    pub fn forget(&self, count: usize) {
        let mut gathered = self.gathered.borrow_mut();
        let count = count.min(gathered.len());
        gathered.drain(..count);
        self.object.position.set(self.object.position.get() + count as u64);
    }

    /// Hands all that is gathered to the system, or to the object; with `sync`, returns when it will survive a power cut.
    ///
    /// # Errors
    /// As for [`HostWriter::put`].
    pub fn flush<H: StreamHost<Caller = C>>(&self, host: &H, sync: bool) -> Result<(), H::Error> {
        self.in_turn(host, || self.write_through(host, sync))
    }

    /// Flushes it, and closes it if that works; does nothing if it is closed. A forked child's is closed, and writes
    /// nothing.
    ///
    /// # Errors
    /// As for [`HostWriter::put`]; what was not written is gathered still, and it can be closed again.
    pub fn close<H: StreamHost<Caller = C>>(&self, host: &H, sync: bool) -> Result<(), H::Error> {
        self.if_open_and_here(|| {
            let closed = self.in_turn_if_open(host, || {
                self.write_through(host, sync)?;
                self.drop_all(host)
            });
            closed.map(drop)
        })
    }

    /// Writes what is gathered, replaces the other file with this one, and closes it.
    ///
    /// # Errors
    /// As for [`HostWriter::put`]; it is open still.
    pub fn finish_replacement<H: StreamHost<Caller = C>>(&self, host: &H) -> Result<(), H::Error> {
        self.in_turn(host, || {
            self.write_gathered(host)?;
            self.with_file(host, |file, _| file.finish())?;
            self.drop_all(host)
        })
    }

    /// Closes it, and drops what is gathered still, and a file that did not become whole.
    ///
    /// # Errors
    /// `Lock` where this very thread writes; what is raised meanwhile.
    pub fn abandon<H: StreamHost<Caller = C>>(&self, host: &H) -> Result<(), H::Error> {
        self.if_open_and_here(|| self.in_turn_if_open(host, || self.drop_all(host)).map(drop))
    }

    /// Does `work` on a writer that is open, but in a forked child only closes it, and touches nothing: what is gathered is
    /// the parent's, and a thread of the parent may have been writing it.
    fn if_open_and_here<E>(&self, work: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        match self.state() {
            WriterState::Open => return work(),
            WriterState::Closed => {}
            WriterState::TheParents => self.is_closed.set(true),
        }
        Ok(())
    }

    fn drop_all<H: StreamHost<Caller = C>>(&self, host: &H) -> Result<(), H::Error> {
        self.is_closed.set(true);
        self.gathered.borrow_mut().clear();
        let file = Mutex::new(self.file.borrow_mut().take());
        host.wait_to_the_end(&|| drop(file.lock().unwrap_or_else(PoisonError::into_inner).take()))
    }

    /// Returns the position of the next byte.
    ///
    /// # Errors
    /// `Closed`; `Lock` where this very thread writes; what is raised while it waits for another one.
    pub fn position<H: StreamHost<Caller = C>>(&self, host: &H) -> Result<u64, H::Error> {
        self.check_open(host)?;
        if !self.turn.is_taken() || self.turn.is_mine(host)? {
            return self.position_at_rest(host);
        }
        let mut position = 0;
        self.in_turn(host, || {
            position = self.position_at_rest(host)?;
            Ok(())
        })?;
        Ok(position)
    }

    fn position_at_rest<H: StreamHost<Caller = C>>(&self, host: &H) -> Result<u64, H::Error> {
        let (Ok(file), Ok(gathered)) = (self.file.try_borrow(), self.gathered.try_borrow()) else {
            return Err(self.busy(host));
        };
        Ok(match file.as_ref() {
            Some(file) => file.position(gathered.len()),
            None => self.object.position.get() + gathered.len() as u64,
        })
    }

    /// Writes what is gathered, and goes to the place `offset` bytes from another.
    ///
    /// # Errors
    /// `Io` with `ESPIPE` where an object goes nowhere else; with `EINVAL` where the place is before the beginning; those
    /// of [`HostWriter::put`].
    pub fn go<H: StreamHost<Caller = C>>(
        &self,
        host: &H,
        whence: Whence,
        offset: i64,
    ) -> Result<(), H::Error> {
        self.in_turn(host, || {
            self.write_gathered(host)?;
            if let Some(file) = self.file.borrow_mut().as_mut() {
                return go_in_file(file, whence, offset).map_err(|error| host.error(error));
            }
            self.go_in_object(host, whence, offset)
        })
    }

    /// The object goes to the place, or stays where it is.
    fn go_in_object<H: StreamHost<Caller = C>>(
        &self,
        host: &H,
        whence: Whence,
        offset: i64,
    ) -> Result<(), H::Error> {
        let refused = |number| host.error(no_place(number, &self.name));
        let object = &self.object;
        let origin = object.origin.ok_or_else(|| refused(ESPIPE))?;
        let base = match whence {
            Whence::Beginning => 0,
            Whence::Here => object.position.get(),
            Whence::End => {
                object.is_elsewhere.set(true);
                let end = host.seek(SeekFrom::End(0))?.ok_or_else(|| refused(ESPIPE))?;
                end.saturating_sub(origin)
            }
        };
        let target = base.checked_add_signed(offset).ok_or_else(|| refused(EINVAL));
        let Ok(target) = target else {
            self.return_object(host)?;
            return target.map(drop);
        };
        object.is_elsewhere.set(true);
        host.seek(SeekFrom::Start(origin.saturating_add(target)))?
            .ok_or_else(|| refused(ESPIPE))?;
        object.position.set(target);
        object.is_elsewhere.set(false);
        Ok(())
    }

    /// Has the object go where the next byte goes, when going elsewhere did not come to its end.
    fn return_object<H: StreamHost<Caller = C>>(&self, host: &H) -> Result<(), H::Error> {
        let object = &self.object;
        if let Some(origin) = object.origin.filter(|_| object.is_elsewhere.get()) {
            host.seek(SeekFrom::Start(origin.saturating_add(object.position.get())))?;
            object.is_elsewhere.set(false);
        }
        Ok(())
    }
}

fn go_in_file(file: &mut FileWriter, whence: Whence, offset: i64) -> CoreResult<()> {
    let place = match whence {
        // No place is so far before the beginning, and the file says so in its words.
        Whence::Beginning => SeekFrom::Start(u64::try_from(offset).unwrap_or(u64::MAX)),
        Whence::Here => SeekFrom::Current(offset),
        Whence::End => SeekFrom::End(offset),
    };
    file.seek(place).map(drop)
}
