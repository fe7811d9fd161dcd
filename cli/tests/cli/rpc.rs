//! `bytewright rpc`.

use std::process::Stdio;

use crate::capture::mixed;
use crate::run::Folder;
use crate::sample;

/// The sample with Thrift, and the IDL file of what is in it.
fn warehouse() -> Option<(String, String)> {
    Some((sample("warehouse.pcap.zst")?, sample("warehouse.thrift")?))
}

/// The first column of CSV rows.
fn names(csv: &str) -> Vec<&str> {
    csv.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect()
}

#[test]
fn calls_are_summed_up_by_method_in_every_format() {
    let Some((capture, _)) = warehouse() else { return };
    let folder = Folder::new();
    let csv = folder.run(&["rpc", &capture, "--csv"]).stdout_of_success();
    assert_eq!(
        csv.lines().take(2).collect::<Vec<_>>(),
        [
            "method,calls,errors,failures,unanswered,oneway,p50,p99,max,request_bytes,reply_bytes",
            "audit,61,61,61,0,0,720,33022,33022,1410,2708"
        ]
    );
    let expected = ["audit", "find", "log", "picture", "ping", "reserve", "search", "weigh"];
    assert_eq!(names(&csv), expected);
    assert!(csv.contains("\nlog,254,0,0,0,254,,,,10521,0\n"), "{csv}");
    let json = folder.run(&["rpc", &capture, "--json"]).stdout_of_success();
    let log = concat!(
        r#"{"method":"log","calls":254,"errors":0,"failures":0,"unanswered":0,"oneway":254,"#,
        r#""p50":null,"p99":null,"max":null,"request_bytes":10521,"reply_bytes":0}"#
    );
    assert!(json.contains(log), "{json}");
    let people = folder.run(&["rpc", &capture, "--top", "2"]).stdout_of_success();
    let expected = [
        "method  calls  errors  unanswered       p50       p99       max  request_bytes  reply_bytes\n",
        "find      622      75           0  0.000720  0.004456  0.007053          15388        45517\n",
        "ping      567       0           0  0.000655  0.004325  0.032893           8335         8335\n",
    ];
    assert_eq!(people, expected.concat());
}

#[test]
fn the_largest_methods_come_first_by_whatever_they_are_measured() {
    let Some((capture, _)) = warehouse() else { return };
    let folder = Folder::new();
    let top = |by: &str| {
        let args = ["rpc", &capture, "--csv", "--top", "2", "--by", by];
        let csv = folder.run(&args).stdout_of_success();
        names(&csv).join(" ")
    };
    assert_eq!(top("calls"), "find ping");
    assert_eq!(top("p99"), "audit picture");
    assert_eq!(top("bytes"), "picture find");
    assert_eq!(top("errors"), "find audit");
}

#[test]
fn calls_are_printed_one_by_one_with_values_by_an_idl_file() {
    let Some((capture, idl)) = warehouse() else { return };
    let folder = Folder::new();
    let csv = folder.run(&["rpc", &capture, "--calls", "--csv"]).stdout_of_success();
    assert_eq!(csv.lines().count(), 2413);
    assert!(csv.contains(
        "\n1795340845122494349,127.0.0.1,43742,127.0.0.1,9093,framed-compact,ping,0,returned,1501,13,13\n"
    ));
    let args = ["rpc", &capture, "--calls", "--json", "--idl", &idl, "--service", "NextStore"];
    let json = folder.run(&args).stdout_of_success();
    assert_eq!(json.lines().count(), 2412);
    for values in [
        r#""method":"find","sequence_id":0,"outcome":"returned","latency":3075,"request_bytes":32,"reply_bytes":113,"arguments":{"name":"file"},"result":{"success":{"name":"file","price_cents":41600,"unit":"PIECE","tags":["heavy","grey"],"stock":{"north":4,"süd":40}}}}"#,
        r#""arguments":{"name":"unicorn"},"result":{"not_found":{"name":"unicorn"}}}"#,
        r#""result":{"message":"Unknown function audit","type":1}}"#,
        r#""outcome":"oneway","latency":null,"request_bytes":32,"reply_bytes":null,"arguments":{"line":"engine was seen","at":384491259527},"result":null}"#,
    ] {
        assert!(json.contains(values), "{values}");
    }
    let one = ["--method", "reserve", "--json"];
    let sums = folder.run(&[&["rpc", &capture][..], &one].concat()).stdout_of_success();
    assert!(sums.contains(r#""method":"reserve""#) && sums.lines().count() == 1, "{sums}");
    let calls = folder.run(&[&["rpc", &capture, "--calls"][..], &one].concat());
    let is_of = |line: &str| line.contains(r#""method":"reserve""#);
    assert!(calls.stdout_of_success().lines().all(is_of));
    // A service has its own methods and those of the services that it extends.
    let args = ["rpc", &capture, "--csv", "--idl", &idl, "--service", "Catalog"];
    assert_eq!(names(&folder.run(&args).stdout_of_success()), ["find", "search"]);
    let outcome = folder.run(&["rpc", &capture, "--idl", &idl]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("found Catalog, Store, NextStore"), "{}", outcome.stderr);
}

#[test]
fn a_table_adds_up_and_counts_no_capture_twice() {
    let Some((capture, _)) = warehouse() else { return };
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    let args = ["rpc", &capture, "mixed.pcap", "--into", "t.bwt"];
    assert_eq!(
        folder.run(&args).stdout_of_success(),
        format!(
            "{capture}: added: 4930 packets, 2412 calls\nmixed.pcap: added: 4 packets, 0 calls\n\
             t.bwt: holds 8 methods of 2 captures\n"
        )
    );
    let again = folder.run(&["rpc", &capture, "--into", "t.bwt", "--json"]).stdout_of_success();
    assert!(
        again.contains(r#""added":false,"packets":4930,"calls":2412,"counted_as":""#),
        "{again}"
    );
    let stored = folder.run(&["rpc", "--from", "t.bwt", "--csv"]).stdout_of_success();
    assert_eq!(stored, folder.run(&["rpc", &capture, "--csv"]).stdout_of_success());
    let outcome = folder.run(&["flows", "mixed.pcap", "--into", "t.bwt"]);
    assert_eq!(outcome.code, 1);
    let expected =
        "bytewright: t.bwt: expected a table of flows, found a table of something else\n";
    assert_eq!(outcome.stderr, expected);
}

#[test]
fn captures_without_thrift_give_no_methods_and_csv_a_header() {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    let told = folder.run(&["rpc", "mixed.pcap"]);
    assert_eq!((told.code, told.stdout.as_str()), (0, ""));
    assert_eq!(told.stderr, "bytewright: found no methods\n");
    let csv = folder.run(&["rpc", "mixed.pcap", "--csv"]).stdout_of_success();
    assert_eq!(csv.lines().count(), 1);
}

#[test]
fn a_damaged_capture_gives_what_is_before_the_damage() {
    let folder = Folder::new();
    folder.write("cut.pcap", &mixed().cut(10).0);
    let outcome = folder.run(&["rpc", "cut.pcap", "--json"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
    assert!(outcome.stderr.starts_with("bytewright: cut.pcap: byte "), "{}", outcome.stderr);
}

#[test]
fn calls_from_a_pipe_are_printed_as_they_are_over() {
    use std::io::{BufRead, BufReader, Read, Write};
    let Some(warehouse) = sample("warehouse.pcap.zst") else {
        return eprintln!("skipped: no samples");
    };
    let folder = Folder::new();
    let whole = folder.run(&["rpc", &warehouse, "--calls", "--csv"]).stdout_of_success();
    let mut child = folder
        .command(&["rpc", "-", "--calls", "--csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = std::fs::read(&warehouse).unwrap();
    // A sixth of it has fewer calls than are printed together.
    let (beginning, rest) = bytes.split_at(bytes.len() / 6);
    stdin.write_all(beginning).unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    // The input is still open: this would wait for ever if calls waited for each other.
    let mut seen = String::new();
    (0..3).for_each(|_| assert!(output.read_line(&mut seen).unwrap() > 0));
    stdin.write_all(rest).unwrap();
    drop(stdin);
    output.read_to_string(&mut seen).unwrap();
    assert_eq!(seen, whole);
    assert!(child.wait().unwrap().success());
}
