//! One operation on a reader, from its first look at what is buffered until it has taken its bytes.
//!
//! It consists of steps that wait for nothing (`ByteStream::try_fill` and its like), with Ruby's lock. Where
//! a step would have to wait, the operation takes the reader's turn, which others wait for and which it keeps
//! to its end, and brings more: by a read without the lock where the input is a file of ours, by Ruby's
//! methods where it is an object. An operation takes its bytes when it has them all, so one that is
//! interrupted has taken none.
//!
//! Nothing of Ruby's that may leave by `longjmp` is called while there is one, but through `protect`.

use std::cell::Cell;

use bytewright::stream::{
    ByteStream, Compression, Fill, Found, Line, LineCount, LineRule, LineStep, Search,
};
use bytewright::{ErrorKind, Result as CoreResult};
use magnus::{Error, Ruby, Value, prelude::*};

use super::ReaderObject;
use crate::border::lock;
use crate::error::{closed, raised, to_ruby};
use crate::turn::Taken;

/// Bytes that one step makes buffered, so that a step never takes long.
const STEP_MAX: usize = 1 << 20;
/// Bytes in which lines are counted with Ruby's lock; more are counted without it.
const COUNTED_WITH_LOCK: u64 = 1 << 20;

/// What came of a step.
pub(crate) enum Step<R> {
    Done(R),
    /// It is not done, and may go on when interrupts have had their turn.
    Later,
    /// It needs more than there is without waiting.
    WouldWait,
}

/// Where a place is counted from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whence {
    Beginning,
    Here,
    End,
}

/// An operation that goes on.
pub(crate) struct Operation<'a> {
    reader: &'a ReaderObject,
    ruby: &'a Ruby,
    object: Value,
    has_turn: Cell<bool>,
}

impl Drop for Operation<'_> {
    fn drop(&mut self) {
        if self.has_turn.get() {
            self.reader.forget_stream_if_closed();
            // A turn that is this fiber's can be given back.
            let _ = self.reader.turn.give_back(self.ruby);
        }
    }
}

impl<'a> Operation<'a> {
    /// Begins when no other one goes on.
    ///
    /// # Errors
    /// `LockError` where one of this very thread does; `ClosedError`; what is raised while it waits.
    pub(super) fn begin(
        reader: &'a ReaderObject,
        ruby: &'a Ruby,
        object: Value,
    ) -> Result<Self, Error> {
        let operation = Operation { reader, ruby, object, has_turn: Cell::new(false) };
        if reader.turn.is_taken() {
            operation.take_turn()?;
        }
        operation.with_stream(|stream| {
            stream.look_again();
            Ok(())
        })?;
        Ok(operation)
    }

    pub(crate) fn reader(&self) -> &ReaderObject {
        self.reader
    }

    /// Takes the reader's turn, before others can run.
    fn take_turn(&self) -> Result<(), Error> {
        if self.has_turn.get() {
            return Ok(());
        }
        match self.reader.turn.take(self.ruby) {
            Ok(Taken::Already) => Err(busy_here(self.ruby)),
            Ok(Taken::Now | Taken::FromTheGone) => {
                self.has_turn.set(true);
                Ok(())
            }
            // Ruby lets nobody wait in a signal handler.
            Err(error) if error.is_kind_of(self.ruby.exception_thread_error()) => {
                let message = "expected a reader that no other thread is reading, which a signal handler \
                               cannot wait for; found one that is";
                Err(to_ruby(self.ruby, &bytewright::Error::new(ErrorKind::Lock, message)))
            }
            Err(error) => Err(error),
        }
    }

    /// Does something with the stream that needs no waiting.
    pub(crate) fn with_stream<R>(
        &self,
        work: impl FnOnce(&mut ByteStream) -> CoreResult<R>,
    ) -> Result<R, Error> {
        self.reader.forget_stream_if_closed();
        // Within a process, who has borrowed it has the turn.
        let Ok(mut stream) = self.reader.stream.try_borrow_mut() else {
            let message = "a reader that another process was reading; open it again after fork";
            return Err(closed(self.ruby, message));
        };
        match stream.as_mut() {
            Some(stream) => raised(self.ruby, work(stream)),
            None => Err(closed(self.ruby, "closed stream")),
        }
    }

    /// Takes `step` until it is done, and waits between steps where they say so.
    ///
    /// # Errors
    /// Those of the steps; what is raised while it waits; `ClosedError`.
    fn run<R>(
        &self,
        mut step: impl FnMut(&mut ByteStream) -> CoreResult<Step<R>>,
    ) -> Result<R, Error> {
        loop {
            let taken = self.with_stream(|stream| {
                let taken = step(stream);
                self.reader.report_memory(stream);
                taken
            });
            match taken? {
                Step::Done(result) => return Ok(result),
                Step::Later => self.let_interrupts()?,
                Step::WouldWait => self.bring()?,
            }
        }
    }

    /// Lets Ruby do what interrupts want, and others run.
    pub(crate) fn let_interrupts(&self) -> Result<(), Error> {
        self.take_turn()?;
        lock::check_interrupts(self.ruby)
    }

    /// Waits for more input than there is.
    fn bring(&self) -> Result<(), Error> {
        self.take_turn()?;
        if self.reader.feed.is_some() {
            return self.object.funcall::<_, _, Value>("bring_input", ()).map(drop);
        }
        let Ok(mut stream) = self.reader.stream.try_borrow_mut() else { return Ok(()) };
        let Some(stream) = stream.as_mut() else { return Ok(()) };
        let wanted = stream.buffered().len() + 1;
        // An error stays in the stream, and comes with the next step.
        lock::until_done(self.ruby, &self.reader.cancel, || stream.fill(wanted).map(drop)).map(drop)
    }

    /// Makes `count` bytes buffered, or as many as there are, and answers how many of them are.
    pub(crate) fn want(&self, count: usize) -> Result<usize, Error> {
        self.run(|stream| {
            let buffered = stream.buffered().len();
            let fill = stream.try_fill(count.min(buffered.saturating_add(STEP_MAX)))?;
            let buffered = stream.buffered().len();
            Ok(match fill {
                _ if buffered >= count => Step::Done(count),
                Fill::Ready => Step::Later,
                Fill::WouldWait => Step::WouldWait,
                Fill::Ended => Step::Done(buffered),
            })
        })
    }

    /// Makes the bytes of a value buffered.
    ///
    /// # Errors
    /// `TruncatedError` where the input ends before.
    pub(crate) fn want_value(&self, what: &str, len: usize) -> Result<(), Error> {
        let available = self.want(len)?;
        if available >= len { Ok(()) } else { Err(self.truncated(what, len, available)) }
    }

    /// Makes the next record buffered; whether there is one.
    ///
    /// # Errors
    /// `TruncatedError` where the input ends within it.
    pub(crate) fn want_record(&self, len: usize) -> Result<bool, Error> {
        match self.want(len)? {
            available if available >= len => Ok(true),
            0 => Ok(false),
            available => Err(self.truncated("a record", len, available)),
        }
    }

    fn truncated(&self, what: &str, needed: usize, available: usize) -> Error {
        let error = bytewright::Error::truncated(what, needed as u64, available as u64);
        let position = self.position().unwrap_or(0);
        to_ruby(self.ruby, &error.at(position).in_file(&self.reader.name))
    }

    /// Takes bytes that are buffered.
    pub(crate) fn consume(&self, count: usize) -> Result<(), Error> {
        self.with_stream(|stream| {
            stream.consume(count);
            Ok(())
        })
    }

    pub(crate) fn position(&self) -> Result<u64, Error> {
        self.with_stream(|stream| Ok(stream.position()))
    }

    /// The line that the reader is at, buffered.
    pub(crate) fn line(&self, rule: &LineRule) -> Result<Option<Line>, Error> {
        let mut searched = 0;
        self.run(|stream| {
            Ok(match rule.try_line(stream, &mut searched)? {
                LineStep::Line(line) => Step::Done(Some(line)),
                LineStep::Ended => Step::Done(None),
                LineStep::Later => Step::Later,
                LineStep::WouldWait => Step::WouldWait,
            })
        })
    }

    /// The same for who has taken lines already, and would lose them to an interrupt where they cannot
    /// be gone back to: nothing then where it would have to wait. An error is left to who asks next.
    pub(crate) fn another_line(&self, rule: &LineRule) -> Result<Option<Line>, Error> {
        let mut searched = 0;
        let goes_back = self.goes_back()?;
        self.run(|stream| {
            Ok(match rule.try_line(stream, &mut searched) {
                Ok(LineStep::Line(line)) => Step::Done(Some(line)),
                Ok(LineStep::Later) if goes_back => Step::Later,
                Ok(LineStep::WouldWait) if goes_back => Step::WouldWait,
                _ => Step::Done(None),
            })
        })
    }

    /// Whether going back costs nothing.
    pub(crate) fn goes_back(&self) -> Result<bool, Error> {
        let compression = self.with_stream(|stream| Ok(stream.compression()))?;
        Ok(self.reader.is_file() && compression == Compression::None)
    }

    /// Goes back to where an operation began that failed, where that costs nothing.
    pub(crate) fn or_back_to<R>(&self, begin: u64, result: Result<R, Error>) -> Result<R, Error> {
        if result.is_err() && self.goes_back().is_ok_and(|goes_back| goes_back) {
            // What cannot be gone back to is lost; the error that is raised says why.
            let _ = self.with_stream(|stream| stream.seek(begin));
        }
        result
    }

    /// Passes over `count` bytes; answers how many there were.
    pub(crate) fn skip(&self, count: u64) -> Result<u64, Error> {
        if self.reader.is_file() {
            self.decide()?;
        }
        if count <= STEP_MAX as u64 && !self.goes_back()? {
            // They cannot be asked for again, or not soon, so none are taken before all are there.
            let there = self.want(count as usize)?;
            self.consume(there)?;
            return Ok(there as u64);
        }
        let begin = self.position()?;
        let skipped = self.skip_to(begin.saturating_add(count));
        self.or_back_to(begin, skipped)?;
        Ok(self.position()?.saturating_sub(begin))
    }

    fn skip_to(&self, target: u64) -> Result<(), Error> {
        self.run(|stream| {
            let near = target.min(stream.position().saturating_add(STEP_MAX as u64));
            // A file is passed over at once, however long the way is.
            let is_plain = stream.compression() == Compression::None;
            Ok(match stream.try_skip_to(if is_plain { target } else { near })? {
                Fill::Ready if stream.position() >= target => Step::Done(()),
                Fill::Ready => Step::Later,
                Fill::WouldWait => Step::WouldWait,
                Fill::Ended => Step::Done(()),
            })
        })
    }

    /// Goes to the place `offset` bytes from another.
    pub(super) fn go(&self, whence: Whence, offset: i64) -> Result<(), Error> {
        let here = self.position()?;
        let can_go_back = self.reader.can_go_back();
        if !can_go_back && whence == Whence::End {
            return Err(self.refused(ESPIPE));
        }
        let base = match whence {
            Whence::Beginning => 0,
            Whence::Here => here,
            Whence::End => self.end()?,
        };
        let target = base.checked_add_signed(offset);
        if !can_go_back && target.is_none_or(|target| target < here) {
            return Err(self.refused(ESPIPE));
        }
        let Some(target) = target else {
            // To find the end of compressed input takes going there.
            self.go_to(here)?;
            return Err(self.refused(EINVAL));
        };
        if !can_go_back && target == here {
            return Ok(());
        }
        self.go_to(target)
    }

    fn go_to(&self, target: u64) -> Result<(), Error> {
        self.decide()?;
        self.with_stream(|stream| stream.seek(target))?;
        if self.position()? >= target {
            return Ok(());
        }
        self.skip_to(target)?;
        // What can be read once may go on after its end, from where that was.
        if self.reader.can_go_back() {
            self.with_stream(|stream| {
                stream.stand_beyond_end(target);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Goes back to the beginning, and reads what changed since.
    pub(super) fn rewind(&self) -> Result<(), Error> {
        if self.reader.can_go_back() {
            return self.with_stream(ByteStream::rewind);
        }
        if self.position()? == 0 { Ok(()) } else { Err(self.refused(ESPIPE)) }
    }

    /// Reads as much as tells how the input is compressed, damaged or not.
    fn decide(&self) -> Result<(), Error> {
        self.run(|stream| {
            if stream.knows_compression() {
                return Ok(Step::Done(()));
            }
            Ok(match stream.try_fill(1) {
                Ok(Fill::WouldWait) => Step::WouldWait,
                _ => Step::Done(()),
            })
        })
    }

    /// Where the input ends, counted from where it began. It may take reading all of it.
    fn end(&self) -> Result<u64, Error> {
        self.decide()?;
        let is_plain = self.with_stream(|stream| Ok(stream.compression() == Compression::None))?;
        if is_plain && let Some(end) = self.known_end()? {
            return Ok(end);
        }
        // Who stands beyond the end, or in what was cut, would not find it by going on.
        self.with_stream(|stream| match is_plain || stream.at_end() {
            true => stream.seek(0),
            false => Ok(()),
        })?;
        self.skip_to(u64::MAX)?;
        self.position()
    }

    /// Where the input ends, counted from where it began, if that is known without reading it.
    pub(super) fn size(&self) -> Result<Option<u64>, Error> {
        if !self.reader.can_go_back() {
            return Ok(None);
        }
        self.decide()?;
        match self.with_stream(|stream| Ok(stream.compression()))? {
            Compression::None => self.known_end(),
            _ => Ok(None),
        }
    }

    /// Where input that is not compressed ends, if a file or an object says so.
    fn known_end(&self) -> Result<Option<u64>, Error> {
        match self.reader.is_file() {
            true => self.with_stream(|stream| Ok(stream.input_len())),
            false => self.end_of_object(),
        }
    }

    /// Where the object that is read ends, where it says so.
    fn end_of_object(&self) -> Result<Option<u64>, Error> {
        self.take_turn()?;
        self.object.funcall("end_of_object", ())
    }

    /// How many bytes there are from here on, where that is known.
    pub(super) fn bytes_left(&self) -> Result<Option<u64>, Error> {
        self.with_stream(|stream| {
            let is_plain = stream.compression() == Compression::None && stream.input_read() > 0;
            let len = stream.input_len().filter(|_| is_plain);
            Ok(len.map(|len| len.saturating_sub(stream.position())))
        })
    }

    /// How the input is compressed.
    pub(super) fn compression(&self) -> Result<Compression, Error> {
        self.want(1)?;
        self.with_stream(|stream| Ok(stream.compression()))
    }

    /// Counts the lines that are left.
    pub(super) fn count_lines(&self) -> Result<u64, Error> {
        let begin = self.position()?;
        let mut count = LineCount::default();
        let counted = self.count_lines_into(&mut count);
        self.or_back_to(begin, counted).map(|()| count.lines())
    }

    fn count_lines_into(&self, count: &mut LineCount) -> Result<(), Error> {
        let is_file = self.reader.is_file();
        let mut begin = None;
        let ended = self.run(|stream| {
            count.add_buffered(stream);
            let begin = *begin.get_or_insert(stream.position());
            Ok(match stream.try_fill(1)? {
                Fill::Ended => Step::Done(true),
                Fill::WouldWait => Step::WouldWait,
                Fill::Ready if is_file && stream.position() - begin >= COUNTED_WITH_LOCK => {
                    Step::Done(false)
                }
                Fill::Ready => Step::Later,
            })
        })?;
        if ended { Ok(()) } else { self.count_without_lock(count) }
    }

    fn count_without_lock(&self, count: &mut LineCount) -> Result<(), Error> {
        self.take_turn()?;
        let Ok(mut stream) = self.reader.stream.try_borrow_mut() else { return Ok(()) };
        let Some(stream) = stream.as_mut() else { return Ok(()) };
        let cancel = &self.reader.cancel;
        let counted = lock::until_done(self.ruby, cancel, || count.add_all(stream))?;
        raised(self.ruby, counted)
    }

    /// Goes behind the next sequence of bytes; answers where it begins.
    pub(super) fn find(&self, search: &Search) -> Result<Option<u64>, Error> {
        self.run(|stream| {
            Ok(match search.try_find(stream)? {
                Found::Here => {
                    let at = stream.position();
                    stream.consume(search.pattern_len());
                    Step::Done(Some(at))
                }
                Found::Nowhere => Step::Done(None),
                Found::Later => Step::Later,
                Found::WouldWait => Step::WouldWait,
            })
        })
    }

    /// What the system would say of a place that cannot be gone to.
    fn refused(&self, number: i32) -> Error {
        let error = bytewright::Error::new(ErrorKind::Io(Some(number)), "cannot seek");
        to_ruby(self.ruby, &error.in_file(&self.reader.name))
    }
}

/// The numbers of `Errno::ESPIPE` and `Errno::EINVAL`, which all systems agree on.
const ESPIPE: i32 = 29;
const EINVAL: i32 = 22;

/// Who asks waits for itself, in a handler of a signal or in the object that is read.
pub(super) fn busy_here(ruby: &Ruby) -> Error {
    let message = "expected a reader at rest, found one that is busy in this very thread: a signal handler \
                   came while it reads, or the object that it reads uses it";
    to_ruby(ruby, &bytewright::Error::new(ErrorKind::Lock, message))
}
