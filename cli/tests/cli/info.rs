//! `bytewright info`.

use crate::capture::{Capture, gzip, mixed};
use crate::run::Folder;
use crate::sample;

#[test]
fn a_capture_is_described_for_people() {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    assert_eq!(
        folder.run(&["info", "mixed.pcap"]).stdout_of_success(),
        "\
mixed.pcap
  format       pcap 2.4, little-endian
  compression  none
  size         416 bytes
  packets      4
  bytes        328 on the wire, 328 captured
  first        2023-11-14T22:13:20.000005000Z
  last         2023-11-14T22:13:23.000005000Z
  time span    3.000000 s
  per second   1.3 packets, 109 bytes on the wire
  traffic      ▅         █         ▄         ▄ 142 bytes at most in 100 ms
  content id   29ef2581374c5a4fea719eb9e9361a1d
  link type    ETHERNET (1): 4 packets
  sections     1
  interface 0  ETHERNET (1), cut at 262144 bytes, times in us
  damage       none
"
    );
}

#[test]
fn packets_at_one_time_or_none_have_no_line_of_traffic() {
    let folder = Folder::new();
    folder.write("one.pcap", &Capture::new().other(1).other(1).0);
    folder.write("none.pcap", &Capture::new().0);
    let shown = folder.run(&["info", "one.pcap", "none.pcap"]).stdout_of_success();
    assert!(!shown.contains("traffic") && !shown.contains("per second"), "{shown}");
    let one = folder.run(&["info", "one.pcap", "--json"]).stdout_of_success();
    assert!(one.contains(r#""packets_per_second":null,"bytes_per_second":null"#), "{one}");
}

#[test]
fn json_escapes_the_name_and_tells_compression() {
    let folder = Folder::new();
    let compressed = gzip(&mixed().0);
    folder.write("a \"b\".pcap", &compressed);
    let expected = format!(
        concat!(
            r#"{{"file":"a \"b\".pcap","format":"pcap","version":"2.4","byte_order":"little","#,
            r#""compression":"gzip","file_bytes":{},"content_bytes":416,"packets":4,"bytes":328,"#,
            r#""captured_bytes":328,"first_ts":1700000000000005000,"last_ts":1700000003000005000,"#,
            r#""packets_per_second":1.3333333333333333,"bytes_per_second":109.33333333333333,"#,
            r#""sections":1,"interfaces":[{{"link_type":1,"link_type_name":"ETHERNET","#,
            r#""snaplen":262144,"time_unit":"us","name":null}}],"#,
            r#""content_id":"29ef2581374c5a4fea719eb9e9361a1d","sha256":null,"#,
            r#""link_types":[{{"link_type":1,"name":"ETHERNET","packets":4}}],"damage":null}}"#,
            "\n"
        ),
        compressed.len()
    );
    assert_eq!(folder.run(&["info", "--json", "a \"b\".pcap"]).stdout_of_success(), expected);
}

#[test]
fn the_content_id_is_that_of_the_packets_whatever_the_file_is() {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder.write("mixed.pcap.gz", &gzip(&mixed().0));
    folder.write("other.pcap", &mixed().other(1).0);
    folder.run(&["cut", "mixed.pcap", "-o", "mixed.pcapng.zst"]).stdout_of_success();
    let files = ["mixed.pcap", "mixed.pcap.gz", "mixed.pcapng.zst", "other.pcap"];
    let shown = folder.run(&[&["info"][..], &files].concat()).stdout_of_success();
    let ids: Vec<_> =
        shown.lines().filter_map(|line| line.trim().strip_prefix("content id")).collect();
    assert_eq!((ids[0], ids[0]), (ids[1], ids[2]));
    assert_ne!(ids[0], ids[3]);
}

#[test]
fn damage_is_told_with_its_place_in_the_description_and_as_an_error() {
    let folder = Folder::new();
    folder.write("cut.pcap", &mixed().cut(10).0);
    let outcome = folder.run(&["info", "cut.pcap", "--json"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stdout.contains(r#""packets":3,"#), "{}", outcome.stdout);
    assert!(outcome.stdout.contains(r#""damage":{"offset":"#), "{}", outcome.stdout);
    assert!(outcome.stderr.starts_with("bytewright: cut.pcap: byte "), "{}", outcome.stderr);
}

#[test]
fn what_is_no_capture_has_no_description() {
    let folder = Folder::new();
    folder.write("letter.txt", b"Dear reader, this is no capture at all.");
    folder.write("empty", b"");
    for name in ["letter.txt", "empty"] {
        let outcome = folder.run(&["info", name]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
        assert!(outcome.stderr.starts_with(&format!("bytewright: {name}: ")), "{}", outcome.stderr);
    }
}

#[test]
fn every_interface_of_a_pcapng_file_is_listed() {
    let Some(file) = sample("interfaces.pcapng") else { return eprintln!("skipped: no samples") };
    let stdout = Folder::new().run(&["info", &file]).stdout_of_success();
    for line in [
        "  format       pcapng 1.0, little-endian",
        "  link type    ETHERNET (1): 86 packets",
        "  link type    RAW (101): 36 packets",
        "  interface 1  RAW (101), cut at 262144 bytes, times in ns, named gre1",
    ] {
        assert!(stdout.lines().any(|found| found == line), "{line:?} in {stdout}");
    }
}

/// The hash that the system's program tells of bytes; nothing, and a word about it, where there is none.
fn sha256(folder: &Folder, name: &str) -> Option<String> {
    let output = std::process::Command::new("sha256sum").arg(folder.path(name)).output();
    let Ok(output) = output else {
        eprintln!("gap: no sha256sum, so no hash was compared");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().next().map(str::to_owned)
}

#[test]
fn the_hash_is_that_of_the_file_as_it_lies_there_damaged_or_not_and_however_it_is_read() {
    let folder = Folder::new();
    let (whole, compressed) = (mixed().0, gzip(&mixed().0));
    folder.write("whole.pcap", &whole);
    folder.write("whole.pcap.gz", &compressed);
    folder.write("cut.pcap", &mixed().cut(5).0);
    // Damage in the middle, and a megabyte behind it that is not read for packets.
    folder.write("damaged.pcap", &[&whole[..60], &[0xff; 16], &vec![7; 1 << 20]].concat());
    folder.write(
        "damaged.pcap.gz",
        &[&compressed[..compressed.len() - 9], &vec![7; 1 << 20]].concat(),
    );
    folder.run(&["cut", "whole.pcap", "-o", "whole.pcapng.zst"]).stdout_of_success();
    for name in folder.names() {
        let Some(expected) = sha256(&folder, &name) else { return };
        for jobs in ["1", "4"] {
            let outcome = folder.run(&["info", &name, "--hash", "--json", "--jobs", jobs]);
            let told = format!("\"sha256\":\"{expected}\"");
            assert!(outcome.stdout.contains(&told), "{name}: {}{}", outcome.stdout, outcome.stderr);
        }
        let outcome = folder.run(&["info", &name, "--hash"]);
        assert!(outcome.stdout.contains(&format!("  sha-256      {expected}\n")), "{name}");
        let piped = folder.run_with_input(&["info", "-", "--hash"], &folder.read(&name));
        assert!(piped.stdout.contains(&expected), "{name}: {}{}", piped.stdout, piped.stderr);
    }
    let many = folder.run(&["info", "whole.pcap", "whole.pcap.gz", "--hash", "--jobs", "4"]);
    assert_eq!(many.stdout_of_success().matches("sha-256").count(), 2);
    let plain = folder.run(&["info", "whole.pcap"]).stdout_of_success();
    assert!(!plain.contains("sha-256"), "{plain}");
}

#[test]
fn an_index_beside_a_capture_changes_no_hash() {
    let folder = Folder::new();
    folder.write("whole.pcap.gz", &gzip(&mixed().0));
    folder.run(&["packets", "whole.pcap.gz", "--index"]).stdout_of_success();
    let Some(expected) = sha256(&folder, "whole.pcap.gz") else { return };
    let shown = folder.run(&["info", "whole.pcap.gz", "--hash"]).stdout_of_success();
    assert!(shown.contains(&expected), "{shown}");
}
