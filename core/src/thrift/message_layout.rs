//! Layout of messages in bytes, and each of them as it can be read.

use std::borrow::Cow;

use super::decode::Encoding;
use super::error::{ProtocolError, ProtocolResult};
use super::frames::{Frames, ThriftFrame};
use super::header_frame::FrameHeader;
use super::json_protocol;
use super::limits::Limits;
use super::plan::Plan;
use super::schema::StructId;
use crate::{Error, ErrorKind, Result};

/// Form of messages: bytes in an encoding, or text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageForm {
    /// Bytes, which are read as they are.
    Packed(Encoding),
    /// Thrift's JSON protocol (`TJSONProtocol`), which is transcoded to be read.
    Json,
}

impl From<Encoding> for MessageForm {
    fn from(encoding: Encoding) -> Self {
        MessageForm::Packed(encoding)
    }
}

/// Layout of messages: how they are written, and how they follow each other.
#[derive(Debug, Clone, Copy)]
pub struct MessageLayout {
    /// The protocol of their structs.
    pub form: MessageForm,
    /// True if the length of each comes before it.
    pub is_framed: bool,
    /// True if a header of THeader comes first in each frame, and says the protocol: `form` does not count then.
    pub has_frame_headers: bool,
    /// Bounds of what one may ask of its reader.
    pub limits: Limits,
}

/// A message without its frame.
#[derive(Debug, Clone)]
pub struct ReadableMessage<'a> {
    /// The protocol of its struct.
    pub form: MessageForm,
    /// Offset of its first byte in the input. Of a deflated one, it is where that begins, and offsets in it count on from there
    /// by what was inflated.
    pub offset: u64,
    /// Its bytes; inflated, if they were deflated.
    pub bytes: Cow<'a, [u8]>,
}

/// A message as bytes that are read.
#[derive(Debug, Clone)]
pub struct PackedMessage<'a> {
    /// The encoding of its struct.
    pub encoding: Encoding,
    /// Offset of its first byte in the input. Of a text, it is where that begins.
    pub offset: u64,
    /// Its bytes; those of Binary, if it was a text.
    pub bytes: Cow<'a, [u8]>,
    /// Bytes of a text that its struct took.
    pub text_len: Option<usize>,
}

impl<'a> ReadableMessage<'a> {
    /// The message with bytes of its own.
    #[must_use]
    pub fn into_owned(self) -> ReadableMessage<'static> {
        let ReadableMessage { form, offset, bytes } = self;
        ReadableMessage { form, offset, bytes: Cow::Owned(bytes.into_owned()) }
    }

    /// Transcodes a text to Binary, by the schema of its struct; a message in bytes is left as it is.
    ///
    /// All of a text is read: it fails where any of it is wrong.
    ///
    /// # Errors
    ///
    /// Returns the error in the text, with the offset in the input.
    #[inline]
    pub fn packed(
        self,
        plan: &Plan,
        id: StructId,
        limits: Limits,
    ) -> ProtocolResult<PackedMessage<'a>> {
        let ReadableMessage { form, offset, bytes } = self;
        match form {
            MessageForm::Packed(encoding) => {
                Ok(PackedMessage { encoding, offset, bytes, text_len: None })
            }
            MessageForm::Json => {
                let transcoded = json_protocol::transcode(plan, id, &bytes, limits);
                let (binary, len) =
                    transcoded.map_err(|error: ProtocolError| error.moved(offset))?;
                let (encoding, bytes) = (Encoding::Binary, Cow::Owned(binary));
                Ok(PackedMessage { encoding, offset, bytes, text_len: Some(len) })
            }
        }
    }
}

impl MessageLayout {
    /// Names of the protocols that are read, by their numbers.
    pub const PROTOCOLS: [&str; 4] = ["binary", "compact", "header", "json"];

    /// The layout of messages of the protocol with that name, in frames; nothing if no protocol has it.
    pub fn named(protocol: &str) -> Option<Self> {
        Self::numbered(Self::PROTOCOLS.iter().position(|name| *name == protocol)?)
    }

    /// The layout of messages of the protocol with that number, in frames.
    pub fn numbered(protocol: usize) -> Option<Self> {
        let (form, has_frame_headers) = match protocol {
            0 => (Encoding::Binary.into(), false),
            1 => (Encoding::Compact.into(), false),
            2 => (Encoding::Binary.into(), true),
            3 => (MessageForm::Json, false),
            _ => return None,
        };
        Some(MessageLayout { form, is_framed: true, has_frame_headers, limits: Limits::default() })
    }

    /// The layout in which the length of each message comes before it, if `framed`. Those with headers of THeader are in
    /// frames in any case.
    #[must_use]
    pub fn framed_if(self, framed: bool) -> Self {
        MessageLayout { is_framed: framed || self.has_frame_headers, ..self }
    }

    /// The messages of `bytes`, which begin at `start` of the input.
    pub fn messages(self, bytes: &[u8], start: u64) -> Frames<'_> {
        match self.is_framed {
            true => Frames::new(bytes, start),
            false => Frames::unframed(bytes, start, self.form, self.limits),
        }
    }

    /// The message in a frame.
    ///
    /// # Errors
    ///
    /// Those of [`FrameHeader::read`] and [`FrameHeader::payload`], with their offset in the input.
    pub fn open(self, frame: ThriftFrame<'_>) -> ProtocolResult<ReadableMessage<'_>> {
        if !self.has_frame_headers {
            let bytes = Cow::Borrowed(frame.bytes);
            return Ok(ReadableMessage { form: self.form, offset: frame.offset, bytes });
        }
        let header = FrameHeader::read(frame.bytes).map_err(|error| error.moved(frame.offset))?;
        let bytes = header.payload(frame.bytes).map_err(|error| error.moved(frame.offset))?;
        let offset = frame.offset + header.len as u64;
        Ok(ReadableMessage { form: header.form, offset, bytes })
    }

    /// The message that `bytes` begin with: all of them, or with headers of THeader those of their first frame.
    ///
    /// # Errors
    ///
    /// Those of [`Frames::next_frame`] and [`Self::open`].
    pub fn open_first(self, bytes: &[u8]) -> ProtocolResult<ReadableMessage<'_>> {
        match self.has_frame_headers {
            true => self.open(Frames::new(bytes, 0).first_frame()?),
            false => self.open(ThriftFrame { offset: 0, bytes }),
        }
    }

    /// Checks that messages with headers of THeader are to have frames, which these are in.
    ///
    /// # Errors
    ///
    /// `Argument` for others.
    pub fn checked(self) -> Result<Self> {
        if self.has_frame_headers && !self.is_framed {
            let message =
                "expected messages in frames with the protocol header, found framed false";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        Ok(self)
    }
}
