//! Questions that are asked by their name: `bytewright endpoints`.

use crate::capture::mixed;
use crate::run::Folder;

const ONCE: &str = r#"{"address":"10.0.0.2","packets":3,"bytes":268,"sent_packets":1,"sent_bytes":142,"received_packets":2,"received_bytes":126,"groups":1}
{"address":"10.0.0.1","packets":2,"bytes":214,"sent_packets":1,"sent_bytes":72,"received_packets":1,"received_bytes":142,"groups":1}
{"address":"10.0.0.3","packets":1,"bytes":54,"sent_packets":1,"sent_bytes":54,"received_packets":0,"received_bytes":0,"groups":1}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder
}

#[test]
fn endpoints_are_printed_in_each_form() {
    let folder = folder();
    assert_eq!(folder.run(&["endpoints", "mixed.pcap", "--json"]).stdout_of_success(), ONCE);
    let csv = folder.run(&["endpoints", "mixed.pcap", "--csv", "--top", "1"]).stdout_of_success();
    assert_eq!(csv.lines().nth(1), Some("10.0.0.2,3,268,1,142,2,126,1"));
    folder.run(&["endpoints", "mixed.pcap", "--parquet", "rows.parquet"]).stdout_of_success();
    assert_eq!(folder.names(), ["mixed.pcap", "rows.parquet"]);
}

#[test]
fn captures_are_one_run_and_those_that_cannot_be_read_are_told() {
    let folder = folder();
    folder.write("cut.pcap", &mixed().cut(5).0);
    let outcome = folder.run(&["endpoints", "mixed.pcap", "absent.pcap", "cut.pcap", "--csv"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("absent.pcap"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("before the input ends"), "{}", outcome.stderr);
    let rows: Vec<_> = outcome.stdout.lines().skip(1).collect();
    // The last packet of the second capture is cut.
    assert_eq!(
        rows,
        [
            "10.0.0.2,5,482,2,284,3,198,1",
            "10.0.0.1,4,428,2,144,2,284,1",
            "10.0.0.3,1,54,1,54,0,0,1"
        ]
    );
}

#[test]
fn options_are_checked_before_anything_is_read() {
    let folder = folder();
    for (option, told) in [
        ("--where=dst_prt == 1", "'--where <WHERE>': condition, column 1: expected a field"),
        ("--every=0", "'--every <SECONDS>': expected an interval of a nanosecond or more"),
        ("--top=-1", "expected top of 0 or more"),
    ] {
        let outcome = folder.run(&["endpoints", "absent.pcap", option]);
        assert_eq!(outcome.code, 2, "{option}");
        assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    }
    let minutes = folder.run(&["endpoints", "mixed.pcap", "--every", "1m", "--csv"]);
    assert!(minutes.stdout_of_success().starts_with("ts,address,"));
}
