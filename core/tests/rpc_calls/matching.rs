//! Which answer belongs to which call, and what is known of both.

use bytewright::rpc::RpcOptions;
use bytewright::thrift::MessageKind;

use crate::talk::{PROTOCOLS, Said, Talk, answered, asked};

#[test]
fn a_call_is_told_with_its_answer_in_every_protocol() {
    for protocol in PROTOCOLS {
        let (call, answer) = (asked("find", 7), answered("find", 7));
        let talk = Talk::new().there(&call.bytes(protocol)).back(&answer.bytes(protocol));
        let keeps_messages = true;
        let calls = talk.calls_with(RpcOptions { keeps_messages, ..RpcOptions::default() });
        let [found] = calls.as_slice() else { panic!("one call, {protocol:?}: {calls:?}") };
        assert_eq!((&*found.method, found.sequence_id), ("find", 7));
        assert_eq!((found.protocol, found.connection), (protocol, 1));
        assert_eq!(found.client.to_string(), "10.0.0.1:4000");
        assert_eq!(found.server.to_string(), "10.0.0.2:9090");
        assert_eq!((found.ts, found.latency), (Some(1_000_000_000), Some(1_000_000_000)));
        assert_eq!(found.request_bytes, Some(call.bytes(protocol).len() as u64));
        assert_eq!(found.reply_bytes, Some(answer.bytes(protocol).len() as u64));
        assert_eq!(found.arguments, Some(call.body(protocol.encoding)));
        assert_eq!(found.result, Some(answer.body(protocol.encoding)));
    }
}

#[test]
fn outcomes_are_told_apart() {
    for protocol in PROTOCOLS {
        let bytes = |said: Said<'_>| said.bytes(protocol);
        let exception = answered("b", 2).field(Some((1, b"declared")));
        let far = answered("c", 3).field(Some((1000, b"declared, with a large id")));
        let failure =
            answered("d", 4).kind(MessageKind::EXCEPTION).field(Some((1, b"no such method")));
        let nothing = answered("e", 5).field(None);
        let talk = Talk::new()
            .there(&bytes(asked("a", 1)))
            .back(&bytes(answered("a", 1)))
            .there(&bytes(asked("b", 2)))
            .back(&bytes(exception))
            .there(&bytes(asked("c", 3)))
            .back(&bytes(far))
            .there(&bytes(asked("d", 4)))
            .back(&bytes(failure))
            .there(&bytes(asked("e", 5)))
            .back(&bytes(nothing))
            .there(&bytes(asked("f", 6).kind(MessageKind::ONEWAY)))
            .there(&bytes(asked("g", 7)));
        let expected = [
            "a 1 returned 1s",
            "b 2 exception 1s",
            "c 3 exception 1s",
            "d 4 failure 1s",
            "e 5 returned 1s",
            "f 6 oneway",
            "g 7 unanswered",
        ];
        assert_eq!(talk.lines(), expected, "{protocol:?}");
    }
}

#[test]
fn answers_find_their_calls_by_number_and_name_in_any_order() {
    for protocol in PROTOCOLS {
        let all = [asked("a", 1), asked("b", 1), asked("a", 2), asked("a", 0), asked("a", 0)];
        let calls: Vec<u8> = all.iter().flat_map(|said| said.bytes(protocol)).collect();
        let talk = Talk::new()
            .there(&calls)
            .back(&answered("a", 2).bytes(protocol))
            .back(&answered("b", 1).bytes(protocol))
            .back(&[answered("a", 0).bytes(protocol), answered("a", 0).bytes(protocol)].concat())
            .back(&answered("c", 1).bytes(protocol));
        let expected = [
            "a 2 returned 1s",
            "b 1 returned 2s",
            "a 0 returned 3s",
            "a 0 returned 3s",
            // Its call is not in the capture.
            "c 1 returned",
            "a 1 unanswered",
        ];
        assert_eq!(talk.lines(), expected, "{protocol:?}");
    }
}

#[test]
fn either_side_may_call() {
    let protocol = PROTOCOLS[1];
    let talk = Talk::new()
        .there(&asked("up", 1).bytes(protocol))
        .back(&[asked("down", 1).bytes(protocol), answered("up", 1).bytes(protocol)].concat())
        .there(&answered("down", 1).bytes(protocol));
    assert_eq!(talk.lines(), ["up 1 returned 1s", "down 1 returned 1s"]);
    let calls = talk.calls();
    assert_eq!(calls[0].client, calls[1].server);
}

#[test]
fn a_capture_may_begin_inside_of_a_message_and_end_inside_of_one() {
    for protocol in PROTOCOLS {
        let first = answered("lost", 1).field(Some((0, &[b'x'; 5000]))).bytes(protocol);
        let last = answered("cut", 3).field(Some((0, &[b'x'; 5000]))).bytes(protocol);
        let talk = Talk::without_syn()
            .back(&first[3000..])
            .there(&asked("b", 2).bytes(protocol))
            .back(&answered("b", 2).bytes(protocol))
            .there(&asked("cut", 3).bytes(protocol))
            .back(&last[..3000]);
        assert_eq!(talk.lines(), ["b 2 returned 1s", "cut 3 returned"], "{protocol:?}");
    }
}

#[test]
fn what_follows_lost_bytes_is_found_again() {
    for protocol in PROTOCOLS {
        let bytes = |said: Said<'_>| said.bytes(protocol);
        let large = |from| answered("large", from).field(Some((0, &[b'x'; 4000]))).bytes(protocol);
        let talk = Talk::new()
            .there(&bytes(asked("a", 1)))
            .back(&bytes(answered("a", 1)))
            // A call that was lost, whose answer was not.
            .there(&bytes(asked("b", 2)))
            .lost()
            .back(&bytes(answered("b", 2)))
            // The middle of an answer.
            .there(&bytes(asked("large", 3)))
            .back(&large(3)[..1000])
            .back(&large(3)[1000..2000])
            .lost()
            .back(&large(3)[2000..])
            // Messages that begin in the middle of a segment behind a gap.
            .there(&bytes(asked("c", 4)))
            .lost()
            .there(&[&bytes(asked("d", 5))[5..], &bytes(asked("e", 6))].concat())
            .back(&bytes(answered("e", 6)))
            .there(&bytes(asked("f", 7)))
            .back(&bytes(answered("f", 7)));
        let lines = talk.lines();
        let found: Vec<&str> = lines.iter().map(String::as_str).collect();
        // Of an answer with a gap in it, a frame tells the end and a struct does not.
        let mut expected = vec!["a 1 returned 1s", "b 2 returned", "large 3 returned"];
        expected.extend(["e 6 returned 1s", "f 7 returned 1s"]);
        assert_eq!(found, expected, "{protocol:?}");
    }
}

#[test]
fn a_lost_answer_leaves_the_later_calls_of_one_number_their_own() {
    for protocol in PROTOCOLS {
        let (call, answer) = (asked("get", 0).bytes(protocol), answered("get", 0).bytes(protocol));
        let mut talk = Talk::new();
        for lost in [false, true, false, true, true, false, false] {
            talk = talk.there(&call).back(&answer);
            talk = if lost { talk.lost() } else { talk };
        }
        let (answered, unanswered) = ("get 0 returned 1s", "get 0 unanswered");
        let expected = [answered, unanswered, answered, unanswered, unanswered, answered, answered];
        assert_eq!(talk.lines(), expected, "{protocol:?}");
    }
}
