//! Bytes that somebody else brings: a face, from an object of its language, which this must not call.
//!
//! Nothing waits for a feed. A stream over one is asked with [`super::ByteStream::try_fill`], and where
//! that would wait, the face brings more and asks again. For a stream that is read on a thread of its
//! own, a host has a source of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

use super::source::Source;

/// The end of a feed at which bytes are brought. Clones are one feed.
#[derive(Debug, Clone, Default)]
pub struct Feed(Arc<Mutex<FeedState>>);

/// The end of a feed at which a stream reads.
#[derive(Debug, Default)]
pub struct FeedSource(Feed);

#[derive(Debug, Default)]
struct FeedState {
    bytes: Vec<u8>,
    /// Number of them that were read.
    taken: usize,
    /// The end came, and nobody was told yet.
    ended: bool,
    can_seek: bool,
    seek: Option<u64>,
}

impl Feed {
    /// A feed with nothing in it. `can_seek` says whether who brings bytes can go to another place.
    pub fn new(can_seek: bool) -> Self {
        Feed(Arc::new(Mutex::new(FeedState { can_seek, ..FeedState::default() })))
    }

    /// Returns the end at which a stream reads the bytes.
    pub fn source(&self) -> FeedSource {
        FeedSource(self.clone())
    }

    /// Returns true if the caller that brings bytes can go to another place.
    pub fn can_seek(&self) -> bool {
        self.state().can_seek
    }

    /// Brings bytes.
    pub fn push(&self, bytes: &[u8]) {
        let mut state = self.state();
        if state.taken == state.bytes.len() {
            state.bytes.clear();
            state.taken = 0;
        }
        state.bytes.extend_from_slice(bytes);
    }

    /// Marks the end for now: a later read asks again.
    pub fn end(&self) {
        self.state().ended = true;
    }

    /// Takes the seek that the object has to do before the next bytes, if there is one: an offset from where the
    /// first ones began.
    pub fn take_seek(&self) -> Option<u64> {
        self.state().seek.take()
    }

    /// Restores a seek that was taken and failed.
    pub fn restore_seek(&self, offset: u64) {
        self.state().seek.get_or_insert(offset);
    }

    fn state(&self) -> MutexGuard<'_, FeedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for FeedSource {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        match self.try_read(into, limit)? {
            Some(count) => Ok(count),
            None => Err(Error::internal("a feed that is waited for")),
        }
    }

    fn try_read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<Option<usize>> {
        let mut state = self.0.state();
        let there = state.bytes.get(state.taken..).unwrap_or_default();
        let count = there.len().min(limit);
        into.extend_from_slice(there.get(..count).unwrap_or_default());
        state.taken += count;
        if count > 0 || std::mem::take(&mut state.ended) { Ok(Some(count)) } else { Ok(None) }
    }

    fn seek(&mut self, offset: u64) -> Result<bool> {
        let mut state = self.0.state();
        if state.can_seek {
            state.bytes.clear();
            state.taken = 0;
            state.ended = false;
            state.seek = Some(offset);
        }
        Ok(state.can_seek)
    }
}
