//! Reasons not to handle a stream, or a change of one, as bytes. After a refusal, the caller has the
//! host load and dump the whole table, which is always right.

use std::fmt;

use crate::{Error, ErrorKind};

/// The result of what may be refused.
pub(super) type Result<T, E = NotIndexable> = std::result::Result<T, E>;

/// A stream that cannot be handled root by root: what stands against it, and where.
///
/// It is no verdict on the stream: the host may load it well, and says best what is wrong with it
/// if it is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotIndexable {
    /// Reason of the refusal.
    pub reason: Reason,
    /// Offset in bytes from the start of the stream.
    pub offset: usize,
}

/// Reason not to handle a stream as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It ends in the middle of something.
    Truncated,
    /// It does not begin with the version 4.8.
    Version,
    /// It is no Hash, or one of a class of its own, or with instance variables.
    NotAPlainHash,
    /// A byte that begins no object that is known here.
    UnknownType(u8),
    /// A count or length that the bytes left cannot hold.
    Count,
    /// It is nested deeper than [`DEPTH_MAX`](super::DEPTH_MAX).
    Depth,
    /// It is longer than [`LEN_MAX`](super::LEN_MAX) bytes.
    TooLong,
    /// Bytes follow the object.
    Trailing,
    /// A link to a symbol or object that is not before it.
    DanglingLink,
    /// Dumping what it loads as would give other bytes.
    NotCanonical,
    /// Two keys of a Hash are equal, or may be.
    EqualKeys,
    /// A Hash by identity, or one that was made of keyword arguments.
    SpecialHash,
    /// An object of a class whose own code dumps and loads it, which nobody vouches for.
    UserHook,
    /// An object with a variable that only the host's own code can see, as exceptions have: what it
    /// loads as is for the host.
    HiddenVariable,
    /// A key shares an object with something outside of it.
    SharedKey,
    /// The default value shares an object with a root.
    SharedDefault,
    /// A root was to be changed without those it shares objects with.
    SplitGroup,
    /// The key of a new root may be that of another one.
    UncertainKey,
    /// The request does not fit the stream: it names a root that does not exist, or one twice, or one
    /// whose key is another.
    BadEdit,
    /// The index and the bytes do not fit each other: a defect in Bytewright.
    Inconsistent,
}

impl NotIndexable {
    pub(super) fn new(reason: Reason, offset: usize) -> Self {
        NotIndexable { reason, offset }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Reason::Truncated => "expected more bytes, found the end",
            Reason::Version => "expected a Marshal stream of version 4.8, found another",
            Reason::NotAPlainHash => "expected a plain Hash, found something else",
            Reason::UnknownType(byte) => {
                return write!(f, "expected the type of an object, found the byte {byte:#04x}");
            }
            Reason::Count => "expected a count that the bytes left can hold, found a larger one",
            Reason::Depth => "expected objects nested at most 128 deep, found deeper ones",
            Reason::TooLong => "expected a stream of less than 4 GiB, found a longer one",
            Reason::Trailing => "expected the end, found more bytes",
            Reason::DanglingLink => "expected a link to an earlier object, found one to none",
            Reason::NotCanonical => "expected what Marshal.dump writes, found another encoding",
            Reason::EqualKeys => "expected keys that differ from each other, found equal ones",
            Reason::SpecialHash => "expected a Hash that compares by content, found another",
            Reason::UserHook => "expected classes whose dumps are always the same, found another",
            Reason::HiddenVariable => "expected variables whose names begin with @, found another",
            Reason::SharedKey => {
                "expected a key that shares no object with others, found one that does"
            }
            Reason::SharedDefault => {
                "expected a default value that shares no object with roots, found one that does"
            }
            Reason::SplitGroup => {
                "expected roots that share objects to be changed together, found some of them"
            }
            Reason::UncertainKey => {
                "expected a key that is certainly new, found one that may exist"
            }
            Reason::BadEdit => "expected changes of existing roots, found one of another",
            Reason::Inconsistent => {
                "a defect in Bytewright, please report it: the index does not fit the bytes"
            }
        };
        f.write_str(text)
    }
}

impl fmt::Display for NotIndexable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.reason)
    }
}

impl std::error::Error for NotIndexable {}

impl From<NotIndexable> for Error {
    fn from(refusal: NotIndexable) -> Error {
        let kind = match refusal.reason {
            Reason::Truncated => ErrorKind::Truncated { needed: 1, available: 0 },
            Reason::Count | Reason::Depth | Reason::TooLong => ErrorKind::Limit,
            Reason::BadEdit => ErrorKind::Argument,
            Reason::Inconsistent => ErrorKind::Internal,
            _ => ErrorKind::Format,
        };
        Error::new(kind, refusal.reason.to_string()).at(refusal.offset as u64)
    }
}
