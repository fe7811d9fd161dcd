//! The packets that are read: of captures, or of an interface in their place.

use bytewright::input::{CaptureOptions, LOADS_LIBPCAP, LiveOptions};
use bytewright::packet::NetworkLabels;
use clap::{Arg, Args as ArgGroup};

use super::named::{Choice, NamedArgs};

/// Help of `--interface`.
const INTERFACE: &str = "Take packets from this network interface as they come, instead of from captures, until Ctrl-C. May be given \
    for several; `bytewright interfaces` lists them";

/// Help of what needs libpcap, which says so where this command cannot have it.
pub(super) fn help_of_libpcap(help: &str) -> String {
    match LOADS_LIBPCAP {
        true => help.to_owned(),
        false => {
            format!("{help} (this command cannot: it is linked statically and loads no libpcap)")
        }
    }
}

/// Packets, and their headers.
#[derive(Debug, ArgGroup)]
pub(crate) struct Selection {
    #[command(flatten)]
    pub(crate) captures: NamedArgs<CaptureOptions>,

    /// Network interfaces to take packets from.
    #[arg(long, value_name = "NAME", conflicts_with = "files", help = help_of_libpcap(INTERFACE))]
    interface: Vec<String>,

    #[command(flatten)]
    live: NamedArgs<LiveOptions>,
}

impl Selection {
    /// The libpcap expression that packets have to match.
    pub(crate) fn filter(&self) -> Option<&str> {
        self.captures.options.filter.as_deref()
    }

    /// The labels of networks.
    pub(crate) fn labels(&self) -> Option<&NetworkLabels> {
        self.captures.options.labels.as_deref()
    }

    /// The interfaces, and how they are opened; none where captures are read.
    pub(crate) fn interfaces(&self) -> Option<(Vec<String>, LiveOptions)> {
        let is_live = !self.interface.is_empty();
        is_live.then(|| (self.interface.clone(), self.live.options.clone()))
    }
}

impl Choice for CaptureOptions {
    /// Leaves out `jobs`, which is in [`super::Jobs`] because `cut` reads on one thread, and `damage`: the command prints the
    /// packets before the damage and then the error, and its exit code is 1. Only `info` tells a hash.
    fn choose(argument: Arg) -> Option<Arg> {
        (!["jobs", "damage", "hash"].contains(&argument.get_id().as_str())).then_some(argument)
    }
}

impl Choice for LiveOptions {
    /// Refuses each beside captures. The `--snaplen` of `cut`, which takes captures, is an option of its own.
    fn choose(argument: Arg) -> Option<Arg> {
        Some(argument.conflicts_with("files"))
    }
}

/// The choice of the option of `info`.
#[derive(Debug)]
pub(crate) enum HashOnly {}

impl Choice for HashOnly {
    fn choose(argument: Arg) -> Option<Arg> {
        (argument.get_id() == "hash").then_some(argument)
    }
}
