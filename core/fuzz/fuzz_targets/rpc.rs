//! Any bytes as what both ends of some connections send, between whole messages, and with segments lost, late or twice:
//! no panic, each byte is in a message or outside of all, memory stays within its bounds, a segment that comes twice
//! changes nothing, and messages give the same calls however they are cut into segments.

#![no_main]

#[path = "../../tests/generate/mod.rs"]
mod generate;
#[allow(dead_code)]
#[path = "../../tests/decode/rpc_calls/talk.rs"]
mod talk;

use bytewright::rpc::{Call, Protocol, Rpc, RpcOptions};
use bytewright::tcp::TcpOptions;
use bytewright::thrift::MessageKind;
use generate::segment::{ACK, FIN, RST, SYN, Segment, back, there};
use libfuzzer_sys::fuzz_target;
use talk::{PROTOCOLS, Said, asked};

const NAMES: [&str; 4] = ["a", "find", "Service:find", "a_rather_long_name_of_a_method"];

/// The memory of a walk that is as deep as may be, and of a call that waits.
const LEVELS_BYTES: usize = 12_288;
const WAITING_BYTES: usize = 1024;

/// Bytes that are walked in vain at most of a segment that is short.
const SEARCHED_MIN: u64 = 1200;

/// Bounds that few bytes reach.
const SMALL: RpcOptions = RpcOptions {
    tcp: TcpOptions {
        idle_timeout: Some(50_000_000_000),
        max_connections: 3,
        pending_max: 700,
        pending_total_max: 1500,
    },
    keeps_messages: true,
    message_max: 300,
    messages_total_max: 800,
    waiting_total_max: 6,
};

/// The fuzzer's bytes, as they are used up; zeros at the end.
struct Script<'s>(&'s [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = usize::from(self.byte()).min(self.0.len());
        let (bytes, rest) = self.0.split_at(len);
        self.0 = rest;
        bytes.to_vec()
    }

    /// A whole message, of `protocol` if that is to be so.
    fn message(&mut self, protocol: Option<Protocol>) -> Vec<u8> {
        let (how, number) = (self.byte(), self.byte());
        let kinds =
            [MessageKind::CALL, MessageKind::REPLY, MessageKind::ONEWAY, MessageKind::EXCEPTION];
        let message: Said<'_> = asked(NAMES[usize::from(how >> 4 & 3)], i32::from(number % 4))
            .kind(kinds[usize::from(how >> 2 & 3)]);
        let text = self.bytes();
        let field = (how >> 6 != 0).then_some((i16::from(how >> 6) - 1, text.as_slice()));
        let protocol = protocol.unwrap_or(PROTOCOLS[usize::from(how) % PROTOCOLS.len()]);
        message.field(field).sent(protocol, number & 4 != 0)
    }
}

/// Makes the segments of both ends of each connection, in the order of the capture. Without `is_regular` some bytes are
/// no message, are lost, or come late.
fn segments(script: &mut Script<'_>, is_regular: bool) -> Vec<Segment> {
    let mut next = [[100u32; 2]; 8];
    let (mut segments, mut clock) = (Vec::new(), 0);
    while !script.0.is_empty() && segments.len() < 400 {
        let (what, who) = (script.byte(), script.byte());
        let (connection, side) = (usize::from(who >> 1 & 7), usize::from(who & 1));
        let is_message = is_regular || what & 1 == 0;
        let protocol = is_regular.then_some(PROTOCOLS[connection % PROTOCOLS.len()]);
        let bytes = if is_message { script.message(protocol) } else { script.bytes() };
        let [ours, theirs] = [next[connection][side], next[connection][1 - side]];
        let (mut flags, mut seq, mut len) = (ACK, ours, bytes.len() as u32);
        clock += 1;
        if !is_regular {
            match what >> 1 & 0xf {
                0 => len += u32::from(script.byte()),
                1 => seq = seq.wrapping_sub(u32::from(script.byte())),
                2 => seq = seq.wrapping_add(u32::from(script.byte())),
                3 => flags = SYN,
                4 => flags |= FIN,
                5 => flags |= RST,
                6 => clock += i64::from(script.byte()),
                7 => clock -= i64::from(script.byte()),
                _ => {}
            }
        }
        next[connection][side] = ours.wrapping_add(len);
        let port = connection as u16 + 1;
        let segment = match side {
            0 => there(flags, seq, theirs, &bytes).between((port, 9090)),
            _ => back(flags, seq, theirs, &bytes).between((9090, port)),
        };
        segments.push(segment.at(clock));
    }
    segments
}

/// The calls of segments. What must hold for all is seen to meanwhile.
fn calls<'s>(segments: impl Iterator<Item = &'s Segment>, options: RpcOptions) -> Vec<Call> {
    let mut rpc = Rpc::new(options);
    let (mut calls, mut sent, mut packets) = (Vec::new(), 0, 0);
    let bound = options.tcp.pending_total_max
        + options.messages_total_max
        + 2 * options.tcp.max_connections * LEVELS_BYTES
        + (options.waiting_total_max + options.tcp.max_connections) * WAITING_BYTES;
    for segment in segments {
        let (packet, captured) = segment.captured();
        sent += segment.bytes.len() as u64;
        packets += 1;
        rpc.add(&packet, &captured, &mut |call| calls.push(call));
        assert!(rpc.waiting_bytes() <= bound, "{} waits of {bound}", rpc.waiting_bytes());
    }
    let counts = rpc.finish(&mut |call| calls.push(call));
    assert_eq!(counts.seen, counts.in_messages + counts.outside, "{counts:?}");
    assert!(counts.seen <= sent && counts.not_searched <= counts.outside, "{counts:?}");
    // However few bytes a segment has, it is searched.
    let bound = 6 * sent + packets * SEARCHED_MIN;
    assert!(counts.walked_in_vain <= bound, "{counts:?} in {packets} segments");
    let told = calls.iter().flat_map(|call| [call.request_bytes, call.reply_bytes]);
    let told: u64 = told.flatten().sum();
    assert!(told <= counts.in_messages + counts.missing, "{told} told, {counts:?}");
    calls
}

/// Cuts segments into segments of at most `len` bytes.
fn cut(segments: &[Segment], len: usize) -> Vec<Segment> {
    let pieces = segments.iter().flat_map(|segment| {
        let mut seq = segment.seq;
        segment.bytes.chunks(len).map(move |bytes| {
            let piece = Segment { seq, bytes: bytes.to_vec(), ..segment.clone() };
            seq = seq.wrapping_add(bytes.len() as u32);
            piece
        })
    });
    pieces.collect()
}

fuzz_target!(|bytes: &[u8]| {
    let mut script = Script(bytes);
    let how = script.byte();
    let is_regular = how & 1 == 0;
    let segments = segments(&mut script, is_regular);
    calls(segments.iter(), SMALL);
    let tcp = TcpOptions { idle_timeout: None, ..TcpOptions::default() };
    let options = RpcOptions { tcp, keeps_messages: how & 2 != 0, ..RpcOptions::default() };
    let once = calls(segments.iter(), options);
    // When a connection that was closed is forgotten depends on the number of packets.
    if segments.iter().all(|segment| segment.flags & (FIN | RST) == 0) {
        let twice = calls(segments.iter().flat_map(|segment| [segment, segment]), options);
        assert_eq!(once, twice, "a segment that comes twice");
    }
    if is_regular {
        let pieces = cut(&segments, usize::from(how >> 2) + 1);
        assert_eq!(once, calls(pieces.iter(), options), "other segments");
    }
});
