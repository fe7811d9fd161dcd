//! The values of a Marshal stream, for callers without a host to load them: what is printed, not
//! what is computed with. It takes every stream of version 4.8, also those that cannot be handled root
//! by root.
//!
//! Nothing is resolved that only the host knows: an object is the name of its class and what was
//! dumped of it. Values that the stream links to are there once, and are named from each place.

use std::ops::Range;

use crate::wire::Reader;
use crate::{Error, Result};

use super::long;

// Bound (Marshal): nesting of objects in a Marshal stream that is printed = 500.
/// Maximum depth of values that are nested in each other.
pub const NESTING_MAX: u32 = 500;

/// The version that a stream begins with.
const VERSION: [u8; 2] = [4, 8];

/// The number of a value in its [`Values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(u32);

/// The number of a symbol in its [`Values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SymbolId(u32);

/// Bytes of the stream.
pub type Span = Range<usize>;

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarshalValue {
    /// Form of the value.
    pub form: MarshalForm,
    /// Rare parts of the value.
    pub rare: Option<Box<RareParts>>,
    /// Start of the value in the stream, in bytes.
    pub offset: usize,
}

impl MarshalValue {
    /// Returns true if its rare parts go without saying: modules, and the variables of an object or of the bytes that its
    /// class wrote.
    pub fn is_plain(&self) -> bool {
        let writes_itself =
            matches!(self.form, MarshalForm::OwnBytes { .. } | MarshalForm::Object { .. });
        self.rare
            .as_ref()
            .is_none_or(|rare| rare.class.is_none() && (rare.variables.is_empty() || writes_itself))
    }
}

/// Form of a value: its kind and its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarshalForm {
    /// Nothing.
    Nil,
    /// True or false.
    Boolean(bool),
    /// A whole number of 31 bits.
    Integer(i32),
    /// A larger one: its size in base 256, the lowest digit first.
    LargeInteger {
        /// True below 0.
        is_negative: bool,
        /// The digits.
        digits: Span,
    },
    /// A floating-point number as text; `inf`, `-inf` and `nan` among them.
    Float(Span),
    /// A symbol.
    Symbol(SymbolId),
    /// Text, or bytes.
    String {
        /// The bytes.
        text: Span,
        /// Encoding of the bytes.
        encoding: TextEncoding,
    },
    /// A regular expression and its options.
    Regexp {
        /// The expression.
        source: Span,
        /// Bits: 1 ignores case, 2 is extended, 4 has a dot match line ends.
        options: u8,
    },
    /// A class, by its name.
    Class(Span),
    /// A module, by its name.
    Module(Span),
    /// Values in an order.
    Array(Vec<ValueId>),
    /// Values by keys.
    Hash {
        /// Keys and values.
        entries: Vec<(ValueId, ValueId)>,
        /// The value of keys that are not there.
        default: Option<ValueId>,
    },
    /// A Struct and its members.
    Struct {
        /// Its class.
        class: SymbolId,
        /// Names and values.
        members: Vec<(SymbolId, ValueId)>,
    },
    /// An object and its instance variables.
    Object {
        /// Its class.
        class: SymbolId,
        /// Names, with their `@`, and values.
        variables: Vec<(SymbolId, ValueId)>,
    },
    /// An object as the bytes that its class made of it.
    OwnBytes {
        /// Its class.
        class: SymbolId,
        /// Bytes that the class wrote.
        bytes: Span,
    },
    /// An object as the value that its class made of it.
    OwnValue {
        /// Its class.
        class: SymbolId,
        /// Value that the class returned.
        value: ValueId,
    },
}

/// Rare parts of a value: class, modules and instance variables. Few values have them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RareParts {
    /// The class, where it is not the one that the form says.
    pub class: Option<SymbolId>,
    /// Modules that the value was extended with, the last first.
    pub modules: Vec<SymbolId>,
    /// Instance variables of what is no plain object.
    pub variables: Vec<(SymbolId, ValueId)>,
}

/// Encoding of a String.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEncoding {
    /// None: they are bytes.
    Binary,
    /// US-ASCII.
    UsAscii,
    /// UTF-8.
    Utf8,
    /// The encoding of that name, a String.
    Named(ValueId),
}

/// The values of a stream.
#[derive(Debug, Clone)]
pub struct Values {
    stream: Vec<u8>,
    values: Vec<MarshalValue>,
    symbols: Vec<Span>,
    root: ValueId,
    end: usize,
}

impl Values {
    /// Takes a stream apart. What follows its value is left alone, as the host does.
    ///
    /// # Errors
    ///
    /// `Format`, `Truncated` or `Limit`, with the offset.
    pub fn decode(stream: Vec<u8>) -> Result<Values> {
        let mut decoder = ValueDecoder::new(&stream);
        decoder.version()?;
        let root = decoder.value()?;
        Ok(decoder.done().into_values(stream, root))
    }

    /// Takes a plain Hash apart like [`Values::decode`], keeps the entries that stand before damage, and
    /// returns the damage with them.
    ///
    /// # Errors
    ///
    /// `Format` if it is no plain Hash, and those of [`Values::decode`] for what stands before its
    /// entries.
    pub fn decode_hash(stream: Vec<u8>) -> Result<(Values, Option<Error>)> {
        let mut decoder = ValueDecoder::new(&stream);
        decoder.version()?;
        let (root, damage) = decoder.hash_up_to_damage()?;
        Ok((decoder.done().into_values(stream, root), damage))
    }

    /// Takes several streams apart, which link to nothing of each other. It answers the value of each.
    ///
    /// # Errors
    ///
    /// Those of [`Values::decode`], with the offset in all of them together.
    pub fn decode_each<'s>(
        streams: impl IntoIterator<Item = &'s [u8]>,
    ) -> Result<(Values, Vec<ValueId>)> {
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for stream in streams {
            all.extend_from_slice(stream);
            ends.push(all.len());
        }
        let mut decoder = ValueDecoder::new(&all);
        let roots = ends.into_iter().map(|end| decoder.stream_up_to(end));
        let roots = roots.collect::<Result<Vec<_>>>()?;
        let root = roots.first().copied().unwrap_or(ValueId(0));
        Ok((decoder.done().into_values(all, root), roots))
    }

    /// The value that was dumped.
    pub fn root(&self) -> ValueId {
        self.root
    }

    /// A value.
    pub fn get(&self, id: ValueId) -> Option<&MarshalValue> {
        self.values.get(id.0 as usize)
    }

    /// Bytes of the stream.
    pub fn bytes(&self, span: &Span) -> &[u8] {
        self.stream.get(span.clone()).unwrap_or_default()
    }

    /// The text of a symbol.
    pub fn symbol(&self, id: SymbolId) -> &[u8] {
        self.symbols.get(id.0 as usize).map_or(&[], |span| self.bytes(span))
    }

    /// The name of a value's class.
    pub fn class_name<'a>(&'a self, value: &'a MarshalValue) -> &'a [u8] {
        if let Some(class) = value.rare.as_ref().and_then(|rare| rare.class) {
            return self.symbol(class);
        }
        match &value.form {
            MarshalForm::Nil => b"NilClass",
            MarshalForm::Boolean(true) => b"TrueClass",
            MarshalForm::Boolean(false) => b"FalseClass",
            MarshalForm::Integer(_) | MarshalForm::LargeInteger { .. } => b"Integer",
            MarshalForm::Float(_) => b"Float",
            MarshalForm::Symbol(_) => b"Symbol",
            MarshalForm::String { .. } => b"String",
            MarshalForm::Regexp { .. } => b"Regexp",
            MarshalForm::Class(_) => b"Class",
            MarshalForm::Module(_) => b"Module",
            MarshalForm::Array(_) => b"Array",
            MarshalForm::Hash { .. } => b"Hash",
            MarshalForm::Struct { class, .. }
            | MarshalForm::Object { class, .. }
            | MarshalForm::OwnBytes { class, .. }
            | MarshalForm::OwnValue { class, .. } => self.symbol(*class),
        }
    }

    /// Returns the end of the value in the stream; more bytes may follow.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Bytes of the stream.
    pub fn stream_len(&self) -> usize {
        self.stream.len()
    }
}

/// The values that a decoder read, without the bytes that it borrowed.
struct Decoded {
    values: Vec<MarshalValue>,
    symbols: Vec<Span>,
    end: usize,
}

impl Decoded {
    fn into_values(self, stream: Vec<u8>, root: ValueId) -> Values {
        let Decoded { values, symbols, end } = self;
        Values { stream, values, symbols, root, end }
    }
}

/// Encoding that instance variables name for the text before them, and the other variables.
#[derive(Default)]
struct Variables {
    encoding: Option<TextEncoding>,
    others: Vec<(SymbolId, ValueId)>,
}

struct ValueDecoder<'a> {
    stream: &'a [u8],
    reader: Reader<'a>,
    values: Vec<MarshalValue>,
    symbols: Vec<Span>,
    /// Values that links may name, in the order of their numbers.
    numbered: Vec<ValueId>,
    /// The first symbol of the stream that is being read.
    first_symbol: usize,
    depth: u32,
}

impl<'a> ValueDecoder<'a> {
    fn new(stream: &'a [u8]) -> Self {
        ValueDecoder {
            stream,
            reader: Reader::new(stream),
            values: Vec::new(),
            symbols: Vec::new(),
            numbered: Vec::new(),
            first_symbol: 0,
            depth: 0,
        }
    }

    fn done(self) -> Decoded {
        let end = self.at();
        Decoded { values: self.values, symbols: self.symbols, end }
    }

    /// The value of one of several streams, which ends there.
    fn stream_up_to(&mut self, end: usize) -> Result<ValueId> {
        self.numbered.clear();
        self.first_symbol = self.symbols.len();
        let begin = self.at();
        self.version()?;
        let value = self.value()?;
        if self.at() > end {
            let (needed, available) = (self.at() - begin, end.saturating_sub(begin));
            return Err(
                Error::truncated("a value", needed as u64, available as u64).at(begin as u64)
            );
        }
        self.reader = Reader::new(self.stream.get(end..).unwrap_or_default());
        Ok(value)
    }

    /// A Hash whose entries end where they are damaged.
    fn hash_up_to_damage(&mut self) -> Result<(ValueId, Option<Error>)> {
        let at = self.at();
        let has_default = match self.byte()? {
            b'{' => false,
            b'}' => true,
            other => {
                let found = format!("the type {:?}", char::from(other));
                return Err(Error::format("a Hash", found).at(at as u64));
            }
        };
        let id = self.add(at);
        self.numbered.push(id);
        let count = self.long()?;
        let (mut entries, mut default, mut damage) = (Vec::new(), None, None);
        for _ in 0..count {
            match self.entry() {
                Ok(entry) => entries.push(entry),
                Err(error) => {
                    damage = Some(error);
                    break;
                }
            }
        }
        if has_default && damage.is_none() {
            match self.value() {
                Ok(value) => default = Some(value),
                Err(error) => damage = Some(error),
            }
        }
        if let Some(value) = self.values.get_mut(id.0 as usize) {
            value.form = MarshalForm::Hash { entries, default };
        }
        Ok((id, damage))
    }

    fn version(&mut self) -> Result<()> {
        match self.reader.array::<2>() {
            Some([major, minor]) if major == VERSION[0] && minor <= VERSION[1] => Ok(()),
            Some([major, minor]) => {
                let found = format!("{major}.{minor}");
                Err(Error::format("a Marshal stream of version 4.8", found).at(0))
            }
            None => Err(self.truncated("the version of a Marshal stream", 2)),
        }
    }

    fn at(&self) -> usize {
        self.stream.len() - self.reader.remaining()
    }

    /// A value, and what is in it.
    fn value(&mut self) -> Result<ValueId> {
        if self.depth == NESTING_MAX {
            let found = self.depth + 1;
            let at = self.at() as u64;
            return Err(Error::limit("a nesting depth", NESTING_MAX.into(), found.into()).at(at));
        }
        self.depth += 1;
        let at = self.at();
        let kind = self.byte()?;
        let value = if kind == b'@' { self.link(at) } else { self.dressed(at, kind) };
        self.depth -= 1;
        value
    }

    /// A value with what may stand before it: that variables follow, modules, its class.
    fn dressed(&mut self, at: usize, mut kind: u8) -> Result<ValueId> {
        let mut rare = RareParts::default();
        let mut has_variables = false;
        loop {
            match kind {
                b'I' if !has_variables => has_variables = true,
                b'e' => {
                    let module = self.symbol_or_link()?;
                    rare.modules.push(module);
                }
                b'C' if rare.class.is_none() => rare.class = Some(self.symbol_or_link()?),
                _ => break,
            }
            kind = self.byte()?;
        }
        let id = self.add(at);
        let form = self.form(at, kind, id, has_variables.then_some(&mut rare))?;
        if let Some(value) = self.values.get_mut(id.0 as usize) {
            value.form = form;
            value.rare = (rare != RareParts::default()).then(|| Box::new(rare));
        }
        Ok(id)
    }

    /// A value that is filled in later, because what is in it may link to it.
    fn add(&mut self, offset: usize) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(MarshalValue { form: MarshalForm::Nil, rare: None, offset });
        id
    }

    /// Reads the form of a value of `kind`. `rare` is given if instance variables follow.
    fn form(
        &mut self,
        at: usize,
        kind: u8,
        id: ValueId,
        rare: Option<&mut RareParts>,
    ) -> Result<MarshalForm> {
        // Of an object with bytes of its own, the number comes last.
        if !matches!(kind, b'0' | b'T' | b'F' | b'i' | b':' | b';' | b'u') {
            self.numbered.push(id);
        }
        let form = match kind {
            b'0' => MarshalForm::Nil,
            b'T' => MarshalForm::Boolean(true),
            b'F' => MarshalForm::Boolean(false),
            b'i' => MarshalForm::Integer(self.long()?),
            b':' => MarshalForm::Symbol(self.symbol()?),
            b';' => MarshalForm::Symbol(self.symbol_link()?),
            b'"' => return self.string(rare),
            b'u' => return self.own_bytes(id, rare),
            b'f' => MarshalForm::Float(self.sized()?),
            b'l' => self.large_integer()?,
            b'/' => self.regexp()?,
            b'c' => MarshalForm::Class(self.sized()?),
            b'm' | b'M' => MarshalForm::Module(self.sized()?),
            b'[' => MarshalForm::Array(self.values_of(1, Self::value)?),
            b'{' => MarshalForm::Hash { entries: self.values_of(2, Self::entry)?, default: None },
            b'}' => {
                let entries = self.values_of(2, Self::entry)?;
                MarshalForm::Hash { entries, default: Some(self.value()?) }
            }
            b'S' => {
                let class = self.symbol_or_link()?;
                MarshalForm::Struct { class, members: self.values_of(2, Self::variable)? }
            }
            b'o' => {
                let class = self.symbol_or_link()?;
                MarshalForm::Object { class, variables: self.values_of(2, Self::variable)? }
            }
            b'U' | b'd' => {
                let class = self.symbol_or_link()?;
                MarshalForm::OwnValue { class, value: self.value()? }
            }
            other => {
                let found = format!("the byte {other:#04x}");
                return Err(Error::format("the type of a value", found).at(at as u64));
            }
        };
        if let Some(rare) = rare {
            let variables = self.variables()?;
            // A symbol's encoding follows it as a variable, and says nothing that its bytes do not.
            rare.variables = variables.others;
        }
        Ok(form)
    }

    fn string(&mut self, rare: Option<&mut RareParts>) -> Result<MarshalForm> {
        let text = self.sized()?;
        let mut encoding = TextEncoding::Binary;
        if let Some(rare) = rare {
            let variables = self.variables()?;
            encoding = variables.encoding.unwrap_or(encoding);
            rare.variables = variables.others;
        }
        Ok(MarshalForm::String { text, encoding })
    }

    fn own_bytes(&mut self, id: ValueId, rare: Option<&mut RareParts>) -> Result<MarshalForm> {
        let class = self.symbol_or_link()?;
        let bytes = self.sized()?;
        if let Some(rare) = rare {
            rare.variables = self.variables()?.others;
        }
        self.numbered.push(id);
        Ok(MarshalForm::OwnBytes { class, bytes })
    }

    fn large_integer(&mut self) -> Result<MarshalForm> {
        let at = self.at();
        let is_negative = match self.byte()? {
            b'+' => false,
            b'-' => true,
            other => {
                let found = format!("the byte {other:#04x}");
                return Err(Error::format("the sign of a number", found).at(at as u64));
            }
        };
        let count = self.count(2)?;
        Ok(MarshalForm::LargeInteger { is_negative, digits: self.take(count * 2)? })
    }

    fn regexp(&mut self) -> Result<MarshalForm> {
        let source = self.sized()?;
        Ok(MarshalForm::Regexp { source, options: self.byte()? })
    }

    /// As many as a count says, each of at least `least` bytes.
    fn values_of<T>(
        &mut self,
        least: usize,
        read: impl Fn(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.count(least)?;
        // Not all at once: what is read is larger than what it takes in the stream.
        let mut values = Vec::with_capacity(count.min(64));
        for _ in 0..count {
            values.push(read(self)?);
        }
        Ok(values)
    }

    fn entry(&mut self) -> Result<(ValueId, ValueId)> {
        Ok((self.value()?, self.value()?))
    }

    fn variable(&mut self) -> Result<(SymbolId, ValueId)> {
        Ok((self.symbol_or_link()?, self.value()?))
    }

    fn variables(&mut self) -> Result<Variables> {
        let mut variables = Variables::default();
        for (name, value) in self.values_of(2, Self::variable)? {
            let text =
                self.symbols.get(name.0 as usize).and_then(|span| self.stream.get(span.clone()));
            let form = self.values.get(value.0 as usize).map(|value| &value.form);
            match (text, form) {
                (Some(b"E"), Some(MarshalForm::Boolean(true))) => {
                    variables.encoding = Some(TextEncoding::Utf8);
                }
                (Some(b"E"), Some(MarshalForm::Boolean(false))) => {
                    variables.encoding = Some(TextEncoding::UsAscii);
                }
                (Some(b"encoding"), Some(MarshalForm::String { .. })) => {
                    variables.encoding = Some(TextEncoding::Named(value));
                }
                _ => variables.others.push((name, value)),
            }
        }
        Ok(variables)
    }

    fn link(&mut self, at: usize) -> Result<ValueId> {
        let number = self.long()?;
        let linked = usize::try_from(number).ok().and_then(|number| self.numbered.get(number));
        linked.copied().ok_or_else(|| {
            let expected = format!("a link to one of {} values before it", self.numbered.len());
            Error::format(expected, number).at(at as u64)
        })
    }

    fn symbol_link(&mut self) -> Result<SymbolId> {
        let at = self.at();
        let number = self.long()?;
        let known = self.symbols.len() - self.first_symbol;
        match usize::try_from(number) {
            Ok(number) if number < known => Ok(SymbolId((self.first_symbol + number) as u32)),
            _ => {
                let expected = format!("a link to one of {known} symbols before it");
                Err(Error::format(expected, number).at(at as u64))
            }
        }
    }

    /// A symbol behind its `:`.
    fn symbol(&mut self) -> Result<SymbolId> {
        let text = self.sized()?;
        let id = SymbolId(self.symbols.len() as u32);
        self.symbols.push(text);
        Ok(id)
    }

    /// A symbol where nothing else may stand.
    fn symbol_or_link(&mut self) -> Result<SymbolId> {
        let at = self.at();
        match self.byte()? {
            b':' => self.symbol(),
            b';' => self.symbol_link(),
            b'I' if self.reader.rest().first() == Some(&b':') => {
                self.byte()?;
                let symbol = self.symbol()?;
                self.variables()?;
                Ok(symbol)
            }
            other => Err(Error::format("a symbol", format!("the byte {other:#04x}")).at(at as u64)),
        }
    }

    fn byte(&mut self) -> Result<u8> {
        self.reader.u8().ok_or_else(|| self.truncated("a value", 1))
    }

    fn long(&mut self) -> Result<i32> {
        let at = self.at();
        long::read(&mut self.reader).ok_or_else(|| match self.reader.rest() {
            [] => self.truncated("a whole number", 1),
            _ => Error::format("an integer as Marshal.dump writes it", "another encoding")
                .at(at as u64),
        })
    }

    /// A count of things that take `each` bytes at least, which the bytes left must hold.
    fn count(&mut self, each: usize) -> Result<usize> {
        let at = self.at() as u64;
        let found = self.long()?;
        let Ok(count) = usize::try_from(found) else {
            return Err(Error::format("a count", found).at(at));
        };
        if count.saturating_mul(each) > self.reader.remaining() {
            let needed = count.saturating_mul(each) as u64;
            let available = self.reader.remaining() as u64;
            return Err(Error::truncated("counted elements", needed, available).at(at));
        }
        Ok(count)
    }

    /// Bytes behind their length.
    fn sized(&mut self) -> Result<Span> {
        let len = self.count(1)?;
        self.take(len)
    }

    fn take(&mut self, len: usize) -> Result<Span> {
        let at = self.at();
        match self.reader.take(len) {
            Some(_) => Ok(at..at + len),
            None => Err(self.truncated("a text", len as u64)),
        }
    }

    fn truncated(&self, what: &str, needed: u64) -> Error {
        let available = self.reader.remaining() as u64;
        Error::truncated(what, needed, available).at(self.at() as u64)
    }
}
