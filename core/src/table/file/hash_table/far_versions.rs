//! Versions of one state that have many newer ones: what was found once is not gone back over again, so that a key that is
//! written again and again costs no more than others.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::segment::KeyHash;

// Bound (Tables): memory for a snapshot of a hashed table's file = 40 bytes for each key that it looked for behind more
// than 16 newer versions.
/// Versions that are gone back over before it is remembered what was found.
const LONG_CHAIN: u32 = 16;

/// Places of versions by their hash.
#[derive(Debug, Default)]
pub(super) struct FarVersions {
    places: Mutex<HashMap<KeyHash, FarVersion>>,
}

/// End of a chain of versions.
#[derive(Debug, Clone, Copy)]
pub(super) struct FarVersion {
    /// Place of the version of the state.
    pub(super) place: u64,
    /// Place of a newer one, which tells the key.
    pub(super) newer: u64,
}

impl FarVersions {
    fn places(&self) -> MutexGuard<'_, HashMap<KeyHash, FarVersion>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, hash: KeyHash) -> Option<FarVersion> {
        let places = self.places();
        if places.is_empty() { None } else { places.get(&hash).copied() }
    }

    /// Remembers what was found behind so many versions.
    pub(super) fn note(&self, hash: KeyHash, version: FarVersion, steps: u32) {
        if steps > LONG_CHAIN {
            self.places().insert(hash, version);
        }
    }
}
