//! Facts about a stream beside its bytes: the places of its roots, the counts of symbols and objects
//! there, the definitions, and the links.
//!
//! It names places and lets the bytes speak for what is there.

use std::ops::Range;

use super::content::LinkableContent;
use super::context::Context;
use super::float::{self, Float};
use super::long;
use super::refusal::{NotIndexable, Reason, Result};
use super::shifts::Shifts;
use super::slots::HashSlots;
use super::walk::{LinkKind, MarshalWalk, Role, StreamPosition, Visitor};
use crate::wire::Reader;

// Bound (Marshal): index of a Marshal stream = 15 bytes for each root, 8 more if it shares objects; 8 for each interned
// String, Symbol or Float elsewhere; 8 more for each Symbol, 12 for each other that other roots link to; 4 for each
// link; while it is made, 1 more for each object and 8 for each interned String or Float.
/// The index of a stream. It is made by scanning, and kept up by splicing.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamIndex {
    /// Seed of the hashes of keys and contents.
    pub(super) seed: u64,
    /// Start of each root, then the end of the last one.
    pub(super) offsets: Vec<u32>,
    /// The number of the first object of each root, and at last of the first behind them.
    pub(super) objects: Vec<u32>,
    /// True if a default value follows the roots.
    pub(super) has_default: bool,
    /// Place of the definition of each symbol, in order, so by its number.
    pub(super) symbols: Vec<u32>,
    /// Number of links to each symbol from outside of the root that defines it.
    pub(super) symbol_uses: Vec<u32>,
    /// The contents other than symbols that are linked to from outside of the root that defines
    /// them, in order.
    pub(super) linked: Vec<Linked>,
    /// Place of each link to an object, in order.
    pub(super) links: Vec<u32>,
    /// Definitions of contents, but for those that are the key of a root.
    pub(super) contents: HashSlots,
    /// Roots by their keys, where those are simple.
    pub(super) roots: HashSlots,
    /// Roots that share objects with others, in order, each with the first of those.
    pub(super) groups: Vec<(u32, u32)>,
    /// Number of roots whose key is not simple: only the host can compare it with others.
    pub(super) complex_keys: u32,
    pub(super) context: Context,
}

/// A content that is linked to from outside of its root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Linked {
    pub(super) number: u32,
    pub(super) offset: u32,
    /// Number of links.
    pub(super) uses: u32,
}

impl StreamIndex {
    pub(super) fn root_count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns the start of a root, or the end of all roots if `root` is their number.
    pub(super) fn place(&self, root: usize) -> Option<StreamPosition> {
        let at = *self.offsets.get(root)?;
        let symbols = self.symbols.partition_point(|&symbol| symbol < at) as u32;
        Some(StreamPosition { at: at as usize, symbols, objects: *self.objects.get(root)? })
    }

    /// The root that the byte is in, or the number of roots for what is behind them.
    pub(super) fn root_at(&self, offset: u32) -> usize {
        self.offsets.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// The root that has the object, or the number of roots.
    pub(super) fn root_of(&self, number: u32) -> usize {
        self.objects.partition_point(|&first| first <= number).saturating_sub(1)
    }

    /// The place behind the key of a root.
    pub(super) fn value_place(&self, stream: &[u8], root: usize) -> Result<StreamPosition> {
        let place = self.place(root).ok_or(inconsistent(0))?;
        let mut skipped = SkipVisitor(self.context.clone());
        let mut walk = MarshalWalk::new(stream, place, &mut skipped);
        walk.key()?;
        Ok(walk.place())
    }

    /// Returns the ranges of the key and the value of a root.
    pub(super) fn spans(&self, stream: &[u8], root: usize) -> Option<(Range<usize>, Range<usize>)> {
        let start = *self.offsets.get(root)? as usize;
        let end = *self.offsets.get(root + 1)? as usize;
        let middle = self.value_place(stream, root).ok()?.at;
        Some((start..middle, middle..end))
    }

    /// The content that is defined at `offset`.
    #[inline]
    pub(super) fn content<'a>(&self, stream: &'a [u8], offset: u32) -> Option<LinkableContent<'a>> {
        content_at(stream, offset, &self.context)
    }

    /// The content that the key of the root at `offset` is, if it is simple.
    pub(super) fn key_content<'a>(
        &self,
        stream: &'a [u8],
        offset: u32,
    ) -> Option<LinkableContent<'a>> {
        simple_key(stream, offset, &self.context, &self.symbols, |number| {
            self.definition(stream, number)
        })
    }

    /// Finds the definition of a content.
    pub(super) fn find(&self, stream: &[u8], content: &LinkableContent<'_>) -> Option<u32> {
        if let LinkableContent::EncodingName(encoding) = content {
            let name = self.context.name_where(|name| name.encoding == *encoding);
            return name.map(|name| name.offset);
        }
        let hash = content.hash(self.seed);
        let is_it = |offset| self.content(stream, offset).as_ref() == Some(content);
        self.contents.find(hash, is_it).or_else(|| {
            let is_key =
                matches!(content, LinkableContent::Symbol(..) | LinkableContent::Interned(..));
            let is_it = |offset| defines_key(stream, offset) && is_it(offset);
            is_key.then(|| self.roots.find(hash, is_it)).flatten()
        })
    }

    /// Finds the definition of the object of that number, which is a content.
    pub(super) fn definition(&self, stream: &[u8], number: u32) -> Option<u32> {
        if let Ok(at) = self.linked.binary_search_by_key(&number, |linked| linked.number) {
            return self.linked.get(at).map(|linked| linked.offset);
        }
        let seek = Seek { number: Some(number), ..Seek::default() };
        self.seek(stream, self.root_of(number), seek).map(|(_, offset)| offset)
    }

    /// The number of the object that is defined at `offset`, which is a content.
    pub(super) fn number(&self, stream: &[u8], offset: u32) -> Option<u32> {
        if let Ok(at) = self.linked.binary_search_by_key(&offset, |linked| linked.offset) {
            return self.linked.get(at).map(|linked| linked.number);
        }
        let seek = Seek { offset: Some(offset), ..Seek::default() };
        self.seek(stream, self.root_at(offset), seek).map(|(number, _)| number)
    }

    /// Walks over a root until the object comes that is sought, and gives its number and place.
    fn seek(&self, stream: &[u8], root: usize, mut seek: Seek) -> Option<(u32, u32)> {
        seek.context = self.context.clone();
        let mut walk = MarshalWalk::new(stream, self.place(root)?, &mut seek);
        // Ends where the object is found, as if refused.
        let _ = if root == self.root_count() {
            walk.default_value()
        } else {
            walk.key().and_then(|()| walk.value(Role::Value))
        };
        seek.found
    }

    /// The roots that share objects with `root`, itself among them, in order.
    pub(super) fn group(&self, root: usize) -> Vec<usize> {
        let Some(leader) = self.leader(root) else { return vec![root] };
        let group = self.groups.iter().filter(|&&(_, first)| first == leader);
        group.map(|&(root, _)| root as usize).collect()
    }

    /// The first root of the group that a root is in, if it is in one.
    pub(super) fn leader(&self, root: usize) -> Option<u32> {
        let at = self.groups.binary_search_by_key(&(root as u32), |&(root, _)| root).ok()?;
        self.groups.get(at).map(|&(_, leader)| leader)
    }

    /// A root that is not among `roots`, which are in order, but shares objects with one of them.
    pub(super) fn left_out(&self, roots: &[usize]) -> Option<usize> {
        if self.groups.is_empty() {
            return None;
        }
        let mut leaders: Vec<u32> = roots.iter().filter_map(|&root| self.leader(root)).collect();
        if leaders.is_empty() {
            return None;
        }
        leaders.sort_unstable();
        leaders.dedup();
        let is_left_out = |&&(root, leader): &&(u32, u32)| {
            leaders.binary_search(&leader).is_ok() && roots.binary_search(&(root as usize)).is_err()
        };
        self.groups.iter().find(is_left_out).map(|&(root, _)| root as usize)
    }

    /// Moves all places but those in the context.
    pub(super) fn shift(&mut self, offsets: &Shifts) {
        self.linked.iter_mut().for_each(|linked| linked.offset = offsets.of(linked.offset));
        offsets.shift_all(&mut self.links, u32::MAX);
        offsets.shift_all(&mut self.symbols, u32::MAX);
        offsets.shift_all(&mut self.offsets, u32::MAX);
        self.contents.shift(offsets);
        self.roots.shift(offsets);
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        let words = self.offsets.capacity()
            + self.objects.capacity()
            + self.symbols.capacity()
            + self.symbol_uses.capacity()
            + self.links.capacity()
            + 2 * self.groups.capacity()
            + 3 * self.linked.capacity();
        words * 4 + self.contents.memory() + self.roots.memory()
    }

    /// Describes the first difference from `other`, which is an index of the same stream.
    pub(super) fn difference(&self, stream: &[u8], other: &StreamIndex) -> Option<String> {
        let sorted = |slots: &HashSlots| {
            let mut places: Vec<u32> = slots.places().collect();
            places.sort_unstable();
            places
        };
        let text = |part: &str, ours: String, theirs: String| {
            (ours != theirs).then(|| format!("{part}: {ours} is not {theirs}"))
        };
        macro_rules! compare {
            ($($part:ident),*) => {
                [$(text(stringify!($part), format!("{:?}", self.$part), format!("{:?}", other.$part))),*]
            };
        }
        let parts = compare!(
            offsets,
            objects,
            has_default,
            symbols,
            symbol_uses,
            linked,
            links,
            groups,
            complex_keys,
            context
        );
        let slots = [
            ("contents", sorted(&self.contents), sorted(&other.contents)),
            ("roots", sorted(&self.roots), sorted(&other.roots)),
        ];
        let lost = self.roots.places().find(|&place| {
            let key = self.key_content(stream, place);
            key.and_then(|key| self.roots.find(key.hash(self.seed), |at| at == place)).is_none()
        });
        parts
            .into_iter()
            .flatten()
            .chain(slots.into_iter().filter_map(|(part, ours, theirs)| {
                text(part, format!("{ours:?}"), format!("{theirs:?}"))
            }))
            .chain(lost.map(|place| format!("the root at {place} is not found")))
            .next()
    }
}

/// Returns true if the key of the root at `offset` is defined there, and is no link.
pub(super) fn defines_key(stream: &[u8], offset: u32) -> bool {
    matches!(stream.get(offset as usize), Some(b'"' | b':' | b'I'))
}

/// The content that is defined at `offset`; a String is taken for an interned one.
pub(super) fn content_at<'a>(
    stream: &'a [u8],
    offset: u32,
    context: &Context,
) -> Option<LinkableContent<'a>> {
    if let Some(name) = context.name_where(|name| name.offset == offset) {
        return Some(LinkableContent::EncodingName(name.encoding));
    }
    let mut only = Only { context: context.clone(), content: None };
    // The numbers of what is before do not matter, if only they are high enough for all links.
    let place =
        StreamPosition { at: offset as usize, symbols: u32::MAX / 2, objects: u32::MAX / 2 };
    MarshalWalk::new(stream, place, &mut only).value(Role::Key).ok()?;
    only.content
}

/// The content that the key at `offset` is, if it is simple. `definition` tells where the object of
/// a number is defined.
pub(super) fn simple_key<'a>(
    stream: &'a [u8],
    offset: u32,
    context: &Context,
    symbols: &[u32],
    definition: impl Fn(u32) -> Option<u32>,
) -> Option<LinkableContent<'a>> {
    let rest = stream.get(offset as usize..)?;
    let (&kind, behind) = rest.split_first()?;
    let mut reader = Reader::new(behind);
    let plain =
        |reader: &Reader<'_>| rest.get(..reader.position_in(rest)).map(LinkableContent::Plain);
    match kind {
        b'0' | b'T' | b'F' => plain(&reader),
        b'i' => {
            long::read(&mut reader)?;
            plain(&reader)
        }
        b'l' => {
            reader.u8()?;
            let count = usize::try_from(long::read(&mut reader)?).ok()?;
            reader.take(count.checked_mul(2)?)?;
            plain(&reader)
        }
        b'f' => {
            let len = usize::try_from(long::read(&mut reader)?).ok()?;
            match (reader.take(len)?, float::classify(reader_text(rest, &reader, len)?)?) {
                // Zero equals the zero below it, and what is no number equals nothing.
                (b"0" | b"-0" | b"nan", _) => None,
                (text, Float::Immediate) => Some(LinkableContent::Float(text)),
                (_, Float::Heap) => plain(&reader),
            }
        }
        b'@' => {
            let number = u32::try_from(long::read(&mut reader)?).ok()?;
            let content = content_at(stream, definition(number)?, context)?;
            (content != LinkableContent::Float(b"0")).then_some(content)
        }
        b';' => {
            let number = usize::try_from(long::read(&mut reader)?).ok()?;
            content_at(stream, *symbols.get(number)?, context)
        }
        b':' | b'"' | b'c' | b'm' => content_at(stream, offset, context),
        b'I' if matches!(behind.first(), Some(b':' | b'"')) => content_at(stream, offset, context),
        _ => None,
    }
}

/// The last `len` bytes that `reader` took.
fn reader_text<'a>(rest: &'a [u8], reader: &Reader<'_>, len: usize) -> Option<&'a [u8]> {
    let end = reader.position_in(rest);
    rest.get(end.checked_sub(len)?..end)
}

pub(super) fn inconsistent(at: usize) -> NotIndexable {
    NotIndexable::new(Reason::Inconsistent, at)
}

/// Visitor that skips what it is shown.
pub(super) struct SkipVisitor(pub(super) Context);

impl<'a> Visitor<'a> for SkipVisitor {
    const PARTS: bool = false;

    fn context(&mut self) -> &mut Context {
        &mut self.0
    }
}

/// A visitor that takes the content there is.
struct Only<'a> {
    context: Context,
    content: Option<LinkableContent<'a>>,
}

impl<'a> Visitor<'a> for Only<'a> {
    const PARTS: bool = false;

    fn context(&mut self) -> &mut Context {
        &mut self.context
    }

    fn defined(
        &mut self,
        _number: u32,
        _span: Range<usize>,
        content: LinkableContent<'a>,
    ) -> Result<()> {
        self.content = Some(content);
        Ok(())
    }
}

/// A visitor that looks for an object by its number or its place.
#[derive(Default)]
struct Seek {
    context: Context,
    number: Option<u32>,
    offset: Option<u32>,
    found: Option<(u32, u32)>,
}

impl<'a> Visitor<'a> for Seek {
    const PARTS: bool = true;

    fn context(&mut self) -> &mut Context {
        &mut self.context
    }

    fn numbered(&mut self, number: u32, at: usize, kind: LinkKind) -> Result<()> {
        let is_it = self.number == Some(number) || self.offset == Some(at as u32);
        if kind == LinkKind::ByContent && is_it {
            self.found = Some((number, at as u32));
            // No more is wanted; the one who seeks knows that this is no refusal.
            return Err(inconsistent(at));
        }
        Ok(())
    }
}
