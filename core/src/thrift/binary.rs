//! Reading Binary, in which numbers have their full width, the most significant byte first.
//!
//! ```text
//! field   │type 1│id 2│value …          struct  fields, then │0│
//! string  │length 4│bytes …             list, set  │type 1│count 4│elements …
//! map     │key type 1│value type 1│count 4│key, value, …
//! ```
//!
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-binary-protocol.md>)

use super::error::ProtocolResult;
use super::input::{FieldHeader, ListHeader, MapHeader, MessageInput, ProtocolReader, Width};
use super::wire_type::WireType;

/// A cursor over a message in Binary.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binary<'a>(MessageInput<'a>);

impl<'a> ProtocolReader<'a> for Binary<'a> {
    const BOOL_IN_HEADER: bool = false;

    fn new(input: MessageInput<'a>) -> Self {
        Binary(input)
    }

    #[inline(always)]
    fn input(&mut self) -> &mut MessageInput<'a> {
        &mut self.0
    }

    #[inline(always)]
    fn field(&mut self, _last: &mut i32) -> ProtocolResult<FieldHeader> {
        let [kind] = self.0.array("a field")?;
        let kind = WireType(kind);
        if kind == WireType::STOP {
            return Ok(FieldHeader { kind, id: 0, flag: false });
        }
        let id = i32::from(i16::from_be_bytes(self.0.array("the id of a field")?));
        Ok(FieldHeader { kind, id, flag: false })
    }

    #[inline(always)]
    fn list(&mut self) -> ProtocolResult<ListHeader> {
        let [kind, count @ ..] = self.0.array::<5>("the header of a list or a set")?;
        let (element, count) = (WireType(kind), u32::from_be_bytes(count));
        let smallest = if count == 0 { 1 } else { self.0.element_width::<Self>(element)? };
        let count = self.0.checked_count("a list or a set", u64::from(count), smallest)?;
        Ok(ListHeader { element, count })
    }

    #[inline(always)]
    fn map(&mut self) -> ProtocolResult<MapHeader> {
        let [key, value, count @ ..] = self.0.array::<6>("the header of a map")?;
        let (key, value, count) = (WireType(key), WireType(value), u32::from_be_bytes(count));
        let mut smallest = 1;
        if count != 0 {
            smallest = self.0.element_width::<Self>(key)? + self.0.element_width::<Self>(value)?;
        }
        let count = self.0.checked_count("a map", u64::from(count), smallest)?;
        Ok(MapHeader { key, value, count })
    }

    #[inline(always)]
    fn bool(&mut self) -> ProtocolResult<bool> {
        self.0.array("a bool").map(|[byte]| byte != 0)
    }

    #[inline(always)]
    fn i16(&mut self) -> ProtocolResult<i16> {
        self.0.array("an i16").map(i16::from_be_bytes)
    }

    #[inline(always)]
    fn i32(&mut self) -> ProtocolResult<i32> {
        self.0.array("an i32").map(i32::from_be_bytes)
    }

    #[inline(always)]
    fn i64(&mut self) -> ProtocolResult<i64> {
        self.0.array("an i64").map(i64::from_be_bytes)
    }

    #[inline(always)]
    fn double(&mut self) -> ProtocolResult<f64> {
        self.0.array("a double").map(f64::from_be_bytes)
    }

    #[inline(always)]
    fn string_len(&mut self) -> ProtocolResult<usize> {
        let len = u32::from_be_bytes(self.0.array("the length of a string")?);
        self.0.checked_string_len(u64::from(len))
    }

    #[inline(always)]
    fn width(kind: WireType) -> Option<Width> {
        Some(match kind {
            WireType::BOOL | WireType::BYTE => Width::Fixed(1),
            WireType::I16 => Width::Fixed(2),
            WireType::I32 => Width::Fixed(4),
            WireType::I64 | WireType::DOUBLE => Width::Fixed(8),
            WireType::UUID => Width::Fixed(16),
            WireType::STRING => Width::Variable(4),
            WireType::STRUCT => Width::Variable(1),
            WireType::LIST | WireType::SET => Width::Variable(5),
            WireType::MAP => Width::Variable(6),
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
        let what = "the elements of a list or a set";
        match kind {
            WireType::I64 => {
                let (each, _) = self.0.take(what, count.saturating_mul(8))?.as_chunks();
                numbers.extend(each.iter().map(|number| i64::from_be_bytes(*number)));
            }
            WireType::I32 => {
                let (each, _) = self.0.take(what, count.saturating_mul(4))?.as_chunks();
                numbers.extend(each.iter().map(|number| i64::from(i32::from_be_bytes(*number))));
            }
            _ => {
                let (each, _) = self.0.take(what, count.saturating_mul(2))?.as_chunks();
                numbers.extend(each.iter().map(|number| i64::from(i16::from_be_bytes(*number))));
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn skip_varint(&mut self, _kind: WireType) -> ProtocolResult<()> {
        Ok(())
    }
}
