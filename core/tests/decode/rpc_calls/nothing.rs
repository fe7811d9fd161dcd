//! Tests that bytes that are no Thrift give no call.

use bytewright::thrift::{Encoding, MessageKind};

use super::talk::{PROTOCOLS, Talk, answered, asked};
use crate::generate::seeds;

#[test]
fn messages_that_are_not_quite_messages_give_no_call() {
    let good = asked("find", 1).bytes(PROTOCOLS[1]);
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    assert_eq!(Talk::new().there(&good).lines(), ["find 1 unanswered"]);
    for (why, bytes) in [
        ("a frame that is shorter than its struct", changed(3, good[3] - 1)),
        ("a frame that is longer", changed(3, good[3] + 1)),
        ("another version", changed(5, 2)),
        ("a byte that is always 0", changed(6, 1)),
        ("no kind", changed(7, 5)),
        ("a name that is none", changed(12, b' ')),
        ("a type that is none", changed(20, 5)),
    ] {
        let talk = Talk::new().there(&bytes).back(&bytes);
        assert_eq!(talk.lines(), [""; 0], "{why}");
    }
    // Compact alone has few fixed bits: one message is no proof.
    let lonely = asked("x", 1).kind(MessageKind::ONEWAY).bytes(PROTOCOLS[2]);
    assert_eq!(Talk::new().there(&lonely).lines(), [""; 0]);
    assert_eq!(Talk::new().there(&lonely).there(&lonely).lines(), ["x 1 oneway", "x 1 oneway"]);
}

#[test]
fn a_message_inside_of_other_bytes_is_what_somebody_sends_and_no_call() {
    for protocol in PROTOCOLS {
        let message = answered("find", 1).bytes(protocol);
        let body = [b"HTTP/1.1 200 OK\r\n\r\n", message.as_slice(), message.as_slice()].concat();
        assert_eq!(Talk::new().there(b"GET / HTTP/1.1\r\n\r\n").back(&body).lines(), [""; 0]);
    }
}

#[test]
fn random_bytes_that_look_a_little_like_messages_give_no_call() {
    seeds(300, |random| {
        let mut talk = Talk::new();
        for _ in 0..40 {
            let mut bytes = random.bytes(200);
            let start =
                random.pick(&[&[0x82, 0x21, 0][..], &[0x80, 1, 0, 1, 0, 0], &[0, 0, 0, 60, 0x82]]);
            if !random.once_in(4) {
                bytes[..start.len()].copy_from_slice(start);
            }
            talk = if random.once_in(2) { talk.there(&bytes) } else { talk.back(&bytes) };
        }
        assert_eq!(talk.lines(), [""; 0]);
    });
}

#[test]
fn a_connection_that_is_thrift_keeps_its_protocol() {
    let other = asked("other", 2).bytes(PROTOCOLS[0]);
    let inside = [&(other.len() as u32).to_be_bytes()[..], &other].concat();
    assert_eq!(PROTOCOLS[1].form, Encoding::Binary.into());
    let talk = Talk::new()
        .there(&asked("a", 1).bytes(PROTOCOLS[3]))
        .back(&answered("a", 1).bytes(PROTOCOLS[3]))
        .there(&inside)
        .there(&asked("b", 3).bytes(PROTOCOLS[3]))
        .back(&answered("b", 3).bytes(PROTOCOLS[3]));
    assert_eq!(talk.lines(), ["a 1 returned 1s", "b 3 returned 1s"]);
}
