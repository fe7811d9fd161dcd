//! SHA-256 of the raw bytes of an input, taken as they are read (FIPS 180-4).

use std::fmt;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::source::{Cancel, Source};
use crate::error::Result;

/// Bytes that are read at once behind those that somebody else has read.
const PIECE: usize = 128 << 10;

/// The hash of an input. Clones are the same hash.
#[derive(Clone)]
pub struct FileHash(Arc<Mutex<HashedBytes>>);

/// A source, and the hash of what was read of it.
struct HashedBytes {
    source: Box<dyn Source>,
    hash: Sha256,
}

impl FileHash {
    /// Reads what is left of the input, to its end, and returns the hash of all of it.
    ///
    /// # Errors
    /// Those of the source.
    pub fn sha256(&self) -> Result<[u8; 32]> {
        let mut piece = Vec::with_capacity(PIECE);
        // Others that read the same source need not wait for its end.
        while self.bytes().read(&mut piece, PIECE)? > 0 {
            piece.clear();
        }
        Ok(self.bytes().hash.clone().finalize().into())
    }

    fn bytes(&self) -> MutexGuard<'_, HashedBytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for FileHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FileHash")
    }
}

impl HashedBytes {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let start = into.len();
        let count = self.source.read(into, limit)?;
        self.hash.update(into.get(start..).unwrap_or_default());
        Ok(count)
    }
}

/// A source whose bytes are hashed as they are read, in their order: it cannot be sought in, and has no second reader.
pub(super) struct HashedSource(FileHash);

impl HashedSource {
    /// The source of the same bytes.
    pub(super) fn new(source: Box<dyn Source>) -> Self {
        let bytes = HashedBytes { source, hash: Sha256::new() };
        HashedSource(FileHash(Arc::new(Mutex::new(bytes))))
    }

    /// The hash, which knows of all that is read later.
    pub(super) fn hash(&self) -> FileHash {
        self.0.clone()
    }
}

impl Source for HashedSource {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        self.0.bytes().read(into, limit)
    }

    fn try_read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<Option<usize>> {
        let start = into.len();
        let mut bytes = self.0.bytes();
        let count = bytes.source.try_read(into, limit)?;
        bytes.hash.update(into.get(start..).unwrap_or_default());
        Ok(count)
    }

    fn try_read_slice(&mut self, _: &mut [MaybeUninit<u8>]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn len(&self) -> Option<u64> {
        self.0.bytes().source.len()
    }

    fn modified(&self) -> Option<i64> {
        self.0.bytes().source.modified()
    }

    fn is_nonblocking(&self) -> bool {
        self.0.bytes().source.is_nonblocking()
    }

    fn has_offsets(&self) -> bool {
        self.0.bytes().source.has_offsets()
    }

    fn cancel(&self) -> Option<Cancel> {
        self.0.bytes().source.cancel()
    }
}
