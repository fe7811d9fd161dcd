//! Matching of answers with calls, and the fields of both.

use bytewright::rpc::RpcOptions;
use bytewright::thrift::{Encoding, MessageForm, MessageKind};

use super::talk::{PROTOCOLS, Said, Talk, answered, asked};
use crate::generate::segment::{ACK, SYN, back};

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
        assert_eq!(found.arguments, Some(call.body(protocol.form)));
        assert_eq!(found.result, Some(answer.body(protocol.form)));
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

#[test]
fn an_answer_that_stands_before_its_call_in_the_capture_is_its_answer() {
    for protocol in PROTOCOLS {
        let (call, answer) = (asked("get", 0).bytes(protocol), answered("get", 0).bytes(protocol));
        let mut talk = Talk::new();
        for _ in 0..6 {
            talk = talk.there(&call).back(&answer);
        }
        // Segments 2 and 3 are the first call and its answer; each keeps its time.
        for swapped in [4, 8, 10] {
            talk.segments.swap(swapped, swapped + 1);
        }
        assert_eq!(talk.lines(), ["get 0 returned 1s"; 6], "{protocol:?}");
    }
}

#[test]
fn a_second_answer_to_the_syn_takes_no_answers_from_the_calls() {
    let protocol = PROTOCOLS[1];
    let mut talk = Talk::new();
    for (name, number) in [("alpha", 1), ("beta", 2), ("gamma", 3)] {
        talk = talk.there(&asked(name, number).bytes(protocol));
        talk = talk.back(&answered(name, number).bytes(protocol));
    }
    let expected = ["alpha 1 returned 1s", "beta 2 returned 1s", "gamma 3 returned 1s"];
    for place in 1..=talk.segments.len() {
        let mut talk = talk.clone();
        talk.segments.insert(place, back(SYN | ACK, 777_777, 100, b""));
        assert_eq!(talk.lines(), expected, "at {place}");
    }
}

#[test]
fn an_answer_whose_call_is_lost_is_not_that_of_a_later_call() {
    for protocol in PROTOCOLS {
        let (call, answer) = (asked("get", 0).bytes(protocol), answered("get", 0).bytes(protocol));
        let other = answered("other", 0).bytes(protocol);
        let talk = Talk::new()
            .there(&call)
            .back(&answer)
            .there(&call)
            .lost()
            .back(&answer)
            .there(&call)
            .back(&answer)
            // Of two answers without a call, the first one waits no longer; nor does one at the end.
            .back(&answer)
            .back(&other);
        let (whole, lonely) = ("get 0 returned 1s", "get 0 returned");
        let expected = [whole, lonely, whole, lonely, "other 0 returned"];
        assert_eq!(talk.lines(), expected, "{protocol:?}");
    }
}

#[test]
fn an_answer_that_lost_its_end_is_not_that_of_a_call_that_came_after_it() {
    for protocol in PROTOCOLS {
        let (call, answer) = (asked("get", 0).bytes(protocol), answered("get", 0).bytes(protocol));
        let large = answered("get", 0).field(Some((0, &[b'x'; 4000]))).bytes(protocol);
        let talk = Talk::new()
            .there(&call)
            .back(&answer)
            .there(&call)
            .lost()
            .back(&large[..2000])
            .back(&large[2000..])
            .lost()
            .there(&call)
            .back(&answer);
        let mut lines = talk.lines();
        lines.sort();
        let whole = "get 0 returned 1s";
        assert_eq!(lines, ["get 0 returned", whole, whole], "{protocol:?}");
    }
}

#[test]
fn text_that_holds_a_message_of_any_length_takes_nothing_of_what_follows() {
    for protocol in [PROTOCOLS[0], PROTOCOLS[2]] {
        let (call, answer) = (asked("get", 7).bytes(protocol), answered("get", 7).bytes(protocol));
        // The only field of the recorded message, which is its end, claims a string of 1.5 GB.
        let mut text = vec![b'x'; 2000];
        text.extend_from_slice(&asked("recorded", 1).field(None).bytes(protocol));
        text.pop();
        match protocol.form {
            MessageForm::Packed(Encoding::Binary) => {
                text.extend_from_slice(b"\x0b\0\x01\x59\x68\x2f\0")
            }
            _ => text.extend_from_slice(b"\x18\x80\xde\xa0\xcb\x05"),
        }
        text.extend_from_slice(&[b'y'; 2000]);
        let large = answered("get", 7).field(Some((0, &text))).bytes(protocol);
        let mut talk = Talk::new().there(&call).back(&answer).there(&call);
        talk = talk.back(&large[..500]).back(&large[500..1500]).lost().back(&large[1500..]);
        for _ in 0..20 {
            talk = talk.there(&call).back(&answer);
        }
        let lines = talk.lines();
        let count = lines.iter().filter(|line| *line == "get 7 returned 1s").count();
        assert_eq!(count, 21, "{protocol:?}: {lines:?}");
    }
}

#[test]
fn an_answer_that_is_cut_before_its_first_field_is_told_as_cut() {
    for protocol in PROTOCOLS {
        let answer = answered("b", 2).field(Some((1, b"declared")));
        let (bytes, body) = (answer.bytes(protocol), answer.body(protocol.form));
        let before = bytes.len() - body.len();
        let talk = Talk::new()
            .there(&asked("a", 1).bytes(protocol))
            .back(&answered("a", 1).bytes(protocol))
            .there(&asked("b", 2).bytes(protocol));
        assert_eq!(talk.clone().back(&bytes[..before]).lines()[1], "b 2 cut", "{protocol:?}");
        let cut_later = talk.back(&bytes[..before + 3]);
        assert_eq!(cut_later.lines()[1], "b 2 exception", "{protocol:?}");
    }
}

#[test]
fn bytes_behind_a_gap_are_not_taken_for_the_first_of_an_answer() {
    let protocol = PROTOCOLS[1];
    let answer = answered("b", 2).field(Some((0, &[0xff; 3000]))).bytes(protocol);
    let before =
        answer.len() - answered("b", 2).field(Some((0, &[0xff; 3000]))).body(protocol.form).len();
    let talk = Talk::new()
        .there(&asked("a", 1).bytes(protocol))
        .back(&answered("a", 1).bytes(protocol))
        .there(&asked("b", 2).bytes(protocol))
        .back(&answer[..before])
        .back(&answer[before..1000])
        .lost()
        .back(&answer[1000..])
        .there(&asked("c", 3).bytes(protocol));
    assert_eq!(talk.lines(), ["a 1 returned 1s", "b 2 cut", "c 3 unanswered"]);
}

#[test]
fn what_looks_like_a_message_behind_lost_bytes_is_told_only_when_it_is_whole() {
    for protocol in PROTOCOLS {
        let long = asked("text", 9).field(Some((1, &[b'x'; 3000]))).bytes(protocol);
        let talk = Talk::new()
            .there(&asked("a", 1).bytes(protocol))
            .back(&answered("a", 1).bytes(protocol))
            // Some bytes of a message, and among those that follow what looks like another one.
            .there(&[b'x'; 100])
            .lost()
            .there(&[&[b'x'; 100], &long[..1000]].concat());
        assert_eq!(talk.lines(), ["a 1 returned 1s"], "cut by the end, {protocol:?}");
        let whole = talk.there(&long[1000..]);
        assert_eq!(whole.lines()[1], "text 9 unanswered", "{protocol:?}");
    }
}

#[test]
fn a_message_among_bytes_that_waited_for_the_rest_of_another_header_is_found() {
    // Bytes that begin a message whose name is very long, and in the same segment a whole one.
    let protocol = PROTOCOLS[0];
    let long_name = [&[0x80, 1, 0, 1, 0, 0, 0, 250][..], b"name"].concat();
    let talk = Talk::new()
        .there(&asked("a", 1).bytes(protocol))
        .back(&answered("a", 1).bytes(protocol))
        .there(b"bytes of a message")
        .lost()
        .there(&[b"of another", &long_name[..], &asked("b", 2).bytes(protocol)].concat())
        .there(&asked("c", 3).bytes(protocol))
        .there(&asked("d", 4).field(Some((1, &[b'x'; 300]))).bytes(protocol));
    let found = ["a 1 returned 1s", "b 2 unanswered", "c 3 unanswered", "d 4 unanswered"];
    assert_eq!(talk.lines(), found);
}
