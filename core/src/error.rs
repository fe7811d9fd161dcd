//! The one error of the core: what was expected, what was found, where, and in which file.
//!
//! Bad input is a value of this type, never a panic. A face turns each [`ErrorKind`] into one
//! exception class of its language.

use std::fmt;

use crate::terminal::Harmless;

/// What went wrong, in the terms a program can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused; the number is its `errno`, where it gave one.
    Io(Option<i32>),
    /// The bytes are not what the format allows.
    Format,
    /// The input ends within an item: the bytes that it needs, and those that are there.
    Truncated {
        /// Bytes of the whole item.
        needed: u64,
        /// Bytes of it that the input holds.
        available: u64,
    },
    /// A length, count or depth in the input is above the bound kept for it.
    Limit,
    /// Another process holds the file.
    Lock,
    /// The object was closed, or belongs to another process.
    Closed,
    /// A checksum or an invariant of a file that we wrote does not hold.
    Corrupt,
    /// A required library is not on this machine.
    MissingLibrary,
    /// An invalid argument: an unknown field, a bad filter.
    Argument,
    /// A defect in Bytewright itself.
    Internal,
}

/// An error with its kind, its place and a message for people.
///
/// It displays as `FILE: byte OFFSET: MESSAGE`, leaving out what is not known, and harmless to a terminal.
#[derive(Debug, Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    offset: Option<u64>,
    file: Option<String>,
}

/// The result of everything in the core that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind` with a whole `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), offset: None, file: None }))
    }

    /// Bytes that the format does not allow: what was expected, and what was found.
    pub fn format(expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Format, format!("expected {expected}, found {found}"))
    }

    /// The input ends inside `what`, which takes `needed` bytes of which `available` are there.
    pub fn truncated(what: impl fmt::Display, needed: u64, available: u64) -> Self {
        let message =
            format!("expected {what} of {needed} bytes, found {available} before the input ends");
        Self::new(ErrorKind::Truncated { needed, available }, message)
    }

    /// `what` claims `found`, which is above `limit`.
    pub fn limit(what: impl fmt::Display, limit: u64, found: u64) -> Self {
        Self::new(ErrorKind::Limit, format!("expected {what} of at most {limit}, found {found}"))
    }

    /// The operating system refused to do `action` ("open", "read", ...).
    pub fn io(action: &str, error: &std::io::Error) -> Self {
        let errno = error.raw_os_error();
        let text = error.to_string();
        // The number is for programs, which have it in the kind.
        let text = text.split(" (os error").next().unwrap_or(&text);
        Self::new(ErrorKind::Io(errno), format!("cannot {action}: {text}"))
    }

    /// A defect in Bytewright itself: which invariant does not hold.
    pub fn internal(found: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Internal, format!("a defect in Bytewright, please report it: {found}"))
    }

    /// The same error, placed at `offset` bytes into the (decompressed) input.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// The same error, in the file (or stream) that people know as `name`. The first name stays.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.0.file.get_or_insert_with(|| name.to_owned());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where in the input it went wrong, in bytes from its start, where that is known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The file it went wrong in, where that is known.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The message without file and offset.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.0.file {
            write!(f, "{}: ", Harmless::line(file))?;
        }
        if let Some(offset) = self.0.offset {
            write!(f, "byte {offset}: ")?;
        }
        Harmless::lines(&self.0.message).fmt(f)
    }
}

impl std::error::Error for Error {}
