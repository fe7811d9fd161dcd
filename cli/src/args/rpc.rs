//! Arguments of `bytewright rpc`.

use std::path::PathBuf;

use bytewright::ask::CallOptions;
use bytewright::query::Condition;
use bytewright::rpc::CallField;
use clap::{Args as ArgGroup, ValueEnum};

use super::headings::headed;
use super::named::NamedArgs;
use super::{ColumnsArgs, Format, Jobs, QuestionArgs, Selection, Units};

/// Sum up Thrift calls by method: how many, how many failed, how long they took.
///
/// Calls are found by their headers in TCP connections, on any port: Binary and Compact, framed,
/// in frames of THeader, or neither. Several files are one run: a connection may continue in the next file.
#[derive(Debug, ArgGroup)]
#[command(mut_arg("idl", |idl| idl.conflicts_with_all(["into", "from"])))]
#[command(mut_arg("method", |method| method.conflicts_with_all(["into", "from"])))]
#[command(mut_arg("service", |service| service.requires("idl")))]
#[command(mut_arg("include", |include| include.requires("idl")))]
#[command(mut_args(headed))]
pub(crate) struct RpcArgs {
    /// Captures; `-` is standard input.
    #[arg(required_unless_present_any = ["from", "interface"], value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Print the first N methods, or groups, the largest first.
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,

    /// The order of methods; bytes count both directions. By default methods are sorted by name,
    /// with --top by calls.
    #[arg(long, value_enum, conflicts_with = "calls")]
    pub(crate) by: Option<MethodSize>,

    /// Add the sums to this table file instead of printing them. Each capture is counted
    /// completely or not at all, and once: a capture that was counted before is recognised by its
    /// content.
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["top", "by", "calls", "csv", "csv_safe", "parquet"])]
    #[arg(conflicts_with_all = ["condition", "group_by", "sum", "every"])]
    pub(crate) into: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) wait: super::Wait,

    /// Print the sums of a table file that --into made, instead of those of captures.
    #[arg(long, value_name = "TABLE")]
    #[arg(conflicts_with_all = ["files", "interface", "into", "calls", "filter", "flow", "inner", "jobs", "condition"])]
    pub(crate) from: Option<PathBuf>,

    /// Print each call when it ends, instead of the sums.
    #[arg(long)]
    pub(crate) calls: bool,

    #[command(flatten)]
    pub(crate) question: QuestionArgs,

    /// Take only calls that took longer than this, such as 50ms.
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with_all = ["into", "from"])]
    pub(crate) slower_than: Option<String>,

    #[command(flatten)]
    pub(crate) service: NamedArgs<CallOptions>,

    #[command(flatten)]
    pub(crate) selection: Selection,

    #[command(flatten)]
    pub(crate) jobs: Jobs,

    #[command(flatten)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) units: Units,

    #[command(flatten)]
    pub(crate) columns: ColumnsArgs,
}

/// Measure of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodSize {
    Calls,
    P99,
    Max,
    Bytes,
    Errors,
}

/// A duration with its unit, as a condition has it.
fn duration(text: &str) -> Result<String, String> {
    Condition::new(&slower_than(text), &CallField::SCHEMA)
        .map(|_| text.to_owned())
        .map_err(|_| "expected a duration, such as 50ms or 1.5s".to_owned())
}

/// The condition that a call took longer.
pub(crate) fn slower_than(duration: &str) -> String {
    format!("latency > {duration}")
}
