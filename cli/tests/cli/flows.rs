//! `bytewright flows`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::capture::{Capture, gzip, mixed};
use crate::run::Folder;
use crate::sample;

/// Three conversations: the most bytes, the most packets, the longest.
fn three() -> Capture {
    let mut capture = Capture::new().udp(0, (1, 1000), (9, 53), 1000);
    for second in 1..5 {
        capture = capture.udp(second, (2, 2000), (9, 53), 1).udp(second, (9, 53), (2, 2000), 1);
    }
    capture.udp(0, (3, 3000), (9, 53), 1).udp(60, (3, 3000), (9, 53), 1)
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder.write("three.pcap", &three().0);
    folder
}

/// The source ports of CSV rows, whose fourth column they are.
fn ports(csv: &str) -> Vec<&str> {
    csv.lines().skip(1).map(|row| row.split(',').nth(3).unwrap()).collect()
}

#[test]
fn both_directions_are_one_flow_in_every_format() {
    let folder = folder();
    assert_eq!(
        folder.run(&["flows", "mixed.pcap", "--json"]).stdout_of_success(),
        concat!(
            r#"{"ts":1700000000000005000,"src_ip":"10.0.0.1","dst_ip":"10.0.0.2","#,
            r#""src_port":5000,"dst_port":53,"proto":17,"packets":1,"bytes":72,"rev_packets":1,"#,
            r#""rev_bytes":142,"duration":1000000,"tcp_flags":null,"rev_tcp_flags":null,"#,
            r#""community_id":"1:4sSMKwiLG6ALt16rSG1QjqDtqLk="}"#,
            "\n",
            r#"{"ts":1700000003000005000,"src_ip":"10.0.0.3","dst_ip":"10.0.0.2","#,
            r#""src_port":40000,"dst_port":443,"proto":6,"packets":1,"bytes":54,"rev_packets":0,"#,
            r#""rev_bytes":0,"duration":0,"tcp_flags":18,"rev_tcp_flags":null,"#,
            r#""community_id":"1:vZCkSqC4O4oEU3GghwqcdFv0jgg="}"#,
            "\n"
        )
    );
    assert_eq!(
        folder.run(&["flows", "mixed.pcap", "--csv"]).stdout_of_success(),
        "\
ts,src_ip,dst_ip,src_port,dst_port,proto,packets,bytes,rev_packets,rev_bytes,duration,tcp_flags,\
rev_tcp_flags,community_id
1700000000000005000,10.0.0.1,10.0.0.2,5000,53,17,1,72,1,142,1000000,,,\
1:4sSMKwiLG6ALt16rSG1QjqDtqLk=
1700000003000005000,10.0.0.3,10.0.0.2,40000,443,6,1,54,0,0,0,18,,1:vZCkSqC4O4oEU3GghwqcdFv0jgg=
"
    );
    let args = ["flows", "mixed.pcap"];
    let expected = [
        "ts                              src_ip    src_port  dst_ip    dst_port  proto  ",
        "packets  bytes  rev_packets  rev_bytes  duration\n",
        "2023-11-14T22:13:20.000005000Z  10.0.0.1      5000  10.0.0.2        53  udp    ",
        "      1     72            1        142  1.000000\n",
        "2023-11-14T22:13:23.000005000Z  10.0.0.3     40000  10.0.0.2       443  tcp    ",
        "      1     54            0          0  0.000000\n",
    ];
    assert_eq!(folder.run(&args).stdout_of_success(), expected.concat());
}

#[test]
fn the_largest_flows_come_first_by_whatever_they_are_measured() {
    let folder = folder();
    let top = |by: &[&str]| {
        let args = [&["flows", "three.pcap", "--csv", "--top", "2"], by].concat();
        folder.run(&args).stdout_of_success()
    };
    assert_eq!(ports(&top(&[])), ["1000", "2000"]);
    assert_eq!(ports(&top(&["--by", "packets"])), ["2000", "3000"]);
    assert_eq!(ports(&top(&["--by", "duration"])), ["3000", "2000"]);
    let args = ["flows", "three.pcap", "--csv", "--top", "0"];
    assert!(ports(&folder.run(&args).stdout_of_success()).is_empty());
    let args = ["flows", "three.pcap", "--csv", "--top", "100"];
    assert_eq!(ports(&folder.run(&args).stdout_of_success()).len(), 3);
}

#[test]
fn a_conversation_that_goes_on_in_the_next_file_is_one_flow() {
    let folder = Folder::new();
    folder.write("first.pcap", &Capture::new().udp(0, (1, 5000), (2, 53), 1).0);
    folder.write("second.pcap", &Capture::new().udp(9, (1, 5000), (2, 53), 1).0);
    let args = ["flows", "first.pcap", "second.pcap", "--csv"];
    let stdout = folder.run(&args).stdout_of_success();
    assert_eq!(stdout.lines().count(), 2, "{stdout}");
    assert!(stdout.contains(",17,2,86,0,0,9000000,"), "{stdout}");
}

#[test]
fn timeouts_and_a_full_table_end_flows() {
    let folder = folder();
    for option in [["--idle-timeout", "20"], ["--active-timeout", "20.5"]] {
        let args = [&["flows", "three.pcap", "--csv"], &option[..]].concat();
        assert_eq!(ports(&folder.run(&args).stdout_of_success()).len(), 4, "{option:?}");
    }
    let in_turn = Capture::new().udp(0, (1, 1000), (9, 53), 1).udp(1, (2, 2000), (9, 53), 1);
    folder.write("turns.pcap", &in_turn.udp(2, (1, 1000), (9, 53), 1).0);
    let args = ["flows", "turns.pcap", "--csv", "--max-flows", "1"];
    assert_eq!(ports(&folder.run(&args).stdout_of_success()), ["1000", "2000", "1000"]);
    let outcome = folder.run(&["flows", "three.pcap", "--idle-timeout", "soon"]);
    assert_eq!(outcome.code, 2);
}

#[test]
fn a_table_adds_up_and_counts_no_capture_twice() {
    let folder = folder();
    assert_eq!(
        folder.run(&["flows", "mixed.pcap", "--into", "t.bwt"]).stdout_of_success(),
        "mixed.pcap: added: 4 packets, 2 flows, 2 of them new\nt.bwt: holds 2 flows of 1 capture\n"
    );
    // These packets under another name and compressed, then others of the same conversation.
    folder.write("copy.pcap.gz", &gzip(&mixed().0));
    folder.write("more.pcap", &Capture::new().udp(100, (2, 53), (1, 5000), 30).0);
    let args = ["flows", "copy.pcap.gz", "more.pcap", "--into", "t.bwt"];
    assert_eq!(
        folder.run(&args).stdout_of_success(),
        "\
copy.pcap.gz: already counted, as mixed.pcap
more.pcap: added: 1 packet, 1 flow, 0 of them new
t.bwt: holds 2 flows of 2 captures
"
    );
    let stdout = folder.run(&["flows", "--from", "t.bwt", "--csv"]).stdout_of_success();
    assert_eq!(ports(&stdout), ["5000", "40000"]);
    assert!(stdout.contains(",5000,53,17,1,72,2,214,100000000,"), "{stdout}");
}

#[test]
fn merging_is_told_in_json() {
    let folder = folder();
    folder.write("a \"b\".pcap", &mixed().0);
    let args = ["flows", "mixed.pcap", "a \"b\".pcap", "--into", "t.bwt", "--json"];
    let stdout = folder.run(&args).stdout_of_success();
    let content_id =
        stdout.split("\"content_id\":\"").nth(1).and_then(|rest| rest.get(..32)).unwrap();
    let expected = r#"{"file":"mixed.pcap","added":true,"packets":4,"packets_without_flow":1,"flows":2,"new_flows":2,"counted_as":null,"content_id":"ID","damage":null}
{"file":"a \"b\".pcap","added":false,"packets":4,"packets_without_flow":1,"flows":0,"new_flows":0,"counted_as":"mixed.pcap","content_id":"ID","damage":null}
{"table":"t.bwt","flows":2,"captures":1}
"#;
    assert_eq!(stdout, expected.replace("ID", content_id));
}

#[test]
fn a_damaged_capture_counts_up_to_its_damage() {
    let folder = folder();
    folder.write("cut.pcap", &mixed().cut(10).0);
    let outcome = folder.run(&["flows", "cut.pcap", "three.pcap", "--into", "t.bwt"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(
        outcome.stdout,
        "\
cut.pcap: added up to the damage: 3 packets, 1 flow, 1 of them new
three.pcap: added: 11 packets, 3 flows, 3 of them new
t.bwt: holds 4 flows of 2 captures
"
    );
    assert!(outcome.stderr.starts_with("bytewright: cut.pcap: byte "), "{}", outcome.stderr);
}

#[test]
fn a_killed_run_keeps_the_captures_that_it_reported_as_added() {
    let folder = folder();
    let mut command = folder.command(&["flows", "mixed.pcap", "-", "--into", "t.bwt"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "mixed.pcap: added: 4 packets, 2 flows, 2 of them new\n");
    // It waits for the second capture now.
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        folder.run(&["flows", "mixed.pcap", "three.pcap", "--into", "t.bwt"]).stdout_of_success(),
        "\
mixed.pcap: already counted, as mixed.pcap
three.pcap: added: 11 packets, 3 flows, 3 of them new
t.bwt: holds 5 flows of 2 captures
"
    );
}

#[test]
fn a_file_that_is_no_table_is_left_alone() {
    let folder = folder();
    folder.write("letter.txt", b"Dear reader");
    let outcome = folder.run(&["flows", "mixed.pcap", "--into", "letter.txt"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
    assert!(outcome.stderr.starts_with("bytewright: letter.txt: "), "{}", outcome.stderr);
    assert_eq!(folder.read("letter.txt"), b"Dear reader");
}

#[test]
fn the_sample_has_the_flows_that_it_was_recorded_with() {
    let Some(web) = sample("web.pcap.gz") else { return eprintln!("skipped: no samples") };
    let folder = Folder::new();
    let args = ["flows", &web, "--csv", "--top", "3", "--by", "packets"];
    let stdout = folder.run(&args).stdout_of_success();
    assert_eq!(ports(&stdout), ["52173", "41435", "38023"]);
    let stdout = folder.run(&["flows", &web, "--csv"]).stdout_of_success();
    let of_protocol =
        |proto| stdout.lines().filter(|row| row.split(',').nth(5) == Some(proto)).count();
    assert_eq!((of_protocol("6"), of_protocol("17")), (347, 510));
}

#[test]
fn what_is_no_capture_is_an_error_and_leaves_the_table_as_it_was() {
    let folder = folder();
    folder.write("notes.csv", b"when,what\n1,rain\n");
    folder.write("empty.pcap", b"");
    folder.write("header.pcap", &mixed().0[..20]);
    for command in ["flows", "rpc"] {
        let captures = ["notes.csv", "empty.pcap", "header.pcap"];
        let outcome = folder.run(&[&[command], &captures[..], &["--into", "new.bwt"]].concat());
        assert_eq!(outcome.code, 1, "{}", outcome.stdout);
        let expected = "\
bytewright: notes.csv: byte 0: expected a pcap or pcapng capture, found text, \"when,what\\n1,\"
bytewright: empty.pcap: byte 0: expected a capture file header of 4 bytes, found 0 before the input ends
bytewright: header.pcap: byte 0: expected a capture file header of 24 bytes, found 20 before the input ends
";
        assert_eq!(outcome.stderr, expected);
        assert!(!folder.names().contains(&"new.bwt".to_owned()), "{command} made a table");

        let table = format!("{command}.bwt");
        let outcome = folder.run(&[command, "notes.csv", "three.pcap", "--into", &table]);
        assert_eq!(outcome.code, 1);
        assert!(outcome.stdout.contains("three.pcap: added: 11 packets"), "{}", outcome.stdout);
        assert!(outcome.stdout.ends_with("of 1 capture\n"), "{}", outcome.stdout);
    }
}

#[test]
fn flows_from_a_pipe_are_printed_as_they_end() {
    use std::io::{BufRead, BufReader, Write};
    let folder = Folder::new();
    let args = ["flows", "-", "--idle-timeout", "5", "--csv"];
    let mut command = folder.command(&args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let capture = Capture::new().udp(0, (1, 5000), (2, 53), 1).udp(10, (3, 5000), (2, 53), 1);
    stdin.write_all(&capture.0).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The input is still open: this would wait for ever if the first flow did.
    let seen: Vec<_> = lines.by_ref().take(2).map(Result::unwrap).collect();
    assert!(seen[1].starts_with("1700000000000005000,10.0.0.1,10.0.0.2,5000,53,17,1,"), "{seen:?}");
    drop(stdin);
    let rest: Vec<_> = lines.map(Result::unwrap).collect();
    assert!(rest.len() == 1 && rest[0].contains("10.0.0.3"), "{rest:?}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_busiest_flows_of_a_pipe_are_printed_when_their_interval_is_over() {
    use std::io::{BufRead, BufReader, Write};
    let folder = Folder::new();
    let args = ["flows", "-", "--every", "5s", "--top", "1", "--by", "packets"];
    let mut command = folder.command(&args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let busy = Capture::new().udp(0, (1, 5000), (2, 53), 1).udp(1, (1, 5000), (2, 53), 1);
    let capture = busy.udp(1, (3, 5000), (2, 53), 1).udp(10, (3, 5000), (2, 53), 1);
    stdin.write_all(&capture.0).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    // The input is still open: this would wait for ever if the first interval did.
    assert!(lines.next().unwrap().ends_with(": 3 packets, 129 bytes, 2 flows"));
    assert!(lines.next().unwrap().starts_with("ts "));
    assert!(lines.next().unwrap().contains("10.0.0.1"));
    assert_eq!(lines.next().unwrap(), "");
    drop(stdin);
    assert!(lines.next().unwrap().ends_with(": 1 packets, 43 bytes, 1 flows"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn tables_of_flows_merge_and_a_capture_counts_once() {
    let folder = Folder::new();
    folder.write("a.pcap", &Capture::new().udp(0, (1, 5000), (2, 53), 30).0);
    folder.write("b.pcap", &Capture::new().udp(9, (2, 53), (1, 5000), 40).0);
    folder.run(&["flows", "a.pcap", "--into", "a.bwt"]).stdout_of_success();
    folder.run(&["flows", "b.pcap", "--into", "b.bwt"]).stdout_of_success();
    let told = folder.run(&["table", "merge", "a.bwt", "b.bwt", "a.bwt", "--into", "ab.bwt"]);
    assert_eq!(
        told.stdout_of_success(),
        "a.bwt: added: 1 flow of 1 capture, 1 of them new\nb.bwt: added: 1 flow of 1 capture, 0 of them new\n\
         a.bwt: already counted, all of its captures, a.pcap among them\nab.bwt: holds 1 flow of 2 captures\n"
    );
    folder.run(&["flows", "a.pcap", "b.pcap", "--into", "once.bwt"]).stdout_of_success();
    let flows = |table: &str| folder.run(&["flows", "--from", table, "--json"]).stdout_of_success();
    assert_eq!(flows("ab.bwt"), flows("once.bwt"));
    let outcome = folder.run(&["table", "merge", "ab.bwt", "--into", "a.bwt"]);
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("found 1 of 2 counted, a.pcap among them"),
        "{}",
        outcome.stderr
    );
}
