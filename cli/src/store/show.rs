//! Values of a Marshal stream as text: as Ruby inspects them, or as JSON.
//!
//! A value that the stream links to is written again at each place. As links take two bytes and what
//! they lead to may be large, the text has a bound.

mod integer;
mod json;
mod text;

use bytewright::marshal::{MarshalValue, ValueId, Values};
use bytewright::{Error, Result};

use crate::notation;

pub(super) use json::json;
pub(super) use text::text;

// Bound (Marshal): text of a printed value = 64 times its stream, and 1 MiB.
const EXPANSION_MAX: usize = 64;

/// Length that a small stream's text may have in any case.
const SPARE_LEN: usize = 1 << 20;

/// The values of a stream on their way into a text.
struct Writer<'a> {
    values: &'a Values,
    into: &'a mut Vec<u8>,
    /// Values that are being written, the outermost first.
    open: Vec<ValueId>,
    len_max: usize,
}

impl<'a> Writer<'a> {
    fn new(values: &'a Values, into: &'a mut Vec<u8>) -> Self {
        let spare = values.stream_len().saturating_mul(EXPANSION_MAX).saturating_add(SPARE_LEN);
        let len_max = into.len().saturating_add(spare);
        Writer { values, into, open: Vec::new(), len_max }
    }

    /// Writes a value by `write`, or, if it is in itself, by `again` with how many levels up it is.
    fn enter(
        &mut self,
        id: ValueId,
        write: impl FnOnce(&mut Self, &'a MarshalValue) -> Result<()>,
        again: impl FnOnce(&mut Self, &'a MarshalValue, usize),
    ) -> Result<()> {
        let Some(value) = self.values.get(id) else { return Ok(()) };
        if self.into.len() > self.len_max {
            let limit = self.len_max as u64;
            let what = "text output of values with many links";
            return Err(Error::limit(what, limit, self.into.len() as u64));
        }
        if let Some(at) = self.open.iter().position(|&open| open == id) {
            again(self, value, self.open.len() - at);
            return Ok(());
        }
        self.open.push(id);
        let written = write(self, value);
        self.open.pop();
        written
    }

    /// Writes each item by `write`, commas between them.
    fn list<T>(
        &mut self,
        items: &[T],
        comma: &[u8],
        mut write: impl FnMut(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        for (nth, item) in items.iter().enumerate() {
            if nth > 0 {
                self.into.extend_from_slice(comma);
            }
            write(self, item)?;
        }
        Ok(())
    }

    fn put(&mut self, text: &str) {
        self.into.extend_from_slice(text.as_bytes());
    }
}

/// A floating-point number as the host writes it, from its text in the stream, in which only bytes
/// before a zero count.
fn float_text(text: &[u8]) -> String {
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    match number {
        Some(number) => notation::double_text(number),
        // The host makes 0.0 of text that is no number.
        None => "0.0".to_owned(),
    }
}
