//! Comparison of the entries of two tables, and a hash of those of one.

use std::hash::{BuildHasher, Hash, Hasher};

use super::Snapshot;
use crate::error::Result;

/// Returns true if `a` and `b` have the same keys with the same values, in whatever order.
pub fn have_same_entries(a: &dyn Snapshot, b: &dyn Snapshot) -> Result<bool> {
    if a.len()? != b.len()? {
        return Ok(false);
    }
    let mut scan = a.scan()?;
    while let Some((key, value)) = scan.advance()? {
        let mut is_same = false;
        b.get_with(key, &mut |found| is_same = found == value)?;
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A hash of the entries: the same for tables that [`have_same_entries`], whatever the order. An
/// attacker who does not know the state of `hasher` cannot choose entries with a given hash.
pub fn hash_of_entries(table: &dyn Snapshot, hasher: &impl BuildHasher) -> Result<u64> {
    let mut sum = table.len()?;
    let mut scan = table.scan()?;
    while let Some((key, value)) = scan.advance()? {
        let mut state = hasher.build_hasher();
        key.hash(&mut state);
        value.hash(&mut state);
        sum = sum.wrapping_add(state.finish());
    }
    Ok(sum)
}
