//! The groups of options that languages name.

use std::borrow::Cow;

use bytewright::ask::{
    CallOptions, CallStructOptions, CountOptions, CutOptions, PacketOptions, QuestionSpec,
    SumOptions, ToldFlows,
};
use bytewright::batch::ExportOptions;
use bytewright::export::OutputOptions;
use bytewright::flow::FlowOptions;
use bytewright::host::{PacketDetails, ReaderOptions};
use bytewright::input::{CaptureOptions, LiveOptions};
use bytewright::options::{NamedOptions, OptionSpec};
use bytewright::report::ReportOptions;
use bytewright::table::cache::CacheOptions;
use bytewright::table::file::OpenOptions;

/// Options that are given together.
pub(crate) struct Group {
    /// Its name in a language without namespaces: "CAPTURE".
    pub(crate) name: Cow<'static, str>,
    /// Its name as that of a type: "Capture".
    pub(crate) type_name: Cow<'static, str>,
    /// Their subject, as a heading.
    pub(crate) title: Cow<'static, str>,
    pub(crate) tables: &'static [&'static [OptionSpec]],
}

/// An operation: the name, the type's name and the title of its group of options, and their tables.
struct Operation(&'static str, &'static str, &'static str, &'static [&'static [OptionSpec]]);

impl Operation {
    fn group(&self) -> Group {
        let Operation(name, type_name, title, tables) = *self;
        let (name, type_name, title) = (name.into(), type_name.into(), title.into());
        Group { name, type_name, title, tables }
    }
}

impl Group {
    pub(crate) fn options(&self) -> impl Iterator<Item = &'static OptionSpec> + use<> {
        self.tables.iter().copied().flatten()
    }
}

/// The group with that name.
pub(crate) fn group(name: &str) -> Group {
    groups().into_iter().find(|group| group.name == name).unwrap()
}

/// All groups: those of operations, and one for each question that is asked by its name.
pub(crate) fn groups() -> Vec<Group> {
    let of_question = |question: &'static QuestionSpec| Group {
        name: question.name.to_uppercase().into(),
        type_name: capitalized(question.name).into(),
        title: capitalized(question.name).into(),
        tables: question.own_tables(),
    };
    OPERATIONS
        .iter()
        .map(Operation::group)
        .chain(QuestionSpec::ALL.iter().map(of_question))
        .collect()
}

/// The word with a capital letter.
pub(crate) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_uppercase());
    first.into_iter().flatten().chain(letters).collect()
}

const OPERATIONS: &[Operation] = &[
    Operation("CAPTURE", "Capture", "Reading captures", &[CaptureOptions::OPTIONS]),
    Operation("LIVE", "Live", "Capturing from a network interface", &[LiveOptions::OPTIONS]),
    Operation("PACKETS", "Packets", "Packets as rows", &[PacketOptions::OPTIONS]),
    Operation("COUNTS", "Counts", "Counting packets", &[CountOptions::OPTIONS]),
    Operation("FLOWS", "Flows", "Flows", &[FlowOptions::OPTIONS, ToldFlows::OPTIONS]),
    Operation("CALLS", "Calls", "Thrift calls", &[CallOptions::OPTIONS]),
    Operation(
        "CALL_COLUMNS",
        "CallColumns",
        "Columns of Thrift calls",
        &[CallStructOptions::OPTIONS],
    ),
    Operation("SUMS", "Sums", "Adding packets up", &[SumOptions::OPTIONS]),
    Operation("EXPORT", "Export", "Columns for other programs", &[ExportOptions::OPTIONS]),
    Operation(
        "PARQUET",
        "Parquet",
        "Rows in a Parquet file",
        &[ExportOptions::OPTIONS, OutputOptions::OPTIONS],
    ),
    Operation(
        "CUT",
        "Cut",
        "Writing packets to a new capture",
        &[CutOptions::OPTIONS, OutputOptions::OPTIONS],
    ),
    Operation("REPORT", "Report", "Reports", &[ReportOptions::OPTIONS, OutputOptions::OPTIONS]),
    Operation("TABLE", "Table", "Opening table files", &[OpenOptions::OPTIONS]),
    Operation("CACHE", "Cache", "Opening caches", &[CacheOptions::OPTIONS]),
    Operation("READER", "Reader", "Reading binary files", &[ReaderOptions::OPTIONS]),
    Operation(
        "OUTPUT",
        "Output",
        "Writing a new capture packet by packet",
        &[OutputOptions::OPTIONS],
    ),
    Operation(
        "WRITTEN_PACKET",
        "WrittenPacket",
        "Describing a packet of a new capture",
        &[PacketDetails::OPTIONS],
    ),
];
