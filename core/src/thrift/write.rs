//! Writing messages: what a face calls while it walks its objects. Whoever calls writes what belongs
//! together: the value after the field, as many elements as were said, and an end for each beginning.
//! Numbers have the width of their types here, so that the caller checks ranges, with its own errors.

use super::compact::{TRUE, number_of};
use super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use super::limits::{Nesting, too_deep};
use super::message::{
    BINARY_VERSION, COMPACT_ID, COMPACT_KIND_SHIFT, COMPACT_VERSION, MessageKind, Strictness,
};
use super::wire_type::WireType;
use crate::Error;
use crate::wire::put_varint;

/// The longest string and the largest container: a length has 31 bits.
const SIZE_MAX: usize = i32::MAX as usize;

/// Bytes that a false bool is in Compact.
const FALSE: u8 = 2;

/// Bytes that a writer keeps for the next message: 1 MiB.
const RETAINED_MAX: usize = 1 << 20;

/// A protocol, writing. [`BinaryWriter`] and [`CompactWriter`] are called through this, so that a
/// face has one walk, which the compiler makes two of.
pub trait Write {
    /// The envelope of a call or an answer, before its struct.
    ///
    /// # Errors
    ///
    /// `SizeLimit` for a name above 2 GiB.
    fn message(&mut self, name: &[u8], kind: MessageKind, sequence_id: i32) -> ProtocolResult<()>;

    /// Sets how deep structs may be nested, the outermost counted, as
    /// [`Limits::depth_max`](super::Limits::depth_max) does for reading: 1 to [`DEPTH_MAX`](super::DEPTH_MAX),
    /// at first [`DEPTH_USUAL`](super::DEPTH_USUAL). It is called before the first struct.
    fn set_depth_max(&mut self, depth_max: u32);

    /// Begins a struct, union or exception.
    ///
    /// # Errors
    ///
    /// `DepthLimit` where it is nested deeper than may be, as in objects that hold themselves.
    fn struct_begin(&mut self) -> ProtocolResult<()>;

    /// Ends the struct that was begun last.
    fn struct_end(&mut self);

    /// A field, whose value is written next.
    fn field(&mut self, kind: WireType, id: i16);

    /// A bool.
    fn bool(&mut self, value: bool);

    /// A number of 8 bits.
    fn byte(&mut self, value: i8);

    /// A number of 16 bits.
    fn i16(&mut self, value: i16);

    /// A number of 32 bits, or of an enum.
    fn i32(&mut self, value: i32);

    /// A number of 64 bits.
    fn i64(&mut self, value: i64);

    /// A floating-point number.
    fn double(&mut self, value: f64);

    /// The bytes of a string, or bytes.
    ///
    /// # Errors
    ///
    /// `SizeLimit` above 2 GiB.
    fn string(&mut self, value: &[u8]) -> ProtocolResult<()>;

    /// The bytes of a uuid.
    fn uuid(&mut self, value: &[u8; 16]);

    /// Begins a list, whose elements are written next, and then [`container_end`](Write::container_end).
    ///
    /// # Errors
    ///
    /// `SizeLimit` for 2^31 elements and more, `DepthLimit` where structs and containers are nested more than
    /// four times as deep as structs may be.
    fn list(&mut self, element: WireType, count: usize) -> ProtocolResult<()>;

    /// Begins a set, whose elements are written next, and then [`container_end`](Write::container_end).
    ///
    /// # Errors
    ///
    /// As for a list.
    fn set(&mut self, element: WireType, count: usize) -> ProtocolResult<()> {
        self.list(element, count)
    }

    /// Begins a map, whose keys, each with its value, are written next, and then
    /// [`container_end`](Write::container_end).
    ///
    /// # Errors
    ///
    /// As for a list.
    fn map(&mut self, key: WireType, value: WireType, count: usize) -> ProtocolResult<()>;

    /// Ends the list, set or map that was begun last.
    fn container_end(&mut self);

    /// Returns the bytes written since the beginning, or since [`clear`](Write::clear).
    fn bytes(&self) -> &[u8];

    /// Forgets what was written, and keeps memory for the next message, at most 1 MiB.
    fn clear(&mut self);
}

/// Writes Binary.
#[derive(Debug)]
pub struct BinaryWriter {
    bytes: Vec<u8>,
    strictness: Strictness,
    nesting: Nesting,
}

/// Writes Compact.
#[derive(Debug, Default)]
pub struct CompactWriter {
    bytes: Vec<u8>,
    /// The id of the last field of the struct that is open.
    last: i16,
    /// Ids of the last fields of the structs around it.
    outer: Vec<i16>,
    /// A bool field whose header waits for the value that it is to hold.
    waiting: Option<i16>,
    nesting: Nesting,
}

impl Default for BinaryWriter {
    /// Strict, as all but very old programs want it.
    fn default() -> Self {
        Self::new(Strictness::Strict)
    }
}

impl BinaryWriter {
    /// A writer of envelopes with a version, or without.
    pub fn new(strictness: Strictness) -> Self {
        BinaryWriter { bytes: Vec::new(), strictness, nesting: Nesting::default() }
    }

    #[inline(always)]
    fn size(&mut self, what: &str, size: usize) -> ProtocolResult<()> {
        let size = checked(what, size)?;
        self.bytes.extend_from_slice(&size.to_be_bytes());
        Ok(())
    }
}

impl Write for BinaryWriter {
    fn message(&mut self, name: &[u8], kind: MessageKind, sequence_id: i32) -> ProtocolResult<()> {
        match self.strictness {
            Strictness::Strict => {
                self.i32((BINARY_VERSION | u32::from(kind.0)) as i32);
                self.string(name)?;
            }
            Strictness::Lenient => {
                self.string(name)?;
                self.bytes.push(kind.0);
            }
        }
        self.i32(sequence_id);
        Ok(())
    }

    fn set_depth_max(&mut self, depth_max: u32) {
        self.nesting = Nesting::up_to(depth_max);
    }

    #[inline]
    fn struct_begin(&mut self) -> ProtocolResult<()> {
        if self.nesting.begin_struct() { Ok(()) } else { Err(refuse_depth(self.nesting)) }
    }

    #[inline]
    fn struct_end(&mut self) {
        self.nesting.end_struct();
        self.bytes.push(WireType::STOP.0);
    }

    #[inline]
    fn field(&mut self, kind: WireType, id: i16) {
        let [high, low] = id.to_be_bytes();
        self.bytes.extend_from_slice(&[kind.0, high, low]);
    }

    #[inline]
    fn bool(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }

    #[inline]
    fn byte(&mut self, value: i8) {
        self.bytes.push(value as u8);
    }

    #[inline]
    fn i16(&mut self, value: i16) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn i32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn i64(&mut self, value: i64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn double(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn string(&mut self, value: &[u8]) -> ProtocolResult<()> {
        self.size("a string", value.len())?;
        self.bytes.extend_from_slice(value);
        Ok(())
    }

    #[inline]
    fn uuid(&mut self, value: &[u8; 16]) {
        self.bytes.extend_from_slice(value);
    }

    #[inline(always)]
    fn list(&mut self, element: WireType, count: usize) -> ProtocolResult<()> {
        begin_container(&mut self.nesting)?;
        let [a, b, c, d] = checked("a list or a set", count)?.to_be_bytes();
        self.bytes.extend_from_slice(&[element.0, a, b, c, d]);
        Ok(())
    }

    #[inline(always)]
    fn map(&mut self, key: WireType, value: WireType, count: usize) -> ProtocolResult<()> {
        begin_container(&mut self.nesting)?;
        let [a, b, c, d] = checked("a map", count)?.to_be_bytes();
        self.bytes.extend_from_slice(&[key.0, value.0, a, b, c, d]);
        Ok(())
    }

    #[inline]
    fn container_end(&mut self) {
        self.nesting.end_container();
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(RETAINED_MAX);
        self.nesting = Nesting::default();
    }
}

impl CompactWriter {
    /// A writer without bytes.
    pub fn new() -> Self {
        Self::default()
    }

    #[inline(always)]
    fn size(&mut self, what: &str, size: usize) -> ProtocolResult<()> {
        let size = checked(what, size)?;
        put_varint(&mut self.bytes, u64::from(size));
        Ok(())
    }

    /// The header of a field, whose type Compact numbers so.
    #[inline(always)]
    fn header(&mut self, number: u8, id: i16) {
        let distance = i32::from(id) - i32::from(self.last);
        self.last = id;
        if let 1..=15 = distance {
            self.bytes.push((distance as u8) << 4 | number);
        } else {
            self.bytes.push(number);
            self.i16(id);
        }
    }
}

impl Write for CompactWriter {
    fn message(&mut self, name: &[u8], kind: MessageKind, sequence_id: i32) -> ProtocolResult<()> {
        let second = kind.0 << COMPACT_KIND_SHIFT | COMPACT_VERSION;
        self.bytes.extend_from_slice(&[COMPACT_ID, second]);
        put_varint(&mut self.bytes, u64::from(sequence_id as u32));
        self.string(name)
    }

    fn set_depth_max(&mut self, depth_max: u32) {
        self.nesting = Nesting::up_to(depth_max);
    }

    #[inline]
    fn struct_begin(&mut self) -> ProtocolResult<()> {
        if !self.nesting.begin_struct() {
            return Err(refuse_depth(self.nesting));
        }
        self.outer.push(self.last);
        self.last = 0;
        Ok(())
    }

    #[inline]
    fn struct_end(&mut self) {
        self.nesting.end_struct();
        self.last = self.outer.pop().unwrap_or_default();
        self.bytes.push(0);
    }

    #[inline]
    fn field(&mut self, kind: WireType, id: i16) {
        if kind == WireType::BOOL {
            self.waiting = Some(id);
        } else {
            self.header(number_of(kind), id);
        }
    }

    #[inline]
    fn bool(&mut self, value: bool) {
        let number = if value { TRUE } else { FALSE };
        match self.waiting.take() {
            Some(id) => self.header(number, id),
            None => self.bytes.push(number),
        }
    }

    #[inline]
    fn byte(&mut self, value: i8) {
        self.bytes.push(value as u8);
    }

    #[inline]
    fn i16(&mut self, value: i16) {
        self.i64(i64::from(value));
    }

    #[inline]
    fn i32(&mut self, value: i32) {
        self.i64(i64::from(value));
    }

    #[inline]
    fn i64(&mut self, value: i64) {
        // The sign goes to the lowest bit, so that small numbers are short on both sides of 0.
        put_varint(&mut self.bytes, (value << 1 ^ value >> 63) as u64);
    }

    #[inline]
    fn double(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn string(&mut self, value: &[u8]) -> ProtocolResult<()> {
        self.size("a string", value.len())?;
        self.bytes.extend_from_slice(value);
        Ok(())
    }

    #[inline]
    fn uuid(&mut self, value: &[u8; 16]) {
        self.bytes.extend_from_slice(value);
    }

    #[inline]
    fn list(&mut self, element: WireType, count: usize) -> ProtocolResult<()> {
        begin_container(&mut self.nesting)?;
        let number = number_of(element);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | number);
            return Ok(());
        }
        self.bytes.push(0xf0 | number);
        self.size("a list or a set", count)
    }

    #[inline]
    fn map(&mut self, key: WireType, value: WireType, count: usize) -> ProtocolResult<()> {
        begin_container(&mut self.nesting)?;
        self.size("a map", count)?;
        if count > 0 {
            self.bytes.push(number_of(key) << 4 | number_of(value));
        }
        Ok(())
    }

    #[inline]
    fn container_end(&mut self) {
        self.nesting.end_container();
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(RETAINED_MAX);
        self.outer.clear();
        self.last = 0;
        self.waiting = None;
        self.nesting = Nesting::default();
    }
}

/// A size that fits the formats.
#[inline(always)]
fn checked(what: &str, size: usize) -> ProtocolResult<u32> {
    if size > SIZE_MAX { Err(too_large(what, size)) } else { Ok(size as u32) }
}

#[cold]
fn too_large(what: &str, size: usize) -> ProtocolError {
    let error = Error::limit(format_args!("the size of {what}"), SIZE_MAX as u64, size as u64);
    ProtocolError::new(ProtocolErrorKind::SizeLimit, error)
}

#[inline(always)]
fn begin_container(nesting: &mut Nesting) -> ProtocolResult<()> {
    if nesting.begin_container() { Ok(()) } else { Err(refuse_depth(*nesting)) }
}

#[cold]
fn refuse_depth(nesting: Nesting) -> ProtocolError {
    ProtocolError::new(ProtocolErrorKind::DepthLimit, too_deep(nesting.depth_max()))
}
