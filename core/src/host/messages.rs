//! Thrift messages that follow each other: one by one, or some of their fields as columns. No more of a stream is in memory
//! than one message and a piece.

use std::sync::{Arc, Mutex, PoisonError};

use super::pass_host::Host;
use crate::Error;
use crate::batch::{Batch, Schema};
use crate::bytes::{ByteStream, Feed, Fill, StreamOptions};
use crate::error::Result as CoreResult;
use crate::thrift::{Ahead, Columns, MessageLayout, ReadableMessage};

/// Bytes that the host's object is asked for at once.
const PIECE: usize = 64 << 10;

// Bound (Thrift): rows out of lists that a batch has = 64 MiB, or those of one message.
const BATCH_BYTES: u64 = 64 << 20;

/// Source of messages.
pub struct MessageSource(MessageBytes);

enum MessageBytes {
    /// All of them, and how many were used.
    Given(Arc<dyn AsRef<[u8]> + Send + Sync>, usize),
    /// A stream that may wait.
    Stream(Box<ByteStream>),
    /// A stream that the host brings bytes for.
    Fed(Box<ByteStream>, Feed),
}

impl MessageSource {
    /// Messages in memory, which must not change.
    pub fn of_bytes(bytes: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Self {
        MessageSource(MessageBytes::Given(bytes, 0))
    }

    /// Messages of a stream, for which the host waits.
    pub fn of_stream(stream: ByteStream) -> Self {
        MessageSource(MessageBytes::Stream(Box::new(stream)))
    }

    /// Messages that [`Host::read`] brings; `name` is what errors call them.
    pub fn of_host(name: &str, options: &StreamOptions) -> Self {
        let feed = Feed::new(false);
        let stream = ByteStream::unread(Box::new(feed.source()), name, options);
        MessageSource(MessageBytes::Fed(Box::new(stream), feed))
    }

    /// The bytes that are there and not used, and where they begin in the input.
    #[inline]
    fn buffered(&self) -> (&[u8], u64) {
        match &self.0 {
            MessageBytes::Given(bytes, at) => {
                ((**bytes).as_ref().get(*at..).unwrap_or_default(), *at as u64)
            }
            MessageBytes::Stream(stream) | MessageBytes::Fed(stream, _) => {
                (stream.buffered(), stream.position())
            }
        }
    }

    #[inline]
    fn consume(&mut self, count: usize) {
        match &mut self.0 {
            MessageBytes::Given(_, at) => *at += count,
            MessageBytes::Stream(stream) | MessageBytes::Fed(stream, _) => stream.consume(count),
        }
    }

    /// Makes at least so many bytes buffered. Answers whether they are; else the input ends with what is.
    fn fill<H: Host>(&mut self, host: &H, at_least: usize) -> Result<CoreResult<bool>, H::Error> {
        match &mut self.0 {
            MessageBytes::Given(..) => Ok(Ok(self.buffered().0.len() >= at_least)),
            MessageBytes::Stream(stream) => {
                let cancel = stream.cancel();
                let stream = Mutex::new(stream);
                let fill = || {
                    let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                    stream.fill(at_least).map(|bytes| bytes.len() >= at_least)
                };
                let filled = host.wait(&fill, &|| cancel.cancel());
                // Nobody calls it off any more now that the host goes on.
                let was_called_off = cancel.is_cancelled();
                cancel.reset();
                match filled? {
                    Some(filled) if !was_called_off => Ok(filled),
                    // The stream is where it was; the caller looks at what it has again.
                    _ => host.check_interrupts().map(|()| Ok(true)),
                }
            }
            MessageBytes::Fed(stream, feed) => loop {
                match stream.try_fill(at_least) {
                    Ok(Fill::Ready) => return Ok(Ok(true)),
                    Ok(Fill::Ended) => return Ok(Ok(false)),
                    Ok(Fill::WouldWait) => match host.read(PIECE)? {
                        bytes if bytes.is_empty() => feed.end(),
                        bytes => feed.push(&bytes),
                    },
                    Err(error) => return Ok(Err(error)),
                }
            },
        }
    }

    /// An error of a message, with the file.
    #[cold]
    fn placed(&self, error: impl Into<Error>) -> Error {
        match &self.0 {
            MessageBytes::Given(..) => error.into(),
            MessageBytes::Stream(stream) | MessageBytes::Fed(stream, _) => {
                error.into().in_file(stream.name())
            }
        }
    }
}

/// Messages one by one.
pub struct Messages {
    source: MessageSource,
    layout: MessageLayout,
}

impl Messages {
    /// The messages of a source, none of which was read yet.
    pub fn new(source: MessageSource, layout: MessageLayout) -> Self {
        Messages { source, layout }
    }

    /// Calls `made` with the next message, as soon as that is there, and returns its result; None at the end.
    ///
    /// # Errors
    /// Errors in the message or its frame, those of reading, of the host, and of `made`, which leave the source
    /// where it is.
    pub fn next<H: Host, T>(
        &mut self,
        host: &H,
        made: impl FnOnce(ReadableMessage<'_>) -> Result<T, H::Error>,
    ) -> Result<Option<T>, H::Error> {
        loop {
            let (bytes, start) = self.source.buffered();
            let mut frames = self.layout.messages(bytes, start);
            let (needed, error) = match frames.ahead() {
                Ok(Ahead::Message(frame)) => {
                    let message = match self.layout.open(frame) {
                        Ok(message) => message,
                        Err(error) => return Err(host.error(self.source.placed(error))),
                    };
                    let made = made(message)?;
                    let used = frames.consumed();
                    self.source.consume(used);
                    return Ok(Some(made));
                }
                Ok(Ahead::Needs(more, error)) => (bytes.len().saturating_add(more), error),
                Err(error) => return Err(host.error(self.source.placed(error))),
            };
            match (self.source.fill(host, needed)?, error) {
                (Ok(true), _) => {}
                (Ok(false), None) => return Ok(None),
                (Ok(false), Some(error)) => return Err(host.error(self.source.placed(error))),
                (Err(error), _) => return Err(host.error(error)),
            }
        }
    }
}

/// Some fields of messages, in batches of columns.
pub struct MessageRows {
    source: MessageSource,
    layout: MessageLayout,
    columns: Columns,
    rows_max: usize,
    /// True if the buffer holds all that is left.
    at_end: bool,
    is_over: bool,
    failure: Option<Error>,
}

impl MessageRows {
    /// Reads the messages of a source into `columns`, in batches of at most `rows_max` rows, or of those of one message where lists
    /// of it make more.
    pub fn new(
        source: MessageSource,
        layout: MessageLayout,
        columns: Columns,
        rows_max: usize,
    ) -> Self {
        let rows_max = rows_max.max(1);
        let columns = columns.with_bytes_max(BATCH_BYTES);
        let (at_end, is_over, failure) = (false, false, None);
        MessageRows { source, layout, columns, rows_max, at_end, is_over, failure }
    }

    /// Returns the schema of the rows.
    pub fn schema(&self) -> &Schema {
        self.columns.batch().schema()
    }

    /// The next rows; none at the end.
    ///
    /// # Errors
    /// Errors in a message, and those of reading, after all rows before, and again on each further call. Those of the
    /// host come at once, and the rows before them with the next call.
    pub fn next<H: Host>(&mut self, host: &H) -> Result<Option<Batch>, H::Error> {
        host.check_interrupts()?;
        while !self.is_over {
            if self.columns.is_full(self.rows_max) {
                if !self.columns.batch().is_empty() {
                    break;
                }
                // Many messages may have lists without elements, which are no rows.
                self.columns.clear();
            }
            if let Err(error) = self.step(host)? {
                (self.failure, self.is_over) = (Some(error), true);
            }
        }
        if !self.columns.batch().is_empty() {
            return Ok(Some(self.columns.take()));
        }
        self.failure.clone().map_or(Ok(None), |error| Err(host.error(error)))
    }

    /// Appends rows for what is whole in the buffer, and brings more where they are not full.
    fn step<H: Host>(&mut self, host: &H) -> Result<CoreResult<()>, H::Error> {
        let (bytes, start) = self.source.buffered();
        let (layout, at_end, rows_max) = (self.layout, self.at_end, self.rows_max);
        match self.columns.extend_whole(layout, bytes, start, at_end, rows_max) {
            Ok(taken) => self.source.consume(taken),
            Err(error) => return Ok(Err(self.source.placed(error))),
        }
        if self.columns.is_full(rows_max) {
            return Ok(Ok(()));
        }
        self.is_over = at_end;
        if at_end {
            return Ok(Ok(()));
        }
        let (bytes, start) = self.source.buffered();
        let more = match layout.messages(bytes, start).ahead() {
            Ok(Ahead::Needs(more, _)) => more,
            _ => 1,
        };
        let needed = bytes.len().saturating_add(more);
        let filled = self.source.fill(host, needed)?;
        Ok(filled.map(|is_filled| self.at_end = !is_filled))
    }
}
