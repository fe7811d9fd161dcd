//! Arguments of the commands for tables.

use std::ffi::OsString;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use bytewright::export::OutputOptions;
use bytewright::table::file::OpenOptions;
use bytewright::table::{ChangePosition, DumpFormat, KeyRange};
use clap::builder::PossibleValuesParser;
use clap::{Arg, Args as ArgGroup, Subcommand, ValueEnum};

use super::Format;
use super::named::{Choice, NamedArgs};

const EXAMPLES: &str = "\
Examples:
  bytewright table put users.bwt alice '{\"age\": 30}'
  bytewright table get users.bwt alice bob
  bytewright table scan users.bwt --prefix a --json
  bytewright table delete users.bwt --from a --to b
  bytewright table convert old.tch new.bwh
  bytewright table check new.bwh
  bytewright table backup users.bwt users-monday.bwt
  bytewright table changes seen.bwh --since 5cb1c7d2f6a9e083.1.11000.c0ffee
  bytewright table dump users.bwt --format sql | sqlite3 users.db
  mdb_dump -s prices folder | bytewright table load prices.bwt

FILE is a hashed table (.bwh), an ordered table (.bwt), or, to be read, a hash or tree file of Tokyo
Cabinet (.tch, .tcb). The content tells which; the name counts only for a file that is to be made.
Keys and values are bytes: an argument's bytes are taken as they are.

Exit codes: 0 done; 1 a key that is not there, or bad data, what was read before it is printed;
2 usage.";

/// Read, change, check and convert tables in files.
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
    Dump(DumpArgs),
    Load(LoadArgs),
    Changes(ChangesArgs),
    Merge(MergeArgs),
}

/// Add tables of flows to another one, which is created if it is missing.
///
/// Each table is merged completely or not at all. Captures count once: a table whose captures
/// were all counted before adds nothing. A table with only some of them is refused, because its
/// sums cannot be separated.
#[derive(Debug, ArgGroup)]
pub(crate) struct MergeArgs {
    /// Tables that flows --into made.
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) files: Vec<PathBuf>,

    /// The table to which they are added.
    #[arg(long, value_name = "TABLE")]
    pub(crate) into: PathBuf,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

/// Print the values of keys, one per line.
///
/// In a file of Tokyo Cabinet, each look-up reads from the beginning; convert the file for many
/// look-ups.
#[derive(Debug, ArgGroup)]
pub(crate) struct GetArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// Keys to look up.
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<OsString>,

    /// Print only the bytes of the values, without line ends.
    #[arg(long, conflicts_with = "json")]
    pub(crate) raw: bool,

    /// Print JSON, one object with key and value per line: strings, or {"base64": ...} for bytes
    /// that are not UTF-8; null for missing keys.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the changes of a hashed table since a position, as JSON.
///
/// One object per line: {"change":"put"} with key and value, {"change":"delete"} with a key, or
/// {"change":"clear"}, which deletes all entries; the last line has the position for the next
/// time. Without a position the changes begin with a clear and have all entries, and also if the
/// table was compacted or repaired since. A copy of the table that makes them is like the table.
#[derive(Debug, ArgGroup)]
pub(crate) struct ChangesArgs {
    /// The table, a hashed one.
    pub(crate) file: PathBuf,

    /// Only the changes behind this position, which the last line of an earlier run has.
    #[arg(long, value_name = "POSITION")]
    pub(crate) since: Option<ChangePosition>,
}

/// Set the value of a key.
///
/// A missing file is created: hashed if its name ends in .bwh, ordered if in .bwt. The value is
/// on disk when the command ends.
#[derive(Debug, ArgGroup)]
pub(crate) struct PutArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// The key.
    pub(crate) key: OsString,

    /// The value; `-` is all of standard input. For a table of integers, a number; for a table of
    /// objects, their stored bytes.
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: OsString,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

/// Delete keys, or all keys of a range.
///
/// All are deleted on disk together when the command ends. If a key is missing, the exit code is
/// 1; the others are deleted. A range is of an ordered table, and its number of entries is
/// printed.
#[derive(Debug, ArgGroup)]
pub(crate) struct DeleteArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// Keys to delete.
    #[arg(value_name = "KEY", conflicts_with_all = ["from", "to", "prefix"],
        required_unless_present_any = ["from", "to", "prefix"])]
    pub(crate) keys: Vec<OsString>,

    #[command(flatten)]
    pub(crate) range: RangeArgs,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

/// Range of keys of an ordered table.
#[derive(Debug, ArgGroup)]
pub(crate) struct RangeArgs {
    /// Only keys from this one.
    #[arg(long, value_name = "KEY")]
    pub(crate) from: Option<OsString>,

    /// Only keys up to and including this one.
    #[arg(long, value_name = "KEY")]
    pub(crate) to: Option<OsString>,

    /// Only keys with this prefix.
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["from", "to"])]
    pub(crate) prefix: Option<OsString>,
}

impl RangeArgs {
    /// Returns the keys that it selects, the lowest first; None for all.
    pub(crate) fn keys(&self) -> Option<KeyRange> {
        let bound = |key: &Option<OsString>| match key {
            Some(key) => Bound::Included(key.as_bytes().to_vec()),
            None => Bound::Unbounded,
        };
        match &self.prefix {
            Some(prefix) => Some(KeyRange::prefix(prefix.as_bytes())),
            None if self.from.is_none() && self.to.is_none() => None,
            None => Some(KeyRange { from: bound(&self.from), to: bound(&self.to), reverse: false }),
        }
    }
}

/// Print entries, in the order of keys if the table has one.
///
/// A hashed table is printed in the order of writing, a file of Tokyo Cabinet in its own. As
/// text, a line is key, tab, value, with escapes for bytes that are not text. In JSON these are
/// {"base64": ...}; in CSV they are unchanged. Integers are printed as numbers.
#[derive(Debug, ArgGroup)]
pub(crate) struct ScanArgs {
    /// The table.
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) range: RangeArgs,

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

/// Print the kind of a table, its number of entries and its size.
#[derive(Debug, ArgGroup)]
pub(crate) struct StatArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Free the space of overwritten and deleted entries.
#[derive(Debug, ArgGroup)]
pub(crate) struct CompactArgs {
    /// The table.
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

/// Read all of a table and report damage.
#[derive(Debug, ArgGroup)]
pub(crate) struct CheckArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// Repair the table: keep every commit that can be read, and say how much is lost.
    #[arg(long)]
    pub(crate) repair: bool,

    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Copy all entries of a table to a new table of another kind.
///
/// The new file appears when it is complete, counted and on disk; if something fails, there is
/// none. No file is overwritten.
#[derive(Debug, ArgGroup)]
pub(crate) struct ConvertArgs {
    /// The table to read: .tch or .tcb of Tokyo Cabinet, .bwh or .bwt.
    pub(crate) old: PathBuf,

    /// The table to create: hashed if its name ends in .bwh, ordered if in .bwt.
    pub(crate) new: PathBuf,

    /// Which value to keep if a key has several, as in a tree of Tokyo Cabinet; by default that
    /// is an error.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) duplicates: Option<KeepDuplicates>,

    /// Keep what can be read of a damaged file, and end with exit code 1.
    #[arg(long)]
    pub(crate) salvage: bool,

    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Copy a table to a new file, while other programs write to it.
///
/// The copy has the commits from before the command began, and is a table of the same kind. Its
/// file appears when it is complete and on disk; if something fails, there is none, or the old
/// one stays.
#[derive(Debug, ArgGroup)]
pub(crate) struct BackupArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// The file to create.
    pub(crate) new: PathBuf,

    /// Replace an existing table, unless a program is writing to it.
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Write a table as text that other programs read.
///
/// The text has the commits from before the command began, and the bytes of values as they are
/// stored. Its file appears when it is complete and on disk.
#[derive(Debug, ArgGroup)]
pub(crate) struct DumpArgs {
    /// The table: .bwh, .bwt, or .tch or .tcb of Tokyo Cabinet.
    pub(crate) file: PathBuf,

    /// db, which db_load reads, lmdb, which mdb_load reads, or sql, statements that sqlite3 reads
    /// for a table of the columns key and value.
    #[arg(long, value_name = "FORMAT", default_value = DumpFormat::NAMES[0],
        value_parser = PossibleValuesParser::new(DumpFormat::NAMES))]
    pub(crate) format: String,

    /// Where to write it; `-`, the default, is standard output. An older file is replaced when the
    /// new one is complete.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) replacing: NamedArgs<OutputOptions>,
}

/// Put the entries of a dump into a table.
///
/// Reads what table dump, db_dump, mdb_dump or sqlite3's .dump of a table of two columns wrote,
/// compressed or not. All entries are put on disk together; if one is wrong, none is. A missing
/// table is created: hashed if its name ends in .bwh, ordered if in .bwt.
#[derive(Debug, ArgGroup)]
pub(crate) struct LoadArgs {
    /// The table.
    pub(crate) file: PathBuf,

    /// The dump; `-`, the default, is standard input.
    #[arg(value_name = "DUMP", default_value = "-")]
    pub(crate) dump: PathBuf,

    #[command(flatten)]
    pub(crate) wait: Wait,
}

/// Choice of the value that is kept of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepDuplicates {
    /// The first, which Tokyo Cabinet itself gets.
    First,
    /// The last.
    Last,
}

/// Time to wait for another writer.
pub(crate) type Wait = NamedArgs<OpenOptions>;

impl Choice for OpenOptions {
    /// Takes the time to wait alone: each command opens tables in its own way.
    fn choose(argument: Arg) -> Option<Arg> {
        let is_timeout = argument.get_id() == "timeout";
        is_timeout.then(|| argument.long("wait").alias("timeout").default_value("10"))
    }
}
