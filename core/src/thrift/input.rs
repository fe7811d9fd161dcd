//! Operations that reading a message needs of a protocol, and what the protocols share: the bytes that are
//! left, the bounds, and the words for what is wrong.

use std::fmt;

use super::compact_window::LEN_USUAL;
use super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use super::limits::{DEPTH_MAX, Depth, Limits, too_deep};
use super::wire_type::WireType;
use crate::Error;
use crate::wire::Reader;

/// A message on its way to being read, and what it may ask for.
#[derive(Debug)]
pub(super) struct ThriftMessage<'a> {
    /// All of its bytes, from which offsets count.
    pub(super) bytes: &'a [u8],
    /// Its bounds.
    pub(super) limits: Limits,
    /// True if these are all bytes there will be, so that nothing may claim more.
    is_whole: bool,
    /// True if the bounds are above what a field has that is passed by its first bytes.
    has_usual_bounds: bool,
    /// The depth of a value that is skipped.
    pub(super) skipped_depth: Depth,
}

impl<'a> ThriftMessage<'a> {
    /// All bytes of a message, or of what there is of it.
    pub(super) fn whole(bytes: &'a [u8], limits: Limits) -> Self {
        let has_usual_bounds = limits.string_max.min(limits.container_max) >= LEN_USUAL;
        let skipped_depth = Depth::of_skipped(limits);
        ThriftMessage { bytes, limits, is_whole: true, has_usual_bounds, skipped_depth }
    }

    /// Bytes behind which more may come before anything is made of them: a length or a count may be
    /// beyond them.
    pub(super) fn part(bytes: &'a [u8], limits: Limits) -> Self {
        ThriftMessage { is_whole: false, ..Self::whole(bytes, limits) }
    }
}

/// The bytes not read yet. It is small and copied, so that a loop over fields has it in registers; what
/// is not inlined takes it by value, as an address would put it in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageInput<'a> {
    /// The bytes not read yet.
    pub(super) rest: Reader<'a>,
    message: &'a ThriftMessage<'a>,
}

/// Header before the value of a field.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldHeader {
    /// The type of the value; `STOP` where there is no field any more.
    pub(super) kind: WireType,
    /// The field's id. Compact counts on from the last one, so that it may be beyond 16 bits.
    pub(super) id: i32,
    /// The value, if the protocol has a bool in the header.
    pub(super) flag: bool,
}

/// Header before the elements of a list or a set.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListHeader {
    /// The type of the elements.
    pub(super) element: WireType,
    /// Their number, for which there are bytes enough to go on.
    pub(super) count: usize,
}

/// Header before the entries of a map.
#[derive(Debug, Clone, Copy)]
pub(super) struct MapHeader {
    /// The type of the keys; of no meaning without entries.
    pub(super) key: WireType,
    /// The type of the values; of no meaning without entries.
    pub(super) value: WireType,
    /// The number of entries, for which there are bytes enough to go on.
    pub(super) count: usize,
}

/// Part of a struct that is next, as far as the first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextField {
    /// The end of the struct, in one byte.
    Stop,
    /// A field that is a struct, whose fields come behind one byte.
    Struct,
    /// A list or a set of so many structs, one or more, whose fields come behind two bytes.
    Structs(u8),
    /// A field with an id up to which others were to be passed.
    Until,
    /// Whatever it is.
    Other,
}

/// Width of a value in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// Always as many.
    Fixed(usize),
    /// Up to the first byte below 0x80, 10 at most.
    Varint,
    /// As its content says, at least so many.
    Variable(usize),
}

/// A protocol, reading. An implementation is a cursor that is copied as freely as its [`MessageInput`].
pub(super) trait ProtocolReader<'a>: Copy {
    /// True if the value of a bool field stands in its header and takes no bytes of its own.
    const BOOL_IN_HEADER: bool;

    /// The number of a type that it does not have, as the message has it.
    fn type_number(kind: WireType) -> u8 {
        kind.number()
    }

    /// A cursor at the first of the bytes that are left.
    fn new(input: MessageInput<'a>) -> Self;

    /// The bytes that are left.
    fn input(&mut self) -> &mut MessageInput<'a>;

    /// The header of the next field. `last` is the id of the one before it in this struct, 0 at first.
    fn field(&mut self, last: &mut i32) -> ProtocolResult<FieldHeader>;

    /// The header of a list or a set.
    fn list(&mut self) -> ProtocolResult<ListHeader>;

    /// The header of a map.
    fn map(&mut self) -> ProtocolResult<MapHeader>;

    /// A bool that is an element, or a field where its header does not have it.
    fn bool(&mut self) -> ProtocolResult<bool>;

    /// A number of 8 bits.
    #[inline(always)]
    fn byte(&mut self) -> ProtocolResult<i8> {
        self.input().array("a byte").map(i8::from_be_bytes)
    }

    /// A number of 16 bits.
    fn i16(&mut self) -> ProtocolResult<i16>;

    /// A number of 32 bits.
    fn i32(&mut self) -> ProtocolResult<i32>;

    /// A number of 64 bits.
    fn i64(&mut self) -> ProtocolResult<i64>;

    /// A floating-point number.
    fn double(&mut self) -> ProtocolResult<f64>;

    /// The length of a string, which is there.
    fn string_len(&mut self) -> ProtocolResult<usize>;

    /// The bytes of a string.
    #[inline(always)]
    fn string(&mut self) -> ProtocolResult<&'a [u8]> {
        let len = self.string_len()?;
        self.input().take("a string", len)
    }

    /// Bytes of one value of that type, as an element.
    fn width(kind: WireType) -> Option<Width>;

    /// Appends `count` numbers of 16, 32 or 64 bits to `numbers`.
    fn integers(
        &mut self,
        kind: WireType,
        count: usize,
        numbers: &mut Vec<i64>,
    ) -> ProtocolResult<()>;

    /// Passes the varint of a number of that type, where the protocol has any.
    fn skip_varint(&mut self, kind: WireType) -> ProtocolResult<()>;

    /// Passes fields that hold no others, where they are told by their first bytes. Answers what is next.
    #[inline(always)]
    fn skip_ahead(&mut self) -> NextField {
        NextField::Other
    }

    /// The header of the next field, or of one behind it: fields that hold no others and have ids below `until` may be passed
    /// before. `last` is as for [`Self::field`].
    #[inline(always)]
    fn field_from(&mut self, last: &mut i32, _until: i32) -> ProtocolResult<FieldHeader> {
        self.field(last)
    }
}

impl Width {
    /// Bytes that a value takes at least.
    pub(super) fn smallest(self) -> usize {
        match self {
            Width::Fixed(len) | Width::Variable(len) => len,
            Width::Varint => 1,
        }
    }
}

impl<'a> MessageInput<'a> {
    /// At the first byte of a message.
    pub(super) fn new(message: &'a ThriftMessage<'a>) -> Self {
        MessageInput { rest: Reader::new(message.bytes), message }
    }

    /// At the first of the bytes that are left of a message.
    #[inline(always)]
    pub(super) fn at(rest: &'a [u8], message: &'a ThriftMessage<'a>) -> Self {
        MessageInput { rest: Reader::new(rest), message }
    }

    /// The bytes that are left, and the message.
    #[inline(always)]
    pub(super) fn parts(&self) -> (&'a [u8], &'a ThriftMessage<'a>) {
        (self.rest.rest(), self.message)
    }

    /// The bounds of the message.
    pub(super) fn limits(&self) -> Limits {
        self.message.limits
    }

    /// Returns true if the bounds of the message are above what a field has that is passed by its first bytes.
    #[inline(always)]
    pub(super) fn has_usual_bounds(&self) -> bool {
        self.message.has_usual_bounds
    }

    /// Returns the number of bytes of the message that were read.
    #[inline(always)]
    pub(super) fn position(&self) -> usize {
        self.message.bytes.len() - self.rest.remaining()
    }

    /// The next `len` bytes, which are all of `what`.
    #[inline(always)]
    pub(super) fn take(&mut self, what: &str, len: usize) -> ProtocolResult<&'a [u8]> {
        match self.rest.take(len) {
            Some(bytes) => Ok(bytes),
            None => Err(self.truncated(what, len as u64)),
        }
    }

    /// The next `N` bytes, which are all of `what`.
    #[inline(always)]
    pub(super) fn array<const N: usize>(&mut self, what: &str) -> ProtocolResult<[u8; N]> {
        match self.rest.array() {
            Some(bytes) => Ok(bytes),
            None => Err(self.truncated(what, N as u64)),
        }
    }

    /// Checks the length of a string: as many bytes must be left.
    #[inline(always)]
    pub(super) fn checked_string_len(self, len: u64) -> ProtocolResult<usize> {
        if len > u64::from(self.message.limits.string_max) || len > self.rest.remaining() as u64 {
            return self.refuse_len("a string", len, self.message.limits.string_max, 1);
        }
        Ok(len as usize)
    }

    /// Checks the count of a container, each element of which takes `smallest` bytes or more.
    #[inline(always)]
    pub(super) fn checked_count(
        self,
        what: &str,
        count: u64,
        smallest: usize,
    ) -> ProtocolResult<usize> {
        let needed = count.saturating_mul(smallest as u64);
        let count_max = self.message.limits.container_max;
        if count > u64::from(count_max) || needed > self.rest.remaining() as u64 {
            return self.refuse_len(what, count, count_max, smallest);
        }
        Ok(count as usize)
    }

    /// Checks the types of elements of which there are some, and gives the bytes of each at least.
    #[inline(always)]
    pub(super) fn element_width<P: ProtocolReader<'a>>(
        self,
        kind: WireType,
    ) -> ProtocolResult<usize> {
        match P::width(kind) {
            Some(width) => Ok(width.smallest()),
            None => Err(self.unknown_type::<P>("the type of an element", kind)),
        }
    }

    /// Returns the rest of `depth` inside of a struct.
    #[inline(always)]
    pub(super) fn in_struct(self, depth: Depth) -> ProtocolResult<Depth> {
        depth.in_struct().ok_or_else(|| self.too_deep(self.message.limits.depth_max))
    }

    /// Returns the rest of `depth` inside of a container.
    #[inline(always)]
    pub(super) fn in_container(self, depth: Depth) -> ProtocolResult<Depth> {
        depth.in_container().ok_or_else(|| self.too_deep(self.message.limits.depth_max))
    }

    /// Returns the rest of `depth` inside of a struct that is skipped.
    #[inline]
    pub(super) fn in_skipped_struct(self, depth: Depth) -> ProtocolResult<Depth> {
        let limits = self.message.limits;
        depth.in_struct().ok_or_else(|| self.too_deep(limits.skipped_depth_max))
    }

    /// Returns the rest of `depth` inside of a container that is skipped.
    #[inline]
    pub(super) fn in_skipped_container(self, depth: Depth) -> ProtocolResult<Depth> {
        let limits = self.message.limits;
        depth.in_container().ok_or_else(|| self.too_deep(limits.skipped_depth_max))
    }

    /// A length or a count beyond its bound or the bytes left, which is refused unless more may come.
    #[cold]
    #[inline(never)]
    fn refuse_len(
        self,
        what: &str,
        len: u64,
        len_max: u32,
        smallest: usize,
    ) -> ProtocolResult<usize> {
        // Both protocols have 32 bits with a sign, which Compact's varint does not show.
        if len > i32::MAX as u64 && len <= u64::from(u32::MAX) {
            let expected = format_args!("the size of {what}, 0 or above");
            let error = Error::format(expected, len as u32 as i32);
            return Err(self.failed(ProtocolErrorKind::NegativeSize, error));
        }
        if len > u64::from(len_max) {
            let error = Error::limit(format_args!("the size of {what}"), u64::from(len_max), len);
            return Err(self.failed(ProtocolErrorKind::SizeLimit, error));
        }
        if !self.message.is_whole {
            return Ok(len as usize);
        }
        Err(self.truncated(what, len.saturating_mul(smallest as u64)))
    }

    #[cold]
    #[inline(never)]
    fn too_deep(self, depth_max: u32) -> ProtocolError {
        self.failed(ProtocolErrorKind::DepthLimit, too_deep(depth_max.clamp(1, DEPTH_MAX)))
    }

    /// The message ends inside of `what`, which takes `needed` bytes at least.
    #[cold]
    #[inline(never)]
    pub(super) fn truncated(self, what: &str, needed: u64) -> ProtocolError {
        let available = self.rest.remaining() as u64;
        self.failed(ProtocolErrorKind::Truncated, Error::truncated(what, needed, available))
    }

    /// The bytes before here say `found`, and are no `expected`.
    #[cold]
    #[inline(never)]
    pub(super) fn invalid(self, expected: &str, found: impl fmt::Display) -> ProtocolError {
        self.failed(ProtocolErrorKind::InvalidData, Error::format(expected, found))
    }

    /// An error where a type stands that the protocol does not have.
    #[cold]
    pub(super) fn unknown_type<P: ProtocolReader<'a>>(
        self,
        expected: &str,
        kind: WireType,
    ) -> ProtocolError {
        match kind {
            WireType::STOP => self.invalid(expected, kind),
            _ => self.invalid(expected, format_args!("type {}", P::type_number(kind))),
        }
    }

    /// An error of that kind, here.
    #[cold]
    pub(super) fn failed(self, kind: ProtocolErrorKind, error: Error) -> ProtocolError {
        ProtocolError::new(kind, error.at(self.position() as u64))
    }
}
