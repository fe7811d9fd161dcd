//! What can be asked of tables.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ArgGroup, Subcommand, ValueEnum};

use super::{Format, seconds};

const EXAMPLES: &str = "\
Examples:
  bytewright table put users.bwt alice '{\"age\": 30}'
  bytewright table get users.bwt alice bob
  bytewright table scan users.bwt --prefix a --json
  bytewright table convert old.tch new.bwh
  bytewright table check new.bwh
  bytewright table backup users.bwt users-monday.bwt

FILE is a hashed table (.bwh), an ordered table (.bwt), or, to be read, a hash or tree file of Tokyo
Cabinet (.tch, .tcb). The content tells which; the name counts only for a file that is to be made.
Keys and values are bytes: an argument's bytes are taken as they are.

Exit codes: 0 done; 1 a key that is not there, or bad data, what was read before it is printed;
2 usage.";

/// Look into, change, check and convert tables in files.
#[derive(Debug, ArgGroup)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct TableArgs {
    #[command(subcommand)]
    pub(crate) command: TableCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TableCommand {
    Get(GetArgs),
    Put(PutArgs),
    Delete(DeleteArgs),
    Scan(ScanArgs),
    Stat(StatArgs),
    Compact(CompactArgs),
    Check(CheckArgs),
    Convert(ConvertArgs),
    Backup(BackupArgs),
    Merge(MergeArgs),
}

/// Add tables of flows up into another one, which is made where it is missing.
///
/// Each table is merged whole or not at all. Captures count once: a table of which all captures were counted before adds
/// nothing. One of which only some were is refused, because their sums cannot be told apart.
#[derive(Debug, ArgGroup)]
pub(crate) struct MergeArgs {
    /// Tables that flows --into made.
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) files: Vec<PathBuf>,

    /// The table that they are added to.
    #[arg(long, value_name = "TABLE")]
    pub(crate) into: PathBuf,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

/// Print the values of keys, a line each.
///
/// A file of Tokyo Cabinet is looked through from its beginning; convert it if you look up much.
#[derive(Debug, ArgGroup)]
pub(crate) struct GetArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// Keys to look up.
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<OsString>,

    /// Print the bytes of the values and nothing else, no line ends either.
    #[arg(long, conflicts_with = "json")]
    pub(crate) raw: bool,

    /// Print JSON, an object with key and value a line: strings, or {"base64": ...} where the bytes
    /// are not UTF-8; null where there is no such key.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Set the value of a key.
///
/// The file is made where it is missing: hashed if its name ends in .bwh, ordered if in .bwt. The value
/// is on disk when the command ends.
#[derive(Debug, ArgGroup)]
pub(crate) struct PutArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// The key.
    pub(crate) key: OsString,

    /// The value; `-` is all of standard input. For a table of integers, digits; for other values than bytes, what is kept
    /// of them.
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: OsString,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

/// Take keys out.
///
/// They are gone from the disk together when the command ends. For a key that is not there the exit code
/// is 1; the others are taken out.
#[derive(Debug, ArgGroup)]
pub(crate) struct DeleteArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// Keys to take out.
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<OsString>,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

/// Print entries, in the order of keys where the table has one.
///
/// A hashed table is printed in the order of writing, a file of Tokyo Cabinet in its own. For people a
/// line is key, tab, value, with escapes for what is not text. In JSON that is {"base64": ...}; in CSV it
/// stays as it is. Integers are printed in digits.
#[derive(Debug, ArgGroup)]
pub(crate) struct ScanArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// Only keys from this one on.
    #[arg(long, value_name = "KEY")]
    pub(crate) from: Option<OsString>,

    /// Only keys up to this one, which is included.
    #[arg(long, value_name = "KEY")]
    pub(crate) to: Option<OsString>,

    /// Only keys that begin so.
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["from", "to"])]
    pub(crate) prefix: Option<OsString>,

    /// The last key first; ordered tables only.
    #[arg(long)]
    pub(crate) reverse: bool,

    /// Stop after N entries.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Print keys, not values.
    #[arg(long)]
    pub(crate) keys: bool,

    #[command(flatten)]
    pub(crate) format: Format,
}

/// Say what a table is, how many entries it has and what it takes.
#[derive(Debug, ArgGroup)]
pub(crate) struct StatArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Give back the space of entries that were overwritten or taken out.
#[derive(Debug, ArgGroup)]
pub(crate) struct CompactArgs {
    /// The table.
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

/// Read all of a table and say whether it is whole.
#[derive(Debug, ArgGroup)]
pub(crate) struct CheckArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// Make it whole again: keep every commit that can be read, and say how much is lost.
    #[arg(long)]
    pub(crate) repair: bool,

    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Put all entries of a table into a new one of another kind.
///
/// The new file is there when it is whole, counted and on disk; where something fails, there is none.
/// No file is overwritten.
#[derive(Debug, ArgGroup)]
pub(crate) struct ConvertArgs {
    /// The table to read: .tch or .tcb of Tokyo Cabinet, .bwh or .bwt.
    pub(crate) old: PathBuf,

    /// The table to make: hashed if its name ends in .bwh, ordered if in .bwt.
    pub(crate) new: PathBuf,

    /// Which value to keep of a key that has several, as a tree of Tokyo Cabinet may have; without
    /// this that is an error.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) duplicates: Option<KeepDuplicates>,

    /// Keep what can be read of a damaged file, and end with exit code 1.
    #[arg(long)]
    pub(crate) salvage: bool,

    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Copy a table to a file of its own, while others write to it.
///
/// The copy holds what was committed when the command began, and is a table of the same kind. Its file is there
/// when it is whole and on disk; where something fails, there is none, or the old one.
#[derive(Debug, ArgGroup)]
pub(crate) struct BackupArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// The file to make.
    pub(crate) new: PathBuf,

    /// Replace a table that has the name already, unless a program is writing to it.
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Which of several values is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepDuplicates {
    /// The first, which Tokyo Cabinet itself gets.
    First,
    /// The last.
    Last,
}

/// How long to wait for another writer.
#[derive(Debug, Clone, Copy, ArgGroup)]
pub(crate) struct Wait {
    /// Wait at most so long for another program that is writing to the table.
    #[arg(long = "wait", alias = "timeout", value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    pub(crate) timeout: Duration,
}
