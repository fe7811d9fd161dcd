//! Values and locks of a process that its forked children can use, whatever another thread did when it was forked.
//!
//! A fork copies memory, and of all threads only the one that forks. A lock that another thread held, a value that it was
//! making, and the loader's own lock while it loaded a library stay as they were in the child for ever, and who needs them
//! there waits for ever. So all such work is done behind one gate, and a fork waits until nobody is behind it. Nothing else
//! is locked by more than one object: `tests/layers.rs` refuses other statics that can block.
//!
//! Work behind the gate is short, and needs nothing that has to pass the gate itself. This file may hold `unsafe`.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Who holds it is making a value, or holds a lock, of the process.
static GATE: Mutex<()> = Mutex::new(());

thread_local! {
    /// The gate, in the thread that is forking.
    static HELD: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
}

fn pass() -> MutexGuard<'static, ()> {
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    // Before the gate is taken for the first time. Several threads may do so: the handlers count for one.
    if !IS_WATCHED.load(Relaxed) {
        watch();
        IS_WATCHED.store(true, Relaxed);
    }
    GATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has forks wait for the gate.
fn watch() {
    extern "C" fn close() {
        // A thread that is ending has no place to keep it, and forks unwatched.
        let _ = HELD.try_with(|held| {
            if let Ok(mut held) = held.try_borrow_mut() {
                held.get_or_insert_with(|| GATE.lock().unwrap_or_else(PoisonError::into_inner));
            }
        });
    }
    extern "C" fn open() {
        let _ = HELD.try_with(|held| held.try_borrow_mut().map(|mut held| held.take()));
    }
    // SAFETY: the handlers are functions that stay where they are; neither unwinds. What they lock is held by the thread that
    // forks, which is the one that opens it again, in the parent and in the child.
    #[cfg(unix)]
    unsafe {
        libc::pthread_atfork(Some(close), Some(open), Some(open));
    }
}

/// A value of the process, made by the first who asks for it.
pub struct ProcessValue<T>(OnceLock<T>);

impl<T> ProcessValue<T> {
    /// Not made yet.
    pub const fn new() -> Self {
        ProcessValue(OnceLock::new())
    }

    /// The value; `make` makes it, if it is the first time. That neither forks nor asks for another value of the process.
    #[inline]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => self.init(make),
        }
    }

    #[cold]
    fn init(&self, make: impl FnOnce() -> T) -> &T {
        let _gate = pass();
        self.0.get_or_init(make)
    }
}

impl<T> Default for ProcessValue<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A lock of the process, or of an object that a forked child uses on. A fork waits for its holder.
pub struct ProcessLock<T>(Mutex<T>);

impl<T> ProcessLock<T> {
    /// Nobody has it.
    pub const fn new(value: T) -> Self {
        ProcessLock(Mutex::new(value))
    }

    /// Waits for it, and takes it.
    pub fn lock(&self) -> Locked<'_, T> {
        let gate = pass();
        Locked { value: self.0.lock().unwrap_or_else(PoisonError::into_inner), _gate: gate }
    }
}

impl<T: Default> Default for ProcessLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> std::fmt::Debug for ProcessLock<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProcessLock").finish_non_exhaustive()
    }
}

/// Value that a [`ProcessLock`] guards. Its holder neither forks nor asks for another value of the process.
pub struct Locked<'a, T> {
    value: MutexGuard<'a, T>,
    /// Given back last.
    _gate: MutexGuard<'static, ()>,
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
