//! The classes of the gem thrift that are read and written natively: looked up once, so that an object
//! is recognized by comparing one word.

use std::sync::atomic::{AtomicUsize, Ordering};

use magnus::rb_sys::AsRawValue;
use magnus::{RClass, Ruby};

/// What a class is to us. The number is its place in [`CLASSES`] and in Ruby's `KNOWN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Binary,
    Accelerated,
    Compact,
    OwnBinary,
    OwnCompact,
    Memory,
    Framed,
    Buffered,
    Serializer,
    Deserializer,
    /// Ruby's Set, where its elements are the keys of a Hash in `@hash`.
    Set,
}

const COUNT: usize = Known::Set as usize + 1;

/// The classes, 0 for one that is not there or has been changed. An object has a class for as long as
/// it lives, so that reading no lock is needed.
static CLASSES: [AtomicUsize; COUNT] = [const { AtomicUsize::new(0) }; COUNT];

/// Counts what may change how a class is to be read: a method that is added, a class that is changed.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

/// The class as Ruby's value, 0 for none.
#[inline]
pub(crate) fn known(which: Known) -> usize {
    CLASSES.get(which as usize).map_or(0, |class| class.load(Ordering::Relaxed))
}

/// Takes a class as the one with that number; none takes it back.
pub(super) fn know(ruby: &Ruby, which: usize, class: Option<RClass>) {
    let Some(place) = CLASSES.get(which) else { return };
    if let Some(class) = class {
        ruby.gc_register_mark_object(class);
    }
    place.store(class.map_or(0, |class| class.as_raw() as usize), Ordering::Relaxed);
}

/// What codecs of now are made of.
#[inline]
pub(crate) fn generation() -> usize {
    GENERATION.load(Ordering::Relaxed)
}

/// Makes all codecs ask again.
pub(crate) fn expire() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
