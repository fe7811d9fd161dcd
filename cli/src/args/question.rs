//! Questions to rows beside showing them.

use bytewright::query;
use clap::{Arg, Args as ArgGroup};

use super::named::Choice;

/// Selection of rows, and their sums.
#[derive(Debug, ArgGroup)]
pub(crate) struct QuestionArgs {
    /// Take only rows that meet this condition, such as 'dst_port == 443 and bytes > 1e6',
    /// 'duration > 5s', 'src_ip in 10.0.0.0/8', 'ts >= 2026-11-21T10:00Z', 'ts < 1795255200', 'ts >= -10m', 'host == 10.0.0.1 or
    /// port in (53, 5353)'.
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) condition: Option<String>,

    /// Count rows by the values of these fields instead of printing them, the largest groups first. 'host' and 'port' count
    /// a row for both of its sides, 'src_ip/24' and 'host/24/64' by networks, of IPv4 or also of IPv6.
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub(crate) group_by: Vec<String>,

    /// Sum these fields in each group, or over all rows; or tell distinct(FIELD), min(FIELD), max, mean, first, last, and
    /// percentiles, such as p95(FIELD).
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub(crate) sum: Vec<String>,

    /// Count rows by intervals of their time, such as 1m, 500ms or 10 (seconds).
    #[arg(long, value_name = "INTERVAL", value_parser = interval)]
    pub(crate) every: Option<i64>,

    /// Draw the groups over time instead of printing them: a line of blocks for each, on its own
    /// scale.
    #[arg(long, requires = "every", conflicts_with_all = ["json", "csv", "csv_safe", "parquet"])]
    pub(crate) plot: bool,
}

impl QuestionArgs {
    /// Returns true if rows are counted instead of printed.
    pub(crate) fn groups(&self) -> bool {
        !self.group_by.is_empty() || !self.sum.is_empty() || self.every.is_some()
    }
}

/// The choice of the option that chooses packets by their numbers.
#[derive(Debug)]
pub(crate) enum NumbersOnly {}

impl Choice for NumbersOnly {
    fn choose(argument: Arg) -> Option<Arg> {
        (argument.get_id() == "numbers").then_some(argument)
    }
}

/// Nanoseconds of an interval.
fn interval(text: &str) -> Result<i64, String> {
    query::interval(text).ok_or_else(|| {
        "expected an interval of a microsecond or more, such as 1m, 500ms or 10".to_owned()
    })
}
