//! Goal: on a terminal, rows fit its width, use it, and say what there was no room for; numbers of bytes have units there, and
//! nowhere else.
//!
//! Method: pseudo-terminals of several widths.

use crate::capture::{Capture, mixed};
use crate::pseudo_terminal::run_on_terminal;
use crate::run::Folder;

/// Returns what the command prints on a terminal with so many columns; None if there are no terminals.
fn on_terminal(folder: &Folder, columns: u16, args: &[&str]) -> Option<Vec<String>> {
    let mut command = folder.command(args);
    command.env("NO_COLOR", "1").env("TERM", "dumb");
    let outcome = run_on_terminal(command, columns)?;
    assert_eq!(outcome.code, 0, "{args:?}: {}", outcome.stdout);
    let lines = outcome.stdout.lines();
    Some(lines.map(|line| line.trim_end_matches('\r').to_owned()).collect())
}

/// A capture with as many bytes as people need units for.
fn large() -> Vec<u8> {
    let mut capture = Capture::new();
    for number in 0..2000u32 {
        capture = capture.udp(number * 1000, (1, 1000), (2, 53), 1234);
    }
    capture.0
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mixed.pcap", &mixed().0);
    folder.write("large.pcap", &large());
    folder
}

/// Commands that print rows.
const ROWS: [&[&str]; 5] = [
    &["flows", "large.pcap"],
    &["flows", "mixed.pcap", "--top", "2"],
    &["packets", "mixed.pcap"],
    &["packets", "large.pcap", "--group-by", "src_ip,dst_ip,proto", "--sum", "length,caplen"],
    &[
        "packets",
        "mixed.pcap",
        "--fields",
        "number,ts,src_mac,dst_mac,dns_query,src_ip,dst_ip,length",
    ],
];

#[test]
fn rows_fit_the_terminal_and_say_which_columns_they_leave_out() {
    let folder = folder();
    for args in ROWS {
        let plain = folder.run(args).stdout_of_success();
        let whole: Vec<&str> = plain.lines().next().unwrap().split_whitespace().collect();
        for columns in [30, 60, 80, 100, 132] {
            let Some(lines) = on_terminal(&folder, columns, args) else { return };
            let is_told = |line: &&String| line.contains("the terminal is too narrow");
            let told = lines.iter().find(is_told);
            for line in lines.iter().filter(|line| !line.starts_with("bytewright: ")) {
                assert!(
                    line.chars().count() <= usize::from(columns),
                    "{args:?} in {columns}: {line}"
                );
            }
            let header: Vec<&str> = lines[0].split_whitespace().collect();
            let lacks: Vec<&str> = whole.iter().copied().filter(|c| !header.contains(c)).collect();
            match told {
                None => assert!(lacks.is_empty(), "{args:?} in {columns}: {lacks:?}"),
                Some(told) if !lacks.is_empty() => {
                    assert!(told.contains(&lacks.join(", ")), "{args:?} in {columns}: {told}");
                    let count = format!("{} column", lacks.len());
                    assert!(told.contains(&count), "{args:?} in {columns}: {told}");
                }
                Some(told) => assert!(told.contains("cut"), "{args:?} in {columns}: {told}"),
            }
            assert_eq!(
                lines.len(),
                plain.lines().count() + usize::from(told.is_some()),
                "{args:?}"
            );
        }
    }
}

#[test]
fn a_wide_terminal_shows_all_that_a_pipe_does() {
    let folder = folder();
    for args in ROWS {
        let args = [args, &["--bytes"]].concat();
        let plain = folder.run(&args).stdout_of_success();
        let Some(lines) = on_terminal(&folder, 250, &args) else { return };
        assert_eq!(lines, plain.lines().collect::<Vec<_>>(), "{args:?}");
    }
}

#[test]
fn a_number_is_never_cut_and_an_address_of_ipv4_neither() {
    let folder = folder();
    let plain = folder.run(&["flows", "mixed.pcap", "--csv"]).stdout_of_success();
    let Some(lines) = on_terminal(&folder, 40, &["flows", "mixed.pcap"]) else { return };
    let known: Vec<&str> = plain.split([',', '\n']).collect();
    let rows = lines.iter().skip(1).filter(|line| !line.starts_with("bytewright: "));
    for word in rows.flat_map(|line| line.split_whitespace()) {
        let is_time = word.contains('T');
        assert!(
            is_time
                || known.contains(&word)
                || word == "B"
                || word == "-"
                || word == "udp"
                || word == "tcp",
            "{word}"
        );
    }
}

#[test]
fn bytes_have_units_on_a_terminal_only_and_where_no_plain_ones_are_asked_for() {
    let folder = folder();
    let sums = ["packets", "large.pcap", "--group-by", "proto", "--sum", "length"];
    let (flows, info) = (["flows", "large.pcap"], ["info", "large.pcap"]);
    let bytes = (2000 * (1234 + 42)).to_string();
    for args in [&sums[..], &flows, &info] {
        let Some(shown) = on_terminal(&folder, 160, args) else { return };
        let shown = shown.join("\n");
        assert!(shown.contains("2.55 MB") && !shown.contains(&bytes), "{args:?}: {shown}");
        let plain = on_terminal(&folder, 160, &[args, &["--bytes"]].concat()).unwrap().join("\n");
        assert!(plain.contains(&bytes) && !plain.contains("MB"), "{args:?}: {plain}");
        for form in [&[][..], &["--json"]] {
            let piped = folder.run(&[args, form].concat()).stdout_of_success();
            assert!(piped.contains(&bytes) && !piped.contains("MB"), "{args:?}: {piped}");
        }
    }
    // Lengths of single packets are compared with those of others.
    let packets = on_terminal(&folder, 160, &["packets", "large.pcap", "--limit", "1"]).unwrap();
    assert!(packets[1].contains("1276"), "{packets:?}");
}

#[test]
fn pictures_are_as_wide_as_the_terminal() {
    let folder = folder();
    let plot = ["packets", "large.pcap", "--every", "10ms", "--group-by", "proto", "--plot"];
    for args in [&plot[..], &["info", "large.pcap"]] {
        let widths = [80, 120, 200].map(|columns| {
            let lines = on_terminal(&folder, columns, args)?;
            let count = |line: &String| line.chars().count();
            assert!(lines.iter().all(|line| count(line) <= usize::from(columns)), "{lines:?}");
            let drawn = |line: &String| line.chars().filter(|c| ('▁'..='█').contains(c)).count();
            lines.iter().map(drawn).max()
        });
        let [Some(narrow), _, Some(wide)] = widths else { return };
        assert!(widths.is_sorted(), "{args:?}: {widths:?}");
        assert!(wide > narrow, "{args:?}: {widths:?}");
    }
}
