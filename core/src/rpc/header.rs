//! Telling the header of a message from other bytes.
//!
//! ```text
//! framed   │length 4│ and a message of as many bytes     Binary   │80 01 00│kind 1│name length 4│name …│sequence id 4│
//!                                                       Compact  │82│kind, version 1│sequence id│name length│name …│
//! ```
//!
//! A frame is shorter than 2^24 bytes, so that the first byte tells the three apart: 0, 0x80, 0x82.

use super::call::Protocol;
use crate::thrift::{
    Encoding, FRAME_USUAL, Limits, MessageHeader, MessageKind, ProtocolErrorKind, Strictness,
};

/// Bytes of the longest name that is taken for one.
const NAME_MAX: u32 = 256;

/// Bytes of the length of a frame.
const FRAME_HEADER_LEN: usize = 4;

/// Bytes in which every header ends: a frame's length, Binary's fixed parts, Compact's varints, a name.
pub(super) const HEADER_MAX: usize = FRAME_HEADER_LEN + 2 + 10 + 10 + NAME_MAX as usize;

/// Result of the search for a header at the start of bytes.
pub(super) enum HeaderSearch<'a> {
    /// A message.
    Header(RpcHeader<'a>),
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

/// The byte that messages of a protocol begin with.
pub(super) fn first_byte(protocol: Protocol) -> u8 {
    match (protocol.is_framed, protocol.encoding) {
        (true, _) => 0,
        (false, Encoding::Binary) => 0x80,
        (false, Encoding::Compact) => 0x82,
    }
}

/// Looks for a header at the start of `bytes`; of one protocol if it is known.
pub(super) fn find(bytes: &[u8], known: Option<Protocol>) -> HeaderSearch<'_> {
    let Some(first) = bytes.first() else { return HeaderSearch::Part };
    let (frame_len, message) = match first {
        0x80 | 0x82 => (None, bytes),
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
    let Some(first) = message.first() else { return HeaderSearch::Part };
    let encoding = match first {
        0x80 => Encoding::Binary,
        0x82 => Encoding::Compact,
        _ => return HeaderSearch::Nothing,
    };
    let protocol = Protocol { encoding, is_framed: frame_len.is_some() };
    if known.is_some_and(|known| known != protocol) || !has_magic(encoding, message) {
        return HeaderSearch::Nothing;
    }
    let limits = Limits { string_max: NAME_MAX, ..Limits::default() };
    match MessageHeader::read(encoding, Strictness::Strict, message, limits) {
        Ok(header) => checked(protocol, frame_len, &header),
        Err(error) if error.kind() == ProtocolErrorKind::Truncated => HeaderSearch::Part,
        Err(_) => HeaderSearch::Nothing,
    }
}

/// Returns true if a message, or the available part of it, begins with a valid version and kind. It refuses nearly
/// everything that is no message before more of it is looked at.
fn has_magic(encoding: Encoding, message: &[u8]) -> bool {
    let is_kind = |kind: u8| (MessageKind::CALL.0..=MessageKind::ONEWAY.0).contains(&kind);
    let at = |place: usize, is_right: &dyn Fn(u8) -> bool| {
        message.get(place).is_none_or(|byte| is_right(*byte))
    };
    match encoding {
        Encoding::Binary => {
            // Names are short, so that the upper bytes of their length are 0.
            at(1, &|byte| byte == 1)
                && at(2, &|byte| byte == 0)
                && at(3, &is_kind)
                && at(4, &|byte| byte == 0)
                && at(5, &|byte| byte == 0)
        }
        Encoding::Compact => at(1, &|byte| byte & 0x1f == 1 && is_kind(byte >> 5)),
    }
}

/// The header, if it is one that a call would have.
fn checked<'a>(
    protocol: Protocol,
    frame_len: Option<u32>,
    header: &MessageHeader<'a>,
) -> HeaderSearch<'a> {
    let name = match std::str::from_utf8(header.name) {
        Ok(name) if is_name(name) => name,
        _ => return HeaderSearch::Nothing,
    };
    let body_len = frame_len.map(|len| u64::from(len).checked_sub(header.len as u64));
    // A struct takes a byte at least.
    if body_len.is_some_and(|len| len.unwrap_or_default() == 0) {
        return HeaderSearch::Nothing;
    }
    let frame_header_len = if frame_len.is_some() { FRAME_HEADER_LEN } else { 0 };
    HeaderSearch::Header(RpcHeader {
        protocol,
        name,
        kind: header.kind,
        sequence_id: header.sequence_id,
        len: frame_header_len + header.len,
        body_len: body_len.flatten(),
    })
}

/// Returns true for a possible name of a method: an identifier of IDL, perhaps with a service and a colon before it.
fn is_name(name: &str) -> bool {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_next =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    name.bytes().next().is_some_and(is_first) && name.bytes().all(is_next)
}
