//! Objects identified by their content and not by their place: equal ones are one object for the host,
//! wherever they are met, and all but the first are written as links.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::encoding::StringEncoding;
use crate::forks::ProcessValue;

/// Something that dumping defines where it meets it first, and links to ever after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkableContent<'a> {
    /// A Symbol. It is numbered apart from objects.
    Symbol(&'a [u8], StringEncoding),
    /// A String that the host keeps once for all: the keys of Hashes, the names of time zones.
    Interned(&'a [u8], StringEncoding),
    /// The text of a Float that is no object of its own.
    Float(&'a [u8]),
    /// `c` for a class, `m` for a module, and its name.
    Class(u8, &'a [u8]),
    /// The name of an encoding, behind `:encoding`.
    EncodingName(StringEncoding),
    /// The bytes of what needs no definition: nil, true, false, whole numbers, Floats that are
    /// objects. Only as a key of a root.
    Plain(&'a [u8]),
}

impl LinkableContent<'_> {
    /// A hash that leaves the encoding out, so that Strings that may be equal keys meet.
    #[inline]
    pub(super) fn hash(&self, seed: u64) -> u64 {
        let (kind, bytes) = match *self {
            LinkableContent::Symbol(bytes, _) => (b':', bytes),
            LinkableContent::Interned(bytes, _) => (b'"', bytes),
            LinkableContent::Float(bytes) => (b'f', bytes),
            LinkableContent::Class(kind, bytes) => (kind, bytes),
            LinkableContent::EncodingName(encoding) => {
                (b'E', encoding.name().unwrap_or_default().as_bytes())
            }
            LinkableContent::Plain(bytes) => (b'0', bytes),
        };
        xxh3_64_with_seed(bytes, seed ^ u64::from(kind))
    }
}

/// Seed of the hashes of contents in maps that live as long as a change: nobody outside knows it.
static SEED: ProcessValue<u64> = ProcessValue::new();

impl Hash for LinkableContent<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash(*SEED.get_or_init(|| RandomState::new().hash_one(0))));
    }
}
