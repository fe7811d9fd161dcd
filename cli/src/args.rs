//! The command line: what can be asked, and how `--help` explains it.

mod asked;
mod cache;
mod columns;
mod cut;
mod habits;
mod headings;
mod jobs;
mod log;
mod named;
mod question;
mod report;
mod rpc;
mod selection;
mod store;
mod table;
mod thrift;

use std::path::PathBuf;

use bytewright::ask::CountOptions;
use bytewright::flow::FlowOptions;
use bytewright::input::{CaptureOptions, LOADS_LIBPCAP};
use clap::builder::ArgPredicate;
use clap::error::ErrorKind;
use clap::{Args as ArgGroup, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use asked::AskedArgs;
pub(crate) use cache::{
    CacheClearArgs, CacheCommand, CacheDeleteArgs, CacheGetArgs, CacheScanArgs, CacheStatArgs,
};
pub(crate) use columns::ColumnsArgs;
pub(crate) use cut::CutArgs;
pub(crate) use habits::{asking_for_info, explain, filter_among};
use headings::headed;
pub(crate) use jobs::Jobs;
pub(crate) use log::LogArgs;
use named::NamedArgs;
pub(crate) use question::{NumbersOnly, QuestionArgs};
pub(crate) use report::ReportArgs;
pub(crate) use rpc::{MethodSize, RpcArgs, slower_than};
use selection::HashOnly;
pub(crate) use selection::Selection;
use selection::help_of_libpcap;
pub(crate) use store::{StoreCheckArgs, StoreCommand, StoreGetArgs, StoreRootsArgs};
pub(crate) use table::{
    BackupArgs, ChangesArgs, CheckArgs, CompactArgs, ConvertArgs, DeleteArgs, DumpArgs, GetArgs,
    KeepDuplicates, LoadArgs, MergeArgs, PutArgs, ScanArgs, StatArgs, TableCommand, Wait,
};
pub(crate) use thrift::{ThriftCommand, ThriftDecodeArgs, ThriftInput, ThriftPluckArgs};

const EXAMPLES: &str = "\
Examples:
  bytewright demo >web.pcap.gz
  bytewright flows trace.pcap.gz --top 10 --by packets
  bytewright flows monday.pcap tuesday.pcapng.zst --into week.bwt
  bytewright flows --from week.bwt --top 10 --json
  bytewright rpc trace.pcap.gz --by p99 --top 5
  bytewright packets trace.pcap.gz --fields ts,src_ip,dst_port --json
  bytewright packets trace.pcap.gz --filter 'tcp port 443 and net 10.0.0.0/8' --csv
  bytewright packets trace.pcap.gz --group-by dst_port --sum length --every 1m --top 5
  bytewright endpoints trace.pcap.gz --top 10
  bytewright flows trace.pcap.gz --where 'dst_port == 443 and duration > 5s'
  bytewright flows trace.pcap.gz --as zeek -o conn.log
  bytewright packets trace.pcap.gz --parquet packets.parquet
  bytewright flows --interface eth0 --idle-timeout 5
  bytewright interfaces
  tcpdump -U -i any -w - | bytewright packets - --limit 100
  bytewright cut monday.pcap.gz tuesday.pcap.gz --filter 'port 53' -o dns.pcapng.zst
  bytewright info *.pcap.gz --json
  bytewright report trace.pcap.gz -o report.html
  bytewright table get users.bwt alice
  bytewright table convert old.tch new.bwh
  bytewright store get app.pstore users --json
  bytewright thrift decode entries.bin --idl log.thrift --type Entry

Exit codes: 0 done; 1 bad data, what was read before it is printed; 2 usage.";

/// The examples, and what this build lacks.
fn after_help() -> String {
    match LOADS_LIBPCAP {
        true => EXAMPLES.to_owned(),
        false => format!(
            "{EXAMPLES}\n\nThis command is linked statically and loads no libpcap, which --filter, --interface and interfaces need."
        ),
    }
}

/// Header fields, flows and Thrift calls out of packet captures, pcap and pcapng, plain, gzip or zstd;
/// tables and stores of Ruby objects in files; messages of Thrift.
#[derive(Debug, Parser)]
#[command(name = "bytewright", bin_name = "bytewright", no_binary_name = true)]
#[command(disable_version_flag = true, arg_required_else_help = true, after_help = after_help())]
pub(crate) struct Args {
    /// Print the version, and the libraries in use.
    #[arg(short = 'V', long)]
    pub(crate) version: bool,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Args {
    /// Returns true if numbers of bytes are to be shown as they are.
    pub(crate) fn has_plain_bytes(&self) -> bool {
        let units = match &self.command {
            Some(Command::Flows(args)) => args.units,
            Some(Command::Rpc(args)) => args.units,
            Some(Command::Packets(args)) => args.units,
            Some(Command::Asked(args)) => args.read.units,
            Some(Command::Info(args)) => args.units,
            _ => return false,
        };
        units.has_plain_bytes
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Flows(FlowsArgs),
    Rpc(rpc::RpcArgs),
    Packets(PacketsArgs),
    #[command(flatten)]
    Asked(AskedArgs),
    Cut(cut::CutArgs),
    Info(InfoArgs),
    Interfaces(InterfacesArgs),
    Report(report::ReportArgs),
    Table(table::TableArgs),
    Cache(cache::CacheArgs),
    Store(store::StoreArgs),
    Thrift(thrift::ThriftArgs),
    /// Write a sample capture to try the other commands on: `bytewright demo >web.pcap.gz`.
    ///
    /// It has 8,760 packets of DNS, HTTP and Redis in 9 seconds, compressed with gzip.
    Demo,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// Sum up packets by conversation: who talked to whom, how much, how long.
///
/// Several files are one run: a conversation that continues in the next file is one flow. Flows
/// are printed as they end; --top keeps only the largest. Of an interface and of standard input,
/// --every without groups prints the busiest flows of each interval when it ends: 10, or as many as
/// --top says. Flows end with their interval then, and the time-outs mean nothing.
#[derive(Debug, ArgGroup)]
// Flows of an interface could go on for ever.
#[command(mut_arg("idle_timeout", |idle| idle.default_value_if("interface", ArgPredicate::IsPresent, "60")))]
#[command(mut_args(headed))]
pub(crate) struct FlowsArgs {
    /// Captures; `-` is standard input.
    #[arg(required_unless_present_any = ["from", "interface"], value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Fields to print, in this order; `help` lists them all.
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["into", "group_by", "sum", "every"])]
    pub(crate) fields: Option<Vec<String>>,

    /// Print the N largest flows, or groups, the largest first.
    #[arg(long, value_name = "N", conflicts_with = "into")]
    pub(crate) top: Option<usize>,

    /// The order of flows; packets and bytes count both directions.
    #[arg(long, value_enum, default_value_t, requires = "top", conflicts_with = "group_by")]
    pub(crate) by: Size,

    #[command(flatten)]
    pub(crate) question: QuestionArgs,

    /// Merge the flows into this table file instead of printing them. Each capture is merged
    /// completely or not at all, and once: a capture that was counted before is recognised by its
    /// content.
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["csv", "csv_safe", "parquet"])]
    #[arg(conflicts_with_all = ["condition", "group_by", "sum", "every", "label"])]
    pub(crate) into: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) wait: Wait,

    /// Print the flows of a table file that --into made, instead of those of captures.
    #[arg(long, value_name = "TABLE")]
    #[arg(conflicts_with_all = ["files", "interface", "into", "filter", "flow", "inner", "idle_timeout"])]
    #[arg(conflicts_with_all = ["active_timeout", "max_flows", "jobs"])]
    pub(crate) from: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) selection: Selection,

    #[command(flatten)]
    pub(crate) ends: NamedArgs<FlowOptions>,

    #[command(flatten)]
    pub(crate) jobs: Jobs,

    #[command(flatten)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(flatten)]
    pub(crate) units: Units,

    #[command(flatten)]
    pub(crate) columns: ColumnsArgs,
}

/// Print the header fields of each packet.
#[derive(Debug, ArgGroup)]
#[command(mut_args(headed))]
pub(crate) struct PacketsArgs {
    /// Captures; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Fields to print, in this order; `help` lists them all.
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', conflicts_with_all = ["group_by", "sum", "every"])]
    pub(crate) fields: Option<Vec<String>>,

    #[command(flatten)]
    pub(crate) selection: Selection,

    #[command(flatten)]
    pub(crate) question: QuestionArgs,

    #[command(flatten)]
    pub(crate) numbers: NamedArgs<CountOptions, NumbersOnly>,

    /// Print the N largest groups only, by the first field of --sum, or else by the number of packets.
    #[arg(long, value_name = "N", requires = "group_by")]
    pub(crate) top: Option<usize>,

    /// Stop after N packets in all.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) jobs: Jobs,

    #[command(flatten)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) units: Units,

    #[command(flatten)]
    pub(crate) columns: ColumnsArgs,
}

/// Print what each capture is: format, compression, link types, packets, time span, damage.
#[derive(Debug, ArgGroup)]
pub(crate) struct InfoArgs {
    /// Captures; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) jobs: Jobs,

    #[command(flatten)]
    pub(crate) hash: NamedArgs<CaptureOptions, HashOnly>,

    /// Print JSON, one object per line.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) units: Units,
}

/// List the network interfaces that packets can be captured from, for --interface.
#[derive(Debug, ArgGroup)]
#[command(about = help_of_libpcap("List the network interfaces that packets can be captured from, for --interface"))]
pub(crate) struct InterfacesArgs {
    #[command(flatten)]
    pub(crate) format: Format,
}

/// The form of the output.
#[derive(Debug, Clone, Copy, ArgGroup)]
pub(crate) struct Format {
    /// Print JSON, one object per line; null for missing fields.
    #[arg(long, conflicts_with_all = ["csv", "csv_safe"])]
    json: bool,

    /// Print CSV with a header line; missing fields are empty.
    #[arg(long)]
    csv: bool,

    /// Print CSV for a spreadsheet: ' stands before texts that it would take for formulas, which
    /// begin with =, +, - or @.
    #[arg(long)]
    csv_safe: bool,
}

/// Form of numbers of bytes on a terminal.
#[derive(Debug, Clone, Copy, ArgGroup)]
pub(crate) struct Units {
    /// Print numbers of bytes as they are on a terminal, too, where they have units such as MB.
    #[arg(long = "bytes")]
    has_plain_bytes: bool,
}

/// Who reads the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    People,
    Json,
    /// A spreadsheet computes `formulas`, which captures may have in their names.
    Csv {
        formulas: bool,
    },
}

impl Format {
    pub(crate) fn reader(self) -> Reader {
        match self {
            Format { json: true, .. } => Reader::Json,
            Format { csv_safe: true, .. } => Reader::Csv { formulas: false },
            Format { csv: true, .. } => Reader::Csv { formulas: true },
            _ => Reader::People,
        }
    }
}

/// Measure of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Size {
    #[default]
    Bytes,
    Packets,
    Duration,
}

/// The error of a command line without a command.
pub(crate) fn no_command() -> clap::Error {
    Args::command().error(ErrorKind::MissingSubcommand, "expected a command, found none")
}

/// The error of a subcommand that got something it has no use for.
pub(crate) fn usage(subcommand: &str, kind: ErrorKind, message: &str) -> clap::Error {
    let mut command = Args::command();
    command.build();
    match command.find_subcommand_mut(subcommand) {
        Some(subcommand) => subcommand.error(kind, message),
        None => command.error(kind, message),
    }
}
