//! Standard output through one large buffer.

use std::io::{self, IsTerminal, StdoutLock, Write};
use std::ops::Range;

use anstream::{AutoStream, ColorChoice};
use bytewright::terminal::{Harmless, is_harmful, push_visible};
use terminal_size::{Width, terminal_size_of};

use crate::notation;
use crate::progress::Progress;

/// Bytes that are collected before they are written.
const BUFFER_LEN: usize = 256 << 10;

/// Characters of a picture in a line of a terminal, at least and at most.
const PICTURE: (usize, usize) = (10, 200);

pub(crate) struct Output {
    stdout: StdoutLock<'static>,
    buffer: Vec<u8>,
    progress: Progress,
    is_terminal: bool,
    is_coloured: bool,
    has_plain_bytes: bool,
    /// Parts of the buffer that a terminal is to get as they are.
    trusted: Vec<Range<usize>>,
}

impl Output {
    pub(crate) fn new(progress: Progress) -> Self {
        let stdout = io::stdout();
        let is_coloured = AutoStream::choice(&stdout) != ColorChoice::Never;
        let is_terminal = stdout.is_terminal();
        Output {
            stdout: stdout.lock(),
            buffer: Vec::with_capacity(BUFFER_LEN + BUFFER_LEN / 4),
            progress,
            is_terminal,
            is_coloured,
            has_plain_bytes: false,
            trusted: Vec::new(),
        }
    }

    /// Returns true if people see the output as it comes.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Characters of a line of the terminal; none where there is no terminal, or it does not say.
    pub(crate) fn width(&self) -> Option<usize> {
        let size = self.is_terminal.then(|| terminal_size_of(io::stdout())).flatten();
        size.map(|(Width(columns), _)| usize::from(columns)).filter(|columns| *columns > 0)
    }

    /// Characters that a picture may take of a line that has `taken` others: of a terminal what is left, else `usual`.
    pub(crate) fn picture_width(&self, taken: usize, usual: usize) -> usize {
        self.width().map_or(usual, |width| width.saturating_sub(taken).clamp(PICTURE.0, PICTURE.1))
    }

    /// Has numbers of bytes shown as they are, also on a terminal.
    pub(crate) fn show_plain_bytes(&mut self) {
        self.has_plain_bytes = true;
    }

    /// Returns true if numbers of bytes have the units that people count in: only a terminal has nobody who computes.
    pub(crate) fn has_units(&self) -> bool {
        self.is_terminal && !self.has_plain_bytes
    }

    /// A number of bytes, with its unit.
    pub(crate) fn bytes(&self, count: u64) -> String {
        match self.has_units() {
            true => notation::byte_count(count),
            false => format!("{count} bytes"),
        }
    }

    /// Appends what tells a terminal how to show the text behind it, where the output may be coloured.
    pub(crate) fn style(&mut self, codes: &str) {
        if self.is_coloured {
            let start = self.buffer.len();
            self.buffer.extend_from_slice(codes.as_bytes());
            self.trusted.push(start..self.buffer.len());
        }
    }

    /// Returns the buffer to append to.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Appends a line of text, harmless to a terminal.
    pub(crate) fn line(&mut self, text: &str) {
        self.buffer.extend_from_slice(Harmless::line(text).to_string().as_bytes());
        self.buffer.push(b'\n');
    }

    /// Appends bytes as they are, whatever a terminal makes of them.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(bytes);
        self.trusted.push(start..self.buffer.len());
    }

    /// Writes the buffer when there is enough in it.
    #[inline]
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER_LEN { Ok(()) } else { self.flush() }
    }

    /// Writes all that is in the buffer.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if self.is_terminal {
            self.buffer = harmless(&self.buffer, &self.trusted);
        }
        self.trusted.clear();
        let Output { stdout, buffer, progress, is_terminal, .. } = self;
        let mut write = || stdout.write_all(buffer).and_then(|()| stdout.flush());
        let written = if *is_terminal { progress.hide_while(write) } else { write() };
        buffer.clear();
        written
    }
}

/// Returns the bytes without anything that a terminal would act on but lines, tabs and what is `trusted`.
fn harmless(bytes: &[u8], trusted: &[Range<usize>]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(bytes.len());
    let mut start = 0;
    for range in trusted {
        push_harmless(&mut shown, &bytes[start..range.start]);
        shown.extend_from_slice(&bytes[range.clone()]);
        start = range.end;
    }
    push_harmless(&mut shown, &bytes[start..]);
    shown
}

fn push_harmless(into: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            let mut utf8 = [0; 4];
            let utf8 = character.encode_utf8(&mut utf8).as_bytes();
            match is_harmful(character) && !matches!(character, '\n' | '\t') {
                true => push_visible(into, utf8),
                false => into.extend_from_slice(utf8),
            }
        }
        push_visible(into, chunk.invalid());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_our_styles_and_no_other_codes() {
        let bytes = b"\x1b[1mname\x1b[0m\na\\\tb\x1b[2J\x9b\xc3\xa9\n";
        let shown = harmless(bytes, &[0..4, 8..12]);
        let expected = "\x1b[1mname\x1b[0m\na\\\tb\\x1b[2J\\x9b\u{e9}\n";
        assert_eq!(String::from_utf8_lossy(&shown), expected);
    }
}
