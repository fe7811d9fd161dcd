//! Ruby, as the core's sessions see it.
//!
//! A session waits without Ruby's lock. When Ruby wants its thread back (a signal, `Thread#kill`, `Timeout`), it calls the
//! wake function of the wait; the session returns to `check_interrupts`, where Ruby raises what it has to.

use std::cell::RefCell;

use bytewright::host::{Host, Outcome};
use magnus::value::Opaque;
use magnus::{Error, RString, Ruby, Value, prelude::*};

use crate::border::{bytes_of, lock};
use crate::error::to_ruby;

/// Ruby, and the object that a session reads, if there is one.
pub(crate) struct RubyHost<'r> {
    ruby: &'r Ruby,
    object: Option<Opaque<Value>>,
    tries: RefCell<lock::Tries>,
}

impl<'r> RubyHost<'r> {
    /// For a session that reads no object, or has ended.
    pub(crate) fn new(ruby: &'r Ruby) -> Self {
        Self::with_object(ruby, None)
    }

    /// Returns the result of an operation of the core, with its failure as an exception.
    pub(crate) fn raised<T>(&self, outcome: Outcome<T, Self>) -> Result<T, Error> {
        outcome.map_err(|failure| failure.into_host(self))
    }

    /// For a session that may read `object`.
    pub(crate) fn with_object(ruby: &'r Ruby, object: Option<Opaque<Value>>) -> Self {
        RubyHost { ruby, object, tries: RefCell::default() }
    }
}

impl Host for RubyHost<'_> {
    type Error = Error;

    fn error(&self, error: bytewright::Error) -> Error {
        to_ruby(self.ruby, &error)
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        wake: &(dyn Fn() + Sync),
    ) -> Result<Option<T>, Error> {
        let mut tries = self.tries.borrow_mut();
        let outcome = tries.without_lock(self.ruby, &work, &wake)?;
        if outcome.is_some() {
            *tries = lock::Tries::default();
        }
        Ok(outcome)
    }

    fn check_interrupts(&self) -> Result<(), Error> {
        self.ruby.thread_check_ints()
    }

    fn read(&self, count_max: usize) -> Result<Vec<u8>, Error> {
        let Some(object) = self.object else { return Ok(Vec::new()) };
        let object = self.ruby.get_inner(object);
        let method = if object.respond_to("readpartial", false)? { "readpartial" } else { "read" };
        match object.funcall::<_, _, Option<RString>>(method, (count_max,)) {
            Ok(bytes) => Ok(bytes.map(bytes_of).unwrap_or_default()),
            Err(error) if error.is_kind_of(self.ruby.exception_eof_error()) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}
