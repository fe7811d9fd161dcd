//! The classes and modules that loading a stream would look up, for hosts that load only those that
//! they were told of.
//!
//! This is not the walk of this module's other files, which refuses much that a host loads: whatever
//! a host would make of a stream, the names it would look up must be among those found here. So it
//! reads numbers and types as loosely as Ruby 4.8 streams are read, and fails where a host would.

use std::collections::BTreeSet;

use super::refusal::{NotIndexable, Reason, Result};
use crate::wire::Reader;

/// The names of all classes and modules in a stream, whatever object it holds.
///
/// # Errors
///
/// [`Reason::Version`], [`Reason::Truncated`], [`Reason::UnknownType`], [`Reason::DanglingLink`] or
/// [`Reason::Count`], where a host would not load the stream to its end.
pub fn class_names(stream: &[u8]) -> Result<BTreeSet<&[u8]>> {
    let mut reader = Reader::new(stream);
    match (reader.u8(), reader.u8()) {
        (Some(4), Some(0..=8)) => {}
        _ => return Err(NotIndexable::new(Reason::Version, 0)),
    }
    let mut search = ClassSearch {
        stream,
        reader,
        symbols: Vec::new(),
        names: BTreeSet::new(),
        todo: Vec::new(),
    };
    search.todo.push(Todo::Objects(1));
    while let Some(todo) = search.todo.pop() {
        search.step(todo)?;
    }
    Ok(search.names)
}

/// Work left to do, the last item first. Each was announced by a byte at least, so there are no more of
/// them than bytes.
enum Todo {
    /// So many objects.
    Objects(u64),
    /// So many pairs of a Symbol and an object.
    Variables(u64),
    /// The number of instance variables, and they.
    VariableCount,
    /// The options of a Regexp.
    Options,
}

struct ClassSearch<'a> {
    stream: &'a [u8],
    reader: Reader<'a>,
    symbols: Vec<&'a [u8]>,
    names: BTreeSet<&'a [u8]>,
    todo: Vec<Todo>,
}

impl<'a> ClassSearch<'a> {
    fn step(&mut self, todo: Todo) -> Result<()> {
        match todo {
            Todo::Objects(0) | Todo::Variables(0) => Ok(()),
            Todo::Objects(count) => {
                self.todo.push(Todo::Objects(count - 1));
                self.object()
            }
            Todo::Variables(count) => {
                self.todo.push(Todo::Variables(count - 1));
                self.todo.push(Todo::Objects(1));
                self.symbol().map(drop)
            }
            Todo::VariableCount => {
                let count = self.count()?;
                self.todo.push(Todo::Variables(count));
                Ok(())
            }
            Todo::Options => self.byte().map(drop),
        }
    }

    fn object(&mut self) -> Result<()> {
        let kind = self.byte()?;
        match kind {
            b'0' | b'T' | b'F' => {}
            b'i' | b'@' => drop(self.long()?),
            b':' => drop(self.new_symbol()?),
            b';' => drop(self.known_symbol()?),
            b'"' | b'f' => drop(self.text()?),
            b'l' => self.whole_number()?,
            b'/' => {
                self.text()?;
                self.todo.push(Todo::Options);
            }
            b'[' => self.objects(1, 0)?,
            b'{' => self.objects(2, 0)?,
            b'}' => self.objects(2, 1)?,
            b'I' => self.todo.extend([Todo::VariableCount, Todo::Objects(1)]),
            b'c' | b'm' | b'M' => {
                let name = self.text()?;
                self.names.insert(name);
            }
            b'e' | b'C' | b'U' | b'd' => {
                self.class()?;
                self.todo.push(Todo::Objects(1));
            }
            b'u' => {
                self.class()?;
                self.text()?;
            }
            b'o' | b'S' => {
                self.class()?;
                self.todo.push(Todo::VariableCount);
            }
            _ => return Err(self.refusal(Reason::UnknownType(kind))),
        }
        Ok(())
    }

    /// A count, `each` times as many objects, and `more`.
    fn objects(&mut self, each: u64, more: u64) -> Result<()> {
        let count = self.count()?;
        self.todo.push(Todo::Objects(count * each + more));
        Ok(())
    }

    fn class(&mut self) -> Result<()> {
        let name = self.symbol()?;
        self.names.insert(name);
        Ok(())
    }

    /// A Symbol where nothing else may stand. The variables of one that has some come next.
    fn symbol(&mut self) -> Result<&'a [u8]> {
        match self.byte()? {
            b':' => self.new_symbol(),
            b';' => self.known_symbol(),
            b'I' => self.symbol_with_variables(),
            kind => Err(self.refusal(Reason::UnknownType(kind))),
        }
    }

    /// A host reads the variables of a Symbol, which tell its encoding, before what is behind it. They
    /// are read here at once, and may be nothing that holds more.
    fn symbol_with_variables(&mut self) -> Result<&'a [u8]> {
        let kind = self.byte()?;
        if kind != b':' {
            return Err(self.refusal(Reason::UnknownType(kind)));
        }
        let name = self.new_symbol()?;
        for _ in 0..self.count()? {
            match self.byte()? {
                b':' => drop(self.new_symbol()?),
                b';' => drop(self.known_symbol()?),
                kind => return Err(self.refusal(Reason::UnknownType(kind))),
            }
            match self.byte()? {
                b'T' | b'F' => {}
                b'"' => drop(self.text()?),
                b'@' => drop(self.long()?),
                kind => return Err(self.refusal(Reason::UnknownType(kind))),
            }
        }
        Ok(name)
    }

    fn new_symbol(&mut self) -> Result<&'a [u8]> {
        let name = self.text()?;
        self.symbols.push(name);
        Ok(name)
    }

    fn known_symbol(&mut self) -> Result<&'a [u8]> {
        let number = usize::try_from(self.count()?).unwrap_or(usize::MAX);
        let name = self.symbols.get(number).copied();
        name.ok_or_else(|| self.refusal(Reason::DanglingLink))
    }

    fn whole_number(&mut self) -> Result<()> {
        self.byte()?;
        let words = self.count()?;
        self.take(words.saturating_mul(2)).map(drop)
    }

    fn text(&mut self) -> Result<&'a [u8]> {
        let len = self.count()?;
        self.take(len)
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8]> {
        let taken = usize::try_from(len).ok().and_then(|len| self.reader.take(len));
        taken.ok_or_else(|| self.refusal(Reason::Truncated))
    }

    fn byte(&mut self) -> Result<u8> {
        self.reader.u8().ok_or_else(|| self.refusal(Reason::Truncated))
    }

    /// A number that counts something.
    fn count(&mut self) -> Result<u64> {
        let number = self.long()?;
        u64::try_from(number).map_err(|_| self.refusal(Reason::Count))
    }

    /// A number, also where it is spelled with more bytes than it needs.
    fn long(&mut self) -> Result<i64> {
        let first = self.byte()?.cast_signed();
        let len = match first {
            0 => return Ok(0),
            5.. => return Ok(i64::from(first) - 5),
            ..=-5 => return Ok(i64::from(first) + 5),
            _ => first.unsigned_abs(),
        };
        let mut number = if first < 0 { -1_i64 } else { 0 };
        for &byte in self.take(len.into())?.iter().rev() {
            number = (number << 8) | i64::from(byte);
        }
        Ok(number)
    }

    fn refusal(&self, reason: Reason) -> NotIndexable {
        NotIndexable::new(reason, self.reader.position_in(self.stream))
    }
}
