//! A file in memory, for tests.

use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use super::storage::Storage;

/// A file in memory, for tests. Clones share its bytes; there is no lock.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    bytes: Arc<RwLock<Vec<u8>>>,
}

impl MemoryStorage {
    /// A file that holds `bytes`.
    pub fn new(bytes: Vec<u8>) -> Self {
        MemoryStorage { bytes: Arc::new(RwLock::new(bytes)) }
    }

    /// Returns the present content of the file.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Storage for MemoryStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.read().unwrap_or_else(PoisonError::into_inner).len() as u64)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let held = self.bytes.read().unwrap_or_else(PoisonError::into_inner);
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = offset.saturating_add(bytes.len());
        bytes.copy_from_slice(held.get(offset..end).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut held = self.bytes.write().unwrap_or_else(PoisonError::into_inner);
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = offset.checked_add(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        if held.len() < end {
            held.resize(end, 0);
        }
        held[offset..end].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.bytes.write().unwrap_or_else(PoisonError::into_inner).resize(len, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
