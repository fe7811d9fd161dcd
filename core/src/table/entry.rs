//! Bounds of the lengths of an entry's two parts.

use crate::error::{Error, Result};

/// The longest key, in bytes.
pub const KEY_LEN_MAX: usize = (1 << 30) - 1;

/// The longest value, in bytes.
pub const VALUE_LEN_MAX: usize = (1 << 31) - 1;

/// [`crate::ErrorKind::Limit`] where `key` or `value` is too long for any table.
pub fn check_entry(key: &[u8], value: &[u8]) -> Result<()> {
    if key.len() > KEY_LEN_MAX {
        return Err(Error::limit("a key", KEY_LEN_MAX as u64, key.len() as u64));
    }
    if value.len() > VALUE_LEN_MAX {
        return Err(Error::limit("a value", VALUE_LEN_MAX as u64, value.len() as u64));
    }
    Ok(())
}
