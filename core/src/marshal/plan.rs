//! Working out how changed roots fit between those that stay as they are: which bytes they take,
//! which numbers shift by that, and whether a definition would have to move.

use super::by_number::ByNumber;
use super::content::LinkableContent;
use super::edit::{Edits, Indexed};
use super::emit::{CopiedPiece, Emitter, ObjectSource, Placement, TargetStream};
use super::index;
use super::long;
use super::refusal::{NotIndexable, Reason, Result};
use super::shifts::Shifts;
use super::survey::Survey;
use super::walk::StreamPosition;
use crate::wire::Reader;

/// Change of one root: the place of its new bytes in those of the plan, and the counts around them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    /// The number of the root; of one that is appended, how many there are.
    pub(super) root: usize,
    /// The place of the old root; of one that is appended, the end of all.
    pub(super) old_start: StreamPosition,
    pub(super) old_end: StreamPosition,
    /// New root in its place; None if it is deleted.
    pub(super) with: Option<usize>,
    /// Start and end of its bytes in those of the plan.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Counts up to its new start and end.
    pub(super) first: StreamPosition,
    pub(super) behind: StreamPosition,
}

/// Plan of a change of a stream.
#[derive(Debug)]
pub(super) struct ChangePlan<'a> {
    /// The bytes of all changed roots.
    pub(super) bytes: Vec<u8>,
    /// The changed roots in order, then those that are appended.
    pub(super) written: Vec<Written>,
    /// Surveys of the old roots that change or are deleted, in order.
    pub(super) surveys: Vec<Survey<'a>>,
    /// New numbers of objects, by the old ones, in roots that stay.
    pub(super) objects: Shifts,
    /// New numbers of contents that are defined in changed roots and linked to from others, and how
    /// many links remain.
    pub(super) moved: ByNumber<(u32, u32)>,
    /// Links that remain to such symbols, by their numbers, which stay.
    pub(super) symbols_kept: ByNumber<u32>,
    /// Links in roots that stay that lead to other numbers than before: where they are, as bytes of
    /// the same length.
    pub(super) relinked: Vec<(u32, u32)>,
}

/// The stream that stays around the changed roots.
struct Around<'a> {
    old: Indexed<'a>,
    /// Starts and ends of the changed roots, in order.
    gone: Vec<(u32, u32)>,
    /// Start of the root that is written.
    at: u32,
    objects: Shifts,
}

impl Around<'_> {
    fn is_gone(&self, offset: u32) -> bool {
        let after = self.gone.partition_point(|&(start, _)| start <= offset);
        after.checked_sub(1).and_then(|at| self.gone.get(at)).is_some_and(|&(_, end)| offset < end)
    }
}

impl TargetStream for Around<'_> {
    fn placement(&self, content: &LinkableContent<'_>) -> Result<Placement> {
        let Indexed { stream, index } = self.old;
        let Some(offset) = index.find(stream, content).filter(|&at| !self.is_gone(at)) else {
            return Ok(Placement::New);
        };
        if offset >= self.at {
            return Ok(Placement::Behind);
        }
        if matches!(content, LinkableContent::Symbol(..)) {
            let number = index.symbols.binary_search(&offset);
            // There is no plan if symbols shift.
            return number
                .map(|number| Placement::Before(number as u32))
                .map_err(|_| index::inconsistent(offset as usize));
        }
        let number = index.number(stream, offset).ok_or(index::inconsistent(offset as usize))?;
        Ok(Placement::Before(self.objects.of(number)))
    }
}

/// Fits the changes between the roots that stay; returns None if more than the changes must be written.
pub(super) fn plan<'a>(
    old: Indexed<'a>,
    new: Indexed<'a>,
    edits: &Edits,
) -> Result<Option<ChangePlan<'a>>> {
    let surveys = surveys(old, edits)?;
    let gone =
        surveys.iter().map(|survey| (survey.start.at as u32, survey.end.at as u32)).collect();
    let around = Around { old, gone, at: 0, objects: Shifts::default() };
    let mut emitter = Emitter::new(around);
    let mut source = ObjectSource::new(new.stream, new.index);
    let mut written = Vec::new();
    let end = old.index.place(old.index.root_count()).ok_or(index::inconsistent(0))?;
    let touched = surveys.iter().zip(&edits.touched);
    let touched = touched.map(|(survey, &(root, with))| (root, survey.start, survey.end, with));
    let count = old.index.root_count();
    let appended = edits.appended.iter().map(|&with| (count, end, end, Some(with)));
    let mut symbols = 0_i64;
    for (root, old_start, old_end, with) in touched.chain(appended) {
        if symbols != 0 && has_symbols_between(&written, old_start) {
            return Ok(None);
        }
        let first = StreamPosition {
            at: emitter.bytes.len(),
            symbols: (i64::from(old_start.symbols) + symbols) as u32,
            objects: (i64::from(old_start.objects) + emitter.target.objects.last()) as u32,
        };
        // Appended roots come one behind the other.
        let first = match written.last() {
            Some(&Written { root: before, behind, .. }) if before == count => {
                StreamPosition { at: first.at, ..behind }
            }
            _ => first,
        };
        emitter.target.at = old_start.at as u32;
        (emitter.symbols, emitter.objects) = (first.symbols, first.objects);
        emitter.piece = written.len() as u32;
        if let Some(with) = with {
            let place = new.index.place(with).ok_or(index::inconsistent(0))?;
            let value = source.write(&mut emitter, place, CopiedPiece::Key)?;
            source.write(&mut emitter, value, CopiedPiece::Value)?;
        }
        let behind = StreamPosition {
            at: emitter.bytes.len(),
            symbols: emitter.symbols,
            objects: emitter.objects,
        };
        symbols = i64::from(behind.symbols) - i64::from(old_end.symbols);
        let by = i64::from(behind.objects) - i64::from(old_end.objects);
        emitter.target.objects.add(old_end.objects, by);
        let (start, end) = (first.at, behind.at);
        written.push(Written { root, old_start, old_end, with, start, end, first, behind });
    }
    if emitter.moves || symbols != 0 && has_symbols_behind(old, &written) {
        return Ok(None);
    }
    let objects = std::mem::take(&mut emitter.target.objects);
    let bytes = std::mem::take(&mut emitter.bytes);
    let mut plan = ChangePlan {
        bytes,
        written,
        surveys,
        objects,
        moved: ByNumber::default(),
        symbols_kept: ByNumber::default(),
        relinked: Vec::new(),
    };
    let fits = plan.keep_definitions(old, &emitter) && plan.relink(old)?;
    Ok(fits.then_some(plan))
}

/// Surveys the roots that change or are deleted.
fn surveys<'a>(old: Indexed<'a>, edits: &Edits) -> Result<Vec<Survey<'a>>> {
    let mut context = old.index.context.clone();
    let mut surveys = Vec::with_capacity(edits.touched.len());
    for &(root, _) in &edits.touched {
        let place = old.index.place(root).ok_or(index::inconsistent(0))?;
        surveys.push(Survey::of_root(old.stream, place, &mut context)?);
    }
    Ok(surveys)
}

/// Returns true if a symbol is defined between the last changed root and `next`.
fn has_symbols_between(written: &[Written], next: StreamPosition) -> bool {
    written.last().is_some_and(|written| written.old_end.symbols != next.symbols)
}

/// Returns true if a symbol is defined behind the last changed root.
fn has_symbols_behind(old: Indexed<'_>, written: &[Written]) -> bool {
    written.last().is_some_and(|last| old.index.symbols.len() > last.old_end.symbols as usize)
}

impl<'a> ChangePlan<'a> {
    /// Records what the changed roots still define for others; returns false if a definition is lost or comes later.
    fn keep_definitions<S>(&mut self, old: Indexed<'_>, emitter: &Emitter<'a, S>) -> bool {
        let mut symbols_used: ByNumber<u32> = ByNumber::default();
        let mut objects_used: ByNumber<u32> = ByNumber::default();
        for survey in &self.surveys {
            for (&number, &uses) in &survey.symbols_used {
                *symbols_used.entry(number).or_default() += uses;
            }
            for (&number, &uses) in &survey.objects_used {
                *objects_used.entry(number).or_default() += uses;
            }
        }
        for (piece, survey) in self.surveys.iter().enumerate() {
            for definition in &survey.definitions {
                let number = definition.number;
                let is_symbol = matches!(definition.content, LinkableContent::Symbol(..));
                let (all, used) = if is_symbol {
                    (old.index.symbol_uses.get(number as usize).copied(), &symbols_used)
                } else {
                    (uses(old, number), &objects_used)
                };
                let used = used.get(&number).copied().unwrap_or(0);
                let remaining = all.unwrap_or(0).saturating_sub(used);
                if remaining == 0 {
                    continue;
                }
                let known = emitter.known.get(&definition.content);
                let Some(known) =
                    known.filter(|known| known.piece.is_some_and(|other| other as usize <= piece))
                else {
                    return false;
                };
                if is_symbol && known.number != number {
                    return false;
                }
                if is_symbol {
                    self.symbols_kept.insert(number, remaining);
                } else {
                    self.moved.insert(number, (known.number, remaining));
                }
            }
        }
        true
    }

    /// Finds the links that must change in roots that stay. False if one of them would take more or
    /// fewer bytes.
    fn relink(&mut self, old: Indexed<'_>) -> Result<bool> {
        let moves = self.moved.iter().any(|(&number, &(new, _))| number != new);
        if !moves && self.objects.is_empty() {
            return Ok(true);
        }
        let Some(first) = self.written.first() else { return Ok(true) };
        let after = old.index.links.partition_point(|&link| (link as usize) < first.old_end.at);
        let mut surveys = self.surveys.iter().peekable();
        for &link in old.index.links.get(after..).unwrap_or_default() {
            let at = link as usize;
            while surveys.next_if(|survey| survey.end.at <= at).is_some() {}
            if surveys.peek().is_some_and(|survey| survey.start.at <= at) {
                continue;
            }
            let number = read_link(old.stream, at).ok_or(index::inconsistent(at))?;
            if number < first.old_start.objects {
                continue;
            }
            let new = match self.moved.get(&number) {
                Some(&(new, _)) => new,
                None => self.objects.of(number),
            };
            if new == number {
                continue;
            }
            let fits = |number: u32| i32::try_from(number).map(long::len).unwrap_or(0);
            if fits(new) != fits(number) {
                return Ok(false);
            }
            self.relinked.push((link, new));
        }
        Ok(true)
    }
}

/// Returns the number of links to a content from other roots.
fn uses(old: Indexed<'_>, number: u32) -> Option<u32> {
    let linked = &old.index.linked;
    let at = linked.binary_search_by_key(&number, |linked| linked.number).ok()?;
    linked.get(at).map(|linked| linked.uses)
}

/// The number of the link at `at`.
pub(super) fn read_link(stream: &[u8], at: usize) -> Option<u32> {
    let mut reader = Reader::new(stream.get(at + 1..)?);
    u32::try_from(long::read(&mut reader)?).ok()
}

/// All roots anew, and those of the changes, one after the other.
pub(super) fn rewrite<'a>(old: Indexed<'a>, new: Indexed<'a>, edits: &Edits) -> Result<Vec<u8>> {
    let index = old.index;
    let count = index.root_count() - edits.deleted_count() + edits.appended.len();
    let mut emitter = Emitter::new(super::emit::StandaloneStream);
    emitter.bytes.reserve(old.stream.len() + new.stream.len());
    emitter.bytes.extend_from_slice(old.stream.get(..3).unwrap_or_default());
    put_count(&mut emitter.bytes, count)?;
    emitter.objects = 1;
    let mut from_old = ObjectSource::new(old.stream, old.index);
    let mut from_new = ObjectSource::new(new.stream, new.index);
    let kept = (0..index.root_count()).map(|root| (root, edits.of(root)));
    let kept = kept.filter(|&(_, edit)| edit != Some(None));
    let kept = kept.map(|(root, edit)| (Some(root), edit.flatten()));
    for (root, with) in kept.chain(edits.appended.iter().map(|&with| (None, Some(with)))) {
        let (source, place) = match (with, root) {
            (Some(with), _) => (&mut from_new, new.index.place(with)),
            (None, Some(root)) => (&mut from_old, index.place(root)),
            (None, None) => continue,
        };
        let place = place.ok_or(index::inconsistent(0))?;
        let value = source.write(&mut emitter, place, CopiedPiece::Key)?;
        source.write(&mut emitter, value, CopiedPiece::Value)?;
    }
    if index.has_default {
        let place = index.place(index.root_count()).ok_or(index::inconsistent(0))?;
        from_old.write(&mut emitter, place, CopiedPiece::Value)?;
    }
    Ok(emitter.bytes)
}

/// Appends the number of roots.
pub(super) fn put_count(bytes: &mut Vec<u8>, count: usize) -> Result<()> {
    let count = i32::try_from(count).map_err(|_| NotIndexable::new(Reason::TooLong, 3))?;
    long::put(bytes, count);
    Ok(())
}
