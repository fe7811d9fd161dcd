//! Goal: memory stays within the bounds that were asked for, whatever comes.

use bytewright::tcp::TcpOptions;

use super::conversation::{ACK, FIN, Listener, SYN, heard_with, there};

#[test]
fn one_way_traffic_with_a_gap_waits_within_its_bound() {
    let options = TcpOptions { pending_max: 10_000, ..TcpOptions::default() };
    let mut listener = Listener::new(options);
    listener.hear(&there(ACK, 0, 1, b"begin"));
    for number in 0..1000 {
        // Every second segment is lost, and nobody acknowledges anything.
        listener.hear(&there(ACK, 100 + number * 200, 1, &[b'x'; 100]));
        assert!(listener.tcp().pending_bytes() <= 10_000);
    }
    let (_, streams) = listener.end();
    let seen = streams[0][0].iter().flatten().count();
    assert_eq!(seen, 5 + 1000 * 100, "nothing good is lost");
    assert_eq!(streams[0][0].len(), 200_000);
}

#[test]
fn many_small_pieces_are_counted_with_what_they_cost() {
    let options = TcpOptions { pending_max: 10_000, ..TcpOptions::default() };
    let mut listener = Listener::new(options);
    listener.hear(&there(ACK, 0, 1, b"."));
    for number in 1..1000 {
        listener.hear(&there(ACK, number * 2, 1, b"."));
    }
    let told = listener.events.len();
    assert!(told > 1500, "at most 100 pieces wait, found {} of 2000 told", told);
}

#[test]
fn very_many_pieces_do_not_wait_however_small_they_are() {
    let mut listener = Listener::new(TcpOptions::default());
    listener.hear(&there(ACK, 0, 1, b"."));
    for number in 1..3000 {
        listener.hear(&there(ACK, number * 2, 1, b"."));
    }
    // One gap and one piece for each that had to go.
    assert_eq!(listener.events.len(), 1 + 2 * (2999 - 1024));
    let (_, streams) = listener.end();
    assert_eq!(streams[0][0].iter().flatten().count(), 3000, "nothing good is lost");
}

#[test]
fn what_has_been_missing_for_the_longest_time_is_given_up_first() {
    let options = TcpOptions { pending_total_max: 50_000, ..TcpOptions::default() };
    let mut listener = Listener::new(options);
    let waits = |port, seq| there(ACK, seq, 1, &[b'x'; 500]).between((port, 9090));
    for port in 1..=40 {
        listener.hear(&there(ACK, 0, 1, b"a").between((port, 9090)));
        listener.hear(&waits(port, 5));
    }
    // The second connection goes on, so that the gap in front of it is a new one.
    listener.hear(&there(ACK, 1, 1, b"bcde").between((2, 9090)));
    listener.hear(&waits(2, 600));
    assert!(!listener.events.iter().any(|event| event.contains('[')), "all of it waits");
    for port in 41..=80 {
        listener.hear(&waits(port, 0));
        listener.hear(&waits(port, 600));
    }
    let gaps = listener.events.iter().filter(|event| event.contains('['));
    let gaps: Vec<&str> = gaps.map(|gap| gap.split('>').next().unwrap()).collect();
    let oldest: Vec<String> =
        [1].into_iter().chain(3..).take(gaps.len()).map(|n| n.to_string()).collect();
    assert!(gaps.len() > 30, "{gaps:?}");
    assert_eq!(gaps, oldest);
    assert!(listener.tcp().pending_bytes() <= 50_000);
}

#[test]
fn all_connections_together_stay_within_one_bound() {
    let options = TcpOptions { pending_total_max: 50_000, ..TcpOptions::default() };
    let mut listener = Listener::new(options);
    for port in 1..1000 {
        listener.hear(&there(ACK, 0, 1, b"a").between((port, 9090)));
        listener.hear(&there(ACK, 5, 1, &[b'x'; 500]).between((port, 9090)));
        assert!(listener.tcp().pending_bytes() <= 50_000);
    }
    let (_, streams) = listener.end();
    let seen: usize = streams.iter().map(|sides| sides[0].iter().flatten().count()).sum();
    assert_eq!(seen, 999 * 501);
}

#[test]
fn connections_stay_within_their_number_and_closed_ones_leave_first() {
    let options = TcpOptions { max_connections: 8, ..TcpOptions::default() };
    let mut listener = Listener::new(options);
    for port in 1..500 {
        listener.hear(&there(SYN, 0, 0, b"").between((port, 9090)));
        listener.hear(&there(ACK, 1, 1, b"a").between((port, 9090)));
        assert!(listener.tcp().len() <= 8);
    }
    assert_eq!(listener.tcp().connections(), 499);
    assert_eq!(listener.end().1.len(), 499);
    let reset = there(4, 2, 0, b"").between((2, 9090));
    let mut segments: Vec<_> =
        (1..=8).map(|port| there(ACK, 1, 1, b"a").between((port, 9090))).collect();
    segments.extend([reset, there(ACK, 1, 1, b"b").between((9, 9090))]);
    let heard = heard_with(options, &segments);
    assert_eq!(heard[8..10], ["2.", "9>b"]);
}

#[test]
fn what_was_closed_is_forgotten_after_a_while() {
    let mut listener = Listener::new(TcpOptions::default());
    for port in 1..1000 {
        let ports = (port, 9090);
        let ts = i64::from(port);
        listener.hear(&there(SYN, 0, 0, b"").between(ports).at(ts));
        listener.hear(&there(ACK, 1, 1, b"a").between(ports).at(ts));
        listener.hear(&there(FIN | ACK, 2, 1, b"").between(ports).at(ts));
        listener.hear(&there(FIN | ACK, 1, 3, b"").between((9090, port)).at(ts));
        assert!(listener.tcp().len() < 100, "{} open", listener.tcp().len());
    }
}
