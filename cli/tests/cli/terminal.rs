//! Goal: names, keys, methods and values that come from outside never tell a terminal what to do.
//!
//! Method: a colour, a title in C1 codes, a reversed direction and a line break are put wherever text comes from, and
//! looked for in what every command prints, for people and as JSON, and in what it complains of.

use bytewright::terminal::is_harmful;

use crate::capture::mixed;
use crate::run::{Folder, Outcome};

const HARMFUL: &str = "x\u{1b}[31m\u{9d}0;title\u{9c}\u{202e}\ry\u{7f}";

#[track_caller]
fn assert_harmless(outcome: &Outcome, args: &[&str]) {
    for text in [&outcome.stdout, &outcome.stderr] {
        let found = text.chars().find(|c| is_harmful(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(found, None, "{args:?} printed {text:?}");
    }
}

#[test]
fn no_command_prints_what_a_terminal_acts_on() {
    let folder = Folder::new();
    let name = |suffix: &str| format!("{HARMFUL}{suffix}");
    let (capture, tree, hash, text) = (name(".pcap"), name(".bwt"), name(".bwh"), name(".txt"));
    folder.write(&capture, &mixed().0);
    folder.write(&text, b"no capture, no table, no store");
    let commands: Vec<Vec<&str>> = vec![
        vec!["table", "put", &tree, HARMFUL, HARMFUL],
        vec!["table", "convert", &tree, &hash],
        vec!["table", "scan", &tree],
        vec!["table", "scan", &hash, "--json"],
        vec!["table", "get", &hash, HARMFUL, "--json"],
        vec!["table", "get", &hash, "missing\u{1b}[2J"],
        vec!["table", "stat", &hash],
        vec!["table", "stat", &hash, "--json"],
        vec!["table", "check", &tree],
        vec!["table", "compact", &hash],
        vec!["table", "scan", &text],
        vec!["info", &capture],
        vec!["info", &capture, "--json"],
        vec!["info", &text],
        vec!["info", "missing\u{1b}[2J"],
        vec!["packets", &capture, "--every", "1s", "--group-by", "src_ip", "--plot"],
        vec!["packets", &capture, "--filter", "port \u{1b}[2J"],
        vec!["packets", &capture, "--fields", "\u{1b}[2J"],
        vec!["report", &capture, "-o", "page.html", "--title", HARMFUL],
        vec!["report", &text, "-o", "page.html"],
        vec!["report", &capture, "-o", "missing\u{1b}[2J/page.html"],
        vec!["flows", &capture, "--into", &tree],
        vec!["flows", &capture, "--into", "flows.bwt"],
        vec!["store", "roots", &text],
        vec!["thrift", "decode", &text, "--idl", &text, "--type", HARMFUL],
        vec!["\u{1b}[2J"],
        vec!["table", "\u{202e}"],
    ];
    for args in commands {
        assert_harmless(&folder.run(&args), &args);
    }
}

#[test]
fn an_escaped_name_can_be_told_from_one_that_looks_like_it() {
    let folder = Folder::new();
    for key in ["a\u{1b}", "a\\x1b"] {
        folder.run(&["table", "put", "t.bwt", key, "1"]).stdout_of_success();
    }
    let stdout = folder.run(&["table", "scan", "t.bwt", "--keys"]).stdout_of_success();
    assert_eq!(stdout, "a\\x1b\na\\\\x1b\n");
    let json = folder.run(&["table", "scan", "t.bwt", "--keys", "--json"]).stdout_of_success();
    assert_eq!(json, "{\"key\":\"a\\u001b\"}\n{\"key\":\"a\\\\x1b\"}\n");
}

#[test]
fn no_complaint_repeats_more_than_a_line_of_an_argument_or_a_file() {
    let folder = Folder::new();
    let capture = mixed().0;
    folder.write("a.pcap", &capture);
    folder.write("long.txt", &b"x".repeat(1 << 20));
    folder.run(&["table", "put", "t.bwt", "a", "x"]).stdout_of_success();
    // The system takes arguments of less than 128 KiB.
    for piece in ["x", "\n", "\u{1b}", "\u{1f600}"] {
        let long = piece.repeat((100 << 10) / piece.len());
        let filter = format!("port {long} x");
        let commands: Vec<Vec<&str>> = vec![
            vec![&long],
            vec!["packets", &long],
            vec!["packets", "a.pcap", "--fields", &long],
            vec!["packets", "a.pcap", "--where", &long],
            vec!["packets", "a.pcap", "--group-by", &long],
            vec!["packets", "a.pcap", "--every", &long],
            vec!["packets", "a.pcap", "--flow", &long],
            vec!["packets", "a.pcap", "--filter", &filter],
            vec!["packets", "a.pcap", "--limit", &long],
            vec!["packets", "a.pcap", "--jobs", &long],
            vec!["packets", "a.pcap", "--parquet", &long],
            vec!["packets", "--interface", &long],
            vec!["flows", "a.pcap", "--by", &long, "--top", "1"],
            vec!["flows", "a.pcap", "--into", &long],
            vec!["flows", "--from", &long],
            vec!["rpc", "a.pcap", "--idl", &long],
            vec!["rpc", "a.pcap", "--slower-than", &long],
            vec!["cut", "a.pcap", "-o", &long],
            vec!["cut", "a.pcap", "-o", "b.pcap", "--from", &long],
            vec!["cut", "a.pcap", "-o", "b.pcap", "--where", &long],
            vec!["report", "a.pcap", "-o", &long],
            vec!["info", &long],
            vec!["info", "long.txt"],
            vec!["table", "get", "t.bwt", &long],
            vec!["table", "get", &long, "a"],
            vec!["table", "delete", "t.bwt", &long],
            vec!["table", "stat", "long.txt"],
            vec!["table", "convert", "t.bwt", &long],
            vec!["store", "get", &long, "a"],
            vec!["store", "get", "long.txt", &long],
            vec!["thrift", "decode", "long.txt", "--idl", "long.txt", "--type", &long],
            vec!["thrift", "decode", "long.txt", "--idl", &long, "--type", "A"],
            vec!["completions", &long],
        ];
        for args in commands {
            let outcome = folder.run(&args);
            let shown: Vec<String> = args.iter().map(|arg| format!("{arg:.20}")).collect();
            assert_ne!(outcome.code, 0, "{shown:?}");
            let count = outcome.stderr.chars().count();
            assert!((1..20_000).contains(&count), "{shown:?}: {count} characters");
        }
    }
}
