//! Arguments of the commands for messages of Thrift.

use std::path::PathBuf;

use bytewright::thrift::{Encoding, FRAME_USUAL, Limits, MessageForm, MessageLayout};
use clap::{Args as ArgGroup, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  bytewright thrift decode entries.bin --idl log.thrift --type Entry
  bytewright thrift decode calls.bin --idl service.thrift --framed --json
  bytewright thrift pluck entries.bin --idl log.thrift --type Entry time place.city
  bytewright thrift pluck entries.bin --idl log.thrift --type Entry time 'parts[].size'

FILE holds one message, or several one after the other, or frames (--framed: the length of each in 4
bytes before it, as a framed transport sends them; --protocol header: those of THeader, deflated by zlib
or not); plain, gzip or zstd. A message is a struct of the
type that --type names. Where the header of a call or an answer stands before it, function, kind and
sequence id are printed too. Without --type all messages have headers, and the function says what is
in them. In Compact, a struct whose type has a bool with id 8 is not looked at for a header. Texts of
--protocol json may have spaces and ends of lines between them.

Fields that a message has and the IDL has not are passed, and those that it has not are not printed. A
field that comes twice is printed twice; for readers of Thrift, as of JSON, the last counts.

Exit codes: 0 done; 1 bad data, what was read before it is printed; 2 usage.";

/// Read Thrift messages with an IDL file, without compiled code.
#[derive(Debug, ArgGroup)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct ThriftArgs {
    #[command(subcommand)]
    pub(crate) command: ThriftCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ThriftCommand {
    Decode(ThriftDecodeArgs),
    Pluck(ThriftPluckArgs),
}

/// Print messages.
///
/// For people long strings and lists are cut, and a message takes 64 KiB of text at most; --json
/// prints all.
#[derive(Debug, ArgGroup)]
pub(crate) struct ThriftDecodeArgs {
    /// The messages; `-` is standard input.
    pub(crate) file: PathBuf,

    /// The struct, union or exception that they are, `file.Name` if it is in an included file. Without it,
    /// they are calls and answers of the services.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) type_name: Option<String>,

    #[command(flatten)]
    pub(crate) input: ThriftInput,

    /// Print JSON, a message a line. Enums are names, or numbers without a name; 64-bit numbers have all
    /// their digits; doubles that are no number are "NaN", "Infinity" or "-Infinity"; binary is
    /// {"base64": ...}, as is a string that is not UTF-8; maps by strings, numbers, bools, enums or
    /// uuids are objects, others {"entries": [[key, value], ...]}; sets are arrays; a call or an answer
    /// is {"name", "kind", "sequence_id", "value"}.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print some fields of each message.
///
/// The rest of a message is not read, so that in frames damage there stays unseen; of JSON, all is read. For people a line is
/// the values with tabs between them, - for what the message does not have.
#[derive(Debug, ArgGroup)]
pub(crate) struct ThriftPluckArgs {
    /// The messages; `-` is standard input.
    pub(crate) file: PathBuf,

    /// Fields, `place.city` for one of a struct inside. Through a list, as `rows.size`, it is a list of values; `rows[].size`
    /// prints a line for each element instead, `tags{}.key` one for each entry of a map, and the other fields beside it.
    #[arg(required = true, value_name = "FIELD.PATH")]
    pub(crate) paths: Vec<String>,

    /// The struct, union or exception that they are, `file.Name` if it is in an included file.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) type_name: String,

    #[command(flatten)]
    pub(crate) input: ThriftInput,

    /// Print JSON, an object of path and value for each line; null where the message has no such field.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Form of the messages, and their layout in the file.
#[derive(Debug, ArgGroup)]
pub(crate) struct ThriftInput {
    /// The IDL file that defines them.
    #[arg(long, value_name = "IDL")]
    pub(crate) idl: PathBuf,

    /// Where included IDL files are looked for, beside the folder of the file; may be repeated.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) include: Vec<PathBuf>,

    /// How messages are written.
    #[arg(long, value_enum, default_value_t)]
    protocol: Protocol,

    /// Each message has its length before it, as it has with `--protocol header`.
    #[arg(long)]
    framed: bool,

    /// Stop after N messages.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Refuse messages of more bytes.
    #[arg(long, value_name = "BYTES", default_value_t = FRAME_USUAL)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    pub(crate) max_message: u32,
}

/// Protocol of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Protocol {
    /// Numbers of their full width.
    #[default]
    Binary,
    /// Numbers as short as they are.
    Compact,
    /// One of both: frames have headers of THeader, which say it.
    Header,
    /// Text, as TJSONProtocol writes it.
    Json,
}

impl ThriftInput {
    /// Layout of the messages.
    pub(crate) fn layout(&self) -> MessageLayout {
        let form = match self.protocol {
            Protocol::Binary | Protocol::Header => Encoding::Binary.into(),
            Protocol::Compact => Encoding::Compact.into(),
            Protocol::Json => MessageForm::Json,
        };
        let has_frame_headers = self.protocol == Protocol::Header;
        let limits = Limits { string_max: self.max_message, ..Limits::default() };
        let layout = MessageLayout { form, is_framed: false, has_frame_headers, limits };
        layout.framed_if(self.framed)
    }
}
