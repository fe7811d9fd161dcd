//! Messages in frames of THeader: deflated, damaged, and cut.

use bytewright::rpc::{Framing, Protocol, RpcOptions};
use bytewright::thrift::{Encoding, INFLATED_MAX, MessageForm};

use super::talk::{PROTOCOLS, Talk, answered, asked, framed, header_frame, zlib_stored};

const FORMS: [MessageForm; 3] = [
    MessageForm::Packed(Encoding::Binary),
    MessageForm::Packed(Encoding::Compact),
    MessageForm::Json,
];

#[test]
fn a_deflated_call_is_told_with_its_structs_however_it_is_cut() {
    for form in FORMS {
        let (call, answer) = (asked("find", 7), answered("find", 7));
        let (sent, received) = (call.deflated(form), answer.deflated(form));
        for len in [1, 3, 50, 1000] {
            let mut talk = Talk::new();
            for piece in sent.chunks(len) {
                talk = talk.there(piece);
            }
            for piece in received.chunks(len) {
                talk = talk.back(piece);
            }
            let keeps_messages = true;
            let calls = talk.calls_with(RpcOptions { keeps_messages, ..RpcOptions::default() });
            let [found] = calls.as_slice() else { panic!("one call: {calls:?}") };
            assert_eq!((&*found.method, found.sequence_id), ("find", 7));
            assert_eq!(found.protocol, Protocol { form, framing: Framing::Header });
            assert_eq!(found.request_bytes, Some(sent.len() as u64));
            assert_eq!(found.reply_bytes, Some(received.len() as u64));
            assert_eq!(found.arguments, Some(call.body(form)));
            assert_eq!(found.result, Some(answer.body(form)));
            let pieces = sent.len().div_ceil(len) + received.len().div_ceil(len) - 1;
            assert_eq!(found.latency, Some(pieces as u64 * 1_000_000_000));
        }
    }
}

#[test]
fn a_long_header_is_passed_up_to_its_bound() {
    let message = asked("find", 1).bytes(PROTOCOLS[0]);
    for (words, count) in [(10, 1), (256, 1), (257, 0)] {
        let header = vec![0; 4 * words];
        let words = (words as u16).to_be_bytes();
        let frame = [b"\x0f\xff\0\0\0\0\0\0", &words[..], &header, &message].concat();
        let frame = framed(&frame);
        for len in [7, 5000] {
            let mut talk = Talk::new();
            for piece in frame.chunks(len) {
                talk = talk.there(piece);
            }
            assert_eq!(talk.lines().len(), count, "{words:?} words in pieces of {len}");
        }
    }
}

#[test]
fn behind_a_damaged_frame_calls_are_found_again() {
    let encoding = Encoding::Binary;
    let good = |number| asked("good", number).bytes(PROTOCOLS[4]);
    let message = asked("bad", 2).bytes(PROTOCOLS[0]);
    let stream = zlib_stored(&message);
    let mut checksum = stream.clone();
    *checksum.last_mut().unwrap() ^= 1;
    let bad = [
        framed(&header_frame(encoding, &[1], &checksum)),
        framed(&header_frame(encoding, &[1], &stream[..stream.len() - 1])),
        framed(&header_frame(encoding, &[1], &zlib_stored(&message[..message.len() - 1]))),
        framed(&header_frame(encoding, &[1], &zlib_stored(&[&message[..], b"more"].concat()))),
        framed(&header_frame(encoding, &[1], b"no zlib")),
        framed(&header_frame(encoding, &[2], &message)),
        framed(&header_frame(encoding, &[3], &stream)),
        framed(&header_frame(encoding, &[1, 1], &stream)),
        framed(&header_frame(encoding, &[1], &zlib_stored(&vec![0; INFLATED_MAX as usize / 20]))),
    ];
    for bad in bad {
        let talk = Talk::new().there(&good(1)).there(&bad).there(&good(3));
        assert_eq!(talk.lines(), ["good 1 unanswered", "good 3 unanswered"]);
        // Nothing before it says that there are calls.
        assert_eq!(Talk::new().there(&bad).lines(), [""; 0]);
    }
}

#[test]
fn a_deflated_message_of_which_bytes_are_lost_is_passed() {
    let protocol = PROTOCOLS[5];
    let lost = asked("lost", 2).deflated(Encoding::Compact);
    let (start, end) = lost.split_at(50);
    let (part, end) = end.split_at(10);
    let talk = Talk::new()
        .there(&asked("a", 1).bytes(protocol))
        .there(start)
        .there(part)
        .lost()
        .there(end)
        .there(&asked("b", 3).deflated(Encoding::Compact));
    assert_eq!(talk.lines(), ["a 1 unanswered", "b 3 unanswered"]);
}

#[test]
fn a_deflated_frame_beyond_the_bounds_is_passed() {
    let protocol = PROTOCOLS[4];
    let text = vec![b'x'; 1 << 20];
    let long = asked("long", 2).field(Some((1, &text))).deflated(Encoding::Compact);
    let talk = Talk::new()
        .there(&asked("a", 1).bytes(protocol))
        .there(&long)
        .there(&asked("b", 3).bytes(protocol));
    assert_eq!(talk.lines(), ["a 1 unanswered", "b 3 unanswered"]);
    let few = RpcOptions { messages_total_max: 100, ..RpcOptions::default() };
    let middle = asked("middle", 2).field(Some((1, &[b'x'; 100]))).deflated(Encoding::Compact);
    let talk = Talk::new().there(&middle).there(&asked("b", 3).deflated(Encoding::Compact));
    assert_eq!(talk.calls().len(), 2);
    assert!(talk.calls_with(few).len() < 2);
}
