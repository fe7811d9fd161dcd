//! The stream of a `Bytewright::Writer`, which is a class derived from it: bytes that are gathered, and
//! where they go. What is written most is in `border/writers.rs`; how bytes go to a Ruby object, in
//! `ruby/lib/bytewright/writer.rb`.
//!
//! Bytes leave the gathered ones when they are written, so neither an error nor an interrupt loses or
//! doubles any.

use std::cell::{Cell, RefCell};

use bytewright::io::FileWriter;
use magnus::typed_data::Obj;
use magnus::{Error, RClass, RString, Ruby, Value, method, prelude::*};

use crate::border::{adjust_memory_usage, define_writer_methods, lock, path_of, string_of};
use crate::class;
use crate::error::{closed, raised};
use crate::turn::{Taken, Turn};

/// Bytes that are gathered before they are written. Giving Ruby's lock up for them costs little then.
pub(crate) const GATHERED_MAX: usize = 128 << 10;

/// A stream that is written.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::WriterStream", free_immediately, mark, size)]
pub(crate) struct WriterObject {
    pub(crate) gathered: RefCell<Vec<u8>>,
    pub(crate) turn: Turn,
    pub(crate) is_closed: Cell<bool>,
    /// Nothing where bytes go to a Ruby object.
    file: RefCell<Option<FileWriter>>,
    /// Bytes that went to a Ruby object.
    taken: Cell<u64>,
    name: String,
    /// A forked child has a copy of what the parent gathered, and must not write it, too.
    process: u32,
}

impl magnus::DataTypeFunctions for WriterObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.turn.mark(marker);
    }

    fn size(&self) -> usize {
        size_of::<Self>() + GATHERED_MAX
    }
}

impl Drop for WriterObject {
    /// Writes what is left, as IO does, where the file is not one that only closing makes whole.
    fn drop(&mut self) {
        adjust_memory_usage(-(GATHERED_MAX as isize));
        let (file, gathered) = (self.file.get_mut(), self.gathered.get_mut());
        if let Some(file) = file.as_mut().filter(|file| !file.replaces())
            && self.process == std::process::id()
            && !gathered.is_empty()
        {
            // Nobody is there any more to be told.
            let _ = file.write(gathered);
        }
    }
}

impl WriterObject {
    fn new(file: Option<FileWriter>, name: String) -> Self {
        adjust_memory_usage(GATHERED_MAX as isize);
        WriterObject {
            gathered: RefCell::new(Vec::with_capacity(GATHERED_MAX)),
            turn: Turn::default(),
            is_closed: Cell::new(false),
            file: RefCell::new(file),
            taken: Cell::new(0),
            name,
            process: std::process::id(),
        }
    }

    /// `Writer.open_path(path, append)`.
    fn open_path(
        ruby: &Ruby,
        class: RClass,
        path: RString,
        append: bool,
    ) -> Result<Obj<Self>, Error> {
        let path = path_of(path);
        let file = lock::to_the_end(ruby, || FileWriter::open(&path, append))?;
        Ok(ruby.obj_wrap_as(Self::of_file(raised(ruby, file)?), class))
    }

    /// `Writer.open_replacement(path)`: a file that takes the place of another when it is finished.
    fn open_replacement(ruby: &Ruby, class: RClass, path: RString) -> Result<Obj<Self>, Error> {
        let path = path_of(path);
        let file = lock::to_the_end(ruby, || FileWriter::replace(&path))?;
        Ok(ruby.obj_wrap_as(Self::of_file(raised(ruby, file)?), class))
    }

    /// `Writer.open_object(name)`: what is gathered is asked for with `gathered_bytes`.
    fn open_object(ruby: &Ruby, class: RClass, name: String) -> Obj<Self> {
        ruby.obj_wrap_as(Self::new(None, name), class)
    }

    fn of_file(file: FileWriter) -> Self {
        let name = file.name().to_owned();
        Self::new(Some(file), name)
    }

    pub(crate) fn check_open(&self, ruby: &Ruby) -> Result<(), Error> {
        match self.is_closed.get() {
            true => Err(closed(ruby, "closed stream")),
            false if self.process != std::process::id() => {
                Err(closed(ruby, "opened by another process; open it again after fork"))
            }
            false => Ok(()),
        }
    }

    /// Writes what is gathered.
    ///
    /// # Errors
    /// What the system refuses, and what is raised meanwhile; what was not written is gathered still.
    pub(crate) fn write_out(&self, ruby: &Ruby, object: Value) -> Result<(), Error> {
        self.check_open(ruby)?;
        self.in_turn(ruby, || {
            while !self.gathered.borrow().is_empty() {
                if self.file.borrow().is_none() {
                    object.funcall::<_, _, Value>("write_to_object", ())?;
                    continue;
                }
                self.write_to_file(ruby)?;
            }
            Ok(())
        })
    }

    fn in_turn(&self, ruby: &Ruby, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let is_mine = self.turn.take(ruby)? == Taken::Already;
        let outcome = work();
        if !is_mine {
            self.turn.give_back(ruby)?;
        }
        outcome
    }

    fn write_to_file(&self, ruby: &Ruby) -> Result<(), Error> {
        let (mut file, mut gathered) = (self.file.borrow_mut(), self.gathered.borrow_mut());
        let Some(file) = file.as_mut() else { return Ok(()) };
        let written = lock::to_the_end(ruby, || file.write(&gathered))?;
        raised(ruby, written)?;
        gathered.clear();
        Ok(())
    }

    /// `gathered_bytes`: a copy of the first ones, at most `count`.
    fn gathered_bytes(&self, count: usize) -> RString {
        let gathered = self.gathered.borrow();
        string_of(gathered.get(..count).unwrap_or(&gathered), 0)
    }

    /// `forget(count)`: so many of the first ones are written.
    fn forget(&self, count: usize) {
        let mut gathered = self.gathered.borrow_mut();
        let count = count.min(gathered.len());
        gathered.drain(..count);
        self.taken.set(self.taken.get() + count as u64);
    }

    /// `write_gathered`
    fn write_gathered(ruby: &Ruby, this: Obj<Self>) -> Result<(), Error> {
        this.write_out(ruby, this.as_value())
    }

    /// `sync_file`: writes, and returns when that will survive a power cut.
    fn sync_file(ruby: &Ruby, this: Obj<Self>) -> Result<(), Error> {
        this.write_out(ruby, this.as_value())?;
        this.with_file(ruby, |file| file.sync())
    }

    /// `finish`: writes, and puts the file in the place of the one that it replaces.
    fn finish(ruby: &Ruby, this: Obj<Self>) -> Result<(), Error> {
        this.write_out(ruby, this.as_value())?;
        this.with_file(ruby, FileWriter::finish)
    }

    fn with_file(
        &self,
        ruby: &Ruby,
        work: impl Fn(&mut FileWriter) -> bytewright::Result<()>,
    ) -> Result<(), Error> {
        self.in_turn(ruby, || {
            let mut file = self.file.borrow_mut();
            let Some(file) = file.as_mut() else { return Ok(()) };
            let outcome = lock::to_the_end(ruby, || work(file))?;
            raised(ruby, outcome)
        })
    }

    /// `pos`
    fn position(ruby: &Ruby, this: Obj<Self>) -> Result<u64, Error> {
        this.check_open(ruby)?;
        if this.turn.is_taken() && !this.turn.is_mine(ruby) {
            this.in_turn(ruby, || Ok(()))?;
        }
        let before = this.file.borrow().as_ref().map_or(this.taken.get(), FileWriter::position);
        let gathered = this.gathered.borrow().len();
        Ok(before + gathered as u64)
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// `close_stream`: what is gathered still is dropped, and so is a file that did not become whole.
    fn close_stream(ruby: &Ruby, this: Obj<Self>) -> Result<(), Error> {
        this.in_turn(ruby, || {
            this.is_closed.set(true);
            this.gathered.borrow_mut().clear();
            let file = this.file.borrow_mut().take();
            let file = Cell::new(file);
            lock::to_the_end(ruby, || drop(file.take()))
        })
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<WriterObject>(ruby, "WriterStream")?;
    class.define_singleton_method("open_path", method!(WriterObject::open_path, 2))?;
    class
        .define_singleton_method("open_replacement", method!(WriterObject::open_replacement, 1))?;
    class.define_singleton_method("open_object", method!(WriterObject::open_object, 1))?;
    class.define_private_method("gathered_bytes", method!(WriterObject::gathered_bytes, 1))?;
    class.define_private_method("forget", method!(WriterObject::forget, 1))?;
    class.define_private_method("write_gathered", method!(WriterObject::write_gathered, 0))?;
    class.define_private_method("sync_file", method!(WriterObject::sync_file, 0))?;
    class.define_private_method("finish", method!(WriterObject::finish, 0))?;
    class.define_private_method("close_stream", method!(WriterObject::close_stream, 0))?;
    class.define_method("pos", method!(WriterObject::position, 0))?;
    class.define_method("name", method!(WriterObject::name, 0))?;
    class.define_method("closed?", method!(WriterObject::is_closed, 0))?;
    define_writer_methods(class);
    Ok(())
}
