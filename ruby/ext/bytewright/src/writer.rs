//! The stream of a `Bytewright::Writer`, which is a class derived from it: bytes that are gathered, and
//! where they go. What is written most is in `border/writers.rs`; how bytes go to a Ruby object, in
//! `ruby/lib/bytewright/writer.rb`.
//!
//! Bytes leave the gathered ones when they are written, so neither an error nor an interrupt loses or
//! doubles any. Who writes has the turn until it is done, closing included, so that nothing of another
//! thread comes between. A signal's handler, or the object that is written to, may come back in the
//! middle of that: it is refused, because it could not wait for what waits for it.

use std::cell::{Cell, RefCell};
use std::io::SeekFrom;
use std::path::Path;

use bytewright::ErrorKind;
use bytewright::files::{FileWriter, ProcessMark};
use magnus::typed_data::Obj;
use magnus::{Error, RClass, RString, Ruby, Value, method, prelude::*};

use crate::border::{adjust_memory_usage, define_writer_methods, lock, path_of, string_of};
use crate::class;
use crate::error::{closed, raised, to_ruby};
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
    process: ProcessMark,
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
            && self.process.is_here()
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
            process: ProcessMark::new(),
        }
    }

    /// `Writer.open_path(path)`.
    fn open_path(ruby: &Ruby, class: RClass, path: RString) -> Result<Obj<Self>, Error> {
        Self::open_file(ruby, class, path, FileWriter::open)
    }

    /// `Writer.open_to_append(path)`.
    fn open_to_append(ruby: &Ruby, class: RClass, path: RString) -> Result<Obj<Self>, Error> {
        Self::open_file(ruby, class, path, FileWriter::append)
    }

    /// `Writer.open_replacement(path)`: a file that takes the place of another when it is finished.
    fn open_replacement(ruby: &Ruby, class: RClass, path: RString) -> Result<Obj<Self>, Error> {
        Self::open_file(ruby, class, path, FileWriter::replace)
    }

    fn open_file(
        ruby: &Ruby,
        class: RClass,
        path: RString,
        open: impl Fn(&Path) -> bytewright::Result<FileWriter>,
    ) -> Result<Obj<Self>, Error> {
        let path = path_of(path)?;
        let file = raised(ruby, lock::to_the_end(ruby, || open(&path))?)?;
        let name = file.name().to_owned();
        Ok(ruby.obj_wrap_as(Self::new(Some(file), name), class))
    }

    /// `Writer.open_object(name)`: what is gathered is asked for with `gathered_bytes`.
    fn open_object(ruby: &Ruby, class: RClass, name: String) -> Obj<Self> {
        ruby.obj_wrap_as(Self::new(None, name), class)
    }

    /// Whether a value may be put behind the gathered ones at once.
    #[inline]
    pub(crate) fn takes_values(&self) -> bool {
        !self.is_closed.get() && !self.turn.is_taken() && self.process.is_here()
    }

    fn check_open(&self, ruby: &Ruby) -> Result<(), Error> {
        match self.is_closed.get() {
            true => Err(closed(ruby, "closed stream")),
            false if !self.process.is_here() => {
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
        self.in_turn(ruby, || self.write_gathered(ruby, object))
    }

    /// Does `work` on a writer that is open, while nobody else uses it.
    fn in_turn(&self, ruby: &Ruby, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        self.check_open(ruby)?;
        if self.turn.take(ruby)? == Taken::Already {
            return Err(busy(ruby));
        }
        // Whoever had the turn before may have closed it.
        let outcome = self.check_open(ruby).and_then(|()| work());
        self.turn.give_back(ruby)?;
        outcome
    }

    fn write_gathered(&self, ruby: &Ruby, object: Value) -> Result<(), Error> {
        while !self.gathered.borrow().is_empty() {
            if self.file.borrow().is_none() {
                object.funcall::<_, _, Value>("write_to_object", ())?;
                continue;
            }
            self.with_file(ruby, FileWriter::write)?;
        }
        Ok(())
    }

    /// Does `work` with the file, where there is one, and the gathered bytes.
    fn with_file(
        &self,
        ruby: &Ruby,
        work: impl Fn(&mut FileWriter, &mut Vec<u8>) -> bytewright::Result<()>,
    ) -> Result<(), Error> {
        let (mut file, mut gathered) = (self.file.borrow_mut(), self.gathered.borrow_mut());
        let Some(file) = file.as_mut() else { return Ok(()) };
        let outcome = lock::to_the_end(ruby, || work(file, &mut gathered))?;
        raised(ruby, outcome)
    }

    /// Writes what is gathered, and has the object flushed that it went to; with `fsync`, returns when
    /// that will survive a power cut.
    fn write_through(&self, ruby: &Ruby, object: Value, fsync: bool) -> Result<(), Error> {
        self.write_gathered(ruby, object)?;
        if self.file.borrow().is_none() {
            return object.funcall::<_, _, Value>("flush_object", (fsync,)).map(drop);
        }
        if fsync { self.with_file(ruby, |file, _| file.sync()) } else { Ok(()) }
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

    /// `flush_stream(fsync)`
    fn flush_stream(ruby: &Ruby, this: Obj<Self>, fsync: bool) -> Result<(), Error> {
        this.in_turn(ruby, || this.write_through(ruby, this.as_value(), fsync))
    }

    /// `finish_stream(fsync)`: the same, and closes it where that works.
    fn finish_stream(ruby: &Ruby, this: Obj<Self>, fsync: bool) -> Result<(), Error> {
        if this.is_left_to_the_parent() {
            return Ok(());
        }
        this.in_turn(ruby, || {
            this.write_through(ruby, this.as_value(), fsync)?;
            this.drop_all(ruby)
        })
    }

    /// `finish_replacement`: the same, and puts the file in the place of the one that it replaces.
    fn finish_replacement(ruby: &Ruby, this: Obj<Self>) -> Result<(), Error> {
        this.in_turn(ruby, || {
            this.write_gathered(ruby, this.as_value())?;
            this.with_file(ruby, |file, _| file.finish())?;
            this.drop_all(ruby)
        })
    }

    /// `pos`
    fn position(ruby: &Ruby, this: Obj<Self>) -> Result<u64, Error> {
        this.check_open(ruby)?;
        if this.turn.is_taken() && !this.turn.is_mine(ruby) {
            this.in_turn(ruby, || Ok(()))?;
        }
        let (Ok(file), Ok(gathered)) = (this.file.try_borrow(), this.gathered.try_borrow()) else {
            return Err(busy(ruby));
        };
        Ok(match file.as_ref() {
            Some(file) => file.position(gathered.len()),
            None => this.taken.get() + gathered.len() as u64,
        })
    }

    /// `go(whence, offset)`: writes what is gathered, and goes to a place `offset` bytes from the beginning (0),
    /// from here (1) or from the end (2).
    fn go(ruby: &Ruby, this: Obj<Self>, whence: u8, offset: i64) -> Result<(), Error> {
        let place = match whence {
            0 => u64::try_from(offset).map(SeekFrom::Start),
            1 => Ok(SeekFrom::Current(offset)),
            _ => Ok(SeekFrom::End(offset)),
        };
        this.in_turn(ruby, || {
            this.write_gathered(ruby, this.as_value())?;
            if let Some(file) = this.file.borrow_mut().as_mut() {
                // No place is so far before the beginning, and the file says so in its words.
                let place = place.unwrap_or(SeekFrom::Start(u64::MAX));
                return raised(ruby, file.seek(place)).map(drop);
            }
            let arguments = (whence, offset, this.taken.get());
            this.as_value().funcall::<_, _, Value>("go_in_object", arguments).map(drop)
        })
    }

    /// `went(position)`: the object is there now.
    fn went(&self, position: u64) {
        self.taken.set(position);
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// `abandon_stream`: what is gathered still is dropped, and so is a file that did not become whole.
    fn abandon_stream(ruby: &Ruby, this: Obj<Self>) -> Result<(), Error> {
        if this.is_closed.get() || this.is_left_to_the_parent() {
            return Ok(());
        }
        this.in_turn(ruby, || this.drop_all(ruby))
    }

    /// Closes it in a forked child, and touches nothing: what is gathered is the parent's, and a thread of
    /// the parent may have been writing it.
    fn is_left_to_the_parent(&self) -> bool {
        let is_left = !self.process.is_here();
        if is_left {
            self.is_closed.set(true);
        }
        is_left
    }

    fn drop_all(&self, ruby: &Ruby) -> Result<(), Error> {
        self.is_closed.set(true);
        self.gathered.borrow_mut().clear();
        let file = Cell::new(self.file.borrow_mut().take());
        lock::to_the_end(ruby, || drop(file.take()))
    }
}

fn busy(ruby: &Ruby) -> Error {
    let message = "expected a writer at rest, found one that is busy in this very thread: a signal handler \
                   came while it writes, or the object that it writes to uses it";
    to_ruby(ruby, &bytewright::Error::new(ErrorKind::Lock, message))
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<WriterObject>(ruby, "WriterStream")?;
    class.define_singleton_method("open_path", method!(WriterObject::open_path, 1))?;
    class.define_singleton_method("open_to_append", method!(WriterObject::open_to_append, 1))?;
    class
        .define_singleton_method("open_replacement", method!(WriterObject::open_replacement, 1))?;
    class.define_singleton_method("open_object", method!(WriterObject::open_object, 1))?;
    class.define_private_method("gathered_bytes", method!(WriterObject::gathered_bytes, 1))?;
    class.define_private_method("forget", method!(WriterObject::forget, 1))?;
    class.define_private_method("flush_stream", method!(WriterObject::flush_stream, 1))?;
    class.define_private_method("finish_stream", method!(WriterObject::finish_stream, 1))?;
    class.define_private_method(
        "finish_replacement",
        method!(WriterObject::finish_replacement, 0),
    )?;
    class.define_private_method("go", method!(WriterObject::go, 2))?;
    class.define_private_method("went", method!(WriterObject::went, 1))?;
    class.define_private_method("abandon_stream", method!(WriterObject::abandon_stream, 0))?;
    class.define_method("pos", method!(WriterObject::position, 0))?;
    class.define_method("name", method!(WriterObject::name, 0))?;
    class.define_method("closed?", method!(WriterObject::is_closed, 0))?;
    define_writer_methods(class);
    Ok(())
}
