//! Memory stays within its bounds.

use bytewright::rpc::{ByteCounts, Call, CallSummary, Rpc, RpcOptions};

use super::talk::{PROTOCOLS, Talk, answered, asked, calls, line};
use crate::generate::segment::Segment;

#[test]
fn a_message_is_not_kept_unless_somebody_wants_it() {
    for protocol in PROTOCOLS {
        let large = answered("large", 1).field(Some((0, &vec![b'x'; 3_000_000]))).bytes(protocol);
        let mut talk = Talk::new().there(&asked("large", 1).bytes(protocol));
        for piece in large.chunks(1400) {
            talk = talk.back(piece);
        }
        let mut rpc = Rpc::new(RpcOptions::default());
        let mut lines = Vec::new();
        for segment in &talk.segments {
            let (packet, captured) = segment.captured();
            rpc.add(&packet, &captured, &mut |call| lines.push(line(&call)));
            assert!(rpc.waiting_bytes() < 1000);
        }
        assert_eq!(lines.len(), 1);
        // And where somebody does, one that is too long is left out.
        let options =
            RpcOptions { keeps_messages: true, message_max: 100_000, ..RpcOptions::default() };
        let found = talk.calls_with(options);
        assert!(found[0].arguments.is_some() && found[0].result.is_none());
        assert_eq!(found[0].reply_bytes, Some(large.len() as u64));
    }
}

#[test]
fn calls_that_nobody_answers_wait_in_bounded_number() {
    let protocol = PROTOCOLS[1];
    let mut talk = Talk::new();
    for number in 0..3000 {
        talk = talk.there(&asked("a", number).bytes(protocol));
    }
    let mut rpc = Rpc::new(RpcOptions::default());
    let mut told = 0;
    for segment in &talk.segments {
        let (packet, captured) = segment.captured();
        rpc.add(&packet, &captured, &mut |_| told += 1);
    }
    assert_eq!(told, 3000 - 1024);
    assert!(rpc.waiting_bytes() < 1 << 20);
    rpc.finish(&mut |_| told += 1);
    assert_eq!(told, 3000);
}

#[test]
fn structs_that_wait_for_answers_are_bounded_together_and_the_oldest_make_room() {
    let protocol = PROTOCOLS[1];
    let options =
        RpcOptions { keeps_messages: true, messages_total_max: 100_000, ..RpcOptions::default() };
    let mut rpc = Rpc::new(options);
    let mut kept = 0;
    let mut each = |call: bytewright::rpc::Call| kept += usize::from(call.arguments.is_some());
    let mut talk = Talk::new();
    for number in 0..100 {
        talk = talk.there(&asked("a", number).field(Some((1, &[b'x'; 10_000]))).bytes(protocol));
    }
    for segment in &talk.segments {
        let (packet, captured) = segment.captured();
        rpc.add(&packet, &captured, &mut each);
        assert!(rpc.waiting_bytes() < 150_000, "{}", rpc.waiting_bytes());
    }
    rpc.finish(&mut each);
    assert_eq!(kept, 100);
}

#[test]
fn sums_of_very_many_methods_are_bounded_and_lose_no_call() {
    let protocol = PROTOCOLS[1];
    let names: Vec<String> = (0..5000).map(|number| format!("method{number}")).collect();
    let mut talk = Talk::new();
    for name in &names {
        talk = talk.there(&asked(name, 0).bytes(protocol)).back(&answered(name, 0).bytes(protocol));
    }
    let mut summary = CallSummary::new();
    calls(&talk.segments, RpcOptions::default()).iter().for_each(|call| summary.add(call));
    let methods = summary.into_sorted();
    assert_eq!(methods.len(), 4097);
    let others = methods.iter().find(|(name, _)| &**name == "(others)").unwrap();
    assert_eq!(others.1.calls, 5000 - 4096);
}

/// The calls of segments, where the bytes of all went, and the most memory that waited meanwhile.
fn measured(segments: &[Segment], options: RpcOptions) -> (Vec<Call>, ByteCounts, usize) {
    let mut rpc = Rpc::new(options);
    let (mut calls, mut most) = (Vec::new(), 0);
    for segment in segments {
        let (packet, captured) = segment.captured();
        rpc.add(&packet, &captured, &mut |call| calls.push(call));
        most = most.max(rpc.waiting_bytes());
    }
    let counts = rpc.finish(&mut |call| calls.push(call));
    assert_eq!(counts.seen, counts.in_messages + counts.outside, "each byte went somewhere");
    (calls, counts, most)
}

/// Bytes that begin a message again and again: each goes on to the end of all, and there it is none. What is inside of
/// one is a list of strings, and each string is the beginning of the next one.
fn misleading(len: usize) -> Vec<u8> {
    let list_header = [&[15, 0, 1, 11][..], &10_000u32.to_be_bytes()].concat();
    let message = asked("a", 1).field(None).bytes(PROTOCOLS[0]);
    let begins = [&message[..message.len() - 1], &list_header].concat();
    let string = [&(begins.len() as u32).to_be_bytes()[..], &begins].concat();
    let mut bytes = begins;
    while bytes.len() + string.len() < len {
        bytes.extend(&string);
    }
    // A string with less than no bytes.
    bytes.extend([0xff; 4]);
    bytes
}

#[test]
fn bytes_that_look_like_messages_again_and_again_cost_work_in_proportion_to_their_number() {
    let protocol = PROTOCOLS[0];
    let hostile = misleading(60_000);
    let mut talk = Talk::new()
        .there(&asked("a", 1).bytes(protocol))
        .back(&answered("a", 1).bytes(protocol))
        .there(&hostile)
        .there(&asked("b", 2).bytes(protocol))
        .back(&answered("b", 2).bytes(protocol));
    let (calls, counts, _) = measured(&talk.segments, RpcOptions::default());
    let lines: Vec<String> = calls.iter().map(line).collect();
    assert_eq!(lines, ["a 1 returned 1s", "b 2 returned 1s"], "what follows is found");
    let len = hostile.len() as u64;
    // Without a bound it is the half of the square: each of 2,000 beginnings is followed to the end.
    assert!(counts.walked_in_vain <= 5 * len, "{counts:?} of {len}");
    assert!(counts.walked_in_vain >= 4 * len, "the bytes mislead: {counts:?}");
    assert!(counts.not_searched > len / 2 && counts.not_searched < len, "{counts:?}");

    // In segments as captures have them, the same, and less of it is not searched.
    talk =
        Talk::new().there(&asked("a", 1).bytes(protocol)).back(&answered("a", 1).bytes(protocol));
    for piece in hostile.chunks(1400).flat_map(|piece| [piece, &[0xff; 4]]) {
        talk = talk.there(piece);
    }
    let (_, counts, _) = measured(&talk.segments, RpcOptions::default());
    assert!(counts.walked_in_vain <= 6 * len, "{counts:?} of {len}");
}

#[test]
fn structs_that_are_not_over_are_bounded_with_those_that_wait() {
    let messages_total_max = 1_000_000;
    let options = RpcOptions { keeps_messages: true, messages_total_max, ..RpcOptions::default() };
    for protocol in PROTOCOLS {
        let long = asked("long", 1).field(Some((1, &[b'x'; 100_000]))).bytes(protocol);
        let mut segments = Vec::new();
        for port in 1..60 {
            // The first message of a connection, which nothing has proven yet.
            let talk = Talk::new().there(&long[..50_000]).there(&long[50_000..90_000]);
            segments.extend(talk.segments.into_iter().map(|segment| {
                let ports = if segment.ports.0 == 4000 { (port, 9090) } else { (9090, port) };
                segment.between(ports)
            }));
        }
        let (_, _, most) = measured(&segments, options);
        assert!(most > 900_000, "as many as there is room for are kept: {most}");
        assert!(most < messages_total_max + 60 * 1000, "{most} {protocol:?}");
        // Their memory is there for others when they are over.
        let after = Talk::new().there(&long).back(&answered("long", 1).bytes(protocol));
        let closing = segments.last().unwrap().clone().at(10_000);
        let rest = after.segments.into_iter().map(|segment| {
            let ts = segment.ts + 10_000;
            segment.at(ts)
        });
        segments.push(closing);
        segments.extend(rest.clone());
        segments.extend(rest.skip(3).map(|mut segment| {
            segment.seq += if segment.ports.0 == 4000 { 200_000 } else { 1000 };
            segment
        }));
        assert!(calls(&segments, options).iter().all(|call| call.method.as_ref() == "long"));
    }
}

#[test]
fn structs_deep_inside_of_each_other_are_bounded_in_all_connections_together() {
    // A list of two lists of two lists: a level for each byte.
    let begins = asked("deep", 1).field(None).bytes(PROTOCOLS[2]);
    let deep = [&begins[..begins.len() - 1], &[0x19], &[0x29; 240]].concat();
    let mut rpc = Rpc::new(RpcOptions::default());
    let mut most = 0;
    for port in 1..12_000 {
        let segment = Talk::without_syn().there(&deep).segments.remove(0).between((port, 9090));
        let (packet, captured) = segment.captured();
        rpc.add(&packet, &captured, &mut |_| ());
        most = most.max(rpc.waiting_bytes());
    }
    assert!(most > 60 << 20, "the levels are there: {most}");
    assert!(most <= 65 << 20, "{most}");
    rpc.finish(&mut |_| ());
}

#[test]
fn memory_of_calls_that_waited_goes_with_them() {
    let protocol = PROTOCOLS[1];
    let mut rpc = Rpc::new(RpcOptions::default());
    let mut told = 0;
    let mut talk = Talk::new();
    for number in 0..1000 {
        talk = talk.there(&asked("a", number).bytes(protocol));
    }
    for number in 0..1000 {
        talk = talk.back(&answered("a", number).bytes(protocol));
    }
    for segment in &talk.segments {
        let (packet, captured) = segment.captured();
        rpc.add(&packet, &captured, &mut |_| told += 1);
    }
    assert_eq!(told, 1000);
    assert!(rpc.waiting_bytes() < 2000, "{}", rpc.waiting_bytes());
}

#[test]
fn calls_that_nobody_answers_leave_room_for_those_of_other_connections() {
    let protocol = PROTOCOLS[1];
    let mut segments = Vec::new();
    for port in 1..=10 {
        let mut talk = Talk::new();
        for number in 0..50 {
            talk = talk.there(&asked("silent", number).bytes(protocol));
        }
        let one_way = talk.segments.into_iter().filter(|segment| segment.ports.0 == 4000);
        segments.extend(one_way.map(|segment| segment.between((port, 9090))));
    }
    let mut talk = Talk::new();
    for number in 0..20 {
        talk = talk.there(&asked("good", number).bytes(protocol));
    }
    for number in 0..20 {
        talk = talk.back(&answered("good", number).bytes(protocol));
    }
    segments.extend(talk.segments);
    let options = RpcOptions { waiting_total_max: 100, ..RpcOptions::default() };
    let (calls, _, most) = measured(&segments, options);
    let count = |line_: &str| calls.iter().filter(|call| line(call).contains(line_)).count();
    assert_eq!(count("silent"), 500, "none is lost");
    assert_eq!(count("good"), 20);
    assert_eq!(calls.iter().filter(|call| call.latency.is_some()).count(), 20);
    assert!(most < 110 * 400, "{most}");
    // The oldest wait ends first.
    let first = calls.iter().map(|call| call.connection).take(50);
    assert!(first.clone().eq(std::iter::repeat_n(1, 50)), "{:?}", first.collect::<Vec<_>>());
}
