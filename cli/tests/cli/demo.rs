//! `demo`: the sample that it writes, and to whom it does not.

use std::fs::File;
use std::process::Command;

use crate::pseudo_terminal::run_on_terminal;
use crate::run::{Folder, outcome};
use crate::sample;

#[test]
fn the_demo_is_the_sample_that_the_examples_read() {
    let folder = Folder::new();
    let mut demo = folder.command(&["demo"]);
    demo.stdout(File::create(folder.path("web.pcap.gz")).unwrap());
    outcome(demo).stdout_of_success();
    if let Some(sample) = sample("web.pcap.gz") {
        assert_eq!(folder.read("web.pcap.gz"), std::fs::read(sample).unwrap());
    }
    let flows = folder.run(&["flows", "web.pcap.gz", "--csv"]).stdout_of_success();
    assert_eq!(flows.lines().count(), 927);
}

#[test]
fn the_demo_can_be_read_from_a_pipe() {
    let folder = Folder::new();
    let mut shell = Command::new("sh");
    let line = "\"$0\" demo | \"$0\" packets - --csv";
    shell.args(["-c", line, env!("CARGO_BIN_EXE_bytewright")]).current_dir(folder.path(""));
    let packets = outcome(shell).stdout_of_success();
    assert_eq!(packets.lines().count(), 8761);
    // Nobody waits for the rest.
    let mut shell = Command::new("sh");
    let line = "\"$0\" demo | \"$0\" packets - --csv --limit 1";
    shell.args(["-c", line, env!("CARGO_BIN_EXE_bytewright")]).current_dir(folder.path(""));
    assert_eq!(outcome(shell).stdout_of_success().lines().count(), 2);
}

#[test]
fn a_terminal_is_refused_and_told_what_to_type() {
    let Some(told) = run_on_terminal(Folder::new().command(&["demo"]), 200) else { return };
    assert_eq!(told.code, 2);
    assert!(
        told.stdout.contains("found a terminal; type: bytewright demo >web.pcap.gz"),
        "{told:?}"
    );
    // No byte of the capture comes before.
    assert!(!told.stdout.contains('\u{1f}'), "{told:?}");
}

#[test]
fn the_demo_takes_no_arguments() {
    for args in [&["demo", "web.pcap.gz"][..], &["demo", "-o", "web.pcap.gz"]] {
        let folder = Folder::new();
        let told = folder.run(args);
        assert_eq!((told.code, told.stdout.as_str()), (2, ""), "{args:?}");
        assert!(folder.names().is_empty());
    }
}
