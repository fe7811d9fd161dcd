//! The slow twin: messages as trees, without a schema. It is written for being obviously right.

use bytewright::thrift::{Encoding, WireType, Write};

/// A value as the bytes have it. Containers keep the types that were written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Raw {
    Bool(bool),
    Byte(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    Double(u64),
    Bytes(Vec<u8>),
    Uuid([u8; 16]),
    Struct(Vec<(i32, Raw)>),
    List(u8, Vec<Raw>),
    Set(u8, Vec<Raw>),
    Map(u8, u8, Vec<(Raw, Raw)>),
}

pub(crate) const KINDS: [WireType; 12] = [
    WireType::BOOL,
    WireType::BYTE,
    WireType::I16,
    WireType::I32,
    WireType::I64,
    WireType::DOUBLE,
    WireType::STRING,
    WireType::UUID,
    WireType::STRUCT,
    WireType::LIST,
    WireType::SET,
    WireType::MAP,
];

impl Raw {
    /// The number of its type in Binary.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Raw::Bool(_) => 2,
            Raw::Byte(_) => 3,
            Raw::Double(_) => 4,
            Raw::I16(_) => 6,
            Raw::I32(_) => 8,
            Raw::I64(_) => 10,
            Raw::Bytes(_) => 11,
            Raw::Struct(_) => 12,
            Raw::Map(..) => 13,
            Raw::Set(..) => 14,
            Raw::List(..) => 15,
            Raw::Uuid(_) => 16,
        }
    }
}

/// The number in Compact of a type's number in Binary.
const COMPACT: [(u8, u8); 12] = [
    (2, 1),
    (3, 3),
    (4, 7),
    (6, 4),
    (8, 5),
    (10, 6),
    (11, 8),
    (12, 12),
    (13, 11),
    (14, 10),
    (15, 9),
    (16, 13),
];

fn compact(kind: u8) -> u8 {
    COMPACT.iter().find(|(binary, _)| *binary == kind).map_or(0, |(_, compact)| *compact)
}

/// The bytes of a value.
pub(crate) fn encode(encoding: Encoding, raw: &Raw) -> Vec<u8> {
    let mut bytes = Vec::new();
    match encoding {
        Encoding::Binary => put_binary(&mut bytes, raw),
        Encoding::Compact => put_compact(&mut bytes, raw),
    }
    bytes
}

fn put_binary(out: &mut Vec<u8>, raw: &Raw) {
    let size = |out: &mut Vec<u8>, len: usize| out.extend((len as u32).to_be_bytes());
    match raw {
        Raw::Bool(value) => out.push(u8::from(*value)),
        Raw::Byte(value) => out.push(*value as u8),
        Raw::I16(value) => out.extend(value.to_be_bytes()),
        Raw::I32(value) => out.extend(value.to_be_bytes()),
        Raw::I64(value) => out.extend(value.to_be_bytes()),
        Raw::Double(bits) => out.extend(bits.to_be_bytes()),
        Raw::Bytes(bytes) => {
            size(out, bytes.len());
            out.extend(bytes);
        }
        Raw::Uuid(bytes) => out.extend(bytes),
        Raw::Struct(fields) => {
            for (id, value) in fields {
                out.push(value.kind());
                out.extend((*id as i16).to_be_bytes());
                put_binary(out, value);
            }
            out.push(0);
        }
        Raw::List(kind, elements) | Raw::Set(kind, elements) => {
            out.push(*kind);
            size(out, elements.len());
            elements.iter().for_each(|element| put_binary(out, element));
        }
        Raw::Map(key, value, entries) => {
            out.extend([*key, *value]);
            size(out, entries.len());
            for (key, value) in entries {
                put_binary(out, key);
                put_binary(out, value);
            }
        }
    }
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_zigzag(out: &mut Vec<u8>, number: i64) {
    let folded = if number < 0 { !(number as u64) * 2 + 1 } else { number as u64 * 2 };
    put_varint(out, folded);
}

fn put_compact(out: &mut Vec<u8>, raw: &Raw) {
    match raw {
        Raw::Bool(value) => out.push(if *value { 1 } else { 2 }),
        Raw::Byte(value) => out.push(*value as u8),
        Raw::I16(value) => put_zigzag(out, i64::from(*value)),
        Raw::I32(value) => put_zigzag(out, i64::from(*value)),
        Raw::I64(value) => put_zigzag(out, *value),
        Raw::Double(bits) => out.extend(bits.to_le_bytes()),
        Raw::Bytes(bytes) => {
            put_varint(out, bytes.len() as u64);
            out.extend(bytes);
        }
        Raw::Uuid(bytes) => out.extend(bytes),
        Raw::Struct(fields) => {
            let mut last = 0;
            for (id, value) in fields {
                let kind = if *value == Raw::Bool(false) { 2 } else { compact(value.kind()) };
                if *id > last && *id - last <= 15 {
                    out.push(((*id - last) as u8) << 4 | kind);
                } else {
                    out.push(kind);
                    put_zigzag(out, i64::from(*id));
                }
                if !matches!(value, Raw::Bool(_)) {
                    put_compact(out, value);
                }
                last = *id;
            }
            out.push(0);
        }
        Raw::List(kind, elements) | Raw::Set(kind, elements) => {
            if elements.len() < 15 {
                out.push((elements.len() as u8) << 4 | compact(*kind));
            } else {
                out.push(0xf0 | compact(*kind));
                put_varint(out, elements.len() as u64);
            }
            elements.iter().for_each(|element| put_compact(out, element));
        }
        Raw::Map(key, value, entries) => {
            put_varint(out, entries.len() as u64);
            if !entries.is_empty() {
                out.push(compact(*key) << 4 | compact(*value));
            }
            for (key, value) in entries {
                put_compact(out, key);
                put_compact(out, value);
            }
        }
    }
}

/// Has a writer of the core write a value.
pub(crate) fn write(writer: &mut (impl Write + ?Sized), raw: &Raw) {
    let named = |kind: u8| *KINDS.iter().find(|named| named.number() == kind).unwrap();
    match raw {
        Raw::Bool(value) => writer.bool(*value),
        Raw::Byte(value) => writer.byte(*value),
        Raw::I16(value) => writer.i16(*value),
        Raw::I32(value) => writer.i32(*value),
        Raw::I64(value) => writer.i64(*value),
        Raw::Double(bits) => writer.double(f64::from_bits(*bits)),
        Raw::Bytes(bytes) => writer.string(bytes).unwrap(),
        Raw::Uuid(bytes) => writer.uuid(bytes),
        Raw::Struct(fields) => {
            writer.struct_begin().unwrap();
            for (id, value) in fields {
                writer.field(named(value.kind()), *id as i16);
                write(writer, value);
            }
            writer.struct_end();
        }
        Raw::List(kind, elements) => {
            writer.list(named(*kind), elements.len()).unwrap();
            elements.iter().for_each(|element| write(writer, element));
            writer.container_end();
        }
        Raw::Set(kind, elements) => {
            writer.set(named(*kind), elements.len()).unwrap();
            elements.iter().for_each(|element| write(writer, element));
            writer.container_end();
        }
        Raw::Map(key, value, entries) => {
            writer.map(named(*key), named(*value), entries.len()).unwrap();
            for (key, value) in entries {
                write(writer, key);
                write(writer, value);
            }
            writer.container_end();
        }
    }
}

/// Structs that may be in each other, and structs and containers together.
const STRUCTS_MAX: u32 = 64;
const LEVELS_MAX: u32 = 256;

struct In<'a> {
    encoding: Encoding,
    rest: &'a [u8],
    structs: u32,
    levels: u32,
}

/// The struct at the front of `bytes`, and how many of them it takes; `None` if there is none.
pub(crate) fn decode(encoding: Encoding, bytes: &[u8]) -> Option<(Raw, usize)> {
    let mut input = In { encoding, rest: bytes, structs: 0, levels: 0 };
    let raw = input.value(12)?;
    Some((raw, bytes.len() - input.rest.len()))
}

impl In<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*array)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// Seven bits of each byte; what is beyond 64 bits falls away, as in other readers.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0_u128;
        for place in 0..10 {
            let byte = self.byte()?;
            number |= u128::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Some(number as u64);
            }
        }
        None
    }

    /// A number with its sign in the lowest bit, of so many bits; what is beyond them falls away.
    fn zigzag(&mut self, bits: u32) -> Option<i64> {
        let number = self.varint()?;
        let number = if bits < 64 { number & 0xffff_ffff } else { number };
        let half = (number / 2) as i64;
        Some(if number % 2 == 1 { -half - 1 } else { half })
    }

    fn size(&mut self) -> Option<usize> {
        let size = match self.encoding {
            Encoding::Binary => u64::from(u32::from_be_bytes(self.array()?)),
            Encoding::Compact => self.varint()?,
        };
        (size <= i32::MAX as u64).then_some(size as usize)
    }

    fn is_binary(&self) -> bool {
        self.encoding == Encoding::Binary
    }

    /// A value of the type with that number in Binary.
    fn value(&mut self, kind: u8) -> Option<Raw> {
        Some(match kind {
            2 if self.is_binary() => Raw::Bool(self.byte()? != 0),
            2 => Raw::Bool(self.byte()? == 1),
            3 => Raw::Byte(self.byte()? as i8),
            4 if self.is_binary() => Raw::Double(u64::from_be_bytes(self.array()?)),
            4 => Raw::Double(u64::from_le_bytes(self.array()?)),
            6 if self.is_binary() => Raw::I16(i16::from_be_bytes(self.array()?)),
            6 => Raw::I16(self.zigzag(32)? as i16),
            8 if self.is_binary() => Raw::I32(i32::from_be_bytes(self.array()?)),
            8 => Raw::I32(self.zigzag(32)? as i32),
            10 if self.is_binary() => Raw::I64(i64::from_be_bytes(self.array()?)),
            10 => Raw::I64(self.zigzag(64)?),
            11 => {
                let len = self.size()?;
                let (bytes, rest) = self.rest.split_at_checked(len)?;
                self.rest = rest;
                Raw::Bytes(bytes.to_vec())
            }
            16 => Raw::Uuid(self.array()?),
            12 => self.structure()?,
            13..=15 => self.container(kind)?,
            _ => return None,
        })
    }

    fn structure(&mut self) -> Option<Raw> {
        self.structs += 1;
        self.levels += 1;
        if self.structs > STRUCTS_MAX || self.levels > LEVELS_MAX {
            return None;
        }
        let (mut fields, mut last) = (Vec::new(), 0);
        loop {
            let header = self.byte()?;
            let (id, value) = if self.is_binary() {
                if header == 0 {
                    break;
                }
                let id = i32::from(i16::from_be_bytes(self.array()?));
                (id, self.value(header)?)
            } else {
                let (distance, kind) = (i32::from(header >> 4), header & 15);
                if kind == 0 {
                    break;
                }
                last = if distance == 0 { self.zigzag(32)? as i16 as i32 } else { last + distance };
                let value = match kind {
                    1 | 2 => Raw::Bool(kind == 1),
                    _ => self.value(binary(kind)?)?,
                };
                (last, value)
            };
            fields.push((id, value));
        }
        self.structs -= 1;
        self.levels -= 1;
        Some(Raw::Struct(fields))
    }

    fn container(&mut self, kind: u8) -> Option<Raw> {
        let raw = match (kind, self.encoding) {
            (13, Encoding::Binary) => {
                let [key, value] = self.array()?;
                let count = self.size()?;
                Raw::Map(key, value, self.entries(key, value, count)?)
            }
            (13, Encoding::Compact) => match self.size()? {
                0 => Raw::Map(0, 0, self.entries(0, 0, 0)?),
                count => {
                    let types = self.byte()?;
                    let (key, value) = (binary(types >> 4)?, binary(types & 15)?);
                    Raw::Map(key, value, self.entries(key, value, count)?)
                }
            },
            _ => {
                let (element, count) = match self.encoding {
                    Encoding::Binary => (self.byte()?, self.size()?),
                    Encoding::Compact => {
                        let header = self.byte()?;
                        let count =
                            if header >> 4 == 15 { self.size()? } else { usize::from(header >> 4) };
                        (binary(header & 15).unwrap_or(0xff), count)
                    }
                };
                let elements = self.elements(element, count)?;
                if kind == 14 { Raw::Set(element, elements) } else { Raw::List(element, elements) }
            }
        };
        Some(raw)
    }

    fn elements(&mut self, kind: u8, count: usize) -> Option<Vec<Raw>> {
        self.levels += 1;
        if self.levels > LEVELS_MAX {
            return None;
        }
        let elements = (0..count).map(|_| self.value(kind)).collect::<Option<Vec<_>>>()?;
        self.levels -= 1;
        Some(elements)
    }

    fn entries(&mut self, key: u8, value: u8, count: usize) -> Option<Vec<(Raw, Raw)>> {
        self.levels += 1;
        if self.levels > LEVELS_MAX {
            return None;
        }
        let entries = (0..count).map(|_| Some((self.value(key)?, self.value(value)?)));
        let entries = entries.collect::<Option<Vec<_>>>()?;
        self.levels -= 1;
        Some(entries)
    }
}

/// The number in Binary of a type's number in Compact.
fn binary(number: u8) -> Option<u8> {
    if number == 2 {
        return Some(2);
    }
    COMPACT.iter().find(|(_, compact)| *compact == number).map(|(binary, _)| *binary)
}
