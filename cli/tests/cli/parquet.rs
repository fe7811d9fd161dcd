//! `--parquet`: which file is there afterwards, and what is told. What it has is compared with the printed rows by
//! programs that read such files (core/tests/columns).

use std::fs;

use crate::capture::mixed;
use crate::run::Folder;

/// Bytes that a Parquet file begins and ends with.
const MAGIC: &[u8] = b"PAR1";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder
}

fn is_whole(bytes: &[u8]) -> bool {
    bytes.len() > 100 && bytes.starts_with(MAGIC) && bytes.ends_with(MAGIC)
}

#[test]
fn packets_flows_and_calls_go_to_a_file_and_nothing_is_printed() {
    let folder = folder();
    for args in
        [&["packets"][..], &["flows"], &["flows", "--top", "1"], &["rpc"], &["rpc", "--calls"]]
    {
        let args = [args, &["mixed.pcap", "--parquet", "rows.parquet"]].concat();
        assert_eq!(folder.run(&args).stdout_of_success(), "", "{args:?}");
        assert!(is_whole(&folder.read("rows.parquet")), "{args:?}");
        assert_eq!(folder.names(), ["mixed.pcap", "rows.parquet"]);
        fs::remove_file(folder.path("rows.parquet")).unwrap();
    }
}

#[test]
fn a_file_that_has_the_name_is_replaced_by_the_whole_one() {
    let folder = folder();
    folder.write("rows.parquet", b"what was there");
    folder.run(&["packets", "mixed.pcap", "--parquet", "rows.parquet"]).stdout_of_success();
    assert!(is_whole(&folder.read("rows.parquet")));
}

#[test]
fn of_a_damaged_capture_the_packets_before_the_damage_are_in_the_file_and_the_exit_code_says_so() {
    let folder = Folder::new();
    folder.write("cut.pcap", &mixed().cut(5).0);
    let outcome = folder.run(&["packets", "cut.pcap", "--parquet", "rows.parquet"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
    assert!(outcome.stderr.contains("before the input ends"), "{}", outcome.stderr);
    assert!(is_whole(&folder.read("rows.parquet")));
}

#[test]
fn a_file_that_cannot_be_made_is_told_before_anything_is_read() {
    let folder = folder();
    for command in ["packets", "flows", "rpc"] {
        let outcome =
            folder.run(&[command, "absent.pcap", "--parquet", "no/such/folder/rows.parquet"]);
        assert_eq!(outcome.code, 1, "{command}");
        let told = "bytewright: no/such/folder/rows.parquet: cannot create a file beside: No such file or directory\n";
        assert_eq!(outcome.stderr, told, "{command}");
    }
    let outcome = folder.run(&["packets", "mixed.pcap", "--parquet", "/dev/full"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{}", outcome.stderr);
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let folder = folder();
    for fields in ["ts,length,ts", "length,length"] {
        let args = ["packets", "mixed.pcap", "--fields", fields, "--parquet", "rows.parquet"];
        let outcome = folder.run(&args);
        assert_eq!((outcome.code, folder.names()), (2, vec!["mixed.pcap".to_owned()]));
        assert!(
            outcome.stderr.contains("expected columns of different names"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn choices_of_columns_want_a_file_of_columns() {
    let folder = folder();
    for choice in [&["--signed"][..], &["--timestamps", "us"], &["--addresses", "binary"]] {
        let args = [&["packets", "mixed.pcap"], choice].concat();
        let outcome = folder.run(&args);
        assert_eq!(outcome.code, 2, "{choice:?}");
        assert!(outcome.stderr.contains("--parquet <FILE>"), "{}", outcome.stderr);
    }
    for form in ["--json", "--csv"] {
        let args = ["packets", "mixed.pcap", form, "--parquet", "rows.parquet"];
        assert_eq!(folder.run(&args).code, 2, "{form}");
    }
    let args = ["flows", "mixed.pcap", "--into", "table.bwt", "--parquet", "rows.parquet"];
    assert_eq!(folder.run(&args).code, 2);
    assert_eq!(folder.names(), ["mixed.pcap"]);
}
