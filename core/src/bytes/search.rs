//! Looking for bytes in a stream, across the borders of its pieces.

use memchr::memmem::Finder;

use crate::error::{Error, Result};

use super::byte_stream::{ByteStream, Fill};

/// A sequence of bytes to look for.
#[derive(Debug)]
pub struct Search {
    finder: Finder<'static>,
}

/// Result of a search without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The stream is at the sequence, all of which is buffered.
    Here,
    /// The stream is at where the sequence may begin, and there is more to look at: ask again.
    Later,
    /// The stream is at where the sequence may begin; reading on would have to wait.
    WouldWait,
    /// The sequence does not come; the stream is at its end.
    Nowhere,
}

// Bound (Streams): sequence to search for in a Reader = 1 MiB.
/// All of it has to be buffered.
const PATTERN_MAX: usize = 1 << 20;

impl Search {
    /// Looks for `pattern`, of at least a byte and at most 1 MiB.
    pub fn new(pattern: &[u8]) -> Result<Search> {
        if pattern.is_empty() {
            let message = "expected bytes to look for, found none";
            return Err(Error::new(crate::ErrorKind::Argument, message));
        }
        if pattern.len() > PATTERN_MAX {
            let found = pattern.len() as u64;
            return Err(Error::limit("a number of bytes to look for", PATTERN_MAX as u64, found));
        }
        Ok(Search { finder: Finder::new(pattern).into_owned() })
    }

    /// Bytes of what is looked for.
    pub fn pattern_len(&self) -> usize {
        self.finder.needle().len()
    }

    /// Takes what comes before the next sequence from `stream`, as far as that takes no waiting, and
    /// one piece at most, so that it never takes long.
    pub fn try_find(&self, stream: &mut ByteStream) -> Result<Found> {
        if self.find_buffered(stream) {
            return Ok(Found::Here);
        }
        let kept = stream.buffered().len();
        Ok(match stream.try_fill(kept + 1)? {
            Fill::Ready if self.find_buffered(stream) => Found::Here,
            Fill::Ready => Found::Later,
            Fill::WouldWait => Found::WouldWait,
            Fill::Ended => {
                stream.consume(kept);
                Found::Nowhere
            }
        })
    }

    /// Takes what is buffered before the sequence, or before what could be the beginning of it.
    fn find_buffered(&self, stream: &mut ByteStream) -> bool {
        let buffered = stream.buffered();
        let found = self.finder.find(buffered);
        let kept = buffered.len().min(self.pattern_len() - 1);
        let passed = found.unwrap_or(buffered.len() - kept);
        stream.consume(passed);
        found.is_some()
    }
}
