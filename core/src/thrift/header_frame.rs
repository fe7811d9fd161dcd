//! The header in a frame of the header transport (THeader), which says how the message behind it is written.
//!
//! ```text
//! frame   │0x0fff 2│flags 2│sequence id 4│words 2│header, 4 bytes for each word│payload …
//! header  │protocol, varint│count, varint│transforms, a varint each│blocks of information …│zeros to a whole word
//! ```
//!
//! The payload is a message in that protocol, to which the transforms were applied. Blocks of information, which are pairs of
//! texts, are not looked at: the number of words says where they end.
//! (<https://github.com/apache/thrift/blob/master/doc/specs/HeaderFormat.md>)

use std::borrow::Cow;

use super::compact::Compact;
use super::decode::Encoding;
use super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use super::frames::FRAME_USUAL;
use super::input::{MessageInput, ProtocolReader, ThriftMessage};
use super::limits::{Limits, NarrowVarint};
use super::message_layout::MessageForm;
use crate::wire::{self, DeflateWrapper};
use crate::{Error, ErrorKind};

/// The first two bytes of a frame.
pub(super) const HEADER_MAGIC: u16 = 0x0fff;

/// Bytes before the header.
pub(super) const FIXED_LEN: usize = 10;

/// Bytes of a word, in which the length of a header is counted.
const WORD_LEN: usize = 4;

// Bound (Thrift): inflated message of a frame of THeader = 16,384,000 bytes.
/// Bytes that a payload may be inflated to, as many as a frame may have: a thousandth of them in a frame would else take all
/// memory.
pub const INFLATED_MAX: u32 = FRAME_USUAL;

/// Numbers of protocols.
const BINARY: u64 = 0;
const JSON: u64 = 1;
const COMPACT: u64 = 2;

/// Number of the transform by zlib.
const ZLIB: u64 = 1;

/// The beginning of a frame, up to its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// Form of the message.
    pub form: MessageForm,
    /// The number of the frame, which is that of the message in it.
    pub sequence_id: i32,
    /// True if the payload is a stream of zlib.
    pub is_deflated: bool,
    /// Bytes before the payload, the length of the frame not counted.
    pub len: usize,
}

impl FrameHeader {
    /// Reads the header at the start of `frame`, which begins behind the length of the frame.
    ///
    /// # Errors
    ///
    /// `Truncated` where the header goes on behind `frame`; `BadVersion` where it does not begin with 0x0fff, and for protocols
    /// and transforms that are not read; `InvalidData` where it is damaged. Offsets count from the start of `frame`.
    pub fn read(frame: &[u8]) -> ProtocolResult<Self> {
        let limits = Limits { narrow_varint: NarrowVarint::Exact, ..Limits::default() };
        let whole = ThriftMessage::whole(frame, limits);
        let mut fixed = MessageInput::new(&whole);
        let magic = u16::from_be_bytes(fixed.array("the magic of a frame of THeader")?);
        if magic != HEADER_MAGIC {
            let expected = "a frame of THeader, which begins with 0fff";
            return Err(unread(0, expected, format_args!("{magic:04x}")));
        }
        let _flags = fixed.array::<2>("the flags of a frame of THeader")?;
        let sequence_id = i32::from_be_bytes(fixed.array("the sequence id of a frame")?);
        let words = u16::from_be_bytes(fixed.array("the length of a header")?);
        let len = FIXED_LEN + usize::from(words) * WORD_LEN;
        let Some(header) = frame.get(..len) else {
            return Err(fixed.truncated("a header", (len - FIXED_LEN) as u64));
        };
        // In the header, so that what it says ends with it.
        let header = ThriftMessage::whole(header, limits);
        let mut at = Compact::new(MessageInput::new(&header));
        at.input().take("the bytes before a header", FIXED_LEN)?;
        let form = read_protocol(&mut at).map_err(within_header)?;
        let is_deflated = read_transforms(&mut at).map_err(within_header)?;
        Ok(FrameHeader { form, sequence_id, is_deflated, len })
    }

    /// The message in `frame`, whose header this is: the bytes of the frame, or what is inflated of them.
    ///
    /// # Errors
    ///
    /// `SizeLimit` for more than [`INFLATED_MAX`] bytes, and `InvalidData` where the payload is no whole stream of zlib. The
    /// offset is that of the payload.
    pub fn payload<'a>(&self, frame: &'a [u8]) -> ProtocolResult<Cow<'a, [u8]>> {
        let payload = frame.get(self.len..).unwrap_or_default();
        if !self.is_deflated {
            return Ok(payload.into());
        }
        let mut inflated = Vec::new();
        let (what, len_max) = ("the payload of a frame", INFLATED_MAX as usize);
        match wire::inflate(payload, DeflateWrapper::Zlib, what, len_max, &mut inflated) {
            Ok(taken) if taken == payload.len() => Ok(inflated.into()),
            Ok(taken) => {
                let more = payload.len() - taken;
                let error =
                    Error::format("the end of a payload", format_args!("{more} more bytes"));
                Err(failed(ProtocolErrorKind::InvalidData, error, self.len + taken))
            }
            Err(error) => {
                let kind = match error.kind() {
                    ErrorKind::Limit => ProtocolErrorKind::SizeLimit,
                    _ => ProtocolErrorKind::InvalidData,
                };
                Err(failed(kind, error, self.len))
            }
        }
    }
}

fn read_protocol(at: &mut Compact<'_>) -> ProtocolResult<MessageForm> {
    let start = at.input().position();
    match at.narrow_varint()? {
        BINARY => Ok(Encoding::Binary.into()),
        JSON => Ok(MessageForm::Json),
        COMPACT => Ok(Encoding::Compact.into()),
        other => {
            let expected = "protocol 0 (Binary), 1 (JSON) or 2 (Compact) in a header";
            Err(unread(start, expected, other))
        }
    }
}

/// Reads the transforms; answers whether the payload is deflated.
fn read_transforms(at: &mut Compact<'_>) -> ProtocolResult<bool> {
    let start = at.input().position();
    match at.narrow_varint()? {
        0 => return Ok(false),
        1 => {}
        more => return Err(unread(start, "at most one transform in a header", more)),
    }
    let start = at.input().position();
    match at.narrow_varint()? {
        ZLIB => Ok(true),
        other => {
            let name = match other {
                2 => " (HMAC)",
                3 => " (Snappy)",
                4 => " (QuickLZ)",
                5 => " (Zstandard)",
                _ => "",
            };
            let expected = "transform 1 (zlib) in a header";
            Err(unread(start, expected, format_args!("{other}{name}")))
        }
    }
}

/// An error for what ends behind its header: no more bytes would help.
#[cold]
fn within_header(error: ProtocolError) -> ProtocolError {
    if error.kind() != ProtocolErrorKind::Truncated {
        return error;
    }
    let at = error.error().offset().unwrap_or_default();
    let error = Error::format("a header with a protocol and transforms", "a shorter one");
    failed(ProtocolErrorKind::InvalidData, error, at as usize)
}

/// An error at `offset` for what is well formed and not read here.
#[cold]
fn unread(offset: usize, expected: &str, found: impl std::fmt::Display) -> ProtocolError {
    failed(ProtocolErrorKind::BadVersion, Error::format(expected, found), offset)
}

#[cold]
fn failed(kind: ProtocolErrorKind, error: Error, offset: usize) -> ProtocolError {
    ProtocolError::new(kind, error.at(offset as u64))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    //! Goal: a header is read, and what it says that is not read here is refused by name and place.
    //!
    //! Method: headers by the bytes of the specification, each also cut at every byte.

    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    /// A frame with a header that begins with these bytes.
    fn frame(header: &[u8], payload: &[u8]) -> Vec<u8> {
        let words = header.len().div_ceil(WORD_LEN);
        let padding = vec![0; words * WORD_LEN - header.len()];
        let fixed = [0x0f, 0xff, 0, 0, 0, 0, 0, 7, (words >> 8) as u8, words as u8];
        [&fixed, header, &padding, payload].concat()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn message(result: ProtocolResult<impl std::fmt::Debug>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_header_tells_protocol_transform_and_payload() {
        let information = [0, 0, 1, 1, 3, b'k', b'e', b'y', 1, b'v'];
        for (header, form) in [
            (&[0, 0][..], Encoding::Binary.into()),
            (&[1, 0], MessageForm::Json),
            (&[2, 0], Encoding::Compact.into()),
            (&information, Encoding::Binary.into()),
        ] {
            let frame = frame(header, b"payload");
            let read = FrameHeader::read(&frame).unwrap();
            assert_eq!((read.form, read.sequence_id, read.is_deflated), (form, 7, false));
            assert_eq!(&*read.payload(&frame).unwrap(), b"payload");
            for len in 0..read.len {
                let error = FrameHeader::read(&frame[..len]).unwrap_err();
                assert_eq!(error.kind(), ProtocolErrorKind::Truncated, "{len}");
            }
        }
    }

    #[test]
    fn a_payload_is_inflated_up_to_its_bound() {
        for (len, is_read) in
            [(0, true), (INFLATED_MAX as usize, true), (INFLATED_MAX as usize + 1, false)]
        {
            let frame = frame(&[2, 1, 1], &zlib(&vec![0; len]));
            let read = FrameHeader::read(&frame).unwrap();
            assert!(read.is_deflated);
            match read.payload(&frame) {
                Ok(payload) => assert!(is_read && payload.len() == len),
                Err(error) => {
                    assert_eq!((is_read, error.kind()), (false, ProtocolErrorKind::SizeLimit));
                    let expected = "expected the payload of a frame inflated of at most 16384000, found 16384001";
                    assert!(error.to_string().contains(expected), "{error}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_read_is_named_with_its_place() {
        let refused = |header: &[u8], expected: &str| {
            let found = message(FrameHeader::read(&frame(header, b"")));
            assert!(found.contains(expected), "{found}");
        };
        refused(
            &[3, 0],
            "byte 10: expected protocol 0 (Binary), 1 (JSON) or 2 (Compact) in a header, found 3",
        );
        refused(&[0, 1, 2], "byte 12: expected transform 1 (zlib) in a header, found 2 (HMAC)");
        refused(&[0, 1, 3], "byte 12: expected transform 1 (zlib) in a header, found 3 (Snappy)");
        refused(&[0, 2, 1, 1], "byte 11: expected at most one transform in a header, found 2");
        refused(
            &[],
            "byte 10: expected a header with a protocol and transforms, found a shorter one",
        );
        refused(&[0x80; 12], "varint");
        let other = message(FrameHeader::read(&[0x80, 1, 0, 1]));
        assert!(
            other.contains(
                "byte 0: expected a frame of THeader, which begins with 0fff, found 8001"
            ),
            "{other}"
        );
        let damaged = frame(&[0, 1, 1], b"no zlib");
        let error = message(FrameHeader::read(&damaged).unwrap().payload(&damaged));
        assert!(
            error.contains("byte 14: expected the payload of a frame deflated, found"),
            "{error}"
        );
        let longer = frame(&[0, 1, 1], &[&zlib(b"a")[..], b"b"].concat());
        let error = message(FrameHeader::read(&longer).unwrap().payload(&longer));
        assert!(error.contains("expected the end of a payload, found 1 more bytes"), "{error}");
    }
}
