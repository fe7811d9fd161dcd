//! What `cut` is told.

use std::path::PathBuf;

use bytewright::query;
use clap::Args as ArgGroup;

use super::Selection;

/// Write packets of captures to a new capture, in the order of their times.
///
/// Interfaces, times, comments and link types stay as they are; pcap, which has no comments,
/// holds one link type only. Each capture is read in its own order: a packet with an earlier time
/// than those before it is written where it stands.
#[derive(Debug, ArgGroup)]
pub(crate) struct CutArgs {
    /// Captures; `-` is standard input.
    #[arg(required_unless_present = "interface", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The capture to write: a name that ends in .pcap or .pcapng, followed by .gz or .zst to
    /// compress it. It replaces an older file when it is complete. `-` writes pcapng to standard
    /// output as packets come.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) selection: Selection,

    /// Take only packets that meet this condition, such as 'dst_port == 443 and length > 1e3' or
    /// 'src_ip in 10.0.0.0/8'.
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) condition: Option<String>,

    /// Take only packets of this time or later, such as 2026-11-21T10:00Z or 1795255200 (seconds
    /// since 1970; numbers from 10^11 on are milli-, micro- or nanoseconds, by their size).
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) from_time: Option<i64>,

    /// Take only packets before this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) to_time: Option<i64>,
}

/// Nanoseconds since 1970.
fn time(text: &str) -> Result<i64, String> {
    query::time(text).map_err(|error| error.message().to_owned())
}
