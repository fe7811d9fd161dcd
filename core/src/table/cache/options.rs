//! Options of a cache by name.

use super::CacheLimits;
use super::limits::BYTES_MIN;
use crate::error::Result;
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting};
use crate::table::ValueType;
use crate::table::file::{OpenOptions, SyncMode};

/// Options of opening a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheOptions {
    /// Limits.
    pub limits: CacheLimits,
    /// Options of its file.
    pub opening: OpenOptions,
}

impl Default for CacheOptions {
    /// A GiB in a file that is made, and no wait for the disk: a result that a power cut takes can be made again.
    fn default() -> Self {
        let opening = OpenOptions {
            create: true,
            sync: SyncMode::Never,
            values: Some(ValueType::CACHE),
            ..OpenOptions::default()
        };
        CacheOptions { limits: CacheLimits::default(), opening }
    }
}

const SIZE_LIMIT: OptionSpec = OptionSpec {
    name: "size_limit",
    kind: OptionKind::at_least(BYTES_MIN),
    default: "1073741824",
    summary: "Bytes that the file of the cache, or its memory, may take: what is over is evicted",
};

const COUNT_LIMIT: OptionSpec = OptionSpec {
    name: "count_limit",
    kind: OptionKind::at_least(1),
    default: "any number",
    summary: "Entries that the cache may have",
};

/// Number of the options of table files.
const OPENING_COUNT: usize = OpenOptions::OPTIONS.len();

/// The limits, and the options of table files, of which only the default of `sync` is another one.
const ALL: [OptionSpec; 2 + OPENING_COUNT] = {
    let mut all = [SIZE_LIMIT; 2 + OPENING_COUNT];
    all[1] = COUNT_LIMIT;
    let mut at = 0;
    while at < OPENING_COUNT {
        let option = OpenOptions::OPTIONS[at];
        let is_sync = matches!(option.kind, OptionKind::Choice(_));
        all[2 + at] = match is_sync {
            true => OptionSpec { default: "never", ..option },
            false => option,
        };
        at += 1;
    }
    all
};

impl NamedOptions for CacheOptions {
    const OPTIONS: &'static [OptionSpec] = &ALL;

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "size_limit" => self.limits.bytes = setting.count()?,
            "count_limit" => self.limits.entries = setting.count()?,
            name => self.opening.set(name, setting)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_syncs_when_it_is_told_to() {
        let syncs = CacheOptions::OPTIONS.iter().filter(|option| option.default == "never");
        assert!(syncs.map(|option| option.name).eq(["sync"]));
        assert_eq!(CacheOptions::default().opening.sync, SyncMode::Never);
    }
}
