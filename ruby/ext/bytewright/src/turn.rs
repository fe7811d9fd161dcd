//! Turns of Ruby's threads and fibers at an object that the core shares between them: the mutex is a
//! `Thread::Mutex`, so that those who wait do it as Ruby waits: they can be interrupted, a deadlock is found, and a
//! fiber scheduler is asked.

use std::cell::Cell;

use bytewright::host::{self, Host, Outcome, TurnHost};
use magnus::gc::Marker;
use magnus::prelude::*;
use magnus::rb_sys::AsRawValue;
use magnus::value::{InnerValue, Opaque};
use magnus::{Error, Mutex, Ruby, Value};
use rb_sys::VALUE;

use crate::border::{adjust_memory_usage, lock};
use crate::host::RubyHost;
use crate::memory_report::MemoryReport;

/// A fiber and its thread. Who keeps one marks it, so that no others get their addresses.
#[derive(Clone, Copy)]
pub(crate) struct Strand {
    fiber: Opaque<Value>,
    thread: Opaque<Value>,
    addresses: (VALUE, VALUE),
}

impl Strand {
    fn current(ruby: &Ruby) -> Strand {
        let (fiber, thread) = (ruby.fiber_current().as_value(), ruby.thread_current().as_value());
        let addresses = (fiber.as_raw(), thread.as_raw());
        Strand { fiber: fiber.into(), thread: thread.into(), addresses }
    }

    pub(crate) fn thread(&self, ruby: &Ruby) -> Value {
        self.thread.get_inner_with(ruby)
    }
}

/// The mutex behind a turn.
#[derive(Default)]
pub(crate) struct TurnMutex {
    /// Made when it is first taken.
    mutex: Cell<Option<Opaque<Mutex>>>,
}

impl TurnMutex {
    /// Marks it, and who has the turn.
    pub(crate) fn mark(&self, marker: &Marker, turn: &host::Turn<Strand>) {
        if let Some(mutex) = self.mutex.get() {
            marker.mark(mutex);
        }
        if let Some(holder) = turn.holder() {
            marker.mark(holder.fiber);
            marker.mark(holder.thread);
        }
    }
}

/// Ruby, for an object whose turn goes with a mutex.
pub(crate) struct Sharing<'a> {
    pub(crate) ruby: &'a Ruby,
    host: RubyHost<'a>,
    mutex: &'a TurnMutex,
    /// The reader or writer; nil for a table.
    pub(crate) object: Value,
    /// Memory of a reader that the collector is told of.
    pub(crate) memory: Option<&'a MemoryReport>,
}

impl<'a> Sharing<'a> {
    pub(crate) fn new(ruby: &'a Ruby, mutex: &'a TurnMutex) -> Self {
        Sharing {
            ruby,
            host: RubyHost::new(ruby),
            mutex,
            object: ruby.qnil().as_value(),
            memory: None,
        }
    }

    /// For a reader or a writer.
    pub(crate) fn of_stream(
        ruby: &'a Ruby,
        mutex: &'a TurnMutex,
        object: Value,
        memory: Option<&'a MemoryReport>,
    ) -> Self {
        Sharing { object, memory, ..Self::new(ruby, mutex) }
    }

    /// Returns the result of an operation of the core, with its failure as an exception.
    pub(crate) fn raised<T>(&self, outcome: Outcome<T, Self>) -> Result<T, Error> {
        outcome.map_err(|failure| failure.into_host(self))
    }
}

impl Host for Sharing<'_> {
    type Error = Error;

    fn error(&self, error: bytewright::Error) -> Error {
        self.host.error(error)
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        wake: &(dyn Fn() + Sync),
    ) -> Result<Option<T>, Error> {
        self.host.wait(work, wake)
    }

    fn check_interrupts(&self) -> Result<(), Error> {
        self.host.check_interrupts()
    }
}

impl TurnHost for Sharing<'_> {
    type Caller = Strand;

    fn caller(&self) -> Result<Strand, Error> {
        Ok(Strand::current(self.ruby))
    }

    fn is_running(&self, holder: &Strand) -> Result<bool, Error> {
        Ok(holder.addresses.0 == self.ruby.fiber_current().as_value().as_raw())
    }

    fn is_of_this_thread(&self, holder: &Strand) -> bool {
        holder.addresses.1 == self.ruby.thread_current().as_value().as_raw()
    }

    fn lock_turn(&self) -> Result<(), Error> {
        let mutex = self.mutex.mutex.get().unwrap_or_else(|| {
            let mutex = self.ruby.mutex_new().into();
            self.mutex.mutex.set(Some(mutex));
            mutex
        });
        let mutex = mutex.get_inner_with(self.ruby);
        // A signal's handler may take a mutex, but not wait for it.
        if mutex.trylock() {
            return Ok(());
        }
        mutex.lock().map_err(|error| self.turn_refused(error))
    }

    fn unlock_turn(&self) -> Result<(), Error> {
        match self.mutex.mutex.get() {
            Some(mutex) => mutex.get_inner_with(self.ruby).unlock(),
            None => Ok(()),
        }
    }

    fn schedules_strands(&self) -> Result<bool, Error> {
        let fiber_class = self.ruby.class_object().const_get::<_, Value>("Fiber")?;
        Ok(!fiber_class.funcall::<_, _, Value>("current_scheduler", ())?.is_nil())
    }

    fn wait_to_the_end<T: Send>(&self, work: &(dyn Fn() -> T + Sync)) -> Result<T, Error> {
        lock::to_the_end(self.ruby, work)
    }

    fn adjust_memory(&self, bytes: isize) {
        adjust_memory_usage(bytes);
    }
}
