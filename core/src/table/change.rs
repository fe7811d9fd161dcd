//! Changes of a table one after another, and the place up to which somebody has seen them.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result, excerpt};

/// Change of a table. Who makes each change of [`Changes`] to a table of his own, in their order, has the same entries at the
/// end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'b> {
    /// All entries were deleted.
    Clear,
    /// The value of a key was set.
    Put {
        /// The key.
        key: &'b [u8],
        /// The value that it has since.
        value: &'b [u8],
    },
    /// The entry of a key was deleted.
    Delete {
        /// The key.
        key: &'b [u8],
    },
}

impl<'b> Change<'b> {
    /// Returns the name of the kind: `clear`, `put` or `delete`.
    pub const fn name(&self) -> &'static str {
        match self {
            Change::Clear => "clear",
            Change::Put { .. } => "put",
            Change::Delete { .. } => "delete",
        }
    }

    /// Returns the key, where it is of one.
    pub const fn key(&self) -> Option<&'b [u8]> {
        match self {
            Change::Clear => None,
            Change::Put { key, .. } | Change::Delete { key } => Some(key),
        }
    }

    /// Returns the value that was set, where one was.
    pub const fn value(&self) -> Option<&'b [u8]> {
        match self {
            Change::Put { value, .. } => Some(value),
            Change::Clear | Change::Delete { .. } => None,
        }
    }
}

/// Changes that were committed from a position on, up to the moment when these were asked for.
///
/// They begin with [`Change::Clear`] and have all entries where the table does not tell more: without a position, and where
/// the file was compacted or repaired since, or is another one of the same table.
pub trait Changes: Send {
    /// The next change, borrowed until the next call. An error ends them.
    fn advance(&mut self) -> Result<Option<Change<'_>>>;

    /// Returns the position behind the last of them, whatever of them was seen.
    fn position(&self) -> ChangePosition;
}

/// Place in the changes of one table: all before it were seen. As text it is four hexadecimal numbers with dots between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangePosition {
    /// Random number of the table.
    pub(crate) seed: u64,
    /// Generation of its file.
    pub(crate) generation: u64,
    /// Offset of the last frame that was seen; 0 without one.
    pub(crate) frame: u64,
    /// Last check in that frame, which tells it from one that was written there in another history of the table.
    pub(crate) check: u32,
}

impl ChangePosition {
    /// The error for a table without a log of its changes.
    pub(crate) fn needs_log() -> Error {
        let message = "expected a HashTable in a file, which has a log of its changes, found a table without one: take a \
                       snapshot, or dump it";
        Error::new(ErrorKind::Argument, message)
    }
}

impl Display for ChangePosition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{:x}.{:x}.{:x}", self.seed, self.generation, self.frame, self.check)
    }
}

impl FromStr for ChangePosition {
    type Err = Error;

    fn from_str(text: &str) -> Result<ChangePosition> {
        position_of(text).ok_or_else(|| {
            let found = excerpt(text);
            let message =
                format!("expected a position that changes of a table have given, found {found}");
            Error::new(ErrorKind::Argument, message)
        })
    }
}

/// Reads the text of a position.
fn position_of(text: &str) -> Option<ChangePosition> {
    let mut numbers = text.split('.').map(|number| {
        let is_hexadecimal = number.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hexadecimal.then(|| u64::from_str_radix(number, 16).ok()).flatten()
    });
    let mut number = || numbers.next().flatten();
    let (seed, generation, frame, check) = (number()?, number()?, number()?, number()?);
    let check = u32::try_from(check).ok()?;
    numbers.next().is_none().then_some(ChangePosition { seed, generation, frame, check })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_from_its_own_text() {
        let position =
            ChangePosition { seed: u64::MAX, generation: 1, frame: 69632, check: 0x00c0_ffee };
        assert_eq!(position.to_string(), "ffffffffffffffff.1.11000.c0ffee");
        assert_eq!(position.to_string().parse::<ChangePosition>().unwrap(), position);
    }

    #[test]
    fn other_text_is_no_position() {
        for text in ["", "1", "1.2.3", "1.2.3.4.5", "1.2.3.100000000", "+1.2.3.4", "1..3.4", "x"] {
            let error = text.parse::<ChangePosition>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{text}");
            assert!(error.to_string().contains("expected a position"), "{error}");
        }
    }
}
