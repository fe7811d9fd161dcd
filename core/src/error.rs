//! The one error of the core: what was expected, what was found, where, and in which file.
//!
//! Bad input is a value of this type, never a panic. A face turns each [`ErrorKind`] into one
//! exception class of its language.
//!
//! A decoder that finds damage answers [`ErrorKind::Format`], [`ErrorKind::Truncated`] or [`ErrorKind::Limit`] with the offset,
//! and the same on each further call. All that comes before the damage is given first: bytes, packets, rows, flows. A call that
//! fills a batch gives the rows it has, and the next call fails. Damage inside one packet is no error but a bit of its status,
//! and the next packet is read.

use std::borrow::Cow;
use std::fmt;

use crate::terminal::{Harmless, shortened};

/// Characters of a message at most. Texts that repeat inputs do so by excerpts; this holds for all of them.
const MESSAGE_MAX: usize = 2000;

/// Bytes of a file's name that is repeated wholly: no system here opens one with more.
const NAME_MAX: usize = 4096;

/// Characters of a text from outside that an error repeats.
pub const EXCERPT_MAX: usize = 200;

/// Text from outside as far as an error repeats it: of more than [`EXCERPT_MAX`] characters, the beginning and the end.
pub fn excerpt(text: &str) -> Cow<'_, str> {
    shortened(text, EXCERPT_MAX)
}

/// Bytes from outside as an error repeats them: what of [`excerpt`] is no UTF-8 is replaced.
pub fn excerpt_of_bytes(bytes: &[u8]) -> Cow<'_, str> {
    // A character has up to four bytes; what is between the ends of a longer text is not looked at.
    const END_LEN: usize = EXCERPT_MAX * 4;
    if bytes.len() <= 2 * END_LEN {
        return match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => excerpt(text),
            Cow::Owned(text) => excerpt(&text).into_owned().into(),
        };
    }
    let ends = [&bytes[..END_LEN], &bytes[bytes.len() - END_LEN..]].concat();
    excerpt(&String::from_utf8_lossy(&ends)).into_owned().into()
}

/// Kind of an error, in the terms a program can act on.
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

impl ErrorKind {
    /// One of each, in the order in which they are told.
    pub const ALL: &'static [ErrorKind] = &[
        ErrorKind::Io(None),
        ErrorKind::Format,
        ErrorKind::Truncated { needed: 0, available: 0 },
        ErrorKind::Limit,
        ErrorKind::Lock,
        ErrorKind::Closed,
        ErrorKind::Corrupt,
        ErrorKind::MissingLibrary,
        ErrorKind::Argument,
        ErrorKind::Internal,
    ];

    /// Its name in small letters.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::Io(_) => "io",
            ErrorKind::Format => "format",
            ErrorKind::Truncated { .. } => "truncated",
            ErrorKind::Limit => "limit",
            ErrorKind::Lock => "lock",
            ErrorKind::Closed => "closed",
            ErrorKind::Corrupt => "corrupt",
            ErrorKind::MissingLibrary => "missing_library",
            ErrorKind::Argument => "argument",
            ErrorKind::Internal => "internal",
        }
    }

    /// The meaning, as a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            ErrorKind::Io(_) => "The operating system refused.",
            ErrorKind::Format => "The bytes are not what the format allows.",
            ErrorKind::Truncated { .. } => "The input ends within a value, a packet or a message.",
            ErrorKind::Limit => {
                "A length, count or depth in the input is above the bound that protects memory."
            }
            ErrorKind::Lock => {
                "Another process has the file open, or this thread is already using the object."
            }
            ErrorKind::Closed => {
                "The object was closed, belongs to another process, or can be read only once."
            }
            ErrorKind::Corrupt => "A file that Bytewright wrote is damaged.",
            ErrorKind::MissingLibrary => "A library that was asked for is not on this machine.",
            ErrorKind::Argument => "An argument is invalid. Nothing was done.",
            ErrorKind::Internal => "A defect in Bytewright.",
        }
    }

    /// Advice to a person, beside what the message says.
    pub const fn advice(self) -> &'static str {
        match self {
            ErrorKind::Io(_) => "See the system's words: permissions, space, names.",
            ErrorKind::Format => {
                "Use the right file, or create or copy it again. Data before the error is good."
            }
            ErrorKind::Truncated { .. } => {
                "Wait until the file is complete, or copy it again. Data before the error is good."
            }
            ErrorKind::Limit => {
                "Raise the bound if the message names an option; otherwise the input is damaged or hostile."
            }
            ErrorKind::Lock => "Wait (`timeout`, `--wait`), or close it there.",
            ErrorKind::Closed => "Open it again, here.",
            ErrorKind::Corrupt => "Copy the file first; then check and repair it.",
            ErrorKind::MissingLibrary => "Install the package that the message names.",
            ErrorKind::Argument => "Change the call.",
            ErrorKind::Internal => "Report it, with the message and, if you can, the file.",
        }
    }
}

/// An error with its kind, its place and a message for people.
///
/// It displays as `FILE: byte OFFSET: MESSAGE`, leaving out what is not known, and harmless to a terminal.
#[derive(Debug, Clone)]
pub struct Error(Box<ErrorContent>);

#[derive(Debug, Clone)]
struct ErrorContent {
    kind: ErrorKind,
    message: String,
    offset: Option<u64>,
    file: Option<String>,
}

/// The result of everything in the core that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind` with a whole `message`. One that is longer than people read loses its middle: some input
    /// is repeated in it.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = bounded(message.into(), MESSAGE_MAX);
        Error(Box::new(ErrorContent { kind, message, offset: None, file: None }))
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

    /// Places the error at `offset` bytes into the (decompressed) input.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// Places the error in the file (or stream) that people know as `name`. The first name stays.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.0.file.get_or_insert_with(|| match name.len() > NAME_MAX {
            true => excerpt(name).into_owned(),
            false => name.to_owned(),
        });
        self
    }

    /// Says more behind the message.
    #[must_use]
    pub(crate) fn saying(mut self, more: impl fmt::Display) -> Self {
        self.0.message = bounded(format!("{}; {more}", self.0.message), MESSAGE_MAX);
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the place of the error, in bytes from the start of the input, if known.
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

/// The text, without its middle where it is longer than `characters_max`.
fn bounded(text: String, characters_max: usize) -> String {
    match shortened(&text, characters_max) {
        Cow::Owned(short) => short,
        Cow::Borrowed(_) => text,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_repeats_the_beginning_and_the_end_of_a_long_input() {
        let long = "\u{1f600}".repeat(1 << 20) + "end";
        for shown in [excerpt(&long), excerpt_of_bytes(long.as_bytes())] {
            assert_eq!(shown.chars().count(), EXCERPT_MAX);
            assert!(shown.ends_with("end") && shown.contains('…'), "{shown}");
        }
        assert_eq!(excerpt_of_bytes(b"a\xff"), "a\u{fffd}");
    }

    #[test]
    fn no_message_and_no_name_is_longer_than_people_read() {
        let long = format!("{}the end", "x\n".repeat(1 << 20));
        let error = Error::new(ErrorKind::Argument, long.clone()).in_file(&long);
        assert_eq!(error.message().chars().count(), MESSAGE_MAX);
        assert!(error.message().ends_with("the end"));
        assert_eq!(error.file().map(|file| file.chars().count()), Some(EXCERPT_MAX));
        let whole = "x".repeat(MESSAGE_MAX);
        assert_eq!(Error::new(ErrorKind::Format, whole.clone()).message(), whole);
    }
}
