//! Putting a scalar in the place of another where nothing else in the stream depends on which it is:
//! no number of a symbol or object changes, so only what is behind it moves. It is what most changes
//! of a store are, and takes no second stream.

use std::ops::Range;

use super::index::StreamIndex;
use super::long;
use super::patch;
use super::refusal::{NotIndexable, Reason, Result};
use super::scalar::{self, Scalar};
use super::shifts::Shifts;
use super::{LEN_MAX, Spliced, Way};

/// Bytes that are written anew, in the place of others.
struct Assignment<'t> {
    old: Range<usize>,
    /// New bytes: a length or a whole value, then a text.
    head: Vec<u8>,
    text: &'t [u8],
}

impl Assignment<'_> {
    fn len(&self) -> usize {
        self.head.len() + self.text.len()
    }
}

/// Gives a root another value.
pub(super) fn assign(
    stream: &mut Vec<u8>,
    index: &mut StreamIndex,
    root: usize,
    value: Scalar<'_>,
) -> Result<Spliced> {
    let at = index.value_place(stream, root)?;
    let end = index.offsets.get(root + 1).copied().unwrap_or_default() as usize;
    let old = scalar::at(stream, index, at);
    let assignment = old.and_then(|old| plan(stream, at.at..end, old, value));
    let assignment = assignment.ok_or(NotIndexable::new(Reason::BadEdit, at.at))?;
    let by = assignment.len() as i64 - assignment.old.len() as i64;
    if stream.len() + assignment.len() > LEN_MAX {
        return Err(NotIndexable::new(Reason::TooLong, stream.len()));
    }
    let changed = apply(stream, &assignment);
    if by == 0 {
        return Ok(Spliced { changed, way: Way::InPlace });
    }
    let mut shifts = Shifts::default();
    shifts.add(assignment.old.end as u32, by);
    index.context.renew(
        |_| true,
        |name| {
            let offset = shifts.of(name.offset);
            Some(super::context::EncodingName { offset, ..name })
        },
    );
    index.shift(&shifts);
    Ok(Spliced { changed, way: Way::Shifted })
}

/// Plans the bytes to write; returns None if the value is not of a kind that keeps all numbers.
fn plan<'t>(
    stream: &[u8],
    place: Range<usize>,
    old: Scalar<'_>,
    new: Scalar<'t>,
) -> Option<Assignment<'t>> {
    let mut head = Vec::with_capacity(6);
    match (old, new) {
        (Scalar::String(old, before), Scalar::String(text, encoding)) if before == encoding => {
            let wrapped = usize::from(stream.get(place.start) == Some(&b'I'));
            let start = place.start + wrapped + 1;
            let head_len = long::len(i32::try_from(old.len()).ok()?);
            long::put(&mut head, i32::try_from(text.len()).ok()?);
            Some(Assignment { old: start..start + head_len + old.len(), head, text })
        }
        _ if matches!(stream.get(place.start), Some(b'0' | b'T' | b'F' | b'i')) => {
            match new {
                Scalar::Nil => head.push(b'0'),
                Scalar::Bool(true) => head.push(b'T'),
                Scalar::Bool(false) => head.push(b'F'),
                Scalar::Integer(number @ -0x4000_0000..=0x3fff_ffff) => {
                    head.push(b'i');
                    long::put(&mut head, i32::try_from(number).ok()?);
                }
                _ => return None,
            }
            Some(Assignment { old: place, head, text: &[] })
        }
        _ => None,
    }
}

/// Writes the bytes, and gives the ranges that hold others then.
fn apply(stream: &mut Vec<u8>, assignment: &Assignment<'_>) -> Vec<Range<usize>> {
    let Assignment { old, head, text } = assignment;
    let (old_len, end) = (stream.len(), old.start + assignment.len());
    let new_len = old_len - old.len() + assignment.len();
    let mut changed = Vec::new();
    patch::add_differing(&mut changed, stream, old.start, head);
    patch::add_differing(&mut changed, stream, old.start + head.len(), text);
    if end != old.end {
        patch::add(&mut changed, end..new_len);
    }
    changed.retain(|range| !range.is_empty());
    stream.resize(new_len.max(old_len), 0);
    stream.copy_within(old.end..old_len, end);
    stream.truncate(new_len);
    if let Some((first, rest)) =
        stream.get_mut(old.start..end).and_then(|place| place.split_at_mut_checked(head.len()))
    {
        first.copy_from_slice(head);
        rest.copy_from_slice(text);
    }
    changed
}
