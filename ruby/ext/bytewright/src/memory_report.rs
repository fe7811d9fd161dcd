//! Reports to Ruby's garbage collector of memory that objects hold outside of Ruby. It collects when its own
//! memory grows, and to it an object is small however much the core keeps for it.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use magnus::{Error, Ruby, Value, kwargs, prelude::*};

use crate::border::adjust_memory_usage;

/// Bytes that objects which were not freed yet hold. Being told of them does not make Ruby collect, unless the
/// program also makes objects of Ruby's.
pub(crate) struct LiveMemory {
    bytes: AtomicUsize,
    /// Bytes at which to collect next.
    limit: AtomicUsize,
    limit_min: usize,
}

impl LiveMemory {
    /// `limit_min` bytes pass without a collection.
    pub(crate) const fn new(limit_min: usize) -> LiveMemory {
        LiveMemory { bytes: AtomicUsize::new(0), limit: AtomicUsize::new(limit_min), limit_min }
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn subtract(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    /// Collects young garbage where there is much. Where that is kept, and no garbage, the next collection comes
    /// when there is twice as much.
    pub(crate) fn collect(&self, ruby: &Ruby) -> Result<(), Error> {
        if self.bytes.load(Relaxed) < self.limit.load(Relaxed) {
            return Ok(());
        }
        let gc: Value = ruby.class_object().const_get("GC")?;
        let options = kwargs!(ruby, "full_mark" => false, "immediate_sweep" => true);
        let _: Value = gc.funcall("start", (options,))?;
        self.limit.store(self.limit_min.max(2 * self.bytes.load(Relaxed)), Relaxed);
        Ok(())
    }
}

/// Memory of all reports.
pub(crate) static REPORTED: LiveMemory = LiveMemory::new(32 << 20);

/// Bytes that the collector knows of; dropped with the object, which withdraws them.
#[derive(Default)]
pub(crate) struct MemoryReport {
    told: Cell<usize>,
}

impl MemoryReport {
    pub(crate) fn of(bytes: usize) -> MemoryReport {
        let report = MemoryReport::default();
        report.set(bytes);
        report
    }

    /// Says that it is `bytes` now.
    #[inline]
    pub(crate) fn set(&self, bytes: usize) {
        let before = self.told.replace(bytes);
        if bytes != before {
            REPORTED.add(bytes);
            REPORTED.subtract(before);
            adjust_memory_usage(bytes as isize - before as isize);
        }
    }

    /// Returns the bytes that it was told last.
    pub(crate) fn told(&self) -> usize {
        self.told.get()
    }
}

impl Drop for MemoryReport {
    fn drop(&mut self) {
        self.set(0);
    }
}
