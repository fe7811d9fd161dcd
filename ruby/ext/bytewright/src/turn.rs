//! Whose turn it is to use a table or a reader: everybody's, or that of the one fiber that has a
//! transaction open, works without Ruby's lock, or waits for input.
//!
//! It is a `Thread::Mutex` of Ruby's, taken only for such work, so that those who wait do it as Ruby
//! waits: they can be interrupted, a deadlock is found, and a fiber scheduler is asked.
//!
//! Another fiber of the holder's thread cannot wait, because the holder would not go on. An external
//! enumerator runs in such a fiber, so a table may be read there; a change is refused.

use std::cell::Cell;

use bytewright::ErrorKind;
use magnus::gc::Marker;
use magnus::prelude::*;
use magnus::rb_sys::AsRawValue;
use magnus::value::{InnerValue, Opaque};
use magnus::{Error, Mutex, Ruby, Value};

use crate::error::to_ruby;

/// A turn that one fiber at a time can take.
#[derive(Default)]
pub(crate) struct Turn {
    /// Made when it is first taken.
    mutex: Cell<Option<Opaque<Mutex>>>,
    /// Whose turn it is.
    holder: Cell<Option<Holder>>,
}

/// A fiber and its thread. They are marked, so that no others get their addresses.
#[derive(Clone, Copy)]
struct Holder {
    fiber: Opaque<Value>,
    thread: Opaque<Value>,
}

impl Holder {
    fn current(ruby: &Ruby) -> Holder {
        Holder {
            fiber: ruby.fiber_current().as_value().into(),
            thread: ruby.thread_current().as_value().into(),
        }
    }
}

/// What taking a turn found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It was this fiber's before.
    Already,
    /// It was nobody's.
    Now,
    /// Who had it is gone without giving it back: a fork copies one thread, not those beside it.
    FromTheGone,
}

impl Turn {
    pub(crate) fn mark(&self, marker: &Marker) {
        if let Some(mutex) = self.mutex.get() {
            marker.mark(mutex);
        }
        if let Some(holder) = self.holder.get() {
            marker.mark(holder.fiber);
            marker.mark(holder.thread);
        }
    }

    /// Whether it is somebody's, perhaps of this fiber.
    #[inline]
    pub(crate) fn is_taken(&self) -> bool {
        self.holder.get().is_some()
    }

    /// The thread whose turn it is.
    pub(crate) fn thread(&self, ruby: &Ruby) -> Option<Value> {
        self.holder.get().map(|holder| holder.thread.get_inner_with(ruby))
    }

    /// Whether it is this fiber's.
    pub(crate) fn is_mine(&self, ruby: &Ruby) -> bool {
        self.holder.get().is_some_and(|holder| {
            holder.fiber.get_inner_with(ruby).as_raw() == ruby.fiber_current().as_raw()
        })
    }

    /// Waits until it is this fiber's. A `LockError` where another fiber of this thread has it, which
    /// could not go on while this one waits.
    pub(crate) fn take(&self, ruby: &Ruby) -> Result<Taken, Error> {
        if self.is_mine(ruby) {
            return Ok(Taken::Already);
        }
        self.refuse_fiber(ruby)?;
        let mutex = self.mutex.get().unwrap_or_else(|| {
            let mutex = ruby.mutex_new().into();
            self.mutex.set(Some(mutex));
            mutex
        });
        let mutex = mutex.get_inner_with(ruby);
        // A signal's handler may take a mutex, but not wait for it.
        if !mutex.trylock() {
            mutex.lock()?;
        }
        let found = if self.is_taken() { Taken::FromTheGone } else { Taken::Now };
        self.holder.set(Some(Holder::current(ruby)));
        Ok(found)
    }

    /// Whether another fiber of this thread has it, which cannot go on while this one waits.
    pub(crate) fn is_of_suspended_fiber(&self, ruby: &Ruby) -> Result<bool, Error> {
        let thread = ruby.thread_current();
        let is_of_this_thread = self.holder.get().is_some_and(|holder| {
            holder.thread.get_inner_with(ruby).as_raw() == thread.as_value().as_raw()
        });
        if !is_of_this_thread || self.is_mine(ruby) {
            return Ok(false);
        }
        // A scheduler lets it go on.
        let fiber_class = ruby.class_object().const_get::<_, Value>("Fiber")?;
        Ok(fiber_class.funcall::<_, _, Value>("current_scheduler", ())?.is_nil())
    }

    fn refuse_fiber(&self, ruby: &Ruby) -> Result<(), Error> {
        if !self.is_of_suspended_fiber(ruby)? {
            return Ok(());
        }
        let message = "expected an object that no other fiber of this thread is using, found one with a \
                       transaction or a wait of such a fiber; let that end first";
        Err(to_ruby(ruby, &bytewright::Error::new(ErrorKind::Lock, message)))
    }

    /// Makes it nobody's again.
    pub(crate) fn give_back(&self, ruby: &Ruby) -> Result<(), Error> {
        self.holder.set(None);
        match self.mutex.get() {
            Some(mutex) => mutex.get_inner_with(ruby).unlock(),
            None => Ok(()),
        }
    }
}
