//! A walk over the objects of a stream in the order in which they stand, which tells a [`Visitor`]
//! what it meets and numbers symbols and objects as loading and dumping do.
//!
//! It knows how each type is spelled, and refuses what dumping would spell otherwise as far as one
//! object shows it. What takes more of the stream to tell (whether a link points where it should)
//! is for the visitor.
//!
//! ```text
//! 0 T F          nil, true, false
//! i LONG         Fixnum of 31 bits
//! : LEN bytes    Symbol;  ; NUMBER  one that was there before
//! " LEN bytes    String
//! f LEN text     Float
//! l SIGN LEN ..  whole number of more bits, LEN times two bytes
//! [ COUNT ..     Array
//! { COUNT ..     Hash, keys and values;  } COUNT ..  with a default value after them
//! o CLASS COUNT  object, names and values;  S CLASS COUNT  Struct, the same
//! u CLASS LEN .. object with its own bytes, numbered after its instance variables
//! U CLASS ..     object with another one in its place
//! c m LEN name   class, module
//! / LEN text OPTIONS
//! @ NUMBER       an object that was there before
//! I .. COUNT ..  the object, then names and values of its instance variables; the first is the
//!                encoding (:E true, :E false, :encoding "name")
//! e MODULE ..    the object, extended;  C CLASS ..  of a subclass of its type
//! ```

use std::ops::Range;

use crate::wire::Reader;

use super::content::LinkableContent;
use super::context::{Context, EncodingName, Special};
use super::encoding::StringEncoding;
use super::float::{self, Float};
use super::long;
use super::refusal::{NotIndexable, Reason, Result};

// Bound (Marshal): nesting of objects in a Marshal stream = 128.
/// Maximum depth of objects that are nested in each other.
pub const DEPTH_MAX: u32 = 128;

/// Place of a value, as far as it decides what the value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Anywhere but at these places.
    Value,
    /// A key of a Hash. A String there is interned.
    Key,
    /// The name of a time zone, interned too.
    Zone,
    /// Behind `:encoding`.
    EncodingName,
    /// Temporary object that a class of the host makes to dump another.
    Passing,
}

/// Kind of links that may lead to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkKind {
    /// It is itself, and may be linked to from anywhere.
    Itself,
    /// It is itself, but as a key it would be copied.
    CopiedAsKey,
    /// It is a [`LinkableContent`].
    ByContent,
    /// There is nothing that could link to it.
    Unlinked,
}

/// Who is told what a walk meets, and takes no note of what it has no method for.
pub(super) trait Visitor<'a> {
    /// True if the visitor is told the parts of a [`LinkableContent`] (the symbol and the name of its encoding) too.
    const PARTS: bool;

    /// Returns the facts about the stream that the walk knows, and adds to.
    fn context(&mut self) -> &mut Context;

    /// An object takes its number. Each does, in order.
    fn numbered(&mut self, _number: u32, _at: usize, _kind: LinkKind) -> Result<()> {
        Ok(())
    }

    /// A symbol takes its number.
    fn symbol_numbered(&mut self, _number: u32, _at: usize) -> Result<()> {
        Ok(())
    }

    /// A content is defined, whose number was told before.
    fn defined(
        &mut self,
        _number: u32,
        _span: Range<usize>,
        _content: LinkableContent<'a>,
    ) -> Result<()> {
        Ok(())
    }

    /// A link to a symbol.
    fn symbol_link(&mut self, _number: u32, _span: Range<usize>) -> Result<()> {
        Ok(())
    }

    /// A link to an object.
    fn link(&mut self, _number: u32, _span: Range<usize>, _role: Role) -> Result<()> {
        Ok(())
    }

    /// The parts of a content begin, or have ended.
    fn parts(&mut self, _begin: bool) {}

    /// An instance variable of that name.
    fn variable(&mut self, _name: u32, _at: usize) -> Result<()> {
        Ok(())
    }

    /// Bytes by which equal keys are equal: what is neither a content nor a link.
    fn bytes(&mut self, _bytes: &'a [u8]) {}

    /// A Hash begins.
    fn hash_begins(&mut self, _at: usize) -> Result<()> {
        Ok(())
    }

    /// A key of a Hash begins.
    fn key_begins(&mut self) {}

    /// The key has ended.
    fn key_ended(&mut self) {}

    /// A Hash ends.
    fn hash_ended(&mut self, _at: usize) -> Result<()> {
        Ok(())
    }

    /// An object of a class whose own code dumps it, which is not known to always do alike.
    fn foreign_hook(&mut self, _at: usize) -> Result<()> {
        Ok(())
    }
}

/// A position in a stream and what was counted up to there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StreamPosition {
    /// Bytes from the start of the stream.
    pub(super) at: usize,
    /// Symbols defined before.
    pub(super) symbols: u32,
    /// Objects numbered before, the table itself among them.
    pub(super) objects: u32,
}

/// A walk in progress.
pub(super) struct MarshalWalk<'a, 'v, V> {
    stream_len: usize,
    reader: Reader<'a>,
    stream: &'a [u8],
    symbols: u32,
    objects: u32,
    depth: u32,
    /// True in a part of a content, whose parts the visitor does not want.
    in_content: bool,
    visitor: &'v mut V,
}

/// Owner of instance variables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// A String.
    Text,
    /// An object that its class dumps as bytes.
    OwnBytes,
    Regexp,
    Other,
}

impl<'a, 'v, V: Visitor<'a>> MarshalWalk<'a, 'v, V> {
    /// A walk over `stream` from `place` on.
    pub(super) fn new(stream: &'a [u8], place: StreamPosition, visitor: &'v mut V) -> Self {
        let rest = stream.get(place.at..).unwrap_or_default();
        MarshalWalk {
            stream_len: stream.len(),
            reader: Reader::new(rest),
            stream,
            symbols: place.symbols,
            objects: place.objects,
            depth: 0,
            in_content: false,
            visitor,
        }
    }

    /// Returns the place of the walk.
    #[inline(always)]
    pub(super) fn place(&self) -> StreamPosition {
        StreamPosition { at: self.at(), symbols: self.symbols, objects: self.objects }
    }

    /// Who is told.
    #[inline(always)]
    pub(super) fn visitor(&mut self) -> &mut V {
        self.visitor
    }

    /// Returns the number of bytes that are not walked over yet.
    pub(super) fn remaining(&self) -> usize {
        self.reader.remaining()
    }

    /// Walks over one value, and what is in it.
    pub(super) fn value(&mut self, role: Role) -> Result<()> {
        let at = self.at();
        match self.byte()? {
            b'0' | b'T' | b'F' => {
                self.tell_bytes(at);
                Ok(())
            }
            b'i' => self.fixnum(at),
            b':' => self.symbol(at, false).map(drop),
            b';' => self.symbol_link(at).map(drop),
            b'@' => self.link(at, role),
            b'"' => self.string(at, role, false),
            b'f' => self.float(at),
            b'l' => self.bignum(at),
            b'c' => self.class(at, b'c'),
            b'm' => self.class(at, b'm'),
            b'I' => self.with_variables(at, role),
            b'U' => self.nested(at, |walk| walk.own_object(at, role)),
            b'o' => self.nested(at, |walk| walk.object(at, role)),
            kind => self.nested(at, |walk| walk.dressed(at, kind, role, false)),
        }
    }

    /// Walks over one key of a Hash.
    #[inline]
    pub(super) fn key(&mut self) -> Result<()> {
        self.visitor.key_begins();
        self.value(Role::Key)?;
        self.visitor.key_ended();
        Ok(())
    }

    /// A count of things that take `each` bytes at least, which the bytes left must hold.
    #[inline]
    pub(super) fn count(&mut self, each: usize) -> Result<u32> {
        let at = self.at();
        let count = u32::try_from(self.long()?).map_err(|_| refused(Reason::Count, at))?;
        if (count as usize).saturating_mul(each) > self.reader.remaining() {
            return Err(refused(Reason::Count, at));
        }
        Ok(count)
    }

    /// Takes the number that the next object gets.
    #[inline]
    pub(super) fn number(&mut self, at: usize, kind: LinkKind) -> Result<u32> {
        let number = self.objects;
        // The stream has fewer than 2^32 bytes, and each object takes one at least.
        self.objects = number.wrapping_add(1);
        self.visitor.numbered(number, at, kind)?;
        Ok(number)
    }

    /// The next byte.
    #[inline(always)]
    pub(super) fn byte(&mut self) -> Result<u8> {
        match self.reader.u8() {
            Some(byte) => Ok(byte),
            None => Err(refused(Reason::Truncated, self.stream_len)),
        }
    }

    #[inline(always)]
    fn at(&self) -> usize {
        self.stream_len - self.reader.remaining()
    }

    /// The stream from `from` to where the walk is.
    #[inline]
    fn since(&self, from: usize) -> &'a [u8] {
        self.stream.get(from..self.at()).unwrap_or_default()
    }

    #[inline]
    fn define(&mut self, number: u32, from: usize, content: LinkableContent<'a>) -> Result<()> {
        if self.in_content {
            return Ok(());
        }
        self.visitor.defined(number, from..self.at(), content)
    }

    #[inline]
    fn tell_bytes(&mut self, from: usize) {
        let bytes = self.since(from);
        self.visitor.bytes(bytes);
    }

    #[inline]
    fn long(&mut self) -> Result<i32> {
        let at = self.at();
        let spelled = self.reader.rest();
        match long::read(&mut self.reader) {
            Some(number) => Ok(number),
            None => Err(refused(long::what_is_wrong(spelled), at)),
        }
    }

    /// Bytes behind their length.
    #[inline]
    fn sized(&mut self) -> Result<&'a [u8]> {
        let len = self.count(1)?;
        match self.reader.take(len as usize) {
            Some(bytes) => Ok(bytes),
            None => Err(refused(Reason::Truncated, self.stream_len)),
        }
    }

    /// Walks into something that others are in.
    fn nested(&mut self, at: usize, walk: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.depth == DEPTH_MAX {
            return Err(refused(Reason::Depth, at));
        }
        self.depth += 1;
        let result = walk(self);
        self.depth -= 1;
        result
    }

    fn fixnum(&mut self, at: usize) -> Result<()> {
        let number = self.long()?;
        if !(-(1 << 30)..1 << 30).contains(&number) {
            return Err(refused(Reason::NotCanonical, at));
        }
        self.tell_bytes(at);
        Ok(())
    }

    /// A symbol behind its `:`. With `encoded`, its encoding follows. Gives its number.
    fn symbol(&mut self, at: usize, encoded: bool) -> Result<u32> {
        let text = self.sized()?;
        let number = self.symbols;
        self.symbols = number.wrapping_add(1);
        if !self.in_content {
            self.visitor.symbol_numbered(number, at)?;
        }
        // The number is taken before that of the symbol that may be met in the encoding.
        let encoding =
            if encoded { self.encoding_of_symbol(at, text)? } else { StringEncoding::BINARY };
        self.visitor.context().symbol_defined(number, text, encoding);
        self.define(number, at, LinkableContent::Symbol(text, encoding))?;
        Ok(number)
    }

    /// The encoding of a symbol, which is written only where it makes a difference.
    fn encoding_of_symbol(&mut self, at: usize, text: &[u8]) -> Result<StringEncoding> {
        let encoding = self.only_encoding(at)?;
        let makes_a_difference = match encoding.name() {
            Some(name) => {
                !text.is_ascii() || name.starts_with("UTF-16") || name.starts_with("UTF-32")
            }
            None => {
                encoding == StringEncoding::UTF_8
                    && !text.is_ascii()
                    && std::str::from_utf8(text).is_ok()
            }
        };
        if makes_a_difference { Ok(encoding) } else { Err(refused(Reason::NotCanonical, at)) }
    }

    #[inline]
    fn symbol_link(&mut self, at: usize) -> Result<u32> {
        let number = self.long()?;
        match u32::try_from(number) {
            Ok(number) if number < self.symbols => {
                if !self.in_content {
                    self.visitor.symbol_link(number, at..self.at())?;
                }
                Ok(number)
            }
            _ => Err(refused(Reason::DanglingLink, at)),
        }
    }

    /// A symbol where nothing else may stand: the name of a class or a variable.
    #[inline]
    fn name(&mut self) -> Result<u32> {
        let at = self.at();
        match self.byte()? {
            b';' => self.symbol_link(at),
            b':' => self.symbol(at, false),
            b'I' if self.reader.rest().first() == Some(&b':') => {
                self.byte()?;
                self.symbol(at, true)
            }
            other => Err(refused(Reason::UnknownType(other), at)),
        }
    }

    fn link(&mut self, at: usize, role: Role) -> Result<()> {
        let number = self.long()?;
        match u32::try_from(number) {
            Ok(_) if self.in_content => Ok(()),
            Ok(number) if number < self.objects => self.visitor.link(number, at..self.at(), role),
            _ => Err(refused(Reason::DanglingLink, at)),
        }
    }

    /// A String behind its `"`. With `wrapped`, instance variables follow, and `at` is the `I`.
    #[inline]
    fn string(&mut self, at: usize, role: Role, wrapped: bool) -> Result<()> {
        match role {
            Role::Value => self.text(at, LinkKind::CopiedAsKey, wrapped),
            Role::Passing => self.text(at, LinkKind::Unlinked, wrapped),
            Role::Key | Role::Zone => self.interned(at, role, wrapped),
            Role::EncodingName if !wrapped => {
                let number = self.number(at, LinkKind::ByContent)?;
                let name = self.sized()?;
                let Some(encoding) = StringEncoding::named(name) else {
                    return Err(refused(Reason::NotCanonical, at));
                };
                let name = EncodingName { number, offset: at as u32, encoding };
                self.visitor.context().encoding_defined(name);
                self.define(number, at, LinkableContent::EncodingName(encoding))
            }
            Role::EncodingName => Err(refused(Reason::NotCanonical, at)),
        }
    }

    /// A String that is itself.
    #[inline]
    fn text(&mut self, at: usize, kind: LinkKind, wrapped: bool) -> Result<()> {
        self.number(at, kind)?;
        let text = self.sized()?;
        self.visitor.bytes(text);
        if wrapped { self.variables(Owner::Text).map(drop) } else { Ok(()) }
    }

    /// A String that the host interns when it loads it.
    #[inline]
    fn interned(&mut self, at: usize, role: Role, wrapped: bool) -> Result<()> {
        let number = self.number(at, LinkKind::ByContent)?;
        let text = self.sized()?;
        let encoding = if wrapped { self.only_encoding(at)? } else { StringEncoding::BINARY };
        if role == Role::Zone && encoding != StringEncoding::US_ASCII {
            return Err(refused(Reason::NotCanonical, at));
        }
        self.define(number, at, LinkableContent::Interned(text, encoding))
    }

    /// Instance variables that are an encoding and nothing else: with others, the host would make a
    /// copy without them.
    #[inline]
    fn only_encoding(&mut self, at: usize) -> Result<StringEncoding> {
        // A content has no contents with an encoding in it, so there is nothing around to return to.
        self.in_content = !V::PARTS;
        self.visitor.parts(true);
        let encoding = self.encoding_alone(at);
        self.visitor.parts(false);
        self.in_content = false;
        encoding
    }

    #[inline]
    fn encoding_alone(&mut self, at: usize) -> Result<StringEncoding> {
        if self.long()? != 1 {
            return Err(refused(Reason::NotCanonical, at));
        }
        let name_at = self.at();
        let name = self.name()?;
        match self.visitor.context().special(name) {
            Some(special @ (Special::ShortEncoding | Special::LongEncoding)) => {
                self.encoding(special)
            }
            _ => Err(refused(Reason::NotCanonical, name_at)),
        }
    }

    /// An encoding behind its symbol.
    #[inline]
    fn encoding(&mut self, special: Special) -> Result<StringEncoding> {
        let at = self.at();
        match (special, self.byte()?) {
            (Special::ShortEncoding, b'T') => Ok(StringEncoding::UTF_8),
            (Special::ShortEncoding, b'F') => Ok(StringEncoding::US_ASCII),
            (Special::LongEncoding, b'"') => {
                let number = self.objects;
                self.string(at, Role::EncodingName, false)?;
                self.encoding_named(number, at)
            }
            (Special::LongEncoding, b'@') => {
                let mut ahead = self.reader;
                self.link(at, Role::EncodingName)?;
                let number = long::read(&mut ahead).and_then(|number| u32::try_from(number).ok());
                self.encoding_named(number.unwrap_or_default(), at)
            }
            _ => Err(refused(Reason::NotCanonical, at)),
        }
    }

    fn encoding_named(&mut self, number: u32, at: usize) -> Result<StringEncoding> {
        let encoding = self.visitor.context().encoding(number);
        encoding.ok_or_else(|| refused(Reason::NotCanonical, at))
    }

    fn float(&mut self, at: usize) -> Result<()> {
        let text_at = self.at();
        let text = self.sized()?;
        match float::classify(text) {
            Some(Float::Immediate) => {
                let number = self.number(at, LinkKind::ByContent)?;
                self.define(number, at, LinkableContent::Float(text))
            }
            Some(Float::Heap) => {
                self.number(at, LinkKind::Itself)?;
                self.tell_bytes(at);
                Ok(())
            }
            None => Err(refused(Reason::NotCanonical, text_at)),
        }
    }

    fn bignum(&mut self, at: usize) -> Result<()> {
        let sign = self.byte()?;
        let count = self.count(2)? as usize;
        let Some(digits) = self.reader.take(count * 2) else {
            return Err(refused(Reason::Truncated, self.stream_len));
        };
        let kind = match (sign, digits) {
            (b'+' | b'-', [.., low, high]) if (*low, *high) != (0, 0) => {
                kind_of_whole_number(sign == b'-', digits)
            }
            _ => None,
        };
        let Some(kind) = kind else { return Err(refused(Reason::NotCanonical, at)) };
        self.number(at, kind)?;
        self.tell_bytes(at);
        Ok(())
    }

    fn class(&mut self, at: usize, kind: u8) -> Result<()> {
        let number = self.number(at, LinkKind::ByContent)?;
        let name = self.sized()?;
        self.define(number, at, LinkableContent::Class(kind, name))
    }

    /// Something with instance variables, behind its `I`.
    #[inline]
    fn with_variables(&mut self, at: usize, role: Role) -> Result<()> {
        match self.byte()? {
            b'"' => self.nested(at, |walk| walk.string(at, role, true)),
            b':' => self.symbol(at, true).map(drop),
            kind => self.nested(at, |walk| walk.dressed(at, kind, role, true)),
        }
    }

    /// Modules it is extended with, its class if that is not its type's, then the object itself.
    fn dressed(&mut self, at: usize, mut kind: u8, role: Role, wrapped: bool) -> Result<()> {
        let (mut extended, mut of_subclass) = (false, false);
        if kind == b'e' {
            extended = true;
            self.name()?;
            kind = self.byte()?;
            // Of more than one, what they include decides what is dumped.
            if kind == b'e' {
                return Err(refused(Reason::NotCanonical, at));
            }
        }
        if kind == b'C' {
            of_subclass = true;
            let class = self.name()?;
            match self.visitor.context().special(class) {
                Some(Special::Hash) => return Err(refused(Reason::SpecialHash, at)),
                Some(Special::BuiltIn) => return Err(refused(Reason::NotCanonical, at)),
                _ => {}
            }
            kind = self.byte()?;
        }
        let is_dressed = extended || of_subclass;
        let hidden = role == Role::Passing;
        let linked = if hidden { LinkKind::Unlinked } else { LinkKind::Itself };
        let owner = match kind {
            b'"' if is_dressed => {
                if role != Role::Value && (extended || role != Role::Key) {
                    return Err(refused(Reason::NotCanonical, at));
                }
                let kind = if extended { LinkKind::CopiedAsKey } else { linked };
                return self.text(at, kind, wrapped);
            }
            b'/' => return self.regexp(at, linked, wrapped),
            b'[' => self.array(at, linked)?,
            b'{' | b'}' => self.hash(at, linked, kind == b'}')?,
            b'S' if !of_subclass => self.structure(at, linked)?,
            b'o' if extended && !of_subclass && !wrapped => return self.object(at, role),
            b'u' if !is_dressed => return self.own_bytes(at, wrapped),
            other => return Err(refused(Reason::UnknownType(other), self.at() - 1)),
        };
        if wrapped { self.variables(owner).map(drop) } else { Ok(()) }
    }

    fn array(&mut self, at: usize, kind: LinkKind) -> Result<Owner> {
        self.number(at, kind)?;
        let from = self.at();
        let count = self.count(1)?;
        self.visitor.bytes(b"[");
        self.tell_bytes(from);
        for _ in 0..count {
            self.value(Role::Value)?;
        }
        Ok(Owner::Other)
    }

    fn hash(&mut self, at: usize, kind: LinkKind, with_default: bool) -> Result<Owner> {
        self.number(at, kind)?;
        let count = self.count(2)?;
        self.visitor.hash_begins(at)?;
        for _ in 0..count {
            self.key()?;
            self.value(Role::Value)?;
        }
        self.visitor.hash_ended(at)?;
        if with_default {
            self.default_value()?;
        }
        Ok(Owner::Other)
    }

    /// The default value of a Hash, which is not nil.
    pub(super) fn default_value(&mut self) -> Result<()> {
        if self.reader.rest().first() == Some(&b'0') {
            return Err(refused(Reason::NotCanonical, self.at()));
        }
        self.value(Role::Value)
    }

    fn structure(&mut self, at: usize, kind: LinkKind) -> Result<Owner> {
        self.number(at, kind)?;
        self.visitor.bytes(b"S");
        self.name()?;
        let count = self.count(2)?;
        for _ in 0..count {
            self.name()?;
            self.value(Role::Value)?;
        }
        Ok(Owner::Other)
    }

    fn object(&mut self, at: usize, role: Role) -> Result<()> {
        let kind = if role == Role::Passing { LinkKind::Unlinked } else { LinkKind::Itself };
        self.number(at, kind)?;
        self.visitor.bytes(b"o");
        let class = self.name()?;
        match self.visitor.context().special(class) {
            Some(Special::Range) => return self.range(at),
            // Such a class dumps itself in another way.
            Some(Special::KnownClass) => return Err(refused(Reason::NotCanonical, at)),
            _ => {}
        }
        let count = self.count(2)?;
        let mut seen = Names::default();
        for _ in 0..count {
            let name_at = self.at();
            let name = self.name()?;
            let special = self.visitor.context().special(name);
            if matches!(
                special,
                Some(Special::ShortEncoding | Special::LongEncoding | Special::Keywords)
            ) {
                return Err(refused(Reason::NotCanonical, name_at));
            }
            self.visitor.variable(name, name_at)?;
            seen.add(name, name_at)?;
            self.value(Role::Value)?;
        }
        seen.finish(at)
    }

    /// A range behind its class: an object of three variables.
    fn range(&mut self, at: usize) -> Result<()> {
        if self.count(2)? != 3 {
            return Err(refused(Reason::NotCanonical, at));
        }
        for expected in [Special::Excl, Special::Begin, Special::End] {
            let name_at = self.at();
            let name = self.name()?;
            if self.visitor.context().special(name) != Some(expected) {
                return Err(refused(Reason::NotCanonical, name_at));
            }
            let is_flag = matches!(self.reader.rest().first(), Some(b'T' | b'F'));
            if expected == Special::Excl && !is_flag {
                return Err(refused(Reason::NotCanonical, self.at()));
            }
            self.value(Role::Value)?;
        }
        Ok(())
    }

    /// An object that its class dumps as another one.
    fn own_object(&mut self, at: usize, role: Role) -> Result<()> {
        let kind = if role == Role::Passing { LinkKind::Unlinked } else { LinkKind::Itself };
        self.number(at, kind)?;
        self.visitor.bytes(b"U");
        if self.known_class(at)? { self.value(Role::Passing) } else { self.value(Role::Value) }
    }

    /// An object that its class dumps as bytes.
    fn own_bytes(&mut self, at: usize, wrapped: bool) -> Result<()> {
        self.visitor.bytes(b"u");
        self.known_class(at)?;
        let bytes = self.sized()?;
        self.visitor.bytes(bytes);
        if wrapped {
            self.variables(Owner::OwnBytes)?;
        }
        self.number(at, LinkKind::Itself).map(drop)
    }

    /// The class of an object that its own code dumps, and whether it is a known one.
    fn known_class(&mut self, at: usize) -> Result<bool> {
        let name = self.name()?;
        let is_known = self.visitor.context().special(name) == Some(Special::KnownClass);
        if !is_known {
            self.visitor.foreign_hook(at)?;
        }
        Ok(is_known)
    }

    fn regexp(&mut self, at: usize, kind: LinkKind, wrapped: bool) -> Result<()> {
        self.number(at, kind)?;
        let text = self.sized()?;
        let options = self.byte()?;
        self.tell_bytes(at);
        let encoding =
            if wrapped { self.variables(Owner::Regexp)? } else { StringEncoding::BINARY };
        // Of a Regexp, the options and the encoding say the same, and loading takes both from the
        // text. What is not surely the same again is left to the host.
        let is_plain = text.is_ascii() && options & !0x27 == 0;
        let is_fixed = options & !0x07 == 0x10;
        let is_usual = match encoding {
            StringEncoding::BINARY => false,
            StringEncoding::US_ASCII => is_plain,
            _ => is_fixed,
        };
        if is_usual { Ok(()) } else { Err(refused(Reason::NotCanonical, at)) }
    }

    /// Instance variables behind an object. Gives the encoding.
    #[inline]
    fn variables(&mut self, owner: Owner) -> Result<StringEncoding> {
        let at = self.at();
        let count = self.count(2)?;
        if count == 0 {
            return Err(refused(Reason::NotCanonical, at));
        }
        let mut encoding = StringEncoding::BINARY;
        let mut seen = Names::default();
        for nth in 0..count {
            let name_at = self.at();
            let name = self.name()?;
            let special = self.visitor.context().special(name);
            match special {
                Some(special @ (Special::ShortEncoding | Special::LongEncoding))
                    if nth == 0 && owner != Owner::Other =>
                {
                    encoding = self.encoding(special)?;
                }
                Some(Special::ShortEncoding | Special::LongEncoding) => {
                    return Err(refused(Reason::NotCanonical, name_at));
                }
                Some(Special::Keywords) => return Err(refused(Reason::SpecialHash, name_at)),
                Some(Special::Zone) if owner == Owner::OwnBytes => {
                    seen.add(name, name_at)?;
                    self.zone()?;
                }
                _ => {
                    if owner != Owner::OwnBytes {
                        self.visitor.variable(name, name_at)?;
                    }
                    seen.add(name, name_at)?;
                    self.value(Role::Value)?;
                }
            }
        }
        seen.finish(at)?;
        Ok(encoding)
    }

    /// The name of a time zone, if it has one.
    fn zone(&mut self) -> Result<()> {
        let at = self.at();
        match self.reader.rest().first() {
            Some(b'0' | b'I' | b'@') => self.value(Role::Zone),
            _ => Err(refused(Reason::NotCanonical, at)),
        }
    }
}

/// Names of instance variables, to see that each comes once.
#[derive(Default)]
struct Names {
    few: [u32; 16],
    count: usize,
    many: Vec<u32>,
}

impl Names {
    #[inline]
    fn add(&mut self, name: u32, at: usize) -> Result<()> {
        let known = self.few.get(..self.count).unwrap_or_default();
        if known.contains(&name) {
            return Err(refused(Reason::NotCanonical, at));
        }
        match self.few.get_mut(self.count) {
            Some(slot) => {
                *slot = name;
                self.count += 1;
            }
            None => self.many.push(name),
        }
        Ok(())
    }

    /// Looks through those that were too many to be looked at one by one.
    fn finish(mut self, at: usize) -> Result<()> {
        self.many.sort_unstable();
        if self.many.is_sorted_by(|a, b| a < b) {
            return Ok(());
        }
        Err(refused(Reason::NotCanonical, at))
    }
}

/// Returns the kind of links to a whole number in digits of two bytes: those of 63 bits are no objects to
/// the host. Returns None if it would be written as a Fixnum.
fn kind_of_whole_number(negative: bool, digits: &[u8]) -> Option<LinkKind> {
    if digits.len() > 8 {
        return Some(LinkKind::Itself);
    }
    let size = digits.iter().rev().fold(0_u64, |size, &digit| (size << 8) | u64::from(digit));
    let above = |bits: u32| if negative { size > 1 << bits } else { size >= 1 << bits };
    match (above(30), above(62)) {
        (false, _) => None,
        (true, false) => Some(LinkKind::Unlinked),
        (true, true) => Some(LinkKind::Itself),
    }
}

#[inline]
fn refused(reason: Reason, at: usize) -> NotIndexable {
    NotIndexable::new(reason, at)
}
