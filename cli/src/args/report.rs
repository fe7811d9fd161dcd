//! `bytewright report`: what it can be asked.

use std::path::PathBuf;

use clap::Args as ArgGroup;

use super::{Jobs, Selection};

/// Write one page of HTML about captures: traffic over time, hosts, conversations, ports, Thrift calls, damage.
///
/// The page needs no network and no other file, and takes at most 500 KB. Several captures are one report.
#[derive(Debug, ArgGroup)]
#[command(mut_arg("snaplen", |snaplen| snaplen.conflicts_with("files")))]
pub(crate) struct ReportArgs {
    /// Captures; `-` is standard input.
    #[arg(required_unless_present = "interface", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Where to write the page; `-` is standard output. An older file is replaced when the page
    /// is complete.
    #[arg(short = 'o', long, value_name = "PAGE", required = true)]
    pub(crate) output: PathBuf,

    /// Replace a file that is a capture, a table or a store, too, but never an input.
    #[arg(long)]
    pub(crate) force: bool,

    /// The title of the page [default: the names of the captures, and which packets were asked for].
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Take only packets that meet this condition, such as 'dst_port == 443 and length > 100',
    /// 'host == 10.0.0.1', 'ts >= 2026-11-21T10:00Z'.
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) condition: Option<String>,

    #[command(flatten)]
    pub(crate) selection: Selection,

    #[command(flatten)]
    pub(crate) jobs: Jobs,
}
