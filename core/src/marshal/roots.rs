//! The roots of a store as values, for callers without Ruby: those of a Hash in one stream, or each in a stream
//! of its own. Where the stream has an index, only what is asked for is taken apart.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use crate::{Error, ErrorKind, Result};

use super::RootStream;
use super::value::{Form, ValueId, Values};

/// Roots that share objects, up to which each is taken apart by itself.
const SHARING_MAX: usize = 64;

/// Bytes before the value of a stream.
const VERSION_LEN: usize = 2;

/// The roots of a stream, which are numbered in their order from 0.
#[derive(Debug)]
pub struct Roots<'a>(Inner<'a>);

#[derive(Debug)]
enum Inner<'a> {
    None,
    Indexed(Held<'a>),
    Whole { values: Values, entries: Vec<(ValueId, ValueId)>, damage: Option<Error> },
    Separate(Box<dyn Separate + Send>),
}

/// The stream that roots are read from: somebody else's, or their own.
#[derive(Debug)]
enum Held<'a> {
    Borrowed(&'a RootStream),
    Owned(Box<RootStream>),
}

impl Deref for Held<'_> {
    type Target = RootStream;

    fn deref(&self) -> &RootStream {
        match self {
            Held::Borrowed(held) => held,
            Held::Owned(held) => held,
        }
    }
}

/// Roots whose keys and values are streams of their own.
pub trait Separate: std::fmt::Debug {
    /// Returns the number of roots.
    fn count(&self) -> usize;

    /// The key of a root, if there is one.
    fn key(&self, root: usize) -> Option<&[u8]>;

    /// The value of a root, if there is one.
    ///
    /// # Errors
    /// Returns the errors of reading it.
    fn value(&self, root: usize) -> Result<Option<Vec<u8>>>;
}

/// Keys or values of roots: the values of a stream, and which of them they are.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The values.
    pub values: Cow<'a, Values>,
    /// Ids of the keys or values among them.
    pub ids: Vec<ValueId>,
}

impl<'a> Roots<'a> {
    /// Those of a store without bytes.
    pub fn none() -> Roots<'a> {
        Roots(Inner::None)
    }

    /// The roots of a stream with an index; all taken apart at once where many share objects, because
    /// each would be taken apart with all that it shares some with.
    ///
    /// # Errors
    ///
    /// None but for a defect in Bytewright.
    pub fn indexed(stream: &'a RootStream) -> Result<Roots<'a>> {
        Self::with_index(Held::Borrowed(stream))
    }

    /// Takes over the stream, and is otherwise like [`Roots::indexed`].
    ///
    /// # Errors
    ///
    /// None but for a defect in Bytewright.
    pub fn of_stream(stream: Box<RootStream>) -> Result<Roots<'static>> {
        Roots::with_index(Held::Owned(stream))
    }

    fn with_index(stream: Held<'a>) -> Result<Roots<'a>> {
        match stream.index.groups.len() > SHARING_MAX {
            true => Self::whole(stream.bytes().to_vec()),
            false => Ok(Roots(Inner::Indexed(stream))),
        }
    }

    /// The roots of `source`, each by itself.
    pub fn separate(source: Box<dyn Separate + Send>) -> Roots<'static> {
        Roots(Inner::Separate(source))
    }

    /// The roots of any stream of a Hash, all of it taken apart at once; of a damaged one those before
    /// the damage.
    ///
    /// # Errors
    ///
    /// Those of [`Values::decode_hash`].
    pub fn whole(stream: Vec<u8>) -> Result<Roots<'a>> {
        let (values, damage) = Values::decode_hash(stream)?;
        let entries = match values.get(values.root()).map(|root| &root.form) {
            Some(Form::Hash { entries, .. }) => entries.clone(),
            _ => Vec::new(),
        };
        Ok(Roots(Inner::Whole { values, entries, damage }))
    }

    /// Returns the error behind the last root, if there is one.
    pub fn damage(&self) -> Option<&Error> {
        match &self.0 {
            Inner::Whole { damage, .. } => damage.as_ref(),
            Inner::None | Inner::Indexed(_) | Inner::Separate(_) => None,
        }
    }

    /// Returns the number of roots.
    pub fn count(&self) -> usize {
        match &self.0 {
            Inner::None => 0,
            Inner::Indexed(stream) => stream.root_count(),
            Inner::Whole { entries, .. } => entries.len(),
            Inner::Separate(source) => source.count(),
        }
    }

    /// The keys of roots, in order.
    ///
    /// # Errors
    ///
    /// `Argument` if one of the roots is not there; `Corrupt` where a stream of its own is damaged.
    pub fn keys(&self, roots: Range<usize>) -> Result<Parts<'_>> {
        match &self.0 {
            Inner::None => Err(no_such_root()),
            Inner::Indexed(stream) => elements(stream.lift_keys(roots)?),
            Inner::Whole { values, entries, .. } => {
                let entries = entries.get(roots).ok_or_else(no_such_root)?;
                let ids = entries.iter().map(|entry| entry.0).collect();
                Ok(Parts { values: Cow::Borrowed(values), ids })
            }
            Inner::Separate(source) => {
                let first = roots.start;
                let streams: Option<Vec<&[u8]>> = roots.map(|root| source.key(root)).collect();
                parts_of_streams(streams.ok_or_else(no_such_root)?)
                    .map_err(|error| damaged_root(first, &error))
            }
        }
    }

    /// The value of a root.
    ///
    /// # Errors
    ///
    /// `Argument` if there is no such root; `Corrupt` where a stream of its own is damaged.
    pub fn value(&self, root: usize) -> Result<Parts<'_>> {
        match &self.0 {
            Inner::None => Err(no_such_root()),
            Inner::Indexed(stream) => {
                let group = stream.group(root);
                let nth =
                    group.iter().position(|&member| member == root).ok_or_else(no_such_root)?;
                let mut parts = elements(stream.lift_all(&group)?)?;
                parts.ids = parts.ids.get(nth).copied().into_iter().collect();
                Ok(parts)
            }
            Inner::Whole { values, entries, .. } => {
                let entry = entries.get(root).ok_or_else(no_such_root)?;
                Ok(Parts { values: Cow::Borrowed(values), ids: vec![entry.1] })
            }
            Inner::Separate(source) => {
                let stream = source.value(root)?.ok_or_else(no_such_root)?;
                parts_of_streams([&*stream]).map_err(|error| damaged_root(root, &error))
            }
        }
    }

    /// Bytes that the value of a root takes, which is `value`, where that is known.
    pub fn value_len(&self, root: usize, value: &Parts<'_>) -> Option<usize> {
        match &self.0 {
            Inner::Indexed(stream) => stream.spans(root).map(|(_, value)| value.len()),
            Inner::Separate(_) => value.values.stream_len().checked_sub(VERSION_LEN),
            Inner::None | Inner::Whole { .. } => None,
        }
    }

    /// Bytes behind the Hash, which the host does not read.
    pub fn trailing_len(&self) -> usize {
        match &self.0 {
            Inner::None | Inner::Indexed(_) | Inner::Separate(_) => 0,
            Inner::Whole { damage: Some(_), .. } => 0,
            Inner::Whole { values, .. } => values.stream_len() - values.end(),
        }
    }
}

/// The elements of a stream of an Array.
fn elements<'a>(array: Vec<u8>) -> Result<Parts<'a>> {
    let values = Values::decode(array)?;
    let ids = match values.get(values.root()).map(|root| &root.form) {
        Some(Form::Array(elements)) => elements.clone(),
        _ => Vec::new(),
    };
    Ok(Parts { values: Cow::Owned(values), ids })
}

/// The values of streams, one of each.
fn parts_of_streams<'a>(streams: impl IntoIterator<Item = &'a [u8]>) -> Result<Parts<'static>> {
    let (values, ids) = Values::decode_each(streams)?;
    Ok(Parts { values: Cow::Owned(values), ids })
}

fn damaged_root(root: usize, error: &Error) -> Error {
    let message =
        format!("expected a dumped root, found damage in number {root} or behind: {error}");
    Error::new(ErrorKind::Corrupt, message)
}

fn no_such_root() -> Error {
    Error::new(ErrorKind::Argument, "expected the number of a root that is there, found another")
}
