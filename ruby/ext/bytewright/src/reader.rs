//! The stream of a `Bytewright::Reader`, which is a class derived from it: opening, places, and the rules that it is
//! told. What is read most is in `border/readers/`; where the bytes of a Ruby object come from, in
//! `ruby/lib/bytewright/reader.rb`.

use std::cell::Cell;
use std::ffi::c_int;

use bytewright::bytes::{FileSource, LineRule, Search, Separator};
use bytewright::host::{self, ReaderOptions, Whence};
use bytewright::options::NamedOptions;
use bytewright::wire::RecordTemplate;
use magnus::typed_data::Obj;
use magnus::{
    Error, RArray, RClass, RHash, RString, Ruby, Symbol, Value, function, method, prelude::*,
};

use crate::border::{
    LineRuleObject, Operation, ReaderObject, SearchObject, TemplateObject, bytes_of,
    define_reader_methods, encoding_index, encoding_object, lend, lock, path_of, with_descriptor,
};
use crate::class;
use crate::error::raised;
use crate::memory_report::{MemoryReport, REPORTED};
use crate::options::settings;
use crate::turn::{Strand, TurnMutex};

/// `Reader.open_path(path, options, encoding)`.
fn open_path(
    ruby: &Ruby,
    class: RClass,
    path: RString,
    options: RHash,
    encoding: Value,
) -> Result<Value, Error> {
    let options = reader_options(ruby, options)?;
    let path = path_of(path)?;
    let source = raised(ruby, lock::to_the_end(ruby, || FileSource::open(&path))?)?;
    let name = path.display().to_string();
    wrap(ruby, class, host::HostReader::of_file(source, &name, options), encoding)
}

/// `Reader.open_descriptor(number, offset, name, options, encoding)`: a regular file from
/// `offset` on, by a descriptor of our own.
fn open_descriptor(
    ruby: &Ruby,
    class: RClass,
    number: c_int,
    offset: u64,
    name: String,
    options: RHash,
    encoding: Value,
) -> Result<Value, Error> {
    let options = reader_options(ruby, options)?;
    let copied = with_descriptor(number, |descriptor| descriptor.try_clone_to_owned());
    let copied = copied.map_err(|error| bytewright::Error::io("duplicate", &error));
    let source = copied.and_then(FileSource::from_fd).map(|source| source.from_offset(offset));
    let source = raised(ruby, source)?;
    wrap(ruby, class, host::HostReader::of_file(source, &name, options), encoding)
}

/// `Reader.open_object(name, origin, options, encoding)`: what the object's methods give is
/// brought with `supply`.
fn open_object(
    ruby: &Ruby,
    class: RClass,
    name: String,
    origin: Option<u64>,
    options: RHash,
    encoding: Value,
) -> Result<Value, Error> {
    let options = reader_options(ruby, options)?;
    wrap(ruby, class, host::HostReader::of_object(origin, &name, options), encoding)
}

fn reader_options(ruby: &Ruby, options: RHash) -> Result<ReaderOptions, Error> {
    REPORTED.collect(ruby)?;
    raised(ruby, settings(ruby, &[ReaderOptions::OPTIONS], options)?.take())
}

fn wrap(
    ruby: &Ruby,
    class: RClass,
    reader: host::HostReader<Strand>,
    encoding: Value,
) -> Result<Value, Error> {
    let object = ReaderObject {
        reader,
        mutex: TurnMutex::default(),
        encoding: encoding_index(Some(encoding)),
        lines_end_with_a_byte: encoding.funcall("ascii_compatible?", ())?,
        waits: Cell::new(false),
        was_woken: Cell::new(false),
        memory: MemoryReport::default(),
    };
    lend(ruby, ruby.obj_wrap_as(object, class).as_value())
}

/// `supply(bytes)`: what an object gave; nil at its end.
fn supply(this: &ReaderObject, bytes: Option<RString>) {
    match (this.reader.feed(), bytes) {
        (Some(feed), Some(bytes)) if !bytes.is_empty() => feed.push(&bytes_of(bytes)),
        (Some(feed), None) => feed.end(),
        _ => {}
    }
}

/// Does `work` when no other operation goes on.
fn operate<T>(
    ruby: &Ruby,
    this: Obj<ReaderObject>,
    work: impl FnOnce(&Operation<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    this.operate(ruby, this.as_value(), work)
}

/// `go(whence, offset)`: goes to a place `offset` bytes from the beginning (0), from here (1) or from
/// the end (2).
fn go(ruby: &Ruby, this: Obj<ReaderObject>, whence: u8, offset: i64) -> Result<(), Error> {
    operate(ruby, this, |operation| operation.go(whence_of(whence), offset))
}

/// Returns the meaning of a number of `WHENCES` in `ruby/lib/bytewright/object_stream.rb`.
pub(crate) fn whence_of(number: u8) -> Whence {
    match number {
        0 => Whence::Beginning,
        1 => Whence::Here,
        _ => Whence::End,
    }
}

/// `go_to_beginning`: goes back to where it began, and what changed since is read.
fn go_to_beginning(ruby: &Ruby, this: Obj<ReaderObject>) -> Result<(), Error> {
    operate(ruby, this, |operation| operation.rewind())
}

/// `bytes_left`: how many bytes there are from here on, where that is known.
fn bytes_left(ruby: &Ruby, this: Obj<ReaderObject>) -> Result<Option<u64>, Error> {
    operate(ruby, this, |operation| operation.bytes_left())
}

fn size(ruby: &Ruby, this: Obj<ReaderObject>) -> Result<Option<u64>, Error> {
    operate(ruby, this, |operation| operation.size())
}

fn count_lines(ruby: &Ruby, this: Obj<ReaderObject>) -> Result<u64, Error> {
    if !this.lines_end_with_a_byte {
        // Raises the error that says why.
        this.funcall::<_, _, Value>("line_rule", ())?;
    }
    operate(ruby, this, |operation| operation.count_lines())
}

/// `find_next(search)`: goes behind the next sequence of bytes; answers where it begins, or nil.
fn find_next(
    ruby: &Ruby,
    this: Obj<ReaderObject>,
    search: &SearchObject,
) -> Result<Option<u64>, Error> {
    operate(ruby, this, |operation| operation.find(&search.0))
}

/// `find_rest(search)`: where each of the sequences begins that are left.
fn find_rest(ruby: &Ruby, this: Obj<ReaderObject>, search: &SearchObject) -> Result<RArray, Error> {
    operate(ruby, this, |operation| {
        let found = ruby.ary_new();
        while let Some(at) = operation.find(&search.0)? {
            found.push(at)?;
        }
        Ok(found)
    })
}

/// `compression`: :none, :gzip or :zstd.
fn compression(ruby: &Ruby, this: Obj<ReaderObject>) -> Result<Symbol, Error> {
    let compression = operate(ruby, this, |operation| operation.compression())?;
    Ok(ruby.to_symbol(compression.to_string()))
}

fn external_encoding(this: &ReaderObject) -> Value {
    encoding_object(this.encoding)
}

fn name(this: &ReaderObject) -> String {
    this.reader.name().to_owned()
}

fn is_closed(this: &ReaderObject) -> bool {
    this.reader.is_closed()
}

/// `close_stream(woken)`: whoever waits for input is told so, by `woken` where Ruby waits.
fn close_stream(ruby: &Ruby, this: Obj<ReaderObject>, woken: Value) -> Result<(), Error> {
    if this.reader.is_closed() {
        return Ok(());
    }
    this.reader.close(&this.host(ruby, this.as_value()))?;
    // Between here and there no other thread runs, so the one that waits does so still.
    match this.reader.turn().holder() {
        Some(holder) if this.waits.replace(false) => {
            this.was_woken.set(true);
            holder.thread(ruby).funcall::<_, _, Value>("raise", (woken,)).map(drop)
        }
        _ => Ok(()),
    }
}

/// `begin_waiting`: from now on the thread whose turn it is may be woken.
fn begin_waiting(this: &ReaderObject) {
    this.waits.set(true);
}

/// `end_waiting`: from now on it will not be; whether it was.
fn end_waiting(this: &ReaderObject) -> bool {
    this.waits.set(false);
    this.was_woken.take()
}

/// `LineRule.new(separator, limit, keeps_characters, chomp)`.
fn new_line_rule(
    separator: Option<RString>,
    limit: Option<usize>,
    keeps_characters: bool,
    chomp: bool,
) -> LineRuleObject {
    let separator =
        separator.map_or(Separator::None, |separator| Separator::new(&bytes_of(separator)));
    LineRuleObject(LineRule { separator, limit, keeps_characters, chomp })
}

/// `Search.new(pattern)`.
fn new_search(ruby: &Ruby, pattern: RString) -> Result<SearchObject, Error> {
    raised(ruby, Search::new(&bytes_of(pattern))).map(SearchObject)
}

/// `RecordTemplate.new(text)`.
fn new_template(ruby: &Ruby, text: String) -> Result<TemplateObject, Error> {
    raised(ruby, RecordTemplate::parse(&text)).map(TemplateObject)
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let rule = class::define::<LineRuleObject>(ruby, "LineRule")?;
    rule.define_singleton_method("new", function!(new_line_rule, 4))?;
    let search = class::define::<SearchObject>(ruby, "Search")?;
    search.define_singleton_method("new", function!(new_search, 1))?;
    let template = class::define::<TemplateObject>(ruby, "RecordTemplate")?;
    template.define_singleton_method("new", function!(new_template, 1))?;

    let class = class::define::<ReaderObject>(ruby, "ReaderStream")?;
    class.define_singleton_method("open_path", method!(open_path, 3))?;
    class.define_singleton_method("open_descriptor", method!(open_descriptor, 5))?;
    class.define_singleton_method("open_object", method!(open_object, 4))?;
    class.define_private_method("supply", method!(supply, 1))?;
    class.define_private_method("go", method!(go, 2))?;
    class.define_private_method("go_to_beginning", method!(go_to_beginning, 0))?;
    class.define_private_method("bytes_left", method!(bytes_left, 0))?;
    class.define_private_method("find_next", method!(find_next, 1))?;
    class.define_private_method("find_rest", method!(find_rest, 1))?;
    class.define_private_method("close_stream", method!(close_stream, 1))?;
    class.define_private_method("begin_waiting", method!(begin_waiting, 0))?;
    class.define_private_method("end_waiting", method!(end_waiting, 0))?;
    class.define_method("count_lines", method!(count_lines, 0))?;
    class.define_method("size", method!(size, 0))?;
    class.define_method("compression", method!(compression, 0))?;
    class.define_method("external_encoding", method!(external_encoding, 0))?;
    class.define_method("name", method!(name, 0))?;
    class.define_method("closed?", method!(is_closed, 0))?;
    define_reader_methods(class);
    Ok(())
}
