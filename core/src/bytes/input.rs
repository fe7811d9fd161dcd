//! The raw side of a stream: what was read from the source and not yet taken by a decompressor.

use std::mem::MaybeUninit;

use crate::error::{Error, Result};

use super::feed::FeedSource;
use super::source::{Cancel, Source};

// Bound (Streams): raw bytes = 128 KiB pieces.
const PIECE: usize = 128 << 10;
/// Raw bytes read at once until it is known what they are.
const FIRST_PIECE: usize = 4 << 10;
/// Consumed bytes that stay: an inflater that took whole words gives back at most 8 bytes.
const LOOKBACK: usize = 8;

/// Result of asking for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Supply {
    /// As many as asked for are there.
    Ready,
    /// Fewer are there, and getting more might take waiting, which was not wanted.
    Later,
    /// Fewer are there, and nothing more will come.
    Ended,
}

/// A buffered source that knows the offset of each byte.
pub(super) struct Input {
    source: Box<dyn Source>,
    cancel: Cancel,
    buffer: Vec<u8>,
    /// The first byte of `buffer` that is not consumed.
    position: usize,
    /// The offset in the source of the first byte of `buffer`.
    base: u64,
    ended: bool,
    /// Never waits, whatever the caller.
    is_nonblocking: bool,
    /// Error that ended reading ahead: returned when the bytes before it were taken.
    deferred: Option<Error>,
}

impl Input {
    pub(super) fn new(source: Box<dyn Source>, cancel: Cancel) -> Self {
        let buffer = Vec::with_capacity(FIRST_PIECE);
        Self::over(source, cancel, buffer)
    }

    fn over(source: Box<dyn Source>, cancel: Cancel, buffer: Vec<u8>) -> Self {
        let (position, base, ended, is_nonblocking, deferred) = (0, 0, false, false, None);
        Input { source, cancel, buffer, position, base, ended, is_nonblocking, deferred }
    }

    /// Goes on with another source, where [`Input::seek`] says.
    pub(super) fn set_source(&mut self, source: Box<dyn Source>) {
        self.source = source;
    }

    /// An input of these bytes, and none behind them.
    pub(super) fn whole(bytes: Vec<u8>) -> Self {
        let mut input = Self::over(Box::new(FeedSource::default()), Cancel::new(), bytes);
        input.ended = true;
        input
    }

    /// Gives the memory of the buffer up.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Memory that the buffer takes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// The bytes that are there.
    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.position..).unwrap_or_default()
    }

    /// The offset in the source of the first of [`Input::bytes`].
    pub(super) fn offset(&self) -> u64 {
        self.base + self.position as u64
    }

    /// Bytes read from the source so far.
    pub(super) fn read_count(&self) -> u64 {
        self.base + self.buffer.len() as u64
    }

    /// Bytes the source has in all, where that is known.
    pub(super) fn len(&self) -> Option<u64> {
        self.source.len()
    }

    /// See [`Source::modified`].
    pub(super) fn modified(&self) -> Option<i64> {
        self.source.modified()
    }

    /// See [`Source::has_offsets`].
    pub(super) fn has_offsets(&self) -> bool {
        self.source.has_offsets()
    }

    /// A second reader of the source: see [`Source::another`].
    pub(super) fn another_source(&self) -> Option<Box<dyn Source>> {
        self.source.another()
    }

    pub(super) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Sets the mode without waiting, in which not even a disk is waited for, or what `may_wait` allows.
    pub(super) fn set_nonblocking(&mut self, is_nonblocking: bool) {
        self.is_nonblocking = is_nonblocking;
    }

    /// Returns true if waiting is never needed to get more.
    pub(super) fn is_nonblocking(&self) -> bool {
        self.source.is_nonblocking()
    }

    /// Takes `count` of [`Input::bytes`].
    pub(super) fn advance(&mut self, count: usize) {
        self.position = (self.position + count).min(self.buffer.len());
    }

    /// Returns the last `count` bytes taken; `false` when that many are not kept.
    pub(super) fn give_back(&mut self, count: usize) -> bool {
        let kept = count <= LOOKBACK && count <= self.position;
        if kept {
            self.position -= count;
        }
        kept
    }

    /// Reads until at least `count` bytes are there, or, where `may_wait` is false, until that might
    /// take waiting.
    pub(super) fn supply(&mut self, count: usize, may_wait: bool) -> Result<Supply> {
        while self.bytes().len() < count {
            if self.ended {
                return Ok(Supply::Ended);
            }
            if !may_wait && !self.source.is_nonblocking() {
                return Ok(Supply::Later);
            }
            if !self.read_piece()? {
                return Ok(Supply::Later);
            }
        }
        Ok(Supply::Ready)
    }

    /// Reads ahead until at least `count` bytes are there. A failure is `Later` now, and an error when the bytes are
    /// needed.
    ///
    /// # Errors
    /// That of a read that was called off.
    pub(super) fn supply_ahead(&mut self, count: usize) -> Result<Supply> {
        if self.deferred.is_some() {
            let is_there = self.bytes().len() >= count;
            return Ok(if is_there { Supply::Ready } else { Supply::Later });
        }
        match self.supply(count, false) {
            Err(error) if !Cancel::caused(&error) => {
                self.deferred = Some(error);
                Ok(Supply::Later)
            }
            supply => supply,
        }
    }

    /// Reads on, straight into the spare capacity of `into`, past this buffer, which must be empty.
    /// 0 is the end; `None` if it would have to wait and is not to.
    pub(super) fn read_into(&mut self, into: &mut Vec<u8>) -> Result<Option<usize>> {
        debug_assert!(self.bytes().is_empty());
        if self.ended {
            return Ok(Some(0));
        }
        let Some(count) = self.read(into)? else { return Ok(None) };
        self.ended = count == 0;
        self.pass(count as u64);
        Ok(Some(count))
    }

    /// Reads on into memory of the caller, without waiting: see [`Source::try_read_slice`].
    pub(super) fn try_read_slice(&mut self, into: &mut [MaybeUninit<u8>]) -> Result<Option<usize>> {
        debug_assert!(self.bytes().is_empty());
        if self.ended {
            return Ok(Some(0));
        }
        self.cancel.check()?;
        let Some(count) = self.source.try_read_slice(into)? else { return Ok(None) };
        self.ended = count == 0;
        self.pass(count as u64);
        Ok(Some(count))
    }

    /// Goes to `offset` of the source and forgets what was read; `false` where it cannot.
    pub(super) fn seek(&mut self, offset: u64) -> Result<bool> {
        if !self.source.seek(offset)? {
            return Ok(false);
        }
        self.buffer.clear();
        self.position = 0;
        self.base = offset;
        self.ended = false;
        self.deferred = None;
        Ok(true)
    }

    /// Lets the next read check the end again: something may come after it.
    pub(super) fn recheck_end(&mut self) {
        self.ended = false;
    }

    /// Passes over at most `count` bytes of the source, past this buffer, which must be empty.
    pub(super) fn skip(&mut self, count: u64) -> Result<u64> {
        debug_assert!(self.bytes().is_empty());
        if self.ended {
            return Ok(0);
        }
        self.cancel.check()?;
        let count = self.source.skip(count)?.min(count);
        self.pass(count);
        Ok(count)
    }

    /// An error about the raw bytes: its offset counts them, and it says so.
    pub(super) fn error_at(&self, offset: u64, error: &Error) -> Error {
        let message = format!("{} (offset in the compressed input)", error.message());
        Error::new(error.kind(), message).at(offset)
    }

    /// Counts bytes that did not come through the buffer.
    fn pass(&mut self, count: u64) {
        self.base = self.base + self.buffer.len() as u64 + count;
        self.buffer.clear();
        self.position = 0;
    }

    /// Reads a piece into the buffer; `false` where it would have to wait and is not to.
    fn read_piece(&mut self) -> Result<bool> {
        if self.buffer.capacity() - self.buffer.len() < PIECE / 2 {
            self.make_room();
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.read(&mut buffer);
        self.buffer = buffer;
        let Some(count) = read? else { return Ok(false) };
        self.ended = count == 0;
        Ok(true)
    }

    /// Moves what is not consumed to the front; makes the buffer larger only when that does not help.
    fn make_room(&mut self) {
        let gone = self.position.saturating_sub(LOOKBACK);
        self.buffer.copy_within(gone.., 0);
        self.buffer.truncate(self.buffer.len() - gone);
        self.position -= gone;
        self.base += gone as u64;
        let first = self.base == 0 && self.buffer.is_empty();
        // Who looks ahead has much in the buffer, which is not to be moved for each piece.
        let room = if first { FIRST_PIECE } else { PIECE.max(self.buffer.len()) };
        if self.buffer.capacity() - self.buffer.len() < room / 2 {
            self.buffer.reserve_exact(room);
        }
    }

    /// Reads once into the spare capacity, and believes the `Vec` and not the answer about how much.
    fn read(&mut self, into: &mut Vec<u8>) -> Result<Option<usize>> {
        self.cancel.check()?;
        if let Some(error) = self.deferred.take() {
            return Err(error);
        }
        let before = into.len();
        let limit = into.capacity() - before;
        if self.is_nonblocking {
            if self.source.try_read(into, limit)?.is_none() {
                return Ok(None);
            }
        } else {
            self.source.read(into, limit)?;
        }
        let count = into
            .len()
            .checked_sub(before)
            .ok_or_else(|| Error::internal("a source took bytes away instead of appending them"))?;
        Ok(Some(count))
    }
}
