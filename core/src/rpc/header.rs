//! Telling the header of a message from other bytes.
//!
//! ```text
//! framed   │length 4│ and a message of as many bytes     Binary   │80 01 00│kind 1│name length 4│name …│sequence id 4│
//!                                                       Compact  │82│kind, version 1│sequence id│name length│name …│
//! THeader  │length 4│0f ff│ … header, and behind it a message, which may be deflated
//! JSON     [1,"name",kind,sequence id,
//! ```
//!
//! A frame is shorter than 2^24 bytes, so that the first byte tells them apart: 0, 0x80, 0x82, `[`. Behind a frame's length, 0x0f
//! tells THeader.

use super::call::{Framing, Protocol};
use crate::thrift::{
    Encoding, FRAME_USUAL, FrameHeader, Limits, MessageForm, MessageHeader, MessageKind,
    ProtocolErrorKind, Strictness,
};

/// Bytes of the longest name that is taken for one.
const NAME_MAX: u32 = 256;

/// Bytes that a message in JSON begins with.
const JSON_MAGIC: &[u8] = b"[1,\"";

/// The first of them.
const JSON_FIRST: u8 = b'[';

/// Bytes of the length of a frame.
pub(super) const FRAME_HEADER_LEN: usize = 4;

// Bound (Flows): header of THeader in a connection = 1,024 bytes.
/// Bytes before the message in a frame of THeader that is taken for one: those before its header, and the header. Information
/// in it may be longer, which is rare.
const FRAME_START_MAX: usize = 10 + 1024;

/// Bytes in which the header of every message ends: Binary's fixed parts, Compact's varints or JSON's numbers, a name.
const MESSAGE_HEADER_MAX: usize = 2 + 10 + 10 + NAME_MAX as usize;

/// Bytes in which every header ends.
pub(super) const HEADER_MAX: usize = FRAME_HEADER_LEN + FRAME_START_MAX + MESSAGE_HEADER_MAX;

/// Result of the search for a header at the start of bytes.
pub(super) enum HeaderSearch<'a> {
    /// A message.
    Header(RpcHeader<'a>),
    /// A frame with a deflated message.
    Deflated(DeflatedHeader),
    /// Possible beginning of a message; more bytes will tell.
    Part,
    /// No message.
    Nothing,
}

/// The beginning of a message.
pub(super) struct RpcHeader<'a> {
    pub(super) protocol: Protocol,
    pub(super) name: &'a str,
    pub(super) kind: MessageKind,
    pub(super) sequence_id: i32,
    /// Bytes before the struct.
    pub(super) len: usize,
    /// Bytes of the struct, where a frame tells.
    pub(super) body_len: Option<u64>,
}

/// The beginning of a frame with a deflated message.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeflatedHeader {
    pub(super) protocol: Protocol,
    /// Bytes before the deflated ones.
    pub(super) len: usize,
    /// Deflated bytes.
    pub(super) deflated_len: u64,
}

/// The byte that messages of a protocol begin with.
pub(super) fn first_byte(protocol: Protocol) -> u8 {
    match (protocol.framing, protocol.form) {
        (Framing::Framed | Framing::Header, _) => 0,
        (Framing::Unframed, MessageForm::Packed(Encoding::Binary)) => 0x80,
        (Framing::Unframed, MessageForm::Packed(Encoding::Compact)) => 0x82,
        (Framing::Unframed, MessageForm::Json) => JSON_FIRST,
    }
}

/// Looks for a header at the start of `bytes`; of one protocol if it is known.
pub(super) fn find(bytes: &[u8], known: Option<Protocol>) -> HeaderSearch<'_> {
    let Some(first) = bytes.first() else { return HeaderSearch::Part };
    let (frame_len, message) = match first {
        0x80 | 0x82 | &JSON_FIRST => (None, bytes),
        0 => {
            let Some((len, message)) = bytes.split_first_chunk::<FRAME_HEADER_LEN>() else {
                return HeaderSearch::Part;
            };
            let len = u32::from_be_bytes(*len);
            if len == 0 || len > FRAME_USUAL {
                return HeaderSearch::Nothing;
            }
            (Some(len), message)
        }
        _ => return HeaderSearch::Nothing,
    };
    match (message.first(), frame_len) {
        (None, _) => HeaderSearch::Part,
        (Some(0x0f), Some(len)) => find_in_frame(len, message, known),
        (Some(0x80), _) => find_message(Encoding::Binary.into(), frame_len, message, known),
        (Some(0x82), _) => find_message(Encoding::Compact.into(), frame_len, message, known),
        (Some(&JSON_FIRST), _) => find_message(MessageForm::Json, frame_len, message, known),
        _ => HeaderSearch::Nothing,
    }
}

/// Looks for the header of a message without a frame, or of one in a frame of that length.
fn find_message(
    form: MessageForm,
    frame_len: Option<u32>,
    message: &[u8],
    known: Option<Protocol>,
) -> HeaderSearch<'_> {
    let (framing, before) = match frame_len {
        Some(_) => (Framing::Framed, FRAME_HEADER_LEN),
        None => (Framing::Unframed, 0),
    };
    let protocol = Protocol { form, framing };
    if known.is_some_and(|known| known != protocol) {
        return HeaderSearch::Nothing;
    }
    read(protocol, before, frame_len.map(u64::from), message)
}

/// Looks for the header of the message in a frame of THeader of that length.
fn find_in_frame(len: u32, frame: &[u8], known: Option<Protocol>) -> HeaderSearch<'_> {
    if known.is_some_and(|known| known.framing != Framing::Header) {
        return HeaderSearch::Nothing;
    }
    let header = match FrameHeader::read(frame.get(..FRAME_START_MAX).unwrap_or(frame)) {
        Ok(header) => header,
        Err(error)
            if error.kind() == ProtocolErrorKind::Truncated && frame.len() < FRAME_START_MAX =>
        {
            return HeaderSearch::Part;
        }
        Err(_) => return HeaderSearch::Nothing,
    };
    let protocol = Protocol { form: header.form, framing: Framing::Header };
    let before = FRAME_HEADER_LEN + header.len;
    let payload_len = u64::from(len).saturating_sub(header.len as u64);
    if payload_len == 0 || known.is_some_and(|known| known != protocol) {
        return HeaderSearch::Nothing;
    }
    if header.is_deflated {
        let deflated_len = payload_len;
        return HeaderSearch::Deflated(DeflatedHeader { protocol, len: before, deflated_len });
    }
    let payload = frame.get(header.len..).unwrap_or_default();
    read(protocol, before, Some(payload_len), payload)
}

/// Reads the header of a message behind `before` bytes, of `message_len` bytes if that is known.
pub(super) fn read(
    protocol: Protocol,
    before: usize,
    message_len: Option<u64>,
    message: &[u8],
) -> HeaderSearch<'_> {
    if !has_magic(protocol.form, message) {
        return HeaderSearch::Nothing;
    }
    let limits = Limits { string_max: NAME_MAX, ..Limits::default() };
    match MessageHeader::read(protocol.form, Strictness::Strict, message, limits) {
        Ok(header) => checked(protocol, before, message_len, &header),
        Err(error) if error.kind() == ProtocolErrorKind::Truncated => HeaderSearch::Part,
        Err(_) => HeaderSearch::Nothing,
    }
}

fn is_kind(kind: u8) -> bool {
    (MessageKind::CALL.0..=MessageKind::ONEWAY.0).contains(&kind)
}

/// Returns true if a message, or the available part of it, begins with a valid version and kind. It refuses nearly
/// everything that is no message before more of it is looked at.
fn has_magic(form: MessageForm, message: &[u8]) -> bool {
    let at = |place: usize, is_right: &dyn Fn(u8) -> bool| {
        message.get(place).is_none_or(|byte| is_right(*byte))
    };
    match form {
        MessageForm::Packed(Encoding::Binary) => {
            // Names are short, so that the upper bytes of their length are 0.
            at(0, &|byte| byte == 0x80)
                && at(1, &|byte| byte == 1)
                && at(2, &|byte| byte == 0)
                && at(3, &is_kind)
                && at(4, &|byte| byte == 0)
                && at(5, &|byte| byte == 0)
        }
        MessageForm::Packed(Encoding::Compact) => {
            at(0, &|byte| byte == 0x82) && at(1, &|byte| byte & 0x1f == 1 && is_kind(byte >> 5))
        }
        // Libraries write no spaces.
        MessageForm::Json => JSON_MAGIC.iter().zip(message).all(|(magic, byte)| magic == byte),
    }
}

/// The header, if it is one that a call would have.
fn checked<'a>(
    protocol: Protocol,
    before: usize,
    message_len: Option<u64>,
    header: &MessageHeader<'a>,
) -> HeaderSearch<'a> {
    let name = match std::str::from_utf8(header.name) {
        Ok(name) if is_name(name) => name,
        _ => return HeaderSearch::Nothing,
    };
    if !is_kind(header.kind.0) {
        return HeaderSearch::Nothing;
    }
    let body_len = message_len.map(|len| len.saturating_sub(header.len as u64));
    // A struct takes a byte at least.
    if body_len == Some(0) {
        return HeaderSearch::Nothing;
    }
    HeaderSearch::Header(RpcHeader {
        protocol,
        name,
        kind: header.kind,
        sequence_id: header.sequence_id,
        len: before + header.len,
        body_len,
    })
}

/// Returns true for a possible name of a method: an identifier of IDL, perhaps with a service and a colon before it.
fn is_name(name: &str) -> bool {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_next =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    name.bytes().next().is_some_and(is_first) && name.bytes().all(is_next)
}
