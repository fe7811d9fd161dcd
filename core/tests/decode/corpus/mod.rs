//! Goal: on real and on broken captures we say what tshark says, packet by packet and field by
//! field, or a named rule tells why not.
//!
//! Method: `tshark.psv.gz` beside the captures holds tshark's answers; every packet of every file is
//! decoded and compared. A difference must be explained by exactly one rule of [`rules`]. A comment above
//! each is its row in `docs/tshark.md`.

mod applications;
mod compare;
mod custom_blocks;
mod flow_features;
mod follow;
mod oracle;
mod rules;

use std::collections::BTreeMap;

use bytewright::Error;
use bytewright::capture::Record;
use bytewright::packet::DecodeOptions;
use compare::Difference;
use oracle::{Answer, Verdict};
use rules::Case;

use crate::files;

/// Differences by rule, with an example of each, and those that no rule explains.
#[derive(Default)]
struct Tally {
    packets: usize,
    values: usize,
    explained: BTreeMap<&'static str, (usize, String)>,
    unexplained: Vec<String>,
}

impl Tally {
    fn add(&mut self, rule: Option<&'static str>, difference: String) {
        match rule {
            Some(rule) => self.explained.entry(rule).or_insert((0, difference)).0 += 1,
            None => self.unexplained.push(difference),
        }
    }

    fn print(&self) {
        println!("{} packets, {} values compared", self.packets, self.values);
        for (rule, (count, example)) in &self.explained {
            println!("{count:6}  {rule}: {example}");
        }
        for difference in &self.unexplained {
            println!("UNEXPLAINED {difference}");
        }
    }
}

#[test]
fn every_packet_reads_as_tshark_reads_it() {
    let Some(folder) = files::corpus("every_packet_reads_as_tshark_reads_it") else { return };
    let mut tally = Tally::default();
    for answer in oracle::answers(&folder) {
        let bytes = files::plain(&folder.join(&answer.file));
        judge(&answer, &bytes, &mut tally);
    }
    tally.print();
    assert!(tally.unexplained.is_empty(), "{} unexplained differences", tally.unexplained.len());
}

#[test]
fn the_page_has_a_row_for_each_rule_and_no_other() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/tshark.md");
    let page = std::fs::read_to_string(page).expect("docs/tshark.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let mut rows: Vec<&str> = rows.filter(|name| *name != "kind").collect();
    let mut names: Vec<&str> = rules::names().into_iter().chain(applications::names()).collect();
    rows.sort_unstable();
    names.sort_unstable();
    assert_eq!(rows, names);
}

fn judge(answer: &Answer, bytes: &[u8], tally: &mut Tally) {
    let (records, damage) = files::records(bytes);
    let rows = custom_blocks::without(answer, bytes, tally);
    judge_end(answer, bytes, &records, rows.len(), damage, tally);
    for ((record, number), row) in records.iter().zip(1..).zip(rows) {
        let packet = files::packet(
            number,
            record,
            DecodeOptions { inner: false, ..DecodeOptions::default() },
        );
        tally.packets += 1;
        let (values, differences) = compare::differences(&packet, row);
        tally.values += values;
        let case = Case { answer, record, packet: &packet, row };
        for difference in differences {
            tally.add(rules::explain(&case, &difference), described(&case, &difference));
        }
    }
}

/// Compares how reading a file ended: how many packets, and damage or none.
fn judge_end(
    answer: &Answer,
    bytes: &[u8],
    records: &[Record<'_>],
    rows: usize,
    damage: Option<Error>,
    tally: &mut Tally,
) {
    let verdict = match &damage {
        None => Verdict::Whole,
        Some(_) if records.is_empty() => Verdict::Refused,
        Some(_) => Verdict::Cut,
    };
    if records.len() == rows && verdict.agrees_with(answer.verdict) {
        return;
    }
    let link_types: Vec<u16> = records.iter().map(|record| record.link_type).collect();
    let found = damage.map(|error| format!(" ({error})")).unwrap_or_default();
    let (file, ours, theirs) = (&answer.file, records.len(), answer.verdict);
    let ends = format!("{file}: {ours} packets, {verdict:?}{found}; tshark {rows}, {theirs:?}");
    tally.add(rules::explain_end(answer, bytes, &link_types), ends);
}

fn described(case: &Case<'_>, difference: &Difference) -> String {
    let Difference { field, ours, theirs } = difference;
    let absent = || "-".to_owned();
    let (ours, theirs) =
        (ours.clone().unwrap_or_else(absent), theirs.clone().unwrap_or_else(absent));
    let protocols = case.row.text("frame.protocols").unwrap_or_default();
    let number = case.packet.number();
    format!(
        "{} packet {number} {field}: {ours}, tshark {theirs} ({protocols:.70})",
        case.answer.file
    )
}
