//! Putting other bytes in the place of some of a stream, and saying which bytes of the whole are
//! others by that.

use std::ops::Range;

/// Bytes in the place of others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch<'a> {
    /// Start and end of the old bytes.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) bytes: &'a [u8],
}

impl Patch<'_> {
    fn keeps_len(&self) -> bool {
        self.end - self.start == self.bytes.len()
    }
}

/// Ranges that are closer than this are one: a write of its own costs more than some bytes.
const GAP: usize = 64;

/// Applies patches, which are in order and do not overlap, and gives the ranges of the stream, as it
/// is then, that hold other bytes than before. Where all that follows has moved, the last one goes to
/// the end.
pub(super) fn apply(stream: &mut Vec<u8>, patches: &[Patch<'_>]) -> Vec<Range<usize>> {
    let mut changed = Vec::new();
    let same = patches.iter().take_while(|patch| patch.keeps_len()).count();
    let (in_place, moving) = patches.split_at(same);
    for patch in in_place {
        let Some(old) = stream.get_mut(patch.start..patch.end) else { continue };
        if let Some(differing) = differing(old, patch.bytes) {
            add(&mut changed, patch.start + differing.start..patch.start + differing.end);
        }
        old.copy_from_slice(patch.bytes);
    }
    match moving {
        [] => {}
        [patch] => {
            let start = patch.start + prefix_len(stream, patch);
            put(stream, patch);
            add(&mut changed, start..stream.len());
        }
        [first, ..] => {
            let start = first.start + prefix_len(stream, first);
            let tail = rebuilt(stream, moving);
            stream.truncate(first.start);
            stream.extend_from_slice(&tail);
            add(&mut changed, start..stream.len());
        }
    }
    changed.retain(|range| !range.is_empty());
    changed
}

/// Puts one patch in its place, and moves what is behind it.
fn put(stream: &mut Vec<u8>, patch: &Patch<'_>) {
    let (len, bytes) = (stream.len(), patch.bytes);
    let end = patch.start + bytes.len();
    if end > patch.end {
        stream.resize(len + (end - patch.end), 0);
    }
    stream.copy_within(patch.end..len, end);
    stream.truncate(len - patch.end + end);
    if let Some(place) = stream.get_mut(patch.start..end) {
        place.copy_from_slice(bytes);
    }
}

/// The stream from the first of the patches on, with all of them.
fn rebuilt(stream: &[u8], patches: &[Patch<'_>]) -> Vec<u8> {
    let mut tail = Vec::with_capacity(stream.len());
    let mut copied = patches.first().map_or(0, |first| first.start);
    for patch in patches {
        tail.extend_from_slice(stream.get(copied..patch.start).unwrap_or_default());
        tail.extend_from_slice(patch.bytes);
        copied = patch.end;
    }
    tail.extend_from_slice(stream.get(copied..).unwrap_or_default());
    tail
}

/// Returns the number of bytes at the start of a patch that are as they were.
fn prefix_len(stream: &[u8], patch: &Patch<'_>) -> usize {
    let old = stream.get(patch.start..patch.end).unwrap_or_default();
    common_prefix(old, patch.bytes)
}

/// Bytes that are compared at once, which is much faster than one after another.
const STEP: usize = 64;

/// Returns the number of equal bytes at the start of two runs.
fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let steps = one.chunks_exact(STEP).zip(other.chunks_exact(STEP));
    let same = STEP * steps.take_while(|(one, other)| one == other).count();
    let rest = one.iter().zip(other).skip(same);
    same + rest.take_while(|(one, other)| one == other).count()
}

/// Returns the number of equal bytes at the end of two runs of one length.
fn common_suffix(one: &[u8], other: &[u8]) -> usize {
    let steps = one.rchunks_exact(STEP).zip(other.rchunks_exact(STEP));
    let same = STEP * steps.take_while(|(one, other)| one == other).count();
    let rest = one.iter().zip(other).rev().skip(same);
    same + rest.take_while(|(one, other)| one == other).count()
}

/// The ranges in which `new` differs from `old`, as one, when all of the stream was written anew.
pub(super) fn between(old: &[u8], new: &[u8]) -> Vec<Range<usize>> {
    let range = if old.len() == new.len() {
        differing(old, new).unwrap_or_default()
    } else {
        common_prefix(old, new)..new.len()
    };
    if range.is_empty() { Vec::new() } else { vec![range] }
}

/// The bytes from the first to the last that differ, of two runs of one length.
fn differing(old: &[u8], new: &[u8]) -> Option<Range<usize>> {
    let first = common_prefix(old, new);
    (first < new.len()).then(|| first..new.len() - common_suffix(old, new))
}

/// Sorts ranges, joins those that meet, and cuts them off at `len`.
pub(super) fn joined(mut ranges: Vec<Range<usize>>, len: usize) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut changed = Vec::with_capacity(ranges.len());
    for range in ranges {
        add(&mut changed, range.start..range.end.min(len));
    }
    changed.retain(|range: &Range<usize>| !range.is_empty());
    changed
}

/// Adds where `bytes` differ from what the stream has at `start`, behind the others.
pub(super) fn add_differing(
    changed: &mut Vec<Range<usize>>,
    stream: &[u8],
    start: usize,
    bytes: &[u8],
) {
    let old = stream.get(start..).unwrap_or_default();
    for (step, (old, new)) in old.chunks(STEP).zip(bytes.chunks(STEP)).enumerate() {
        let old = old.get(..new.len()).unwrap_or(old);
        if old != new {
            let start = start + step * STEP;
            add(changed, start..start + new.len());
        }
    }
    if bytes.len() > old.len() {
        add(changed, start + old.len()..start + bytes.len());
    }
}

/// Adds a range behind the others, as part of the last one if there is little between them.
pub(super) fn add(changed: &mut Vec<Range<usize>>, range: Range<usize>) {
    match changed.last_mut() {
        Some(last) if range.start <= last.end + GAP => last.end = last.end.max(range.end),
        _ => changed.push(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_of_the_ranges_stays() {
        let old: Vec<u8> = (0..=255).collect();
        let cases: [&[(usize, usize, &[u8])]; 6] = [
            &[(10, 13, &[10, 99, 12])],
            &[(10, 13, &[0, 1, 2]), (200, 203, &[3, 4, 5])],
            &[(10, 13, &[0, 1, 2]), (20, 20, &[7])],
            &[(10, 13, &[0]), (20, 22, &[1, 2, 3, 4])],
            &[(256, 256, &[1, 2])],
            &[(10, 13, &[10, 11, 12])],
        ];
        for case in cases {
            let patch = |&(start, end, bytes)| Patch { start, end, bytes };
            let patches: Vec<Patch<'_>> = case.iter().map(patch).collect();
            let mut new = old.clone();
            let changed = apply(&mut new, &patches);
            let mut expected = old.clone();
            for patch in patches.iter().rev() {
                expected.splice(patch.start..patch.end, patch.bytes.iter().copied());
            }
            assert_eq!(new, expected);
            let mut replayed = old.clone();
            replayed.resize(new.len(), 0);
            for range in &changed {
                replayed[range.clone()].copy_from_slice(&new[range.clone()]);
            }
            assert_eq!(replayed, new, "{changed:?}");
        }
    }
}
