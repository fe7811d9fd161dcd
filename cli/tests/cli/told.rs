//! Messages to people: tips for the habits of other tools, what was not found, how much was written.

use crate::capture::mixed;
use crate::pseudo_terminal::run_on_terminal;
use crate::run::{Folder, Outcome};
use crate::sample;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder
}

#[test]
fn a_filter_among_the_captures_is_an_error_that_says_how_to_write_it() {
    let folder = folder();
    for args in [
        &["packets", "mixed.pcap", "tcp", "port", "80"][..],
        &["packets", "mixed.pcap", "tcp port 80"],
        &["flows", "mixed.pcap", "tcp", "port", "80"],
        &["rpc", "mixed.pcap", "tcp port 80"],
        &["report", "mixed.pcap", "tcp port 80", "-o", "r.html"],
        &["cut", "mixed.pcap", "tcp port 80", "-o", "out.pcap"],
    ] {
        let told = folder.run(args);
        assert_eq!((told.code, told.stdout.as_str()), (2, ""), "{args:?}");
        assert!(told.stderr.contains("--filter 'tcp port 80'"), "{args:?}: {}", told.stderr);
    }
    assert_eq!(folder.names(), ["mixed.pcap"]);
    folder.write("tcp", &mixed().0);
    assert_eq!(folder.run(&["packets", "mixed.pcap", "tcp"]).code, 0);
}

#[test]
fn names_of_fields_in_wireshark_lead_to_those_here() {
    let folder = folder();
    for (args, name) in [
        (&["packets", "mixed.pcap", "--where", "ip.src == 10.0.0.1"][..], "here it is src_ip\n"),
        (&["packets", "mixed.pcap", "--where", "tcp.port == 80"], "here it is port\n"),
        (&["packets", "mixed.pcap", "--where", "tcp.flags.syn"], "here it is tcp_flags has SYN\n"),
        (&["packets", "mixed.pcap", "--where", "tcp port 80"], "here it is proto == tcp, and the"),
        (&["flows", "mixed.pcap", "--where", "ip.addr == 10.0.0.1"], "here it is host\n"),
        (&["packets", "mixed.pcap", "--fields", "frame.len"], "here it is length. `--fields help`"),
        (&["flows", "mixed.pcap", "--fields", "tcp.port"], "here it is src_port and dst_port. `"),
        (&["packets", "mixed.pcap", "--group-by", "udp.dstport"], "here it is dst_port\n"),
        (&["packets", "mixed.pcap", "--where", "tcp.stream == 1"], "flows have it as community_id"),
    ] {
        let told = folder.run(args);
        assert_eq!(told.code, 2, "{args:?}");
        assert!(told.stderr.contains(name), "{args:?}: {}", told.stderr);
    }
}

#[test]
fn a_condition_that_is_taken_for_a_filter_is_told() {
    let folder = folder();
    let told = folder.run(&["packets", "mixed.pcap", "--filter", "dst_port == 53"]);
    assert_eq!(told.code, 2);
    if !told.stderr.contains("expected libpcap") {
        let expected = "it is a condition on fields, as the option where of packets takes it";
        assert!(told.stderr.contains(expected), "{}", told.stderr);
    }
    let told = folder.run(&["packets", "mixed.pcap", "--filter", "tcp prot 53"]);
    assert!(!told.stderr.contains("condition"), "{}", told.stderr);
}

#[test]
fn people_are_told_that_nothing_was_found_and_programs_see_it() {
    let folder = folder();
    let nothing = ["--where", "length > 1e9"];
    for (args, found) in [
        (&["packets", "mixed.pcap"][..], "found no packets"),
        (&["packets", "mixed.pcap", "--sum", "length"], "found no groups of packets"),
    ] {
        let told = folder.run(&[args, &nothing].concat());
        assert_eq!((told.code, told.stdout.as_str()), (0, ""), "{args:?}");
        assert!(told.stderr.contains(found), "{args:?}: {}", told.stderr);
        let told = folder.run(&[args, &nothing, &["--json"]].concat());
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{args:?}");
    }
    let flows = ["flows", "mixed.pcap", "--where", "bytes > 1e12"];
    assert!(folder.run(&flows).stderr.contains("found no flows"));
    let cut = folder.run(&[&["cut", "mixed.pcap", "-o", "out.pcap"], &nothing[..]].concat());
    assert!(cut.stderr.contains("found no packets"), "{}", cut.stderr);
    assert!(folder.run(&["cut", "mixed.pcap", "-o", "all.pcap"]).stderr.is_empty());
}

#[test]
fn on_a_terminal_cut_says_how_many_packets_it_wrote() {
    let folder = folder();
    let cut = folder.command(&["cut", "mixed.pcap", "-o", "out.pcap"]);
    let Some(Outcome { stdout: told, .. }) = run_on_terminal(cut, 80) else { return };
    let packets = folder.run(&["packets", "mixed.pcap", "--csv"]).stdout_of_success();
    let count = packets.lines().count() - 1;
    assert!(told.contains(&format!("wrote {count} packets to out.pcap")), "{told}");
}

#[test]
fn a_table_that_no_capture_came_into_is_not_told_of() {
    let folder = folder();
    let told = folder.run(&["flows", "absent.pcap", "--into", "new.bwt"]);
    assert_eq!((told.code, told.stdout.as_str()), (1, ""));
    assert!(told.stderr.contains("absent.pcap: cannot open"), "{}", told.stderr);
    assert_eq!(folder.names(), ["mixed.pcap"]);
}

#[test]
fn cells_that_a_spreadsheet_would_compute_are_made_texts_where_that_is_asked_for() {
    let folder = folder();
    folder.run(&["table", "put", "t.bwt", "=1+1", "-2"]).stdout_of_success();
    let scan = |option: &str| folder.run(&["table", "scan", "t.bwt", option]).stdout_of_success();
    assert_eq!(scan("--csv"), "key,value\n=1+1,-2\n");
    assert_eq!(scan("--csv-safe"), "key,value\n'=1+1,'-2\n");
    let packets = |option: &str| folder.run(&["packets", "mixed.pcap", option]).stdout_of_success();
    assert_eq!(packets("--csv-safe"), packets("--csv"));
    for args in [&["--csv-safe", "--json"], &["--csv-safe", "--parquet=x"]] {
        assert_eq!(
            folder.run(&[&["packets", "mixed.pcap"], &args[..]].concat()).code,
            2,
            "{args:?}"
        );
    }
}

#[test]
fn people_see_the_addresses_of_arp_where_programs_see_that_there_is_no_ip() {
    let folder = Folder::new();
    let Some(web) = sample("web.pcap.gz") else { return eprintln!("skipped: no samples") };
    let arp = ["packets", &web, "--where", "arp_op > 0"];
    let fields = [&arp[..], &["--fields", "arp_src_ip,arp_dst_ip", "--csv"]].concat();
    let known = folder.run(&fields).stdout_of_success();
    assert!(known.lines().count() > 1);
    let people = folder.run(&arp).stdout_of_success();
    assert_eq!(people.lines().count(), known.lines().count());
    for (row, addresses) in people.lines().zip(known.lines()).skip(1) {
        let columns: Vec<&str> = row.split_whitespace().skip(1).take(2).collect();
        assert_eq!(columns.join(","), addresses);
    }
    let programs = folder.run(&[&arp[..], &["--csv"]].concat()).stdout_of_success();
    assert!(programs.lines().skip(1).all(|row| row.split(',').nth(1) == Some("")), "{programs}");
    let named = folder.run(&[&arp[..], &["--fields", "src_ip"]].concat()).stdout_of_success();
    assert!(named.lines().skip(1).all(|row| row == "-"), "{named}");
}
