//! One pass over a message, from its bytes to a tape.

use super::binary::Binary;
use super::compact::Compact;
use super::error::{ProtocolError, ProtocolResult};
use super::input::{FieldHeader, MessageInput, ProtocolReader, ThriftMessage};
use super::limits::{Depth, Limits};
use super::plan::{Plan, ReadOperation};
use super::schema::StructId;
use super::skip::{skip_field, skip_list, skip_map};
use super::tape::{Tag, Tape, word};
use super::wire_type::WireType;

/// Encoding of messages as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Numbers of their full width. Strict and not differ in the envelope of a message only.
    Binary,
    /// Numbers as short as they are.
    Compact,
}

impl Plan {
    /// Reads a struct that begins with the first of `bytes`, and leaves its values on `tape`. Answers
    /// how many bytes it took; what follows them is not looked at.
    ///
    /// A field that the schema does not have, or has with another type, is passed. A union may have
    /// any number of fields, of which its [`TapeValue`](super::TapeValue) tells.
    ///
    /// # Errors
    ///
    /// Returns the error in the bytes. `Truncated` if the struct has more of them: then `needed` less
    /// `available` of its [`ErrorKind`](crate::ErrorKind) are missing at least, and the same call
    /// with more bytes may read it. The tape is without values.
    pub fn decode(
        &self,
        encoding: Encoding,
        id: StructId,
        bytes: &[u8],
        limits: Limits,
        tape: &mut Tape,
    ) -> ProtocolResult<usize> {
        let message = ThriftMessage::whole(bytes, limits);
        let input = MessageInput::new(&message);
        let mut decoder = TapeDecoder { plan: self, words: tape.take_words() };
        let read = match encoding {
            Encoding::Binary => decoder.message(Binary::new(input), id),
            Encoding::Compact => decoder.message(Compact::new(input), id),
        };
        tape.put_words(decoder.words, bytes.len());
        if read.is_err() {
            tape.clear();
        }
        read
    }
}

/// A plan at work.
pub(super) struct TapeDecoder<'p> {
    pub(super) plan: &'p Plan,
    /// The words of a tape, which are here meanwhile: each value adds some.
    pub(super) words: Vec<i64>,
}

impl TapeDecoder<'_> {
    fn message<'a, P: ProtocolReader<'a>>(
        &mut self,
        mut at: P,
        id: StructId,
    ) -> ProtocolResult<usize> {
        let depth = Depth::of(at.input().limits());
        self.structure(&mut at, id.0, 0, depth)?;
        Ok(at.input().position())
    }

    /// A struct, union or exception. `number` is that of the field it is the value of.
    fn structure<'a, P: ProtocolReader<'a>>(
        &mut self,
        outer: &mut P,
        id: u32,
        number: u16,
        depth: Depth,
    ) -> ProtocolResult<()> {
        let Some(plan) = self.plan.get(id) else { return Err(unplanned(outer)) };
        let depth = outer.input().in_struct(depth)?;
        let begins = self.words.len();
        self.words.push(word(Tag::Struct, number, i64::from(id)));
        // A copy whose address nobody takes, so that it stays in registers from field to field.
        let (mut at, mut last, mut next, mut count) = (*outer, 0, 0, 0_u32);
        loop {
            let header = at.field(&mut last)?;
            if header.kind == WireType::STOP {
                break;
            }
            count += 1;
            let expected = plan.at(next).filter(|field| field.id == header.id);
            let field = match expected {
                Some(field) => Some(field),
                None => {
                    match plan.place(header.id).and_then(|place| Some((place, plan.at(place)?))) {
                        Some((place, field)) => {
                            next = place;
                            Some(field)
                        }
                        None => None,
                    }
                }
            };
            next += usize::from(field.is_some());
            match field {
                Some(field) if field.kind == header.kind => {
                    self.field(&mut at, header, field.value, field.number, depth)?;
                }
                _ => skip_field(&mut at, header)?,
            }
        }
        self.words.push(word(Tag::End, 0, 0));
        *outer = at;
        if plan.is_union
            && let Some(begin) = self.words.get_mut(begins)
        {
            *begin = word(Tag::Union, number, i64::from(id)) | i64::from(count.min(255)) << 8;
        }
        Ok(())
    }

    /// The value of a field.
    #[inline(always)]
    pub(super) fn field<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        header: FieldHeader,
        operation: ReadOperation,
        number: u16,
        depth: Depth,
    ) -> ProtocolResult<()> {
        if P::BOOL_IN_HEADER && operation == ReadOperation::Bool {
            self.words.push(word(Tag::Bool, number, i64::from(header.flag)));
            return Ok(());
        }
        self.value(at, operation, number, depth)
    }

    /// A value of the type that the plan says.
    #[inline(always)]
    pub(super) fn value<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        operation: ReadOperation,
        number: u16,
        depth: Depth,
    ) -> ProtocolResult<()> {
        match operation {
            ReadOperation::Bool => {
                let truth = at.bool()?;
                self.words.push(word(Tag::Bool, number, i64::from(truth)));
            }
            ReadOperation::Byte => {
                let small = at.byte()?;
                self.words.push(word(Tag::Small, number, i64::from(small)));
            }
            ReadOperation::I16 => {
                let small = at.i16()?;
                self.words.push(word(Tag::Small, number, i64::from(small)));
            }
            ReadOperation::I32 => {
                let small = at.i32()?;
                self.words.push(word(Tag::Small, number, i64::from(small)));
            }
            ReadOperation::I64 => {
                let large = at.i64()?;
                self.words.extend_from_slice(&[word(Tag::Large, number, 0), large]);
            }
            ReadOperation::Double => {
                let bits = at.double()?.to_bits() as i64;
                self.words.extend_from_slice(&[word(Tag::Double, number, 0), bits]);
            }
            ReadOperation::String => self.string(at, Tag::String, number)?,
            ReadOperation::Binary => self.string(at, Tag::Binary, number)?,
            ReadOperation::Uuid => {
                let start = at.input().position() as i64;
                at.input().array::<16>("a uuid")?;
                self.words.extend_from_slice(&[word(Tag::Uuid, number, 16), start]);
            }
            ReadOperation::Struct(_)
            | ReadOperation::List(_)
            | ReadOperation::Set(_)
            | ReadOperation::Map(_) => {
                let mut inside = *at;
                self.nested(&mut inside, operation, number, depth)?;
                *at = inside;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn string<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        tag: Tag,
        number: u16,
    ) -> ProtocolResult<()> {
        let len = at.string_len()?;
        let start = at.input().position() as i64;
        at.input().take("a string", len)?;
        self.words.extend_from_slice(&[word(tag, number, len as i64), start]);
        Ok(())
    }

    /// A value that holds others.
    fn nested<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        operation: ReadOperation,
        number: u16,
        depth: Depth,
    ) -> ProtocolResult<()> {
        match operation {
            ReadOperation::Struct(id) => self.structure(at, id, number, depth),
            ReadOperation::List(container) => {
                self.elements(at, container, Tag::List, number, depth)
            }
            ReadOperation::Set(container) => self.elements(at, container, Tag::Set, number, depth),
            ReadOperation::Map(container) => self.entries(at, container, number, depth),
            _ => Ok(()),
        }
    }

    /// A list or a set.
    fn elements<'a, P: ProtocolReader<'a>>(
        &mut self,
        outer: &mut P,
        container: u32,
        tag: Tag,
        number: u16,
        depth: Depth,
    ) -> ProtocolResult<()> {
        let Some(plan) = self.plan.container(container) else { return Err(unplanned(outer)) };
        let mut at = *outer;
        let header = at.list()?;
        let depth = at.input().in_container(depth)?;
        let count = header.count;
        let packed = |of: Tag| word(of, number, count as i64) | i64::from(tag == Tag::Set) << 8;
        if header.element != plan.key_kind {
            let is_empty = count == 0;
            self.words.push(if is_empty { packed(Tag::Empty) } else { word(Tag::Null, number, 0) });
            *outer = at;
            return skip_list(outer, header);
        }
        match plan.key {
            ReadOperation::Bool => {
                self.words.push(packed(Tag::Truths));
                for _ in 0..count {
                    self.words.push(i64::from(at.bool()?));
                }
            }
            ReadOperation::Byte => {
                self.words.push(packed(Tag::Numbers));
                let bytes = at.input().take("the elements of a list or a set", count)?;
                self.words.extend(bytes.iter().map(|byte| i64::from(*byte as i8)));
            }
            ReadOperation::I16 | ReadOperation::I32 | ReadOperation::I64 => {
                self.words.push(packed(Tag::Numbers));
                let mut inside = at;
                inside.integers(plan.key_kind, count, &mut self.words)?;
                at = inside;
            }
            ReadOperation::Double => {
                self.words.push(packed(Tag::Bits));
                for _ in 0..count {
                    self.words.push(at.double()?.to_bits() as i64);
                }
            }
            ReadOperation::String | ReadOperation::Binary => {
                self.words.push(word(tag, number, count as i64));
                let of = if plan.key == ReadOperation::String { Tag::String } else { Tag::Binary };
                for _ in 0..count {
                    self.string(&mut at, of, 0)?;
                }
            }
            ReadOperation::Struct(id) => {
                self.words.push(word(tag, number, count as i64));
                let mut inside = at;
                for _ in 0..count {
                    self.structure(&mut inside, id, 0, depth)?;
                }
                at = inside;
            }
            operation => {
                self.words.push(word(tag, number, count as i64));
                for _ in 0..count {
                    self.value(&mut at, operation, 0, depth)?;
                }
            }
        }
        *outer = at;
        Ok(())
    }

    /// A map.
    fn entries<'a, P: ProtocolReader<'a>>(
        &mut self,
        outer: &mut P,
        container: u32,
        number: u16,
        depth: Depth,
    ) -> ProtocolResult<()> {
        let Some(plan) = self.plan.container(container) else { return Err(unplanned(outer)) };
        let mut at = *outer;
        let header = at.map()?;
        let depth = at.input().in_container(depth)?;
        if header.count > 0 && (header.key != plan.key_kind || header.value != plan.value_kind) {
            self.words.push(word(Tag::Null, number, 0));
            *outer = at;
            return skip_map(outer, header);
        }
        self.words.push(word(Tag::Map, number, header.count as i64));
        for _ in 0..header.count {
            self.value(&mut at, plan.key, 0, depth)?;
            self.value(&mut at, plan.value, 0, depth)?;
        }
        *outer = at;
        Ok(())
    }
}

/// A struct or a container that the plan does not have: the caller's number is of another schema.
#[cold]
fn unplanned<'a, P: ProtocolReader<'a>>(at: &mut P) -> ProtocolError {
    at.input().invalid("a struct of the schema", "the number of another")
}
