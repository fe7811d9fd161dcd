//! Length of a struct in JSON whose bytes come piece by piece: brackets and strings are followed, nothing is made of them.

use super::super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use super::super::extent::Progress;
use super::super::limits::{DEPTH_MAX, Limits, levels_of_either, too_deep};
use super::cursor::{is_space, shown};
use crate::Error;

// Bound (Thrift): brackets of a message in JSON whose end is searched = 2 for each level.
/// A struct, a list or a map has no more.
const BRACKETS_PER_LEVEL: usize = 2;

/// Bytes of the longest escape of a character that has one.
const ESCAPE_LEN: u64 = 6;

/// The search for the end of one struct.
#[derive(Debug, Clone)]
pub(in super::super) struct JsonExtent {
    limits: Limits,
    /// Brackets that are not closed, outermost first.
    open: Vec<u8>,
    has_begun: bool,
    /// True before the first string, which is the id of a field: it tells other objects early.
    is_before_id: bool,
    /// Bytes that were passed.
    passed: usize,
    /// Bytes of the string that is not over.
    string: Option<usize>,
    /// True behind a backslash.
    is_escaped: bool,
}

impl JsonExtent {
    /// A struct of which nothing was seen; one behind the header of a message ends with the bracket of that.
    pub(in super::super) fn new(limits: Limits, is_behind_header: bool) -> Self {
        let open = if is_behind_header { vec![b'['] } else { Vec::new() };
        JsonExtent {
            limits,
            open,
            has_begun: false,
            is_before_id: true,
            passed: 0,
            string: None,
            is_escaped: false,
        }
    }

    /// Memory for the brackets.
    pub(in super::super) fn memory_bytes(&self) -> usize {
        self.open.capacity()
    }

    /// Bytes that were passed; where the search failed, those before what is wrong.
    pub(in super::super) fn passed(&self) -> usize {
        self.passed
    }

    /// Goes on with the bytes behind those that were passed.
    pub(in super::super) fn advance(&mut self, bytes: &[u8]) -> ProtocolResult<Progress> {
        let mut rest = bytes;
        while let Some((byte, behind)) = rest.split_first() {
            if let Some(len) = self.string {
                let is_first = std::mem::take(&mut self.is_before_id);
                if is_first && !byte.is_ascii_digit() && *byte != b'-' {
                    self.is_before_id = true;
                    return Err(self.unexpected("the id of a field", *byte));
                }
                let passed = self.pass_string(rest);
                let len = len.saturating_add(passed);
                self.string = self.string.map(|_| len);
                rest = rest.get(passed..).unwrap_or_default();
                self.passed += passed;
                let len_max = u64::from(self.limits.string_max) * ESCAPE_LEN + 1;
                if len as u64 > len_max {
                    let error = Error::limit("the text of a string", len_max, len as u64);
                    return Err(self.failed(ProtocolErrorKind::SizeLimit, error));
                }
                continue;
            }
            self.token(*byte)?;
            rest = behind;
            self.passed += 1;
            if self.open.is_empty() && self.has_begun {
                return Ok(Progress::Complete(self.passed));
            }
        }
        let closing = usize::from(self.string.is_some());
        Ok(Progress::Needs(self.open.len().saturating_add(closing).max(1)))
    }

    /// Passes bytes of a string, up to its end; answers how many.
    fn pass_string(&mut self, bytes: &[u8]) -> usize {
        if std::mem::take(&mut self.is_escaped) {
            return 1;
        }
        match bytes.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
            None => bytes.len(),
            Some(len) => {
                match bytes.get(len) {
                    Some(b'"') => self.string = None,
                    _ => self.is_escaped = true,
                }
                len + 1
            }
        }
    }

    /// Takes a byte that is in no string.
    fn token(&mut self, byte: u8) -> ProtocolResult<()> {
        match byte {
            _ if is_space(byte) => {}
            b'{' => self.begin(byte)?,
            _ if !self.has_begun => return Err(self.unexpected("a struct in JSON, {", byte)),
            b'[' => self.begin(byte)?,
            b'"' => self.string = Some(0),
            b']' | b'}' => {
                if self.open.last().is_none_or(|open| (*open == b'{') != (byte == b'}')) {
                    return Err(self.unexpected("the bracket that closes the last one", byte));
                }
                self.open.pop();
            }
            b',' | b':' | b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E' => {}
            _ => return Err(self.unexpected("a token of JSON", byte)),
        }
        Ok(())
    }

    fn begin(&mut self, bracket: u8) -> ProtocolResult<()> {
        let levels = levels_of_either(self.limits) as usize;
        // One more is that of the message.
        if self.open.len() > levels.saturating_mul(BRACKETS_PER_LEVEL) {
            let error = too_deep(self.limits.depth_max.clamp(1, DEPTH_MAX));
            return Err(self.failed(ProtocolErrorKind::DepthLimit, error));
        }
        self.has_begun = true;
        self.open.push(bracket);
        Ok(())
    }

    #[cold]
    fn unexpected(&self, expected: &str, byte: u8) -> ProtocolError {
        let error = Error::format(expected, shown(byte));
        self.failed(ProtocolErrorKind::InvalidData, error)
    }

    #[cold]
    fn failed(&self, kind: ProtocolErrorKind, error: Error) -> ProtocolError {
        ProtocolError::new(kind, error.at(self.passed as u64))
    }
}
