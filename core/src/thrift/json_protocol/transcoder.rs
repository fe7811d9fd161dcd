//! A struct in JSON as bytes of Binary, by the schema, which says what strings are binary.
//!
//! All of the struct is read and checked, within the bounds that Binary has: what comes out is a struct that can be read.

use std::str::FromStr;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use super::super::limits::{DEPTH_MAX, Depth, Limits, too_deep};
use super::super::plan::{Plan, ReadOperation, StructPlan};
use super::super::schema::StructId;
use super::super::wire_type::WireType;
use super::cursor::{JsonCursor, parsed};
use crate::Error;
use crate::error::excerpt_of_bytes;

/// Base64 of libraries that pad it and of those that do not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Characters of a uuid.
const UUID_LEN: usize = 36;

/// Places of the hyphens in the text of a uuid.
const UUID_HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// Names of types.
const TYPES: [(&str, WireType); 12] = [
    ("tf", WireType::BOOL),
    ("i8", WireType::BYTE),
    ("i16", WireType::I16),
    ("i32", WireType::I32),
    ("i64", WireType::I64),
    ("dbl", WireType::DOUBLE),
    ("str", WireType::STRING),
    ("rec", WireType::STRUCT),
    ("map", WireType::MAP),
    ("set", WireType::SET),
    ("lst", WireType::LIST),
    ("uid", WireType::UUID),
];

/// Transcodes the struct that `text` begins with, by the plan of the struct `id`. Answers its bytes in Binary, and how many of `text` it
/// took.
///
/// # Errors
///
/// Returns the error in the text, with its place there.
pub(in super::super) fn transcode(
    plan: &Plan,
    id: StructId,
    text: &[u8],
    limits: Limits,
) -> ProtocolResult<(Vec<u8>, usize)> {
    let at = JsonCursor::new(text, limits);
    let mut transcoder = Transcoder { plan, at, binary: Vec::new(), scratch: Vec::new() };
    transcoder.structure(plan.get(id.0), Depth::of(limits))?;
    Ok((transcoder.binary, transcoder.at.position()))
}

struct Transcoder<'p, 'a> {
    plan: &'p Plan,
    at: JsonCursor<'a>,
    // Bound (Thrift): Binary that a message in JSON becomes = 4 times its bytes.
    binary: Vec<u8>,
    /// Text of base64 without its escapes.
    scratch: Vec<u8>,
}

/// A value: its type in the message, its operation if the schema has it, and whether it is a key.
#[derive(Clone, Copy)]
struct JsonValue {
    kind: WireType,
    operation: Option<ReadOperation>,
    is_key: bool,
}

impl Transcoder<'_, '_> {
    /// A struct; by no plan if the schema does not have it.
    fn structure(&mut self, plan: Option<&StructPlan>, depth: Depth) -> ProtocolResult<()> {
        let depth = depth.in_struct().ok_or_else(|| self.deep())?;
        self.at.require(b'{', "a struct in JSON, {")?;
        if !self.at.takes(b'}', "the fields of a struct")? {
            loop {
                self.field(plan, depth)?;
                if self.at.takes(b'}', "the end of a struct")? {
                    break;
                }
                self.at.require(b',', "a comma or the end of a struct")?;
            }
        }
        self.binary.push(WireType::STOP.number());
        Ok(())
    }

    fn field(&mut self, plan: Option<&StructPlan>, depth: Depth) -> ProtocolResult<()> {
        let id: i16 = self.integer(true, "the id of a field")?;
        self.at.require(b':', "a colon behind the id of a field")?;
        self.at.require(b'{', "the type and the value of a field, {")?;
        let kind = self.type_name()?;
        self.at.require(b':', "a colon behind the type of a field")?;
        self.binary.push(kind.number());
        self.binary.extend_from_slice(&id.to_be_bytes());
        let known = plan.and_then(|plan| plan.at(plan.place(i32::from(id))?));
        let operation = known.filter(|field| field.kind == kind).map(|field| field.value);
        let depth = self.depth_of(operation, plan.is_some(), depth);
        self.value(JsonValue { kind, operation, is_key: false }, depth)?;
        self.at.require(b'}', "the end of a field")
    }

    /// The depth of a value: one that is skipped has a bound of its own, from where the schema ends.
    fn depth_of(&self, operation: Option<ReadOperation>, was_known: bool, depth: Depth) -> Depth {
        match operation.is_none() && was_known {
            true => Depth::of_skipped(self.at.limits()),
            false => depth,
        }
    }

    fn value(&mut self, value: JsonValue, depth: Depth) -> ProtocolResult<()> {
        let JsonValue { kind, operation, is_key } = value;
        match kind {
            WireType::STRUCT => {
                let plan = match operation {
                    Some(ReadOperation::Struct(id)) => self.plan.get(id),
                    _ => None,
                };
                self.structure(plan, depth)
            }
            WireType::MAP => self.map(operation, depth),
            WireType::LIST | WireType::SET => self.elements(operation, depth),
            _ => self.scalar(kind, operation, is_key),
        }
    }

    #[inline(never)]
    fn scalar(
        &mut self,
        kind: WireType,
        operation: Option<ReadOperation>,
        is_key: bool,
    ) -> ProtocolResult<()> {
        match kind {
            WireType::BOOL => {
                let before = self.at;
                let number: u8 = self.integer(is_key, "a bool, 0 or 1")?;
                if number > 1 {
                    return Err(before.invalid("a bool, 0 or 1", number));
                }
                self.binary.push(number);
            }
            WireType::BYTE => {
                let number: i8 = self.integer(is_key, "an i8")?;
                self.binary.extend_from_slice(&number.to_be_bytes());
            }
            WireType::I16 => {
                let number: i16 = self.integer(is_key, "an i16")?;
                self.binary.extend_from_slice(&number.to_be_bytes());
            }
            WireType::I32 => {
                let number: i32 = self.integer(is_key, "an i32")?;
                self.binary.extend_from_slice(&number.to_be_bytes());
            }
            WireType::I64 => {
                let number: i64 = self.integer(is_key, "an i64")?;
                self.binary.extend_from_slice(&number.to_be_bytes());
            }
            WireType::DOUBLE => {
                let number = self.double(is_key)?;
                self.binary.extend_from_slice(&number.to_be_bytes());
            }
            WireType::UUID => self.uuid()?,
            _ if operation == Some(ReadOperation::Binary) => self.sized(Self::base64)?,
            _ => {
                self.sized(|transcoder| transcoder.at.string("a string", &mut transcoder.binary))?
            }
        }
        Ok(())
    }

    /// Reads a number without a fraction, which is in quotes where it is a key.
    fn integer<T: FromStr>(&mut self, is_quoted: bool, what: &str) -> ProtocolResult<T> {
        if !is_quoted {
            return self.at.integer(what);
        }
        self.at.peek(what)?;
        let before = self.at;
        let text = self.at.plain_string(what)?;
        parsed(text).ok_or_else(|| before.invalid(what, excerpt_of_bytes(text)))
    }

    /// A floating-point number, which is in quotes if it is none of JSON's.
    fn double(&mut self, is_key: bool) -> ProtocolResult<f64> {
        let before = self.at;
        let is_quoted = self.at.peek("a double")? == b'"';
        let text = match is_quoted {
            true => self.at.plain_string("a double")?,
            false => self.at.number("a double")?,
        };
        let number = match text {
            b"NaN" => Some(f64::NAN),
            b"Infinity" => Some(f64::INFINITY),
            b"-Infinity" => Some(f64::NEG_INFINITY),
            _ if is_quoted != is_key => None,
            _ => parsed(text).filter(|number: &f64| number.is_finite()),
        };
        number.ok_or_else(|| before.invalid("a double", excerpt_of_bytes(text)))
    }

    fn uuid(&mut self) -> ProtocolResult<()> {
        let before = self.at;
        let text = self.at.plain_string("a uuid")?;
        let hyphens = text.iter().enumerate().filter(|(_, byte)| **byte == b'-');
        let has_hyphens = hyphens.map(|(place, _)| place).eq(UUID_HYPHENS);
        let digits = text.iter().filter_map(|byte| char::from(*byte).to_digit(16));
        let (mut number, mut digits_count) = (0_u128, 0);
        for digit in digits {
            (number, digits_count) = (number << 4 | u128::from(digit), digits_count + 1);
        }
        if !has_hyphens || digits_count != 32 || text.len() != UUID_LEN {
            return Err(before.invalid("a uuid of 36 characters", excerpt_of_bytes(text)));
        }
        self.binary.extend_from_slice(&number.to_be_bytes());
        Ok(())
    }

    /// Appends what `append` does behind its length.
    fn sized(
        &mut self,
        append: impl FnOnce(&mut Self) -> ProtocolResult<()>,
    ) -> ProtocolResult<()> {
        let (before, start) = (self.at, self.binary.len());
        self.binary.extend_from_slice(&[0; 4]);
        append(self)?;
        let len = self.binary.len().saturating_sub(start + 4);
        let Ok(size) = i32::try_from(len) else {
            return Err(before.too_long("the size of a string", i32::MAX as usize, len));
        };
        if let Some(place) = self.binary.get_mut(start..start + 4) {
            place.copy_from_slice(&size.to_be_bytes());
        }
        Ok(())
    }

    /// The bytes of a string in base64.
    fn base64(&mut self) -> ProtocolResult<()> {
        let before = self.at;
        self.scratch.clear();
        self.at.string("binary in base64", &mut self.scratch)?;
        match BASE64.decode_vec(&self.scratch, &mut self.binary) {
            Ok(()) => Ok(()),
            Err(_) => {
                let found = excerpt_of_bytes(&self.scratch);
                Err(before.invalid("binary in base64", format_args!("{found:?}")))
            }
        }
    }

    /// A list or a set.
    fn elements(&mut self, operation: Option<ReadOperation>, depth: Depth) -> ProtocolResult<()> {
        let depth = depth.in_container().ok_or_else(|| self.deep())?;
        self.at.require(b'[', "a list or a set, [")?;
        let kind = self.type_name()?;
        let count = self.count()?;
        self.binary.push(kind.number());
        self.binary.extend_from_slice(&count.to_be_bytes());
        let plan = match operation {
            Some(ReadOperation::List(number) | ReadOperation::Set(number)) => {
                self.plan.container(number)
            }
            _ => None,
        };
        let known = plan.filter(|plan| plan.key_kind == kind).map(|plan| plan.key);
        let depth = self.depth_inside(known.is_none() && plan.is_some(), depth)?;
        let value = JsonValue { kind, operation: known, is_key: false };
        for _ in 0..count {
            self.at.require(b',', "a comma before an element")?;
            self.value(value, depth)?;
        }
        self.at.require(b']', "the end of a list or a set behind as many elements as it says")
    }

    fn map(&mut self, operation: Option<ReadOperation>, depth: Depth) -> ProtocolResult<()> {
        let depth = depth.in_container().ok_or_else(|| self.deep())?;
        self.at.require(b'[', "a map, [")?;
        let key_kind = self.type_name()?;
        self.at.require(b',', "a comma behind the type of keys")?;
        let value_kind = self.type_name()?;
        let count = self.count()?;
        self.at.require(b',', "a comma before the entries of a map")?;
        self.at.require(b'{', "the entries of a map, {")?;
        self.binary.extend_from_slice(&[key_kind.number(), value_kind.number()]);
        self.binary.extend_from_slice(&count.to_be_bytes());
        let plan = match operation {
            Some(ReadOperation::Map(number)) => self.plan.container(number),
            _ => None,
        };
        let known = plan.filter(|plan| plan.key_kind == key_kind && plan.value_kind == value_kind);
        let depth = self.depth_inside(known.is_none() && plan.is_some(), depth)?;
        let key = JsonValue { kind: key_kind, operation: known.map(|plan| plan.key), is_key: true };
        let value =
            JsonValue { kind: value_kind, operation: known.map(|plan| plan.value), is_key: false };
        for entry in 0..count {
            if entry > 0 {
                self.at.require(b',', "a comma before an entry")?;
            }
            self.value(key, depth)?;
            self.at.require(b':', "a colon behind a key")?;
            self.value(value, depth)?;
        }
        self.at.require(b'}', "the end of a map behind as many entries as it says")?;
        self.at.require(b']', "the end of a map")
    }

    /// The depth of elements, inside of a container.
    fn depth_inside(&self, is_skipped: bool, depth: Depth) -> ProtocolResult<Depth> {
        match is_skipped {
            true => {
                let depth = Depth::of_skipped(self.at.limits());
                depth.in_container().ok_or_else(|| self.deep())
            }
            false => Ok(depth),
        }
    }

    /// The type that a string names.
    fn type_name(&mut self) -> ProtocolResult<WireType> {
        self.at.peek("the name of a type")?;
        let before = self.at;
        let name = self.at.plain_string("the name of a type")?;
        let found = TYPES.iter().find(|(known, _)| known.as_bytes() == name);
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let expected = "tf, i8, i16, i32, i64, dbl, str, rec, map, lst, set or uid";
            before.invalid(expected, excerpt_of_bytes(name))
        })
    }

    /// The number of elements, behind a comma.
    fn count(&mut self) -> ProtocolResult<i32> {
        self.at.require(b',', "a comma before the number of elements")?;
        let before = self.at;
        let count: i32 = self.at.integer("the number of elements")?;
        if count < 0 {
            let error = "the number of elements, 0 or above";
            return Err(before.failed(ProtocolErrorKind::NegativeSize, error, count));
        }
        let count_max = self.at.limits().container_max as usize;
        if count as usize > count_max {
            return Err(before.too_long("the number of elements", count_max, count as usize));
        }
        Ok(count)
    }

    #[cold]
    fn deep(&self) -> ProtocolError {
        let error: Error = too_deep(self.at.limits().depth_max.clamp(1, DEPTH_MAX));
        ProtocolError::new(ProtocolErrorKind::DepthLimit, error.at(self.at.position() as u64))
    }
}
