//! Keeping the index of a stream up with changes of its bytes: what is known of the roots that stay
//! moves, what the changed ones had goes, what they have comes.

use std::ops::Range;

use super::by_number::ByNumber;
use super::context::EncodingName;
use super::edit::Indexed;
use super::index::{self, Linked, StreamIndex};
use super::plan::{ChangePlan, Written};
use super::refusal::Result;
use super::shifts::Shifts;
use super::slots::HashSlots;
use super::survey::Survey;
use super::walk::StreamPosition;

/// Entries of the index for roots that change or are deleted.
pub(super) struct RemovedRoots {
    /// Slots, as hash and place.
    contents: Vec<(u64, u32)>,
    roots: Vec<(u64, u32)>,
    /// Numbers of links that the contents and symbols of other roots lose.
    objects_used: ByNumber<u32>,
    symbols_used: ByNumber<u32>,
    /// Contents that still are defined by changed roots, by their new numbers, with the links that
    /// remain to them from roots that stay.
    objects_kept: ByNumber<u32>,
    symbols_kept: ByNumber<u32>,
    complex_keys: u32,
}

impl RemovedRoots {
    pub(super) fn new(old: Indexed<'_>, plan: &ChangePlan<'_>) -> Self {
        let seed = old.index.seed;
        let mut removed = RemovedRoots {
            contents: Vec::new(),
            roots: Vec::new(),
            objects_used: ByNumber::default(),
            symbols_used: ByNumber::default(),
            objects_kept: plan.moved.values().copied().collect(),
            symbols_kept: plan.symbols_kept.clone(),
            complex_keys: 0,
        };
        for survey in &plan.surveys {
            for definition in &survey.definitions {
                if survey.has_slot(old.stream, definition) {
                    let hash = definition.content.hash(seed);
                    removed.contents.push((hash, definition.offset));
                }
            }
            let root = survey.start.at as u32;
            match old.index.key_content(old.stream, root) {
                Some(key) => removed.roots.push((key.hash(seed), root)),
                None => removed.complex_keys += 1,
            }
            for (&number, &uses) in &survey.objects_used {
                *removed.objects_used.entry(number).or_default() += uses;
            }
            for (&number, &uses) in &survey.symbols_used {
                *removed.symbols_used.entry(number).or_default() += uses;
            }
        }
        removed
    }
}

/// A changed root, where it is then, and what the lists of the index had of it.
struct RootChange {
    written: Written,
    start: usize,
    links: Range<usize>,
}

/// Changes of places and numbers.
pub(super) struct Update {
    changes: Vec<RootChange>,
    offsets: Shifts,
    objects: Shifts,
    by: i64,
}

impl Update {
    /// Computes the update for changed roots, if a header that now ends at `header_end` grows by `by`.
    pub(super) fn new(
        index: &StreamIndex,
        written: Vec<Written>,
        objects: Shifts,
        header_end: usize,
        mut by: i64,
    ) -> Self {
        let mut offsets = Shifts::default();
        offsets.add(header_end as u32, by);
        let mut changes = Vec::with_capacity(written.len());
        for written in written {
            let (from, to) = (written.old_start.at, written.old_end.at);
            let place = |at: usize| index.links.partition_point(|&link| (link as usize) < at);
            let start = (from as i64 + by) as usize;
            by += (written.end - written.start) as i64 - (to - from) as i64;
            offsets.add(to as u32, by);
            changes.push(RootChange { written, start, links: place(from)..place(to) });
        }
        Update { changes, offsets, objects, by }
    }

    /// Returns the new length of a stream of `len` bytes.
    pub(super) fn len(&self, len: usize) -> usize {
        (len as i64 + self.by) as usize
    }

    /// Returns the new place of a byte of a root that stays.
    pub(super) fn offset(&self, at: usize) -> usize {
        self.offsets.of(at as u32) as usize
    }

    pub(super) fn moves_bytes(&self) -> bool {
        !self.offsets.is_empty()
    }

    pub(super) fn written(&self) -> impl Iterator<Item = &Written> {
        self.changes.iter().map(|change| &change.written)
    }

    /// Brings `index` to what `stream` has become. `new` is the index of the changes.
    pub(super) fn apply(
        &self,
        stream: &[u8],
        index: &mut StreamIndex,
        new: &StreamIndex,
        removed: RemovedRoots,
    ) -> Result<()> {
        remove(index, &removed);
        index.groups = self.groups(index, new);
        self.renumber_context(index);
        self.shift(index);
        self.move_roots(index);
        let surveys = self.surveys(stream, index)?;
        self.splice_lists(index, &surveys);
        add_uses(stream, index, &surveys, &removed);
        add_slots(stream, index, &surveys);
        Ok(())
    }

    fn is_gone(&self, offset: u32) -> bool {
        let at = offset as usize;
        let after = self.changes.partition_point(|change| change.written.old_start.at <= at);
        let before = after.checked_sub(1).and_then(|before| self.changes.get(before));
        before.is_some_and(|change| at < change.written.old_end.at)
    }

    fn renumber_context(&self, index: &mut StreamIndex) {
        let mut context = std::mem::take(&mut index.context);
        let stays = |symbol: u32| {
            // Symbols of roots that stay keep their numbers.
            index.symbols.get(symbol as usize).is_some_and(|&at| !self.is_gone(at))
        };
        context.renew(stays, |name| {
            let stays = !self.is_gone(name.offset);
            let (number, offset) = (self.objects.of(name.number), self.offsets.of(name.offset));
            stays.then_some(EncodingName { number, offset, ..name })
        });
        index.context = context;
    }

    /// Moves what is known of the roots that stay.
    fn shift(&self, index: &mut StreamIndex) {
        index.linked.retain(|linked| linked.uses > 0 && !self.is_gone(linked.offset));
        if !self.objects.is_empty() {
            index
                .linked
                .iter_mut()
                .for_each(|linked| linked.number = self.objects.of(linked.number));
        }
        if !self.offsets.is_empty() {
            index.shift(&self.offsets);
        }
    }

    /// The roots that there are then, and the first object of each.
    fn move_roots(&self, index: &mut StreamIndex) {
        let count = index.root_count();
        // A root may have no object: which ones are behind a change is told by their order.
        for (nth, change) in self.changes.iter().enumerate() {
            let written = &change.written;
            let by = i64::from(written.behind.objects) - i64::from(written.old_end.objects);
            let next = self.changes.get(nth + 1).map_or(count, |next| next.written.root);
            if by != 0 && written.root < count {
                let behind = index.objects.get_mut(written.root + 1..=next).unwrap_or_default();
                behind.iter_mut().for_each(|first| *first = (i64::from(*first) + by) as u32);
            }
        }
        for change in self.changes.iter().rev() {
            let written = &change.written;
            if written.with.is_none() && written.root < index.offsets.len() {
                index.offsets.remove(written.root);
                index.objects.remove(written.root);
            }
        }
        let appended = self.changes.iter().filter(|change| change.written.root == count);
        for change in appended {
            let at = index.offsets.len().saturating_sub(1);
            index.offsets.insert(at, change.start as u32);
            index.objects.insert(at, change.written.first.objects);
            if let Some(end) = index.objects.last_mut() {
                *end = change.written.behind.objects;
            }
        }
    }

    /// Surveys the changed roots.
    fn surveys<'s>(&self, stream: &'s [u8], index: &mut StreamIndex) -> Result<Vec<Survey<'s>>> {
        let mut context = std::mem::take(&mut index.context);
        let mut surveys = Vec::with_capacity(self.changes.len());
        for change in &self.changes {
            let written = &change.written;
            let place = StreamPosition { at: change.start, ..written.first };
            let end = change.start + written.end - written.start;
            let survey = match written.with {
                Some(_) => Survey::of_root(stream, place, &mut context)?,
                None => Survey { start: place, end: place, ..Survey::default() },
            };
            if survey.end.at != end {
                return Err(index::inconsistent(change.start));
            }
            surveys.push(survey);
        }
        context.sort();
        index.context = context;
        Ok(surveys)
    }

    /// Puts links and symbols of the changed roots in the place of those they had.
    fn splice_lists(&self, index: &mut StreamIndex, surveys: &[Survey<'_>]) {
        // From the last to the first, so that what is before stays where it is.
        for (change, survey) in self.changes.iter().zip(surveys).rev() {
            index.links.splice(change.links.clone(), survey.links.iter().copied());
            let written = &change.written;
            let symbols = written.old_start.symbols as usize..written.old_end.symbols as usize;
            if !symbols.is_empty() || !survey.symbols.is_empty() {
                let none = survey.symbols.iter().map(|_| 0);
                index.symbol_uses.splice(symbols.clone(), none);
                index.symbols.splice(symbols, survey.symbols.iter().copied());
            }
        }
    }

    /// The groups of roots as they are then.
    fn groups(&self, index: &StreamIndex, new: &StreamIndex) -> Vec<(u32, u32)> {
        if index.groups.is_empty() && new.groups.is_empty() {
            return Vec::new();
        }
        let count = index.root_count();
        let changed: Vec<u32> = self.written().map(|written| written.root as u32).collect();
        let gone = self.written().filter(|written| written.with.is_none());
        let gone: Vec<u32> = gone.map(|written| written.root as u32).collect();
        let moved = |root: u32| root - gone.partition_point(|&gone| gone < root) as u32;
        let mut place = ByNumber::default();
        let mut next = moved(count as u32);
        for written in self.written() {
            let Some(with) = written.with else { continue };
            let root = moved(written.root as u32);
            place.insert(with as u32, if written.root < count { root } else { next });
            next += u32::from(written.root == count);
        }
        let stay = index.groups.iter().filter(|(root, _)| changed.binary_search(root).is_err());
        let mut groups: Vec<(u32, u32)> =
            stay.map(|&(root, first)| (moved(root), moved(first))).collect();
        // The roots of the changes may be in another order than they get to be in.
        let mut firsts: ByNumber<u32> = ByNumber::default();
        for (with, leader) in &new.groups {
            let root = place.get(with).copied().unwrap_or_default();
            firsts.entry(*leader).and_modify(|first| *first = root.min(*first)).or_insert(root);
        }
        for (with, leader) in &new.groups {
            let root = place.get(with).copied().unwrap_or_default();
            groups.push((root, firsts.get(leader).copied().unwrap_or(root)));
        }
        groups.sort_unstable();
        groups
    }
}

/// Takes what the changed roots have out of the slots and counts.
fn remove(index: &mut StreamIndex, removed: &RemovedRoots) {
    for &(hash, place) in &removed.contents {
        index.contents.remove(hash, place);
    }
    for &(hash, place) in &removed.roots {
        index.roots.remove(hash, place);
    }
    index.complex_keys -= removed.complex_keys;
    for (&number, &uses) in &removed.objects_used {
        let at = index.linked.binary_search_by_key(&number, |linked| linked.number);
        if let Some(linked) = at.ok().and_then(|at| index.linked.get_mut(at)) {
            linked.uses -= uses;
        }
    }
    for (&number, &uses) in &removed.symbols_used {
        if let Some(all) = index.symbol_uses.get_mut(number as usize) {
            *all -= uses;
        }
    }
}

/// Counts the links that come, and those that remain to what changed roots still define.
fn add_uses(
    stream: &[u8],
    index: &mut StreamIndex,
    surveys: &[Survey<'_>],
    removed: &RemovedRoots,
) {
    for survey in surveys {
        for definition in &survey.definitions {
            if matches!(definition.content, super::content::LinkableContent::Symbol(..)) {
                continue;
            }
            if let Some(&uses) = removed.objects_kept.get(&definition.number) {
                add_linked(index, definition.number, definition.offset, uses);
            }
        }
    }
    let kept = removed.symbols_kept.iter();
    let used = surveys.iter().flat_map(|survey| &survey.symbols_used);
    for (&number, &uses) in kept.chain(used) {
        if let Some(all) = index.symbol_uses.get_mut(number as usize) {
            *all += uses;
        }
    }
    for survey in surveys {
        for (&number, &uses) in &survey.objects_used {
            // An object that is no content is shared by roots, which are a group.
            if let Some(offset) = index.definition(stream, number) {
                add_linked(index, number, offset, uses);
            }
        }
    }
}

fn add_linked(index: &mut StreamIndex, number: u32, offset: u32, uses: u32) {
    match index.linked.binary_search_by_key(&number, |linked| linked.number) {
        Ok(at) => {
            if let Some(linked) = index.linked.get_mut(at) {
                linked.uses += uses;
            }
        }
        Err(at) => index.linked.insert(at, Linked { number, offset, uses }),
    }
}

/// Adds what the changed roots define, and their keys, to the slots.
fn add_slots(stream: &[u8], index: &mut StreamIndex, surveys: &[Survey<'_>]) {
    let mut contents: HashSlots = std::mem::take(&mut index.contents);
    let mut roots: HashSlots = std::mem::take(&mut index.roots);
    let seed = index.seed;
    for survey in surveys.iter().filter(|survey| survey.start != survey.end) {
        for definition in &survey.definitions {
            if survey.has_slot(stream, definition) {
                contents.insert(definition.content.hash(seed), definition.offset, |other| {
                    index.content(stream, other).map_or(0, |content| content.hash(seed))
                });
            }
        }
        let root = survey.start.at as u32;
        match index.key_content(stream, root) {
            Some(key) => roots.insert(key.hash(seed), root, |other| {
                index.key_content(stream, other).map_or(0, |key| key.hash(seed))
            }),
            None => index.complex_keys += 1,
        }
    }
    (index.contents, index.roots) = (contents, roots);
}
