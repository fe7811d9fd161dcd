//! Arguments of the commands for stores of Ruby objects.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ArgGroup, Subcommand};

const EXAMPLES: &str = "\
Examples:
  bytewright store roots app.pstore
  bytewright store get app.pstore users.1.name
  bytewright store get app.pstore --json
  bytewright store check app.pstore

FILE is what Ruby's PStore writes: a Hash, dumped by Marshal, or what Bytewright::PStore writes with
format: :roots. No Ruby object is made and no code of its classes is run, so a file that nobody trusts
can be looked into.

A key is given as its text, whether it is a String, a Symbol or a whole number; a String comes first, and
:KEY means the Symbol only. Behind a dot comes a key in the value of that root, the number of an element
(-1 is the last), or the name of a member or variable. A key that has dots in it is found, too.

Exit codes: 0 done; 1 a key that is not there, or bad data, what was read before it is printed;
2 usage.";

/// Read stores of Ruby's PStore, without loading Ruby objects.
#[derive(Debug, ArgGroup)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    Roots(StoreRootsArgs),
    Get(StoreGetArgs),
    Check(StoreCheckArgs),
}

/// Print the keys of a store, with the type and size of each value.
///
/// For people a line is key, tab, class, tab, bytes.
#[derive(Debug, ArgGroup)]
pub(crate) struct StoreRootsArgs {
    /// The store.
    pub(crate) file: PathBuf,

    /// Stop after N roots.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Print JSON, an object with key, class and bytes a line; bytes are null where the roots of a
    /// store can only be read all together.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print values, one per line: those at PATHs, or of all roots, with their keys.
///
/// For people a value is written as Ruby inspects it.
#[derive(Debug, ArgGroup)]
pub(crate) struct StoreGetArgs {
    /// The store.
    pub(crate) file: PathBuf,

    /// Keys of roots, and behind dots of what is in them; all roots where none is given.
    #[arg(value_name = "PATH")]
    pub(crate) keys: Vec<OsString>,

    /// Print JSON, an object with key and value a line. Symbols are strings; bytes that are not UTF-8 are
    /// {"base64": ...}; a Hash with other keys than Strings and Symbols is {"entries": [[key, value],
    /// ...]}; objects are {"class": ..., "variables": {...}}; a value that is in itself is {"levels_up": N}.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Read all of a store and report damage.
#[derive(Debug, ArgGroup)]
pub(crate) struct StoreCheckArgs {
    /// The store.
    pub(crate) file: PathBuf,

    /// Print a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
