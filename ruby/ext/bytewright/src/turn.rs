//! How Ruby's threads and fibers take turns at an object that the core shares between them: the mutex is a
//! `Thread::Mutex`, so that those who wait do it as Ruby waits: they can be interrupted, a deadlock is found, and a
//! fiber scheduler is asked.

use std::cell::Cell;

use bytewright::session::{self, Caller, Host, Outcome, TurnHost};
use magnus::gc::Marker;
use magnus::prelude::*;
use magnus::rb_sys::AsRawValue;
use magnus::value::{InnerValue, Opaque};
use magnus::{Error, Mutex, Ruby, Value};
use rb_sys::VALUE;

pub(crate) use bytewright::session::Taken;

use crate::border::{adjust_memory_usage, lock};
use crate::host::RubyHost;

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
}

impl Caller for Strand {
    fn is(self, other: Self) -> bool {
        self.addresses.0 == other.addresses.0
    }

    fn shares_thread_with(self, other: Self) -> bool {
        self.addresses.1 == other.addresses.1
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
    pub(crate) fn mark(&self, marker: &Marker, turn: &session::Turn<Strand>) {
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
    ruby: &'a Ruby,
    host: RubyHost<'a>,
    mutex: &'a TurnMutex,
}

impl<'a> Sharing<'a> {
    pub(crate) fn new(ruby: &'a Ruby, mutex: &'a TurnMutex) -> Self {
        Sharing { ruby, host: RubyHost::new(ruby), mutex }
    }

    /// What an operation of the core gives, with its failure as an exception.
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

    fn caller(&self) -> Strand {
        Strand::current(self.ruby)
    }

    fn lock_turn(&self) -> Result<(), Error> {
        let mutex = self.mutex.mutex.get().unwrap_or_else(|| {
            let mutex = self.ruby.mutex_new().into();
            self.mutex.mutex.set(Some(mutex));
            mutex
        });
        let mutex = mutex.get_inner_with(self.ruby);
        // A signal's handler may take a mutex, but not wait for it.
        if mutex.trylock() { Ok(()) } else { mutex.lock() }
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

/// A turn that one fiber at a time can take, of an object that is not a table.
#[derive(Default)]
pub(crate) struct Turn {
    turn: session::Turn<Strand>,
    mutex: TurnMutex,
}

impl Turn {
    pub(crate) fn mark(&self, marker: &Marker) {
        self.mutex.mark(marker, &self.turn);
    }

    /// Whether it is somebody's, perhaps of this fiber.
    #[inline]
    pub(crate) fn is_taken(&self) -> bool {
        self.turn.is_taken()
    }

    /// The thread whose turn it is.
    pub(crate) fn thread(&self, ruby: &Ruby) -> Option<Value> {
        self.turn.holder().map(|holder| holder.thread.get_inner_with(ruby))
    }

    /// Whether it is this fiber's.
    pub(crate) fn is_mine(&self, ruby: &Ruby) -> bool {
        self.turn.is_mine(&self.sharing(ruby))
    }

    /// Waits until it is this fiber's. A `LockError` where another fiber of this thread has it.
    pub(crate) fn take(&self, ruby: &Ruby) -> Result<Taken, Error> {
        let sharing = self.sharing(ruby);
        sharing.raised(self.turn.take(&sharing))
    }

    /// Makes it nobody's again.
    pub(crate) fn give_back(&self, ruby: &Ruby) -> Result<(), Error> {
        let sharing = self.sharing(ruby);
        sharing.raised(self.turn.give_back(&sharing))
    }

    fn sharing<'a>(&'a self, ruby: &'a Ruby) -> Sharing<'a> {
        Sharing::new(ruby, &self.mutex)
    }
}
