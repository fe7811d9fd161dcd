//! Elements of lists and sets, whether a tape has them at once or one after the other.

use super::tape::{Collection, TapeCursor, TapeValue};

/// The elements of a list or a set.
#[derive(Debug, Clone)]
pub struct Elements<'t> {
    kind: Collection,
    count: usize,
    form: ElementForm,
    /// A word for each element that was not taken; none where they are on the tape.
    words: &'t [i64],
}

/// Form that elements have.
#[derive(Debug, Clone, Copy)]
enum ElementForm {
    /// They come next on the tape, as values of any type.
    OnTape,
    Ints,
    Doubles,
    Bools,
}

impl<'t> TapeValue<'t> {
    /// The elements of a list or a set; of others, none.
    #[inline(always)]
    pub fn elements(self) -> Elements<'t> {
        let on_tape = |kind, count| Elements { kind, count, form: ElementForm::OnTape, words: &[] };
        let words =
            |kind, form, words: &'t [i64]| Elements { kind, count: words.len(), form, words };
        match self {
            TapeValue::List(count) => on_tape(Collection::List, count),
            TapeValue::Set(count) => on_tape(Collection::Set, count),
            TapeValue::Ints(kind, numbers) => words(kind, ElementForm::Ints, numbers),
            TapeValue::Doubles(kind, numbers) => words(kind, ElementForm::Doubles, numbers.0),
            TapeValue::Bools(kind, truths) => words(kind, ElementForm::Bools, truths),
            TapeValue::Empty(kind) => on_tape(kind, 0),
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
    pub fn next(&mut self, cursor: &mut TapeCursor<'t>) -> TapeValue<'t> {
        if let ElementForm::OnTape = self.form {
            return cursor.value();
        }
        let Some((word, rest)) = self.words.split_first() else { return TapeValue::Null };
        self.words = rest;
        match self.form {
            ElementForm::Doubles => TapeValue::Double(f64::from_bits(*word as u64)),
            ElementForm::Bools => TapeValue::Bool(*word != 0),
            ElementForm::Ints | ElementForm::OnTape => TapeValue::Int(*word),
        }
    }
}
