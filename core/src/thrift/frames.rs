//! Messages in frames: the length of each in 4 bytes, the most significant first, and then its bytes.
//! So they go through a framed transport, and so many keep them in files.

use super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use crate::Error;
use crate::wire::{Endian, Reader};

/// Bytes of a frame, unless told otherwise: as in Thrift's libraries.
pub const FRAME_USUAL: u32 = 16_384_000;

/// Bytes before those of a frame.
const HEADER_LEN: usize = 4;

/// The frames in a row of bytes.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    rest: Reader<'a>,
    /// Where `bytes` begin in the input.
    start: u64,
    frame_max: u32,
}

/// One frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where its bytes begin in the input, its length not counted.
    pub offset: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl<'a> Frames<'a> {
    /// The frames of `bytes`, which begin at `start` of the input.
    pub fn new(bytes: &'a [u8], start: u64) -> Self {
        Frames { bytes, rest: Reader::new(bytes), start, frame_max: FRAME_USUAL }
    }

    /// The same with another bound for the bytes of a frame.
    #[must_use]
    pub fn with_frame_max(mut self, frame_max: u32) -> Self {
        self.frame_max = frame_max;
        self
    }

    /// How many of the bytes were read: those of whole frames. What is behind them can be shown again
    /// with more behind it.
    pub fn consumed(&self) -> usize {
        self.rest.position_in(self.bytes)
    }

    /// The next frame; `None` where the bytes end behind a whole frame.
    ///
    /// # Errors
    ///
    /// `Truncated` where they end inside of one, `NegativeSize` and `SizeLimit`. The place stays, so
    /// that asking again answers the same.
    pub fn next_frame(&mut self) -> ProtocolResult<Option<Frame<'a>>> {
        let mut ahead = self.rest;
        if ahead.remaining() == 0 {
            return Ok(None);
        }
        let Some(len) = ahead.u32(Endian::Big) else {
            let available = ahead.remaining() as u64;
            let error = Error::truncated("the length of a frame", HEADER_LEN as u64, available);
            return Err(self.failed(ProtocolErrorKind::Truncated, error));
        };
        if len > i32::MAX as u32 {
            let error = Error::format("the length of a frame, 0 or above", len as i32);
            return Err(self.failed(ProtocolErrorKind::NegativeSize, error));
        }
        if len > self.frame_max {
            let error = Error::limit("a frame", u64::from(self.frame_max), u64::from(len));
            return Err(self.failed(ProtocolErrorKind::SizeLimit, error));
        }
        let offset = self.start + (self.consumed() + HEADER_LEN) as u64;
        let Some(bytes) = ahead.take(len as usize) else {
            let needed = u64::from(len) + HEADER_LEN as u64;
            let error = Error::truncated("a frame", needed, self.rest.remaining() as u64);
            return Err(self.failed(ProtocolErrorKind::Truncated, error));
        };
        self.rest = ahead;
        Ok(Some(Frame { offset, bytes }))
    }

    /// An error at the frame that comes next.
    #[cold]
    fn failed(&self, kind: ProtocolErrorKind, error: Error) -> ProtocolError {
        ProtocolError::new(kind, error.at(self.start + self.consumed() as u64))
    }
}

/// Ends at the first error.
impl<'a> Iterator for Frames<'a> {
    type Item = ProtocolResult<Frame<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_frame();
        if next.is_err() {
            self.rest = Reader::new(&[]);
        }
        next.transpose()
    }
}
