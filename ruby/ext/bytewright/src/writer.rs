//! The stream of a `Bytewright::Writer`, which is a class derived from it: opening, flushing, places. What is
//! written most is in `border/writers.rs`; how bytes go to a Ruby object, in `ruby/lib/bytewright/writer.rb`.

use std::path::Path;

use bytewright::files::FileWriter;
use bytewright::host;
use magnus::typed_data::Obj;
use magnus::{Error, RClass, RString, Ruby, method, prelude::*};

use crate::border::{WriterObject, define_writer_methods, lock, path_of, string_of};
use crate::class;
use crate::error::raised;
use crate::reader::whence_of;
use crate::turn::{Sharing, Strand};

/// `Writer.open_path(path)`.
fn open_path(ruby: &Ruby, class: RClass, path: RString) -> Result<Obj<WriterObject>, Error> {
    open_file(ruby, class, path, FileWriter::open)
}

/// `Writer.open_to_append(path)`.
fn open_to_append(ruby: &Ruby, class: RClass, path: RString) -> Result<Obj<WriterObject>, Error> {
    open_file(ruby, class, path, FileWriter::append)
}

/// `Writer.open_replacement(path)`: a file that takes the place of another when it is finished.
fn open_replacement(ruby: &Ruby, class: RClass, path: RString) -> Result<Obj<WriterObject>, Error> {
    open_file(ruby, class, path, FileWriter::replace)
}

fn open_file(
    ruby: &Ruby,
    class: RClass,
    path: RString,
    open: impl Fn(&Path) -> bytewright::Result<FileWriter>,
) -> Result<Obj<WriterObject>, Error> {
    let path = path_of(path)?;
    let file = raised(ruby, lock::to_the_end(ruby, || open(&path))?)?;
    Ok(ruby.obj_wrap_as(WriterObject::new(host::HostWriter::of_file(file)), class))
}

/// `Writer.open_object(name, origin)`: what is gathered is asked for with `gathered_bytes`.
fn open_object(ruby: &Ruby, class: RClass, name: String, origin: Option<u64>) -> Obj<WriterObject> {
    let writer = host::HostWriter::of_object(origin, &name);
    ruby.obj_wrap_as(WriterObject::new(writer), class)
}

/// Does `work` with the writer, and Ruby as its host.
fn with_host<R>(
    ruby: &Ruby,
    this: Obj<WriterObject>,
    work: impl FnOnce(&host::HostWriter<Strand>, &Sharing<'_>) -> R,
) -> R {
    let this_object: &WriterObject = &this;
    work(&this_object.writer, &this_object.host(ruby, this.as_value()))
}

/// `gathered_bytes`: a copy of the first ones, at most `count`.
fn gathered_bytes(this: &WriterObject, count: usize) -> RString {
    this.writer.gathered(count, |bytes| string_of(bytes, 0))
}

/// `forget(count)`: so many of the first ones are written.
fn forget(this: &WriterObject, count: usize) {
    this.writer.forget(count);
}

/// `flush_stream(fsync)`
fn flush_stream(ruby: &Ruby, this: Obj<WriterObject>, fsync: bool) -> Result<(), Error> {
    with_host(ruby, this, |writer, host| writer.flush(host, fsync))
}

/// `finish_stream(fsync)`: the same, and closes it where that works.
fn finish_stream(ruby: &Ruby, this: Obj<WriterObject>, fsync: bool) -> Result<(), Error> {
    with_host(ruby, this, |writer, host| writer.close(host, fsync))
}

/// `finish_replacement`: the same, and puts the file in the place of the one that it replaces.
fn finish_replacement(ruby: &Ruby, this: Obj<WriterObject>) -> Result<(), Error> {
    with_host(ruby, this, |writer, host| writer.finish_replacement(host))
}

/// `abandon_stream`: what is gathered still is dropped, and so is a file that did not become whole.
fn abandon_stream(ruby: &Ruby, this: Obj<WriterObject>) -> Result<(), Error> {
    with_host(ruby, this, |writer, host| writer.abandon(host))
}

/// `pos`
fn position(ruby: &Ruby, this: Obj<WriterObject>) -> Result<u64, Error> {
    with_host(ruby, this, |writer, host| writer.position(host))
}

/// `go(whence, offset)`: writes what is gathered, and goes to a place `offset` bytes from the beginning (0),
/// from here (1) or from the end (2).
fn go(ruby: &Ruby, this: Obj<WriterObject>, whence: u8, offset: i64) -> Result<(), Error> {
    with_host(ruby, this, |writer, host| writer.go(host, whence_of(whence), offset))
}

fn name(this: &WriterObject) -> String {
    this.writer.name().to_owned()
}

fn is_closed(this: &WriterObject) -> bool {
    this.writer.is_closed()
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<WriterObject>(ruby, "WriterStream")?;
    class.define_singleton_method("open_path", method!(open_path, 1))?;
    class.define_singleton_method("open_to_append", method!(open_to_append, 1))?;
    class.define_singleton_method("open_replacement", method!(open_replacement, 1))?;
    class.define_singleton_method("open_object", method!(open_object, 2))?;
    class.define_private_method("gathered_bytes", method!(gathered_bytes, 1))?;
    class.define_private_method("forget", method!(forget, 1))?;
    class.define_private_method("flush_stream", method!(flush_stream, 1))?;
    class.define_private_method("finish_stream", method!(finish_stream, 1))?;
    class.define_private_method("finish_replacement", method!(finish_replacement, 0))?;
    class.define_private_method("go", method!(go, 2))?;
    class.define_private_method("abandon_stream", method!(abandon_stream, 0))?;
    class.define_method("pos", method!(position, 0))?;
    class.define_method("name", method!(name, 0))?;
    class.define_method("closed?", method!(is_closed, 0))?;
    define_writer_methods(class);
    Ok(())
}
