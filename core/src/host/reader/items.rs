//! Items that are read: values, records, lines, and the place of a sequence of bytes.

use super::super::stream_host::StreamHost;
use super::operation::{Operation, OperationStep};
use crate::bytes::{Cancel, Fill, Found, Line, LineCount, LineRule, LineStep, Search};
use crate::error::Error;
use crate::wire::{VARINT_LEN_MAX, VarintStart, varint_at_start};

/// Bytes in which lines are counted with the host's lock; more are counted without it.
const COUNTED_WITH_LOCK: u64 = 1 << 20;

impl<H: StreamHost> Operation<'_, H> {
    /// Makes the bytes of a value buffered.
    fn want_value(&self, what: &str, len: usize) -> Result<(), H::Error> {
        let available = self.want(len)?;
        if available >= len { Ok(()) } else { Err(self.truncated(what, len, available)) }
    }

    /// Takes the bytes of a value that errors call `what`.
    ///
    /// # Errors
    /// `Truncated` where the input ends before; damage; `Closed`; what is raised while it waits.
    pub fn array<const N: usize>(&self, what: &str) -> Result<[u8; N], H::Error> {
        self.want_value(what, N)?;
        self.take(N, N, |bytes| match bytes.first_chunk::<N>() {
            Some(value) => Ok(*value),
            None => Err(self.truncated(what, N, bytes.len())),
        })
    }

    /// Takes a byte, if there is one more.
    ///
    /// # Errors
    /// Damage; `Closed`; what is raised while it waits.
    pub fn byte(&self) -> Result<Option<u8>, H::Error> {
        let there = self.want(1)?;
        self.take(there, there, |bytes| Ok(bytes.first().copied()))
    }

    /// Takes a number of seven bits to a byte, the low ones first.
    ///
    /// # Errors
    /// `Truncated` where the input ends within it; `Format` where it is longer than 64 bits; damage; `Closed`; what is
    /// raised while it waits.
    pub fn varint(&self) -> Result<u64, H::Error> {
        let mut wanted = 1;
        loop {
            self.want_value("varint", wanted)?;
            let (start, there) = self.with_stream(|stream| {
                let bytes = stream.buffered();
                Ok((varint_at_start(bytes), bytes.len()))
            })?;
            match start {
                VarintStart::Whole(number, len) => return self.take(0, len, |_| Ok(number)),
                VarintStart::Short => wanted = there.min(VARINT_LEN_MAX) + 1,
                VarintStart::TooLong => {
                    let expected = "a varint of at most 64 bits in 10 bytes";
                    let error = Error::format(expected, "one that goes on").at(self.position()?);
                    return Err(self.host.error(error.in_file(self.reader.name())));
                }
            }
        }
    }

    /// Makes the next record buffered; whether there is one.
    ///
    /// # Errors
    /// `Truncated` where the input ends within it; damage; `Closed`; what is raised while it waits.
    pub fn want_record(&self, len: usize) -> Result<bool, H::Error> {
        match self.want(len)? {
            available if available >= len => Ok(true),
            0 => Ok(false),
            available => Err(self.truncated("a record", len, available)),
        }
    }

    /// Takes up to `count` records: `take` does so with as many as it is told, which are buffered. Where this fails, none
    /// of them is taken.
    ///
    /// # Errors
    /// As for [`Operation::want_record`], and those of `take`.
    pub fn records(
        &self,
        record_len: usize,
        count: usize,
        take: impl FnMut(usize) -> Result<(), H::Error>,
    ) -> Result<(), H::Error> {
        if count > 0 {
            self.want_all_that_come_once(record_len, count)?;
        }
        let begin = self.position()?;
        let taken = self.records_by_and_by(record_len, count, take);
        self.or_back_to(begin, taken)
    }

    /// Makes all of the records buffered where they cannot be read again, so that none is lost.
    fn want_all_that_come_once(&self, record_len: usize, count: usize) -> Result<(), H::Error> {
        // How it is compressed is known when something was read.
        self.want(1)?;
        if self.goes_back()? {
            return Ok(());
        }
        let there = self.want(record_len.saturating_mul(count))?;
        match there % record_len {
            0 => Ok(()),
            cut => self.want_value("records", there - cut + record_len),
        }
    }

    fn records_by_and_by(
        &self,
        record_len: usize,
        count: usize,
        mut take: impl FnMut(usize) -> Result<(), H::Error>,
    ) -> Result<(), H::Error> {
        let goes_back = self.goes_back()?;
        let mut left = count;
        while left > 0 && self.want_record(record_len)? {
            let buffered = self.with_stream(|stream| Ok(stream.buffered().len() / record_len))?;
            take(buffered.min(left))?;
            left -= buffered.min(left);
            // What cannot be gone back to would be lost.
            if goes_back && left > 0 {
                self.let_interrupts()?;
            }
        }
        Ok(())
    }

    /// Makes the line that the reader is at buffered.
    ///
    /// # Errors
    /// `Limit` where it is too long; damage; `Closed`; what is raised while it waits.
    pub fn line(&self, rule: &LineRule) -> Result<Option<Line>, H::Error> {
        let mut searched = 0;
        self.run(|stream| {
            Ok(match rule.try_line(stream, &mut searched)? {
                LineStep::Line(line) => OperationStep::Done(Some(line)),
                LineStep::Ended => OperationStep::Done(None),
                LineStep::Later => OperationStep::Later,
                LineStep::WouldWait => OperationStep::WouldWait,
            })
        })
    }

    /// Does this for a caller that has taken lines already, which an interrupt would lose if the input is not seekable:
    /// returns None then if it would have to wait. The next call gets the error.
    fn another_line(&self, rule: &LineRule) -> Result<Option<Line>, H::Error> {
        let mut searched = 0;
        let goes_back = self.goes_back()?;
        self.run(|stream| {
            Ok(match rule.try_line(stream, &mut searched) {
                Ok(LineStep::Line(line)) => OperationStep::Done(Some(line)),
                Ok(LineStep::Later) if goes_back => OperationStep::Later,
                Ok(LineStep::WouldWait) if goes_back => OperationStep::WouldWait,
                _ => OperationStep::Done(None),
            })
        })
    }

    /// Takes up to `count` lines, or as many as there are: `take` does so with the one that it is given, if any, and with
    /// others that are buffered, and answers how many it has taken in all. Where waiting for more could lose those, because
    /// they cannot be read again, it does not wait; and where there is damage behind them, the next call gets it.
    ///
    /// # Errors
    /// As for [`Operation::line`] where there is none yet, and those of `take`.
    pub fn lines(
        &self,
        rule: &LineRule,
        count: usize,
        take: impl FnMut(Option<Line>) -> Result<usize, H::Error>,
    ) -> Result<(), H::Error> {
        let begin = self.position()?;
        let taken = self.lines_by_and_by(rule, count, take);
        self.or_back_to(begin, taken)
    }

    fn lines_by_and_by(
        &self,
        rule: &LineRule,
        count: usize,
        mut take: impl FnMut(Option<Line>) -> Result<usize, H::Error>,
    ) -> Result<(), H::Error> {
        let mut line = None;
        loop {
            line = match take(line)? {
                0 => self.line(rule)?,
                taken if taken < count => self.another_line(rule)?,
                _ => None,
            };
            if line.is_none() {
                return Ok(());
            }
        }
    }

    /// Counts the lines that are left, and passes over them; over none where it fails and going back costs nothing.
    ///
    /// # Errors
    /// Damage; `Closed`; what is raised while it waits.
    pub fn count_lines(&self) -> Result<u64, H::Error> {
        let begin = self.position()?;
        let mut count = LineCount::default();
        let counted = self.count_lines_into(&mut count);
        self.or_back_to(begin, counted).map(|()| count.lines())
    }

    fn count_lines_into(&self, count: &mut LineCount) -> Result<(), H::Error> {
        let is_file = self.reader.object.is_none();
        let mut begin = None;
        let ended = self.run(|stream| {
            count.add_buffered(stream);
            let begin = *begin.get_or_insert(stream.position());
            Ok(match stream.try_fill(1)? {
                Fill::Ended => OperationStep::Done(true),
                Fill::WouldWait => OperationStep::WouldWait,
                Fill::Ready if is_file && stream.position() - begin >= COUNTED_WITH_LOCK => {
                    OperationStep::Done(false)
                }
                Fill::Ready => OperationStep::Later,
            })
        })?;
        if ended { Ok(()) } else { self.count_without_lock(count) }
    }

    fn count_without_lock(&self, count: &mut LineCount) -> Result<(), H::Error> {
        loop {
            match self.wait_with_stream(|stream| count.add_all(stream))? {
                Some(Ok(())) => return Ok(()),
                Some(Err(error)) if !Cancel::caused(&error) => return Err(self.host.error(error)),
                // It goes on where it was called off, unless it was closed.
                _ => self.with_stream(|_| Ok(()))?,
            }
        }
    }

    /// Goes behind the next sequence of bytes; answers where it begins.
    ///
    /// # Errors
    /// Damage; `Closed`; what is raised while it waits.
    pub fn find(&self, search: &Search) -> Result<Option<u64>, H::Error> {
        self.run(|stream| {
            Ok(match search.try_find(stream)? {
                Found::Here => {
                    let at = stream.position();
                    stream.consume(search.pattern_len());
                    OperationStep::Done(Some(at))
                }
                Found::Nowhere => OperationStep::Done(None),
                Found::Later => OperationStep::Later,
                Found::WouldWait => OperationStep::WouldWait,
            })
        })
    }

    fn truncated(&self, what: &str, needed: usize, available: usize) -> H::Error {
        let error = Error::truncated(what, needed as u64, available as u64);
        let position = self.position().unwrap_or(0);
        self.host.error(error.at(position).in_file(self.reader.name()))
    }
}
