//! A cache: a hashed table that forgets. Its entries expire, have tags, and are evicted when there are too many.
//!
//! It is a way to use a [`Table`], in memory or in a file, not another one: processes share it, transactions and snapshots work
//! as in any table. An entry that has expired is never shown; it is deleted when it comes to be evicted, or when
//! [`Cache::expire`] looks for it. An entry that was evicted may be there again after a loss of power.

mod entry;
mod limits;
mod nested;
mod options;

pub use entry::{CacheData, CacheEntry, CacheKind};
pub use limits::CacheLimits;
pub use nested::NestedTag;
pub use options::CacheOptions;

use std::time::{SystemTime, UNIX_EPOCH};

use super::{Table, ValueType, in_turn};
use crate::error::{Error, ErrorKind, Result};

/// Rules of a cache. Times are milliseconds since 1970, keys those of [`CacheData::to_key`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Cache {
    limits: CacheLimits,
}

impl Cache {
    /// Type of the values of a cache's table.
    pub const VALUES: ValueType = ValueType::CACHE;

    /// A cache within `limits`. [`ErrorKind::Argument`] for those that no cache can keep.
    pub fn new(limits: CacheLimits) -> Result<Cache> {
        limits.check()?;
        Ok(Cache { limits })
    }

    /// Returns the time now.
    pub fn now() -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns the time at which an entry expires that is set at `now`, after so many seconds. [`ErrorKind::Argument`] if they are no
    /// number.
    pub fn expiry(now: u64, seconds: f64) -> Result<u64> {
        match seconds.is_nan() {
            true => Err(Error::new(
                ErrorKind::Argument,
                "expected a number of seconds after which an entry expires, found NaN",
            )),
            // What is before 1970 is 1970.
            false => Ok((now as f64 + seconds * 1000.0) as u64),
        }
    }

    /// Returns its limits.
    pub fn limits(&self) -> CacheLimits {
        self.limits
    }

    /// Calls `found` with the entry of `key`, and returns true if there is one.
    pub fn get(
        &self,
        table: &dyn Table,
        key: &[u8],
        now: u64,
        found: &mut dyn FnMut(CacheEntry<'_>),
    ) -> Result<bool> {
        let mut outcome = Ok(false);
        table.get_with(key, &mut |value| {
            outcome = CacheEntry::of_value(value).map(|entry| {
                let counts = entry.counts(now);
                if counts {
                    found(entry);
                }
                counts
            });
        })?;
        outcome
    }

    /// Returns true if there is an entry of `key`.
    pub fn contains(&self, table: &dyn Table, key: &[u8], now: u64) -> Result<bool> {
        self.get(table, key, now, &mut |_| ())
    }

    /// Sets the entry of `key`, for which others are evicted as the limits say. [`ErrorKind::Limit`] for one that is too long
    /// to have others beside it.
    pub fn set(
        &self,
        table: &mut dyn Table,
        key: &[u8],
        entry: CacheEntry<'_>,
        now: u64,
    ) -> Result<()> {
        let value = entry.to_value();
        let len = (key.len() + value.len()) as u64;
        self.limits.check_entry(len)?;
        self.limits.make_room(table, len, now)?;
        table.put(key, &value)
    }

    /// Sets the entry of `key` if there is none, and returns true if it did.
    pub fn add(
        &self,
        table: &mut dyn Table,
        key: &[u8],
        entry: CacheEntry<'_>,
        now: u64,
    ) -> Result<bool> {
        in_turn(table, |table| {
            let is_new = !self.contains(table, key, now)?;
            if is_new {
                self.set(table, key, entry, now)?;
            }
            Ok(is_new)
        })
    }

    /// Gives the entry of `key` another expiry, and returns true if there is one.
    pub fn touch(
        &self,
        table: &mut dyn Table,
        key: &[u8],
        expires_at: Option<u64>,
        now: u64,
    ) -> Result<bool> {
        in_turn(table, |table| {
            let mut touched = None;
            self.get(table, key, now, &mut |entry| {
                touched = Some(CacheEntry { expires_at, ..entry }.to_value());
            })?;
            let Some(value) = touched else { return Ok(false) };
            self.limits.make_room(table, (key.len() + value.len()) as u64, now)?;
            table.put(key, &value)?;
            Ok(true)
        })
    }

    /// Adds `by` to the integer of `key`, which keeps its expiry and tag, and returns the sum. Where there is no entry, it
    /// begins with `default`; `None` without one. [`ErrorKind::Argument`] for a value that is no integer, or a sum of more than 64
    /// bits.
    pub fn increment(
        &self,
        table: &mut dyn Table,
        key: &[u8],
        by: i64,
        default: Option<i64>,
        now: u64,
    ) -> Result<Option<i64>> {
        in_turn(table, |table| {
            let mut changed = None;
            self.get(table, key, now, &mut |entry| changed = Some(added(entry, by)))?;
            let (sum, value) = match (changed, default) {
                (Some(changed), _) => changed?,
                (None, Some(default)) => added(integer(&default.to_le_bytes()), by)?,
                (None, None) => return Ok(None),
            };
            self.limits.make_room(table, (key.len() + value.len()) as u64, now)?;
            table.put(key, &value)?;
            Ok(Some(sum))
        })
    }

    /// Deletes the entry of `key`, calls `taken` with it, and returns true if there was one.
    pub fn take(
        &self,
        table: &mut dyn Table,
        key: &[u8],
        now: u64,
        taken: &mut dyn FnMut(CacheEntry<'_>),
    ) -> Result<bool> {
        in_turn(table, |table| {
            let counts = self.get(table, key, now, taken)?;
            table.delete(key)?;
            Ok(counts)
        })
    }

    /// Deletes all entries that have expired, and returns how many there were.
    pub fn expire(&self, table: &mut dyn Table, now: u64) -> Result<u64> {
        delete_if(table, |value| Ok(!CacheEntry::value_counts(value, now)))
    }

    /// Deletes all entries with `tag`, and returns how many there were.
    pub fn evict_tag(&self, table: &mut dyn Table, tag: CacheData<'_>) -> Result<u64> {
        delete_if(table, |value| Ok(CacheEntry::of_value(value)?.tag == Some(tag)))
    }

    /// Deletes all entries, and returns how many there were.
    pub fn clear(&self, table: &mut dyn Table) -> Result<u64> {
        in_turn(table, |table| {
            let count = table.len()?;
            table.clear().map(|()| count)
        })
    }

    /// Deletes what has expired, and evicts what is over the limits. Returns how many entries are gone.
    pub fn cull(&self, table: &mut dyn Table, now: u64) -> Result<u64> {
        let before = table.len()?;
        self.expire(table, now)?;
        self.limits.make_room(table, 0, now)?;
        Ok(before.saturating_sub(table.len()?))
    }
}

/// Entry with an integer in `bytes`.
fn integer(bytes: &[u8]) -> CacheEntry<'_> {
    let value = CacheData { kind: CacheKind::Integer, bytes };
    CacheEntry { value, expires_at: None, tag: None }
}

/// Adds `by` to an entry: the sum, and the value of a table for it.
fn added(entry: CacheEntry<'_>, by: i64) -> Result<(i64, Vec<u8>)> {
    let bytes =
        entry.value.bytes.try_into().ok().filter(|_| entry.value.kind == CacheKind::Integer);
    let Some(bytes) = bytes else {
        let message = format!(
            "expected an integer to add to, found a value of the kind {:?}",
            entry.value.kind
        );
        return Err(Error::new(ErrorKind::Argument, message));
    };
    let sum = super::values::add(i64::from_le_bytes(bytes), by)?;
    let value = CacheData { bytes: &sum.to_le_bytes(), ..entry.value };
    Ok((sum, CacheEntry { value, ..entry }.to_value()))
}

/// Deletes the entries whose values `is_gone` names, in one turn.
fn delete_if(table: &mut dyn Table, is_gone: impl Fn(&[u8]) -> Result<bool>) -> Result<u64> {
    in_turn(table, |table| {
        let (mut scan, mut keys) = (table.snapshot()?.scan()?, Vec::new());
        while let Some((key, value)) = scan.advance()? {
            if is_gone(value)? {
                keys.push(key.to_vec());
            }
        }
        drop(scan);
        table.begin()?;
        let deleted =
            keys.iter().try_fold(0, |count, key| Ok(count + u64::from(table.delete(key)?)));
        match deleted {
            Ok(count) => table.commit().map(|()| count),
            Err(error) => table.abort().and(Err(error)),
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn an_entry_expires_after_its_seconds_and_never_before_1970() {
        assert_eq!(Cache::expiry(5_000, 1.5).unwrap(), 6_500);
        assert_eq!(Cache::expiry(5_000, -9.0).unwrap(), 0);
        assert_eq!(Cache::expiry(5_000, f64::INFINITY).unwrap(), u64::MAX);
        assert_eq!(Cache::expiry(0, f64::NAN).unwrap_err().kind(), ErrorKind::Argument);
        assert!(Cache::now() > 1_700_000_000_000);
    }
}
