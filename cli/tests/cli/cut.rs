//! `cut`: which packets are in the new capture, what it is written as, what is told. That they are the same bytes is
//! tested in core/tests/scan_cut.rs.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::capture::{Capture, gzip, mixed};
use crate::run::Folder;
use crate::sample;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder
}

#[test]
fn a_capture_without_conditions_is_the_same_capture() {
    let folder = folder();
    assert_eq!(folder.run(&["cut", "mixed.pcap", "-o", "out.pcap"]).stdout_of_success(), "");
    assert_eq!(folder.read("out.pcap"), mixed().0);
    assert_eq!(folder.names(), ["mixed.pcap", "out.pcap"]);
}

#[test]
fn every_form_has_the_same_packets() {
    let folder = folder();
    let packets = |name: &str| folder.run(&["packets", name, "--csv"]).stdout_of_success();
    for name in ["out.pcapng", "out.pcapng.gz", "out.pcapng.zst", "out.pcap.gz", "out.pcap.zst"] {
        folder.run(&["cut", "mixed.pcap", "-o", name]).stdout_of_success();
        assert_eq!(packets(name), packets("mixed.pcap"), "{name}");
    }
}

#[test]
fn conditions_times_and_lengths_choose() {
    let folder = folder();
    let lengths = |args: &[&str]| {
        let args = [&["cut", "mixed.pcap", "-o", "out.pcapng", "--force"], args].concat();
        folder.run(&args).stdout_of_success();
        let args = ["packets", "out.pcapng", "--csv", "--fields", "length,caplen"];
        folder.run(&args).stdout_of_success().lines().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(lengths(&[]), "72,72 142,142 60,60 54,54");
    assert_eq!(lengths(&["--where", "dst_port == 53 or proto == tcp"]), "72,72 54,54");
    assert_eq!(lengths(&["--from-time", "2023-11-14T22:13:21Z"]), "142,142 60,60 54,54");
    assert_eq!(lengths(&["--to-time", "2023-11-14T22:13:21Z"]), "72,72");
    for time in ["1700000001", "1700000001.0", "1700000001000ms", "1700000001000000000"] {
        assert_eq!(lengths(&["--from-time", time]), "142,142 60,60 54,54", "{time}");
        assert_eq!(lengths(&["--where", &format!("ts < {time}")]), "72,72", "{time}");
    }
    let recent = folder.run(&["packets", "mixed.pcap", "--where", "ts >= -10m"]);
    assert_eq!(recent.stderr, "bytewright: found no packets\n");
    assert_eq!(lengths(&["--to-time", "-1.5h"]), "72,72 142,142 60,60 54,54");
    assert_eq!(lengths(&["--where", "ts >= -36500d and ts < -1d"]), "72,72 142,142 60,60 54,54");
    assert_eq!(lengths(&["--snaplen", "60"]), "72,60 142,60 60,60 54,54");
}

#[test]
fn several_captures_are_one_in_the_order_of_time() {
    let folder = Folder::new();
    folder.write("a.pcap", &Capture::new().other(0).other(2).other(1).0);
    folder.write("b.pcap.gz", &gzip(&Capture::new().other(1).other(3).0));
    let outcome = folder.run(&["cut", "a.pcap", "b.pcap.gz", "-o", "out.pcap"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.stderr.contains("1 packets are earlier"), "{}", outcome.stderr);
    let times =
        folder.run(&["packets", "out.pcap", "--json", "--fields", "ts"]).stdout_of_success();
    let seconds: Vec<_> = times.lines().map(|line| &line[15..16]).collect();
    assert_eq!(seconds, ["0", "1", "2", "1", "3"]);
}

#[test]
fn a_wrong_name_a_wrong_condition_and_a_missing_file_leave_nothing_behind() {
    let folder = folder();
    let cases: [(&[&str], i32, &str); 5] = [
        (&["-o", "out.txt"], 2, "which ends in .pcap or .pcapng"),
        (
            &["-o", "out.pcap", "--where", "dst_prot == 1"],
            2,
            "expected a field, found dst_prot; did you mean dst_port?",
        ),
        (&["-o", "out.pcap", "absent.pcap"], 1, "absent.pcap: cannot open"),
        (&["-o", "no/out.pcap"], 1, "no/out.pcap: cannot create a file beside"),
        (&["-o", "out.pcap", "--from-time", "soon"], 2, "expected a time, such as"),
    ];
    for (args, code, told) in cases {
        let outcome = folder.run(&[&["cut", "mixed.pcap"], args].concat());
        assert_eq!(outcome.code, code, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
        assert_eq!(folder.names(), ["mixed.pcap"]);
    }
}

#[test]
fn packets_are_chosen_by_the_labels_of_their_networks() {
    let folder = folder();
    folder.write("sites.csv", b"0.0.0.0/0,four\n::/0,six\n");
    let label = ["mixed.pcap", "--label", "sites.csv", "--where", "src_label == 'four'"];
    folder.run(&[&["cut"], &label[..], &["-o", "four.pcap"]].concat()).stdout_of_success();
    let rows = |args: &[&str]| {
        let args = [&["packets"], args, &["--csv", "--fields", "ts,src_ip,src_label"]].concat();
        folder.run(&args).stdout_of_success()
    };
    let written = rows(&["four.pcap", "--label", "sites.csv"]);
    assert_eq!(written, rows(&label));
    assert!(written.lines().count() > 1, "{written}");
    let two = b"10.0.0.0/8,a\n10.0.0.0/8,b\n";
    folder.write("two.csv", two);
    let told = folder.run(&["flows", "mixed.pcap", "--label", "two.csv", "--json"]);
    let expected =
        "bytewright: two.csv: 10.0.0.0/8 has two labels, and the later one counts: b, not a\n";
    assert_eq!((told.code, told.stderr.as_str()), (0, expected));
    assert!(told.stdout.contains("\"src_label\":\"b\""), "{}", told.stdout);
}

#[test]
fn of_a_damaged_capture_the_packets_before_the_damage_are_there_and_the_exit_code_says_so() {
    let folder = Folder::new();
    folder.write("cut.pcap", &mixed().cut(5).0);
    let outcome = folder.run(&["cut", "cut.pcap", "-o", "out.pcap"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("before the input ends"), "{}", outcome.stderr);
    let packets = folder.run(&["packets", "out.pcap", "--csv"]).stdout_of_success();
    assert_eq!(packets.lines().count(), 4);
}

#[test]
fn packets_go_through_a_pipe_as_they_come() {
    let folder = Folder::new();
    let mut command = folder.command(&["cut", "-", "-o", "-", "--where", "length > 0"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    stdin.write_all(&Capture::new().udp(0, (1, 5000), (2, 53), 30).0).unwrap();
    // The packet is there while the input is open still.
    let mut reader = BufReader::new(stdout);
    let mut seen = 0;
    while seen < 28 + 20 + 32 + 72 {
        let bytes = reader.fill_buf().unwrap().len();
        assert!(bytes > 0, "the output ended after {seen} bytes");
        reader.consume(bytes);
        seen += bytes;
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_wants_no_more_ends_the_command_as_a_pipe_does() {
    let folder = folder();
    let mut command = folder.command(&["cut", "-", "-o", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    // A program that another test starts has the pipe open, too, until it runs: there is more to write than fits into it.
    let (mut stdin, packets) = (child.stdin.take().unwrap(), mixed().0);
    let mut written = stdin.write_all(&packets);
    while written.is_ok() {
        written = stdin.write_all(&packets[24..]);
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(141), &b""[..]));
}

#[test]
fn one_flow_is_taken_by_its_ends_or_its_community_id_whichever_way_its_packets_go() {
    let folder = folder();
    let lengths = |args: &[&str]| {
        let args = [&["packets", "mixed.pcap", "--csv", "--fields", "length"], args].concat();
        folder.run(&args).stdout_of_success().lines().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(lengths(&["--flow", "10.0.0.2:53-10.0.0.1:5000"]), "72 142");
    assert_eq!(lengths(&["--flow", "10.0.0.2-10.0.0.3"]), "54");
    assert_eq!(lengths(&["--flow", "10.0.0.2-10.0.0.3", "--filter", "udp"]), "");
    let flows = folder.run(&["flows", "mixed.pcap", "--csv", "--top", "1", "--by", "packets"]);
    let flows = flows.stdout_of_success();
    let id = flows.split([',', '\n']).find(|value| value.starts_with("1:")).unwrap();
    assert_eq!(lengths(&["--flow", id]), "72 142");
    folder.run(&["cut", "mixed.pcap", "--flow", id, "-o", "flow.pcap"]).stdout_of_success();
    let found = folder.run(&["packets", "flow.pcap", "--csv", "--fields", "length"]);
    assert_eq!(found.stdout_of_success(), "length\n72\n142\n");
    let outcome = folder.run(&["rpc", "mixed.pcap", "--calls", "--flow", id]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let outcome = folder.run(&["packets", "mixed.pcap", "--flow", "10.0.0.2"]);
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("expected a flow, which is a Community ID"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_capture_is_divided_into_files_and_only_the_newest_are_kept() {
    let folder = Folder::new();
    let Some(web) = sample("web.pcap.gz") else { return };
    let all = folder.run(&["packets", &web, "--csv"]).stdout_of_success().lines().count() - 1;
    let args = ["cut", &web, "--rotate", "100p,50kB", "-o", "part-%n.pcap.gz"];
    assert_eq!(folder.run(&args).code, 0);
    let names = folder.names();
    let packets = |name: &String| {
        folder.run(&["packets", name, "--csv"]).stdout_of_success().lines().count() - 1
    };
    assert!(names.len() > 3);
    assert!(names.iter().all(|name| packets(name) <= 100 && folder.read(name).len() <= 50_000));
    assert_eq!(names.iter().map(packets).sum::<usize>(), all);
    let kept = [&args[..], &["--keep", "2", "--force"]].concat();
    let folder = Folder::new();
    assert_eq!(folder.run(&kept).code, 0);
    assert_eq!(folder.names(), names[names.len() - 2..]);
    for (args, words) in [
        (
            &["-o", "-", "--rotate", "1h"][..],
            "expected the name of a file for a capture that is rotated",
        ),
        (&["-o", "a.pcap", "--keep", "2"], "expected rotate beside keep, found keep alone"),
        (&["-o", "%q.pcap", "--rotate", "1h"], "in the name of a rotated capture, found %q"),
        (&["-o", "a.pcap", "--rotate", "1x"], "expected limits with commas between, such as 1h"),
    ] {
        let refused = folder.run(&[&["cut", &web][..], args].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{args:?}");
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
}
