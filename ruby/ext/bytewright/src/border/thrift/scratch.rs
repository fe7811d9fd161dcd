//! Memory that reading and writing use again for the next message, of each thread.

use std::cell::Cell;

use bytewright::thrift::{BinaryWriter, CompactWriter, Tape, Write};

// Bound (Thrift): copy of a message while Ruby code runs for it = 1 MiB kept, of each thread.
const COPY_RETAINED_MAX: usize = 1 << 20;

/// Buffers that one message needs while it is read or written.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) tape: Tape,
    /// The message, where Ruby code runs while its objects are made.
    pub(crate) copy: Vec<u8>,
    pub(crate) binary: BinaryWriter,
    pub(crate) compact: CompactWriter,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Calls `work` with the thread's scratch memory, or with new one inside of such a call: Ruby code that
/// runs while objects are made may read messages itself. `work` has to return.
#[inline]
pub(crate) fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let result = work(&mut scratch);
    scratch.give_back();
    let _ = SCRATCH.try_with(|place| place.set(Some(scratch)));
    result
}

impl Scratch {
    fn give_back(&mut self) {
        if self.copy.capacity() > COPY_RETAINED_MAX {
            self.copy = Vec::new();
        }
        self.tape.clear();
        self.binary.clear();
        self.compact.clear();
    }
}
