//! Arguments of the commands for caches.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ArgGroup, Subcommand};

use super::table::Wait;

const EXAMPLES: &str = "\
Examples:
  bytewright cache stat results.bwc
  bytewright cache get results.bwc 'report(3, 4)'
  bytewright cache scan results.bwc --json | jq -r 'select(.tag == \"books\").key'
  bytewright cache delete results.bwc --tag books
  bytewright cache delete results.bwc --expired
  bytewright cache clear results.bwc

FILE is a cache of Bytewright, which other programs may use meanwhile. Entries that have expired are
not shown. Keys on the command line are texts; scan shows all keys.

Exit codes: 0 done; 1 a key that is not there, or bad data, what was read before it is printed;
2 usage.";

/// Look into caches in files, and delete what is in them.
#[derive(Debug, ArgGroup)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    Stat(CacheStatArgs),
    Get(CacheGetArgs),
    Scan(CacheScanArgs),
    Delete(CacheDeleteArgs),
    Clear(CacheClearArgs),
}

/// Print how many entries a cache has, how many of them have expired, and its size.
#[derive(Debug, ArgGroup)]
pub(crate) struct CacheStatArgs {
    /// The cache.
    pub(crate) file: PathBuf,

    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the values of keys, one per line.
///
/// Lists, dicts and the like are printed as JSON, and what a program has pickled as its bytes.
#[derive(Debug, ArgGroup)]
pub(crate) struct CacheGetArgs {
    /// The cache.
    pub(crate) file: PathBuf,

    /// Keys to look up, which are texts.
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<OsString>,

    /// Print texts and bytes without line ends, and as they are.
    #[arg(long, conflicts_with = "json")]
    pub(crate) raw: bool,

    /// Print JSON, one object per line with key, value, and expire_time (seconds since 1970) and tag
    /// if it has these; null for missing keys. Bytes that are not UTF-8 are {"base64": ...}, and what
    /// a program has pickled is {"sealed": ...}, in base64.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the entries that have not expired, in the order of writing.
///
/// A line is key, tab, value, with escapes for bytes that are not text.
#[derive(Debug, ArgGroup)]
pub(crate) struct CacheScanArgs {
    /// The cache.
    pub(crate) file: PathBuf,

    /// Stop after N entries.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Print keys, not values.
    #[arg(long)]
    pub(crate) keys: bool,

    /// Print JSON, one object per line, as cache get does.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Delete keys, the entries of a tag, or what has expired.
///
/// All are deleted on disk together when the command ends. If a key is missing, the exit code is 1; the
/// others are deleted.
#[derive(Debug, ArgGroup)]
pub(crate) struct CacheDeleteArgs {
    /// The cache.
    pub(crate) file: PathBuf,

    /// Keys to delete, which are texts.
    #[arg(value_name = "KEY", required_unless_present_any = ["tag", "expired"])]
    pub(crate) keys: Vec<OsString>,

    /// Delete all entries with this tag, a text, and print their number.
    #[arg(long, value_name = "TAG", conflicts_with_all = ["keys", "expired"])]
    pub(crate) tag: Option<OsString>,

    /// Delete all entries that have expired, and print their number.
    #[arg(long, conflicts_with = "keys")]
    pub(crate) expired: bool,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

/// Delete all entries, and print their number.
#[derive(Debug, ArgGroup)]
pub(crate) struct CacheClearArgs {
    /// The cache.
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) wait: Wait,
}
