//! One direction of a connection: segments in any order in, bytes in order and gaps out.
//!
//! ```text
//!            position                      pending: by position, none overlaps another
//! ── passed ────┤ ............ ├── piece ──┤ ....... ├── piece ──┤├── piece ──┤
//!             next (32 bits)
//! ```

use std::collections::BTreeMap;

/// Memory of a pending piece beside its bytes: so that many small ones are bounded, too.
const PIECE_COST: usize = 96;

/// Memory of their tree beyond that as long as there are few.
const TREE_COST: usize = 456;

/// Pieces that wait for bytes in front of them. Each is met by every later segment that overlaps it, so that many small
/// ones cost time before they cost memory; a window of usual segments has fewer.
pub(super) const PIECES_MAX: usize = 1024;

/// A segment that begins less than so many bytes before the next one to come is old: a window is at most
/// 2^30 bytes (RFC 7323, section 2.3), so that everything else is ahead.
const OLD_MAX: u32 = 1 << 30;

/// A SYN whose number is this close before what was seen belongs to the same connection: recorders may
/// write packets of two processors in another order.
const LATE_SYN_MAX: u32 = 1 << 16;

/// Bytes of one segment, with their sequence number and time.
#[derive(Debug, Clone, Copy)]
pub(super) struct TcpSegment<'a> {
    /// The sequence number of its first byte.
    pub(super) seq: u32,
    /// Its bytes, or as many as were captured.
    pub(super) bytes: &'a [u8],
    /// Number of its bytes on the wire.
    pub(super) len: u32,
    /// When it was captured, nanoseconds since the epoch.
    pub(super) ts: Option<i64>,
}

/// Output of a stream: bytes in order, or a gap.
#[derive(Debug, Clone, Copy)]
pub(super) enum StreamOutput<'a> {
    Bytes(&'a [u8], Option<i64>),
    Gap(u64),
}

/// Relation of a segment to those that came before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It goes on, or leaves bytes out in front of it, or is none that is counted.
    Ahead,
    /// All of it had come.
    Repeated,
    /// It has bytes that were left out in front of others.
    Filling,
}

/// Bytes that came before those in front of them.
#[derive(Debug)]
struct EarlyPiece {
    bytes: Box<[u8]>,
    len: u64,
    ts: Option<i64>,
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The sequence number of the next byte, once a packet has told it.
    next: Option<u32>,
    /// The sequence number of the SYN, where one was seen.
    start: Option<u32>,
    /// Bytes before `next`, missing ones counted.
    position: u64,
    /// The position of the end, where a FIN has told it.
    end: Option<u64>,
    pending: BTreeMap<u64, EarlyPiece>,
    /// Memory of the pieces in `pending`.
    pending_bytes: usize,
}

impl Stream {
    /// Returns the memory of what waits for bytes in front of it.
    pub(super) fn pending_bytes(&self) -> usize {
        self.pending_bytes + if self.pending.is_empty() { 0 } else { TREE_COST }
    }

    /// Returns the number of pieces that wait.
    pub(super) fn pending_pieces(&self) -> usize {
        self.pending.len()
    }

    /// Returns the number of bytes passed on, missing ones counted. It grows once the wait for missing bytes is over.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Returns true if everything up to the FIN was passed on.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some_and(|end| self.position >= end)
    }

    /// Returns true if a SYN with that number opens another connection than the one that was seen.
    pub(super) fn is_another(&self, syn: u32) -> bool {
        match (self.start, self.next) {
            (Some(start), _) => start != syn,
            (None, Some(next)) => next.wrapping_sub(syn.wrapping_add(1)) >= LATE_SYN_MAX,
            (None, None) => false,
        }
    }

    /// Returns true if a SYN with that number was seen.
    pub(super) fn began_with(&self, syn: u32) -> bool {
        self.start == Some(syn)
    }

    /// Returns true if an acknowledgement fits the numbers behind the SYN `other` better than those of the stream. Two
    /// systems choose numbers that are far from each other.
    pub(super) fn is_left_for(&self, other: u32, ack: u32) -> bool {
        let distance = |number: u32| ack.wrapping_sub(number).cast_signed().unsigned_abs();
        self.next.is_some_and(|next| distance(other.wrapping_add(1)) < distance(next))
    }

    /// Goes on behind another SYN.
    pub(super) fn restart(&mut self, syn: u32, out: &mut impl FnMut(StreamOutput<'_>)) {
        self.flush(out);
        self.start = Some(syn);
        self.next = Some(syn.wrapping_add(1));
        self.end = None;
    }

    /// Takes note of a SYN; the byte behind it is the first one.
    pub(super) fn open(&mut self, syn: u32) -> Arrival {
        let is_repeated = self.start.replace(syn) == Some(syn);
        self.next.get_or_insert(syn.wrapping_add(1));
        if is_repeated { Arrival::Repeated } else { Arrival::Ahead }
    }

    /// Takes note of where the stream goes on, as a packet without bytes tells it.
    pub(super) fn begin(&mut self, seq: u32) {
        self.next.get_or_insert(seq);
    }

    /// Takes note of a FIN behind `segment`.
    pub(super) fn close(&mut self, segment: &TcpSegment<'_>) {
        let end = segment.seq.wrapping_add(segment.len);
        if let Some(ahead) = self.ahead(end) {
            self.end.get_or_insert(self.position + u64::from(ahead));
        }
    }

    /// Returns how far a sequence number is ahead of the next byte; `None` if it is before it.
    fn ahead(&self, seq: u32) -> Option<u32> {
        let ahead = seq.wrapping_sub(self.next?);
        (ahead <= u32::MAX - OLD_MAX).then_some(ahead)
    }

    /// Takes the bytes of a segment, and passes on what is in order now.
    #[inline]
    pub(super) fn receive(
        &mut self,
        segment: TcpSegment<'_>,
        out: &mut impl FnMut(StreamOutput<'_>),
    ) -> Arrival {
        self.begin(segment.seq);
        if self.pending.is_empty() && self.next == Some(segment.seq) {
            // Nearly all segments are the next one, and nothing waits: nothing is kept of them.
            self.pass(u64::from(segment.len), segment.bytes, segment.ts, out);
            return Arrival::Ahead;
        }
        self.receive_out_of_order(segment, out)
    }

    #[inline(never)]
    fn receive_out_of_order(
        &mut self,
        segment: TcpSegment<'_>,
        out: &mut impl FnMut(StreamOutput<'_>),
    ) -> Arrival {
        let (mut bytes, mut len) = (segment.bytes, segment.len);
        let start = match self.ahead(segment.seq) {
            Some(ahead) => self.position + u64::from(ahead),
            None => {
                let passed = self.next.unwrap_or_default().wrapping_sub(segment.seq);
                if passed >= len {
                    // A probe that keeps the connection alive repeats the last byte, and is no retransmission.
                    let is_probe = (passed, len) == (1, 1);
                    return if is_probe { Arrival::Ahead } else { Arrival::Repeated };
                }
                bytes = bytes.get(passed as usize..).unwrap_or_default();
                len -= passed;
                self.position
            }
        };
        let last = self.pending.last_key_value().map(|(begins, _)| *begins);
        let first_new = self.keep(start, u64::from(len), bytes, segment.ts);
        self.drain(out);
        match first_new {
            None => Arrival::Repeated,
            Some(first_new) if last.is_some_and(|last| first_new < last) => Arrival::Filling,
            Some(_) => Arrival::Ahead,
        }
    }

    /// Keeps what of a segment is not there yet, and says where the first of that begins: the first copy of a byte counts.
    fn keep(&mut self, start: u64, len: u64, bytes: &[u8], ts: Option<i64>) -> Option<u64> {
        let mut first_new = None;
        let end = start.saturating_add(len);
        let before = self.pending.range(..start).next_back();
        let mut at = before.map_or(start, |(begins, piece)| start.max(begins + piece.len));
        while at < end {
            let next = self.pending.range(at..).next();
            let next = next.map(|(begins, piece)| (*begins, begins + piece.len));
            let until = next.map_or(end, |(begins, _)| end.min(begins));
            if at < until {
                let from = bytes.get((at - start) as usize..).unwrap_or_default();
                let piece_len = until - at;
                let kept = from.get(..piece_len as usize).unwrap_or(from);
                self.pending_bytes += PIECE_COST + kept.len();
                self.pending.insert(at, EarlyPiece { bytes: kept.into(), len: piece_len, ts });
                first_new.get_or_insert(at);
            }
            at = next.map_or(end, |(_, ends)| ends);
        }
        first_new
    }

    /// Passes on pending pieces as long as nothing is missing in front of them.
    fn drain(&mut self, out: &mut impl FnMut(StreamOutput<'_>)) {
        while let Some(first) = self.pending.first_entry() {
            if *first.key() > self.position {
                return;
            }
            let piece = first.remove();
            self.pending_bytes = self.pending_bytes.saturating_sub(PIECE_COST + piece.bytes.len());
            self.pass(piece.len, &piece.bytes, piece.ts, out);
        }
    }

    /// Passes on what stands at the position: `len` bytes, of which the first were captured.
    #[inline]
    fn pass(
        &mut self,
        len: u64,
        bytes: &[u8],
        ts: Option<i64>,
        out: &mut impl FnMut(StreamOutput<'_>),
    ) {
        self.position += len;
        self.next = self.next.map(|next| next.wrapping_add(len as u32));
        if !bytes.is_empty() {
            out(StreamOutput::Bytes(bytes, ts));
        }
        if len > bytes.len() as u64 {
            out(StreamOutput::Gap(len - bytes.len() as u64));
        }
    }

    /// The other end has acknowledged everything before `ack`: what of it is missing in front of
    /// pending bytes will not come any more.
    pub(super) fn acknowledge(&mut self, ack: u32, out: &mut impl FnMut(StreamOutput<'_>)) {
        if self.pending.is_empty() {
            return;
        }
        let Some(ahead) = self.ahead(ack) else { return };
        if ahead > OLD_MAX {
            return;
        }
        let acknowledged = self.position + u64::from(ahead);
        while self.pending.first_key_value().is_some_and(|(begins, _)| *begins < acknowledged) {
            self.skip_gap(out);
        }
    }

    /// Gives up what is missing in front of the first pending piece.
    pub(super) fn skip_gap(&mut self, out: &mut impl FnMut(StreamOutput<'_>)) {
        if let Some((begins, _)) = self.pending.first_key_value() {
            let len = begins.saturating_sub(self.position);
            if len > 0 {
                self.pass(len, &[], None, out);
            }
            self.drain(out);
        }
    }

    /// Passes on everything that waits.
    pub(super) fn flush(&mut self, out: &mut impl FnMut(StreamOutput<'_>)) {
        while !self.pending.is_empty() {
            self.skip_gap(out);
        }
    }
}
