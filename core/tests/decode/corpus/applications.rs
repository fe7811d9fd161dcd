//! Goal: of DNS, TLS and HTTP we say what tshark says, or a rule of `docs/tshark.md` tells why not.
//!
//! Method: `applications/answers.psv` holds every packet of the collection of which tshark tells one of the values; we read
//! the same captures. `applications/record.py` wrote it.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytewright::packet::{DecodeOptions, Field, Frame, Packet, Status};

use crate::files;

/// Answer of tshark for one packet: the values of a field in the order in which they come.
struct Answer {
    protocols: String,
    queries: Vec<String>,
    types: Vec<String>,
    addresses: HashSet<String>,
    server_names: Vec<String>,
    hosts: Vec<String>,
}

impl Answer {
    fn of(columns: &[&str]) -> Answer {
        let values = |place: usize| -> Vec<String> {
            let text = columns.get(place).copied().unwrap_or_default();
            text.split(',').filter(|value| !value.is_empty()).map(str::to_owned).collect()
        };
        Answer {
            protocols: columns.get(2).copied().unwrap_or_default().to_owned(),
            queries: values(3),
            types: values(4),
            addresses: values(5).into_iter().chain(values(6)).collect(),
            server_names: values(7),
            hosts: values(8),
        }
    }
}

/// A value that differs, with all there is to tell why.
struct Case<'a> {
    field: Field,
    packet: &'a Packet,
    ours: Option<String>,
    theirs: Option<String>,
    answer: Option<&'a Answer>,
    /// Answers of tshark for the packets of the same capture.
    answers: &'a HashMap<u64, Answer>,
}

/// The name of a kind of difference, and when it applies.
type Rule = (&'static str, fn(&Case<'_>) -> bool);

/// Reasons for differences from tshark: the first that applies explains. Each is a row of `docs/tshark.md`.
const RULES: &[Rule] = &[
    ("application behind a link type not decoded", |case| {
        case.packet.status().has(Status::UNKNOWN_LINK)
    }),
    ("application in a tunnel", |case| case.count(&["ip", "ipv6"]) > 1),
    ("DNS over TCP", |case| case.is_dns() && case.count(&["tcp"]) > 0),
    ("DNS on another port", |case| {
        let ports = [case.packet.src_port(), case.packet.dst_port()];
        case.is_dns() && !ports.iter().flatten().any(|port| [53, 5353, 5355].contains(port))
    }),
    ("DNS message that is damaged", |case| {
        let is_shown = |text: &String| text == "<Name too long>" || text.contains('\\');
        let is_cut = case.theirs.is_none() && case.field == Field::DnsQuery;
        let theirs = case.answer.and_then(|answer| answer.queries.first());
        case.is_dns() && (is_cut || theirs.is_some_and(is_shown))
    }),
    ("QUIC", |case| case.field == Field::TlsSni && case.count(&["quic"]) > 0),
    ("SSDP", |case| case.field == Field::HttpHost && case.count(&["ssdp"]) > 0),
    ("request in several packets", |case| {
        case.field == Field::HttpHost && case.ours.is_none() && case.count(&["tcp"]) > 0
    }),
    ("segment that tshark leaves out", |case| {
        let of_field = |answer: &Answer| match case.field {
            Field::TlsSni => answer.server_names.first().cloned(),
            _ => answer.hosts.first().cloned(),
        };
        let is_known = case.answers.values().any(|answer| of_field(answer) == case.ours);
        !case.is_dns() && case.theirs.is_none() && (is_known || case.answer.is_none())
    }),
];

/// The names of all rules.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

impl Case<'_> {
    fn is_dns(&self) -> bool {
        matches!(self.field, Field::DnsQuery | Field::DnsType | Field::DnsAnswers)
    }

    /// Counts the layers of the frame that are of these protocols.
    fn count(&self, names: &[&str]) -> usize {
        let protocols = self.answer.map_or("", |answer| answer.protocols.as_str());
        protocols.split(':').filter(|protocol| names.contains(protocol)).count()
    }
}

/// The answers by capture and number of packet.
fn answers() -> BTreeMap<String, HashMap<u64, Answer>> {
    let table =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/decode/corpus/applications/answers.psv.gz");
    let table = files::plain(table.as_ref());
    let table = String::from_utf8_lossy(&table);
    let mut answers: BTreeMap<String, HashMap<u64, Answer>> = BTreeMap::new();
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('|').collect();
        let number = columns[1].parse().expect("a number");
        answers.entry(columns[0].to_owned()).or_default().insert(number, Answer::of(&columns));
    }
    answers
}

#[test]
fn dns_tls_and_http_read_as_tshark_reads_them() {
    let name = "dns_tls_and_http_read_as_tshark_reads_them";
    let Some(folder) = files::corpus(name) else { return };
    let (mut compared, mut explained) = (0, BTreeMap::<&str, usize>::new());
    let mut unexplained = Vec::new();
    for (file, answers) in answers() {
        let bytes = files::plain(&folder.join(&file));
        let (records, _) = files::records(&bytes);
        for (record, number) in records.iter().zip(1..) {
            let packet = files::packet(
                number,
                record,
                DecodeOptions { inner: false, ..DecodeOptions::default() },
            );
            let frame = Frame::new(&packet, record.captured, None);
            for (field, ours, theirs) in pairs(&frame, answers.get(&number)) {
                compared += usize::from(ours.is_some() || theirs.is_some());
                if ours == theirs {
                    continue;
                }
                let answer = answers.get(&number);
                let case = Case { field, packet: &packet, ours, theirs, answer, answers: &answers };
                match RULES.iter().find(|(_, applies)| applies(&case)) {
                    Some((rule, _)) => *explained.entry(rule).or_default() += 1,
                    None => {
                        let Case { ours, theirs, .. } = case;
                        let found = format!("{field:?}: {ours:?}, tshark {theirs:?}");
                        unexplained.push(format!("{file} {number} {found}"));
                    }
                }
            }
        }
    }
    println!("{compared} values compared, {explained:?}");
    unexplained.iter().for_each(|difference| println!("UNEXPLAINED {difference}"));
    assert!(compared > 3000, "only {compared} values");
    assert!(unexplained.is_empty(), "{} unexplained differences", unexplained.len());
}

type Pair = (Field, Option<String>, Option<String>);

/// Each value of ours beside that of tshark, where both or one of them have it.
fn pairs(frame: &Frame<'_>, answer: Option<&Answer>) -> Vec<Pair> {
    let ours = |field: Field| {
        let value = frame.value(field);
        (!value.is_null()).then(|| value.to_string())
    };
    let first = |values: fn(&Answer) -> &Vec<String>| {
        answer.and_then(|answer| values(answer).first().cloned())
    };
    // tshark names the root, which has no name.
    let query = first(|answer| &answer.queries).map(|name| name.replace("<Root>", ""));
    let mut pairs = vec![
        (Field::DnsQuery, ours(Field::DnsQuery), query),
        (Field::DnsType, ours(Field::DnsType), first(|answer| &answer.types)),
        (Field::TlsSni, ours(Field::TlsSni), first(|answer| &answer.server_names)),
        (Field::HttpHost, ours(Field::HttpHost), first(|answer| &answer.hosts)),
    ];
    // tshark tells the addresses of all sections together: ours must be among them.
    let addresses = ours(Field::DnsAnswers).unwrap_or_default();
    let is_unknown =
        |address: &&str| !answer.is_some_and(|answer| answer.addresses.contains(*address));
    let unknown: Vec<&str> =
        addresses.split(',').filter(|address| !address.is_empty()).filter(is_unknown).collect();
    pairs.push((Field::DnsAnswers, (!unknown.is_empty()).then(|| unknown.join(",")), None));
    pairs
}
