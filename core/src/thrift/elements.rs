//! Elements of lists and sets, whether a tape has them at once or one after the other.

use super::tape::{Collection, Cursor, Value};

/// The elements of a list or a set.
#[derive(Debug, Clone)]
pub struct Elements<'t> {
    kind: Collection,
    count: usize,
    form: Form,
    /// A word for each element that was not taken; none where they are on the tape.
    words: &'t [i64],
}

/// Form that elements have.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// They come next on the tape, as values of any type.
    OnTape,
    Ints,
    Doubles,
    Bools,
}

impl<'t> Value<'t> {
    /// The elements of a list or a set; of others, none.
    #[inline(always)]
    pub fn elements(self) -> Elements<'t> {
        let on_tape = |kind, count| Elements { kind, count, form: Form::OnTape, words: &[] };
        let words =
            |kind, form, words: &'t [i64]| Elements { kind, count: words.len(), form, words };
        match self {
            Value::List(count) => on_tape(Collection::List, count),
            Value::Set(count) => on_tape(Collection::Set, count),
            Value::Ints(kind, numbers) => words(kind, Form::Ints, numbers),
            Value::Doubles(kind, numbers) => words(kind, Form::Doubles, numbers.0),
            Value::Bools(kind, truths) => words(kind, Form::Bools, truths),
            Value::Empty(kind) => on_tape(kind, 0),
            _ => on_tape(Collection::List, 0),
        }
    }
}

impl<'t> Elements<'t> {
    /// Kind of the container.
    #[inline(always)]
    pub fn kind(&self) -> Collection {
        self.kind
    }

    /// Number of all elements, also of those that were taken.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The next element, from the cursor that the container was taken from. To be called no more often than
    /// [`count`](Elements::count) says.
    #[inline(always)]
    pub fn next(&mut self, cursor: &mut Cursor<'t>) -> Value<'t> {
        if let Form::OnTape = self.form {
            return cursor.value();
        }
        let Some((word, rest)) = self.words.split_first() else { return Value::Null };
        self.words = rest;
        match self.form {
            Form::Doubles => Value::Double(f64::from_bits(*word as u64)),
            Form::Bools => Value::Bool(*word != 0),
            Form::Ints | Form::OnTape => Value::Int(*word),
        }
    }
}
