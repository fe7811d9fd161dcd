//! Messages one after the other. In frames, the length of each comes first, in 4 bytes, the most significant
//! first: so they go through a framed transport, and so many keep them in files. Without frames, structs say
//! themselves where they end.

use super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use super::extent::{Progress, StructExtent};
use super::json_protocol::is_space;
use super::limits::Limits;
use super::message_layout::MessageForm;
use crate::wire::{Endian, Reader};
use crate::{Error, ErrorKind};

// Bound (Thrift): Thrift frame, or message without one = 16,384,000 bytes or as asked for.
/// Bytes of a frame, unless told otherwise: as in Thrift's libraries.
pub const FRAME_USUAL: u32 = 16_384_000;

/// Bytes before those of a frame.
const HEADER_LEN: usize = 4;

/// The frames in a row of bytes.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    rest: Reader<'a>,
    /// Offset of `bytes` in the input.
    start: u64,
    frame_max: u32,
    /// Form and bounds of structs without frames; None if they have frames.
    unframed: Option<(MessageForm, Limits)>,
}

/// One frame, or one struct that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThriftFrame<'a> {
    /// Offset of its bytes in the input, its length not counted.
    pub offset: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Next message in bytes behind which there may be more.
#[derive(Debug)]
pub enum Ahead<'a> {
    /// A message that is whole.
    Message(ThriftFrame<'a>),
    /// None that is whole: so many bytes are missing at least, and what is wrong with the message if they do not come.
    Needs(usize, Option<ProtocolError>),
}

impl<'a> Frames<'a> {
    /// The frames of `bytes`, which begin at `start` of the input.
    pub fn new(bytes: &'a [u8], start: u64) -> Self {
        Frames { bytes, rest: Reader::new(bytes), start, frame_max: FRAME_USUAL, unframed: None }
    }

    /// The structs of `bytes`, one after the other and without frames, which begin at `start` of the input.
    pub fn unframed(
        bytes: &'a [u8],
        start: u64,
        form: impl Into<MessageForm>,
        limits: Limits,
    ) -> Self {
        Frames { unframed: Some((form.into(), limits)), ..Frames::new(bytes, start) }
    }

    /// Sets another bound for the bytes of a frame.
    #[must_use]
    pub fn with_frame_max(mut self, frame_max: u32) -> Self {
        self.frame_max = frame_max;
        self
    }

    /// Returns the number of bytes that were read: those of whole frames. The bytes behind them can be shown
    /// again with more behind them.
    pub fn consumed(&self) -> usize {
        self.rest.position_in(self.bytes)
    }

    /// The bytes from the next struct on, as many as one may have; none where messages have frames.
    pub(super) fn unframed_rest(&self) -> &'a [u8] {
        let rest = if self.unframed.is_some() { self.rest.rest() } else { &[] };
        rest.get(..self.frame_max as usize).unwrap_or(rest)
    }

    /// Passes the next struct, which is so many bytes long.
    pub(super) fn pass(&mut self, len: usize) {
        let _ = self.rest.take(len);
    }

    /// The next frame; `None` where the bytes end behind a whole frame. Texts may have spaces and ends of
    /// lines between them.
    ///
    /// # Errors
    ///
    /// `Truncated` where they end inside of one, `NegativeSize` and `SizeLimit`; without frames, what is
    /// wrong with the bytes of a struct. The place stays, so that asking again answers the same.
    pub fn next_frame(&mut self) -> ProtocolResult<Option<ThriftFrame<'a>>> {
        if let Some((MessageForm::Json, _)) = self.unframed {
            self.pass_spaces();
        }
        match self.unframed {
            _ if self.rest.remaining() == 0 => Ok(None),
            None => self.next_in_frame().map(Some),
            Some((form, limits)) => self.next_struct(form, limits).map(Some),
        }
    }

    /// The first frame, which has to be there.
    pub(super) fn first_frame(&mut self) -> ProtocolResult<ThriftFrame<'a>> {
        self.next_in_frame()
    }

    /// The next message, or how many bytes it needs that may still come.
    ///
    /// # Errors
    /// Those of [`Frames::next_frame`] that no more bytes would undo.
    pub fn ahead(&mut self) -> ProtocolResult<Ahead<'a>> {
        match self.next_frame() {
            Ok(Some(frame)) => Ok(Ahead::Message(frame)),
            Ok(None) => Ok(Ahead::Needs(1, None)),
            Err(error) => match error.error().kind() {
                ErrorKind::Truncated { needed, available }
                    if error.kind() == ProtocolErrorKind::Truncated =>
                {
                    let missing = needed.saturating_sub(available).max(1) as usize;
                    Ok(Ahead::Needs(missing, Some(error)))
                }
                _ => Err(error),
            },
        }
    }

    /// Passes what may stand between texts, such as the ends of lines.
    fn pass_spaces(&mut self) {
        let rest = self.rest.rest();
        let len = rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len());
        self.rest.take(len);
    }

    fn next_struct(
        &mut self,
        form: MessageForm,
        limits: Limits,
    ) -> ProtocolResult<ThriftFrame<'a>> {
        let offset = self.start + self.consumed() as u64;
        let rest = self.rest.rest();
        let progress = StructExtent::new(form, limits).advance(rest);
        let (len, is_whole) = match progress.map_err(|error| error.moved(offset))? {
            Progress::Complete(len) => (len, true),
            Progress::Needs(missing) => (rest.len().saturating_add(missing), false),
        };
        if len as u64 > u64::from(self.frame_max) {
            let error = Error::limit("a message", u64::from(self.frame_max), len as u64);
            return Err(self.failed(ProtocolErrorKind::SizeLimit, error));
        }
        match self.rest.take(len) {
            Some(bytes) if is_whole => Ok(ThriftFrame { offset, bytes }),
            _ => {
                let error = Error::truncated("a message", len as u64, rest.len() as u64);
                Err(self.failed(ProtocolErrorKind::Truncated, error))
            }
        }
    }

    fn next_in_frame(&mut self) -> ProtocolResult<ThriftFrame<'a>> {
        let mut ahead = self.rest;
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
        Ok(ThriftFrame { offset, bytes })
    }

    /// An error at the frame that comes next.
    #[cold]
    fn failed(&self, kind: ProtocolErrorKind, error: Error) -> ProtocolError {
        ProtocolError::new(kind, error.at(self.start + self.consumed() as u64))
    }
}

/// Ends at the first error.
impl<'a> Iterator for Frames<'a> {
    type Item = ProtocolResult<ThriftFrame<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_frame();
        if next.is_err() {
            self.rest = Reader::new(&[]);
        }
        next.transpose()
    }
}
