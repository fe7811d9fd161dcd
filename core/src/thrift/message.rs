//! The envelope of a call or an answer: which function, whether it is asked or answered, and a number
//! that tells which answer belongs to which call.
//!
//! ```text
//! Binary, strict   │0x8001 2│0│kind 1│name length 4│name …│sequence id 4│
//! Binary, not      │name length 4│name …│kind 1│sequence id 4│
//! Compact          │0x82│kind 3 bits, version 5 bits│sequence id, varint│name length, varint│name …│
//! JSON             [1,"name",kind,sequence id, and behind the struct ]
//! ```

use super::binary::Binary;
use super::compact::Compact;
use super::decode::Encoding;
use super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use super::input::{MessageInput, ProtocolReader, ThriftMessage};
use super::json_protocol;
use super::limits::Limits;
use super::message_layout::MessageForm;
use crate::{Error, ErrorKind};

/// The upper half of the first number of a strict message.
pub(super) const BINARY_VERSION: u32 = 0x8001_0000;
const BINARY_VERSION_MASK: u32 = 0xffff_0000;

/// The first byte of a message in Compact.
pub(super) const COMPACT_ID: u8 = 0x82;
/// The low bits of the second.
pub(super) const COMPACT_VERSION: u8 = 1;
const COMPACT_VERSION_MASK: u8 = 0x1f;
/// Bits of the second byte below the kind.
pub(super) const COMPACT_KIND_SHIFT: u32 = 5;

/// Kind of a message. One that came from a message may be any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageKind(pub u8);

impl MessageKind {
    /// A function is called.
    pub const CALL: Self = MessageKind(1);
    /// It has answered.
    pub const REPLY: Self = MessageKind(2);
    /// It could not be called, or failed in a way that it does not declare.
    pub const EXCEPTION: Self = MessageKind(3);
    /// It is called and does not answer.
    pub const ONEWAY: Self = MessageKind(4);
}

/// Header before the struct of a call or an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHeader<'a> {
    /// The function, which should be UTF-8.
    pub name: &'a [u8],
    /// Kind of the message: a call or an answer.
    pub kind: MessageKind,
    /// The number that an answer has from its call.
    pub sequence_id: i32,
    /// Bytes that the header took: the struct begins behind them.
    pub len: usize,
}

/// Headers that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Those with a version only. Compact always has one.
    Strict,
    /// Those without a version too, which very old programs write.
    Lenient,
}

impl<'a> MessageHeader<'a> {
    /// Reads the header that begins with the first of `bytes`.
    ///
    /// # Errors
    ///
    /// Returns the error in the bytes; `BadVersion` for another protocol. `Truncated` as for
    /// [`Plan::decode`](super::Plan::decode).
    pub fn read(
        form: impl Into<MessageForm>,
        strictness: Strictness,
        bytes: &'a [u8],
        limits: Limits,
    ) -> ProtocolResult<Self> {
        let whole = ThriftMessage::whole(bytes, limits);
        match form.into() {
            MessageForm::Packed(Encoding::Binary) => {
                read_binary(bytes, &mut Binary::new(MessageInput::new(&whole)), strictness)
            }
            MessageForm::Packed(Encoding::Compact) => {
                read_compact(bytes, &mut Compact::new(MessageInput::new(&whole)))
            }
            MessageForm::Json => json_protocol::read_header(bytes, limits),
        }
    }
}

fn read_binary<'a>(
    bytes: &'a [u8],
    at: &mut Binary<'_>,
    strictness: Strictness,
) -> ProtocolResult<MessageHeader<'a>> {
    let mut ahead = *at;
    let version = ahead.i32()? as u32;
    if version & BINARY_VERSION_MASK == BINARY_VERSION {
        *at = ahead;
        let name = name(bytes, at)?;
        let sequence_id = at.i32()?;
        let kind = MessageKind(version as u8);
        return Ok(MessageHeader { name, kind, sequence_id, len: at.input().position() });
    }
    // A length has no sign; what has one is a version.
    if strictness == Strictness::Strict || version > i32::MAX as u32 {
        return Err(bad_version(at, "a message in Binary that begins with 80 01", version));
    }
    let name = name(bytes, at)?;
    let kind = MessageKind(at.byte()? as u8);
    let sequence_id = at.i32()?;
    Ok(MessageHeader { name, kind, sequence_id, len: at.input().position() })
}

fn read_compact<'a>(bytes: &'a [u8], at: &mut Compact<'_>) -> ProtocolResult<MessageHeader<'a>> {
    let mut ahead = *at;
    let id = ahead.byte()? as u8;
    if id != COMPACT_ID {
        return Err(bad_version(at, "a message in Compact that begins with 82", u32::from(id)));
    }
    let second = ahead.byte()? as u8;
    if second & COMPACT_VERSION_MASK != COMPACT_VERSION {
        let version = u32::from(second & COMPACT_VERSION_MASK);
        return Err(bad_version(at, "a message in version 1 of Compact", version));
    }
    *at = ahead;
    let kind = MessageKind(second >> COMPACT_KIND_SHIFT);
    let sequence_id = at.varint()? as i32;
    let name = name(bytes, at)?;
    Ok(MessageHeader { name, kind, sequence_id, len: at.input().position() })
}

/// The name of a function, out of `bytes`, which outlive the cursor.
fn name<'a, 'b, P: ProtocolReader<'b>>(bytes: &'a [u8], at: &mut P) -> ProtocolResult<&'a [u8]> {
    let len = at.string_len()?;
    let start = at.input().position();
    at.input().take("the name of a function", len)?;
    Ok(bytes.get(start..start + len).unwrap_or_default())
}

#[cold]
fn bad_version<'a, P: ProtocolReader<'a>>(at: &mut P, expected: &str, found: u32) -> ProtocolError {
    let message = format!("expected {expected}, found {found:02x}");
    at.input().failed(ProtocolErrorKind::BadVersion, Error::new(ErrorKind::Format, message))
}
