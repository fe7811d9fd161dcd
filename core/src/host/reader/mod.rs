//! Reading for hosts: a stream, and who may use it. What is buffered a face takes at once; all else is an
//! [`Operation`].
//!
//! A regular file is read at offsets of the reader's own, so the host's file object, other readers and forked children do not
//! move it.

mod columns;
mod fill;
mod items;
mod operation;
mod options;
mod places;

use std::cell::{Cell, RefCell};

use crate::bytes::{ByteStream, Cancel, Feed, FileSource, Source, StreamOptions};
use crate::error::{Error, ErrorKind};

use super::stream_host::StreamHost;
use super::turn::Turn;

pub use columns::record_schema;
pub use fill::{DIRECT_MIN, Destination};
pub use operation::Operation;
pub use options::ReaderOptions;

// Bound (Streams): buffer of a Reader = 64 KiB.
/// Bytes that are read at once. They stay in a core's cache while they are used.
pub(super) const PIECE: usize = 64 << 10;

/// A stream that is read, shared by the threads of a host that has one lock, or used by one thread.
///
/// ```
/// use bytewright::bytes::FileSource;
/// use bytewright::host::{Blocking, HostReader, ReaderOptions};
/// # fn main() -> bytewright::Result<()> {
/// # let path = std::path::Path::new(env!("CARGO_MANIFEST_PATH"));
/// let source = FileSource::open(path)?;
/// let reader = HostReader::of_file(source, "Cargo.toml", ReaderOptions::default());
/// let first: [u8; 4] = match reader.take_array() {
///     Some(buffered) => buffered,
///     None => reader.begin(&Blocking)?.array("a u32")?,
/// };
/// assert_eq!(first, *b"[pac");
/// # Ok(())
/// # }
/// ```
pub struct HostReader<C> {
    /// Nothing where it is closed.
    stream: RefCell<Option<ByteStream>>,
    name: String,
    object: Option<SourceObject>,
    /// Calls off a read that waits.
    cancel: Cancel,
    is_closed: Cell<bool>,
    turn: Turn<C>,
}

/// An object of the host's that bytes come from.
struct SourceObject {
    /// Feed that they go to.
    feed: Feed,
    /// Position of the object at first, if it can seek.
    origin: Option<u64>,
}

impl<C: Clone> HostReader<C> {
    /// Reads `source`, which errors call `name`.
    pub fn of_file(source: FileSource, name: &str, options: ReaderOptions) -> Self {
        Self::new(Box::new(source), None, name, options)
    }

    /// Reads an object of the host's, which was at `origin` if it can be told to go elsewhere.
    pub fn of_object(origin: Option<u64>, name: &str, options: ReaderOptions) -> Self {
        let feed = Feed::new(origin.is_some());
        let source = Box::new(feed.source());
        Self::new(source, Some(SourceObject { feed, origin }), name, options)
    }

    fn new(
        source: Box<dyn Source>,
        object: Option<SourceObject>,
        name: &str,
        options: ReaderOptions,
    ) -> Self {
        let options = StreamOptions {
            piece: PIECE,
            // What the input asks for is bounded where it asks: a line, a sequence of bytes.
            max_buffer: usize::MAX >> 1,
            compression: options.compression,
            ..StreamOptions::default()
        };
        let stream = ByteStream::unread(source, name, &options);
        HostReader {
            cancel: stream.cancel(),
            stream: RefCell::new(Some(stream)),
            name: name.to_owned(),
            object,
            is_closed: Cell::new(false),
            turn: Turn::default(),
        }
    }

    /// Begins an operation, when no other one goes on.
    ///
    /// # Errors
    /// `Lock` where one of this very thread does; `Closed`; what is raised while it waits.
    pub fn begin<'a, H>(&'a self, host: &'a H) -> Result<Operation<'a, H>, H::Error>
    where
        H: StreamHost<Caller = C>,
    {
        Operation::begin(self, host)
    }

    /// The stream, where no operation goes on: for a face whose methods look at what is buffered. None of them may let
    /// others run meanwhile.
    #[inline]
    pub fn at_rest(&self) -> Option<&RefCell<Option<ByteStream>>> {
        (!self.turn.is_taken()).then_some(&self.stream)
    }

    /// The stream, whatever goes on.
    #[inline]
    pub fn stream(&self) -> &RefCell<Option<ByteStream>> {
        &self.stream
    }

    /// The bytes of a value, taken if they are buffered and no operation goes on.
    #[inline]
    pub fn take_array<const N: usize>(&self) -> Option<[u8; N]> {
        let mut stream = self.at_rest()?.try_borrow_mut().ok()?;
        let stream = stream.as_mut()?;
        let value = *stream.buffered().first_chunk::<N>()?;
        stream.consume(N);
        Some(value)
    }

    /// Takes bytes that are buffered.
    #[inline]
    pub fn consume(&self, count: usize) {
        if let Ok(mut stream) = self.stream.try_borrow_mut()
            && let Some(stream) = stream.as_mut()
        {
            stream.consume(count);
        }
    }

    /// Returns its name in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the feed that the bytes of an object go to, if one is read.
    pub fn feed(&self) -> Option<&Feed> {
        self.object.as_ref().map(|object| &object.feed)
    }

    /// Returns true after it was closed, even if it is still being read.
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Whose turn it is.
    pub fn turn(&self) -> &Turn<C> {
        &self.turn
    }

    /// Gives the file back, unless somebody reads it: then a read of a file that waits ends, and the operation does so
    /// afterwards. A wait for an object is the host's to end.
    ///
    /// # Errors
    /// `Lock` where this very caller reads.
    pub fn close<H: StreamHost<Caller = C>>(&self, host: &H) -> Result<(), H::Error> {
        if self.is_closed() {
            return Ok(());
        }
        if self.turn.is_mine(host)? {
            return Err(busy(host));
        }
        self.is_closed.set(true);
        self.cancel.cancel();
        self.forget_stream_if_closed(host);
        Ok(())
    }

    /// Gives the file back where nobody reads it any more.
    fn forget_stream_if_closed<H: StreamHost<Caller = C>>(&self, host: &H) {
        if self.is_closed.get()
            && let Ok(mut stream) = self.stream.try_borrow_mut()
        {
            drop(stream.take());
            host.report_memory(0);
        }
    }

    /// Returns true if the input can be read again.
    fn can_go_back(&self) -> bool {
        self.object.as_ref().is_none_or(|object| object.origin.is_some())
    }
}

/// Builds the error of a caller that comes back in the middle of its own operation, and would wait for itself.
fn busy<H: StreamHost>(host: &H) -> H::Error {
    let message = "expected an idle reader, found one that this thread is already using: a signal handler \
                   came while it reads, or the object that it reads uses it";
    host.error(Error::new(ErrorKind::Lock, message))
}
