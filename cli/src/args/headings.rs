//! Headings of `--help`: the options of a subcommand that reads captures, by what they are for.

use clap::Arg;

/// Long options below each heading.
const HEADINGS: &[(&str, &[&str])] = &[
    (
        "Which packets and rows",
        &[
            "where",
            "filter",
            "flow",
            "numbers",
            "limit",
            "from-time",
            "to-time",
            "stop-after",
            "drop-duplicates",
            "every-nth",
            "label",
            "inner",
            "vxlan-port",
        ],
    ),
    ("Network interfaces", &["interface", "snaplen", "buffer", "promiscuous"]),
    ("Groups, sums and order", &["top", "by", "group-by", "sum", "every", "plot"]),
    ("Flows", &["idle-timeout", "active-timeout", "max-flows", "features"]),
    ("Thrift", &["calls", "slower-than", "idl", "service", "include", "method"]),
    ("Changes of packets", &["shift", "anonymize", "payload"]),
    ("Table files", &["into", "wait", "from"]),
    (
        "Output",
        &[
            "fields",
            "json",
            "csv",
            "csv-safe",
            "as",
            "output",
            "parquet",
            "bytes",
            "force",
            "timestamps",
            "signed",
            "addresses",
            "title",
            "rotate",
            "keep",
        ],
    ),
    ("Speed", &["jobs", "index", "index-dir"]),
];

/// Returns the argument below its heading, if it has one.
pub(crate) fn headed(argument: Arg) -> Arg {
    let long = argument.get_long().unwrap_or_default();
    match HEADINGS.iter().find(|(_, options)| options.contains(&long)) {
        Some((heading, _)) => argument.help_heading(*heading),
        None => argument,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use clap::CommandFactory;

    use super::super::Args;
    use super::HEADINGS;

    #[test]
    fn each_option_of_a_subcommand_that_reads_captures_is_below_a_heading() {
        let command = Args::command();
        let mut there = Vec::new();
        for name in ["flows", "rpc", "packets", "endpoints", "services", "cut", "report"] {
            for argument in command.find_subcommand(name).unwrap().get_arguments() {
                let Some(long) = argument.get_long() else { continue };
                assert!(argument.get_help_heading().is_some(), "{name} --{long} has no heading");
                there.push(long);
            }
        }
        let named = HEADINGS.iter().flat_map(|(_, options)| options.iter());
        let gone: Vec<_> = named.filter(|option| !there.contains(option)).collect();
        assert!(gone.is_empty(), "no subcommand has {gone:?}");
    }
}
