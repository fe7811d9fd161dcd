//! Numbers that tell one table, or one history of it, from another.

use std::hash::{BuildHasher, RandomState};

/// A number that no two tables share, and that nobody guesses who chooses keys.
pub(super) fn random_number() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
