//! Some fields of each message: a line for a message, or for each element of the lists that paths with `[]` and `{}` name.

use bytewright::thrift::{Projection, Tape, TapeCursor, TapeValue, json};
use bytewright::{Error, Result};

use super::messages::Message;
use super::show;
use crate::notation;

// Bound (Thrift): lines of a Thrift message that the command prints = 256 MiB.
/// Fields beside a list are printed again for each of its elements.
const LINES_MAX: usize = 256 << 20;

/// Prints some fields of messages.
pub(super) struct Plucker {
    projection: Projection,
    /// The number of the path whose values each have a line.
    rows_path: usize,
    tape: Tape,
    as_json: bool,
}

/// Value on a tape, and the numbers of the elements that it is in.
struct TapeLeaf<'t> {
    elements: Vec<usize>,
    value: Option<(TapeCursor<'t>, TapeValue<'t>)>,
}

impl Plucker {
    /// # Errors
    /// `Argument` where lists that make lines are not in each other.
    pub(super) fn new(projection: Projection, as_json: bool) -> Result<Plucker> {
        let rows_path = projection.rows_path()?.unwrap_or(0);
        Ok(Plucker { projection, rows_path, tape: Tape::new(), as_json })
    }

    pub(super) fn projection(&self) -> &Projection {
        &self.projection
    }

    pub(super) fn print(&mut self, message: &Message<'_>, into: &mut Vec<u8>) -> Result<()> {
        let packed = message.packed(self.projection.plan(), self.projection.root())?;
        let (encoding, limits) = (packed.encoding, message.limits);
        let read = self.projection.pluck(encoding, &packed.bytes, limits, &mut self.tape);
        read.map_err(|error| message.placed(error))?;
        let leaves = self.leaves(&packed.bytes);
        let Some(lines) = leaves.get(self.rows_path) else { return Ok(()) };
        let start = into.len();
        for line in lines {
            self.line(&leaves, &line.elements, into);
            if into.len() - start > LINES_MAX {
                let found = (into.len() - start) as u64;
                let error =
                    Error::limit("the bytes of the lines of a message", LINES_MAX as u64, found);
                return Err(message.error_at(error, 0));
            }
        }
        Ok(())
    }

    /// The values of each path, in the order of their elements.
    fn leaves<'t>(&'t self, body: &'t [u8]) -> Vec<Vec<TapeLeaf<'t>>> {
        // Values come in the order of the message.
        let mut found = vec![None; self.projection.paths().len()];
        let mut cursor = self.tape.cursor(body);
        cursor.value();
        while let Some((path, value)) = cursor.field() {
            if let Some(place) = found.get_mut(path) {
                *place = Some((cursor.clone(), value));
            }
            cursor.skip(value);
        }
        let paths = found.into_iter().zip(self.projection.steps());
        paths
            .map(|(value, steps)| {
                let level = steps.iter().filter(|step| step.is_rows()).count();
                let mut leaves = Vec::new();
                TapeLeaf { elements: Vec::new(), value }.spread(level, &mut leaves);
                leaves
            })
            .collect()
    }

    /// Prints the values of all paths that the elements have.
    fn line(&self, leaves: &[Vec<TapeLeaf<'_>>], elements: &[usize], into: &mut Vec<u8>) {
        let schema = self.projection.plan().schema();
        for (number, (leaves, (path, value_type))) in
            leaves.iter().zip(self.projection.paths()).enumerate()
        {
            if self.as_json {
                into.push(if number == 0 { b'{' } else { b',' });
                notation::json_text(into, path);
                into.push(b':');
            } else if number > 0 {
                into.push(b'\t');
            }
            match TapeLeaf::of(leaves, elements).and_then(|leaf| leaf.value.clone()) {
                Some((mut at, value)) if self.as_json => {
                    json(into, schema, &mut at, value, value_type);
                }
                Some((mut at, value)) => show::line(into, schema, &mut at, value, value_type),
                None => into.extend_from_slice(if self.as_json { b"null" } else { b"-" }),
            }
        }
        into.extend_from_slice(if self.as_json { b"}\n" } else { b"\n" });
    }
}

impl<'t> TapeLeaf<'t> {
    /// Adds the values in so many lists in each other.
    fn spread(self, level: usize, into: &mut Vec<TapeLeaf<'t>>) {
        match (level, self.value) {
            (0, value) => into.push(TapeLeaf { value, ..self }),
            (_, Some((mut cursor, TapeValue::List(count)))) => {
                for number in 0..count {
                    let value = cursor.value();
                    let elements = [self.elements.as_slice(), &[number]].concat();
                    let value = Some((cursor.clone(), value))
                        .filter(|(_, value)| *value != TapeValue::Null);
                    let inside = TapeLeaf { elements, value };
                    if let Some((_, value)) = &inside.value {
                        cursor.skip(*value);
                    }
                    inside.spread(level - 1, into);
                }
            }
            _ => {}
        }
    }

    /// The value that is in elements, or beside those that have them.
    fn of<'l>(leaves: &'l [TapeLeaf<'t>], elements: &[usize]) -> Option<&'l TapeLeaf<'t>> {
        let level = leaves.first()?.elements.len();
        let elements = elements.get(..level)?;
        let place = leaves.binary_search_by(|leaf| leaf.elements.as_slice().cmp(elements));
        leaves.get(place.ok()?)
    }
}
