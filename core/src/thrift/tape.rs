//! Values that one pass over a message leaves for a face to make objects of: in the order of the
//! message, without its unknown fields, in one array of words that is used again for the next message.
//!
//! ```text
//! word   │payload 32 bits│field number 16 bits│spare 8 bits│tag 8 bits│
//!
//! null   a container whose elements are not what the schema says
//! empty  a list or a set of that kind without elements; spare: 1 of a set
//! bool   payload: 1 or 0                   small   payload: a number of up to 32 bits
//! large  then the number                   double  then its bits
//! string, binary, uuid   payload: length; then the offset in the message
//! struct, union          payload: its number in the schema; spare, of a union: fields in the message;
//!                        then its fields, then end
//! list, set              payload: count; then the elements
//! map                    payload: count; then each key and its value
//! numbers, bits, truths  payload: count; spare: 1 of a set; then a word for each element
//! ```

use super::schema::StructId;

// Bound (Thrift): tape of a Thrift message = 16 bytes for each byte of it, twice that while growing; 1 MiB kept.
/// Words that stay for the next message.
const RETAINED_MAX: usize = 1 << 17;

/// Kind of the item that a word begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Tag {
    End = 0,
    Null = 1,
    Bool = 2,
    Small = 3,
    Large = 4,
    Double = 5,
    String = 6,
    Binary = 7,
    Uuid = 8,
    Struct = 9,
    Union = 10,
    List = 11,
    Set = 12,
    Map = 13,
    Numbers = 14,
    Bits = 15,
    Truths = 16,
    Empty = 17,
}

const END: u8 = Tag::End as u8;
const BOOL: u8 = Tag::Bool as u8;
const SMALL: u8 = Tag::Small as u8;
const LARGE: u8 = Tag::Large as u8;
const DOUBLE: u8 = Tag::Double as u8;
const STRING: u8 = Tag::String as u8;
const BINARY: u8 = Tag::Binary as u8;
const UUID: u8 = Tag::Uuid as u8;
const STRUCT: u8 = Tag::Struct as u8;
const UNION: u8 = Tag::Union as u8;
const LIST: u8 = Tag::List as u8;
const SET: u8 = Tag::Set as u8;
const MAP: u8 = Tag::Map as u8;
const NUMBERS: u8 = Tag::Numbers as u8;
const BITS: u8 = Tag::Bits as u8;
const TRUTHS: u8 = Tag::Truths as u8;
const EMPTY: u8 = Tag::Empty as u8;

/// The values of one message. It holds no bytes of the message, which a [`TapeCursor`] needs beside it.
#[derive(Debug, Default)]
pub struct Tape {
    words: Vec<i64>,
    message_len: usize,
}

/// A place on a tape, to read from there on.
#[derive(Debug, Clone)]
pub struct TapeCursor<'t> {
    rest: &'t [i64],
    message: &'t [u8],
}

/// The next value on a tape. Values inside of a container or a struct come next, and have to be taken
/// (or passed with [`TapeCursor::skip`]) before what follows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TapeValue<'t> {
    /// A container of the message whose elements have another type than the schema says, or the end
    /// of a tape that was read too far.
    Null,
    /// A list or a set without elements whose header names another element type than the schema. The gem
    /// for Ruby drops it as it drops others of the wrong type; the libraries of other languages take it
    /// as empty.
    Empty(Collection),
    /// A bool.
    Bool(bool),
    /// A number of any width, or of an enum.
    Int(i64),
    /// A floating-point number.
    Double(f64),
    /// The bytes of a string, which should be UTF-8.
    String(&'t [u8]),
    /// Bytes.
    Binary(&'t [u8]),
    /// The bytes of a uuid.
    Uuid(&'t [u8]),
    /// A struct or an exception: its fields come next, see [`TapeCursor::field`].
    Struct(StructId),
    /// A union: its fields come next, as those of a struct.
    Union {
        /// Its number in the schema.
        id: StructId,
        /// Fields that it had in the message, unknown ones and those of other types counted; 255 if
        /// there were more. A union should have one.
        field_count: u8,
    },
    /// So many elements come next.
    List(usize),
    /// So many elements come next.
    Set(usize),
    /// So many times a key and a value come next.
    Map(usize),
    /// A list or a set of numbers, at once.
    Ints(Collection, &'t [i64]),
    /// A list or a set of floating-point numbers, at once.
    Doubles(Collection, Doubles<'t>),
    /// A list or a set of bools, at once: 1 for true, 0 for false.
    Bools(Collection, &'t [i64]),
}

/// Kind of the container that elements are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collection {
    /// A list.
    List,
    /// A set.
    Set,
}

/// Floating-point numbers on a tape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubles<'t>(pub(super) &'t [i64]);

impl<'t> Doubles<'t> {
    /// The numbers.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = f64> + 't {
        self.0.iter().map(|bits| f64::from_bits(*bits as u64))
    }
}

/// A word.
#[inline(always)]
pub(super) fn word(tag: Tag, field: u16, payload: i64) -> i64 {
    payload << 32 | i64::from(field) << 16 | tag as i64
}

impl Tape {
    /// A tape without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the values, and keeps memory for the next ones, at most 1 MiB.
    pub fn clear(&mut self) {
        self.words.clear();
        self.words.shrink_to(RETAINED_MAX);
        self.message_len = 0;
    }

    /// Bytes of memory that it holds, used or not.
    pub fn memory_bytes(&self) -> usize {
        self.words.capacity() * size_of::<i64>()
    }

    /// A cursor at the first value: the struct that was read. `message` is what it was read from; with
    /// bytes of another length, there are no values.
    #[inline]
    pub fn cursor<'t>(&'t self, message: &'t [u8]) -> TapeCursor<'t> {
        let rest = if message.len() == self.message_len { self.words.as_slice() } else { &[] };
        TapeCursor { rest, message }
    }

    /// The words, empty, to be filled.
    pub(super) fn take_words(&mut self) -> Vec<i64> {
        self.clear();
        std::mem::take(&mut self.words)
    }

    /// The words, filled from a message of that length.
    pub(super) fn put_words(&mut self, words: Vec<i64>, message_len: usize) {
        self.words = words;
        self.message_len = message_len;
    }
}

impl<'t> TapeCursor<'t> {
    /// The next field of the struct: its number in the schema (of a projection, the number of its
    /// path) and its value. `None` at the end of the struct. A field that the message has twice comes
    /// twice, and the later value is meant.
    #[inline(always)]
    pub fn field(&mut self) -> Option<(usize, TapeValue<'t>)> {
        let (word, rest) = self.rest.split_first()?;
        self.rest = rest;
        if *word as u8 == END {
            return None;
        }
        Some((usize::from((*word >> 16) as u16), self.read(*word)))
    }

    /// The next field of the struct as [`field`](TapeCursor::field) gives it, with what `fields` have by its number. Fields that
    /// they do not have are passed.
    #[inline(always)]
    pub fn field_in<'f, F>(&mut self, fields: &'f [F]) -> Option<(usize, &'f F, TapeValue<'t>)> {
        loop {
            let (number, value) = self.field()?;
            match fields.get(number) {
                Some(field) => return Some((number, field, value)),
                None => self.skip(value),
            }
        }
    }

    /// The next element, key, or value of a key; of a fresh cursor, the struct that was read.
    #[inline(always)]
    pub fn value(&mut self) -> TapeValue<'t> {
        let Some((word, rest)) = self.rest.split_first() else { return TapeValue::Null };
        self.rest = rest;
        self.read(*word)
    }

    /// The value that begins with `word`.
    #[inline(always)]
    fn read(&mut self, word: i64) -> TapeValue<'t> {
        let payload = word >> 32;
        match word as u8 {
            BOOL => TapeValue::Bool(payload != 0),
            SMALL => TapeValue::Int(payload),
            LARGE => TapeValue::Int(self.next()),
            DOUBLE => TapeValue::Double(f64::from_bits(self.next() as u64)),
            STRING => TapeValue::String(self.bytes(payload)),
            BINARY => TapeValue::Binary(self.bytes(payload)),
            UUID => TapeValue::Uuid(self.bytes(payload)),
            STRUCT => TapeValue::Struct(StructId(payload as u32)),
            UNION => {
                TapeValue::Union { id: StructId(payload as u32), field_count: (word >> 8) as u8 }
            }
            LIST => TapeValue::List(payload as usize),
            SET => TapeValue::Set(payload as usize),
            MAP => TapeValue::Map(payload as usize),
            NUMBERS => TapeValue::Ints(collection(word), self.words(payload)),
            BITS => TapeValue::Doubles(collection(word), Doubles(self.words(payload))),
            TRUTHS => TapeValue::Bools(collection(word), self.words(payload)),
            EMPTY => TapeValue::Empty(collection(word)),
            _ => TapeValue::Null,
        }
    }

    #[inline(always)]
    fn next(&mut self) -> i64 {
        let Some((word, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *word
    }

    #[inline(always)]
    fn bytes(&mut self, len: i64) -> &'t [u8] {
        let start = self.next() as usize;
        let bytes = self.message.get(start..).and_then(|from| from.get(..len as usize));
        bytes.unwrap_or_default()
    }

    #[inline(always)]
    fn words(&mut self, count: i64) -> &'t [i64] {
        let Some((words, rest)) = self.rest.split_at_checked(count as usize) else { return &[] };
        self.rest = rest;
        words
    }

    /// Passes what comes next because of `value`, which was just taken: fields, elements, entries.
    pub fn skip(&mut self, value: TapeValue<'t>) {
        // Open parts: fields until an end (none counted), or a number of values.
        let mut open: Vec<Option<usize>> = Vec::new();
        let mut value = value;
        loop {
            match value {
                TapeValue::Struct(_) | TapeValue::Union { .. } => open.push(None),
                TapeValue::List(count) | TapeValue::Set(count) => open.push(Some(count)),
                TapeValue::Map(count) => open.push(Some(count.saturating_mul(2))),
                _ => {}
            }
            value = loop {
                match open.last_mut() {
                    None => return,
                    Some(None) => match self.field() {
                        Some((_, value)) => break value,
                        None => drop(open.pop()),
                    },
                    Some(Some(0)) => drop(open.pop()),
                    Some(Some(_)) if self.rest.is_empty() => return,
                    Some(Some(left)) => {
                        *left -= 1;
                        break self.value();
                    }
                }
            };
        }
    }
}

#[inline(always)]
fn collection(word: i64) -> Collection {
    if (word >> 8) as u8 == 0 { Collection::List } else { Collection::Set }
}
