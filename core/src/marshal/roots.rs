//! The roots of a store as values, for callers without Ruby: those of a Hash in one stream, or each in a stream
//! of its own. Where the stream has an index, only what is asked for is taken apart.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use crate::{Error, ErrorKind, Result};

use super::RootStream;
use super::value::{MarshalForm, ValueId, Values};

/// Roots that share objects, up to which each is taken apart by itself.
const SHARING_MAX: usize = 64;

/// Bytes before the value of a stream.
const VERSION_LEN: usize = 2;

/// The roots of a stream, which are numbered in their order from 0.
#[derive(Debug)]
pub struct Roots<'a>(RootSource<'a>);

#[derive(Debug)]
enum RootSource<'a> {
    None,
    Indexed(HeldStream<'a>),
    Whole { values: Values, entries: Vec<(ValueId, ValueId)>, damage: Option<Error> },
    Separate(Box<dyn Separate + Send>),
}

/// The stream that roots are read from: somebody else's, or their own.
#[derive(Debug)]
enum HeldStream<'a> {
    Borrowed(&'a RootStream),
    Owned(Box<RootStream>),
}

impl Deref for HeldStream<'_> {
    type Target = RootStream;

    fn deref(&self) -> &RootStream {
        match self {
            HeldStream::Borrowed(held) => held,
            HeldStream::Owned(held) => held,
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
pub struct RootParts<'a> {
    /// The values.
    pub values: Cow<'a, Values>,
    /// Ids of the keys or values among them.
    pub ids: Vec<ValueId>,
}

impl<'a> Roots<'a> {
    /// Those of a store without bytes.
    pub fn none() -> Roots<'a> {
        Roots(RootSource::None)
    }

    /// The roots of a stream with an index; all taken apart at once where many share objects, because
    /// each would be taken apart with all that it shares some with.
    ///
    /// # Errors
    ///
    /// None but for a defect in Bytewright.
    pub fn indexed(stream: &'a RootStream) -> Result<Roots<'a>> {
        Self::with_index(HeldStream::Borrowed(stream))
    }

    /// Takes over the stream, and is otherwise like [`Roots::indexed`].
    ///
    /// # Errors
    ///
    /// None but for a defect in Bytewright.
    pub fn of_stream(stream: Box<RootStream>) -> Result<Roots<'static>> {
        Roots::with_index(HeldStream::Owned(stream))
    }

    fn with_index(stream: HeldStream<'a>) -> Result<Roots<'a>> {
        match stream.index.groups.len() > SHARING_MAX {
            true => Self::whole(stream.bytes().to_vec()),
            false => Ok(Roots(RootSource::Indexed(stream))),
        }
    }

    /// The roots of `source`, each by itself.
    pub fn separate(source: Box<dyn Separate + Send>) -> Roots<'static> {
        Roots(RootSource::Separate(source))
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
            Some(MarshalForm::Hash { entries, .. }) => entries.clone(),
            _ => Vec::new(),
        };
        Ok(Roots(RootSource::Whole { values, entries, damage }))
    }

    /// Returns the error behind the last root, if there is one.
    pub fn damage(&self) -> Option<&Error> {
        match &self.0 {
            RootSource::Whole { damage, .. } => damage.as_ref(),
            RootSource::None | RootSource::Indexed(_) | RootSource::Separate(_) => None,
        }
    }

    /// Returns the number of roots.
    pub fn count(&self) -> usize {
        match &self.0 {
            RootSource::None => 0,
            RootSource::Indexed(stream) => stream.root_count(),
            RootSource::Whole { entries, .. } => entries.len(),
            RootSource::Separate(source) => source.count(),
        }
    }

    /// The keys of roots, in order.
    ///
    /// # Errors
    ///
    /// `Argument` if one of the roots is not there; `Corrupt` where a stream of its own is damaged.
    pub fn keys(&self, roots: Range<usize>) -> Result<RootParts<'_>> {
        match &self.0 {
            RootSource::None => Err(no_such_root()),
            RootSource::Indexed(stream) => elements(stream.lift_keys(roots)?),
            RootSource::Whole { values, entries, .. } => {
                let entries = entries.get(roots).ok_or_else(no_such_root)?;
                let ids = entries.iter().map(|entry| entry.0).collect();
                Ok(RootParts { values: Cow::Borrowed(values), ids })
            }
            RootSource::Separate(source) => {
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
    pub fn value(&self, root: usize) -> Result<RootParts<'_>> {
        match &self.0 {
            RootSource::None => Err(no_such_root()),
            RootSource::Indexed(stream) => {
                let group = stream.group(root);
                let nth =
                    group.iter().position(|&member| member == root).ok_or_else(no_such_root)?;
                let mut parts = elements(stream.lift_all(&group)?)?;
                parts.ids = parts.ids.get(nth).copied().into_iter().collect();
                Ok(parts)
            }
            RootSource::Whole { values, entries, .. } => {
                let entry = entries.get(root).ok_or_else(no_such_root)?;
                Ok(RootParts { values: Cow::Borrowed(values), ids: vec![entry.1] })
            }
            RootSource::Separate(source) => {
                let stream = source.value(root)?.ok_or_else(no_such_root)?;
                parts_of_streams([&*stream]).map_err(|error| damaged_root(root, &error))
            }
        }
    }

    /// Bytes that the value of a root takes, which is `value`, where that is known.
    pub fn value_len(&self, root: usize, value: &RootParts<'_>) -> Option<usize> {
        match &self.0 {
            RootSource::Indexed(stream) => stream.spans(root).map(|(_, value)| value.len()),
            RootSource::Separate(_) => value.values.stream_len().checked_sub(VERSION_LEN),
            RootSource::None | RootSource::Whole { .. } => None,
        }
    }

    /// Bytes behind the Hash, which the host does not read.
    pub fn trailing_len(&self) -> usize {
        match &self.0 {
            RootSource::None | RootSource::Indexed(_) | RootSource::Separate(_) => 0,
            RootSource::Whole { damage: Some(_), .. } => 0,
            RootSource::Whole { values, .. } => values.stream_len() - values.end(),
        }
    }
}

/// The elements of a stream of an Array.
fn elements<'a>(array: Vec<u8>) -> Result<RootParts<'a>> {
    let values = Values::decode(array)?;
    let ids = match values.get(values.root()).map(|root| &root.form) {
        Some(MarshalForm::Array(elements)) => elements.clone(),
        _ => Vec::new(),
    };
    Ok(RootParts { values: Cow::Owned(values), ids })
}

/// The values of streams, one of each.
fn parts_of_streams<'a>(streams: impl IntoIterator<Item = &'a [u8]>) -> Result<RootParts<'static>> {
    let (values, ids) = Values::decode_each(streams)?;
    Ok(RootParts { values: Cow::Owned(values), ids })
}

fn damaged_root(root: usize, error: &Error) -> Error {
    let message =
        format!("expected a dumped root, found damage in number {root} or behind: {error}");
    Error::new(ErrorKind::Corrupt, message)
}

fn no_such_root() -> Error {
    Error::new(ErrorKind::Argument, "expected the number of a root that is there, found another")
}
