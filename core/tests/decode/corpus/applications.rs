//! Goal: of DNS, TLS and HTTP we say what tshark says, or a rule of `docs/tshark.md` tells why not.
//!
//! Method: `applications/answers.tsv` holds every packet of the collection of which tshark tells one of the values; we read
//! the same captures. `applications/record.py` wrote it.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytewright::packet::{DecodeOptions, Field, Frame, Packet, Status};

use crate::files;

/// Fields that are compared, with the columns of tshark's first values.
const COLUMNS: &[(Field, usize)] = &[
    (Field::DnsQuery, 3),
    (Field::DnsType, 4),
    (Field::TlsSni, 7),
    (Field::HttpHost, 8),
    (Field::DnsId, 9),
    (Field::DnsIsResponse, 10),
    (Field::DnsRcode, 11),
    (Field::HttpMethod, 12),
    (Field::HttpPath, 13),
    (Field::HttpStatus, 14),
    (Field::HttpUserAgent, 15),
];

/// Fields of all answers, with the columns of tshark's values of both their kinds.
const LISTS: &[(Field, [usize; 2])] =
    &[(Field::DnsAnswers, [5, 6]), (Field::DnsAnswerNames, [16, 17])];

/// Answer of tshark for one packet.
struct Answer {
    protocols: String,
    /// The first value of each field, as we write it.
    first: HashMap<Field, String>,
    lists: HashMap<Field, HashSet<String>>,
}

impl Answer {
    /// Returns true if tshark found a header of DNS and no name behind it.
    fn has_no_question(&self) -> bool {
        !self.first.contains_key(&Field::DnsQuery)
    }

    fn of(columns: &[&str]) -> Answer {
        let values = |place: usize| {
            let text = columns.get(place).copied().unwrap_or_default();
            text.split('\x1f').filter(|value| !value.is_empty())
        };
        let first = |(field, place): &(Field, usize)| {
            Some((*field, as_ours(*field, values(*place).next()?)))
        };
        let list = |(field, places): &(Field, [usize; 2])| {
            (*field, places.iter().flat_map(|place| values(*place)).map(str::to_owned).collect())
        };
        Answer {
            protocols: columns.get(2).copied().unwrap_or_default().to_owned(),
            first: COLUMNS.iter().filter_map(first).collect(),
            lists: LISTS.iter().map(list).collect(),
        }
    }
}

/// A value of tshark as we write it.
fn as_ours(field: Field, text: &str) -> String {
    match field {
        // tshark names the root, which has no name.
        Field::DnsQuery => text.replace("<Root>", ""),
        Field::DnsId => {
            let digits = text.trim_start_matches("0x");
            u16::from_str_radix(digits, 16).expect("a number in hexadecimal digits").to_string()
        }
        Field::DnsIsResponse => (text == "1").to_string(),
        Field::HttpPath | Field::HttpUserAgent => cut(text),
        _ => text.to_owned(),
    }
}

/// A text of at most 255 bytes, as many whole letters as there is room for.
fn cut(text: &str) -> String {
    let mut cut = String::new();
    for letter in text.chars() {
        if text.len() > 255 && cut.len() + letter.len_utf8() > 252 {
            return cut + "…";
        }
        cut.push(letter);
    }
    cut
}

/// A value that differs, with all there is to tell why.
struct Case<'a> {
    field: Field,
    packet: &'a Packet,
    payload: &'a [u8],
    ours: Option<String>,
    theirs: Option<String>,
    answer: Option<&'a Answer>,
    /// Answers of tshark for the packets of the same capture.
    answers: &'a HashMap<u64, Answer>,
}

/// The name of a kind of difference, and when it applies.
type Rule = (&'static str, fn(&Case<'_>) -> bool);

/// Reasons for differences from tshark: the first that applies explains.
const RULES: &[Rule] = &[
    // Row (tshark-applications): tcpdump/LINKTYPE_PKTAP.pcap, packet 1 | in.m.yahoo.com | null | Without headers there
    // is no payload.
    ("application behind a link type not decoded", |case| {
        case.packet.status().has(Status::UNKNOWN_LINK)
    }),
    // Row (tshark-applications): zeek/gtp7_ipv6.pcap, packet 1 | xmail.nelt.com | null without `inner` | The outer
    // payload is the tunnel. With `inner` the fields are those of the inner packet.
    ("application in a tunnel", |case| case.count(&["ip", "ipv6"]) > 1),
    // Row (tshark-applications): zeek/tkey.pcap, packet 4 | id 52640 | null | Over TCP, messages are read that a
    // segment has all of.
    ("DNS message in several segments", |case| {
        case.is_dns() && case.ours.is_none() && case.count(&["tcp"]) > 0
    }),
    // Row (tshark-applications): tcpdump/dns_udp_8053.pcap, packet 1 | www.tcpdump.org | null | tshark guesses from
    // what is in the payload.
    ("DNS on another port", |case| {
        let ports = [case.packet.src_port(), case.packet.dst_port()];
        case.is_dns() && !ports.iter().flatten().any(|port| [53, 5353, 5355].contains(port))
    }),
    // Row (tshark-applications): nDPI/badpackets.pcap, packet 28 | null | mail.houzz.com | The message ends behind the
    // name. A name that has no end is null; tshark shows `<Name too long>`. Control characters in names are escaped
    // where they are shown, and stand in the field as they are.
    ("DNS message that is damaged", |case| {
        let is_shown = |text: &String| text == "<Name too long>" || text.contains('\\');
        let is_cut = case.theirs.is_none() && case.field == Field::DnsQuery;
        let theirs = case.answer.and_then(|answer| answer.first.get(&Field::DnsQuery));
        case.is_dns() && (is_cut || theirs.is_some_and(is_shown))
    }),
    // Row (tshark-applications): nDPI/dnscrypt-v2.pcap, packet 1 | id 58307 | null | The header tells of a question,
    // and no name stands there: it is encrypted, or no DNS.
    ("DNS port without a DNS message", |case| {
        let says_a_question = case.payload.get(4..6).is_none_or(|count| count != [0, 0]);
        let has_no_name = case.answer.is_some_and(Answer::has_no_question);
        case.is_dns() && case.ours.is_none() && says_a_question && has_no_name
    }),
    // Row (tshark-applications): nDPI/quic-23.pcap, packet 1 | quic.aiortc.org | null | A draft, or Google's QUIC, with
    // other keys. We decrypt the first packets of versions 1 and 2.
    ("QUIC", |case| case.field == Field::TlsSni && case.count(&["quic"]) > 0),
    // Row (tshark-applications): nDPI/ssdp-m-search-ua.pcap, packet 1 | 239.255.255.250:1900 | null | HTTP's syntax
    // over UDP.
    ("SSDP", |case| case.is_http() && case.count(&["ssdp"]) > 0),
    // Row (tshark-applications): zeek/mixed-vlan-mpls.pcap, packet 37 | GET | null | A request of HTTP/0.9, a version
    // that does not exist, or a line that goes on in another packet: only a whole line with its version says that it is
    // HTTP/1.
    ("first line of HTTP that is not whole", |case| {
        let first = case.payload.split_inclusive(|byte| *byte == b'\n').next();
        let first = String::from_utf8_lossy(first.unwrap_or_default());
        case.is_http()
            && case.ours.is_none()
            && !(first.ends_with('\n') && first.contains(" HTTP/1."))
    }),
    // Row (tshark-applications): zeek/no-uri.pcap, packet 4 | path HTTP/1.1 | null | The version stands behind the
    // method; tshark takes it for the path.
    ("request without a target", |case| {
        let theirs = case.theirs.as_deref().unwrap_or_default();
        case.field == Field::HttpPath && case.ours.is_none() && theirs.starts_with("HTTP/")
    }),
    // Row (tshark-applications): zeek/connect-with-smtp.pcap, packet 4 | mailin03.sul.t-online.de:25 |
    // mailin03.sul.t-online.de:25 / | We tell all that stands between method and version.
    ("request target with a space", |case| {
        let (Some(ours), Some(theirs)) = (&case.ours, &case.theirs) else { return false };
        case.field == Field::HttpPath && ours.split(' ').next() == Some(theirs)
    }),
    // Row (tshark-applications): zeek/http-11-request-then-cruft.pcap, packet 6 | zeek.org | null | The header, or its
    // end, is in another packet than the request line. Streams are not put together for `http_host` and
    // `http_user_agent`.
    ("request in several packets", |case| {
        let is_header = matches!(case.field, Field::HttpHost | Field::HttpUserAgent);
        is_header && case.ours.is_none() && case.count(&["tcp"]) > 0
    }),
    // Row (tshark-applications): nDPI/tunnelbear.pcap, packet 209 | null | api.polargrizzly.com | A repeated segment,
    // or one of which its neighbours are missing. The name stands in it.
    ("segment that tshark leaves out", |case| {
        let is_known = |answer: &Answer| answer.first.get(&case.field) == case.ours.as_ref();
        let is_known = case.answers.values().any(is_known);
        !case.is_dns() && case.theirs.is_none() && (is_known || case.answer.is_none())
    }),
];

/// The names of all rules.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

impl Case<'_> {
    fn is_dns(&self) -> bool {
        self.field.name().starts_with("dns_")
    }

    fn is_http(&self) -> bool {
        self.field.name().starts_with("http_")
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
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/decode/corpus/applications/answers.tsv.gz");
    let table = files::plain(table.as_ref());
    let table = String::from_utf8_lossy(&table);
    let mut answers: BTreeMap<String, HashMap<u64, Answer>> = BTreeMap::new();
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
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
                let case = Case {
                    field,
                    packet: &packet,
                    payload: frame.payload().unwrap_or_default(),
                    ours,
                    theirs,
                    answer,
                    answers: &answers,
                };
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
    assert!(compared > 10_000, "only {compared} values");
    assert!(unexplained.is_empty(), "{} unexplained differences", unexplained.len());
}

type Pair = (Field, Option<String>, Option<String>);

/// Each value of ours beside that of tshark, where both or one of them have it.
fn pairs(frame: &Frame<'_>, answer: Option<&Answer>) -> Vec<Pair> {
    let ours = |field: Field| {
        let value = frame.value(field);
        (!value.is_null()).then(|| value.to_string())
    };
    let theirs = |field| answer.and_then(|answer| answer.first.get(&field)).cloned();
    let compared = COLUMNS.iter().map(|(field, _)| *field);
    let mut pairs: Vec<_> = compared.map(|field| (field, ours(field), theirs(field))).collect();
    // tshark tells the values of all sections together: ours must be among them.
    for (field, _) in LISTS {
        let list = ours(*field).unwrap_or_default();
        let is_unknown = |value: &&str| {
            let known = answer.and_then(|answer| answer.lists.get(field));
            !known.is_some_and(|known| known.contains(*value))
        };
        let told = list.split(',').filter(|value| !value.is_empty() && *value != "…");
        let unknown: Vec<&str> = told.filter(is_unknown).collect();
        pairs.push((*field, (!unknown.is_empty()).then(|| unknown.join(",")), None));
    }
    pairs
}
