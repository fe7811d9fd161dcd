//! `Bytewright::Cursor`: a place in an ordered table.

use std::cell::RefCell;
use std::ffi::c_int;

use bytewright::table::Cursor;
use magnus::{Error, RString, Ruby, method, prelude::*};

use crate::border::{bytes_of, string_of};
use crate::class;
use crate::error::{closed, raised};

/// A cursor in a Ruby object.
#[magnus::wrap(class = "Bytewright::Cursor", free_immediately, size)]
pub(crate) struct CursorObject {
    cursor: RefCell<Option<Cursor>>,
    encoding: c_int,
}

impl CursorObject {
    pub(crate) fn new(cursor: Cursor, encoding: c_int) -> CursorObject {
        CursorObject { cursor: RefCell::new(Some(cursor)), encoding }
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
    ) -> Result<Option<(RString, RString)>, Error> {
        let string = |bytes: &[u8]| string_of(bytes, self.encoding);
        self.with(ruby, |cursor| {
            to(cursor)?;
            Ok(cursor.entry().map(|(key, value)| (string(key), string(value))))
        })
    }

    fn first(ruby: &Ruby, this: &Self) -> Result<Option<(RString, RString)>, Error> {
        this.moved(ruby, Cursor::first)
    }

    fn last(ruby: &Ruby, this: &Self) -> Result<Option<(RString, RString)>, Error> {
        this.moved(ruby, Cursor::last)
    }

    fn seek(ruby: &Ruby, this: &Self, key: RString) -> Result<Option<(RString, RString)>, Error> {
        let key = bytes_of(key);
        this.moved(ruby, |cursor| cursor.seek(&key))
    }

    fn next(ruby: &Ruby, this: &Self) -> Result<Option<(RString, RString)>, Error> {
        this.moved(ruby, Cursor::next)
    }

    fn prev(ruby: &Ruby, this: &Self) -> Result<Option<(RString, RString)>, Error> {
        this.moved(ruby, Cursor::prev)
    }

    fn key(ruby: &Ruby, this: &Self) -> Result<Option<RString>, Error> {
        this.with(ruby, |cursor| Ok(cursor.entry().map(|(key, _)| string_of(key, this.encoding))))
    }

    fn value(ruby: &Ruby, this: &Self) -> Result<Option<RString>, Error> {
        this.with(ruby, |cursor| {
            Ok(cursor.entry().map(|(_, value)| string_of(value, this.encoding)))
        })
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
