//! Options for reading a capture.

use std::path::PathBuf;
use std::sync::Arc;

use super::DamagePolicy;
use super::index::{IndexUse, WantedRecords};
use super::parts::CapturePart;
use crate::Result;
use crate::bytes::StreamOptions;
use crate::labels::read_labels;
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::packet::{DecodeOptions, FlowSelector, NetworkLabels};

/// Options for reading a capture.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaptureOptions {
    /// Options for following headers.
    pub decode: DecodeOptions,
    /// A libpcap expression; frames that it does not match are left out.
    pub filter: Option<String>,
    /// The one conversation whose packets are read; those of all others are left out, too.
    pub flow: Option<FlowSelector>,
    /// The labels of addresses; none where fields of labels are null.
    pub labels: Option<Arc<NetworkLabels>>,
    /// The part of a plain capture of format pcap whose packets are read; none for all of it. One thread reads a part.
    pub part: Option<CapturePart>,
    /// Use of the index of the capture.
    pub index: IndexUse,
    /// The folder of the indexes; none where each is beside its capture.
    pub index_dir: Option<PathBuf>,
    /// The records whose packets somebody wants. Others may be shown, too.
    pub wanted: WantedRecords,
    /// Policy for the end of the rows of a damaged capture in a host. A reader returns the error in any case.
    pub damage: DamagePolicy,
    /// Options for reading bytes. Their `jobs` count for decoding, too: with more than one, a plain file is decoded by
    /// blocks on as many threads beside the one that reads.
    pub stream: StreamOptions,
}

impl NamedOptions for CaptureOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "filter",
            kind: OptionKind::Text,
            default: "none",
            summary: "Only packets that match this libpcap expression, such as \"tcp port 443\". Needs libpcap",
        },
        OptionSpec {
            name: "flow",
            kind: OptionKind::Text,
            default: "none",
            summary: "Only packets of this conversation, in both directions: a Community ID, or ends such as \
                      \"10.0.0.1:5000-10.0.0.2:443\"",
        },
        OptionSpec {
            name: "label",
            kind: OptionKind::Path,
            default: "none",
            summary: "A file that gives networks labels, for the fields src_label and dst_label: lines such as \
                      \"10.0.0.0/8,office\", or a database in MaxMind's format. The smallest network counts",
        },
        OptionSpec {
            name: "inner",
            kind: OptionKind::Flag,
            default: "false",
            summary: "Follow tunnels such as GRE, VXLAN, GENEVE and GTP-U, and report the innermost IP header",
        },
        OptionSpec {
            name: "vxlan_port",
            kind: OptionKind::Count { min: 1, max: u16::MAX as u64 },
            default: "none",
            summary: "A UDP port of VXLAN beside 4789 and 8472",
        },
        OptionSpec {
            name: "jobs",
            kind: OptionKind::POSITIVE_32,
            default: "one for each core, or as the guide says",
            summary: "Threads that work in parallel. The results are the same",
        },
        OptionSpec {
            name: "index",
            kind: OptionKind::Flag,
            default: "false",
            summary: "Make the index of a capture as it is read to its end, so that later questions about a time, or packets by \
                      their numbers, read only the parts that have them",
        },
        OptionSpec {
            name: "index_dir",
            kind: OptionKind::Path,
            default: "BYTEWRIGHT_INDEX_DIR, or beside the capture",
            summary: "The folder of the indexes of captures",
        },
        OptionSpec {
            name: "hash",
            kind: OptionKind::Flag,
            default: "false",
            summary: "Hash the file as it is read, so that info tells its SHA-256. No index is used then",
        },
        OptionSpec {
            name: "damage",
            kind: OptionKind::Choice(DamagePolicy::NAMES),
            default: "raise",
            summary: "\"raise\" for an error behind the rows before the damage, or \"keep\" for the rows alone, and a warning. \
                      A file that is no capture is an error in any case",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "filter" => self.filter = Some(setting.text()?),
            "flow" => self.flow = Some(setting.parsed()?),
            "label" => self.labels = Some(Arc::new(read_labels(&setting.path()?)?)),
            "inner" => self.decode.inner = setting.flag()?,
            "vxlan_port" => self.decode.vxlan_port = setting.count()?,
            "jobs" => self.stream.jobs = setting.count()?,
            "index" => {
                self.index = if setting.flag()? { IndexUse::Make } else { IndexUse::Use };
            }
            "index_dir" => self.index_dir = Some(setting.path()?),
            "hash" => self.stream.hash = setting.flag()?,
            "damage" => self.damage = setting.parsed()?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}
