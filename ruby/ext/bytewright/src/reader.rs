//! The stream of a `Bytewright::Reader`, which is a class derived from it: bytes, and who may use it. What is read most is in
//! `border/readers.rs`; where the bytes of a Ruby object come from, in `ruby/lib/bytewright/reader.rb`.
//!
//! Each operation takes steps that wait for nothing (`ByteStream::try_fill` and its like), with Ruby's
//! lock. Where a step would have to wait, the fiber takes the reader's turn, which others wait for, and
//! brings more: by a read without the lock where the input is a file of ours, by Ruby's methods where it
//! is an object. An operation takes its bytes when it has them all, so one that is interrupted has taken
//! none.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;

use bytewright::io::{
    ByteStream, Cancel, Compression, CompressionChoice, Feed, FileSource, Fill, Found, Line,
    LineCount, LineRule, LineStep, Search, Separator, Source, StreamOptions,
};
use bytewright::wire::RecordTemplate;
use bytewright::{ErrorKind, Result as CoreResult};
use magnus::typed_data::Obj;
use magnus::{Error, RClass, RString, Ruby, Symbol, Value, function, method, prelude::*};

use crate::border::{
    adjust_memory_usage, bytes_of, define_reader_methods, encoding_index, encoding_object, lock,
    path_of, with_descriptor,
};
use crate::class;
use crate::error::{closed, raised, to_ruby};
use crate::turn::{Taken, Turn};

/// Bytes that are read at once. They stay in a core's cache while they are used.
pub(crate) const PIECE: usize = 64 << 10;
/// Bytes that one step makes buffered, so that a step never takes long.
const STEP_MAX: usize = 1 << 20;
/// Bytes in which lines are counted with Ruby's lock; more are counted without it.
const COUNTED_WITH_LOCK: u64 = 1 << 20;

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
}

impl magnus::DataTypeFunctions for ReaderObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.turn.mark(marker);
    }

    fn size(&self) -> usize {
        size_of::<Self>() + PIECE
    }
}

impl Drop for ReaderObject {
    fn drop(&mut self) {
        adjust_memory_usage(-(PIECE as isize));
    }
}

/// What came of a step.
pub(crate) enum Step<R> {
    Done(R),
    /// It is not done, and may go on when interrupts have had their turn.
    Later,
    /// It needs more than there is without waiting.
    WouldWait,
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
        adjust_memory_usage(PIECE as isize);
        ReaderObject {
            cancel: stream.cancel(),
            stream: RefCell::new(Some(stream)),
            turn: Turn::default(),
            encoding: options.encoding,
            name,
            feed,
            is_closed: Cell::new(false),
        }
    }

    /// `Reader.open_path(path, compressed, encoding)`.
    fn open_path(
        ruby: &Ruby,
        class: RClass,
        path: RString,
        compressed: Symbol,
        encoding: Value,
    ) -> Result<Obj<Self>, Error> {
        let options = OpenOptions::new(ruby, compressed, encoding)?;
        let path = path_of(path);
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
        let options = OpenOptions::new(ruby, compressed, encoding)?;
        let feed = Feed::new(can_seek);
        let source = Box::new(feed.source());
        Ok(ruby.obj_wrap_as(Self::new(source, Some(feed), name, &options), class))
    }

    /// Takes `step` until it is done, and waits between steps where they say so. The reader is this
    /// fiber's from the first wait on.
    ///
    /// # Errors
    /// Those of the steps; what is raised while it waits; `ClosedError`.
    pub(crate) fn run<R>(
        &self,
        ruby: &Ruby,
        object: Value,
        mut step: impl FnMut(&mut ByteStream) -> CoreResult<Step<R>>,
    ) -> Result<R, Error> {
        if !self.turn.is_taken() {
            self.with_stream(ruby, |stream| {
                stream.look_again();
                Ok(())
            })?;
            if let Step::Done(result) = self.with_stream(ruby, &mut step)? {
                return Ok(result);
            }
        }
        if self.turn.take(ruby)? == Taken::Already {
            let message = "expected a reader that is not read while it asks its IO, found one";
            return Err(to_ruby(ruby, &bytewright::Error::new(ErrorKind::Lock, message)));
        }
        let outcome = self.run_in_turn(ruby, object, &mut step);
        self.turn.give_back(ruby)?;
        outcome
    }

    fn run_in_turn<R>(
        &self,
        ruby: &Ruby,
        object: Value,
        step: &mut impl FnMut(&mut ByteStream) -> CoreResult<Step<R>>,
    ) -> Result<R, Error> {
        loop {
            match self.with_stream(ruby, &mut *step)? {
                Step::Done(result) => return Ok(result),
                Step::Later => lock::check_interrupts(ruby)?,
                Step::WouldWait => self.bring(ruby, object)?,
            }
        }
    }

    /// Does something with the stream that needs no waiting.
    pub(crate) fn with_stream<R>(
        &self,
        ruby: &Ruby,
        work: impl FnOnce(&mut ByteStream) -> CoreResult<R>,
    ) -> Result<R, Error> {
        let Ok(mut stream) = self.stream.try_borrow_mut() else {
            let message = "a reader that another process was reading; open it again after fork";
            return Err(closed(ruby, message));
        };
        if self.is_closed.get() {
            stream.take();
        }
        match stream.as_mut() {
            Some(stream) => raised(ruby, work(stream)),
            None => Err(closed(ruby, "closed stream")),
        }
    }

    /// Waits for more input than there is.
    fn bring(&self, ruby: &Ruby, object: Value) -> Result<(), Error> {
        if self.feed.is_some() {
            return object.funcall::<_, _, Value>("bring_input", ()).map(drop);
        }
        let Ok(mut stream) = self.stream.try_borrow_mut() else { return Ok(()) };
        let Some(stream) = stream.as_mut() else { return Ok(()) };
        let wanted = stream.buffered().len() + 1;
        // An error stays in the stream, and comes with the next step.
        lock::until_done(ruby, &self.cancel, || stream.fill(wanted).map(drop)).map(drop)
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

    /// Whether what is buffered is not to be taken as it is.
    #[inline]
    pub(crate) fn closed_or_taken(&self) -> bool {
        self.is_closed.get() || self.turn.is_taken()
    }

    /// Whether the bytes of a file are read, by us.
    fn is_file(&self) -> bool {
        self.feed.is_none()
    }

    /// Whether going back costs nothing.
    pub(crate) fn goes_back(&self, ruby: &Ruby) -> bool {
        let compression = self.with_stream(ruby, |stream| Ok(stream.compression()));
        self.is_file() && compression.is_ok_and(|compression| compression == Compression::None)
    }

    /// Makes `count` bytes buffered, or as many as there are, and answers how many of them are.
    pub(crate) fn want(&self, ruby: &Ruby, object: Value, count: usize) -> Result<usize, Error> {
        self.run(ruby, object, |stream| {
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
    pub(crate) fn want_value(
        &self,
        ruby: &Ruby,
        object: Value,
        what: &str,
        len: usize,
    ) -> Result<(), Error> {
        let available = self.want(ruby, object, len)?;
        if available >= len { Ok(()) } else { Err(self.truncated(ruby, what, len, available)) }
    }

    fn truncated(&self, ruby: &Ruby, what: &str, needed: usize, available: usize) -> Error {
        let error = bytewright::Error::truncated(what, needed as u64, available as u64);
        let position = self.with_stream(ruby, |stream| Ok(stream.position()));
        to_ruby(ruby, &error.at(position.unwrap_or(0)).in_file(&self.name))
    }

    /// The line that the reader is at, buffered.
    pub(crate) fn line(
        &self,
        ruby: &Ruby,
        object: Value,
        rule: &LineRule,
    ) -> Result<Option<Line>, Error> {
        let (mut searched, mut from) = (0, u64::MAX);
        self.run(ruby, object, |stream| {
            // Before its turn came, another thread may have taken some.
            if from != stream.position() {
                searched = 0;
            }
            let step = rule.try_line(stream, &mut searched)?;
            from = stream.position();
            Ok(match step {
                LineStep::Line(line) => Step::Done(Some(line)),
                LineStep::Ended => Step::Done(None),
                LineStep::Later => Step::Later,
                LineStep::WouldWait => Step::WouldWait,
            })
        })
    }

    /// Whether the next line is there without waiting for the object that is read, or there is none.
    pub(crate) fn has_line_now(&self, ruby: &Ruby, rule: &LineRule) -> Result<bool, Error> {
        let mut searched = 0;
        self.with_stream(ruby, |stream| {
            loop {
                match rule.try_line(stream, &mut searched)? {
                    LineStep::Later => {}
                    step => return Ok(step != LineStep::WouldWait),
                }
            }
        })
    }

    /// Passes over `count` bytes; answers how many there were.
    pub(crate) fn skip(&self, ruby: &Ruby, object: Value, count: u64) -> Result<u64, Error> {
        if !self.is_file() && count <= STEP_MAX as u64 {
            // An object cannot be asked for them again, so none are taken before all are there.
            let there = self.want(ruby, object, count as usize)?;
            self.with_stream(ruby, |stream| {
                stream.consume(there);
                Ok(())
            })?;
            return Ok(there as u64);
        }
        let begin = self.position(ruby)?;
        let target = begin.saturating_add(count);
        let skipped = self.run(ruby, object, |stream| skip_towards(stream, target));
        self.or_back_to(ruby, begin, skipped)?;
        Ok(self.position(ruby)?.saturating_sub(begin))
    }

    /// Goes back to where an operation began that failed, where that costs nothing.
    pub(crate) fn or_back_to<R>(
        &self,
        ruby: &Ruby,
        begin: u64,
        result: Result<R, Error>,
    ) -> Result<R, Error> {
        if result.is_err() && self.goes_back(ruby) {
            // What cannot be gone back to is lost; the error that is raised says why.
            let _ = self.with_stream(ruby, |stream| stream.seek(begin));
        }
        result
    }

    pub(crate) fn position(&self, ruby: &Ruby) -> Result<u64, Error> {
        self.run_alone(ruby, |stream| Ok(stream.position()))
    }

    /// Does something with the stream when it is nobody else's.
    fn run_alone<R>(
        &self,
        ruby: &Ruby,
        mut work: impl FnMut(&mut ByteStream) -> CoreResult<R>,
    ) -> Result<R, Error> {
        if !self.turn.is_taken() || self.turn.is_mine(ruby) {
            return self.with_stream(ruby, work);
        }
        self.turn.take(ruby)?;
        let outcome = self.with_stream(ruby, &mut work);
        self.turn.give_back(ruby)?;
        outcome
    }

    /// `go_to(position)`: goes to a place counted from where it began.
    fn go_to(ruby: &Ruby, this: Obj<Self>, target: u64) -> Result<(), Error> {
        if this.position(ruby)? == target {
            return Ok(());
        }
        // How it is compressed has to be known: a plain file is gone to at once.
        this.want(ruby, this.as_value(), 1)?;
        this.run_alone(ruby, |stream| stream.seek(target))?;
        if this.position(ruby)? >= target {
            return Ok(());
        }
        this.run(ruby, this.as_value(), |stream| skip_towards(stream, target))
    }

    /// `go_to_beginning`: the same for the beginning, and what changed since is read.
    fn go_to_beginning(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.run_alone(ruby, ByteStream::rewind)
    }

    /// `bytes_left`: how many bytes there are from here on, where that is known.
    fn bytes_left(ruby: &Ruby, this: &Self) -> Result<Option<u64>, Error> {
        this.run_alone(ruby, |stream| {
            let is_plain = stream.compression() == Compression::None && stream.input_read() > 0;
            let len = stream.input_len().filter(|_| is_plain);
            Ok(len.map(|len| len.saturating_sub(stream.position())))
        })
    }

    /// `count_lines`
    fn count_lines(ruby: &Ruby, this: Obj<Self>) -> Result<u64, Error> {
        let begin = this.position(ruby)?;
        let counted = this.count_lines_left(ruby, this.as_value());
        this.or_back_to(ruby, begin, counted)
    }

    fn count_lines_left(&self, ruby: &Ruby, object: Value) -> Result<u64, Error> {
        let mut count = LineCount::default();
        let mut begin = None;
        self.run(ruby, object, |stream| {
            count.add_buffered(stream);
            let begin = *begin.get_or_insert(stream.position());
            Ok(match stream.try_fill(1)? {
                Fill::Ended => Step::Done(()),
                Fill::WouldWait => Step::WouldWait,
                Fill::Ready if self.is_file() && stream.position() - begin >= COUNTED_WITH_LOCK => {
                    Step::Done(())
                }
                Fill::Ready => Step::Later,
            })
        })?;
        if self.is_file() {
            self.turn.take(ruby)?;
            let counted = self.count_without_lock(ruby, &mut count);
            self.turn.give_back(ruby)?;
            counted?;
        }
        Ok(count.lines())
    }

    fn count_without_lock(&self, ruby: &Ruby, count: &mut LineCount) -> Result<(), Error> {
        let Ok(mut stream) = self.stream.try_borrow_mut() else { return Ok(()) };
        let Some(stream) = stream.as_mut() else { return Ok(()) };
        let counted = lock::until_done(ruby, &self.cancel, || count.add_all(stream))?;
        raised(ruby, counted)
    }

    /// `find_next(search)`: goes behind the next sequence of bytes; answers where it begins, or nil.
    fn find_next(
        ruby: &Ruby,
        this: Obj<Self>,
        search: &SearchObject,
    ) -> Result<Option<u64>, Error> {
        this.run(ruby, this.as_value(), |stream| {
            Ok(match search.search.try_find(stream)? {
                Found::Here => {
                    let at = stream.position();
                    stream.consume(search.search.len());
                    Step::Done(Some(at))
                }
                Found::Nowhere => Step::Done(None),
                Found::Later => Step::Later,
                Found::WouldWait => Step::WouldWait,
            })
        })
    }

    /// `compression_name`: :none, :gzip or :zstd, as far as is known.
    fn compression_name(ruby: &Ruby, this: Obj<Self>) -> Result<Symbol, Error> {
        this.want(ruby, this.as_value(), 1)?;
        let compression = this.run_alone(ruby, |stream| Ok(stream.compression()))?;
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

    /// `close_stream`: whoever waits for input is told so.
    fn close_stream(&self) {
        self.is_closed.set(true);
        match self.stream.try_borrow_mut() {
            Ok(mut stream) => drop(stream.take()),
            Err(_) => self.cancel.cancel(),
        }
    }
}

fn skip_towards(stream: &mut ByteStream, target: u64) -> CoreResult<Step<()>> {
    let near = target.min(stream.position().saturating_add(STEP_MAX as u64));
    // A file is passed over at once, however long the way is.
    let is_plain = stream.compression() == Compression::None;
    Ok(match stream.try_skip_to(if is_plain { target } else { near })? {
        Fill::Ready if stream.position() >= target => Step::Done(()),
        Fill::Ready => Step::Later,
        Fill::WouldWait => Step::WouldWait,
        Fill::Ended => Step::Done(()),
    })
}

/// What Ruby says about opening.
struct OpenOptions {
    compression: CompressionChoice,
    encoding: c_int,
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
        Ok(OpenOptions { compression, encoding: encoding_index(Some(encoding)) })
    }
}

/// What a line is, for as long as lines are read by it.
#[magnus::wrap(class = "Bytewright::LineRule", free_immediately, size)]
pub(crate) struct LineRuleObject {
    pub(crate) rule: LineRule,
}

impl LineRuleObject {
    /// `LineRule.new(separator, limit, keeps_characters, chomp)`.
    fn new(
        separator: Option<RString>,
        limit: Option<usize>,
        keeps_characters: bool,
        chomp: bool,
    ) -> Self {
        let separator =
            separator.map_or(Separator::None, |separator| Separator::new(&bytes_of(separator)));
        LineRuleObject { rule: LineRule { separator, limit, keeps_characters, chomp } }
    }
}

/// Bytes that are looked for.
#[magnus::wrap(class = "Bytewright::Search", free_immediately, size)]
struct SearchObject {
    search: Search,
}

impl SearchObject {
    /// `Search.new(pattern)`.
    fn new(ruby: &Ruby, pattern: RString) -> Result<Self, Error> {
        Ok(SearchObject { search: raised(ruby, Search::new(&bytes_of(pattern)))? })
    }
}

/// What records hold.
#[magnus::wrap(class = "Bytewright::RecordTemplate", free_immediately, size)]
pub(crate) struct TemplateObject {
    pub(crate) template: RecordTemplate,
}

impl TemplateObject {
    /// `RecordTemplate.new(text)`.
    fn new(ruby: &Ruby, text: String) -> Result<Self, Error> {
        Ok(TemplateObject { template: raised(ruby, RecordTemplate::parse(&text))? })
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let rule = class::define::<LineRuleObject>(ruby, "LineRule")?;
    rule.define_singleton_method("new", function!(LineRuleObject::new, 4))?;
    let search = class::define::<SearchObject>(ruby, "Search")?;
    search.define_singleton_method("new", function!(SearchObject::new, 1))?;
    let template = class::define::<TemplateObject>(ruby, "RecordTemplate")?;
    template.define_singleton_method("new", function!(TemplateObject::new, 1))?;

    let class = class::define::<ReaderObject>(ruby, "ReaderStream")?;
    class.define_singleton_method("open_path", method!(ReaderObject::open_path, 3))?;
    class.define_singleton_method("open_descriptor", method!(ReaderObject::open_descriptor, 5))?;
    class.define_singleton_method("open_object", method!(ReaderObject::open_object, 4))?;
    class.define_private_method("supply", method!(ReaderObject::supply, 1))?;
    class.define_private_method("take_sought", method!(ReaderObject::take_sought, 0))?;
    class.define_private_method("put_sought_back", method!(ReaderObject::put_sought_back, 1))?;
    class.define_private_method("go_to", method!(ReaderObject::go_to, 1))?;
    class.define_private_method("go_to_beginning", method!(ReaderObject::go_to_beginning, 0))?;
    class.define_private_method("bytes_left", method!(ReaderObject::bytes_left, 0))?;
    class.define_private_method("find_next", method!(ReaderObject::find_next, 1))?;
    class.define_private_method("close_stream", method!(ReaderObject::close_stream, 0))?;
    class.define_method("count_lines", method!(ReaderObject::count_lines, 0))?;
    class.define_method("compression", method!(ReaderObject::compression_name, 0))?;
    class.define_method("external_encoding", method!(ReaderObject::encoding, 0))?;
    class.define_method("name", method!(ReaderObject::name, 0))?;
    class.define_method("closed?", method!(ReaderObject::is_closed, 0))?;
    define_reader_methods(class);
    Ok(())
}
