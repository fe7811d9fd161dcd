//! Errors in bytes that were to be a message.

use std::fmt;

use crate::Error;

/// The result of reading or writing a message.
pub type ProtocolResult<T> = std::result::Result<T, ProtocolError>;

/// Bytes that are no message, with what was expected, what was found and where. It is apart from
/// [`Error`], into which it turns, because Thrift's libraries have kinds of their own, which programs
/// look at.
#[derive(Debug, Clone)]
pub struct ProtocolError(Box<(ProtocolErrorKind, Error)>);

/// The kinds of Thrift's `ProtocolException`, as its libraries number them, and the end of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolErrorKind {
    /// The input ends inside of the message. [`Error::kind`] has the bytes that are needed at least.
    Truncated,
    /// Bytes that mean nothing there (`INVALID_DATA`).
    InvalidData,
    /// A length or a count below 0 (`NEGATIVE_SIZE`).
    NegativeSize,
    /// A length or a count above its bound (`SIZE_LIMIT`).
    SizeLimit,
    /// Structs and containers nested deeper than their bound (`DEPTH_LIMIT`).
    DepthLimit,
    /// A message of another version, or of another protocol (`BAD_VERSION`).
    BadVersion,
}

impl ProtocolErrorKind {
    /// The number that Thrift's libraries give it, where they have it.
    pub fn number(self) -> Option<u8> {
        match self {
            ProtocolErrorKind::Truncated => None,
            ProtocolErrorKind::InvalidData => Some(1),
            ProtocolErrorKind::NegativeSize => Some(2),
            ProtocolErrorKind::SizeLimit => Some(3),
            ProtocolErrorKind::BadVersion => Some(4),
            ProtocolErrorKind::DepthLimit => Some(6),
        }
    }
}

impl ProtocolError {
    /// `error`, which is of that kind.
    pub(super) fn new(kind: ProtocolErrorKind, error: Error) -> Self {
        ProtocolError(Box::new((kind, error)))
    }

    /// Moves the error to an input in which `by` bytes stand before the message.
    #[must_use]
    pub(super) fn moved(self, by: u64) -> Self {
        let (kind, error) = *self.0;
        let at = error.offset().unwrap_or_default();
        Self::new(kind, error.at(at.saturating_add(by)))
    }

    /// Returns the kind of the error, in Thrift's terms.
    pub fn kind(&self) -> ProtocolErrorKind {
        self.0.0
    }

    /// The error with its message and the offset in bytes from the start of the input.
    pub fn error(&self) -> &Error {
        &self.0.1
    }
}

impl From<ProtocolError> for Error {
    fn from(error: ProtocolError) -> Error {
        error.0.1
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

impl std::error::Error for ProtocolError {}
