//! The stream of a `Bytewright::Reader`, which is a class derived from it: bytes, and who may use it. An
//! operation on it is in `operation.rs`, what is read most in `border/readers/`; where the bytes of a Ruby
//! object come from, in `ruby/lib/bytewright/reader.rb`.

mod operation;
mod rules;

use std::cell::{Cell, RefCell};
use std::ffi::c_int;

use bytewright::stream::{
    ByteStream, Cancel, Compression, CompressionChoice, Feed, FileSource, Source, StreamOptions,
};
use magnus::typed_data::Obj;
use magnus::{Error, RArray, RClass, RString, Ruby, Symbol, Value, method, prelude::*};

use crate::border::{
    bytes_of, define_reader_methods, encoding_index, encoding_object, lock, path_of,
    with_descriptor,
};
use crate::class;
use crate::error::raised;
use crate::memory_report::{MemoryReport, REPORTED};
use crate::turn::Turn;
use operation::{Whence, busy_here};
use rules::SearchObject;

pub(crate) use operation::Operation;
pub(crate) use rules::{LineRuleObject, TemplateObject};

/// Bytes that are read at once. They stay in a core's cache while they are used.
pub(crate) const PIECE: usize = 64 << 10;

/// A stream that is read.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::ReaderStream", free_immediately, mark, size)]
pub(crate) struct ReaderObject {
    /// Nothing where it is closed.
    pub(crate) stream: RefCell<Option<ByteStream>>,
    pub(crate) turn: Turn,
    /// The number of the encoding that lines have.
    pub(crate) encoding: c_int,
    name: String,
    /// Where the bytes of a Ruby object go.
    feed: Option<Feed>,
    /// Calls off a read that waits.
    cancel: Cancel,
    is_closed: Cell<bool>,
    /// Whether who has the turn waits where Ruby can wake it, and whether that was done.
    waits: Cell<bool>,
    was_woken: Cell<bool>,
    /// Whether a newline of its encoding is one byte that is nothing else.
    pub(crate) lines_end_with_a_byte: bool,
    memory: MemoryReport,
}

impl magnus::DataTypeFunctions for ReaderObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.turn.mark(marker);
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.memory.told()
    }
}

impl ReaderObject {
    fn new(
        source: Box<dyn Source>,
        feed: Option<Feed>,
        name: String,
        options: &OpenOptions,
    ) -> Self {
        let mut stream_options = StreamOptions::default();
        stream_options.piece = PIECE;
        // What the input asks for is bounded where it asks: a line, a sequence of bytes.
        stream_options.max_buffer = usize::MAX >> 1;
        stream_options.compression = options.compression;
        let stream = ByteStream::unread(source, &name, &stream_options);
        ReaderObject {
            cancel: stream.cancel(),
            stream: RefCell::new(Some(stream)),
            turn: Turn::default(),
            encoding: options.encoding,
            name,
            feed,
            is_closed: Cell::new(false),
            waits: Cell::new(false),
            was_woken: Cell::new(false),
            lines_end_with_a_byte: options.lines_end_with_a_byte,
            memory: MemoryReport::default(),
        }
    }

    /// Tells the collector of the memory that the stream has now, of which reading may take more.
    pub(crate) fn report_memory(&self, stream: &ByteStream) {
        self.memory.set(stream.memory_bytes());
    }

    /// `Reader.open_path(path, compressed, encoding)`.
    fn open_path(
        ruby: &Ruby,
        class: RClass,
        path: RString,
        compressed: Symbol,
        encoding: Value,
    ) -> Result<Obj<Self>, Error> {
        REPORTED.collect(ruby)?;
        let options = OpenOptions::new(ruby, compressed, encoding)?;
        let path = path_of(path)?;
        let source = lock::to_the_end(ruby, || FileSource::open(&path))?;
        let source = Box::new(raised(ruby, source)?);
        Ok(ruby.obj_wrap_as(Self::new(source, None, path.display().to_string(), &options), class))
    }

    /// `Reader.open_descriptor(number, offset, name, compressed, encoding)`: a regular file from
    /// `offset` on, by a descriptor of our own.
    fn open_descriptor(
        ruby: &Ruby,
        class: RClass,
        number: c_int,
        offset: u64,
        name: String,
        compressed: Symbol,
        encoding: Value,
    ) -> Result<Obj<Self>, Error> {
        REPORTED.collect(ruby)?;
        let options = OpenOptions::new(ruby, compressed, encoding)?;
        let copied = with_descriptor(number, |descriptor| descriptor.try_clone_to_owned());
        let copied = copied.map_err(|error| bytewright::Error::io("duplicate", &error));
        let source = copied.and_then(FileSource::from_fd).map(|source| source.from_offset(offset));
        let source = Box::new(raised(ruby, source)?);
        Ok(ruby.obj_wrap_as(Self::new(source, None, name, &options), class))
    }

    /// `Reader.open_object(name, can_seek, compressed, encoding)`: what the object's methods give is
    /// brought with `supply`.
    fn open_object(
        ruby: &Ruby,
        class: RClass,
        name: String,
        can_seek: bool,
        compressed: Symbol,
        encoding: Value,
    ) -> Result<Obj<Self>, Error> {
        REPORTED.collect(ruby)?;
        let options = OpenOptions::new(ruby, compressed, encoding)?;
        let feed = Feed::new(can_seek);
        let source = Box::new(feed.source());
        Ok(ruby.obj_wrap_as(Self::new(source, Some(feed), name, &options), class))
    }

    /// `supply(bytes)`: what an object gave; nil at its end.
    fn supply(&self, bytes: Option<RString>) {
        match (&self.feed, bytes) {
            (Some(feed), Some(bytes)) if !bytes.is_empty() => feed.push(&bytes_of(bytes)),
            (Some(feed), None) => feed.end(),
            _ => {}
        }
    }

    /// `take_sought`: where the object has to go before it is read, if anywhere.
    fn take_sought(&self) -> Option<u64> {
        self.feed.as_ref()?.take_sought()
    }

    /// `put_sought_back(offset)`
    fn put_sought_back(&self, offset: u64) {
        if let Some(feed) = &self.feed {
            feed.put_sought_back(offset);
        }
    }

    /// Whether the bytes of a file are read, by us.
    pub(crate) fn is_file(&self) -> bool {
        self.feed.is_none()
    }

    /// Whether the input can be read again.
    fn can_go_back(&self) -> bool {
        self.feed.as_ref().is_none_or(Feed::can_seek)
    }

    /// Begins an operation, when no other one goes on.
    ///
    /// # Errors
    /// `LockError` where one of this very thread does; `ClosedError`; what is raised while it waits.
    pub(crate) fn begin<'a>(
        &'a self,
        ruby: &'a Ruby,
        object: Value,
    ) -> Result<Operation<'a>, Error> {
        Operation::begin(self, ruby, object)
    }

    /// `go(whence, offset)`: goes to a place `offset` bytes from the beginning (0), from here (1) or from
    /// the end (2).
    fn go(ruby: &Ruby, this: Obj<Self>, whence: u8, offset: i64) -> Result<(), Error> {
        let whence = match whence {
            0 => Whence::Beginning,
            1 => Whence::Here,
            _ => Whence::End,
        };
        this.begin(ruby, this.as_value())?.go(whence, offset)
    }

    /// `go_to_beginning`: goes back to where it began, and what changed since is read.
    fn go_to_beginning(ruby: &Ruby, this: Obj<Self>) -> Result<(), Error> {
        this.begin(ruby, this.as_value())?.rewind()
    }

    /// `bytes_left`: how many bytes there are from here on, where that is known.
    fn bytes_left(ruby: &Ruby, this: Obj<Self>) -> Result<Option<u64>, Error> {
        this.begin(ruby, this.as_value())?.bytes_left()
    }

    /// `size`
    fn len(ruby: &Ruby, this: Obj<Self>) -> Result<Option<u64>, Error> {
        this.begin(ruby, this.as_value())?.size()
    }

    /// `count_lines`
    fn count_lines(ruby: &Ruby, this: Obj<Self>) -> Result<u64, Error> {
        if !this.lines_end_with_a_byte {
            // Raises the error that says why.
            this.funcall::<_, _, Value>("line_rule", ())?;
        }
        this.begin(ruby, this.as_value())?.count_lines()
    }

    /// `find_next(search)`: goes behind the next sequence of bytes; answers where it begins, or nil.
    fn find_next(
        ruby: &Ruby,
        this: Obj<Self>,
        search: &SearchObject,
    ) -> Result<Option<u64>, Error> {
        this.begin(ruby, this.as_value())?.find(&search.search)
    }

    /// `find_rest(search)`: where each of the sequences begins that are left.
    fn find_rest(ruby: &Ruby, this: Obj<Self>, search: &SearchObject) -> Result<RArray, Error> {
        let operation = this.begin(ruby, this.as_value())?;
        let found = ruby.ary_new();
        while let Some(at) = operation.find(&search.search)? {
            found.push(at)?;
        }
        Ok(found)
    }

    /// `compression_name`: :none, :gzip or :zstd.
    fn compression_name(ruby: &Ruby, this: Obj<Self>) -> Result<Symbol, Error> {
        let compression = this.begin(ruby, this.as_value())?.compression()?;
        Ok(ruby.to_symbol(compression.to_string()))
    }

    pub(crate) fn name(&self) -> String {
        self.name.clone()
    }

    fn encoding(&self) -> Value {
        encoding_object(self.encoding)
    }

    fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// `close_stream(woken)`: whoever waits for input is told so, by `woken` where Ruby waits.
    fn close_stream(ruby: &Ruby, this: Obj<Self>, woken: Value) -> Result<(), Error> {
        if this.is_closed.get() {
            return Ok(());
        }
        if this.turn.is_mine(ruby) {
            return Err(busy_here(ruby));
        }
        this.is_closed.set(true);
        this.cancel.cancel();
        this.forget_stream_if_closed();
        // Between here and there no other thread runs, so the one that waits does so still.
        match this.turn.thread(ruby) {
            Some(thread) if this.waits.replace(false) => {
                this.was_woken.set(true);
                thread.funcall::<_, _, Value>("raise", (woken,)).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Gives the file back, unless somebody reads it, who does that afterwards.
    fn forget_stream_if_closed(&self) {
        if self.is_closed.get()
            && let Ok(mut stream) = self.stream.try_borrow_mut()
        {
            drop(stream.take());
            self.memory.set(0);
        }
    }

    /// `begin_waiting`: from now on the thread whose turn it is may be woken.
    fn begin_waiting(&self) {
        self.waits.set(true);
    }

    /// `end_waiting`: from now on it will not be; whether it was.
    fn end_waiting(&self) -> bool {
        self.waits.set(false);
        self.was_woken.take()
    }
}

/// What Ruby says about opening.
struct OpenOptions {
    compression: CompressionChoice,
    encoding: c_int,
    lines_end_with_a_byte: bool,
}

impl OpenOptions {
    fn new(ruby: &Ruby, compressed: Symbol, encoding: Value) -> Result<Self, Error> {
        let compression = match &*compressed.name()? {
            "auto" => CompressionChoice::AutoElseNone,
            "none" => CompressionChoice::Is(Compression::None),
            "gzip" => CompressionChoice::Is(Compression::Gzip),
            "zstd" => CompressionChoice::Is(Compression::Zstd),
            other => {
                let message =
                    format!("expected compressed: :auto, :none, :gzip or :zstd, found :{other}");
                return Err(Error::new(ruby.exception_arg_error(), message));
            }
        };
        Ok(OpenOptions {
            compression,
            encoding: encoding_index(Some(encoding)),
            lines_end_with_a_byte: encoding.funcall("ascii_compatible?", ())?,
        })
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    rules::init(ruby)?;
    let class = class::define::<ReaderObject>(ruby, "ReaderStream")?;
    class.define_singleton_method("open_path", method!(ReaderObject::open_path, 3))?;
    class.define_singleton_method("open_descriptor", method!(ReaderObject::open_descriptor, 5))?;
    class.define_singleton_method("open_object", method!(ReaderObject::open_object, 4))?;
    class.define_private_method("supply", method!(ReaderObject::supply, 1))?;
    class.define_private_method("take_sought", method!(ReaderObject::take_sought, 0))?;
    class.define_private_method("put_sought_back", method!(ReaderObject::put_sought_back, 1))?;
    class.define_private_method("go", method!(ReaderObject::go, 2))?;
    class.define_private_method("go_to_beginning", method!(ReaderObject::go_to_beginning, 0))?;
    class.define_private_method("bytes_left", method!(ReaderObject::bytes_left, 0))?;
    class.define_private_method("find_next", method!(ReaderObject::find_next, 1))?;
    class.define_private_method("find_rest", method!(ReaderObject::find_rest, 1))?;
    class.define_private_method("close_stream", method!(ReaderObject::close_stream, 1))?;
    class.define_private_method("begin_waiting", method!(ReaderObject::begin_waiting, 0))?;
    class.define_private_method("end_waiting", method!(ReaderObject::end_waiting, 0))?;
    class.define_method("count_lines", method!(ReaderObject::count_lines, 0))?;
    class.define_method("size", method!(ReaderObject::len, 0))?;
    class.define_method("compression", method!(ReaderObject::compression_name, 0))?;
    class.define_method("external_encoding", method!(ReaderObject::encoding, 0))?;
    class.define_method("name", method!(ReaderObject::name, 0))?;
    class.define_method("closed?", method!(ReaderObject::is_closed, 0))?;
    define_reader_methods(class);
    Ok(())
}
