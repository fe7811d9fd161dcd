//! `bytewright report`: what it can be asked.

use std::path::PathBuf;

use bytewright::export::OutputOptions;
use bytewright::report::ReportOptions;
use clap::Args as ArgGroup;

use super::headings::headed;
use super::named::NamedArgs;
use super::{Jobs, Selection};

/// Write one page of HTML about captures: traffic over time, hosts, conversations, ports, Thrift calls, damage.
///
/// The page needs no network and no other file, and takes at most 500 KB. Several captures are one report.
#[derive(Debug, ArgGroup)]
#[command(mut_args(headed))]
pub(crate) struct ReportArgs {
    /// Captures; `-` is standard input.
    #[arg(required_unless_present = "interface", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Where to write the page; `-` is standard output. An older file is replaced when the page
    /// is complete.
    #[arg(short = 'o', long, value_name = "PAGE", required = true)]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) replacing: NamedArgs<OutputOptions>,

    #[command(flatten)]
    pub(crate) page: NamedArgs<ReportOptions>,

    #[command(flatten)]
    pub(crate) selection: Selection,

    #[command(flatten)]
    pub(crate) jobs: Jobs,
}
