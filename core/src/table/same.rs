//! Whether two tables hold the same.

use super::Snapshot;
use crate::error::Result;

/// Whether `a` and `b` have the same keys with the same values, in whatever order.
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
