//! The groups of options that languages name.

use bytewright::ask::{
    CallOptions, CountOptions, CutOptions, PacketOptions, SumOptions, ToldFlows,
};
use bytewright::batch::ExportOptions;
use bytewright::export::OutputOptions;
use bytewright::flow::FlowOptions;
use bytewright::host::{PacketDetails, ReaderOptions};
use bytewright::input::{CaptureOptions, LiveOptions};
use bytewright::options::{NamedOptions, OptionSpec};
use bytewright::report::ReportOptions;
use bytewright::table::file::OpenOptions;

/// Options that are given together.
pub(crate) struct Group {
    /// Its name in a language without namespaces: "CAPTURE".
    pub(crate) name: &'static str,
    /// Its name as that of a type: "Capture".
    pub(crate) type_name: &'static str,
    /// Their subject, as a heading.
    pub(crate) title: &'static str,
    pub(crate) tables: &'static [&'static [OptionSpec]],
}

impl Group {
    pub(crate) fn options(&self) -> impl Iterator<Item = &'static OptionSpec> + use<> {
        self.tables.iter().copied().flatten()
    }
}

/// The group with that name.
pub(crate) fn group(name: &str) -> &'static Group {
    GROUPS.iter().find(|group| group.name == name).unwrap()
}

pub(crate) const GROUPS: &[Group] = &[
    Group {
        name: "CAPTURE",
        type_name: "Capture",
        title: "Reading captures",
        tables: &[CaptureOptions::OPTIONS],
    },
    Group {
        name: "LIVE",
        type_name: "Live",
        title: "Capturing from a network interface",
        tables: &[LiveOptions::OPTIONS],
    },
    Group {
        name: "PACKETS",
        type_name: "Packets",
        title: "Packets as rows",
        tables: &[PacketOptions::OPTIONS],
    },
    Group {
        name: "COUNTS",
        type_name: "Counts",
        title: "Counting packets",
        tables: &[CountOptions::OPTIONS],
    },
    Group {
        name: "FLOWS",
        type_name: "Flows",
        title: "Flows",
        tables: &[FlowOptions::OPTIONS, ToldFlows::OPTIONS],
    },
    Group {
        name: "CALLS",
        type_name: "Calls",
        title: "Thrift calls",
        tables: &[CallOptions::OPTIONS],
    },
    Group {
        name: "SUMS",
        type_name: "Sums",
        title: "Adding packets up",
        tables: &[SumOptions::OPTIONS],
    },
    Group {
        name: "EXPORT",
        type_name: "Export",
        title: "Columns for other programs",
        tables: &[ExportOptions::OPTIONS],
    },
    Group {
        name: "PARQUET",
        type_name: "Parquet",
        title: "Rows in a Parquet file",
        tables: &[ExportOptions::OPTIONS, OutputOptions::OPTIONS],
    },
    Group {
        name: "CUT",
        type_name: "Cut",
        title: "Writing packets to a new capture",
        tables: &[CutOptions::OPTIONS, OutputOptions::OPTIONS],
    },
    Group {
        name: "REPORT",
        type_name: "Report",
        title: "Reports",
        tables: &[ReportOptions::OPTIONS, OutputOptions::OPTIONS],
    },
    Group {
        name: "TABLE",
        type_name: "Table",
        title: "Opening table files",
        tables: &[OpenOptions::OPTIONS],
    },
    Group {
        name: "READER",
        type_name: "Reader",
        title: "Reading binary files",
        tables: &[ReaderOptions::OPTIONS],
    },
    Group {
        name: "OUTPUT",
        type_name: "Output",
        title: "Writing a new capture packet by packet",
        tables: &[OutputOptions::OPTIONS],
    },
    Group {
        name: "WRITTEN_PACKET",
        type_name: "WrittenPacket",
        title: "Describing a packet of a new capture",
        tables: &[PacketDetails::OPTIONS],
    },
];
