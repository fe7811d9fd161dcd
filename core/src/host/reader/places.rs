//! Going to other places of the input, and how long it is.

use super::super::stream_host::{EINVAL, ESPIPE, StreamHost, Whence, no_place};
use super::operation::{Operation, OperationStep, STEP_MAX};
use crate::bytes::{ByteStream, Compression, Fill};

impl<H: StreamHost> Operation<'_, H> {
    /// Passes over `count` bytes; answers how many there were. Where it fails it has passed over none, unless the input
    /// is compressed, or can be read once, and the way is longer than 1 MiB.
    ///
    /// # Errors
    /// Damage; `Closed`; what is raised while it waits.
    pub fn skip(&self, count: u64) -> Result<u64, H::Error> {
        if self.reader.object.is_none() {
            self.decide()?;
        }
        if count <= STEP_MAX as u64 && !self.goes_back()? {
            // They cannot be asked for again, or not soon, so none are taken before all are there.
            let there = self.want(count as usize)?;
            self.take(0, there, |_| Ok(()))?;
            return Ok(there as u64);
        }
        let begin = self.position()?;
        let skipped = self.skip_to(begin.saturating_add(count));
        self.or_back_to(begin, skipped)?;
        Ok(self.position()?.saturating_sub(begin))
    }

    fn skip_to(&self, target: u64) -> Result<(), H::Error> {
        self.run(|stream| {
            let near = target.min(stream.position().saturating_add(STEP_MAX as u64));
            // A file is passed over at once, however long the way is.
            let is_plain = stream.compression() == Compression::None;
            Ok(match stream.try_skip_to(if is_plain { target } else { near })? {
                Fill::Ready if stream.position() >= target => OperationStep::Done(()),
                Fill::Ready => OperationStep::Later,
                Fill::WouldWait => OperationStep::WouldWait,
                Fill::Ended => OperationStep::Done(()),
            })
        })
    }

    /// Goes to the place `offset` bytes from another. Beyond the end there is nothing to read. In compressed input it
    /// goes forwards by reading, and backwards from the beginning; in what can be read once, forwards by reading.
    ///
    /// # Errors
    /// `Io` with `ESPIPE` backwards, or from the end, in what can be read once, of which nothing is read then; with
    /// `EINVAL` where the place is before the beginning; damage; `Closed`; what is raised while it waits.
    pub fn go(&self, whence: Whence, offset: i64) -> Result<(), H::Error> {
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

    fn go_to(&self, target: u64) -> Result<(), H::Error> {
        self.decide()?;
        self.with_stream(|stream| stream.seek(target))?;
        if self.position()? >= target {
            return Ok(());
        }
        self.skip_to(target)?;
        // What can be read once may go on after its end, from where that was.
        if self.reader.can_go_back() {
            self.with_stream(|stream| {
                stream.seek_past_end(target);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Goes back to the beginning, and reads what changed since.
    ///
    /// # Errors
    /// `Io` with `ESPIPE` where something was taken of what can be read once; `Closed`.
    pub fn rewind(&self) -> Result<(), H::Error> {
        if self.reader.can_go_back() {
            return self.with_stream(ByteStream::rewind);
        }
        if self.position()? == 0 { Ok(()) } else { Err(self.refused(ESPIPE)) }
    }

    /// Reads as much as tells how the input is compressed, damaged or not.
    fn decide(&self) -> Result<(), H::Error> {
        self.run(|stream| {
            if stream.knows_compression() {
                return Ok(OperationStep::Done(()));
            }
            Ok(match stream.try_fill(1) {
                Ok(Fill::WouldWait) => OperationStep::WouldWait,
                _ => OperationStep::Done(()),
            })
        })
    }

    /// Returns the end of the input, counted from where it began. It may take reading all of it.
    fn end(&self) -> Result<u64, H::Error> {
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

    /// Returns the end of the input, counted from where it began, if that is known without reading it.
    ///
    /// # Errors
    /// `Closed`; what is raised while it waits.
    pub fn size(&self) -> Result<Option<u64>, H::Error> {
        if !self.reader.can_go_back() {
            return Ok(None);
        }
        self.decide()?;
        match self.with_stream(|stream| Ok(stream.compression()))? {
            Compression::None => self.known_end(),
            _ => Ok(None),
        }
    }

    /// Returns the end of input that is not compressed, if a file or an object tells it.
    fn known_end(&self) -> Result<Option<u64>, H::Error> {
        match &self.reader.object {
            Some(object) => self.end_of(object),
            None => self.with_stream(|stream| Ok(stream.input_len())),
        }
    }

    /// Returns the number of bytes from here on, if known.
    ///
    /// # Errors
    /// `Closed`.
    pub fn bytes_left(&self) -> Result<Option<u64>, H::Error> {
        self.with_stream(|stream| {
            let is_plain = stream.compression() == Compression::None && stream.input_read() > 0;
            let len = stream.input_len().filter(|_| is_plain);
            Ok(len.map(|len| len.saturating_sub(stream.position())))
        })
    }

    /// Returns the compression of the input.
    ///
    /// # Errors
    /// Damage; `Closed`; what is raised while it waits.
    pub fn compression(&self) -> Result<Compression, H::Error> {
        self.want(1)?;
        self.with_stream(|stream| Ok(stream.compression()))
    }

    fn refused(&self, number: i32) -> H::Error {
        self.host.error(no_place(number, self.reader.name()))
    }
}
