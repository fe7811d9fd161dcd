//! Goal: an output never replaces an input, and a capture, a table or a store only with `--force`. Method: each command that
//! writes a file is aimed at files that are there, by every name they have.

use std::fs;
use std::os::unix::fs::symlink;

use crate::capture::mixed;
use crate::run::{Folder, outcome};

/// The commands that write a file, without its name.
const COMMANDS: [&[&str]; 6] = [
    &["cut", "in.pcap", "-o"],
    &["report", "in.pcap", "-o"],
    &["packets", "in.pcap", "--parquet"],
    &["flows", "in.pcap", "--parquet"],
    &["rpc", "in.pcap", "--parquet"],
    &["flows", "in.pcap", "--as", "zeek", "-o"],
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("in.pcap", &mixed().0);
    symlink("in.pcap", folder.path("link.pcap")).unwrap();
    fs::hard_link(folder.path("in.pcap"), folder.path("hard.pcap")).unwrap();
    folder
}

/// Runs a command that must refuse its output in those words, and leave the folder as it is.
fn assert_refused(folder: &Folder, args: &[&str], words: &str) {
    let names = folder.names();
    let outcome = folder.run(args);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{args:?}: {}", outcome.stderr);
    assert!(outcome.stderr.contains(words), "{args:?}: {}", outcome.stderr);
    assert_eq!(folder.names(), names, "{args:?}");
    assert_eq!(folder.read("in.pcap"), mixed().0, "{args:?}");
}

#[test]
fn an_output_that_is_an_input_is_refused_by_whatever_name_also_with_force() {
    let folder = folder();
    for command in COMMANDS {
        for name in ["in.pcap", "./in.pcap", "link.pcap", "hard.pcap"] {
            for force in [&[][..], &["--force"]] {
                let args = [command, &[name], force].concat();
                assert_refused(&folder, &args, "expected an output beside the inputs");
            }
        }
    }
}

#[test]
fn an_output_that_cannot_be_is_refused_before_an_input_is_read() {
    let folder = folder();
    folder.write("text", b"what would be told of if it was read");
    fs::create_dir(folder.path("folder.pcap")).unwrap();
    for command in COMMANDS {
        let args = |name| [&[command[0], "text"][..], &command[2..], &[name]].concat();
        for name in ["missing/out.pcap", "folder.pcap"] {
            // Inputs of `cut` are opened before, because it puts their packets in order.
            let args = if command[0] == "cut" { [command, &[name]].concat() } else { args(name) };
            let outcome = folder.run(&args);
            assert!(outcome.stderr.contains(name), "{args:?}: {}", outcome.stderr);
            assert_eq!(outcome.stderr.lines().count(), 1, "{args:?}: {}", outcome.stderr);
        }
    }
}

#[test]
fn an_output_that_is_standard_input_is_refused() {
    let folder = folder();
    for input in ["-", "/dev/stdin", "/dev/fd/0"] {
        for args in
            [["cut", input, "-o", "hard.pcap"], ["packets", input, "--parquet", "hard.pcap"]]
        {
            let mut command = folder.command(&[&args[..], &["--force"]].concat());
            command.stdin(fs::File::open(folder.path("in.pcap")).unwrap());
            let outcome = outcome(command);
            assert_eq!(outcome.code, 2, "{args:?}");
            assert!(outcome.stderr.contains("expected an output beside the inputs"), "{args:?}");
            assert_eq!(folder.read("in.pcap"), mixed().0);
        }
    }
    for args in [&["cut", "in.pcap", "-o", "-"][..], &["flows", "in.pcap", "--as", "ipfix"]] {
        let mut command = folder.command(args);
        command.stdout(fs::OpenOptions::new().append(true).open(folder.path("in.pcap")).unwrap());
        assert_eq!(outcome(command).code, 2);
        assert_eq!(folder.read("in.pcap"), mixed().0);
    }
}

#[test]
fn a_table_that_is_read_is_not_replaced_by_its_rows() {
    let folder = folder();
    for (command, table) in [("flows", "flows.bwt"), ("rpc", "calls.bwt")] {
        folder.run(&[command, "in.pcap", "--into", table]).stdout_of_success();
        let args = [command, "--from", table, "--parquet", table, "--force"];
        assert_refused(&folder, &args, "expected an output beside the inputs");
    }
    let args = ["flows", "--from", "flows.bwt", "--as", "ipfix", "-o", "flows.bwt", "--force"];
    assert_refused(&folder, &args, "expected an output beside the inputs");
}

#[test]
fn captures_tables_and_stores_are_replaced_with_force_only() {
    let folder = folder();
    folder.run(&["cut", "in.pcap", "-o", "old.pcapng.gz", "--snaplen", "20"]).stdout_of_success();
    folder.run(&["table", "put", "users.bwh", "a", "1"]).stdout_of_success();
    folder.write("app.pstore", b"\x04\x08{\x00");
    for command in &COMMANDS[1..] {
        for name in ["old.pcapng.gz", "users.bwh", "app.pstore"] {
            assert_refused(&folder, &[command, &[name][..]].concat(), "or replace it with force");
        }
    }
    // The first capture of a list is taken for the output where somebody writes `-o *.pcap`.
    let args = ["report", "-o", "old.pcapng.gz", "in.pcap"];
    assert_refused(&folder, &args, "found a packet capture");
    assert_refused(&folder, &["cut", "in.pcap", "-o", "old.pcapng.gz"], "found a packet capture");
    for command in COMMANDS {
        let old = folder.read("old.pcapng.gz");
        let args = [command, &["old.pcapng.gz", "--force"]].concat();
        folder.run(&args).stdout_of_success();
        assert_ne!(folder.read("old.pcapng.gz"), old, "{args:?}");
        folder.run(&["cut", "hard.pcap", "-o", "old.pcapng.gz", "--snaplen", "20", "--force"]);
    }
}

#[test]
fn an_input_that_cannot_be_read_leaves_the_older_file() {
    let folder = folder();
    // A directory can be opened, and then not be read.
    for absent in ["absent.pcap", "."] {
        for command in COMMANDS {
            let name = if command[0] == "cut" { "old.pcap" } else { "old" };
            folder.write(name, b"older");
            let args = [&[command[0], absent][..], &command[1..], &[name]].concat();
            let outcome = folder.run(&args);
            assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{args:?}");
            assert_eq!(folder.read(name), b"older", "{args:?}: {}", outcome.stderr);
        }
    }
}

#[test]
fn what_a_command_made_before_is_replaced_without_a_question() {
    let folder = folder();
    for (command, name) in [(COMMANDS[1], "page.html"), (COMMANDS[2], "rows.parquet")] {
        for _ in 0..2 {
            folder.run(&[command, &[name]].concat()).stdout_of_success();
        }
    }
}
