//! Standard output through one large buffer.

use std::io::{self, IsTerminal, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};

use crate::progress::Progress;

/// Bytes that are collected before they are written.
const BUFFER_LEN: usize = 256 << 10;

pub(crate) struct Output {
    stdout: StdoutLock<'static>,
    buffer: Vec<u8>,
    progress: Progress,
    is_terminal: bool,
    is_coloured: bool,
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
        }
    }

    /// Whether people see the output as it comes.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Whether the output may be coloured.
    pub(crate) fn is_coloured(&self) -> bool {
        self.is_coloured
    }

    /// Where to append what is to be written.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Appends a line of text.
    pub(crate) fn line(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
        self.buffer.push(b'\n');
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
        let Output { stdout, buffer, progress, is_terminal, .. } = self;
        let mut write = || stdout.write_all(buffer).and_then(|()| stdout.flush());
        let written = if *is_terminal { progress.hide_while(write) } else { write() };
        buffer.clear();
        written
    }
}
