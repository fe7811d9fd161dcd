//! One TCP connection as tshark's analysis of sequence numbers sees it: which segments came again, out of order, or behind
//! a gap, and how long the handshake took on both sides of the recorder.
//!
//! The rules and their order are those of `tcp_analyze_sequence_number` in Wireshark's `packet-tcp.c`, as its documents tell them
//! (Wireshark User's Guide, section 7.5, "TCP Analysis"), so that the counts are those of the filters `tcp.analysis.*`.

use super::unacknowledged::Unacknowledged;

pub(super) const FIN: u16 = 0x001;
pub(super) const SYN: u16 = 0x002;
pub(super) const RST: u16 = 0x004;
pub(super) const ACK: u16 = 0x010;

/// A retransmission within so many nanoseconds of the last duplicate acknowledgement is one that these asked for.
const FAST_RETRANSMISSION_MAX: i64 = 20_000_000;

/// A segment within so many nanoseconds of those that it belongs before was sent before them, where the handshake
/// does not tell the round trip.
const OUT_OF_ORDER_MAX: i64 = 3_000_000;

/// The largest shift of windows (RFC 7323, section 2.3).
const WINDOW_SCALE_MAX: u8 = 14;

/// A segment: what of its header counts here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SegmentFacts {
    pub(super) ts: Option<i64>,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: u16,
    /// Bytes of payload on the wire.
    pub(super) len: u32,
    /// The window as its header has it; none where the header was not captured as a whole.
    pub(super) window: Option<u16>,
    pub(super) mss: Option<u16>,
    pub(super) window_scale: Option<u8>,
}

impl SegmentFacts {
    /// Returns true if one of these flags is set.
    pub(super) fn has(&self, flags: u16) -> bool {
        self.flags & flags != 0
    }

    /// Returns true if it takes sequence numbers.
    fn takes_numbers(&self) -> bool {
        self.len > 0 || self.has(SYN | FIN)
    }

    /// The sequence number behind it.
    fn end(&self) -> u32 {
        self.seq.wrapping_add(self.len).wrapping_add(u32::from(self.has(SYN | FIN)))
    }

    /// Returns true if it opens a connection.
    fn opens(&self) -> bool {
        self.flags & (SYN | ACK) == SYN
    }
}

/// Findings about one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Findings {
    pub(super) repeats: bool,
    pub(super) is_out_of_order: bool,
    pub(super) follows_gap: bool,
    pub(super) repeats_ack: bool,
    pub(super) closes_window: bool,
}

/// Counts about what one endpoint sent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DirectionCounts {
    pub(super) retransmissions: u64,
    pub(super) retransmitted_bytes: u64,
    pub(super) out_of_order: u64,
    pub(super) lost_segments: u64,
    pub(super) duplicate_acks: u64,
    pub(super) zero_windows: u64,
    /// The smallest and the largest window, in bytes.
    pub(super) windows: Option<(u32, u32)>,
    pub(super) mss: Option<u16>,
    pub(super) window_scale: Option<u8>,
}

/// One direction of a connection.
#[derive(Debug, Default)]
struct Direction {
    /// The number of the SYN.
    start: Option<u32>,
    /// The number behind the highest one seen, and when that was.
    next: Option<u32>,
    next_ts: Option<i64>,
    last_ack: Option<u32>,
    last_ack_ts: Option<i64>,
    window: Option<u16>,
    /// Acknowledgements that repeated the last one.
    duplicate_acks: u32,
    /// The last segment only kept the connection alive, or asked for a window.
    was_keep_alive: bool,
    was_window_probe: bool,
    unacknowledged: Unacknowledged,
    counts: DirectionCounts,
}

/// A connection. Endpoint 0 and 1 are those of the flow's key.
#[derive(Debug, Default)]
pub(super) struct TcpAnalysis {
    directions: [Direction; 2],
    /// The endpoint that sent the SYN, and when it last did.
    opener: Option<(usize, Option<i64>)>,
    /// When the SYN-ACK came.
    syn_ack_ts: Option<i64>,
    /// Nanoseconds from SYN to SYN-ACK, and from there to the ACK.
    handshake: [Option<i64>; 2],
    /// The endpoint that sent the first FIN or RST.
    closer: Option<usize>,
}

impl TcpAnalysis {
    /// Takes a segment from an endpoint, and tells what it is.
    pub(super) fn take(&mut self, from: usize, segment: &SegmentFacts) -> Findings {
        self.begin_again_where_opened(from, segment);
        self.time_handshake(from, segment);
        if segment.has(FIN | RST) {
            self.closer.get_or_insert(from);
        }
        let [one, other] = &mut self.directions;
        let (ours, theirs) = if from == 0 { (one, other) } else { (other, one) };
        let first_rtt = self.handshake[0].zip(self.handshake[1]).map(|(there, back)| there + back);
        let findings = ours.classify(segment, theirs, first_rtt.unwrap_or(OUT_OF_ORDER_MAX));
        ours.count(segment, findings);
        ours.measure_window(segment, theirs.counts.window_scale);
        ours.advance(segment, theirs);
        findings
    }

    /// Counts about what an endpoint sent.
    pub(super) fn counts(&self, endpoint: usize) -> &DirectionCounts {
        &self.directions[endpoint & 1].counts
    }

    /// Nanoseconds between the recorder and the endpoint that answered the SYN, and the one that sent it.
    pub(super) fn handshake(&self) -> [Option<i64>; 2] {
        self.handshake
    }

    /// The endpoint that sent the first FIN or RST.
    pub(super) fn closer(&self) -> Option<usize> {
        self.closer
    }

    /// Forgets the numbers of a connection that had the same ports before.
    fn begin_again_where_opened(&mut self, from: usize, segment: &SegmentFacts) {
        if !segment.opens() {
            return;
        }
        let known = self.directions[from].start;
        if known.is_some_and(|start| start != segment.seq || self.closer.is_some()) {
            for direction in &mut self.directions {
                let counts = direction.counts;
                *direction = Direction { counts, ..Direction::default() };
            }
            self.syn_ack_ts = None;
        }
    }

    fn time_handshake(&mut self, from: usize, segment: &SegmentFacts) {
        if segment.opens() {
            self.opener = Some((from, segment.ts));
            return;
        }
        let Some((opener, syn_ts)) = self.opener else { return };
        let between = |from: Option<i64>| Some(segment.ts?.checked_sub(from?)?.max(0));
        if segment.flags & (SYN | ACK) == SYN | ACK && from != opener {
            self.syn_ack_ts = segment.ts;
            self.handshake[0] = self.handshake[0].or_else(|| between(syn_ts));
        } else if segment.has(ACK) && from == opener && self.handshake[0].is_some() {
            self.handshake[1] = self.handshake[1].or_else(|| between(self.syn_ack_ts));
        }
    }
}

/// Returns true if a sequence number is behind another.
fn is_behind(number: u32, other: u32) -> bool {
    number.wrapping_sub(other).cast_signed() > 0
}

fn is_before(number: u32, other: u32) -> bool {
    is_behind(other, number)
}

impl Direction {
    /// Tells what a segment is, and notes if it is a probe.
    fn classify(
        &mut self,
        segment: &SegmentFacts,
        theirs: &Direction,
        out_of_order_max: i64,
    ) -> Findings {
        let mut findings = Findings::default();
        let is_plain = !segment.has(SYN | FIN | RST);
        let probes = segment.len == 1 && Some(segment.seq) == self.next && theirs.window == Some(0);
        (self.was_keep_alive, self.was_window_probe) = (false, probes);
        if !probes {
            findings.closes_window = segment.window == Some(0) && is_plain;
            findings.follows_gap =
                !segment.has(RST) && self.next.is_some_and(|next| is_behind(segment.seq, next));
            self.was_keep_alive = segment.len <= 1
                && is_plain
                && self.next.is_some_and(|next| segment.seq == next.wrapping_sub(1));
            findings.repeats_ack = is_plain && self.repeats_ack(segment, theirs);
        }
        if findings.repeats_ack {
            self.duplicate_acks += 1;
        } else if Some(segment.ack) != self.last_ack {
            self.duplicate_acks = 0;
        }
        if segment.takes_numbers() && !self.was_keep_alive {
            self.compare_numbers(segment, theirs, out_of_order_max, &mut findings);
        }
        findings
    }

    /// Returns true if it says nothing but the acknowledgement that was sent before, unless it answers a probe.
    fn repeats_ack(&self, segment: &SegmentFacts, theirs: &Direction) -> bool {
        segment.len == 0
            && segment.window.is_some_and(|window| window != 0)
            && segment.window == self.window
            && Some(segment.seq) == self.next
            && Some(segment.ack) == self.last_ack
            && !theirs.was_keep_alive
    }

    /// Tells a segment that does not go on where the last one ended.
    fn compare_numbers(
        &self,
        segment: &SegmentFacts,
        theirs: &Direction,
        out_of_order_max: i64,
        findings: &mut Findings,
    ) {
        let Some(next) = self.next.filter(|next| is_before(segment.seq, *next)) else { return };
        let acknowledged = theirs.last_ack.filter(|_| segment.len > 0);
        let data_end = segment.seq.wrapping_add(segment.len);
        if acknowledged.is_some_and(|ack| !is_behind(data_end, ack)) {
            findings.repeats = true;
            return;
        }
        // A probe of a window may have taken the byte that new data begins with.
        if segment.len > 1 && segment.seq == next.wrapping_sub(1) {
            return;
        }
        let since =
            |ts: Option<i64>| segment.ts.zip(ts).map(|(now, then)| now.saturating_sub(then));
        let was_asked_for = theirs.duplicate_acks >= 2
            && theirs.last_ack == Some(segment.seq)
            && since(theirs.last_ack_ts).is_some_and(|since| since < FAST_RETRANSMISSION_MAX);
        let came_late = since(self.next_ts).is_some_and(|since| since < out_of_order_max)
            && next != segment.end()
            && !self.unacknowledged.has(segment.seq, data_end);
        match !was_asked_for && came_late {
            true => findings.is_out_of_order = true,
            false => findings.repeats = true,
        }
    }

    fn count(&mut self, segment: &SegmentFacts, findings: Findings) {
        let counts = &mut self.counts;
        counts.retransmissions += u64::from(findings.repeats);
        counts.retransmitted_bytes += if findings.repeats { u64::from(segment.len) } else { 0 };
        counts.out_of_order += u64::from(findings.is_out_of_order);
        counts.lost_segments += u64::from(findings.follows_gap);
        counts.duplicate_acks += u64::from(findings.repeats_ack);
        counts.zero_windows += u64::from(findings.closes_window);
        if segment.has(SYN) {
            counts.mss = segment.mss.or(counts.mss);
            counts.window_scale = segment
                .window_scale
                .map(|scale| scale.min(WINDOW_SCALE_MAX))
                .or(counts.window_scale);
        }
    }

    /// Measures the window. It is scaled where both sides offered it, and never in a SYN (RFC 7323, section 2.2).
    fn measure_window(&mut self, segment: &SegmentFacts, their_scale: Option<u8>) {
        let Some(window) = segment.window.filter(|_| !segment.has(RST)) else { return };
        let scale = their_scale.and(self.counts.window_scale).filter(|_| !segment.has(SYN));
        let bytes = u32::from(window) << scale.unwrap_or(0);
        let (least, most) = self.counts.windows.unwrap_or((bytes, bytes));
        self.counts.windows = Some((least.min(bytes), most.max(bytes)));
    }

    /// Notes the numbers of a segment.
    fn advance(&mut self, segment: &SegmentFacts, theirs: &mut Direction) {
        if segment.has(SYN) {
            self.start = Some(segment.seq);
        }
        if segment.takes_numbers() {
            self.unacknowledged.add(segment.seq, segment.end());
        }
        let end = segment.end();
        if !self.was_window_probe && self.next.is_none_or(|next| is_behind(end, next)) {
            self.next = Some(end);
            self.next_ts = segment.ts;
        }
        self.window = segment.window;
        if segment.has(ACK) {
            self.last_ack = Some(segment.ack);
            self.last_ack_ts = segment.ts;
            theirs.unacknowledged.forget_before(segment.ack);
        }
    }
}
