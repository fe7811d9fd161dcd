//! Errors in bytes that were to be a message.

use std::fmt;

use crate::Error;
use crate::error::excerpt;

/// The result of reading or writing a message.
pub type ProtocolResult<T> = std::result::Result<T, ProtocolError>;

/// Bytes that are no message, with what was expected, what was found and where. It is apart from
/// [`Error`], into which it turns, because Thrift's libraries have kinds of their own, which programs
/// look at.
#[derive(Debug, Clone)]
pub struct ProtocolError(Box<ProtocolErrorContent>);

#[derive(Debug, Clone)]
struct ProtocolErrorContent {
    kind: ProtocolErrorKind,
    error: Error,
    /// Path of the list or the map that it is in, which the message of the error has.
    path: Option<String>,
}

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
        ProtocolError(Box::new(ProtocolErrorContent { kind, error, path: None }))
    }

    /// The error as one of another kind.
    #[must_use]
    pub(super) fn of_kind(mut self, kind: ProtocolErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Places the error in the list or the map at the end of a path. The first path stays, which is that of the innermost one.
    #[cold]
    #[must_use]
    pub(super) fn in_path(mut self, path: &str) -> Self {
        if self.0.path.is_none() && !path.is_empty() {
            let message = format!("{}, in {}", self.0.error.message(), excerpt(path));
            let placed = Error::new(self.0.error.kind(), message);
            self.0.error = match self.0.error.offset() {
                Some(offset) => placed.at(offset),
                None => placed,
            };
            self.0.path = Some(path.to_owned());
        }
        self
    }

    /// The path of the list or the map that it is in, if it is known.
    pub(super) fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// Moves the error to an input in which `by` bytes stand before the message.
    #[must_use]
    pub(super) fn moved(self, by: u64) -> Self {
        let ProtocolErrorContent { kind, error, path } = *self.0;
        let at = error.offset().unwrap_or_default();
        let error = error.at(at.saturating_add(by));
        ProtocolError(Box::new(ProtocolErrorContent { kind, error, path }))
    }

    /// Returns the kind of the error, in Thrift's terms.
    pub fn kind(&self) -> ProtocolErrorKind {
        self.0.kind
    }

    /// The error with its message and the offset in bytes from the start of the input.
    pub fn error(&self) -> &Error {
        &self.0.error
    }
}

impl From<ProtocolError> for Error {
    fn from(error: ProtocolError) -> Error {
        error.0.error
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

impl std::error::Error for ProtocolError {}
