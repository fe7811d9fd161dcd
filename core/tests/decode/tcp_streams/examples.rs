//! Situations found in captures, one at a time.

use bytewright::tcp::TcpOptions;

use super::conversation::{ACK, FIN, Listener, RST, SYN, Segment, back, heard, heard_with, there};

#[test]
fn both_directions_come_in_the_order_in_which_they_were_said() {
    let segments = [
        there(SYN, 99, 0, b""),
        back(SYN | ACK, 499, 100, b""),
        there(ACK, 100, 500, b""),
        there(ACK, 100, 500, b"ask"),
        back(ACK, 500, 103, b"answer"),
        there(ACK, 103, 506, b"again"),
        there(FIN | ACK, 108, 506, b""),
        back(FIN | ACK, 506, 109, b"bye"),
    ];
    assert_eq!(heard(&segments), ["1>ask", "1<answer", "1>again", "1<bye", "1."]);
}

#[test]
fn who_sent_the_syn_is_the_initiator_even_if_the_answer_was_captured_first() {
    let segments =
        [back(SYN | ACK, 499, 100, b""), there(SYN, 99, 0, b""), there(ACK, 100, 500, b"x")];
    assert_eq!(heard(&segments), ["1>x", "1."]);
}

#[test]
fn a_connection_may_begin_without_its_syn() {
    let segments =
        [there(ACK, 7000, 1, b"mid"), back(ACK, 1, 7003, b"dle"), there(ACK, 7003, 4, b"!")];
    assert_eq!(heard(&segments), ["1>mid", "1<dle", "1>!", "1."]);
}

#[test]
fn segments_that_come_late_or_twice_are_put_in_order_once() {
    let segments = [
        there(ACK, 10, 1, b"a"),
        there(ACK, 13, 1, b"d"),
        there(ACK, 12, 1, b"c"),
        there(ACK, 10, 1, b"a"),
        there(ACK, 11, 1, b"b"),
        there(ACK, 11, 1, b"bcd"),
        there(ACK, 12, 1, b"cdef"),
    ];
    assert_eq!(heard(&segments), ["1>a", "1>b", "1>c", "1>d", "1>ef", "1."]);
}

#[test]
fn segments_that_bring_nothing_new_or_fill_a_gap_are_counted() {
    let cases: [(&str, &[Segment], (u64, u64)); 10] = [
        ("in order", &[there(ACK, 10, 1, b"a"), there(ACK, 11, 1, b"b")], (0, 0)),
        ("twice", &[there(ACK, 10, 1, b"ab"), there(ACK, 10, 1, b"ab")], (1, 0)),
        ("a part is new", &[there(ACK, 10, 1, b"ab"), there(ACK, 11, 1, b"bc")], (0, 0)),
        (
            "twice behind a gap",
            &[there(ACK, 10, 1, b"a"), there(ACK, 13, 1, b"d"), there(ACK, 13, 1, b"d")],
            (1, 0),
        ),
        ("keepalive", &[there(ACK, 10, 1, b"ab"), there(ACK, 11, 1, b"b")], (0, 0)),
        (
            "a gap is filled",
            &[there(ACK, 10, 1, b"a"), there(ACK, 12, 1, b"c"), there(ACK, 11, 1, b"b")],
            (0, 1),
        ),
        (
            "a gap is filled in two parts, and then again",
            &[
                there(ACK, 10, 1, b"a"),
                there(ACK, 14, 1, b"e"),
                there(ACK, 11, 1, b"b"),
                there(ACK, 12, 1, b"cd"),
                there(ACK, 12, 1, b"cd"),
            ],
            (1, 2),
        ),
        (
            "it goes on behind a gap",
            &[there(ACK, 10, 1, b"a"), there(ACK, 12, 1, b"c"), there(ACK, 12, 1, b"cd")],
            (0, 0),
        ),
        (
            "late, where the other side had acknowledged",
            &[
                there(ACK, 10, 1, b"a"),
                there(ACK, 12, 1, b"c"),
                back(ACK, 1, 13, b""),
                there(ACK, 11, 1, b"b"),
            ],
            (1, 0),
        ),
        ("the same SYN", &[there(SYN, 9, 0, b""), there(SYN, 9, 0, b"")], (1, 0)),
    ];
    for (case, segments, expected) in cases {
        let mut listener = Listener::new(TcpOptions::default());
        segments.iter().for_each(|segment| listener.hear(segment));
        let tcp = listener.tcp();
        assert_eq!((tcp.repeated_segments(), tcp.filling_segments()), expected, "{case}");
    }
}

#[test]
fn of_bytes_that_differ_the_first_copy_counts() {
    let segments = [
        there(ACK, 10, 1, b"a"),
        there(ACK, 13, 1, b"DE"),
        there(ACK, 12, 1, b"cdefg"),
        there(ACK, 11, 1, b"bXXXXXh"),
    ];
    assert_eq!(heard(&segments), ["1>a", "1>b", "1>c", "1>DE", "1>fg", "1>h", "1."]);
}

#[test]
fn numbers_go_on_behind_two_to_the_thirty_second() {
    let segments = [
        there(SYN, u32::MAX - 2, 0, b""),
        there(ACK, u32::MAX - 1, 1, b"ab"),
        there(ACK, 2, 1, b"ef"),
        there(ACK, 0, 1, b"cd"),
        there(ACK, u32::MAX - 1, 1, b"ab"),
    ];
    assert_eq!(heard(&segments), ["1>ab", "1>cd", "1>ef", "1."]);
}

#[test]
fn what_the_other_end_acknowledged_and_nobody_captured_is_a_gap() {
    let segments = [
        there(ACK, 10, 1, b"a"),
        there(ACK, 15, 1, b"f"),
        // It has everything up to 13, and the bytes behind the gap are not known to be there.
        back(ACK, 1, 13, b"not yet"),
        back(ACK, 8, 16, b"now"),
        there(ACK, 11, 1, b"late"),
    ];
    assert_eq!(heard(&segments), ["1>a", "1<not yet", "1>[4]", "1>f", "1<now", "1."]);
}

#[test]
fn a_gap_that_nobody_acknowledges_ends_with_the_capture() {
    let segments =
        [there(ACK, 10, 1, b"a"), there(FIN | ACK, 15, 1, b"f"), there(ACK, 20, 1, b"k")];
    assert_eq!(heard(&segments), ["1>a", "1>[4]", "1>f", "1>[4]", "1>k", "1."]);
}

#[test]
fn what_the_other_side_says_loses_nothing_that_waits() {
    let segments = [
        there(ACK, 10, 1, b"a"),
        there(ACK, 12, 1, b"c"),
        back(ACK, 1, 11, b"words"),
        there(ACK, 11, 6, b"b"),
    ];
    assert_eq!(heard(&segments), ["1>a", "1<words", "1>b", "1>c", "1."]);
}

#[test]
fn a_packet_that_was_cut_gives_what_there_is_and_a_gap() {
    let segments = [
        there(ACK, 10, 1, b"0123456789").cut(4),
        there(ACK, 20, 1, b"next"),
        there(ACK, 30, 1, b"wait").cut(3),
        there(ACK, 24, 1, b"......"),
    ];
    let expected = ["1>012345", "1>[4]", "1>next", "1>......", "1>w", "1>[3]", "1."];
    assert_eq!(heard(&segments), expected);
}

#[test]
fn keepalives_and_probes_of_a_closed_window_give_no_byte_twice() {
    let segments = [
        there(ACK, 10, 1, b"abc"),
        // A keepalive repeats the last byte, or none before the next; a probe sends one byte ahead.
        there(ACK, 12, 1, b"c"),
        there(ACK, 12, 1, b""),
        back(ACK, 1, 13, b""),
        there(ACK, 13, 1, b"d"),
        back(ACK, 1, 13, b""),
        there(ACK, 13, 1, b"de"),
    ];
    assert_eq!(heard(&segments), ["1>abc", "1>d", "1>e", "1."]);
}

#[test]
fn a_syn_with_another_number_is_another_connection() {
    let segments = [
        there(SYN, 99, 0, b""),
        there(ACK, 100, 1, b"one"),
        there(SYN, 99, 0, b""),
        there(RST, 103, 0, b""),
        there(SYN, 5000, 0, b""),
        back(SYN | ACK, 7000, 5001, b""),
        there(ACK, 5001, 7001, b"two"),
        back(ACK, 7001, 5004, b"too"),
    ];
    assert_eq!(heard(&segments), ["1>one", "1.", "2>two", "2<too", "2."]);
}

#[test]
fn of_answers_with_different_numbers_the_one_that_is_acknowledged_counts() {
    let stray = || back(SYN | ACK, 777_777, 100, b"");
    let opened = || [there(SYN, 99, 0, b""), back(SYN | ACK, 499, 100, b"")];
    let said = || {
        [
            there(ACK, 100, 500, b"one"),
            back(ACK, 500, 103, b"two"),
            there(ACK, 103, 503, b"three"),
            back(ACK, 503, 108, b"four"),
        ]
    };
    let whole: Vec<_> = opened().into_iter().chain(said()).collect();
    let expected = ["1>one", "1<two", "1>three", "1<four", "1."];
    for place in 1..=whole.len() {
        let mut segments = whole.clone();
        segments.insert(place, stray());
        assert_eq!(heard(&segments), expected, "the stray one at {place}");
    }
    // Who was asked twice may answer twice, and the second answer is the one that counts.
    let twice =
        [there(SYN, 99, 0, b""), stray(), there(SYN, 99, 0, b""), back(SYN | ACK, 499, 100, b"")];
    assert_eq!(heard(&twice.into_iter().chain(said()).collect::<Vec<_>>()), expected);
    // An answer to another SYN, which is not in the capture, is another connection.
    let mut segments = whole;
    segments.extend([back(SYN | ACK, 7000, 5001, b""), there(ACK, 5001, 7001, b"new")]);
    assert_eq!(heard(&segments)[4..], ["1.", "2>new", "2."]);
}

#[test]
fn a_syn_that_was_captured_late_is_no_other_connection() {
    let segments = [there(ACK, 100, 1, b"one"), there(SYN, 99, 0, b""), there(ACK, 103, 1, b"two")];
    assert_eq!(heard(&segments), ["1>one", "1>two", "1."]);
}

#[test]
fn a_syn_may_carry_bytes() {
    let segments = [there(SYN, 99, 0, b"early"), there(ACK, 105, 1, b"late")];
    assert_eq!(heard(&segments), ["1>early", "1>late", "1."]);
}

#[test]
fn a_connection_that_was_idle_too_long_has_ended() {
    let options = TcpOptions { idle_timeout: Some(60_000_000_000), ..TcpOptions::default() };
    let segments = [
        there(ACK, 10, 1, b"a").at(0),
        there(ACK, 11, 1, b"b").at(60),
        there(ACK, 12, 1, b"c").at(121),
    ];
    assert_eq!(heard_with(options, &segments), ["1>a", "1>b", "1.", "2>c", "2."]);
    let never = TcpOptions { idle_timeout: None, ..TcpOptions::default() };
    assert_eq!(heard_with(never, &segments), ["1>a", "1>b", "1>c", "1."]);
}

#[test]
fn a_number_that_cannot_be_old_is_ahead() {
    let segments = [there(ACK, 10, 1, b"a"), there(ACK, 11u32.wrapping_sub(1 << 30) - 1, 1, b"b")];
    assert_eq!(
        heard(&segments),
        ["1>a".to_owned(), format!("1>[{}]", 3u64 * (1 << 30) - 1), "1>b".into(), "1.".into()]
    );
}
