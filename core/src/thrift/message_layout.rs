//! Layout of messages in bytes, and each of them as it can be read.

use std::borrow::Cow;

use super::decode::Encoding;
use super::error::ProtocolResult;
use super::frames::{Frames, ThriftFrame};
use super::header_frame::FrameHeader;
use super::limits::Limits;
use crate::{Error, ErrorKind, Result};

/// Layout of messages: how they are written, and how they follow each other.
#[derive(Debug, Clone, Copy)]
pub struct MessageLayout {
    /// The protocol of their structs.
    pub encoding: Encoding,
    /// True if the length of each comes before it.
    pub is_framed: bool,
    /// True if a header of THeader comes first in each frame, and says the protocol: `encoding` does not count then.
    pub has_frame_headers: bool,
    /// Bounds of what one may ask of its reader.
    pub limits: Limits,
}

/// A message as it can be read.
#[derive(Debug, Clone)]
pub struct ReadableMessage<'a> {
    /// The protocol of its struct.
    pub encoding: Encoding,
    /// Offset of its first byte in the input. Of a deflated one, it is where that begins, and offsets in it count on from there
    /// by what was inflated.
    pub offset: u64,
    /// Its bytes; inflated, if they were deflated.
    pub bytes: Cow<'a, [u8]>,
}

impl ReadableMessage<'_> {
    /// The message with bytes of its own.
    #[must_use]
    pub fn into_owned(self) -> ReadableMessage<'static> {
        let ReadableMessage { encoding, offset, bytes } = self;
        ReadableMessage { encoding, offset, bytes: Cow::Owned(bytes.into_owned()) }
    }
}

impl MessageLayout {
    /// The messages of `bytes`, which begin at `start` of the input.
    pub fn messages(self, bytes: &[u8], start: u64) -> Frames<'_> {
        match self.is_framed {
            true => Frames::new(bytes, start),
            false => Frames::unframed(bytes, start, self.encoding, self.limits),
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
            return Ok(ReadableMessage { encoding: self.encoding, offset: frame.offset, bytes });
        }
        let header = FrameHeader::read(frame.bytes).map_err(|error| error.moved(frame.offset))?;
        let bytes = header.payload(frame.bytes).map_err(|error| error.moved(frame.offset))?;
        let offset = frame.offset + header.len as u64;
        Ok(ReadableMessage { encoding: header.encoding, offset, bytes })
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
