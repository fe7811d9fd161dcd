//! Taking roots out of a stream as streams of their own, which are what dumping them gives.

use super::emit::{CopiedPiece, Emitter, ObjectSource, StandaloneStream};
use super::index::{self, StreamIndex};
use super::long;
use super::refusal::{NotIndexable, Reason, Result};

/// The version that each stream begins with.
const VERSION: [u8; 2] = [4, 8];

/// The value of a root that shares no objects with others.
pub(super) fn value(stream: &[u8], index: &StreamIndex, root: usize) -> Result<Vec<u8>> {
    whole_groups(index, &[root])?;
    let place = index.value_place(stream, root)?;
    let mut emitter = Emitter::new(StandaloneStream);
    emitter.bytes.extend(VERSION);
    ObjectSource::new(stream, index).write(&mut emitter, place, CopiedPiece::Value)?;
    Ok(emitter.bytes)
}

/// The values of roots, in order, as an Array. With a root there must be those it shares objects
/// with.
pub(super) fn values(stream: &[u8], index: &StreamIndex, roots: &[usize]) -> Result<Vec<u8>> {
    whole_groups(index, roots)?;
    let mut emitter = array(roots.len());
    let mut source = ObjectSource::new(stream, index);
    for &root in roots {
        let place = index.value_place(stream, root)?;
        source.write(&mut emitter, place, CopiedPiece::Value)?;
    }
    Ok(emitter.bytes)
}

/// Refuses roots that are not there, are out of order, or share objects with others than these.
fn whole_groups(index: &StreamIndex, roots: &[usize]) -> Result<()> {
    let are_there = roots.iter().all(|&root| root < index.root_count());
    if !are_there || !roots.is_sorted_by(|a, b| a < b) {
        return Err(NotIndexable::new(Reason::BadEdit, 0));
    }
    match index.left_out(roots) {
        Some(root) => Err(split_group(index, root)),
        None => Ok(()),
    }
}

/// Returns the refusal of roots that share objects with `root`, which was left out.
pub(super) fn split_group(index: &StreamIndex, root: usize) -> NotIndexable {
    NotIndexable::new(Reason::SplitGroup, index.place(root).map_or(0, |place| place.at))
}

/// The keys of roots, as an Array.
pub(super) fn keys(
    stream: &[u8],
    index: &StreamIndex,
    roots: impl ExactSizeIterator<Item = usize>,
) -> Result<Vec<u8>> {
    let mut emitter = array(roots.len());
    let mut source = ObjectSource::new(stream, index);
    for root in roots {
        let place = index.place(root).filter(|_| root < index.root_count());
        let place = place.ok_or(NotIndexable::new(Reason::BadEdit, 0))?;
        source.write(&mut emitter, place, CopiedPiece::Key)?;
    }
    Ok(emitter.bytes)
}

/// The default value.
pub(super) fn default_value(stream: &[u8], index: &StreamIndex) -> Result<Option<Vec<u8>>> {
    if !index.has_default {
        return Ok(None);
    }
    let place = index.place(index.root_count()).ok_or(index::inconsistent(0))?;
    let mut emitter = Emitter::new(StandaloneStream);
    emitter.bytes.extend(VERSION);
    ObjectSource::new(stream, index).write(&mut emitter, place, CopiedPiece::Value)?;
    Ok(Some(emitter.bytes))
}

/// An Array of `count` elements that are yet to be written.
fn array<'a>(count: usize) -> Emitter<'a, StandaloneStream> {
    let mut emitter = Emitter::new(StandaloneStream);
    emitter.bytes.extend(VERSION);
    emitter.bytes.push(b'[');
    long::put(&mut emitter.bytes, i32::try_from(count).unwrap_or(i32::MAX));
    emitter.objects = 1;
    emitter
}
