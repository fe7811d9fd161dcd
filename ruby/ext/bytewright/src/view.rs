//! `Bytewright::View`: the bytes of a value where the table keeps them.

use std::cell::RefCell;
use std::ffi::c_int;

use bytewright::table::View;
use magnus::{Error, RString, Ruby, method, prelude::*};

use crate::border::string_of;
use crate::class;
use crate::error::closed;

/// A view in a Ruby object. A String over the table's memory would be nearer at hand, but the Strings
/// that Ruby makes of it share its memory, and whether they keep it alive differs from Ruby to Ruby.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::View", free_immediately, size)]
pub(crate) struct ViewObject {
    view: RefCell<Option<View>>,
    encoding: c_int,
}

impl magnus::DataTypeFunctions for ViewObject {
    fn size(&self) -> usize {
        let copied = self.view.borrow().as_ref().filter(|view| view.is_copy()).map_or(0, len);
        size_of::<Self>() + copied
    }
}

fn len(view: &View) -> usize {
    view.as_ref().len()
}

impl ViewObject {
    pub(crate) fn new(view: View, encoding: c_int) -> ViewObject {
        ViewObject { view: RefCell::new(Some(view)), encoding }
    }

    fn with<R>(&self, ruby: &Ruby, work: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        match &*self.view.borrow() {
            Some(view) => Ok(work(view.as_ref())),
            None => Err(closed(ruby, "expected an open view, found it closed")),
        }
    }

    fn bytesize(ruby: &Ruby, this: &Self) -> Result<usize, Error> {
        this.with(ruby, <[u8]>::len)
    }

    fn to_s(ruby: &Ruby, this: &Self) -> Result<RString, Error> {
        this.with(ruby, |bytes| string_of(bytes, this.encoding))
    }

    /// `view.byteslice(offset, length)`, as a String does it.
    fn byteslice(
        ruby: &Ruby,
        this: &Self,
        offset: isize,
        length: isize,
    ) -> Result<Option<RString>, Error> {
        this.with(ruby, |bytes| {
            let begin = at(bytes, offset).filter(|begin| *begin <= bytes.len())?;
            let length = usize::try_from(length).ok()?;
            let end = begin.saturating_add(length).min(bytes.len());
            Some(string_of(&bytes[begin..end], this.encoding))
        })
    }

    fn getbyte(ruby: &Ruby, this: &Self, offset: isize) -> Result<Option<u8>, Error> {
        this.with(ruby, |bytes| bytes.get(at(bytes, offset)?).copied())
    }

    fn close(&self) {
        self.view.borrow_mut().take();
    }

    fn is_closed(&self) -> bool {
        self.view.borrow().is_none()
    }
}

/// The place that `offset` means, from the end where it is negative.
fn at(bytes: &[u8], offset: isize) -> Option<usize> {
    match usize::try_from(offset) {
        Ok(offset) => Some(offset),
        Err(_) => bytes.len().checked_sub(offset.unsigned_abs()),
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<ViewObject>(ruby, "View")?;
    class.define_method("bytesize", method!(ViewObject::bytesize, 0))?;
    class.define_method("to_s", method!(ViewObject::to_s, 0))?;
    class.define_method("byteslice", method!(ViewObject::byteslice, 2))?;
    class.define_method("getbyte", method!(ViewObject::getbyte, 1))?;
    class.define_method("close", method!(ViewObject::close, 0))?;
    class.define_method("closed?", method!(ViewObject::is_closed, 0))
}
