//! The roots of a Hash as values, for who prints them and has no host that could load them. Where the
//! stream has an index, only what is asked for is taken apart.

use std::borrow::Cow;
use std::ops::Range;

use crate::{Error, ErrorKind, Result};

use super::RootStream;
use super::value::{Form, ValueId, Values};

/// Roots that share objects, up to which each is taken apart by itself.
const SHARING_MAX: usize = 64;

/// The roots of a stream, which are numbered in their order from 0.
#[derive(Debug)]
pub struct Roots<'a>(Inner<'a>);

#[derive(Debug)]
enum Inner<'a> {
    None,
    Indexed(&'a RootStream),
    Whole { values: Values, entries: Vec<(ValueId, ValueId)>, damage: Option<Error> },
}

/// Keys or values of roots: the values of a stream, and which of them they are.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The values.
    pub values: Cow<'a, Values>,
    /// Which ones.
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
        match stream.index.groups.len() > SHARING_MAX {
            true => Self::whole(stream.bytes().to_vec()),
            false => Ok(Roots(Inner::Indexed(stream))),
        }
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

    /// What is wrong behind the last root.
    pub fn damage(&self) -> Option<&Error> {
        match &self.0 {
            Inner::Whole { damage, .. } => damage.as_ref(),
            Inner::None | Inner::Indexed(_) => None,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match &self.0 {
            Inner::None => 0,
            Inner::Indexed(stream) => stream.root_count(),
            Inner::Whole { entries, .. } => entries.len(),
        }
    }

    /// The keys of roots, in order.
    ///
    /// # Errors
    ///
    /// `Argument` if one of the roots is not there.
    pub fn keys(&self, roots: Range<usize>) -> Result<Parts<'_>> {
        match &self.0 {
            Inner::None => Err(no_such_root()),
            Inner::Indexed(stream) => elements(stream.lift_keys(roots)?),
            Inner::Whole { values, entries, .. } => {
                let entries = entries.get(roots).ok_or_else(no_such_root)?;
                let ids = entries.iter().map(|entry| entry.0).collect();
                Ok(Parts { values: Cow::Borrowed(values), ids })
            }
        }
    }

    /// The value of a root.
    ///
    /// # Errors
    ///
    /// `Argument` if there is no such root.
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
        }
    }

    /// Bytes that the value of a root takes, where the stream has an index.
    pub fn value_len(&self, root: usize) -> Option<usize> {
        match &self.0 {
            Inner::Indexed(stream) => stream.spans(root).map(|(_, value)| value.len()),
            Inner::None | Inner::Whole { .. } => None,
        }
    }

    /// Bytes behind the Hash, which the host does not read.
    pub fn trailing_len(&self) -> usize {
        match &self.0 {
            Inner::None | Inner::Indexed(_) => 0,
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

fn no_such_root() -> Error {
    Error::new(ErrorKind::Argument, "expected the number of a root that is there, found another")
}
