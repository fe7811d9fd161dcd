//! The bytes of TCP streams, as `tshark -q -z follow,tcp,raw` puts them together: `tshark-follow.psv.gz` beside the
//! captures holds how many each end sent, and a hash of them.
//!
//! tshark tells a gap by a text among the bytes, and so is ours told here.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::Path;

use bytewright::packet::DecodeOptions;
use bytewright::tcp::{Event, Reassembler, Side, TcpOptions};

use sha1::{Digest, Sha1};

use crate::files;

/// What one end of a stream sent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sent {
    len: usize,
    hash: String,
}

/// A stream by its two ends, in whatever order.
type Ends = [String; 2];

/// What both ends sent, in the order of [`Ends`].
type Streams = BTreeMap<Ends, Vec<[Sent; 2]>>;

#[derive(Default)]
struct Bytes([Vec<u8>; 2]);

/// Streams that we put together otherwise, and why.
const DIFFERENCES: &[(&str, &str)] = &[];

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
    let (mut same, mut unexplained, mut explained) = (0, Vec::new(), HashMap::new());
    for (file, theirs) in answers(&table) {
        let ours = streams(&folder.join(&file));
        for (ends, theirs) in theirs {
            let ours = ours.get(&ends).cloned().unwrap_or_default();
            if ours == theirs {
                same += theirs.len();
                continue;
            }
            let rule = DIFFERENCES.iter().find(|(name, _)| *name == file);
            match rule {
                Some((_, why)) => *explained.entry(*why).or_insert(0) += 1,
                None => unexplained.push(format!("{file} {ends:?}: {ours:?}, tshark {theirs:?}")),
            }
        }
    }
    println!("{same} streams hold the same bytes");
    for (why, count) in &explained {
        println!("{count:6}  {why}");
    }
    for difference in &unexplained {
        println!("UNEXPLAINED {difference}");
    }
    assert!(unexplained.is_empty(), "{} unexplained differences", unexplained.len());
}

fn answers(table: &Path) -> BTreeMap<String, Streams> {
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
        let number = number.parse().expect("a number");
        answers.entry(file.to_owned()).or_default().push((number, ends, sent));
    }
    let by_ends = |mut streams: Vec<(usize, Ends, [Sent; 2])>| {
        streams.sort_by_key(|(number, ..)| *number);
        let mut found = Streams::new();
        for (_, ends, sent) in streams {
            found.entry(ends).or_default().push(sent);
        }
        found
    };
    answers.into_iter().map(|(file, streams)| (file, by_ends(streams))).collect()
}

fn ordered(first: &str, second: &str, sent: [Sent; 2]) -> (Ends, [Sent; 2]) {
    let [there, back] = sent;
    match first <= second {
        true => ([first.to_owned(), second.to_owned()], [there, back]),
        false => ([second.to_owned(), first.to_owned()], [back, there]),
    }
}

fn streams(path: &Path) -> Streams {
    let capture = files::plain(path);
    let (records, _) = files::records(&capture);
    let options = TcpOptions { idle_timeout: None, ..TcpOptions::default() };
    let mut tcp = Reassembler::<Bytes>::new(options);
    let mut found: BTreeMap<u64, (SocketAddr, SocketAddr, Bytes)> = BTreeMap::new();
    let mut each = |connection: &bytewright::tcp::Connection,
                    state: &mut Bytes,
                    event: Event<'_>| match event {
        Event::Bytes { from, bytes, .. } => state.0[index(from)].extend_from_slice(bytes),
        Event::Gap { from, len } => state.0[index(from)]
            .extend_from_slice(format!("[{len} bytes missing in capture file].").as_bytes()),
        Event::End => {
            let bytes = std::mem::take(state);
            found.insert(connection.number, (connection.initiator, connection.responder, bytes));
        }
    };
    for (record, number) in records.iter().zip(1..) {
        let packet = files::packet(number, record, DecodeOptions { inner: true });
        tcp.add(&packet, record.captured, &mut each);
    }
    tcp.finish(&mut each);
    let mut streams = Streams::new();
    for (initiator, responder, Bytes(bytes)) in found.into_values() {
        let sent = bytes.map(|bytes| Sent { len: bytes.len(), hash: hash(&bytes) });
        let (ends, sent) = ordered(&initiator.to_string(), &responder.to_string(), sent);
        streams.entry(ends).or_default().push(sent);
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
