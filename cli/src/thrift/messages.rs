//! The messages of a file, one after the other or in frames, each with its header if it has one. No more of
//! the file is in memory than one message and a piece.

use std::borrow::Cow;

use bytewright::bytes::ByteStream;
use bytewright::thrift::{
    Encoding, FrameHeader, Frames, Limits, MessageForm, MessageHeader, MessageLayout,
    PackedMessage, Plan, Progress, ProtocolError, ReadableMessage, Strictness, StructExtent,
    StructId,
};
use bytewright::{Error, ErrorKind, Result};

/// The first byte of a strict header in Binary, which begins no struct.
const BINARY_FIRST: u8 = 0x80;
/// The first byte of a header in Compact. A struct may begin so too, with a bool whose id is 8.
const COMPACT_FIRST: u8 = 0x82;
/// The first byte of a header in JSON, which begins no struct.
const JSON_FIRST: u8 = b'[';
/// The version in the low bits of the second byte.
const COMPACT_VERSION_MASK: u8 = 0x1f;
const COMPACT_VERSION: u8 = 1;

/// Bytes of the length before a frame.
const FRAME_HEADER_LEN: usize = 4;

/// Presence of headers in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Headers {
    /// All have, also those without a version.
    Always,
    /// Those whose first bytes say so, which those of a struct cannot.
    WhereSeen,
    /// None has.
    Never,
}

/// The messages of a stream.
pub(super) struct Messages {
    stream: ByteStream,
    layout: MessageLayout,
    headers: Headers,
    /// Bytes of the last message, which is still in the buffer.
    taken: usize,
    is_over: bool,
    looks_framed: bool,
    /// The last message, if it was deflated.
    inflated: Vec<u8>,
}

/// A message, and how it is to be read.
pub(super) struct Message<'a> {
    form: MessageForm,
    pub(super) limits: Limits,
    /// Name of the input for people.
    name: &'a str,
    pub(super) header: Option<MessageHeader<'a>>,
    /// From the struct on; in a frame, all that follows.
    body: &'a [u8],
    /// Offset of the message in the input.
    pub(super) offset: u64,
    /// Offset of its struct in the input.
    body_offset: u64,
}

impl<'a> Message<'a> {
    /// The struct as bytes that are read, by the schema of `id`.
    pub(super) fn packed(&self, plan: &Plan, id: StructId) -> Result<PackedMessage<'a>> {
        let (form, offset, bytes) = (self.form, self.body_offset, self.body.into());
        let packed = ReadableMessage { form, offset, bytes }.packed(plan, id, self.limits);
        packed.map_err(|error| Error::from(error).in_file(self.name))
    }

    /// Returns the number of bytes behind the struct that are not of the message, and their place behind the struct's first byte, if
    /// `len` bytes of `message` were read.
    pub(super) fn left(&self, message: &PackedMessage<'_>, len: usize) -> (usize, usize) {
        let Some(len) = message.text_len else { return (self.body.len() - len, len) };
        let mut rest = self.body.get(len..).unwrap_or_default().trim_ascii_start();
        if self.header.is_some() {
            rest = rest.strip_prefix(b"]").unwrap_or(rest).trim_ascii_start();
        }
        (rest.len(), self.body.len() - rest.len())
    }

    /// An error in the struct, by its place in the input.
    pub(super) fn placed(&self, error: ProtocolError) -> Error {
        let error = Error::from(error);
        let at = error.offset().unwrap_or_default();
        self.error_at(error, at as usize)
    }

    /// An error at a byte of the struct.
    pub(super) fn error_at(&self, error: Error, at: usize) -> Error {
        error.at(self.body_offset + at as u64).in_file(self.name)
    }
}

impl Messages {
    pub(super) fn new(stream: ByteStream, layout: MessageLayout, headers: Headers) -> Self {
        let (taken, is_over, looks_framed, inflated) = (0, false, false, Vec::new());
        Messages { stream, layout, headers, taken, is_over, looks_framed, inflated }
    }

    /// Returns true if a file that is not read as frames begins as they do: with a length whose first byte is 0,
    /// which is an empty struct otherwise.
    pub(super) fn looks_framed(&self) -> bool {
        self.looks_framed
    }

    /// The next message. After an error a next call goes on behind the frame, or finds no more. `wait` is
    /// called before more is read, which may take as long as somebody else likes.
    pub(super) fn next(&mut self, wait: &mut dyn FnMut()) -> Result<Option<Message<'_>>> {
        self.stream.consume(std::mem::take(&mut self.taken));
        if self.is_over {
            return Ok(None);
        }
        // Set unless there is a frame, behind which one can go on.
        self.is_over = true;
        let is_first = self.stream.position() == 0;
        match self.first(wait)? {
            [] => return Ok(None),
            [first, ..] if is_first => self.looks_framed = *first == 0 && !self.layout.is_framed,
            _ => {}
        }
        let start = match self.layout.is_framed {
            true => self.frame(wait)?,
            false => self.unframed(wait)?,
        };
        self.is_over = false;
        let (layout, start, is_inflated) = self.opened(start)?;
        let offset = self.stream.position() + start as u64;
        let bytes = match is_inflated {
            true => &self.inflated,
            false => self.stream.buffered().get(start..self.taken).unwrap_or_default(),
        };
        let header = header(bytes, layout, self.headers);
        let header = header.map_err(|error| self.placed(error, offset))?;
        let header_len = header.map_or(0, |header| header.len);
        let body = bytes.get(header_len..).unwrap_or_default();
        let (form, limits, name) = (layout.form, layout.limits, self.stream.name());
        let body_offset = offset + header_len as u64;
        Ok(Some(Message { form, limits, name, header, body, offset, body_offset }))
    }

    /// Reads the header of THeader in the frame that was taken and begins at `start` of the buffer, where frames have one.
    /// Answers how its message is written and where it begins in the buffer, and whether it was inflated.
    fn opened(&mut self, start: usize) -> Result<(MessageLayout, usize, bool)> {
        if !self.layout.has_frame_headers {
            return Ok((self.layout, start, false));
        }
        let offset = self.stream.position() + start as u64;
        let frame = self.stream.buffered().get(start..self.taken).unwrap_or_default();
        let opened = FrameHeader::read(frame).and_then(|header| {
            let inflated = match header.payload(frame)? {
                Cow::Owned(inflated) => Some(inflated),
                Cow::Borrowed(_) => None,
            };
            Ok((header, inflated))
        });
        let (header, inflated) = opened.map_err(|error| self.placed(error, offset))?;
        let layout = MessageLayout { form: header.form, ..self.layout };
        let is_inflated = inflated.is_some();
        self.inflated = inflated.unwrap_or_default();
        Ok((layout, start + header.len, is_inflated))
    }

    /// Makes the first byte of the next message buffered, if there is one. Texts may have spaces between them.
    fn first(&mut self, wait: &mut dyn FnMut()) -> Result<&[u8]> {
        if self.layout.form == MessageForm::Json && !self.layout.is_framed {
            loop {
                let bytes = self.fill(1, wait)?;
                match bytes.len() - bytes.trim_ascii_start().len() {
                    0 => break,
                    spaces => self.stream.consume(spaces),
                }
            }
        }
        self.fill(1, wait)
    }

    /// Makes so many bytes buffered, or all that there are.
    fn fill(&mut self, at_least: usize, wait: &mut dyn FnMut()) -> Result<&[u8]> {
        if self.stream.buffered().len() < at_least {
            wait();
        }
        self.stream.fill(at_least)
    }

    /// Takes the next frame into the buffer. Answers where its message begins there.
    fn frame(&mut self, wait: &mut dyn FnMut()) -> Result<usize> {
        loop {
            let (bytes, offset) = (self.stream.buffered(), self.stream.position());
            let mut frames =
                Frames::new(bytes, offset).with_frame_max(self.layout.limits.string_max);
            match frames.next_frame() {
                Ok(_) => {
                    self.taken = frames.consumed();
                    return Ok(FRAME_HEADER_LEN);
                }
                Err(error) => self.grow(error, 0, wait)?,
            }
        }
    }

    /// Takes the next message into the buffer that is in no frame. Answers where it begins there.
    fn unframed(&mut self, wait: &mut dyn FnMut()) -> Result<usize> {
        let header_len = self.header_len(wait)?;
        self.taken = self.extent(header_len, wait)?;
        Ok(0)
    }

    /// Bytes of the header of a message that is in no frame; 0 where it has none.
    fn header_len(&mut self, wait: &mut dyn FnMut()) -> Result<usize> {
        // Of one byte, which may be all there is, this needs no second.
        if !self.stream.buffered().starts_with(b"\0") {
            self.fill(2, wait)?;
        }
        loop {
            match header(self.stream.buffered(), self.layout, self.headers) {
                Ok(header) => return Ok(header.map_or(0, |header| header.len)),
                Err(error) => self.grow(error, self.stream.position(), wait)?,
            }
        }
    }

    /// Takes a message into the buffer whose struct begins behind `header_len` bytes. Answers its length.
    fn extent(&mut self, header_len: usize, wait: &mut dyn FnMut()) -> Result<usize> {
        let mut extent = match header_len {
            0 => StructExtent::new(self.layout.form, self.layout.limits),
            _ => StructExtent::behind_header(self.layout.form, self.layout.limits),
        };
        loop {
            let bytes = self.stream.buffered();
            let progress = extent.advance(bytes.get(header_len..).unwrap_or_default());
            let offset = self.stream.position();
            let missing = match progress {
                Ok(Progress::Complete(len)) => return self.checked_len(header_len + len),
                Ok(Progress::Needs(missing)) => missing,
                Err(error) => return Err(self.placed(error, offset + header_len as u64)),
            };
            let available = bytes.len();
            let needed = self.checked_len(available.saturating_add(missing))?;
            if self.fill(needed, wait)?.len() == available {
                let error = Error::truncated("a message", needed as u64, available as u64);
                return Err(error.at(offset).in_file(self.stream.name()));
            }
        }
    }

    // Bound (Thrift): Thrift message that the command prints = 16,384,000 bytes or as asked for, twice that in its
    // buffer.
    /// The length of a message, if it is not above the bound.
    fn checked_len(&self, len: usize) -> Result<usize> {
        if len as u64 <= u64::from(self.layout.limits.string_max) {
            return Ok(len);
        }
        let what = "a message (--max-message allows more)";
        let error = Error::limit(what, u64::from(self.layout.limits.string_max), len as u64);
        Err(error.at(self.stream.position()).in_file(self.stream.name()))
    }

    /// Reads the bytes that are missing; where there are none, or they are not what is wrong, that is the
    /// error. `base` is where its offset counts from.
    fn grow(&mut self, error: ProtocolError, base: u64, wait: &mut dyn FnMut()) -> Result<()> {
        let ErrorKind::Truncated { needed, available } = error.error().kind() else {
            return Err(self.placed(error, base));
        };
        let before = self.stream.buffered().len();
        let missing = needed.saturating_sub(available).max(1) as usize;
        let wanted = before.saturating_add(missing);
        if wanted > self.layout.limits.string_max as usize + FRAME_HEADER_LEN {
            return self.checked_len(wanted).map(drop);
        }
        match self.fill(wanted, wait)?.len() > before {
            true => Ok(()),
            false => Err(self.placed(error, base)),
        }
    }

    /// An error of bytes that begin at `base` of the input.
    fn placed(&self, error: ProtocolError, base: u64) -> Error {
        let error = Error::from(error);
        let at = base + error.offset().unwrap_or_default();
        error.at(at).in_file(self.stream.name())
    }
}

/// The header that a message begins with, if it has one.
fn header<'a>(
    bytes: &'a [u8],
    layout: MessageLayout,
    headers: Headers,
) -> std::result::Result<Option<MessageHeader<'a>>, ProtocolError> {
    let strictness = match headers {
        Headers::Never => return Ok(None),
        Headers::WhereSeen if !is_header(bytes, layout.form) => return Ok(None),
        Headers::WhereSeen => Strictness::Strict,
        Headers::Always => Strictness::Lenient,
    };
    MessageHeader::read(layout.form, strictness, bytes, layout.limits).map(Some)
}

fn is_header(bytes: &[u8], form: MessageForm) -> bool {
    match (form, bytes) {
        (MessageForm::Packed(Encoding::Binary), [BINARY_FIRST, ..]) => true,
        (MessageForm::Packed(Encoding::Compact), [COMPACT_FIRST, second, ..]) => {
            second & COMPACT_VERSION_MASK == COMPACT_VERSION
        }
        (MessageForm::Json, _) => bytes.trim_ascii_start().first() == Some(&JSON_FIRST),
        _ => false,
    }
}
