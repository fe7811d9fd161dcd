//! Options for taking packets from a network interface.

use crate::Result;
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};

/// Options for opening an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveOptions {
    /// Bytes that are kept of each packet at most; 262144 by default, as tcpdump has it.
    pub snaplen: u32,
    /// Bytes of packets that the system holds until they are read: those that find no room are dropped. 16 MiB by
    /// default.
    pub buffer: u32,
    /// Takes packets to other hosts, too.
    pub promiscuous: bool,
}

impl Default for LiveOptions {
    fn default() -> Self {
        // Bound (Captures): packets of an interface that wait = in the system 16 MiB, or as asked for; in the library
        // one, and of each of several as much as in the system.
        LiveOptions { snaplen: 262_144, buffer: 16 << 20, promiscuous: false }
    }
}

impl NamedOptions for LiveOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "snaplen",
            kind: OptionKind::POSITIVE_32,
            default: "262144",
            summary: "Bytes that are kept of each packet at most",
        },
        OptionSpec {
            name: "buffer",
            kind: OptionKind::POSITIVE_32,
            default: "16777216",
            summary: "Bytes of packets that the system holds until they are read; what finds no room is dropped",
        },
        OptionSpec {
            name: "promiscuous",
            kind: OptionKind::Flag,
            default: "false",
            summary: "Take packets to other hosts, too",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "snaplen" => self.snaplen = setting.count()?,
            "buffer" => self.buffer = setting.count()?,
            "promiscuous" => self.promiscuous = setting.flag()?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}
