//! Memory stays within its bounds.

use bytewright::rpc::{Rpc, RpcOptions, Summary};

use crate::talk::{PROTOCOLS, Talk, answered, asked, calls, line};

#[test]
fn a_message_is_not_kept_unless_somebody_wants_it() {
    for protocol in PROTOCOLS {
        let large = answered("large", 1).field(Some((0, &vec![7; 3_000_000]))).bytes(protocol);
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
fn structs_that_wait_for_answers_are_bounded_together() {
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
    assert!(kept > 5 && kept < 11, "{kept}");
}

#[test]
fn sums_of_very_many_methods_are_bounded_and_lose_no_call() {
    let protocol = PROTOCOLS[1];
    let names: Vec<String> = (0..5000).map(|number| format!("method{number}")).collect();
    let mut talk = Talk::new();
    for name in &names {
        talk = talk.there(&asked(name, 0).bytes(protocol)).back(&answered(name, 0).bytes(protocol));
    }
    let mut summary = Summary::new();
    calls(&talk.segments, RpcOptions::default()).iter().for_each(|call| summary.add(call));
    let methods = summary.into_sorted();
    assert_eq!(methods.len(), 4097);
    let others = methods.iter().find(|(name, _)| &**name == "(others)").unwrap();
    assert_eq!(others.1.calls, 5000 - 4096);
}
