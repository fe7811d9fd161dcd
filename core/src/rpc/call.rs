//! A call as people see it.

use std::net::SocketAddr;

use crate::batch::Enumeration;
use crate::thrift::{Encoding, MessageForm};

/// Names of protocols.
pub(super) static PROTOCOLS: Enumeration = Enumeration {
    names: &[
        (0, "binary"),
        (1, "compact"),
        (2, "framed-binary"),
        (3, "framed-compact"),
        (4, "header-binary"),
        (5, "header-compact"),
        (6, "json"),
        (7, "framed-json"),
    ],
    is_closed: true,
};

/// Names of outcomes, by their numbers.
pub(super) static OUTCOMES: Enumeration = Enumeration {
    names: &[
        (Outcome::Returned as u8, "returned"),
        (Outcome::Exception as u8, "exception"),
        (Outcome::Failure as u8, "failure"),
        (Outcome::Oneway as u8, "oneway"),
        (Outcome::Unanswered as u8, "unanswered"),
        (Outcome::Cut as u8, "cut"),
    ],
    is_closed: true,
};

/// Form and framing of the messages of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    /// Form of the messages.
    pub form: MessageForm,
    /// Bytes before each message.
    pub framing: Framing,
}

/// Bytes before each message of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Framing {
    /// None.
    Unframed,
    /// Its length in 4 bytes, as a framed transport writes it.
    Framed,
    /// Its length and a header ([`FrameHeader`](crate::thrift::FrameHeader)).
    Header,
}

impl Protocol {
    /// The name it has in output: `binary`, `compact` or `json`, behind `framed-` or `header-` where messages have a frame.
    pub fn name(self) -> &'static str {
        let number = match self.form {
            MessageForm::Packed(encoding) => {
                2 * self.framing as u8 + u8::from(encoding == Encoding::Compact)
            }
            MessageForm::Json => 6 + u8::from(self.framing != Framing::Unframed),
        };
        PROTOCOLS.name(number).unwrap_or_default()
    }
}

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// It returned.
    Returned,
    /// It answered an exception that it declares.
    Exception,
    /// It could not be called, or failed in a way that it does not declare (`TApplicationException`).
    Failure,
    /// It does not answer.
    Oneway,
    /// No answer is in the capture.
    Unanswered,
    /// An answer is, but too little of it to say what it is.
    Cut,
}

impl Outcome {
    /// The name it has in output.
    pub fn name(self) -> &'static str {
        OUTCOMES.name(self as u8).unwrap_or_default()
    }

    /// Returns true if it counts as an error.
    pub fn is_error(self) -> bool {
        matches!(self, Outcome::Exception | Outcome::Failure)
    }
}

/// One call of a method, and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The number of its connection, from 1 in the order of first packets.
    pub connection: u64,
    /// Who called.
    pub client: SocketAddr,
    /// Who was called.
    pub server: SocketAddr,
    /// The method, with the service before it and a colon if several share a connection.
    pub method: Box<str>,
    /// The number that an answer has from its call.
    pub sequence_id: i32,
    /// Protocol of its connection.
    pub protocol: Protocol,
    /// Outcome of the call.
    pub outcome: Outcome,
    /// When its first byte was captured, nanoseconds since the epoch; of an answer whose call is not in the
    /// capture, when that was.
    pub ts: Option<i64>,
    /// Nanoseconds from its first byte to the last one of its answer, where both were captured.
    pub latency: Option<u64>,
    /// Bytes of the call with its frame, where it is in the capture.
    pub request_bytes: Option<u64>,
    /// Bytes of the answer with its frame, where it is in the capture.
    pub reply_bytes: Option<u64>,
    /// The struct of its arguments, if it was asked for and is there as a whole.
    pub arguments: Option<Vec<u8>>,
    /// The struct of its answer, in the same way; of a failure, that of a `TApplicationException`.
    pub result: Option<Vec<u8>>,
}

impl Call {
    /// The method without a service before it, which it has where several share a connection.
    pub fn bare_method(&self) -> &str {
        self.method.rsplit(':').next().unwrap_or_default()
    }

    /// Bytes of the structs that it has.
    pub fn struct_bytes(&self) -> usize {
        [&self.arguments, &self.result].into_iter().flatten().map(Vec::len).sum()
    }
}
