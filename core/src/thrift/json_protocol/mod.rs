//! Messages in Thrift's JSON protocol (`TJSONProtocol`), which are text: read by transcoding them to Binary.
//!
//! ```text
//! message   [1,"name",kind,sequence id,struct]
//! struct    {"id":{"type":value},"id":{"type":value}}
//! list, set ["type",count,value,value]
//! map       ["type","type",count,{key:value,key:value}]
//! ```
//!
//! Types are `tf`, `i8`, `i16`, `i32`, `i64`, `dbl`, `str`, `rec`, `map`, `lst`, `set` and `uid`. A bool is 0 or 1; a number that is
//! a key is in quotes. Strings and binary have one type, and binary is in base64, so that only a schema tells them apart.
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-json-protocol.md>)

mod cursor;
mod extent;
mod transcoder;

pub(super) use cursor::is_space;
pub(super) use extent::JsonExtent;
pub(super) use transcoder::transcode;

use cursor::JsonCursor;

use super::error::{ProtocolErrorKind, ProtocolResult};
use super::limits::Limits;
use super::message::{MessageHeader, MessageKind};

/// The version of messages.
const VERSION: u32 = 1;

/// Reads the header that a message begins with, up to its struct.
pub(super) fn read_header(text: &[u8], limits: Limits) -> ProtocolResult<MessageHeader<'_>> {
    let mut at = JsonCursor::new(text, limits);
    if at.peek("a message in JSON")? != b'[' {
        let error = at.unexpected("a message in JSON that begins with [");
        return Err(error.of_kind(ProtocolErrorKind::BadVersion));
    }
    at.require(b'[', "a message in JSON")?;
    let version = at.integer::<u32>("the version of a message")?;
    if version != VERSION {
        let expected = "a message in version 1 of JSON";
        return Err(at.failed(ProtocolErrorKind::BadVersion, expected, version));
    }
    at.require(b',', "a comma before the name of a function")?;
    let name = at.plain_string("the name of a function")?;
    at.require(b',', "a comma before the kind of a message")?;
    let kind = MessageKind(at.integer("the kind of a message")?);
    at.require(b',', "a comma before a sequence id")?;
    let sequence_id = at.integer("a sequence id")?;
    at.require(b',', "a comma before the struct of a message")?;
    Ok(MessageHeader { name, kind, sequence_id, len: at.position() })
}
