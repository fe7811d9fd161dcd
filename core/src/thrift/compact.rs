//! Reading Compact, in which numbers are varints (seven bits to a byte, the low ones first) with their
//! sign in the lowest bit, and ids of fields are the distance to the one before.
//!
//! ```text
//! field   │distance 4 bits, type 4 bits│value …       distance 0: the id as a varint comes next
//! struct  fields, then │0│                            string  │length, varint│bytes …
//! list, set  │count 4 bits, type 4 bits│elements …    count 15: the count as a varint comes next
//! map     │count, varint│key type 4 bits, value type 4 bits│key, value, …     without entries, │0│
//! ```
//!
//! A bool field has its value in its type. What a varint may have beyond the width of its number is a matter of
//! [`NarrowVarint`]: readers differ.
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>)

use super::compact_window::pass_fields;
use super::error::ProtocolErrorKind;
use super::error::{ProtocolError, ProtocolResult};
use super::input::{
    FieldHeader, ListHeader, MapHeader, MessageInput, NextField, ProtocolReader, Width,
};
use super::limits::NarrowVarint;
use super::wire_type::WireType;
use crate::Error;
use crate::wire::Reader;

// Bound (Thrift): varint in a Thrift message = 10 bytes.
/// Enough for 64 bits.
const VARINT_MAX: usize = 10;

/// Bytes of the longest varint of 32 bits.
const NARROW_VARINT_MAX: usize = 5;

/// True, as a bool that is an element; every other byte is false.
pub(super) const TRUE: u8 = 1;

/// The types as Compact numbers them; bools have two, so that the type of a field is its value.
const TYPES: [WireType; 16] = [
    WireType::STOP,
    WireType::BOOL,
    WireType::BOOL,
    WireType::BYTE,
    WireType::I16,
    WireType::I32,
    WireType::I64,
    WireType::DOUBLE,
    WireType::STRING,
    WireType::LIST,
    WireType::SET,
    WireType::MAP,
    WireType::STRUCT,
    WireType::UUID,
    // In no message: numbers that are no types in Binary either. Their low four bits are Compact's.
    WireType(0xfe),
    WireType(0xff),
];

/// The type whose number in Compact is the low four bits.
#[inline(always)]
fn wire_type(number: u8) -> WireType {
    TYPES.get(usize::from(number & 0x0f)).copied().unwrap_or(WireType::STOP)
}

/// The number of a type in Compact; of bools, the one that means true.
#[inline(always)]
pub(super) fn number_of(kind: WireType) -> u8 {
    match kind {
        WireType::BOOL => 1,
        WireType::BYTE => 3,
        WireType::I16 => 4,
        WireType::I32 => 5,
        WireType::I64 => 6,
        WireType::DOUBLE => 7,
        WireType::STRING => 8,
        WireType::LIST => 9,
        WireType::SET => 10,
        WireType::MAP => 11,
        WireType::STRUCT => 12,
        WireType::UUID => 13,
        _ => 0,
    }
}

/// A cursor over a message in Compact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compact<'a>(MessageInput<'a>);

impl<'a> Compact<'a> {
    /// The next varint, without the bits beyond 64.
    #[inline(always)]
    pub(super) fn varint(&mut self) -> ProtocolResult<u64> {
        match self.0.rest.rest() {
            [first, ..] if *first < 0x80 => {
                let _ = self.0.rest.u8();
                Ok(u64::from(*first))
            }
            [first, second, ..] if *second < 0x80 => {
                let _ = self.0.rest.array::<2>();
                Ok(u64::from(first & 0x7f) | u64::from(*second) << 7)
            }
            _ => {
                let (number, behind) = self.long_varint()?;
                *self = behind;
                Ok(number)
            }
        }
    }

    /// The next varint of a number of up to 32 bits. The frequent ones are those of one and two bytes, in which
    /// nothing can be too long.
    #[inline(always)]
    pub(super) fn narrow_varint(&mut self) -> ProtocolResult<u64> {
        match self.0.rest.rest() {
            [first, ..] if *first < 0x80 => {
                let _ = self.0.rest.u8();
                Ok(u64::from(*first))
            }
            [first, second, ..] if *second < 0x80 => {
                let _ = self.0.rest.array::<2>();
                Ok(u64::from(first & 0x7f) | u64::from(*second) << 7)
            }
            _ => {
                let (number, behind) = self.long_narrow_varint()?;
                *self = behind;
                Ok(number)
            }
        }
    }

    #[inline(never)]
    fn long_narrow_varint(self) -> ProtocolResult<(u64, Self)> {
        let (number, behind) = self.long_varint()?;
        let len = behind.0.position() - self.0.position();
        let narrow = self.0.limits().narrow_varint;
        let is_long = narrow != NarrowVarint::Any && len > NARROW_VARINT_MAX;
        let is_wide = narrow == NarrowVarint::Exact && number > u64::from(u32::MAX);
        if is_long || is_wide {
            return Err(self.wide_varint(len, number));
        }
        Ok((number, behind))
    }

    #[cold]
    fn wide_varint(self, len: usize, number: u64) -> ProtocolError {
        let expected = format_args!("a varint of at most {NARROW_VARINT_MAX} bytes and 32 bits");
        let bits = u64::BITS - number.leading_zeros();
        let error = Error::format(expected, format_args!("{len} bytes and {bits} bits"));
        self.0.failed(ProtocolErrorKind::InvalidData, error)
    }

    #[inline(never)]
    fn long_varint(mut self) -> ProtocolResult<(u64, Self)> {
        let mut number = 0_u64;
        for (place, byte) in self.0.rest.rest().iter().take(VARINT_MAX).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * place);
            if *byte < 0x80 {
                let _ = self.0.rest.take(place + 1);
                return Ok((number, self));
            }
        }
        Err(self.endless_varint())
    }

    /// Returns the error of a varint that does not end.
    #[cold]
    fn endless_varint(self) -> ProtocolError {
        let available = self.0.rest.remaining();
        if available < VARINT_MAX {
            return self.0.truncated("a varint", available as u64 + 1);
        }
        let error =
            Error::format(format_args!("a varint of at most {VARINT_MAX} bytes"), "a longer one");
        self.0.failed(ProtocolErrorKind::InvalidData, error)
    }

    /// A number of up to 32 bits.
    #[inline(always)]
    fn narrow(&mut self) -> ProtocolResult<i32> {
        let number = self.narrow_varint()? as u32;
        Ok((number >> 1) as i32 ^ -((number & 1) as i32))
    }
}

/// A number whose sign was moved to its lowest bit.
#[inline(always)]
fn unfold(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

impl<'a> ProtocolReader<'a> for Compact<'a> {
    const BOOL_IN_HEADER: bool = true;

    fn type_number(kind: WireType) -> u8 {
        kind.number() & 0x0f
    }

    fn new(input: MessageInput<'a>) -> Self {
        Compact(input)
    }

    #[inline(always)]
    fn input(&mut self) -> &mut MessageInput<'a> {
        &mut self.0
    }

    #[inline(always)]
    fn field(&mut self, last: &mut i32) -> ProtocolResult<FieldHeader> {
        let [header] = self.0.array("a field")?;
        let kind = wire_type(header);
        if kind == WireType::STOP {
            return Ok(FieldHeader { kind, id: 0, flag: false });
        }
        let distance = i32::from(header >> 4);
        *last = match distance {
            0 => i32::from(self.i16()?),
            _ => last.wrapping_add(distance),
        };
        Ok(FieldHeader { kind, id: *last, flag: header & 0x0f == TRUE })
    }

    #[inline(always)]
    fn list(&mut self) -> ProtocolResult<ListHeader> {
        let [header] = self.0.array("the header of a list or a set")?;
        let element = wire_type(header);
        let count = match header >> 4 {
            15 => self.narrow_varint()?,
            count => u64::from(count),
        };
        let smallest = if count == 0 { 1 } else { self.0.element_width::<Self>(element)? };
        let count = self.0.checked_count("a list or a set", count, smallest)?;
        Ok(ListHeader { element, count })
    }

    #[inline(always)]
    fn map(&mut self) -> ProtocolResult<MapHeader> {
        let count = self.narrow_varint()?;
        if count == 0 {
            return Ok(MapHeader { key: WireType::STOP, value: WireType::STOP, count: 0 });
        }
        let [types] = self.0.array("the types of a map")?;
        let (key, value) = (wire_type(types >> 4), wire_type(types));
        let smallest = self.0.element_width::<Self>(key)? + self.0.element_width::<Self>(value)?;
        let count = self.0.checked_count("a map", count, smallest)?;
        Ok(MapHeader { key, value, count })
    }

    #[inline(always)]
    fn bool(&mut self) -> ProtocolResult<bool> {
        self.0.array("a bool").map(|[byte]| byte == TRUE)
    }

    #[inline(always)]
    fn i16(&mut self) -> ProtocolResult<i16> {
        self.narrow().map(|number| number as i16)
    }

    #[inline(always)]
    fn i32(&mut self) -> ProtocolResult<i32> {
        self.narrow()
    }

    #[inline(always)]
    fn i64(&mut self) -> ProtocolResult<i64> {
        self.varint().map(unfold)
    }

    #[inline(always)]
    fn double(&mut self) -> ProtocolResult<f64> {
        // The one number that has its lowest byte first, and its full width.
        self.0.array("a double").map(f64::from_le_bytes)
    }

    #[inline(always)]
    fn string_len(&mut self) -> ProtocolResult<usize> {
        let len = self.narrow_varint()?;
        self.0.checked_string_len(len)
    }

    #[inline(always)]
    fn width(kind: WireType) -> Option<Width> {
        Some(match kind {
            WireType::BOOL | WireType::BYTE => Width::Fixed(1),
            WireType::I16 | WireType::I32 | WireType::I64 => Width::Varint,
            WireType::DOUBLE => Width::Fixed(8),
            WireType::UUID => Width::Fixed(16),
            WireType::STRING
            | WireType::STRUCT
            | WireType::LIST
            | WireType::SET
            | WireType::MAP => Width::Variable(1),
            _ => return None,
        })
    }

    #[inline]
    fn integers(
        &mut self,
        kind: WireType,
        count: usize,
        numbers: &mut Vec<i64>,
    ) -> ProtocolResult<()> {
        let mut here = *self;
        numbers.reserve(count);
        for _ in 0..count {
            numbers.push(match kind {
                WireType::I64 => here.i64()?,
                WireType::I32 => i64::from(here.i32()?),
                _ => i64::from(here.i16()?),
            });
        }
        *self = here;
        Ok(())
    }

    #[inline(always)]
    fn skip_varint(&mut self, kind: WireType) -> ProtocolResult<()> {
        let number = if kind == WireType::I64 { self.varint() } else { self.narrow_varint() };
        number.map(|_| ())
    }

    #[inline(always)]
    fn skip_ahead(&mut self) -> NextField {
        if !self.0.has_usual_bounds() {
            return NextField::Other;
        }
        let (rest, next) = pass_fields::<false>(self.0.rest.rest(), &mut 0, 0);
        self.0.rest = Reader::new(rest);
        next
    }

    #[inline(always)]
    fn field_from(&mut self, last: &mut i32, until: i32) -> ProtocolResult<FieldHeader> {
        if self.0.has_usual_bounds() {
            let (rest, next) = pass_fields::<true>(self.0.rest.rest(), last, until);
            self.0.rest = Reader::new(rest);
            if let (NextField::Until, [header, behind @ ..]) = (next, rest) {
                self.0.rest = Reader::new(behind);
                *last = last.wrapping_add(i32::from(header >> 4));
                let flag = header & 0x0f == TRUE;
                return Ok(FieldHeader { kind: wire_type(*header), id: *last, flag });
            }
        }
        self.field(last)
    }
}
