//! `bytewright packets`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::capture::{Capture, gzip, mixed, zstd};
use crate::run::Folder;
use crate::sample;

const MIXED_JSON: &str = r#"{"ts":1700000000000005000,"src_ip":"10.0.0.1","dst_ip":"10.0.0.2","src_port":5000,"dst_port":53,"proto":17,"length":72,"caplen":72,"vlan":null,"ttl":64,"tcp_flags":null,"payload_len":30}
{"ts":1700000001000005000,"src_ip":"10.0.0.2","dst_ip":"10.0.0.1","src_port":53,"dst_port":5000,"proto":17,"length":142,"caplen":142,"vlan":null,"ttl":64,"tcp_flags":null,"payload_len":100}
{"ts":1700000002000005000,"src_ip":null,"dst_ip":null,"src_port":null,"dst_port":null,"proto":null,"length":60,"caplen":60,"vlan":null,"ttl":null,"tcp_flags":null,"payload_len":null}
{"ts":1700000003000005000,"src_ip":"10.0.0.3","dst_ip":"10.0.0.2","src_port":40000,"dst_port":443,"proto":6,"length":54,"caplen":54,"vlan":null,"ttl":64,"tcp_flags":18,"payload_len":0}
"#;

const MIXED_CSV: &str = "\
ts,src_ip,dst_ip,src_port,dst_port,proto,length,caplen,vlan,ttl,tcp_flags,payload_len
1700000000000005000,10.0.0.1,10.0.0.2,5000,53,17,72,72,,64,,30
1700000001000005000,10.0.0.2,10.0.0.1,53,5000,17,142,142,,64,,100
1700000002000005000,,,,,,60,60,,,,
1700000003000005000,10.0.0.3,10.0.0.2,40000,443,6,54,54,,64,18,0
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder
}

#[test]
fn json_is_an_object_a_line_with_null_where_there_is_no_field() {
    let stdout = folder().run(&["packets", "mixed.pcap", "--json"]).stdout_of_success();
    assert_eq!(stdout, MIXED_JSON);
}

#[test]
fn csv_has_a_header_and_nothing_where_there_is_no_field() {
    let stdout = folder().run(&["packets", "--csv", "mixed.pcap"]).stdout_of_success();
    assert_eq!(stdout, MIXED_CSV);
}

#[test]
fn people_get_aligned_columns_with_times_and_names() {
    let args = ["packets", "mixed.pcap", "--fields", "ts,src_ip,src_port,proto,tcp_flags,length"];
    assert_eq!(
        folder().run(&args).stdout_of_success(),
        "\
ts                              src_ip    src_port  proto  tcp_flags  length
2023-11-14T22:13:20.000005000Z  10.0.0.1      5000  udp    -              72
2023-11-14T22:13:21.000005000Z  10.0.0.2        53  udp    -             142
2023-11-14T22:13:22.000005000Z  -                -  -      -              60
2023-11-14T22:13:23.000005000Z  10.0.0.3     40000  tcp    SA             54
"
    );
}

#[test]
fn fields_are_printed_in_the_order_asked_for() {
    let args = ["packets", "mixed.pcap", "--fields", "length,number", "--csv", "--limit", "2"];
    assert_eq!(folder().run(&args).stdout_of_success(), "length,number\n72,1\n142,2\n");
}

#[test]
fn help_lists_every_field_and_an_unknown_one_is_a_usage_error() {
    let folder = folder();
    let list = folder.run(&["packets", "--fields", "help"]).stdout_of_success();
    for name in ["ts", "src_ip", "payload_len", "arp_dst_ip"] {
        assert!(list.lines().any(|line| line.trim_start().starts_with(name)), "{name} in {list}");
    }
    let outcome = folder.run(&["packets", "mixed.pcap", "--fields", "ts,sourceport"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    assert!(
        outcome.stderr.contains("expected the name of a field, found 'sourceport'"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("payload_len"), "{}", outcome.stderr);
    let outcome = folder.run(&["packets", "mixed.pcap", "--fields", "ts,dst_prot"]);
    assert!(outcome.stderr.contains("'dst_prot' (did you mean 'dst_port'?)"), "{}", outcome.stderr);
}

#[test]
fn standard_input_and_compressed_files_are_read_like_plain_files() {
    let folder = folder();
    let plain = mixed().0;
    folder.write("named.wrongly", &gzip(&plain));
    folder.write("mixed.pcap.zst", &zstd(&plain));
    for args in [["packets", "--json", "named.wrongly"], ["packets", "--json", "mixed.pcap.zst"]] {
        assert_eq!(folder.run(&args).stdout_of_success(), MIXED_JSON);
    }
    for input in [plain.clone(), gzip(&plain), zstd(&plain)] {
        let outcome = folder.run_with_input(&["packets", "-", "--json"], &input);
        assert_eq!(outcome.stdout_of_success(), MIXED_JSON);
    }
}

#[test]
fn several_files_are_one_run_with_one_header_and_one_limit() {
    let folder = folder();
    let args = ["packets", "--csv", "mixed.pcap", "mixed.pcap", "--fields", "number"];
    assert_eq!(folder.run(&args).stdout_of_success(), "number\n1\n2\n3\n4\n1\n2\n3\n4\n");
    let args = [&args[..], &["--limit", "5"]].concat();
    assert_eq!(folder.run(&args).stdout_of_success(), "number\n1\n2\n3\n4\n1\n");
}

#[test]
fn a_file_behind_the_limit_is_not_read_and_is_told_of_if_it_is_missing() {
    let folder = folder();
    folder.write("cut.pcap", &mixed().cut(10).0);
    for (limit, rows) in [("0", "number\n"), ("2", "number\n1\n2\n")] {
        let args = ["packets", "mixed.pcap", "cut.pcap", "no.pcap", "--csv", "--fields", "number"];
        let outcome = folder.run(&[&args[..], &["--limit", limit]].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, rows));
        assert!(outcome.stderr.starts_with("bytewright: no.pcap: "), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    }
}

#[test]
fn a_damaged_file_gives_its_rows_and_an_error_and_the_next_file_is_read() {
    let folder = folder();
    folder.write("cut.pcap", &mixed().cut(10).0);
    let args = ["packets", "cut.pcap", "mixed.pcap", "--csv", "--fields", "number"];
    let outcome = folder.run(&args);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, "number\n1\n2\n3\n1\n2\n3\n4\n"));
    assert!(outcome.stderr.starts_with("bytewright: cut.pcap: byte "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("expected"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("found"), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
}

#[test]
fn a_missing_file_is_bad_data_and_the_next_file_is_read() {
    let args = ["packets", "no.pcap", "mixed.pcap", "--json"];
    let outcome = folder().run(&args);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, MIXED_JSON));
    assert!(outcome.stderr.starts_with("bytewright: no.pcap: "), "{}", outcome.stderr);
}

#[test]
fn a_filter_selects_packets_and_a_bad_one_is_a_usage_error() {
    let folder = folder();
    let args =
        ["packets", "mixed.pcap", "--csv", "--fields", "number", "--filter", "udp src port 53"];
    let outcome = folder.run(&args);
    if outcome.stderr.contains("expected libpcap") {
        assert_eq!(outcome.code, 2);
        return eprintln!("skipped: libpcap is absent");
    }
    assert_eq!(outcome.stdout_of_success(), "number\n2\n");
    let outcome = folder.run(&["packets", "mixed.pcap", "--filter", "udp src prot 53"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    assert!(outcome.stderr.contains("libpcap, found \"udp src prot 53\": "));
}

#[test]
fn whoever_closes_the_pipe_ends_the_run_without_a_word() {
    let folder = Folder::new();
    let mut capture = Capture::new();
    for second in 0..20_000 {
        capture = capture.udp(second, (1, 5000), (2, 53), 1);
    }
    folder.write("long.pcap", &capture.0);
    let mut command = folder.command(&["packets", "long.pcap", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"ts\":1700000000000005000,"));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(141), &b""[..]));
}

#[test]
fn packets_from_a_pipe_are_printed_as_they_come() {
    use std::io::Write;
    let folder = Folder::new();
    let mut command = folder.command(&["packets", "-", "--csv", "--fields", "number"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program runs");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&mixed().0).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The input is still open: this would wait for ever if the rows did.
    let seen: Vec<_> = lines.by_ref().take(5).map(Result::unwrap).collect();
    assert_eq!(seen, ["number", "1", "2", "3", "4"]);
    drop(stdin);
    assert!(lines.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_inner_packet_of_a_tunnel_is_shown_when_asked_for() {
    let Some(tunnels) = sample("tunnels.pcap") else { return eprintln!("skipped: no samples") };
    let folder = Folder::new();
    let protocols = |extra: &[&str]| {
        let args = [&["packets", &tunnels, "--csv", "--fields", "proto"], extra].concat();
        folder.run(&args).stdout_of_success()
    };
    let gre = |rows: &str| rows.lines().filter(|row| *row == "47").count();
    assert_eq!(gre(&protocols(&[])), 44 + 42 + 56);
    // Two carry Ethernet frames with ARP, which has no IP header to show instead.
    assert_eq!(gre(&protocols(&["--inner"])), 2);
}

#[test]
fn fields_of_frames_are_shown_grouped_by_and_selected_by() {
    let Some(path) = sample("interfaces.pcapng") else { return eprintln!("skipped: no samples") };
    let folder = Folder::new();
    let run = |args: &[&str]| {
        folder.run(&[&["packets", &path, "--csv"], args].concat()).stdout_of_success()
    };
    assert_eq!(
        run(&["--fields", "src_mac,dst_mac,interface,interface_name", "--limit", "1"]),
        "src_mac,dst_mac,interface,interface_name\n02:00:00:00:00:01,02:00:00:00:00:02,0,left\n"
    );
    for condition in ["src_mac == \"02:00:00:00:00:01\"", "interface_name in (\"left\")"] {
        let (shown, all) = (["--where", condition, "--fields", "number"], ["--fields", "number"]);
        let (shown, all) = (run(&shown).lines().count(), run(&all).lines().count());
        assert!(1 < shown && shown < all, "{condition}: {shown} of {all}");
    }
    let groups = run(&["--group-by", "interface_name,src_mac", "--sum", "length"]);
    let rows: Vec<_> = groups.lines().skip(1).collect();
    assert!(rows.contains(&"left,02:00:00:00:00:02,39,12346,1"), "{groups}");
    assert!(rows.contains(&"gre1,,36,7086,1"), "{groups}");
    let names = run(&["--group-by", "dns_query", "--where", "dns_type == 28"]);
    assert_eq!(names, "dns_query,packets,groups\nwww.example.test,4,1\n");
    // In pcap no interface is told, whatever number of threads reads it.
    folder.write("mixed.pcap", &mixed().0);
    for jobs in ["1", "3"] {
        let args = ["packets", "mixed.pcap", "mixed.pcap", "--csv", "--jobs", jobs];
        let rows =
            folder.run(&[&args[..], &["--fields", "interface,interface_name,src_mac"]].concat());
        let row = rows.stdout_of_success().lines().nth(1).map(str::to_owned);
        assert!(
            row.as_ref().is_some_and(|row| row.starts_with(",,") && row.len() == 19),
            "{row:?}"
        );
    }
}
