//! An interface in the place of captures.

use bytewright::scan::LiveOptions;
use clap::Args as ArgGroup;

/// Packets as they come.
#[derive(Debug, ArgGroup)]
pub(crate) struct LiveArgs {
    /// Take packets from this network interface as they come, instead of from captures, until Ctrl-C.
    #[arg(long, value_name = "NAME", conflicts_with = "files")]
    interface: Option<String>,

    /// Keep at most this many bytes of each packet.
    // Of captures, only `cut` can do so: with the other commands it conflicts with them.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) snaplen: Option<u32>,

    /// Bytes that the system holds until they are read; packets that find no room are lost [default: 16777216].
    #[arg(long, value_name = "BYTES", conflicts_with = "files", value_parser = clap::value_parser!(u32).range(1..))]
    buffer: Option<u32>,

    /// Take packets to other hosts, too.
    #[arg(long, conflicts_with = "files")]
    promiscuous: bool,
}

impl LiveArgs {
    /// The interface, and how it is opened.
    pub(crate) fn interface(&self) -> Option<(String, LiveOptions)> {
        let name = self.interface.clone()?;
        let usual = LiveOptions::default();
        let options = LiveOptions {
            snaplen: self.snaplen.unwrap_or(usual.snaplen),
            buffer: self.buffer.unwrap_or(usual.buffer),
            promiscuous: self.promiscuous,
        };
        Some((name, options))
    }
}
