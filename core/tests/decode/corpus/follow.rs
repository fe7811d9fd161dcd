//! The bytes of TCP streams, as `tshark -q -z follow,tcp,raw` puts them together: `tshark-follow.psv.gz` beside the
//! captures holds how many each end sent, and a hash of them.
//!
//! tshark tells a gap by a text among the bytes, and so is ours told here. Connections without any byte are not
//! compared.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use bytewright::packet::DecodeOptions;
use bytewright::tcp::{Event, Reassembler, Side, TcpOptions};

use sha1::{Digest, Sha1};

use crate::files;

/// Length and hash of the bytes that one end of a stream sent, as tshark has them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sent {
    len: usize,
    hash: String,
}

impl Sent {
    fn of(bytes: &[u8]) -> Self {
        Sent { len: bytes.len(), hash: hash(bytes) }
    }

    /// Returns true if `bytes` begin with these bytes.
    fn begins(&self, bytes: &[u8]) -> bool {
        bytes.get(..self.len).is_some_and(|beginning| *self == Sent::of(beginning))
    }
}

/// A stream by its two ends, in whatever order.
type Ends = [String; 2];

/// Bytes that both ends sent, in the order of [`Ends`], as tshark has them and as we do.
type Answers = BTreeMap<Ends, Vec<[Sent; 2]>>;
type Streams = BTreeMap<Ends, Vec<[Vec<u8>; 2]>>;

/// Bytes that both ends of a connection sent, with a text for each gap and without.
#[derive(Default)]
struct Bytes {
    with_gaps: [Vec<u8>; 2],
    without: [Vec<u8>; 2],
}

#[test]
fn streams_hold_the_bytes_that_tshark_puts_together() {
    let Some(folder) = files::corpus("streams_hold_the_bytes_that_tshark_puts_together") else {
        return;
    };
    let table = folder.join("tshark-follow.psv.gz");
    if !table.is_file() {
        println!("skipped: there is no {}", table.display());
        return;
    }
    let (mut same, mut unexplained, mut explained) = (0, Vec::new(), BTreeMap::new());
    for (file, theirs) in answers(&table) {
        let [ours, without_gaps] = streams(&folder.join(&file));
        for (ends, theirs) in theirs {
            let ours = ours.get(&ends).cloned().unwrap_or_default();
            if are_same(&ours, &theirs) {
                same += theirs.len();
                continue;
            }
            match rule(&file, &ends, &ours, without_gaps.get(&ends), &theirs) {
                Some(rule) => *explained.entry(rule).or_insert(0) += 1,
                None => {
                    let ours: Vec<_> = ours
                        .iter()
                        .map(|ends| ends.each_ref().map(|sent| Sent::of(sent)))
                        .collect();
                    unexplained.push(format!("{file} {ends:?}: {ours:?}, tshark {theirs:?}"));
                }
            }
        }
    }
    println!("{same} streams hold the same bytes");
    for (rule, count) in &explained {
        println!("{count:6}  {rule}");
    }
    for difference in &unexplained {
        println!("UNEXPLAINED {difference}");
    }
    assert!(unexplained.is_empty(), "{} unexplained differences", unexplained.len());
}

fn are_same(ours: &[[Vec<u8>; 2]], theirs: &[[Sent; 2]]) -> bool {
    let are_same = |ours: &[Vec<u8>; 2], theirs: &[Sent; 2]| {
        ours.iter().zip(theirs).all(|(ours, theirs)| *theirs == Sent::of(ours))
    };
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(ours, theirs)| are_same(ours, theirs))
}

/// Returns the reason why a stream differs.
fn rule(
    file: &str,
    ends: &Ends,
    ours: &[[Vec<u8>; 2]],
    without_gaps: Option<&Vec<[Vec<u8>; 2]>>,
    theirs: &[[Sent; 2]],
) -> Option<&'static str> {
    if ends.iter().any(|end| end == ":0") {
        return Some("tshark names no ends of a cut header");
    }
    if without_gaps.is_some_and(|without_gaps| are_same(without_gaps, theirs)) {
        return Some("tshark tells no gap where a packet is cut");
    }
    if ours.is_empty() {
        return Some("TCP behind a header that we do not follow");
    }
    let all_begin = |ours: &[[Vec<u8>; 2]]| {
        let mut sides = ours.iter().flatten().zip(theirs.iter().flatten());
        ours.len() == theirs.len() && sides.all(|(ours, theirs)| theirs.begins(ours))
    };
    if all_begin(ours) || without_gaps.is_some_and(|without_gaps| all_begin(without_gaps)) {
        return Some("tshark keeps back what nobody acknowledges until the capture ends");
    }
    DIFFERENCES.iter().find(|(name, _)| *name == file).map(|(_, why)| *why)
}

/// Streams that we put together otherwise, and why.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "nDPI/ndpi_match_string_subprotocol__error.pcapng",
        "a SYN with another number begins another connection, also one that answers",
    ),
    (
        "nDPI/reasm_crash_anon.pcapng",
        "a SYN with another number begins another connection, also one that answers",
    ),
    ("tcpdump/of10_s4810.pcap", "tshark leaves out bytes whose segments follow each other"),
    ("tcpdump/of13_ericsson.pcapng", "tshark takes two ends of one address for each other"),
    ("zeek/fuzz-72.pcap", "numbers that were changed at random"),
    ("zeek/reassembly.pcap", "of bytes that differ, the first copy counts"),
];

fn answers(table: &Path) -> BTreeMap<String, Answers> {
    let table = String::from_utf8(files::plain(table)).expect("text");
    let mut answers: BTreeMap<String, Vec<(usize, Ends, [Sent; 2])>> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('|').collect();
        let [file, number, first, second, len, hash, back_len, back_hash] = cells[..] else {
            panic!("eight columns in {line}");
        };
        let sent = |len: &str, hash: &str| Sent {
            len: len.parse().expect("a length"),
            hash: hash.to_owned(),
        };
        let (ends, sent) = ordered(first, second, [sent(len, hash), sent(back_len, back_hash)]);
        if sent.iter().all(|sent| sent.len == 0) {
            continue;
        }
        let number = number.parse().expect("a number");
        answers.entry(file.to_owned()).or_default().push((number, ends, sent));
    }
    let by_ends = |mut streams: Vec<(usize, Ends, [Sent; 2])>| {
        streams.sort_by_key(|(number, ..)| *number);
        let mut found = Answers::new();
        for (_, ends, sent) in streams {
            found.entry(ends).or_default().push(sent);
        }
        found
    };
    answers.into_iter().map(|(file, streams)| (file, by_ends(streams))).collect()
}

fn ordered<T>(first: &str, second: &str, sent: [T; 2]) -> (Ends, [T; 2]) {
    let [there, back] = sent;
    match first <= second {
        true => ([first.to_owned(), second.to_owned()], [there, back]),
        false => ([second.to_owned(), first.to_owned()], [back, there]),
    }
}

/// The streams of a capture, with a text for each gap and without.
fn streams(path: &Path) -> [Streams; 2] {
    let capture = files::plain(path);
    let (records, _) = files::records(&capture);
    let options = TcpOptions { idle_timeout: None, ..TcpOptions::default() };
    let mut tcp = Reassembler::<Bytes>::new(options);
    let mut found: BTreeMap<u64, (SocketAddr, SocketAddr, Bytes)> = BTreeMap::new();
    let mut each = |connection: &bytewright::tcp::Connection,
                    state: &mut Bytes,
                    event: Event<'_>| match event {
        Event::Bytes { from, bytes, .. } => {
            state.with_gaps[index(from)].extend_from_slice(bytes);
            state.without[index(from)].extend_from_slice(bytes);
        }
        Event::Gap { from, len } => state.with_gaps[index(from)]
            .extend_from_slice(format!("[{len} bytes missing in capture file]\0").as_bytes()),
        Event::End => {
            let bytes = std::mem::take(state);
            found.insert(connection.number, (connection.initiator, connection.responder, bytes));
        }
    };
    for (record, number) in records.iter().zip(1..) {
        let packet = files::packet(
            number,
            record,
            DecodeOptions { inner: true, ..DecodeOptions::default() },
        );
        tcp.add(&packet, record.captured, &mut each);
    }
    tcp.finish(&mut each);
    let mut streams = [Streams::new(), Streams::new()];
    for (initiator, responder, Bytes { with_gaps, without }) in found.into_values() {
        for (streams, bytes) in streams.iter_mut().zip([with_gaps, without]) {
            if bytes.iter().any(|sent| !sent.is_empty()) {
                let (ends, sent) = ordered(&initiator.to_string(), &responder.to_string(), bytes);
                streams.entry(ends).or_default().push(sent);
            }
        }
    }
    streams
}

fn index(side: Side) -> usize {
    usize::from(side == Side::Responder)
}

/// The first 16 hexadecimal digits of the SHA-1.
fn hash(bytes: &[u8]) -> String {
    let digest = Sha1::digest(bytes);
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
