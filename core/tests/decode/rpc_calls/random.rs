//! Goal: calls that were put into segments come out, however these are cut and mixed; and with bytes lost, damaged
//! or invented, nothing comes out that was not put in, no more than there was, and never a panic.

use bytewright::rpc::{Call, Protocol, RpcOptions};
use bytewright::thrift::MessageKind;

use super::talk::{PROTOCOLS, Said, Talk, answered, asked, calls, line};
use crate::generate::segment::Segment;
use crate::generate::{Random, seeds};

const NAMES: [&str; 5] = ["a", "find", "Service:find", "a_rather_long_name_of_a_method", "z9"];

/// Returns the number of rounds of a random test: `BYTEWRIGHT_ROUNDS` if it is set, or `usual`.
fn rounds(usual: u64) -> u64 {
    let named = std::env::var("BYTEWRIGHT_ROUNDS").ok();
    named.and_then(|rounds| rounds.parse().ok()).unwrap_or(usual)
}

/// Calls and answers in a random order, and the lines that they are told by.
fn conversation(random: &mut Random, protocol: Protocol) -> (Vec<(bool, Vec<u8>)>, Vec<String>) {
    let (mut said, mut lines, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..random.below(30) as i32 + 2 {
        let name = random.pick(&NAMES);
        let text_len = if random.once_in(5) { random.below(600) } else { random.below(40) };
        let text = random.bytes(text_len);
        let asking: Said<'_> = asked(name, number).field(Some((1, &text)));
        if random.once_in(6) {
            said.push((true, asking.kind(MessageKind::ONEWAY).sent(protocol, random.once_in(2))));
            lines.push(format!("{name} {number} oneway"));
        } else {
            said.push((true, asking.sent(protocol, random.once_in(2))));
            open.push((name, number));
        }
        while random.once_in(2) && !open.is_empty() {
            let (name, number) = open.remove(random.below(open.len()));
            let text_len = if random.once_in(5) { random.below(600) } else { random.below(40) };
            let text = random.bytes(text_len);
            let id = random.pick(&[0, 0, 1]);
            let answer = answered(name, number).field(Some((id, &text)));
            said.push((false, answer.sent(protocol, random.once_in(2))));
            let outcome = if id == 0 { "returned" } else { "exception" };
            lines.push(format!("{name} {number} {outcome}"));
        }
    }
    lines.extend(open.iter().map(|(name, number)| format!("{name} {number} unanswered")));
    (said, lines)
}

/// Cuts a conversation into segments: pieces of messages, or several of one side together.
fn cut(random: &mut Random, said: &[(bool, Vec<u8>)]) -> Talk {
    let mut talk = Talk::new();
    let piece_max = random.pick(&[3, 20, 100, 1400]);
    let mut waiting: Vec<u8> = Vec::new();
    for (at, (is_there, bytes)) in said.iter().enumerate() {
        waiting.extend(bytes);
        if said.get(at + 1).is_some_and(|(next, _)| next == is_there) && !random.once_in(3) {
            continue;
        }
        for piece in std::mem::take(&mut waiting).chunks(1 + random.below(piece_max)) {
            talk = if *is_there { talk.there(piece) } else { talk.back(piece) };
        }
    }
    talk
}

fn without_latency(call: &Call) -> String {
    line(call).split(' ').take(3).collect::<Vec<_>>().join(" ")
}

#[test]
fn calls_come_out_however_they_are_cut_and_mixed() {
    seeds(rounds(100), |random| {
        let protocol = random.pick(&PROTOCOLS);
        let (said, mut expected) = conversation(random, protocol);
        let mut talk = cut(random, &said);
        mix(random, &mut talk.segments);
        let mut found: Vec<String> = talk.calls().iter().map(without_latency).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{protocol:?}");
    });
}

/// Some segments twice, and some a little later, but never behind what acknowledges them.
fn mix(random: &mut Random, segments: &mut Vec<Segment>) {
    let mut at = 2;
    while at + 1 < segments.len() {
        if segments[at].ports == segments[at + 1].ports && random.once_in(3) {
            segments.swap(at, at + 1);
        }
        if random.once_in(8) {
            let again = segments[at].clone();
            segments.insert(at + 1, again);
        }
        at += 1;
    }
}

#[test]
fn with_bytes_lost_only_calls_that_were_there_come_out() {
    seeds(rounds(100), |random| {
        let protocol = random.pick(&PROTOCOLS);
        let (said, _) = conversation(random, protocol);
        let mut talk = cut(random, &said);
        let loss = random.pick(&[3, 20, 100]);
        talk.segments.retain(|_| !random.once_in(loss));
        let found = talk.calls_with(RpcOptions { keeps_messages: true, ..RpcOptions::default() });
        let asked_count = said.iter().filter(|(is_there, _)| *is_there).count();
        let answered_count = said.len() - asked_count;
        assert!(found.len() <= asked_count + answered_count);
        for call in &found {
            assert!(NAMES.contains(&&*call.method), "{call:?}");
            // If the length of a frame is lost, and nothing else, its message has none.
            assert!((0..40).contains(&call.sequence_id));
            assert_eq!(call.protocol.form, protocol.form);
            let has = |is_there: bool, body: &Option<Vec<u8>>| {
                body.as_ref().is_none_or(|body| {
                    said.iter().any(|(way, bytes)| {
                        // Behind a deflated one is its checksum, behind one in JSON its bracket, or both.
                        let mut ends = [0, 1, 4, 5].iter().map(|behind| bytes.len() - behind);
                        *way == is_there && ends.any(|end| bytes[..end].ends_with(body))
                    })
                })
            };
            assert!(has(true, &call.arguments) && has(false, &call.result), "{call:?}");
        }
    });
}

#[test]
fn damaged_and_invented_bytes_never_make_it_panic() {
    seeds(rounds(150), |random| {
        let mut segments = Vec::new();
        for _ in 0..=random.below(3) {
            let protocol = random.pick(&PROTOCOLS);
            let (mut said, _) = conversation(random, protocol);
            for (_, bytes) in &mut said {
                if random.once_in(3) && !bytes.is_empty() {
                    let at = random.below(bytes.len());
                    bytes[at] = random.pick(&[0, 1, 0x7f, 0x80, 0xff, bytes[at] ^ 1]);
                }
                if random.once_in(10) {
                    bytes.truncate(random.below(bytes.len()));
                }
            }
            let port = random.below(3) as u16 + 1;
            let talk = cut(random, &said);
            segments.extend(talk.segments.into_iter().map(|segment| {
                let is_there = segment.ports.0 < segment.ports.1;
                segment.between(if is_there { (port, 9090) } else { (9090, port) })
            }));
        }
        mix(random, &mut segments);
        let keeps_messages = random.once_in(2);
        let count = calls(&segments, RpcOptions { keeps_messages, ..RpcOptions::default() }).len();
        assert!(count <= 4 * 70, "{count}");
    });
}
