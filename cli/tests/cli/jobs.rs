//! Output of the command is byte for byte the same, whatever `--jobs` is.

use std::path::Path;

use crate::capture::Capture;
use crate::run::Folder;

/// Whole and damaged captures, one that is none, and one that is not there.
fn captures(folder: &Folder) -> Vec<&'static str> {
    let mut capture = Capture::new();
    for second in 0..600 {
        let (from, to) = ((second as u8 % 50, 1000 + second as u16 % 7), (200, 53));
        capture = capture.udp(second, from, to, 1200).tcp(second, from, to, 2);
    }
    let Capture(whole) = capture;
    let large = (0..4).fold(whole.clone(), |all, _| [all, whole[24..].to_vec()].concat());
    folder.write("whole.pcap", &whole);
    folder.write("large.pcap", &large);
    folder.write("cut.pcap", &whole[..whole.len() - 700]);
    folder.write("large-cut.pcap", &large[..large.len() - 9]);
    folder.write("none.pcap", b"no capture at all");
    folder.write("empty.pcap", &whole[..24]);
    vec![
        "large.pcap",
        "cut.pcap",
        "none.pcap",
        "whole.pcap",
        "absent.pcap",
        "large-cut.pcap",
        "empty.pcap",
        "whole.pcap",
    ]
}

/// Runs the command with several numbers of threads, on the captures in several orders.
fn is_the_same_for_all_jobs(args: &[&str]) {
    let folder = Folder::new();
    let mut files = captures(&folder);
    for _ in 0..2 {
        let run = |jobs: &str| {
            let args = [args, &["--jobs", jobs], &files].concat();
            let outcome = folder.run(&args);
            (outcome.stdout, outcome.stderr, outcome.code)
        };
        let expected = run("1");
        assert!(!expected.0.is_empty() && !expected.1.is_empty());
        for jobs in ["2", "3", "30"] {
            assert!(run(jobs) == expected, "{args:?} on {jobs} threads");
        }
        files.reverse();
    }
}

#[test]
fn info_does_not_depend_on_the_number_of_threads() {
    is_the_same_for_all_jobs(&["info"]);
    is_the_same_for_all_jobs(&["info", "--json"]);
}

#[test]
fn packets_do_not_depend_on_the_number_of_threads() {
    is_the_same_for_all_jobs(&["packets"]);
    is_the_same_for_all_jobs(&["packets", "--csv"]);
    is_the_same_for_all_jobs(&["packets", "--json", "--limit", "5000"]);
}

#[test]
fn flows_do_not_depend_on_the_number_of_threads() {
    is_the_same_for_all_jobs(&["flows"]);
    is_the_same_for_all_jobs(&["flows", "--json", "--idle-timeout", "3", "--max-flows", "40"]);
    is_the_same_for_all_jobs(&["flows", "--top", "3", "--by", "packets"]);
}

#[test]
fn calls_do_not_depend_on_the_number_of_threads() {
    let (Some(calls), Some(idl)) =
        (crate::sample("warehouse.pcap.zst"), crate::sample("warehouse.thrift"))
    else {
        return;
    };
    let folder = Folder::new();
    for args in [&["rpc"][..], &["rpc", "--calls", "--json", "--idl", &idl]] {
        let run = |jobs| folder.run(&[args, &["--jobs", jobs, &calls, &calls]].concat()).stdout;
        assert_eq!(run("2"), run("1"));
    }
}

#[test]
fn a_table_that_captures_are_merged_into_does_not_depend_on_the_number_of_threads() {
    for command in ["flows", "rpc"] {
        let folder = Folder::new();
        let files = captures(&folder);
        let merge = |jobs: &str| {
            let args =
                [&[command, "--jobs", jobs, "--json", "--into", "all.bwt"], &files[..]].concat();
            let outcome = folder.run(&args);
            let stored = folder.run(&[command, "--from", "all.bwt", "--json"]);
            std::fs::remove_file(folder.path("all.bwt")).unwrap();
            (outcome.stdout, outcome.stderr, outcome.code, stored.stdout)
        };
        let expected = merge("1");
        for jobs in ["2", "30"] {
            assert!(merge(jobs) == expected, "{command} on {jobs} threads");
        }
    }
}

#[test]
fn standard_input_that_is_named_twice_is_read_once_and_in_its_turn() {
    let folder = Folder::new();
    captures(&folder);
    let input = folder.read("whole.pcap");
    let run = |jobs| {
        let args = ["flows", "--jobs", jobs, "cut.pcap", "-", "large.pcap", "-"];
        let outcome = folder.run_with_input(&args, &input);
        (outcome.stdout, outcome.stderr, outcome.code)
    };
    let (stdout, stderr, code) = run("4");
    assert!(stderr.contains("standard input"), "{stderr}");
    assert_eq!((stdout, stderr, code), run("1"));
}

#[test]
fn jobs_are_a_number_of_threads_and_at_least_one() {
    let folder = Folder::new();
    captures(&folder);
    for jobs in ["0", "-1", "many"] {
        assert_eq!(folder.run(&["info", "--jobs", jobs, "whole.pcap"]).code, 2);
    }
    let outcome = folder.run(&["flows", "--from", "all.bwt", "--jobs", "2"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
}

#[test]
fn collected_captures_print_the_same_on_any_number_of_threads() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/captures");
    let corpus = std::env::var_os("BYTEWRIGHT_CAPTURES").map_or(beside, Into::into);
    let Ok(manifest) = std::fs::read_to_string(corpus.join("MANIFEST.tsv")) else {
        println!("skipped: there is no folder of captures (BYTEWRIGHT_CAPTURES names one)");
        return;
    };
    let name = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    let path = |name: String| corpus.join(name).to_string_lossy().into_owned();
    let mut files: Vec<String> = manifest.lines().skip(1).map(name).map(path).collect();
    let folder = Folder::new();
    for _ in 0..2 {
        for command in [&["info", "--json"][..], &["flows"], &["packets", "--csv"]] {
            let run = |jobs| {
                let mut args = [command, &["--jobs", jobs]].concat();
                args.extend(files.iter().map(String::as_str));
                let outcome = folder.run(&args);
                (outcome.stdout, outcome.stderr, outcome.code)
            };
            assert!(run("3") == run("1"), "{command:?}");
        }
        files.reverse();
    }
}
