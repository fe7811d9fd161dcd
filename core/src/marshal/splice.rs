//! Changing roots of a stream in place, its index with it.
//!
//! The cost of a change depends on the changed roots, and on the bytes behind them if they move. Only
//! if a definition would have to move to another root, all roots are written again, in one pass.

use std::ops::Range;

use super::edit::{Edits, Indexed};
use super::index::{self, StreamIndex};
use super::patch::{self, Patch};
use super::plan::{self, ChangePlan, put_count};
use super::refusal::{NotIndexable, Reason, Result};
use super::update::{RemovedRoots, Update};
use super::{Hooks, LEN_MAX, Spliced, Way, long};

/// Applies `edits`, whose new roots are in `new`. A refusal leaves all as it was.
pub(super) fn splice(
    stream: &mut Vec<u8>,
    index: &mut StreamIndex,
    new: Indexed<'_>,
    edits: &Edits,
) -> Result<Spliced> {
    let old = Indexed { stream, index };
    match plan::plan(old, new, edits)? {
        None => rewrite(stream, index, new, edits),
        Some(plan) => {
            let count = index.root_count() - edits.deleted_count() + edits.appended.len();
            let removed = RemovedRoots::new(old, &plan);
            let patches = Patches::new(old, plan, count)?;
            patches.apply(stream, index, new.index, removed)
        }
    }
}

/// Writes all roots anew.
fn rewrite(
    stream: &mut Vec<u8>,
    index: &mut StreamIndex,
    new: Indexed<'_>,
    edits: &Edits,
) -> Result<Spliced> {
    let bytes = plan::rewrite(Indexed { stream, index }, new, edits)?;
    // Who scanned the stream and the changes has vouched for their classes.
    *index = super::scan::scan(&bytes, Hooks::Trusted)?;
    let changed = patch::between(stream, &bytes);
    *stream = bytes;
    Ok(Spliced { changed, way: Way::Rewritten })
}

/// Changes of the bytes, without a reference to them.
struct Patches {
    bytes: Vec<u8>,
    /// The count of roots as it is written, if it changes, and where it ends now.
    header: Option<Vec<u8>>,
    header_end: usize,
    relinked: Vec<(u32, u32)>,
    update: Update,
}

impl Patches {
    fn new(old: Indexed<'_>, plan: ChangePlan<'_>, count: usize) -> Result<Self> {
        let header_end = old.index.offsets.first().map_or(3, |&at| at as usize);
        let mut header = None;
        let mut by = 0;
        if count != old.index.root_count() {
            let mut bytes = Vec::new();
            put_count(&mut bytes, count)?;
            by = bytes.len() as i64 - (header_end as i64 - 3);
            header = Some(bytes);
        }
        let ChangePlan { bytes, written, objects, relinked, .. } = plan;
        let update = Update::new(old.index, written, objects, header_end, by);
        if update.len(old.stream.len()) > LEN_MAX {
            return Err(NotIndexable::new(Reason::TooLong, old.stream.len()));
        }
        Ok(Patches { bytes, header, header_end, relinked, update })
    }

    fn apply(
        self,
        stream: &mut Vec<u8>,
        index: &mut StreamIndex,
        new: &StreamIndex,
        removed: RemovedRoots,
    ) -> Result<Spliced> {
        let mut changed = self.relink(stream);
        changed.extend(self.patch(stream));
        let changed = patch::joined(changed, stream.len());
        let way = if self.update.moves_bytes() { Way::Shifted } else { Way::InPlace };
        if let Err(why) = self.update.apply(stream, index, new, removed) {
            // The bytes are whole, whatever is wrong with the index.
            debug_assert!(false, "an index that does not fit: {why}");
            let _ = why;
            *index =
                super::scan::scan(stream, Hooks::Trusted).map_err(|_| index::inconsistent(0))?;
        }
        Ok(Spliced { changed, way })
    }

    /// Writes the new numbers of links in roots that stay, each as long as before. Gives the ranges
    /// where they are then.
    fn relink(&self, stream: &mut [u8]) -> Vec<Range<usize>> {
        let mut changed = Vec::new();
        for &(link, number) in &self.relinked {
            let mut bytes = Vec::with_capacity(5);
            long::put(&mut bytes, i32::try_from(number).unwrap_or(i32::MAX));
            let start = link as usize + 1;
            if let Some(place) = stream.get_mut(start..start + bytes.len()) {
                place.copy_from_slice(&bytes);
                let start = self.update.offset(start);
                changed.push(start..start + bytes.len());
            }
        }
        changed
    }

    /// Puts the bytes of the changed roots in their places.
    fn patch(&self, stream: &mut Vec<u8>) -> Vec<Range<usize>> {
        let header = self.header.as_deref();
        let header = header.map(|bytes| Patch { start: 3, end: self.header_end, bytes });
        let roots = self.update.written().map(|written| Patch {
            start: written.old_start.at,
            end: written.old_end.at,
            bytes: self.bytes.get(written.start..written.end).unwrap_or_default(),
        });
        let patches: Vec<Patch<'_>> = header.into_iter().chain(roots).collect();
        patch::apply(stream, &patches)
    }
}
