//! The content of a capture file that an index belongs to: its length, when it was changed, and bytes from all over it.

use xxhash_rust::xxh3::Xxh3;

use crate::bytes::Source;
use crate::wire::{Endian, Reader};
use crate::{Error, Result};

/// Places that are looked at: the beginning, the end, and those at the same distance between.
const SAMPLES: u64 = 32;

/// Bytes that are looked at in each place.
const SAMPLE_LEN: usize = 4096;

/// Bytes of it in a header.
pub(super) const VERSION_LEN: usize = 24;

/// The content of a file, as far as a look can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CaptureVersion {
    /// Bytes of the file.
    pub(super) len: u64,
    /// Time of its last change, in nanoseconds since 1970.
    modified: i64,
    /// XXH3 of the bytes that were looked at.
    samples: u64,
}

/// Result of comparing a file to the content that an index belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VersionMatch {
    /// That content.
    Same,
    /// That content, and more behind it.
    Grown,
    /// Another content, as this shows.
    Other(&'static str),
}

impl CaptureVersion {
    /// The content of the file that `source` reads and that was changed last at `modified`; of its first `len` bytes.
    pub(super) fn of(source: &mut dyn Source, modified: i64, len: u64) -> Result<Self> {
        let mut hash = Xxh3::new();
        let last = len.saturating_sub(SAMPLE_LEN as u64);
        let mut sample = Vec::with_capacity(SAMPLE_LEN);
        for index in 0..SAMPLES {
            let offset = (u128::from(last) * u128::from(index) / u128::from(SAMPLES - 1)) as u64;
            if !source.seek(offset)? {
                return Err(Error::internal("a file that cannot be gone into"));
            }
            sample.clear();
            let wanted = (len - offset).min(SAMPLE_LEN as u64) as usize;
            while sample.len() < wanted {
                let left = wanted - sample.len();
                if source.read(&mut sample, left)? == 0 {
                    break;
                }
            }
            hash.update(&sample);
            if last == 0 {
                break;
            }
        }
        Ok(CaptureVersion { len, modified, samples: hash.digest() })
    }

    /// Compares the content of a file to this one.
    pub(super) fn of_file(
        &self,
        source: &mut dyn Source,
        modified: i64,
        len: u64,
    ) -> Result<VersionMatch> {
        if len < self.len {
            return Ok(VersionMatch::Other("is shorter"));
        }
        if len == self.len && modified != self.modified {
            return Ok(VersionMatch::Other("was changed at another time"));
        }
        let found = CaptureVersion::of(source, self.modified, self.len)?;
        Ok(match found == *self {
            false => VersionMatch::Other("has other bytes"),
            true if len == self.len => VersionMatch::Same,
            true => VersionMatch::Grown,
        })
    }

    pub(super) fn to_bytes(self) -> [u8; VERSION_LEN] {
        let mut bytes = [0; VERSION_LEN];
        bytes[..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.modified.to_le_bytes());
        bytes[16..].copy_from_slice(&self.samples.to_le_bytes());
        bytes
    }

    pub(super) fn of_bytes(fields: &mut Reader<'_>) -> Option<Self> {
        let len = fields.u64(Endian::Little)?;
        let modified = fields.u64(Endian::Little)? as i64;
        Some(CaptureVersion { len, modified, samples: fields.u64(Endian::Little)? })
    }
}
