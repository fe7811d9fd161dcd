//! `flows --as`: flows in the words of other programs, where they go, and what is told where they cannot. What they have is
//! compared with the flows in `core/tests/decode/flow_formats.rs`.

use std::fs;
use std::process::Stdio;

use crate::capture::{Capture, mixed};
use crate::pseudo_terminal::run_on_terminal;
use crate::run::Folder;

/// The names of the forms.
const FORMS: [&str; 4] = ["zeek", "zeek-json", "ecs", "ipfix"];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder
}

/// The lines of a log that say of no time of day, which is another one in each run.
fn without_clock(log: &str) -> Vec<&str> {
    let is_clock = |line: &&str| line.starts_with("#open") || line.starts_with("#close");
    log.lines().filter(|line| !is_clock(line)).collect()
}

#[test]
fn both_directions_are_one_connection_of_zeek() {
    let log = folder().run(&["flows", "mixed.pcap", "--as", "zeek"]).stdout_of_success();
    let lines: Vec<&str> = log.lines().filter(|line| !line.starts_with('#')).collect();
    let expected = [
        "1700000000.000005\tUID\t10.0.0.1\t5000\t10.0.0.2\t53\tudp\t-\t1.000000\t30\t100\tSF\tT\tT\t0\tDd\t1\t58\t1\t128\t-\t17",
        "1700000003.000005\tUID\t10.0.0.3\t40000\t10.0.0.2\t443\ttcp\t-\t-\t-\t-\tOTH\tT\tT\t0\tH\t1\t40\t0\t0\t-\t6",
    ];
    assert_eq!(lines.len(), expected.len());
    for (line, expected) in lines.iter().zip(expected) {
        let uid = line.split('\t').nth(1).unwrap();
        assert_eq!(line.replace(uid, "UID"), expected);
    }
    assert!(log.lines().last().unwrap().starts_with("#close\t"), "{log}");
}

#[test]
fn a_file_has_what_standard_output_gets() {
    let folder = folder();
    for form in FORMS {
        let args = ["flows", "mixed.pcap", "--as", form];
        let mut command = folder.command(&args);
        let printed = command.stdin(Stdio::null()).output().unwrap();
        assert!(printed.status.success() && printed.stderr.is_empty(), "{form}");
        let to_file = [&args[..], &["-o", "out"]].concat();
        assert_eq!(folder.run(&to_file).stdout_of_success(), "", "{form}");
        let (printed, written) = (printed.stdout, folder.read("out"));
        match form {
            // Behind the version, the length and the time of export.
            "ipfix" => assert_eq!(printed[8..], written[8..]),
            _ => assert_eq!(
                without_clock(&String::from_utf8_lossy(&printed)),
                without_clock(&String::from_utf8_lossy(&written)),
            ),
        }
        assert_eq!(folder.names(), ["mixed.pcap", "out"]);
        let dash = [&args[..], &["-o", "-"]].concat();
        assert!(folder.command(&dash).output().unwrap().status.success());
    }
}

#[test]
fn flows_are_chosen_as_for_people() {
    let folder = folder();
    let ports = |args: &[&str]| {
        let args = [&["flows", "--as", "zeek"], args].concat();
        let log = folder.run(&args).stdout_of_success();
        let lines = log.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split('\t').nth(3).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ports(&["mixed.pcap", "--where", "dst_port == 53"]), ["5000"]);
    assert_eq!(ports(&["mixed.pcap", "--top", "1", "--by", "packets"]), ["5000"]);
    folder.run(&["flows", "mixed.pcap", "--into", "t.bwt"]).stdout_of_success();
    assert_eq!(ports(&["--from", "t.bwt"]), ["5000", "40000"]);
    assert_eq!(ports(&["mixed.pcap", "--where", "dst_port == 1"]), [""; 0]);
}

#[test]
fn options_that_do_not_fit_are_told_with_what_to_do() {
    let folder = folder();
    for (options, told) in [
        (
            &["--group-by", "dst_port"][..],
            "zeek has no place for groups; leave out --group-by, or print the rows with --json or --csv instead",
        ),
        (&["--sum", "bytes"], "leave out --sum"),
        (&["--every", "1s"], "leave out --every"),
        (&["--fields", "ts"], "leave out --fields"),
        (&["--json"], "found --as zeek and --json; write --as zeek-json for Zeek's JSON"),
        (&["--csv"], "found --as zeek and --csv; leave out one of them"),
        (&["--csv-safe"], "--csv-safe"),
        (&["--parquet", "out"], "--parquet"),
        (&["--into", "out"], "--into"),
    ] {
        let args = [&["flows", "mixed.pcap", "--as", "zeek"], options].concat();
        let outcome = folder.run(&args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{options:?}");
        assert!(outcome.stderr.contains(told), "{options:?}: {}", outcome.stderr);
        assert_eq!(folder.names(), ["mixed.pcap"]);
    }
    let outcome = folder.run(&["flows", "mixed.pcap", "--as", "netflow"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("zeek, zeek-json, ecs, ipfix"), "{}", outcome.stderr);
    let outcome = folder.run(&["flows", "mixed.pcap", "-o", "out"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("--as"), "{}", outcome.stderr);
}

#[test]
fn a_terminal_gets_text_and_no_messages() {
    let folder = folder();
    let args = ["flows", "mixed.pcap", "--as", "ipfix"];
    let Some(outcome) = run_on_terminal(folder.command(&args), 80) else { return };
    assert_eq!(outcome.code, 2);
    assert!(outcome.stdout.contains("name a file with -o FILE"), "{}", outcome.stdout);
    let args = ["flows", "mixed.pcap", "--as", "zeek"];
    let outcome = run_on_terminal(folder.command(&args), 80).unwrap();
    assert!(outcome.code == 0 && outcome.stdout.contains("\t5000\t"), "{}", outcome.stdout);
}

#[test]
fn of_a_damaged_capture_the_flows_before_the_damage_are_there_and_the_exit_code_says_so() {
    let folder = Folder::new();
    folder.write("cut.pcap", &mixed().cut(5).0);
    let outcome = folder.run(&["flows", "cut.pcap", "--as", "zeek", "-o", "conn.log"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
    let log = String::from_utf8(folder.read("conn.log")).unwrap();
    assert!(log.contains("\t5000\t") && log.contains("\n#close\t"), "{log}");
}

#[test]
fn a_full_disk_leaves_the_older_file_and_a_full_output_is_told() {
    let folder = folder();
    if fs::metadata("/dev/full").is_err() {
        return eprintln!("skipped: no /dev/full");
    }
    for form in FORMS {
        let mut command = folder.command(&["flows", "mixed.pcap", "--as", form]);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{form}");
        assert!(stderr.starts_with("bytewright: cannot write the output: "), "{form}: {stderr}");
    }
    // Files of at most 512 bytes: the shell counts in these.
    let mut capture = Capture::new();
    for port in 1..100 {
        capture = capture.udp(0, (1, port), (2, 53), 1);
    }
    folder.write("many.pcap", &capture.0);
    folder.write("conn.log", b"older");
    let program = folder.command(&["flows", "many.pcap", "--as", "zeek", "-o", "conn.log"]);
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""]);
    command.arg(program.get_program()).args(program.get_args()).current_dir(folder.path(""));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.read("conn.log"), b"older");
    assert_eq!(folder.names(), ["conn.log", "many.pcap", "mixed.pcap"]);
}

#[test]
fn a_named_pipe_gets_the_flows_and_stays_a_pipe() {
    let folder = folder();
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status();
    assert!(made.unwrap().success());
    let mut command = folder.command(&["flows", "mixed.pcap", "--as", "ecs", "-o", "pipe"]);
    let mut child = command.spawn().unwrap();
    let lines = fs::read_to_string(folder.path("pipe")).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(lines.lines().count(), 2);
    assert_eq!(folder.names(), ["mixed.pcap", "pipe"]);
}

#[test]
fn runs_at_one_time_to_one_name_leave_one_whole_file() {
    let folder = folder();
    for _ in 0..5 {
        let args = ["flows", "mixed.pcap", "--as", "zeek", "-o", "conn.log"];
        let mut runs = [(); 3].map(|()| folder.command(&args).spawn().unwrap());
        assert!(runs.iter_mut().all(|run| run.wait().unwrap().success()));
        let log = String::from_utf8(folder.read("conn.log")).unwrap();
        assert!(log.starts_with("#separator"), "{log}");
        assert_eq!((log.lines().count(), log.matches("#close").count()), (11, 1), "{log}");
        assert_eq!(folder.names(), ["conn.log", "mixed.pcap"]);
    }
}
