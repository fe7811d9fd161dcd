//! Text in lines: where each ends, and how many there are.

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter};

use crate::error::{Error, Result};

use super::byte_stream::{ByteStream, Fill};

/// Separator that ends a line.
#[derive(Debug)]
pub enum Separator {
    /// No separator: all that is left is one line.
    None,
    /// This byte.
    Byte(u8),
    /// These bytes.
    Bytes(Box<Finder<'static>>),
    /// An empty line, or several: lines are paragraphs.
    Paragraph,
}

impl Separator {
    /// The separator of these bytes; none is the paragraph's.
    pub fn new(bytes: &[u8]) -> Separator {
        match bytes {
            [] => Separator::Paragraph,
            [byte] => Separator::Byte(*byte),
            bytes => Separator::Bytes(Box::new(Finder::new(bytes).into_owned())),
        }
    }

    fn len(&self) -> usize {
        match self {
            Separator::None => 0,
            Separator::Byte(_) => 1,
            Separator::Bytes(finder) => finder.needle().len(),
            Separator::Paragraph => 2,
        }
    }
}

/// Definition of a line.
#[derive(Debug)]
pub struct LineRule {
    /// Separator that ends it.
    pub separator: Separator,
    /// The most bytes it has, if it is not to be longer; what is left of it is the next line.
    pub limit: Option<usize>,
    /// Lets a line exceed the limit by up to three bytes so that no character of UTF-8 is cut.
    pub keeps_characters: bool,
    /// Leaves the separator out of the line.
    pub chomp: bool,
}

/// A line at the start of what is buffered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// The first bytes of it that belong to the line.
    pub content_len: usize,
    /// Bytes up to the next line.
    pub len: usize,
}

/// Result of looking for a line without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStep {
    /// It is buffered.
    Line(Line),
    /// It is not whole, and there is more to look at: ask again.
    Later,
    /// It is not whole, and reading on would have to wait.
    WouldWait,
    /// There is none.
    Ended,
}

// Bound (Streams): line in a Reader = 256 MiB.
const LINE_MAX: usize = 1 << 28;
// Bound (Streams): newlines that end a paragraph = 1 MiB.
/// Newlines that are left come before the next paragraph.
const NEWLINES_MAX: usize = 1 << 20;

impl LineRule {
    /// Lines that end with a newline, which belongs to them.
    pub fn newline() -> LineRule {
        let separator = Separator::Byte(b'\n');
        LineRule { separator, limit: None, keeps_characters: false, chomp: false }
    }

    /// The line that `bytes` begin with, where that is seen at once.
    #[inline]
    pub fn buffered_line(&self, bytes: &[u8]) -> Option<Line> {
        match self.separator {
            Separator::Byte(_) | Separator::Bytes(_) => self.line_in(bytes, &mut 0, false),
            Separator::None | Separator::Paragraph => None,
        }
    }

    /// Looks for the line that `stream` is at, as far as that takes no waiting. Nothing of it is taken.
    /// `searched` is 0 for a new line, and is given again until the line is there. It looks at one piece
    /// after what is buffered at most, so that it never takes long.
    pub fn try_line(&self, stream: &mut ByteStream, searched: &mut usize) -> Result<LineStep> {
        let mut ended = false;
        for is_last_try in [false, true] {
            if *searched == 0 && matches!(self.separator, Separator::Paragraph) {
                let newlines = stream.buffered().iter().take_while(|byte| **byte == b'\n').count();
                stream.consume(newlines);
            }
            let buffered = stream.buffered();
            if let Some(line) = self.line_in(buffered, searched, ended) {
                return Ok(LineStep::Line(line));
            }
            let len = buffered.len();
            if ended {
                return Ok(self.last_line(buffered).map_or(LineStep::Ended, LineStep::Line));
            }
            if len >= LINE_MAX && !matches!(self.separator, Separator::None) {
                let error = Error::limit("a line", LINE_MAX as u64, len as u64 + 1);
                return Err(error.at(stream.position()).in_file(stream.name()));
            }
            if is_last_try {
                break;
            }
            match stream.try_fill(len + 1) {
                Ok(Fill::Ready) => {}
                Ok(Fill::WouldWait) => return Ok(LineStep::WouldWait),
                Ok(Fill::Ended) => ended = true,
                // A line that is whole is not lost with what comes behind it.
                Err(error) => {
                    let line = self.line_in(stream.buffered(), searched, true);
                    return line.map(LineStep::Line).ok_or(error);
                }
            }
        }
        Ok(LineStep::Later)
    }

    /// The line that `bytes` begin with, if all of it is there, and what ends it. No separator begins in
    /// the first `searched` bytes, of which there are more afterwards; behind the bytes may be others
    /// unless they `ended`.
    #[inline]
    fn line_in(&self, bytes: &[u8], searched: &mut usize, ended: bool) -> Option<Line> {
        let within = self.limit.map_or(bytes.len(), |limit| limit.min(bytes.len()));
        let from = (*searched).min(within);
        // A separator that a limit cuts in two ends no line.
        let unsearched = bytes.get(from..within).unwrap_or_default();
        let found = match &self.separator {
            Separator::None => None,
            Separator::Byte(byte) => memchr(*byte, unsearched),
            Separator::Bytes(finder) => finder.find(unsearched),
            Separator::Paragraph => memchr::memmem::find(unsearched, b"\n\n"),
        };
        if let Some(at) = found {
            *searched = from + at;
            return self.line_until(bytes, from + at, ended);
        }
        let unsearched_len = self.separator.len().saturating_sub(1);
        *searched = from.max(within.saturating_sub(unsearched_len));
        if self.limit.is_some_and(|limit| bytes.len() >= limit) {
            return self.cut_line(bytes, within, ended);
        }
        None
    }

    /// Returns the line at the end of the input, which no separator ends.
    fn last_line(&self, bytes: &[u8]) -> Option<Line> {
        let content_len = self.last_content_len(bytes);
        (!bytes.is_empty()).then_some(Line { content_len, len: bytes.len() })
    }

    /// The line whose separator begins `at`; nothing where more bytes would tell how long that is.
    fn line_until(&self, bytes: &[u8], at: usize, ended: bool) -> Option<Line> {
        let mut len = at + self.separator.len();
        let mut content_len = if self.chomp { at } else { len };
        match self.separator {
            // As everywhere, a line that ends with a newline may do so with a carriage return before it.
            Separator::Byte(b'\n') if self.chomp && at > 0 && bytes[at - 1] == b'\r' => {
                content_len -= 1;
            }
            Separator::Paragraph => {
                let newlines = bytes[len..].iter().take_while(|byte| **byte == b'\n').count();
                len += newlines;
                if len == bytes.len() && !ended && newlines < NEWLINES_MAX {
                    return None;
                }
            }
            _ => {}
        }
        Some(Line { content_len, len })
    }

    /// The line that a limit ends after `len` bytes, or after the character that is there; nothing
    /// where more bytes would tell.
    fn cut_line(&self, bytes: &[u8], len: usize, ended: bool) -> Option<Line> {
        let mut len = len;
        if self.keeps_characters && len > 0 {
            let start = bytes[..len].iter().rposition(|byte| byte & 0xc0 != 0x80)?;
            let width = match bytes[start] {
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => 1,
            };
            let whole = start + width;
            if whole > len {
                let continued = bytes[len..].iter().take(whole - len);
                let there = continued.clone().take_while(|byte| *byte & 0xc0 == 0x80).count();
                if there == whole - len {
                    len = whole;
                } else if there == continued.len() && !ended {
                    return None;
                }
            }
        }
        Some(Line { content_len: len, len })
    }

    fn last_content_len(&self, bytes: &[u8]) -> usize {
        match self.separator {
            Separator::Paragraph if self.chomp => match bytes {
                [content @ .., b'\n'] => content.len(),
                content => content.len(),
            },
            _ => bytes.len(),
        }
    }
}

/// Lines counted so far, the one that the input ends in the middle of included.
#[derive(Debug, Clone, Copy, Default)]
pub struct LineCount {
    newlines: u64,
    ends_within: bool,
}

impl LineCount {
    /// Returns the number of lines.
    pub fn lines(self) -> u64 {
        self.newlines + u64::from(self.ends_within)
    }

    /// Counts the lines that are left, and waits for them.
    pub fn add_all(&mut self, stream: &mut ByteStream) -> Result<()> {
        while !stream.fill(1)?.is_empty() {
            self.add_buffered(stream);
        }
        Ok(())
    }

    /// Counts the lines that are buffered, and takes them.
    pub fn add_buffered(&mut self, stream: &mut ByteStream) {
        let bytes = stream.buffered();
        self.newlines += memchr_iter(b'\n', bytes).count() as u64;
        if let Some(last) = bytes.last() {
            self.ends_within = *last != b'\n';
        }
        let len = bytes.len();
        stream.consume(len);
    }
}
