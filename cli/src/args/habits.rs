//! Habits of people who know tcpdump and tshark, and what to type here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::Args;

/// An option of theirs, the option here that a subcommand must have for the tip to fit, and the tip.
const OPTIONS: &[(&str, Option<&str>, &str)] = &[
    ("-r", Some("filter"), "captures are named without an option"),
    ("-i", Some("interface"), "packets of a network interface are read with --interface NAME"),
    ("-c", Some("limit"), "reading ends after N packets with --limit N"),
    ("-c", Some("stop-after"), "reading ends after N packets with --stop-after Np"),
    ("-a", Some("stop-after"), "reading ends with --stop-after, such as --stop-after 60s"),
    (
        "-C",
        Some("rotate"),
        "files one after another are written with --rotate, such as --rotate 100MB",
    ),
    (
        "-G",
        Some("rotate"),
        "files one after another are written with --rotate, such as --rotate 1h",
    ),
    ("-W", Some("keep"), "only the newest N files of --rotate are kept with --keep N"),
    ("-b", Some("rotate"), "files one after another are written with --rotate and --keep"),
    ("-w", Some("anonymize"), "the new capture is named with -o FILE"),
    ("-w", Some("filter"), "a capture is written by `bytewright cut FILE... -o NEW`"),
    ("-s", Some("snaplen"), "packets are cut with --snaplen BYTES"),
    ("-f", Some("filter"), "a libpcap expression follows --filter"),
    ("-Y", Some("where"), "a condition follows --where, such as --where 'dst_port == 443'"),
    ("-R", Some("where"), "a condition follows --where, such as --where 'dst_port == 443'"),
    ("-e", Some("fields"), "fields are named in one list, such as --fields ts,src_ip,dst_ip"),
    ("-T", Some("json"), "the form of the output is chosen with --json or --csv"),
    ("-n", None, "leave it out: names of hosts are never looked up"),
    ("-p", Some("promiscuous"), "leave it out: only --promiscuous takes packets to other hosts"),
    ("--count", Some("limit"), "reading ends after N packets with --limit N"),
    ("--max-packets", Some("limit"), "reading ends after N packets with --limit N"),
    ("--max-packets", Some("stop-after"), "reading ends after N packets with --stop-after Np"),
    ("--sort", Some("by"), "the order is chosen with --by, such as --by packets"),
    ("--order-by", Some("by"), "the order is chosen with --by, such as --by packets"),
    ("--from-time", Some("where"), "times are a condition: --where 'ts >= 2026-11-21T20:37:34Z'"),
    ("--to-time", Some("where"), "times are a condition: --where 'ts < 2026-11-21T20:37:35Z'"),
    ("--format", Some("json"), "the form of the output is chosen with --json or --csv"),
];

/// Words that libpcap's expressions begin with.
const FILTER_WORDS: [&str; 26] = [
    "arp",
    "broadcast",
    "dst",
    "ether",
    "gateway",
    "greater",
    "host",
    "icmp",
    "icmp6",
    "igmp",
    "ip",
    "ip6",
    "ipproto",
    "less",
    "mpls",
    "multicast",
    "net",
    "not",
    "port",
    "portrange",
    "proto",
    "sctp",
    "src",
    "tcp",
    "udp",
    "vlan",
];

/// The error of a command line, with the tip that fits where it has an option of tcpdump or tshark. clap's own tip, to
/// pass the option as the name of a file, fits nobody then.
pub(crate) fn explain(mut error: clap::Error, line: &[OsString]) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let name = option.split('=').next().unwrap_or_default();
    let tip = subcommand(line).and_then(|subcommand| tip(name, &subcommand));
    // clap knows which of our own long options is meant.
    if option.starts_with("--") && tip.is_none() {
        return error;
    }
    let tips = tip.map(StyledStr::from).into_iter().collect();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}

/// Returns a command line that names a file where a subcommand is expected as one that asks for information about it.
pub(crate) fn asking_for_info(error: &clap::Error, line: &[OsString]) -> Option<Vec<OsString>> {
    let names_file = line.first().is_some_and(|word| Path::new(word).is_file());
    let asks = error.kind() == ErrorKind::InvalidSubcommand && names_file;
    asks.then(|| std::iter::once("info".into()).chain(line.iter().cloned()).collect())
}

/// The subcommand that a line names.
fn subcommand(line: &[OsString]) -> Option<Command> {
    let mut words = line.iter().filter_map(|word| word.to_str());
    words.find_map(|word| Args::command().find_subcommand(word).cloned())
}

fn tip(option: &str, subcommand: &Command) -> Option<&'static str> {
    let has =
        |long: &str| subcommand.get_arguments().any(|argument| argument.get_long() == Some(long));
    let found = OPTIONS.iter().find(|(theirs, ours, _)| *theirs == option && ours.is_none_or(has));
    found.map(|(.., tip)| *tip)
}

/// The libpcap expression that the last of `files` are, where no file has their names; nothing where they are files, or
/// begin like no expression.
pub(crate) fn filter_among(files: &[PathBuf]) -> Option<String> {
    let begins_filter = |path: &Path| {
        path.to_str().is_some_and(|word| {
            FILTER_WORDS.contains(&word.split_whitespace().next().unwrap_or_default())
        })
    };
    let begin = files.iter().position(|path| begins_filter(path) && !path.exists())?;
    let words: Vec<&str> = files.get(begin..)?.iter().filter_map(|path| path.to_str()).collect();
    Some(words.join(" "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::Parser;

    use super::*;

    fn told(line: &str) -> String {
        let line: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        explain(Args::try_parse_from(&line).unwrap_err(), &line).to_string()
    }

    #[test]
    fn options_of_tcpdump_and_tshark_are_answered_with_what_to_type_here() {
        for (line, tip) in [
            ("packets -r a.pcap", "captures are named without an option"),
            ("flows -i eth0", "--interface NAME"),
            ("packets -c5 a.pcap", "--limit N"),
            ("packets a.pcap -w b.pcap", "bytewright cut"),
            ("cut a.pcap -w b.pcap", "-o FILE"),
            ("cut -c5 a.pcap", "--stop-after Np"),
            ("cut -i eth0 -G 3600", "--interface NAME"),
            ("cut --interface eth0 -G 3600", "--rotate 1h"),
            ("cut --interface eth0 -W 3", "--keep N"),
            ("packets -nn a.pcap", "names of hosts are never looked up"),
            ("packets a.pcap -Y ip", "--where 'dst_port == 443'"),
            ("packets a.pcap -T fields -e ip.src", "--json or --csv"),
            ("packets a.pcap --max-packets 5", "--limit N"),
            ("flows a.pcap --sort=packets", "--by packets"),
            ("packets a.pcap --from-time 5", "--where 'ts >= "),
        ] {
            let told = told(line);
            assert!(told.contains("tip: ") && told.contains(tip), "{line}: {told}");
        }
    }

    #[test]
    fn an_option_without_its_like_in_a_subcommand_has_no_tip() {
        for line in ["info -i eth0", "rpc a.pcap -c 5", "table stat -r a", "packets -z a.pcap"] {
            assert!(!told(line).contains("tip"), "{line}: {}", told(line));
        }
    }

    #[test]
    fn a_file_instead_of_a_subcommand_asks_for_information_about_it() {
        let asked = |line: &str| {
            let line: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            asking_for_info(&Args::try_parse_from(&line).unwrap_err(), &line)
        };
        assert_eq!(asked("Cargo.toml --json").unwrap(), ["info", "Cargo.toml", "--json"]);
        for line in ["nope.pcap", "packets -z", "--nope Cargo.toml", "src"] {
            assert_eq!(asked(line), None, "{line}");
        }
    }

    #[test]
    fn the_names_of_no_files_that_begin_like_an_expression_are_one() {
        let among =
            |line: &str| filter_among(&line.split('|').map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(among("Cargo.toml|tcp|port|80").as_deref(), Some("tcp port 80"));
        assert_eq!(among("Cargo.toml|tcp port 80").as_deref(), Some("tcp port 80"));
        assert_eq!(among("Cargo.toml|not|port|53").as_deref(), Some("not port 53"));
        assert_eq!(among("Cargo.toml|nope.pcap"), None);
        assert_eq!(among("Cargo.toml"), None);
        assert_eq!(among("-"), None);
    }
}
