//! The bytes of a file that are about to be overwritten: what of them really changes, and what they
//! were, so that they can be put back.

use std::io;
use std::ops::Range;

use super::difference::Difference;
use crate::files::Storage;

// Bound (Marshal): old bytes while a store is written = 4 MiB, all where it can have no journal.
/// More are put into the journal.
const HELD_MAX: usize = 4 << 20;

/// Bytes that are read at once where all would be too many.
const WINDOW: usize = 256 << 10;

/// Ranges with less than this between them are read at once.
const GAP: usize = 4 << 10;

/// New bytes that may differ from those in the file.
#[derive(Debug)]
pub(super) enum Changed {
    /// Those in these ranges, or fewer.
    Within(Vec<Range<usize>>),
    /// The difference is known.
    Exactly(Difference),
}

/// Files up to this long are copied before they are changed, which takes less than a system call that
/// reads a part of them.
const COPIED_MAX: usize = 32 << 10;

/// Source of the old bytes.
#[derive(Debug)]
pub(super) enum OldSource {
    /// They are all here.
    Copy(Vec<u8>),
    /// From the file, into memory that was had for others.
    File(Vec<u8>),
}

impl OldSource {
    /// Copies `old`, before they are changed, if that is better than to read them.
    pub(super) fn of(old: &[u8], mut memory: Vec<u8>) -> OldSource {
        if old.len() > COPIED_MAX {
            return OldSource::File(memory);
        }
        memory.clear();
        memory.extend_from_slice(old);
        OldSource::Copy(memory)
    }

    pub(super) fn into_memory(self) -> Vec<u8> {
        let (OldSource::Copy(memory) | OldSource::File(memory)) = self;
        memory
    }
}

#[derive(Debug)]
pub(super) struct Old {
    /// Ranges, and where `buffer` has their bytes.
    places: Vec<(Range<usize>, usize)>,
    buffer: Vec<u8>,
    /// Bytes of the buffer that are in use: to fill it with zeros first would take long.
    used: usize,
    /// True if all old bytes are there.
    pub(super) is_held: bool,
}

impl Old {
    /// Takes what `changed` names, and finds the difference. Without a journal there is no other place
    /// for the old bytes than memory.
    pub(super) fn survey(
        file: &dyn Storage,
        changed: &Changed,
        difference: &mut Difference,
        new: &[u8],
        source: OldSource,
        has_journal: bool,
    ) -> io::Result<Old> {
        let ranges = match changed {
            Changed::Within(ranges) => ranges,
            Changed::Exactly(known) => {
                difference.clone_from(known);
                &known.ranges
            }
        };
        let places = joined(ranges, difference.common_len());
        let is_held = !has_journal || places.iter().map(Range::len).sum::<usize>() <= HELD_MAX;
        let mut old = match source {
            OldSource::Copy(bytes) => Old::all(bytes),
            OldSource::File(buffer) => Old { places: Vec::new(), buffer, used: 0, is_held },
        };
        for range in places {
            old.read(file, &range)?;
            if matches!(changed, Changed::Within(_)) {
                old.compare(file, &range, difference, new)?;
            }
        }
        Ok(old)
    }

    fn all(bytes: Vec<u8>) -> Old {
        Old { used: bytes.len(), places: vec![(0..bytes.len(), 0)], buffer: bytes, is_held: true }
    }

    fn read(&mut self, file: &dyn Storage, range: &Range<usize>) -> io::Result<()> {
        if self.is_held && self.held(range).is_none() {
            let place = self.used..self.used + range.len();
            if self.buffer.len() < place.end {
                self.buffer.resize(place.end, 0);
            }
            file.read_at(range.start as u64, &mut self.buffer[place.clone()])?;
            self.places.push((range.clone(), place.start));
            self.used = place.end;
        }
        Ok(())
    }

    fn compare(
        &self,
        file: &dyn Storage,
        range: &Range<usize>,
        difference: &mut Difference,
        new: &[u8],
    ) -> io::Result<()> {
        self.each(file, 0, range, |start, old| {
            difference.compare(start, old, &new[start..start + old.len()]);
            Ok(())
        })
    }

    /// Gives the old bytes of a range in order, in one piece if they are held. Otherwise they are read
    /// from `file`, where offset 0 of the store is at `shift`.
    pub(super) fn each(
        &self,
        file: &dyn Storage,
        shift: i64,
        range: &Range<usize>,
        mut with: impl FnMut(usize, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(held) = self.held(range) {
            return with(range.start, held);
        }
        let mut window = vec![0; WINDOW.min(range.len())];
        for start in range.clone().step_by(WINDOW) {
            let part = &mut window[..WINDOW.min(range.end - start)];
            file.read_at((start as u64).saturating_add_signed(shift), part)?;
            with(start, part)?;
        }
        Ok(())
    }

    fn held(&self, range: &Range<usize>) -> Option<&[u8]> {
        let after = self.places.partition_point(|(place, _)| place.start <= range.start);
        let (place, at) = self.places.get(after.checked_sub(1)?)?;
        let at = at + (range.start - place.start);
        (range.end <= place.end).then(|| &self.buffer[at..at + range.len()])
    }

    /// The memory that the bytes are in, to be used again.
    pub(super) fn into_memory(self) -> Vec<u8> {
        if self.is_held && self.buffer.capacity() <= HELD_MAX { self.buffer } else { Vec::new() }
    }
}

/// The ranges below `end`, those with little between them as one.
fn joined(ranges: &[Range<usize>], end: usize) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges.iter().filter(|range| range.start < end) {
        let range = range.start..range.end.min(end);
        match joined.last_mut() {
            Some(last) if range.start <= last.end + GAP => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}
