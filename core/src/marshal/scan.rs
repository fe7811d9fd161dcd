//! Making the index of a stream in one pass, which proves that loading and dumping the stream gives
//! the same bytes again, as far as the stream can tell.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use super::by_number::ByNumber;
use super::content::LinkableContent;
use super::context::Context;
use super::index::{self, Linked, StreamIndex};
use super::refusal::{NotIndexable, Reason, Result};
use super::slots::HashSlots;
use super::walk::{LinkKind, MarshalWalk, Role, StreamPosition, Visitor};
use super::{Hooks, LEN_MAX, long};
use crate::wire::Reader;

/// Makes the index of `stream`.
pub(super) fn scan(stream: &[u8], hooks: Hooks) -> Result<StreamIndex> {
    if stream.len() > LEN_MAX {
        return Err(NotIndexable::new(Reason::TooLong, LEN_MAX));
    }
    if stream.get(..2) != Some(&[4, 8]) {
        return Err(NotIndexable::new(Reason::Version, 0));
    }
    let has_default = match stream.get(2) {
        Some(b'{') => false,
        Some(b'}') => true,
        Some(_) => return Err(NotIndexable::new(Reason::NotAPlainHash, 2)),
        None => return Err(NotIndexable::new(Reason::Truncated, 2)),
    };
    let mut scanner = Scanner::new(stream, hooks);
    scanner.index.has_default = has_default;
    let start = StreamPosition { at: 3, symbols: 0, objects: 0 };
    let mut walk = MarshalWalk::new(stream, start, &mut scanner);
    walk.number(2, LinkKind::Unlinked)?;
    let count = walk.count(2)?;
    walk.visitor().expect_roots(count as usize);
    walk.visitor().hash_begins(2)?;
    for _ in 0..count {
        let place = walk.place();
        walk.visitor().root_begins(place);
        walk.key()?;
        let end = walk.place();
        walk.visitor().root_key_ended(end)?;
        walk.value(Role::Value)?;
    }
    let end = walk.place();
    walk.visitor().root_begins(end);
    walk.visitor().hash_ended(2)?;
    if has_default {
        walk.default_value()?;
    }
    let (at, remaining) = (walk.place().at, walk.remaining());
    if remaining > 0 {
        return Err(NotIndexable::new(Reason::Trailing, at));
    }
    Ok(scanner.finish())
}

/// Kind of links that may lead to an object, in a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkTarget {
    Itself,
    CopiedAsKey,
    Unlinked,
    /// An object that is a part of the key of a root.
    InKey,
    Interned,
    Immediate,
    EncodingName,
}

/// The visitor that makes an index.
struct Scanner<'a> {
    stream: &'a [u8],
    hooks: Hooks,
    index: StreamIndex,
    /// By number.
    targets: Vec<LinkTarget>,
    /// Number and place of each content that is no key of a root.
    definitions: Vec<(u32, u32)>,
    /// Contents that are linked to from another root, with their places and the number of links.
    linked: ByNumber<(u32, u32)>,
    /// Strings of the same bytes in other encodings, by number: they may be equal keys.
    twins: ByNumber<u32>,
    /// Each root that shares objects with an earlier one, and that one, up to the first.
    parents: ByNumber<u32>,
    root_start: u32,
    root_objects: u32,
    /// True while the walk is in the key of a root.
    in_root_key: bool,
    /// The key of the root, as far as it is simple.
    root_key: Option<(LinkableContent<'a>, u64)>,
    keys_around: u32,
    /// True while the walk is in a part of a content, which as a whole has a number.
    in_parts: bool,
    key_hash: u64,
    /// Hashes of the keys of the Hashes around, and where each Hash's begin.
    key_hashes: Vec<u64>,
    hash_starts: Vec<usize>,
}

impl<'a> Scanner<'a> {
    fn new(stream: &'a [u8], hooks: Hooks) -> Self {
        let index = StreamIndex { seed: RandomState::new().hash_one(0), ..StreamIndex::default() };
        Scanner {
            stream,
            hooks,
            index,
            targets: Vec::new(),
            definitions: Vec::new(),
            linked: ByNumber::default(),
            twins: ByNumber::default(),
            parents: ByNumber::default(),
            root_start: 0,
            root_objects: 0,
            in_root_key: false,
            root_key: None,
            keys_around: 0,
            in_parts: false,
            key_hash: 0,
            key_hashes: Vec::new(),
            hash_starts: Vec::new(),
        }
    }

    /// Makes room for roots, of which there are as many only if each is short.
    fn expect_roots(&mut self, count: usize) {
        let count = count.min(self.stream.len() / 8);
        self.index.offsets.reserve_exact(count + 1);
        self.index.objects.reserve_exact(count + 1);
        self.index.roots = HashSlots::with_capacity(count);
    }

    fn root_begins(&mut self, place: StreamPosition) {
        self.root_start = place.at as u32;
        self.root_objects = place.objects;
        self.index.offsets.push(self.root_start);
        self.index.objects.push(self.root_objects);
        self.in_root_key = true;
        self.root_key = None;
    }

    fn root_key_ended(&mut self, end: StreamPosition) -> Result<()> {
        self.in_root_key = false;
        let seed = self.index.seed;
        let key = self.root_key.or_else(|| {
            let key = self.simple_key(self.root_start)?;
            Some((key, key.hash(seed)))
        });
        let key = key.filter(|(key, _)| *key != LinkableContent::Float(b"0"));
        if !matches!(key, Some((LinkableContent::Interned(..) | LinkableContent::Symbol(..), _))) {
            let own = self.root_objects as usize..end.objects as usize;
            for target in self.targets.get_mut(own).unwrap_or_default() {
                if matches!(target, LinkTarget::Itself | LinkTarget::CopiedAsKey) {
                    *target = LinkTarget::InKey;
                }
            }
        }
        let Some((key, hash)) = key else {
            // Its hash stays, to be compared with those of others like it.
            self.index.complex_keys += 1;
            return Ok(());
        };
        self.key_hashes.pop();
        self.add_root(key, hash)
    }

    fn simple_key(&self, offset: u32) -> Option<LinkableContent<'a>> {
        index::simple_key(self.stream, offset, &self.index.context, &self.index.symbols, |number| {
            self.place_of(number)
        })
    }

    fn add_root(&mut self, key: LinkableContent<'a>, hash: u64) -> Result<()> {
        let at = self.root_start;
        let equal = |other: u32| {
            // Strings of the same bytes are taken for equal whatever their encodings are.
            match (self.simple_key(other), key) {
                (Some(LinkableContent::Interned(text, _)), LinkableContent::Interned(other, _)) => {
                    text == other
                }
                (other, key) => other == Some(key),
            }
        };
        if self.index.roots.find(hash, equal).is_some() {
            return Err(NotIndexable::new(Reason::EqualKeys, at as usize));
        }
        let mut roots = std::mem::take(&mut self.index.roots);
        roots.insert(hash, at, |other| {
            self.simple_key(other).map_or(0, |key| key.hash(self.index.seed))
        });
        self.index.roots = roots;
        Ok(())
    }

    /// Finds the definition of the content of that number.
    fn place_of(&self, number: u32) -> Option<u32> {
        if let Some(&(offset, _)) = self.linked.get(&number) {
            return Some(offset);
        }
        if let Ok(at) = self.definitions.binary_search_by_key(&number, |&(number, _)| number) {
            return self.definitions.get(at).map(|&(_, offset)| offset);
        }
        let root = self.index.root_of(number);
        let is_first = self.index.objects.get(root) == Some(&number);
        is_first.then(|| self.index.offsets.get(root).copied()).flatten()
    }

    /// The number of what is defined at `offset`.
    fn number_at(&self, offset: u32) -> Option<u32> {
        if let Ok(at) = self.definitions.binary_search_by_key(&offset, |&(_, offset)| offset) {
            return self.definitions.get(at).map(|&(number, _)| number);
        }
        let root = self.index.offsets.binary_search(&offset).ok()?;
        self.index.objects.get(root).copied()
    }

    fn mix(&mut self, kind: u8, number: u32) {
        if self.keys_around > 0 && !self.in_parts {
            let number = match kind {
                b'@' if !self.twins.is_empty() => *self.twins.get(&number).unwrap_or(&number),
                _ => number,
            };
            self.mix_bits(u64::from(kind) << 32 | u64::from(number));
        }
    }

    fn mix_bits(&mut self, bits: u64) {
        let mixed = (self.key_hash ^ bits ^ self.index.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.key_hash = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(23);
    }

    /// Takes note of a definition, which must be the only one of its content.
    fn add_content(&mut self, number: u32, at: usize, content: LinkableContent<'a>) -> Result<()> {
        if let LinkableContent::EncodingName(encoding) = content {
            self.add_definition(number, at);
            return match self.index.context.names_twice(encoding) {
                true => Err(NotIndexable::new(Reason::NotCanonical, at)),
                false => Ok(()),
            };
        }
        let hash = content.hash(self.index.seed);
        if let LinkableContent::Interned(text, _) = content {
            self.compare_text(number, at, hash, text, &content)?;
        } else if self.index.find(self.stream, &content).is_some() {
            return Err(NotIndexable::new(Reason::NotCanonical, at));
        }
        let is_root_key = self.in_root_key && self.keys_around == 1 && at as u32 == self.root_start;
        if is_root_key {
            self.root_key = Some((content, hash));
        }
        if !is_root_key || !index::defines_key(self.stream, at as u32) {
            if !matches!(content, LinkableContent::Symbol(..)) {
                self.add_definition(number, at);
            }
            let (stream, context, seed) = (self.stream, &self.index.context, self.index.seed);
            self.index.contents.insert(hash, at as u32, |other| {
                let content = index::content_at(stream, other, context);
                content.map_or(0, |content| content.hash(seed))
            });
        }
        Ok(())
    }

    fn add_definition(&mut self, number: u32, at: usize) {
        // The name of an encoding is defined within the String that comes before it.
        let before = self.definitions.last().is_some_and(|&(last, _)| last > number);
        let place = self.definitions.len() - usize::from(before);
        self.definitions.insert(place, (number, at as u32));
    }

    /// Refuses a String that was defined before, and takes note of one of the same bytes in another
    /// encoding.
    fn compare_text(
        &mut self,
        number: u32,
        at: usize,
        hash: u64,
        text: &[u8],
        content: &LinkableContent<'_>,
    ) -> Result<()> {
        let (stream, index) = (self.stream, &self.index);
        let is_alike = |offset| {
            let other = index::content_at(stream, offset, &index.context);
            matches!(other, Some(LinkableContent::Interned(other, _)) if other == text)
        };
        let is_key_alike = |offset| index::defines_key(stream, offset) && is_alike(offset);
        let twin = index.contents.find(hash, is_alike);
        let Some(twin) = twin.or_else(|| index.roots.find(hash, is_key_alike)) else {
            return Ok(());
        };
        if index.find(stream, content).is_some() {
            return Err(NotIndexable::new(Reason::NotCanonical, at));
        }
        if let Some(twin) = self.number_at(twin) {
            let first = *self.twins.get(&twin).unwrap_or(&twin);
            self.twins.insert(number, first);
        }
        Ok(())
    }

    /// Joins the current root with the one that has the object.
    fn share(&mut self, number: u32, at: usize) -> Result<()> {
        if self.in_root_key {
            // Also where there is no key: behind the last root.
            let behind = self.index.has_default && self.keys_around == 0;
            let reason = if behind { Reason::SharedDefault } else { Reason::SharedKey };
            return Err(NotIndexable::new(reason, at));
        }
        let other = self.first_of(self.index.root_of(number) as u32);
        let this = self.first_of((self.index.offsets.len() - 1) as u32);
        if other != this {
            self.parents.insert(this.max(other), this.min(other));
        }
        Ok(())
    }

    /// The first root of the group.
    fn first_of(&mut self, mut root: u32) -> u32 {
        while let Some(&parent) = self.parents.get(&root) {
            if let Some(&above) = self.parents.get(&parent) {
                self.parents.insert(root, above);
            }
            root = parent;
        }
        root
    }

    /// Counts a link to a content in another root.
    fn count_link(&mut self, number: u32, at: usize) -> Result<()> {
        if let Some((_, uses)) = self.linked.get_mut(&number) {
            *uses += 1;
            return Ok(());
        }
        let offset = self.place_of(number).ok_or(index::inconsistent(at))?;
        self.linked.insert(number, (offset, 1));
        Ok(())
    }

    fn finish(mut self) -> StreamIndex {
        let linked = self.linked.drain();
        let mut linked: Vec<Linked> =
            linked.map(|(number, (offset, uses))| Linked { number, offset, uses }).collect();
        linked.sort_unstable_by_key(|linked| linked.number);
        self.index.linked = linked;
        let mut members: Vec<u32> =
            self.parents.keys().chain(self.parents.values()).copied().collect();
        members.sort_unstable();
        members.dedup();
        self.index.groups = members.into_iter().map(|root| (root, self.first_of(root))).collect();
        let index = &mut self.index;
        index.context.sort();
        index.symbols.shrink_to_fit();
        index.symbol_uses.shrink_to_fit();
        index.links.shrink_to_fit();
        self.index
    }
}

impl<'a> Visitor<'a> for Scanner<'a> {
    const PARTS: bool = true;

    fn context(&mut self) -> &mut Context {
        &mut self.index.context
    }

    fn numbered(&mut self, _number: u32, _at: usize, kind: LinkKind) -> Result<()> {
        self.targets.push(match kind {
            LinkKind::Itself => LinkTarget::Itself,
            LinkKind::CopiedAsKey => LinkTarget::CopiedAsKey,
            // The definition tells which content it is.
            LinkKind::Unlinked | LinkKind::ByContent => LinkTarget::Unlinked,
        });
        Ok(())
    }

    fn symbol_numbered(&mut self, _number: u32, at: usize) -> Result<()> {
        self.index.symbols.push(at as u32);
        self.index.symbol_uses.push(0);
        Ok(())
    }

    fn defined(
        &mut self,
        number: u32,
        span: Range<usize>,
        content: LinkableContent<'a>,
    ) -> Result<()> {
        let target = match content {
            LinkableContent::Interned(..) => LinkTarget::Interned,
            LinkableContent::EncodingName(_) => LinkTarget::EncodingName,
            _ => LinkTarget::Immediate,
        };
        let is_symbol = matches!(content, LinkableContent::Symbol(..));
        if !is_symbol && let Some(slot) = self.targets.get_mut(number as usize) {
            *slot = target;
        }
        self.add_content(number, span.start, content)?;
        self.mix(if is_symbol { b':' } else { b'@' }, number);
        Ok(())
    }

    fn symbol_link(&mut self, number: u32, _span: Range<usize>) -> Result<()> {
        let at = self.index.symbols.get(number as usize).copied().unwrap_or_default();
        let is_outside = at < self.root_start;
        if let Some(uses) = self.index.symbol_uses.get_mut(number as usize).filter(|_| is_outside) {
            *uses += 1;
        }
        self.mix(b':', number);
        Ok(())
    }

    fn link(&mut self, number: u32, span: Range<usize>, role: Role) -> Result<()> {
        let at = span.start;
        self.index.links.push(at as u32);
        let target = self.targets.get(number as usize).copied().unwrap_or(LinkTarget::Unlinked);
        let is_outside = number < self.root_objects;
        match (target, role) {
            (LinkTarget::Interned, Role::Key)
            | (LinkTarget::Immediate, Role::Key | Role::Value) => {}
            (LinkTarget::Interned, Role::Zone) if self.is_ascii(number) => {}
            (LinkTarget::EncodingName, Role::EncodingName) => {}
            (LinkTarget::Itself, Role::Key | Role::Value)
            | (LinkTarget::CopiedAsKey, Role::Value) => {
                self.mix(b'@', number);
                return if is_outside { self.share(number, at) } else { Ok(()) };
            }
            (LinkTarget::InKey, _) => return Err(NotIndexable::new(Reason::SharedKey, at)),
            _ => return Err(NotIndexable::new(Reason::NotCanonical, at)),
        }
        if is_outside {
            self.count_link(number, at)?;
        }
        self.mix(b'@', number);
        Ok(())
    }

    fn parts(&mut self, begin: bool) {
        self.in_parts = begin;
    }

    fn bytes(&mut self, bytes: &'a [u8]) {
        if self.keys_around > 0 {
            let bits = xxhash_rust::xxh3::xxh3_64_with_seed(bytes, self.index.seed);
            self.mix_bits(bits);
        }
    }

    fn hash_begins(&mut self, at: usize) -> Result<()> {
        if self.keys_around > 0 {
            // Equality of Hashes does not depend on the order of their entries.
            return Err(NotIndexable::new(Reason::EqualKeys, at));
        }
        self.hash_starts.push(self.key_hashes.len());
        Ok(())
    }

    fn key_begins(&mut self) {
        if self.keys_around == 0 {
            self.key_hash = 0;
        }
        self.keys_around += 1;
    }

    fn key_ended(&mut self) {
        self.keys_around -= 1;
        if self.keys_around == 0 {
            self.key_hashes.push(self.key_hash);
        }
    }

    fn hash_ended(&mut self, at: usize) -> Result<()> {
        let start = self.hash_starts.pop().unwrap_or_default();
        let own = self.key_hashes.get_mut(start..).unwrap_or_default();
        let differ = match own {
            [] | [_] => true,
            [a, b] => a != b,
            [a, b, c] => a != b && b != c && a != c,
            many => {
                many.sort_unstable();
                many.is_sorted_by(|a, b| a < b)
            }
        };
        self.key_hashes.truncate(start);
        if differ { Ok(()) } else { Err(NotIndexable::new(Reason::EqualKeys, at)) }
    }

    fn variable(&mut self, name: u32, at: usize) -> Result<()> {
        // Classes that are not written in the language itself have variables without the sign, as
        // exceptions do, and may well load them as something else.
        let symbol = self.index.symbols.get(name as usize).map_or(0, |&offset| offset as usize);
        let rest = self.stream.get(symbol..).unwrap_or_default();
        let text = rest.strip_prefix(b"I").unwrap_or(rest).get(1..).unwrap_or_default();
        let mut reader = Reader::new(text);
        long::read(&mut reader);
        match reader.u8() {
            Some(b'@') => Ok(()),
            _ => Err(NotIndexable::new(Reason::HiddenVariable, at)),
        }
    }

    fn foreign_hook(&mut self, at: usize) -> Result<()> {
        match self.hooks {
            Hooks::Trusted => Ok(()),
            Hooks::Known => Err(NotIndexable::new(Reason::UserHook, at)),
        }
    }
}

impl Scanner<'_> {
    /// Returns true if the interned String is in US-ASCII, as names of time zones are.
    fn is_ascii(&self, number: u32) -> bool {
        let content = self.place_of(number).and_then(|at| self.index.content(self.stream, at));
        matches!(
            content,
            Some(LinkableContent::Interned(_, super::encoding::StringEncoding::US_ASCII))
        )
    }
}
