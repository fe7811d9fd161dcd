//! Writing objects of streams into a new one, as dumping would: contents are defined where they are
//! met first and linked to from then on, symbols and objects are numbered anew.

use std::collections::HashMap;
use std::ops::Range;

use super::by_number::{BuildMultiplyHasher, ByNumber};
use super::content::LinkableContent;
use super::context::Context;
use super::encoding::StringEncoding;
use super::index::StreamIndex;
use super::long;
use super::refusal::{NotIndexable, Reason, Result};
use super::walk::{LinkKind, MarshalWalk, Role, StreamPosition, Visitor};

/// Place of the definition of a content, relative to the place that is written at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placement {
    /// Nowhere.
    New,
    /// Before, under this number.
    Before(u32),
    /// Only behind it: its definition would have to move.
    Behind,
}

/// Stream that the written bytes become a part of.
pub(super) trait TargetStream {
    /// Finds the definition of a content in it.
    fn placement(&self, content: &LinkableContent<'_>) -> Result<Placement>;
}

/// Stream that has nothing but the written bytes.
pub(super) struct StandaloneStream;

impl TargetStream for StandaloneStream {
    fn placement(&self, _content: &LinkableContent<'_>) -> Result<Placement> {
        Ok(Placement::New)
    }
}

/// The number of a content, and by which piece that was written it is defined, if by one.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownContent {
    pub(super) number: u32,
    pub(super) piece: Option<u32>,
}

/// A stream that is being written, or pieces of one.
pub(super) struct Emitter<'a, S> {
    pub(super) bytes: Vec<u8>,
    /// The numbers of the next symbol and object.
    pub(super) symbols: u32,
    pub(super) objects: u32,
    /// The piece that is being written.
    pub(super) piece: u32,
    /// True after a content was met whose definition is behind the place.
    pub(super) moves: bool,
    pub(super) known: HashMap<LinkableContent<'a>, KnownContent, BuildMultiplyHasher>,
    pub(super) target: S,
}

impl<'a, S: TargetStream> Emitter<'a, S> {
    /// A writer of what stands in the stream `target`, with nothing written.
    pub(super) fn new(target: S) -> Self {
        Emitter {
            bytes: Vec::new(),
            symbols: 0,
            objects: 0,
            piece: 0,
            moves: false,
            known: HashMap::default(),
            target,
        }
    }

    /// Writes a content: a link to it, or its definition. Gives its number.
    pub(super) fn content(&mut self, content: LinkableContent<'a>) -> Result<u32> {
        let mark = if matches!(content, LinkableContent::Symbol(..)) { b';' } else { b'@' };
        if let Some(known) = self.known.get(&content) {
            let number = known.number;
            self.put_link(mark, number);
            return Ok(number);
        }
        match self.target.placement(&content)? {
            Placement::Before(number) => {
                self.known.insert(content, KnownContent { number, piece: None });
                self.put_link(mark, number);
                return Ok(number);
            }
            Placement::Behind => self.moves = true,
            Placement::New => {}
        }
        let next = if mark == b';' { &mut self.symbols } else { &mut self.objects };
        let number = *next;
        *next = number.wrapping_add(1);
        self.known.insert(content, KnownContent { number, piece: Some(self.piece) });
        self.define(content)?;
        Ok(number)
    }

    /// Writes a link; numbers that no stream has are written as the highest.
    pub(super) fn put_link(&mut self, mark: u8, number: u32) {
        self.bytes.push(mark);
        long::put(&mut self.bytes, i32::try_from(number).unwrap_or(i32::MAX));
    }

    fn define(&mut self, content: LinkableContent<'a>) -> Result<()> {
        match content {
            LinkableContent::Symbol(text, encoding) => self.define_text(b':', text, encoding),
            LinkableContent::Interned(text, encoding) => self.define_text(b'"', text, encoding),
            LinkableContent::EncodingName(encoding) => {
                let name = encoding.name().unwrap_or_default();
                self.define_text(b'"', name.as_bytes(), StringEncoding::BINARY)
            }
            LinkableContent::Float(text) => self.define_text(b'f', text, StringEncoding::BINARY),
            LinkableContent::Class(kind, name) => {
                self.define_text(kind, name, StringEncoding::BINARY)
            }
            LinkableContent::Plain(bytes) => {
                self.bytes.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn define_text(&mut self, kind: u8, text: &[u8], encoding: StringEncoding) -> Result<()> {
        if encoding != StringEncoding::BINARY {
            self.bytes.push(b'I');
        }
        self.bytes.push(kind);
        long::put(&mut self.bytes, i32::try_from(text.len()).unwrap_or(i32::MAX));
        self.bytes.extend_from_slice(text);
        if encoding == StringEncoding::BINARY {
            return Ok(());
        }
        long::put(&mut self.bytes, 1);
        if encoding.name().is_some() {
            self.content(LinkableContent::Symbol(b"encoding", StringEncoding::BINARY))?;
            self.content(LinkableContent::EncodingName(encoding)).map(drop)
        } else {
            self.content(LinkableContent::Symbol(b"E", StringEncoding::BINARY))?;
            self.bytes.push(if encoding == StringEncoding::UTF_8 { b'T' } else { b'F' });
            Ok(())
        }
    }
}

/// Numbers of objects in one stream by those in another, for the runs that were written.
#[derive(Debug, Default)]
struct Numbers {
    /// In the order of the old numbers, which need not be the one in which they were written.
    runs: Vec<NumberRun>,
    /// The run that grows.
    current: usize,
    new: Vec<u32>,
}

/// Old numbers one after the other, and where the new ones are among all.
#[derive(Debug)]
struct NumberRun {
    first: u32,
    len: u32,
    start: usize,
}

impl Numbers {
    fn push(&mut self, old: u32, new: u32) {
        match self.runs.get_mut(self.current) {
            Some(run) if run.first.wrapping_add(run.len) == old => run.len += 1,
            _ => {
                self.current = self.runs.partition_point(|run| run.first < old);
                let run = NumberRun { first: old, len: 1, start: self.new.len() };
                self.runs.insert(self.current, run);
            }
        }
        self.new.push(new);
    }

    fn get(&self, old: u32) -> Option<u32> {
        self.slot(old).and_then(|slot| self.new.get(slot)).copied()
    }

    fn slot_mut(&mut self, old: u32) -> Option<&mut u32> {
        self.slot(old).and_then(|slot| self.new.get_mut(slot))
    }

    fn slot(&self, old: u32) -> Option<usize> {
        let after = self.runs.partition_point(|run| run.first <= old);
        let run = self.runs.get(after.checked_sub(1)?)?;
        (old - run.first < run.len).then(|| run.start + (old - run.first) as usize)
    }
}

/// A stream that objects are taken from.
pub(super) struct ObjectSource<'a> {
    stream: &'a [u8],
    index: &'a StreamIndex,
    context: Context,
    /// The new number of each object that was written.
    numbers: Numbers,
    /// The new numbers of symbols that were met.
    symbols: ByNumber<u32>,
}

/// Kind of a piece that is copied from a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopiedPiece {
    /// A key of a Hash.
    Key,
    /// A value.
    Value,
}

impl<'a> ObjectSource<'a> {
    pub(super) fn new(stream: &'a [u8], index: &'a StreamIndex) -> Self {
        let context = index.context.clone();
        ObjectSource {
            stream,
            index,
            context,
            numbers: Numbers::default(),
            symbols: ByNumber::default(),
        }
    }

    /// Writes what stands at `place` and gives the place behind it.
    pub(super) fn write<S: TargetStream>(
        &mut self,
        emitter: &mut Emitter<'a, S>,
        place: StreamPosition,
        piece: CopiedPiece,
    ) -> Result<StreamPosition> {
        let mut copy = CopyVisitor { source: self, emitter, copied: place.at };
        let mut walk = MarshalWalk::new(copy.source.stream, place, &mut copy);
        match piece {
            CopiedPiece::Key => walk.key()?,
            CopiedPiece::Value => walk.value(Role::Value)?,
        }
        let end = walk.place();
        copy.copy_to(end.at);
        Ok(end)
    }
}

/// The visitor that writes what it meets.
struct CopyVisitor<'a, 's, 'e, S> {
    source: &'s mut ObjectSource<'a>,
    emitter: &'e mut Emitter<'a, S>,
    /// Up to where the stream was written.
    copied: usize,
}

impl<'a, S: TargetStream> CopyVisitor<'a, '_, '_, S> {
    fn copy_to(&mut self, at: usize) {
        let bytes = self.source.stream.get(self.copied..at).unwrap_or_default();
        self.emitter.bytes.extend_from_slice(bytes);
        self.copied = at;
    }

    /// Writes what stands before `span`, and `content` in its place.
    fn replace(&mut self, span: &Range<usize>, content: LinkableContent<'a>) -> Result<u32> {
        self.copy_to(span.start);
        self.copied = span.end;
        self.emitter.content(content)
    }

    fn content_of(&self, offset: Option<u32>, span: &Range<usize>) -> Result<LinkableContent<'a>> {
        let content =
            offset.and_then(|offset| self.source.index.content(self.source.stream, offset));
        content.ok_or(NotIndexable::new(Reason::Inconsistent, span.start))
    }
}

impl<'a, S: TargetStream> Visitor<'a> for CopyVisitor<'a, '_, '_, S> {
    const PARTS: bool = false;

    fn context(&mut self) -> &mut Context {
        &mut self.source.context
    }

    fn numbered(&mut self, number: u32, _at: usize, kind: LinkKind) -> Result<()> {
        // A content gets its number when it is known which it is.
        let mut new = u32::MAX;
        if kind != LinkKind::ByContent {
            new = self.emitter.objects;
            self.emitter.objects = new.wrapping_add(1);
        }
        self.source.numbers.push(number, new);
        Ok(())
    }

    fn defined(
        &mut self,
        number: u32,
        span: Range<usize>,
        content: LinkableContent<'a>,
    ) -> Result<()> {
        let new = self.replace(&span, content)?;
        if matches!(content, LinkableContent::Symbol(..)) {
            self.source.symbols.insert(number, new);
        } else if let Some(slot) = self.source.numbers.slot_mut(number) {
            *slot = new;
        }
        Ok(())
    }

    fn symbol_link(&mut self, number: u32, span: Range<usize>) -> Result<()> {
        if let Some(&new) = self.source.symbols.get(&number) {
            self.copy_to(span.start);
            self.copied = span.end;
            self.emitter.put_link(b';', new);
            return Ok(());
        }
        let offset = self.source.index.symbols.get(number as usize).copied();
        let content = self.content_of(offset, &span)?;
        let new = self.replace(&span, content)?;
        self.source.symbols.insert(number, new);
        Ok(())
    }

    fn link(&mut self, number: u32, span: Range<usize>, role: Role) -> Result<()> {
        if role == Role::EncodingName {
            let encoding = self.source.context.encoding(number);
            let encoding = encoding.ok_or(NotIndexable::new(Reason::Inconsistent, span.start))?;
            return self.replace(&span, LinkableContent::EncodingName(encoding)).map(drop);
        }
        if let Some(new) = self.source.numbers.get(number) {
            self.copy_to(span.start);
            self.copied = span.end;
            self.emitter.put_link(b'@', new);
            return Ok(());
        }
        let offset = self.source.index.definition(self.source.stream, number);
        let content = self.content_of(offset, &span)?;
        self.replace(&span, content).map(drop)
    }
}
