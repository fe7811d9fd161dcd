//! The state of a connection and its history in the letters of Zeek's conn.log.
//!
//! Source: Zeek's documentation of `Conn::Info`, fields `conn_state` and `history`
//! (<https://docs.zeek.org/en/master/scripts/base/protocols/conn/main.zeek.html>).

use super::tcp::{ACK, FIN, Findings, RST, SYN, SegmentFacts};

/// State of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Endpoint {
    /// Nothing came from it.
    #[default]
    Inactive,
    SynSent,
    /// It began with the answer to a SYN, which was not seen.
    SynAckSent,
    /// It sent, and no handshake was seen.
    Partial,
    Established,
    Closed,
    Reset,
}

/// Letters of one endpoint that count, and come again in the history with each tenfold of the count.
const SCALED: [char; 3] = ['G', 'T', 'W'];

/// Letters that a history has at most. Those that come once and those that count are fewer.
pub(super) const LETTERS_MAX: usize = 64;

/// Events of a connection. Endpoint 0 and 1 are those of the flow's key; the initiator's letters are large.
#[derive(Debug, Default)]
pub(super) struct History {
    endpoints: [Endpoint; 2],
    letters: String,
    /// The letters that came, a bit for each from A on: that most packets bring no new one is told without the text.
    known: u64,
    /// Counts of the letters of [`SCALED`], by endpoint.
    counts: [[u64; SCALED.len()]; 2],
    payload: [bool; 2],
    /// True of an endpoint that has sent a FIN.
    has_closed: [bool; 2],
}

impl History {
    /// Takes a segment of TCP.
    pub(super) fn take(
        &mut self,
        from: usize,
        initiator: usize,
        segment: &SegmentFacts,
        findings: Findings,
    ) {
        let is_first = from == initiator;
        let carries = segment.len > 0;
        match segment.flags & (SYN | ACK) {
            SYN => self.once('S', is_first),
            both if both == SYN | ACK => self.once('H', is_first),
            _ => {}
        }
        for (counts, letter) in [
            (findings.follows_gap, 'G'),
            (findings.repeats && carries, 'T'),
            (findings.closes_window, 'W'),
        ] {
            if counts {
                self.counted(letter, from, is_first);
            }
        }
        if segment.flags & (SYN | FIN | RST | ACK) == ACK && !carries {
            self.once('A', is_first);
        }
        if carries {
            self.once('D', is_first);
        }
        if segment.has(FIN) {
            self.once('F', is_first);
        }
        if segment.has(RST) {
            self.once('R', is_first);
        }
        self.payload[from] |= carries;
        self.follow(from, segment);
    }

    /// Takes a datagram.
    pub(super) fn take_datagram(&mut self, from: usize, initiator: usize) {
        self.once('D', from == initiator);
        self.endpoints[from] = Endpoint::Established;
    }

    /// The letters so far.
    pub(super) fn letters(&self) -> &str {
        &self.letters
    }

    fn follow(&mut self, from: usize, segment: &SegmentFacts) {
        let peer = 1 - from;
        let state = self.endpoints[from];
        let is_over = [state, self.endpoints[peer]].iter().all(|it| *it == Endpoint::Closed);
        if segment.has(RST) {
            if !is_over {
                self.endpoints[from] = Endpoint::Reset;
            }
        } else if segment.flags & (SYN | ACK) == SYN {
            if matches!(state, Endpoint::Inactive | Endpoint::Closed | Endpoint::Reset) {
                self.endpoints[from] = Endpoint::SynSent;
            }
        } else if segment.has(SYN) {
            if self.endpoints[peer] == Endpoint::SynSent {
                self.endpoints = [Endpoint::Established; 2];
            } else if state == Endpoint::Inactive {
                self.endpoints[from] = match self.endpoints[peer] {
                    Endpoint::Inactive => Endpoint::SynAckSent,
                    _ => Endpoint::Established,
                };
            }
        } else if segment.has(FIN) {
            self.endpoints[from] = Endpoint::Closed;
            self.has_closed[from] = true;
            // A RST behind a FIN that is answered with one is the end of both.
            if self.endpoints[peer] == Endpoint::Reset && self.has_closed[peer] {
                self.endpoints[peer] = Endpoint::Closed;
            }
        } else if state == Endpoint::Inactive {
            self.endpoints[from] = Endpoint::Partial;
        }
    }

    /// The state of a TCP connection.
    pub(super) fn tcp_state(&self, initiator: usize) -> &'static str {
        use Endpoint::{Closed, Established, Inactive, Partial, Reset, SynAckSent, SynSent};
        let (ours, theirs) = (self.endpoints[initiator & 1], self.endpoints[1 - (initiator & 1)]);
        let is_quiet = |endpoint| matches!(endpoint, Inactive | Partial);
        match (ours, theirs) {
            (SynSent | SynAckSent, Reset) => "REJ",
            (Reset, Reset) if self.payload == [false; 2] => "REJ",
            (ours, Reset) if is_quiet(ours) => "RSTRH",
            (_, Reset) => "RSTR",
            (Reset, theirs) if is_quiet(theirs) => "RSTOS0",
            (Reset, _) => "RSTO",
            (Closed, Closed) => "SF",
            (Closed, theirs) if is_quiet(theirs) => "SH",
            (Closed, _) => "S2",
            (ours, Closed) if is_quiet(ours) => "SHR",
            (_, Closed) => "S3",
            (SynSent, Inactive) => "S0",
            (Established, Established) => "S1",
            _ => "OTH",
        }
    }

    /// The state of an exchange of datagrams.
    pub(super) fn udp_state(&self, initiator: usize) -> &'static str {
        let is_active = |endpoint: usize| self.endpoints[endpoint] == Endpoint::Established;
        match (is_active(initiator & 1), is_active(1 - (initiator & 1))) {
            (true, true) => "SF",
            (true, false) => "S0",
            (false, true) => "SHR",
            (false, false) => "OTH",
        }
    }

    fn once(&mut self, letter: char, is_first: bool) {
        let letter = cased(letter, is_first);
        let bit = 1 << (u32::from(letter) - u32::from('A'));
        if self.known & bit == 0 {
            self.known |= bit;
            self.push(letter);
        }
    }

    fn counted(&mut self, letter: char, from: usize, is_first: bool) {
        let place = SCALED.iter().position(|it| *it == letter).unwrap_or_default();
        let count = &mut self.counts[from & 1][place];
        *count += 1;
        if is_power_of_ten(*count) {
            self.push(cased(letter, is_first));
        }
    }

    fn push(&mut self, letter: char) {
        if self.letters.len() < LETTERS_MAX {
            self.letters.push(letter);
        }
    }
}

fn cased(letter: char, is_first: bool) -> char {
    if is_first { letter } else { letter.to_ascii_lowercase() }
}

fn is_power_of_ten(count: u64) -> bool {
    10_u64.checked_pow(count.ilog10()) == Some(count)
}
