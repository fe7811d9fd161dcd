//! Arguments of `cut`.

use std::path::PathBuf;

use bytewright::ask::CutOptions;
use bytewright::export::OutputOptions;
use clap::Args as ArgGroup;

use super::Selection;
use super::headings::headed;
use super::named::NamedArgs;

/// Write packets of captures to a new capture, in the order of their times.
///
/// Interfaces, times, comments and link types stay as they are; pcap, which has no comments,
/// holds one link type only. Each capture is read in its own order: a packet with an earlier time
/// than those before it is written where it stands.
#[derive(Debug, ArgGroup)]
#[command(mut_args(headed))]
pub(crate) struct CutArgs {
    /// Captures; `-` is standard input.
    #[arg(required_unless_present = "interface", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The capture to write: a name that ends in .pcap or .pcapng, followed by .gz or .zst to
    /// compress it. It replaces an older file when it is complete. `-` writes pcapng to standard
    /// output as packets come. With --rotate, the form of the names.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) replacing: NamedArgs<OutputOptions>,

    #[command(flatten)]
    pub(crate) cut: NamedArgs<CutOptions>,

    // After the options of the cut: their `snaplen` takes captures, that of an interface does not.
    #[command(flatten)]
    pub(crate) selection: Selection,
}
