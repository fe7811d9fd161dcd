//! `Bytewright::Changes`: changes of a table in a file, one after another.

use std::cell::{Cell, RefCell};

use bytewright::table::Changes;
use magnus::{Error, RString, Ruby, Symbol, Value, method, prelude::*};

use crate::border::Conversion;
use crate::class;
use crate::error::{closed, raised};

/// Changes in a Ruby object.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Changes", free_immediately, mark, size)]
pub(crate) struct ChangesObject {
    /// Nothing at the end, so that what it holds of the table is given back.
    changes: RefCell<Option<Box<dyn Changes>>>,
    is_closed: Cell<bool>,
    conversion: Conversion,
    position: String,
}

impl magnus::DataTypeFunctions for ChangesObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.conversion.mark(marker);
    }
}

/// Name, key and value of a change.
type Parts = (Symbol, Option<RString>, Option<Value>);

impl ChangesObject {
    pub(crate) fn new(changes: Box<dyn Changes>, conversion: Conversion) -> ChangesObject {
        let position = changes.position().to_string();
        let (changes, is_closed) = (RefCell::new(Some(changes)), Cell::new(false));
        ChangesObject { changes, is_closed, conversion, position }
    }

    /// Returns the next change, or nil after the last.
    fn advance(ruby: &Ruby, this: &Self) -> Result<Option<Parts>, Error> {
        if this.is_closed.get() {
            return Err(closed(ruby, "expected open changes, found them closed"));
        }
        let mut changes = this.changes.borrow_mut();
        let Some(open) = changes.as_mut() else { return Ok(None) };
        let parts = raised(ruby, open.advance())?.map(|change| {
            let key = change.key().map(<[u8]>::to_vec);
            (change.name(), key, change.value().map(<[u8]>::to_vec))
        });
        let Some((name, key, value)) = parts else {
            *changes = None;
            return Ok(None);
        };
        // A value may be loaded by Ruby code.
        drop(changes);
        let key = key.map(|key| this.conversion.key(&key));
        let value = value.map(|value| this.conversion.value(ruby, &value)).transpose()?;
        Ok(Some((ruby.to_symbol(name), key, value)))
    }

    fn position(&self) -> &str {
        &self.position
    }

    fn close(&self) {
        self.is_closed.set(true);
        self.changes.borrow_mut().take();
    }

    fn is_closed(&self) -> bool {
        self.is_closed.get()
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<ChangesObject>(ruby, "Changes")?;
    class.define_private_method("advance", method!(ChangesObject::advance, 0))?;
    class.define_method("position", method!(ChangesObject::position, 0))?;
    class.define_method("close", method!(ChangesObject::close, 0))?;
    class.define_method("closed?", method!(ChangesObject::is_closed, 0))
}
