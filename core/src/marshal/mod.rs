//! Ruby's Marshal 4.8 stream of a Hash, handled as bytes: its roots (the pairs of the Hash) are found
//! by their keys, taken out, and changed in place, and no object is ever built. It is not a decoder
//! of values: what a root holds is for the host to load.
//!
//! The result of a change is, byte for byte, what the host would write after loading the stream and the
//! new roots, replacing the roots, and dumping the Hash. That is possible because dumping is regular:
//!
//! - Symbols are numbered in the order in which they are met first, and written as `;` and the number
//!   from then on. So are objects, with `@`, each of which takes a number, links and small values not.
//! - Some objects are told apart by their content, so an equal one in another root is a link: Strings
//!   that are keys of Hashes (the host interns them, as it does the names of time zones), Floats that
//!   fit a word, classes and modules, and the names of encodings.
//! - All others are themselves. Roots that share one, a link shows, are a group, and are taken out and
//!   changed together.
//!
//! A stream for which any of this may be otherwise is refused ([`NotIndexable`]): one that dumping
//! would not have written so, one with Hashes by identity, or with objects whose own code dumps them
//! and is not known to do so alike each time ([`Hooks`]). The host handles such a stream as a whole.
//!
//! Some things a stream cannot tell. The instance variables of an object are taken to be dumped in
//! the order they were loaded in; before 3.2, the host writes them in the order in which the class met
//! them first. A String of the program that is frozen may be the very one that is a key elsewhere; the
//! bytes of a change do not show that, and it is written in full, as it would be after loading it. What
//! the code of a class wrote is taken to be what it writes. And the classes of the host are taken to be
//! those that the stream was written with.
//!
//! A host may itself write a stream that is refused: Ruby 3.1 interns a String a second time if an equal
//! one is swept at that moment, and then writes both in full. Loading and dumping it once more mends it.

mod assign;
mod by_number;
mod classes;
mod content;
mod context;
mod edit;
mod emit;
mod encoding;
mod find;
mod float;
mod index;
mod lift;
mod long;
mod patch;
mod plan;
mod refusal;
mod roots;
mod scalar;
mod scan;
mod shifts;
mod slots;
mod splice;
mod survey;
mod update;
mod value;
mod walk;

use std::ops::Range;

use content::LinkableContent;
use edit::{Edits, Indexed};
use index::StreamIndex;

pub use classes::class_names;
pub use edit::Edit;
pub use refusal::{NotIndexable, Reason};
pub use roots::{RootParts, Roots, Separate};
pub use scalar::{CommonEncoding, Scalar};
pub use value::{
    MarshalForm, MarshalValue, NESTING_MAX, RareParts, Span, SymbolId, TextEncoding, ValueId,
    Values,
};
pub use walk::DEPTH_MAX;

// Bound (Marshal): length of a Marshal stream = 4 GiB; a longer one is refused.
/// Maximum length of a stream, in bytes: its places are kept in 32 bits.
pub const LEN_MAX: usize = 0xffff_ff00;

/// Classes that are assumed to dump an object that they have loaded just as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hooks {
    /// Those of the host's own library that have code of their own for it: Time, BigDecimal,
    /// Rational, Complex, Date, DateTime, OpenStruct. Others are refused.
    #[default]
    Known,
    /// All: the caller knows the classes in the stream.
    Trusted,
}

/// Result of the search for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// The root of that number.
    Found(usize),
    /// There is no root of that key.
    Absent,
    /// Only the host can tell: a key is an object of a kind whose equality the bytes do not show.
    Undecidable,
}

/// Amount of a stream that a change had to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The changed roots, each as long as before.
    InPlace,
    /// The changed roots, and all behind the first of another length has moved.
    Shifted,
    /// Everything, because something that others link to is defined elsewhere than before.
    Rewritten,
}

/// Result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spliced {
    /// The ranges of the new stream that hold other bytes than the old one did there, or had not;
    /// in order, apart from each other. What the old one had behind the end of the new one goes.
    pub changed: Vec<Range<usize>>,
    /// Amount that had to be written.
    pub way: Way,
}

/// A stream that was refused, and why.
#[derive(Debug)]
pub struct Refused {
    /// The bytes, as they were given.
    pub stream: Vec<u8>,
    /// Reason of the refusal.
    pub why: NotIndexable,
}

/// The stream of a Hash with an index of its roots, which are numbered in their order from 0.
#[derive(Debug, Clone)]
pub struct RootStream {
    stream: Vec<u8>,
    index: StreamIndex,
}

impl RootStream {
    /// Finds the roots of a stream, in one pass over it.
    ///
    /// # Errors
    ///
    /// [`Refused`] if the stream cannot be handled root by root, with the stream.
    pub fn scan(stream: Vec<u8>, hooks: Hooks) -> Result<RootStream, Box<Refused>> {
        match scan::scan(&stream, hooks) {
            Ok(index) => Ok(RootStream { stream, index }),
            Err(why) => Err(Box::new(Refused { stream, why })),
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.stream
    }

    /// The bytes, without the index.
    pub fn into_bytes(self) -> Vec<u8> {
        self.stream
    }

    /// Returns the number of roots.
    pub fn root_count(&self) -> usize {
        self.index.root_count()
    }

    /// Returns true if the Hash has a default value.
    pub fn has_default(&self) -> bool {
        self.index.has_default
    }

    /// The root of a key, given as what dumping the key alone writes.
    pub fn find(&self, dumped_key: &[u8]) -> Lookup {
        let is_dump = dumped_key.get(..2) == Some(&[4, 8]);
        let nothing = context::Context::default();
        let key = index::simple_key(dumped_key, 2, &nothing, &[], |_| None);
        match key.filter(|_| is_dump) {
            Some(key) => self.find_content(&key),
            None => Lookup::Undecidable,
        }
    }

    /// The root of a key that is a String or a Symbol, without dumping it.
    pub fn find_text(&self, key: Scalar<'_>) -> Lookup {
        match scalar::text_content(key) {
            Some(key) => self.find_content(&key),
            None => Lookup::Undecidable,
        }
    }

    fn find_content(&self, key: &LinkableContent<'_>) -> Lookup {
        let mut undecidable = false;
        let is_it = |offset| {
            let other = self.index.key_content(&self.stream, offset);
            match (key, &other) {
                (
                    LinkableContent::Interned(text, ours),
                    Some(LinkableContent::Interned(other, theirs)),
                ) if text == other && ours != theirs => {
                    // Strings of one text are equal in all encodings that have it in common.
                    let are_common = ours.is_common() && theirs.is_common();
                    undecidable |= !are_common;
                    are_common && text.is_ascii()
                }
                (key, other) => other.as_ref() == Some(key),
            }
        };
        let found = self.index.roots.find(key.hash(self.index.seed), is_it);
        match found {
            Some(offset) => Lookup::Found(self.index.root_at(offset)),
            None if undecidable || self.index.complex_keys > 0 => Lookup::Undecidable,
            None => Lookup::Absent,
        }
    }

    /// Returns the ranges of the key and the value of a root.
    pub fn spans(&self, root: usize) -> Option<(Range<usize>, Range<usize>)> {
        self.index.spans(&self.stream, root)
    }

    /// The value of a root, if it is a scalar that shares nothing with other roots.
    pub fn scalar(&self, root: usize) -> Option<Scalar<'_>> {
        let place = self.index.value_place(&self.stream, root).ok()?;
        if root >= self.root_count() || self.shares(root) {
            return None;
        }
        let scalar = scalar::at(&self.stream, &self.index, place)?;
        let is_link = self.stream.get(place.at) == Some(&b'@');
        (!is_link || !matches!(scalar, Scalar::String(..))).then_some(scalar)
    }

    /// The key of a root, if it is a scalar.
    pub fn scalar_key(&self, root: usize) -> Option<Scalar<'_>> {
        let place = self.index.place(root).filter(|_| root < self.root_count())?;
        scalar::at(&self.stream, &self.index, place)
    }

    /// Returns true if other roots share objects with `root`.
    pub fn shares(&self, root: usize) -> bool {
        self.index.leader(root).is_some()
    }

    /// The roots that share objects with `root`, itself among them, in order. They are to be taken
    /// out together, and changed together.
    pub fn group(&self, root: usize) -> Vec<usize> {
        self.index.group(root)
    }

    /// The value of a root as a stream of its own, which is what dumping it writes.
    ///
    /// # Errors
    ///
    /// [`Reason::BadEdit`] if there is no such root, [`Reason::SplitGroup`] if it shares objects with
    /// others.
    pub fn lift(&self, root: usize) -> Result<Vec<u8>, NotIndexable> {
        lift::value(&self.stream, &self.index, root)
    }

    /// The values of roots, which are named in order, as an Array, which is what dumping that writes.
    ///
    /// # Errors
    ///
    /// [`Reason::BadEdit`] if a root is not there or out of order, [`Reason::SplitGroup`] if one
    /// shares objects with roots that are not named.
    pub fn lift_all(&self, roots: &[usize]) -> Result<Vec<u8>, NotIndexable> {
        lift::values(&self.stream, &self.index, roots)
    }

    /// The keys of roots, as an Array, which is what dumping that writes.
    ///
    /// # Errors
    ///
    /// [`Reason::BadEdit`] if a root is not there.
    pub fn lift_keys(&self, roots: Range<usize>) -> Result<Vec<u8>, NotIndexable> {
        lift::keys(&self.stream, &self.index, roots)
    }

    /// The default value, if there is one, as a stream of its own.
    ///
    /// # Errors
    ///
    /// None but [`Reason::Inconsistent`].
    pub fn lift_default(&self) -> Result<Option<Vec<u8>>, NotIndexable> {
        lift::default_value(&self.stream, &self.index)
    }

    /// Changes roots. `changes` has the new values by their keys, each named by one of `edits`.
    ///
    /// # Errors
    ///
    /// [`Reason::BadEdit`] if the edits do not fit, [`Reason::SplitGroup`] if one changes a root
    /// without those that it shares objects with, [`Reason::UncertainKey`] if a new root may not be
    /// new. The stream is as it was then.
    pub fn splice(
        &mut self,
        changes: &RootStream,
        edits: &[Edit],
    ) -> Result<Spliced, NotIndexable> {
        let old = Indexed { stream: &self.stream, index: &self.index };
        let new = Indexed { stream: &changes.stream, index: &changes.index };
        let edits = Edits::check(old, new, edits)?;
        splice::splice(&mut self.stream, &mut self.index, new, &edits)
    }

    /// Gives a root another scalar, where both are of kinds that the rest of the stream does not
    /// depend on: Strings of one encoding, or what is no object. To others it does, for
    /// [`splice`](Self::splice).
    ///
    /// # Errors
    ///
    /// [`Reason::BadEdit`] if there is no such root or the kinds do not fit, [`Reason::SplitGroup`]
    /// if it shares objects with others, [`Reason::TooLong`]. The stream is as it was then.
    pub fn assign(&mut self, root: usize, value: Scalar<'_>) -> Result<Spliced, NotIndexable> {
        let at = self.index.place(root).map_or(0, |place| place.at);
        if root >= self.root_count() {
            return Err(NotIndexable::new(Reason::BadEdit, at));
        }
        if self.shares(root) {
            return Err(NotIndexable::new(Reason::SplitGroup, at));
        }
        assign::assign(&mut self.stream, &mut self.index, root, value)
    }

    /// Bytes of memory that the index takes beside the stream.
    pub fn index_memory(&self) -> usize {
        self.index.memory()
    }

    /// Describes the first difference from a fresh index, for tests; returns None if all is well.
    #[doc(hidden)]
    pub fn defect(&self) -> Option<String> {
        match scan::scan(&self.stream, Hooks::Trusted) {
            Ok(fresh) => self.index.difference(&self.stream, &fresh),
            Err(why) => Some(why.to_string()),
        }
    }
}
