//! The classes of the gem thrift that are read and written natively: looked up once, so that an object
//! is recognized by comparing one word.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use magnus::rb_sys::AsRawValue;
use magnus::{Error, RClass, Ruby};

use super::variable::{Variable, find_places};

/// Class of the gem. The number is its place in [`CLASSES`] and in Ruby's `KNOWN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GemClass {
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

const COUNT: usize = GemClass::Set as usize + 1;

/// Variables of a class that are used here, at most.
const VARIABLE_COUNT: usize = 5;

/// Of a protocol, a serializer or a deserializer: its transport.
pub(crate) const TRANSPORT: usize = 0;
/// Of a serializer or a deserializer.
pub(crate) const PROTOCOL: usize = 1;
/// Of a transport: the bytes that are read, how many of them were, the bytes that were written, and whether
/// it reads and writes in its own way.
pub(crate) const READ_BYTES: usize = 0;
pub(crate) const INDEX: usize = 1;
pub(crate) const WRITTEN_BYTES: usize = 2;
pub(crate) const READS: usize = 3;
pub(crate) const WRITES: usize = 4;
/// Of a Set: the Hash with its elements as keys.
pub(crate) const HASH: usize = 0;

/// The names of the variables, at the numbers above.
fn names(which: usize) -> &'static [&'static str] {
    const MEMORY: usize = GemClass::Memory as usize;
    const FRAMED: usize = GemClass::Framed as usize;
    const BUFFERED: usize = GemClass::Buffered as usize;
    const SERIALIZER: usize = GemClass::Serializer as usize;
    const DESERIALIZER: usize = GemClass::Deserializer as usize;
    const SET: usize = GemClass::Set as usize;
    match which {
        MEMORY => &["@buf", "@index", "@buf"],
        FRAMED => &["@rbuf", "@index", "@wbuf", "@read", "@write"],
        BUFFERED => &["@rbuf", "@index", "@wbuf"],
        SERIALIZER | DESERIALIZER => &["@transport", "@protocol"],
        SET => &["@hash"],
        _ => &["@trans"],
    }
}

/// The variables of the classes that are or were known.
static VARIABLES: [OnceLock<[Variable; VARIABLE_COUNT]>; COUNT] =
    [const { OnceLock::new() }; COUNT];

/// The classes, 0 for one that is not there or has been changed. An object has a class for as long as
/// it lives, so that reading no lock is needed.
static CLASSES: [AtomicUsize; COUNT] = [const { AtomicUsize::new(0) }; COUNT];

/// Counts what may change how a class is to be read: a method that is added, a class that is changed.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

/// The class as Ruby's value, 0 for none.
#[inline]
pub(crate) fn known(which: GemClass) -> usize {
    CLASSES.get(which as usize).map_or(0, |class| class.load(Ordering::Acquire))
}

/// A variable of a known class's objects.
#[inline]
pub(crate) fn variable(which: GemClass, at: usize) -> Variable {
    let all = VARIABLES.get(which as usize).and_then(OnceLock::get);
    all.and_then(|all| all.get(at)).copied().unwrap_or_else(unnamed)
}

/// A variable that no object has, in the place of those that a class has none of.
fn unnamed() -> Variable {
    Variable::named("@bytewright_none")
}

/// Takes a class as the one with that number; none takes it back.
pub(super) fn know(ruby: &Ruby, which: usize, class: Option<RClass>) -> Result<(), Error> {
    let (Some(place), Some(variables)) = (CLASSES.get(which), VARIABLES.get(which)) else {
        return Ok(());
    };
    if let Some(class) = class {
        ruby.gc_register_mark_object(class);
        let mut found = [unnamed(); VARIABLE_COUNT];
        let names = names(which);
        for (variable, name) in found.iter_mut().zip(names) {
            *variable = Variable::named(name);
        }
        find_places(class, found.get_mut(..names.len()).unwrap_or_default())?;
        variables.get_or_init(|| found);
    }
    place.store(class.map_or(0, |class| class.as_raw() as usize), Ordering::Release);
    Ok(())
}

/// Returns the generation of codecs that are made now.
#[inline]
pub(crate) fn generation() -> usize {
    GENERATION.load(Ordering::Relaxed)
}

/// Makes all codecs ask again.
pub(crate) fn expire() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
