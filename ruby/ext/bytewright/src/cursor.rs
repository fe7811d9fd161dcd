//! `Bytewright::Cursor`: a place in an ordered table.

use std::cell::RefCell;

use bytewright::table::Cursor;
use magnus::{Error, RString, Ruby, Value, method, prelude::*};

use crate::border::{Conversion, bytes_of};
use crate::class;
use crate::error::{closed, raised};

/// A cursor in a Ruby object.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Cursor", free_immediately, mark, size)]
pub(crate) struct CursorObject {
    cursor: RefCell<Option<Cursor>>,
    conversion: Conversion,
}

impl magnus::DataTypeFunctions for CursorObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.conversion.mark(marker);
    }
}

type Objects = (RString, Value);

impl CursorObject {
    pub(crate) fn new(cursor: Cursor, conversion: Conversion) -> CursorObject {
        CursorObject { cursor: RefCell::new(Some(cursor)), conversion }
    }

    fn with<R>(
        &self,
        ruby: &Ruby,
        work: impl FnOnce(&mut Cursor) -> bytewright::Result<R>,
    ) -> Result<R, Error> {
        match &mut *self.cursor.borrow_mut() {
            Some(cursor) => raised(ruby, work(cursor)),
            None => Err(closed(ruby, "expected an open cursor, found it closed")),
        }
    }

    /// Moves, and gives the entry that it is at then.
    fn moved(
        &self,
        ruby: &Ruby,
        to: impl FnOnce(&mut Cursor) -> bytewright::Result<bool>,
    ) -> Result<Option<Objects>, Error> {
        let entry = self.with(ruby, |cursor| {
            to(cursor)?;
            Ok(cursor.entry().map(|(key, value)| (key.to_vec(), value.to_vec())))
        })?;
        entry.map(|entry| self.conversion.entry(ruby, entry)).transpose()
    }

    fn first(ruby: &Ruby, this: &Self) -> Result<Option<Objects>, Error> {
        this.moved(ruby, Cursor::first)
    }

    fn last(ruby: &Ruby, this: &Self) -> Result<Option<Objects>, Error> {
        this.moved(ruby, Cursor::last)
    }

    fn seek(ruby: &Ruby, this: &Self, key: RString) -> Result<Option<Objects>, Error> {
        let key = bytes_of(key);
        this.moved(ruby, |cursor| cursor.seek(&key))
    }

    fn next(ruby: &Ruby, this: &Self) -> Result<Option<Objects>, Error> {
        this.moved(ruby, Cursor::next)
    }

    fn prev(ruby: &Ruby, this: &Self) -> Result<Option<Objects>, Error> {
        this.moved(ruby, Cursor::prev)
    }

    fn key(ruby: &Ruby, this: &Self) -> Result<Option<RString>, Error> {
        this.with(ruby, |cursor| Ok(cursor.entry().map(|(key, _)| this.conversion.key(key))))
    }

    fn value(ruby: &Ruby, this: &Self) -> Result<Option<Value>, Error> {
        let value =
            this.with(ruby, |cursor| Ok(cursor.entry().map(|(_, value)| value.to_vec())))?;
        value.map(|value| this.conversion.value(ruby, &value)).transpose()
    }

    fn close(&self) {
        self.cursor.borrow_mut().take();
    }

    fn is_closed(&self) -> bool {
        self.cursor.borrow().is_none()
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<CursorObject>(ruby, "Cursor")?;
    class.define_method("first", method!(CursorObject::first, 0))?;
    class.define_method("last", method!(CursorObject::last, 0))?;
    class.define_method("seek", method!(CursorObject::seek, 1))?;
    class.define_method("next", method!(CursorObject::next, 0))?;
    class.define_method("prev", method!(CursorObject::prev, 0))?;
    class.define_method("key", method!(CursorObject::key, 0))?;
    class.define_method("value", method!(CursorObject::value, 0))?;
    class.define_method("close", method!(CursorObject::close, 0))?;
    class.define_method("closed?", method!(CursorObject::is_closed, 0))
}
