//! One operation on a reader, from its first look at what is buffered until it has taken its bytes.
//!
//! It consists of steps that wait for nothing (`ByteStream::try_fill` and its like). Where a step would have to wait,
//! the operation takes the reader's turn, which others wait for and which it keeps to its end, and reads more: by a
//! read that waits where the input is a file of ours, by the host where it is an object. An operation takes its bytes
//! when it has them all, so one that is interrupted has taken none.

use std::cell::Cell;
use std::io::SeekFrom;
use std::sync::{Mutex, PoisonError};

use super::super::stream_host::StreamHost;
use super::super::turn::Taken;
use super::{HostReader, SourceObject, busy};
use crate::bytes::{ByteStream, Compression, Fill};
use crate::error::{Error, ErrorKind, Result as CoreResult};

/// Bytes that one step makes buffered, so that a step never takes long.
pub(super) const STEP_MAX: usize = 1 << 20;

/// Outcome of a step.
pub(super) enum OperationStep<R> {
    Done(R),
    /// It is not done, and may go on when interrupts have had their turn.
    Later,
    /// It needs more than there is without waiting.
    WouldWait,
}

/// An operation that goes on.
pub struct Operation<'a, H: StreamHost> {
    pub(super) reader: &'a HostReader<H::Caller>,
    pub(super) host: &'a H,
    has_turn: Cell<bool>,
}

impl<H: StreamHost> Drop for Operation<'_, H> {
    fn drop(&mut self) {
        if self.has_turn.get() {
            self.reader.forget_stream_if_closed(self.host);
            // A turn that is this caller's can be given back.
            let _ = self.reader.turn.give_back(self.host);
        }
    }
}

impl<'a, H: StreamHost> Operation<'a, H> {
    pub(super) fn begin(reader: &'a HostReader<H::Caller>, host: &'a H) -> Result<Self, H::Error> {
        let operation = Operation { reader, host, has_turn: Cell::new(false) };
        if reader.turn.is_taken() {
            operation.take_turn()?;
        }
        operation.with_stream(|stream| {
            stream.recheck_end();
            Ok(())
        })?;
        Ok(operation)
    }

    /// Takes the reader's turn, before others can run.
    pub(super) fn take_turn(&self) -> Result<(), H::Error> {
        if self.has_turn.get() {
            return Ok(());
        }
        match self.reader.turn.take(self.host) {
            Ok(Taken::Already) => return Err(busy(self.host)),
            Ok(Taken::Now | Taken::AfterFork) => self.has_turn.set(true),
            Err(failure) => return Err(failure.into_host(self.host)),
        }
        Ok(())
    }

    /// Does something with the stream that needs no waiting.
    ///
    /// # Errors
    /// Those of `work`; `Closed`.
    pub fn with_stream<R>(
        &self,
        work: impl FnOnce(&mut ByteStream) -> CoreResult<R>,
    ) -> Result<R, H::Error> {
        self.reader.forget_stream_if_closed(self.host);
        // While the host makes an error, others may use the stream.
        self.in_stream(work).map_err(|error| self.host.error(error))
    }

    fn in_stream<R>(&self, work: impl FnOnce(&mut ByteStream) -> CoreResult<R>) -> CoreResult<R> {
        // Within a process, the thread that borrowed it has the turn.
        let Ok(mut stream) = self.reader.stream.try_borrow_mut() else {
            return Err(closed(
                "a reader that another process was reading; open it again after fork",
            ));
        };
        work(stream.as_mut().ok_or_else(|| closed("closed stream"))?)
    }

    /// Takes `step` until it is done, and waits between steps where they say so.
    pub(super) fn run<R>(
        &self,
        mut step: impl FnMut(&mut ByteStream) -> CoreResult<OperationStep<R>>,
    ) -> Result<R, H::Error> {
        loop {
            let taken = self.with_stream(|stream| {
                let taken = step(stream);
                self.host.report_memory(stream.memory_bytes());
                taken
            });
            match taken? {
                OperationStep::Done(result) => return Ok(result),
                OperationStep::Later => self.let_interrupts()?,
                OperationStep::WouldWait => self.wait_for_input()?,
            }
        }
    }

    /// Lets the host do what interrupts want, and others run, who wait for the reader then.
    ///
    /// # Errors
    /// Returns the error that an interrupt raises; `Lock` if another operation of this very thread goes on.
    pub fn let_interrupts(&self) -> Result<(), H::Error> {
        self.take_turn()?;
        self.host.check_interrupts()
    }

    /// Waits for more input than there is.
    fn wait_for_input(&self) -> Result<(), H::Error> {
        if let Some(object) = &self.reader.object {
            return self.fill_feed(object);
        }
        // An error stays in the stream, and comes with the next step.
        let fill = |stream: &mut ByteStream| stream.fill(stream.buffered().len() + 1).map(drop);
        self.wait_with_stream(fill).map(drop)
    }

    fn fill_feed(&self, object: &SourceObject) -> Result<(), H::Error> {
        self.take_turn()?;
        self.seek_object(object)?;
        self.host.read_into(&object.feed)
    }

    fn seek_object(&self, object: &SourceObject) -> Result<(), H::Error> {
        let Some(offset) = object.feed.take_seek() else { return Ok(()) };
        let place = object.origin.unwrap_or(0).saturating_add(offset);
        let gone = self.host.seek(SeekFrom::Start(place));
        if gone.is_err() {
            object.feed.restore_seek(offset);
        }
        gone.map(drop)
    }

    /// Returns the end of the object that is read, if the object tells it.
    pub(super) fn end_of(&self, object: &SourceObject) -> Result<Option<u64>, H::Error> {
        self.take_turn()?;
        let (Some(origin), Some(before)) = (object.origin, self.host.seek(SeekFrom::Current(0))?)
        else {
            return Ok(None);
        };
        let end = self.host.seek(SeekFrom::End(0));
        // Whatever came of that, and of an interrupt: what is read next is what stood before.
        let returned = self.host.seek(SeekFrom::Start(before));
        if returned.is_err() {
            object.feed.restore_seek(before.saturating_sub(origin));
        }
        let end = end?;
        returned?;
        Ok(end.map(|end| end.saturating_sub(origin)))
    }

    /// Does `work` while other threads of the host run. `None` where an interrupt called it off, or came before: it may
    /// be done again, and then has to go on where it was.
    pub(super) fn wait_with_stream<R: Send>(
        &self,
        work: impl FnMut(&mut ByteStream) -> R + Send,
    ) -> Result<Option<R>, H::Error> {
        self.take_turn()?;
        let outcome = {
            let Ok(mut stream) = self.reader.stream.try_borrow_mut() else { return Ok(None) };
            let Some(stream) = stream.as_mut() else { return Ok(None) };
            let work = Mutex::new((stream, work));
            let run = || {
                let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
                let (stream, work) = &mut *work;
                work(stream)
            };
            let cancel = &self.reader.cancel;
            self.host.wait(&run, &|| cancel.cancel())
        };
        // Nobody calls it off any more now that the host goes on.
        let was_called_off = self.reader.cancel.is_cancelled();
        self.reader.cancel.reset();
        self.host.check_interrupts()?;
        Ok(outcome?.filter(|_| !was_called_off))
    }

    /// Makes `count` bytes buffered, or as many as there are, and answers how many of them are.
    ///
    /// # Errors
    /// Damage; `Closed`; what is raised while it waits.
    pub fn want(&self, count: usize) -> Result<usize, H::Error> {
        self.run(|stream| {
            let buffered = stream.buffered().len();
            let fill = stream.try_fill(count.min(buffered.saturating_add(STEP_MAX)))?;
            let buffered = stream.buffered().len();
            Ok(match fill {
                _ if buffered >= count => OperationStep::Done(count),
                Fill::Ready => OperationStep::Later,
                Fill::WouldWait => OperationStep::WouldWait,
                Fill::Ended => OperationStep::Done(buffered),
            })
        })
    }

    /// Shows `make` the first `shown` of the bytes that are buffered, and takes `count` where it succeeds.
    ///
    /// # Errors
    /// Those of `make`; `Closed`.
    pub fn take<R>(
        &self,
        shown: usize,
        count: usize,
        make: impl FnOnce(&[u8]) -> Result<R, H::Error>,
    ) -> Result<R, H::Error> {
        self.with_stream(|stream| {
            let bytes = stream.buffered();
            let made = make(bytes.get(..shown).unwrap_or(bytes));
            if made.is_ok() {
                stream.consume(count);
            }
            Ok(made)
        })?
    }

    /// Returns the position, counted from where the reader began.
    ///
    /// # Errors
    /// `Closed`.
    pub fn position(&self) -> Result<u64, H::Error> {
        self.with_stream(|stream| Ok(stream.position()))
    }

    /// Returns true if going back costs nothing.
    pub fn goes_back(&self) -> Result<bool, H::Error> {
        let compression = self.with_stream(|stream| Ok(stream.compression()))?;
        Ok(self.reader.object.is_none() && compression == Compression::None)
    }

    /// Goes back to where an operation began that failed, where that costs nothing.
    pub(super) fn or_back_to<R>(
        &self,
        begin: u64,
        result: Result<R, H::Error>,
    ) -> Result<R, H::Error> {
        if result.is_err() && self.goes_back().is_ok_and(|goes_back| goes_back) {
            // What cannot be gone back to is lost; the error that is raised says why.
            let _ = self.with_stream(|stream| stream.seek(begin));
        }
        result
    }
}

fn closed(message: &str) -> Error {
    Error::new(ErrorKind::Closed, message)
}
