//! Finding a value by a path: keys with dots between them, as people write them.
//!
//! A key is given as its text, whether it is a String, a Symbol or a whole number. A String comes before a Symbol, and
//! a Symbol before a number; `:text` is the Symbol only. At each level the longest text that is a key is taken, so a
//! key with dots in it is found, too.

use super::roots::Roots;
use super::value::{MarshalForm, MarshalValue, ValueId, Values};
use crate::Result;

/// Keys that are taken apart at once.
const KEYS_AT_ONCE: usize = 1000;

// Bound (Marshal): dots of a path that leads to a value = 500.
/// The rest behind them is one key.
const DOTS_MAX: usize = 500;

/// Quality of the match of a key and a text; less is better.
type Rank = u8;

impl Roots<'_> {
    /// The root with the longest key that a path begins with, and the rest of the path, which is empty where the
    /// path is that key.
    ///
    /// # Errors
    /// Those of [`Roots::keys`].
    pub fn find<'p>(&self, path: &'p [u8]) -> Result<Option<(usize, &'p [u8])>> {
        let starts: Vec<(&[u8], &[u8])> = starts(path).collect();
        let mut best: Option<(usize, Rank, usize)> = None;
        for first in (0..self.count()).step_by(KEYS_AT_ONCE) {
            let keys = self.keys(first..self.count().min(first + KEYS_AT_ONCE))?;
            for (root, &key) in (first..).zip(&keys.ids) {
                let fits = |&(text, _): &(&[u8], &[u8])| rank(&keys.values, key, text);
                let found = starts
                    .iter()
                    .enumerate()
                    .find_map(|(nth, start)| fits(start).map(|rank| (nth, rank, root)));
                best = best.into_iter().chain(found).min();
            }
        }
        Ok(best.and_then(|(nth, _, root)| Some((root, starts.get(nth)?.1))))
    }
}

impl Values {
    /// The value at a path within another: elements by their number (from the end where it is negative), values by
    /// their key, members of Structs and variables of objects by their name.
    ///
    /// # Errors
    /// The rest of the path that leads nowhere.
    pub fn find<'p>(
        &self,
        from: ValueId,
        path: &'p [u8],
    ) -> std::result::Result<ValueId, &'p [u8]> {
        let (mut id, mut path) = (from, path);
        while !path.is_empty() {
            let step = |(text, rest)| Some((self.step(self.get(id)?, text)?, rest));
            (id, path) = starts(path).find_map(step).ok_or(path)?;
        }
        Ok(id)
    }

    /// The value with a key in another.
    fn step(&self, value: &MarshalValue, key: &[u8]) -> Option<ValueId> {
        let number = || std::str::from_utf8(key).ok()?.parse::<i64>().ok();
        let named = |members: &[(super::SymbolId, ValueId)]| {
            let name = |(name, _): &&(super::SymbolId, ValueId)| {
                let name = self.symbol(*name);
                name == key || name.strip_prefix(b"@") == Some(key)
            };
            members.iter().find(name).map(|(_, value)| *value)
        };
        match &value.form {
            MarshalForm::Array(elements) => {
                let number = number()?;
                let from = if number < 0 { elements.len() as i64 } else { 0 };
                elements.get(usize::try_from(from.checked_add(number)?).ok()?).copied()
            }
            MarshalForm::Hash { entries, .. } => {
                let ranked = |(at, entry): (usize, &(ValueId, ValueId))| {
                    Some((rank(self, entry.0, key)?, at, entry.1))
                };
                entries.iter().enumerate().filter_map(ranked).min().map(|(_, _, value)| value)
            }
            MarshalForm::Struct { members, .. } => named(members),
            MarshalForm::Object { variables, .. } => named(variables),
            _ => None,
        }
    }
}

/// The texts that a path begins with, the longest first, and what is behind each.
fn starts(path: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let dots = path.iter().enumerate().filter(|(_, byte)| **byte == b'.').take(DOTS_MAX);
    let mut ends: Vec<usize> = dots.map(|(at, _)| at).collect();
    ends.push(path.len());
    ends.into_iter().rev().map(|end| {
        let (text, rest) = path.split_at(end);
        (text, rest.get(1..).unwrap_or_default())
    })
}

fn rank(values: &Values, key: ValueId, text: &[u8]) -> Option<Rank> {
    match &values.get(key)?.form {
        MarshalForm::String { text: found, .. } => (values.bytes(found) == text).then_some(0),
        MarshalForm::Symbol(symbol) => {
            let found = values.symbol(*symbol);
            (found == text || Some(found) == text.strip_prefix(b":")).then_some(1)
        }
        MarshalForm::Integer(number) => (number.to_string().as_bytes() == text).then_some(2),
        _ => None,
    }
}
