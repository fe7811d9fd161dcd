//! Indexes of captures: `bytewright index`, `--index`, and what is printed with them.

use crate::capture::mixed;
use crate::run::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder
}

#[test]
fn an_index_is_made_once_and_questions_are_answered_the_same_with_it() {
    let folder = folder();
    let lines: &[&[&str]] = &[
        &["packets", "mixed.pcap", "--csv", "--where", "ts >= 1700000001"],
        &["packets", "mixed.pcap", "--csv", "--numbers", "2-"],
        &["packets", "mixed.pcap", "--csv", "--numbers", "1,3"],
        &["endpoints", "mixed.pcap", "--csv", "--where", "number == 2"],
    ];
    let answers = || lines.iter().map(|line| folder.run(line).stdout_of_success()).collect();
    let before: Vec<String> = answers();
    let made = folder.run(&["index", "mixed.pcap", "--csv"]).stdout_of_success();
    assert!(made.contains("mixed.pcap.bwi,made,4,1,"), "{made}");
    assert_eq!(folder.names(), ["mixed.pcap", "mixed.pcap.bwi"]);
    assert_eq!(answers(), before);
    let again = folder.run(&["index", "mixed.pcap", "--csv"]).stdout_of_success();
    assert_eq!(again, made.replace(",made,", ",current,"));
    let anew = folder.run(&["index", "mixed.pcap", "--csv", "--anew"]).stdout_of_success();
    assert_eq!(anew, made);
}

#[test]
fn an_index_is_made_beside_an_answer_and_in_a_folder_that_is_named() {
    let folder = folder();
    folder.run(&["endpoints", "mixed.pcap", "--index", "--json"]).stdout_of_success();
    assert_eq!(folder.names(), ["mixed.pcap", "mixed.pcap.bwi"]);
    std::fs::create_dir(folder.path("indexes")).unwrap();
    let line = ["flows", "mixed.pcap", "--index", "--index-dir", "indexes", "--json"];
    folder.run(&line).stdout_of_success();
    assert_eq!(std::fs::read_dir(folder.path("indexes")).unwrap().count(), 1);
}

#[test]
fn an_index_that_does_not_fit_is_told_of_in_one_line_and_not_used() {
    let folder = folder();
    folder.run(&["index", "mixed.pcap"]).stdout_of_success();
    folder.write("mixed.pcap", &mixed().cut(1).0);
    let outcome = folder.run(&["packets", "mixed.pcap", "--csv", "--numbers", "2"]);
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (0, 2));
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("the capture is shorter; it is not used"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_index_that_cannot_be_made_keeps_no_answer_back() {
    let folder = folder();
    folder.write("mixed.pcap.bwi", b"of somebody");
    let outcome = folder.run(&["endpoints", "mixed.pcap", "--index", "--csv"]);
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (0, 4));
    assert!(outcome.stderr.contains("found another file"), "{}", outcome.stderr);
    let alone = folder.run(&["index", "mixed.pcap"]);
    assert_eq!(alone.code, 2, "{}", alone.stderr);
    let piped = folder.run(&["index", "/dev/null"]);
    assert_ne!(piped.code, 0);
}

#[test]
fn a_full_disk_leaves_no_index_and_keeps_no_answer_back() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_bytewright");
    let limited = |line: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 0; exec {program} {line}");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).current_dir(folder.path(".")).output().unwrap()
    };
    let outcome = limited("endpoints mixed.pcap --index --csv");
    assert_eq!(
        (outcome.status.code(), outcome.stdout.split(|b| *b == b'\n').count()),
        (Some(0), 5)
    );
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("mixed.pcap.bwi: cannot write"));
    assert_eq!(limited("index mixed.pcap").status.code(), Some(1));
    assert_eq!(folder.names(), ["mixed.pcap"]);
}
