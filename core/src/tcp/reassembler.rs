//! All connections of a capture: which packet belongs to which, and when a connection is over.

use std::collections::HashMap;

use super::connection::{Connection, Side};
use super::eviction_queue::{ConnectionId, EvictionQueue};
use super::stream::{Arrival, PIECES_MAX, Stream, StreamOutput, TcpSegment};
use crate::packet::FlowKey;
use crate::packet::{Field, Packet};

/// The protocol number of TCP.
const TCP: u8 = 6;

const FIN: u16 = 0x001;
const SYN: u16 = 0x002;
const RST: u16 = 0x004;
const ACK: u16 = 0x010;

/// Connections looked at for one that may leave, when a new one needs room.
const EVICTION_SAMPLE: usize = 16;

/// Packets for each connection that is looked at, whether it is over.
const PACKETS_PER_SWEEP: u64 = 4;

/// Connections looked at for each one that begins, so that those that are over leave faster than new ones come.
const SWEEPS_PER_CONNECTION: usize = 2;

/// Time for which a closed connection is remembered, so that a packet that comes late does not begin another: 10
/// seconds, in nanoseconds.
const LINGER: i64 = 10_000_000_000;

/// Bounds of time and memory of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpOptions {
    /// A connection without a packet for more than so many nanoseconds has ended; `None`: never.
    pub idle_timeout: Option<i64>,
    /// Connections at one time, at least 1. One more ends one that has had no packet for long.
    pub max_connections: usize,
    /// Memory for bytes that wait for others in front of them, for each direction. Above it, or where more
    /// than 1,024 pieces wait, what is missing is given up.
    pub pending_max: usize,
    /// Memory for such bytes of all connections; above it, what has been missing for the longest time is given up.
    pub pending_total_max: usize,
}

impl Default for TcpOptions {
    fn default() -> Self {
        TcpOptions {
            idle_timeout: Some(600_000_000_000),
            // Bound (Flows): TCP connections = 65,536; closed ones for 10 s, idle ones for 10 minutes.
            max_connections: 65_536,
            // Bound (Flows): bytes behind a gap = 1 MiB for each direction, 64 MiB in all, 96 for each piece counted;
            // 1,024 pieces.
            pending_max: 1 << 20,
            pending_total_max: 64 << 20,
        }
    }
}

/// Event of a connection, in the order in which it becomes known. The bytes and gaps of each side together are its
/// stream, without holes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The next bytes that a side sent.
    Bytes {
        /// Who sent them.
        from: Side,
        /// The bytes, never none.
        bytes: &'a [u8],
        /// When their packet was captured, nanoseconds since the epoch.
        ts: Option<i64>,
    },
    /// The next bytes that a side sent are not in the capture.
    Gap {
        /// Who sent them.
        from: Side,
        /// Number of bytes that are missing.
        len: u64,
    },
    /// Nothing comes any more.
    End,
}

/// Connections with what `S` keeps of each. Every event is told with both, at once.
#[derive(Debug)]
pub struct Reassembler<S> {
    options: TcpOptions,
    slots: Vec<Option<OpenConnection<S>>>,
    free: Vec<usize>,
    by_key: HashMap<FlowKey, usize>,
    /// The connection of the last packet, which often has the next one too.
    last: Option<(FlowKey, usize)>,
    /// The slot that is looked at next.
    hand: usize,
    packets: u64,
    connections: u64,
    repeated_segments: u64,
    filling_segments: u64,
    pending_bytes: usize,
    /// Connections in which bytes wait for others in front of them.
    queue: EvictionQueue,
}

#[derive(Debug)]
struct OpenConnection<S> {
    key: FlowKey,
    connection: Connection,
    /// True if the initiator is the second endpoint of the key.
    is_second: bool,
    state: S,
    initiator: Stream,
    responder: Stream,
    /// The number of an answer to the initiator's SYN that differs from the one before: the initiator acknowledges one
    /// of them.
    rival: Option<u32>,
    was_reset: bool,
    last_ts: Option<i64>,
    last_packet: u64,
    /// Since when bytes of the initiator, and of the responder, wait for others.
    waits: [Wait; 2],
    is_queued: bool,
}

/// Position at which a stream waits, and the packet since which it does.
#[derive(Debug, Clone, Copy, Default)]
struct Wait {
    position: u64,
    since: u64,
}

/// Segment of a packet, with its direction, flags and acknowledgement.
#[derive(Debug, Clone, Copy)]
struct SeenSegment<'a> {
    /// True if it goes from the second endpoint of the key to the first.
    reversed: bool,
    flags: u16,
    ack: u32,
    segment: TcpSegment<'a>,
}

impl<S: Default> Reassembler<S> {
    /// No connection yet.
    pub fn new(options: TcpOptions) -> Self {
        Reassembler {
            options,
            slots: Vec::new(),
            free: Vec::new(),
            by_key: HashMap::new(),
            last: None,
            hand: 0,
            packets: 0,
            connections: 0,
            repeated_segments: 0,
            filling_segments: 0,
            pending_bytes: 0,
            queue: EvictionQueue::default(),
        }
    }

    /// Takes a packet with its captured bytes; any that is no TCP is passed over. Tells `each` what has
    /// become known by it.
    pub fn add(
        &mut self,
        packet: &Packet,
        captured: &[u8],
        each: &mut impl FnMut(&Connection, &mut S, Event<'_>),
    ) {
        let Some((key, seen)) = seen(packet, captured) else { return };
        self.packets += 1;
        if self.packets.is_multiple_of(PACKETS_PER_SWEEP) {
            self.sweep(seen.segment.ts, each);
        }
        let slot = self.slot_of(key, &seen, each);
        let Some(open) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return };
        open.last_packet = self.packets;
        open.last_ts = open.last_ts.max(seen.segment.ts);
        let before = open.pending_bytes();
        match open.take(&seen, each) {
            Arrival::Ahead => {}
            Arrival::Repeated => self.repeated_segments += 1,
            Arrival::Filling => self.filling_segments += 1,
        }
        if open.pending_bytes() != 0 || before != 0 {
            open.give_up(self.options.pending_max, each);
            open.note_waits(self.packets);
            self.pending_bytes = self.pending_bytes.saturating_sub(before) + open.pending_bytes();
            self.enqueue(slot);
            self.give_up_oldest(each);
        }
    }

    /// Queues a connection if it waits for missing bytes.
    fn enqueue(&mut self, slot: usize) {
        let Reassembler { slots, queue, .. } = self;
        let Some(open) = slots.get_mut(slot).and_then(Option::as_mut) else { return };
        if let Some((since, _)) = open.longest_wait()
            && !open.is_queued
        {
            open.is_queued = true;
            let id = open.connection.id();
            queue.push(id, since, |id| waits_since(slots, id));
        }
    }

    /// Gives up what has been missing for the longest time, as long as more waits than may in all.
    fn give_up_oldest(&mut self, each: &mut impl FnMut(&Connection, &mut S, Event<'_>)) {
        let Reassembler { slots, queue, pending_bytes, options, .. } = self;
        while *pending_bytes > options.pending_total_max {
            let Some(id) = queue.oldest(|id| waits_since(slots, id)) else { return };
            let Some(open) = slots.get_mut(id.slot).and_then(Option::as_mut) else { return };
            let before = open.pending_bytes();
            open.give_up_longest_wait(each);
            *pending_bytes = pending_bytes.saturating_sub(before) + open.pending_bytes();
        }
    }

    /// Calls `visit` with what `S` keeps of a connection; returns `None` if it is not open.
    pub(crate) fn visit<R>(
        &mut self,
        id: ConnectionId,
        visit: impl FnOnce(&Connection, &mut S) -> R,
    ) -> Option<R> {
        let open = open_at(&mut self.slots, id)?;
        Some(visit(&open.connection, &mut open.state))
    }

    /// Ends every connection, in the order in which they began.
    pub fn finish(mut self, each: &mut impl FnMut(&Connection, &mut S, Event<'_>)) {
        let mut open: Vec<_> = self.slots.drain(..).flatten().collect();
        open.sort_by_key(|open| open.connection.number);
        for mut open in open {
            open.end(each);
        }
    }

    /// Connections that were seen so far.
    pub fn connections(&self) -> u64 {
        self.connections
    }

    /// Segments so far that brought nothing new: a SYN with the number of the one before, or bytes all of which had
    /// come. Probes that keep a connection alive are not counted.
    pub fn repeated_segments(&self) -> u64 {
        self.repeated_segments
    }

    /// Segments so far with bytes that were left out in front of others: sent again after the first copy was lost on its
    /// way or by the recorder, or late. Where nothing came behind the first copy, the second one is new here.
    pub fn filling_segments(&self) -> u64 {
        self.filling_segments
    }

    /// Connections that are open.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Returns true if no connection is open.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Memory of bytes that wait for others in front of them.
    pub fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// The slot of the connection that a packet belongs to, which may begin with it.
    fn slot_of(
        &mut self,
        key: FlowKey,
        seen: &SeenSegment<'_>,
        each: &mut impl FnMut(&Connection, &mut S, Event<'_>),
    ) -> usize {
        let known = match self.last {
            Some((last, slot)) if last == key => Some(slot),
            _ => self.by_key.get(&key).copied(),
        };
        if let Some(slot) = known
            && let Some(open) = self.slots.get_mut(slot).and_then(Option::as_mut)
        {
            if !open.is_over(seen, self.options.idle_timeout) {
                self.last = Some((key, slot));
                return slot;
            }
            self.end(slot, each);
        }
        let slot = self.begin(key, seen, each);
        self.last = Some((key, slot));
        slot
    }

    /// Begins a connection, and makes room for it.
    fn begin(
        &mut self,
        key: FlowKey,
        seen: &SeenSegment<'_>,
        each: &mut impl FnMut(&Connection, &mut S, Event<'_>),
    ) -> usize {
        for _ in 0..SWEEPS_PER_CONNECTION {
            self.sweep(seen.segment.ts, each);
        }
        if self.by_key.len() >= self.options.max_connections.max(1) {
            self.evict(each);
        }
        self.connections += 1;
        let slot = self.free.pop().unwrap_or(self.slots.len());
        let open = Some(OpenConnection::new(key, self.connections, slot, seen));
        match self.slots.get_mut(slot) {
            Some(place) => *place = open,
            None => self.slots.push(open),
        }
        self.by_key.insert(key, slot);
        slot
    }

    /// Looks at one connection, which may be over by now.
    fn sweep(&mut self, now: Option<i64>, each: &mut impl FnMut(&Connection, &mut S, Event<'_>)) {
        let slot = self.next_slot();
        let Some(open) = self.slots.get(slot).and_then(Option::as_ref) else { return };
        let idle_max = if open.is_closed() { Some(LINGER) } else { self.options.idle_timeout };
        if open.idle(now).zip(idle_max).is_some_and(|(idle, idle_max)| idle > idle_max) {
            self.end(slot, each);
        }
    }

    fn next_slot(&mut self) -> usize {
        self.hand = if self.hand + 1 < self.slots.len() { self.hand + 1 } else { 0 };
        self.hand
    }

    /// Ends the connection that has had no packet for the longest time, of some; one that was closed
    /// before all others.
    fn evict(&mut self, each: &mut impl FnMut(&Connection, &mut S, Event<'_>)) {
        let mut chosen: Option<((bool, u64), usize)> = None;
        let mut left = EVICTION_SAMPLE;
        for _ in 0..self.slots.len() {
            let slot = self.next_slot();
            let Some(open) = self.slots.get(slot).and_then(Option::as_ref) else { continue };
            let rank = (!open.is_closed(), open.last_packet);
            if chosen.is_none_or(|(best, _)| rank < best) {
                chosen = Some((rank, slot));
            }
            left -= 1;
            if left == 0 {
                break;
            }
        }
        if let Some((_, slot)) = chosen {
            self.end(slot, each);
        }
    }

    fn end(&mut self, slot: usize, each: &mut impl FnMut(&Connection, &mut S, Event<'_>)) {
        if let Some(mut open) = self.slots.get_mut(slot).and_then(Option::take) {
            self.pending_bytes = self.pending_bytes.saturating_sub(open.pending_bytes());
            open.end(each);
            self.by_key.remove(&open.key);
            self.free.push(slot);
            self.last = None;
        }
    }
}

impl<S: Default> OpenConnection<S> {
    fn new(key: FlowKey, number: u64, slot: usize, seen: &SeenSegment<'_>) -> Self {
        // Who answers a SYN was called.
        let is_answer = seen.flags & (SYN | ACK) == SYN | ACK;
        let is_second = seen.reversed != is_answer;
        let unknown = (std::net::Ipv4Addr::UNSPECIFIED, 0).into();
        let [first, second] = key.endpoints().unwrap_or([unknown; 2]);
        let (initiator, responder) = if is_second { (second, first) } else { (first, second) };
        OpenConnection {
            key,
            connection: Connection { number, initiator, responder, slot },
            is_second,
            state: S::default(),
            initiator: Stream::default(),
            responder: Stream::default(),
            rival: None,
            was_reset: false,
            last_ts: None,
            last_packet: 0,
            waits: [Wait::default(); 2],
            is_queued: false,
        }
    }
}

impl<S> OpenConnection<S> {
    fn pending_bytes(&self) -> usize {
        self.initiator.pending_bytes() + self.responder.pending_bytes()
    }

    fn is_closed(&self) -> bool {
        self.was_reset || (self.initiator.is_over() && self.responder.is_over())
    }

    /// Nanoseconds since the last packet.
    fn idle(&self, now: Option<i64>) -> Option<i64> {
        now.zip(self.last_ts).map(|(now, last)| now.saturating_sub(last))
    }

    /// Returns true if a packet cannot be of this connection, though it has its addresses and ports.
    fn is_over(&self, seen: &SeenSegment<'_>, idle_max: Option<i64>) -> bool {
        let idle = self.idle(seen.segment.ts).zip(idle_max);
        if idle.is_some_and(|(idle, idle_max)| idle > idle_max) {
            return true;
        }
        let from_initiator = seen.reversed == self.is_second;
        let stream = if from_initiator { &self.initiator } else { &self.responder };
        seen.flags & SYN != 0 && stream.is_another(seen.segment.seq) && !self.is_answer(seen)
    }

    /// Returns true if a packet answers the SYN that opened this connection, with whatever number: a second system
    /// behind one address does, or one that was asked twice.
    fn is_answer(&self, seen: &SeenSegment<'_>) -> bool {
        seen.reversed != self.is_second
            && seen.flags & ACK != 0
            && self.initiator.began_with(seen.ack.wrapping_sub(1))
    }

    /// Takes what a packet of this connection tells.
    #[inline]
    fn take(
        &mut self,
        seen: &SeenSegment<'_>,
        each: &mut impl FnMut(&Connection, &mut S, Event<'_>),
    ) -> Arrival {
        let OpenConnection { connection, state, initiator, responder, rival, .. } = self;
        let (from, stream, others) = match seen.reversed == self.is_second {
            true => (Side::Initiator, initiator, responder),
            false => (Side::Responder, responder, initiator),
        };
        if seen.flags & SYN != 0 && stream.is_another(seen.segment.seq) {
            *rival = Some(seen.segment.seq);
            return Arrival::Ahead;
        }
        // An answer acknowledges what was asked, which therefore is told before it.
        if seen.flags & ACK != 0 {
            let mut told = told(connection, state, from.other(), each);
            if from == Side::Initiator
                && let Some(syn) = rival.take()
                && others.is_left_for(syn, seen.ack)
            {
                others.restart(syn, &mut told);
            }
            others.acknowledge(seen.ack, &mut told);
        }
        let mut segment = seen.segment;
        let mut arrival = Arrival::Ahead;
        if seen.flags & SYN != 0 {
            arrival = stream.open(segment.seq);
            segment.seq = segment.seq.wrapping_add(1);
        }
        if segment.len > 0 {
            arrival = stream.receive(segment, &mut told(connection, state, from, each));
        } else if seen.flags & RST == 0 {
            stream.begin(segment.seq);
        }
        if seen.flags & FIN != 0 {
            stream.close(&segment);
        }
        self.was_reset |= seen.flags & RST != 0;
        arrival
    }

    /// Gives up what is missing in front of bytes that take too much memory, or are too many pieces.
    fn give_up(&mut self, bytes_max: usize, each: &mut impl FnMut(&Connection, &mut S, Event<'_>)) {
        let OpenConnection { connection, state, initiator, responder, .. } = self;
        for (side, stream) in [(Side::Initiator, initiator), (Side::Responder, responder)] {
            while stream.pending_bytes() > bytes_max || stream.pending_pieces() > PIECES_MAX {
                stream.skip_gap(&mut told(connection, state, side, each));
            }
        }
    }

    /// Takes note of since when each stream waits: since the packet by which it came to where it is now.
    fn note_waits(&mut self, packet: u64) {
        for (stream, wait) in [&self.initiator, &self.responder].into_iter().zip(&mut self.waits) {
            if stream.pending_bytes() == 0 {
                *wait = Wait::default();
            } else if wait.since == 0 || wait.position != stream.position() {
                *wait = Wait { position: stream.position(), since: packet };
            }
        }
    }

    /// Since which packet bytes wait for others in front of them, and on which side for the longest time.
    fn longest_wait(&self) -> Option<(u64, Side)> {
        let sides = [(&self.initiator, Side::Initiator), (&self.responder, Side::Responder)];
        let waiting = sides.into_iter().zip(self.waits);
        let waiting = waiting.filter(|((stream, _), _)| stream.pending_bytes() > 0);
        waiting.map(|((_, side), wait)| (wait.since, side)).min()
    }

    /// Gives up the gap that has been waited for longest. What waits behind the next one has waited for as long.
    fn give_up_longest_wait(&mut self, each: &mut impl FnMut(&Connection, &mut S, Event<'_>)) {
        let Some((_, side)) = self.longest_wait() else { return };
        let OpenConnection {
            connection, state, initiator, responder, waits: [first, second], ..
        } = self;
        let (stream, wait) = match side {
            Side::Initiator => (initiator, first),
            Side::Responder => (responder, second),
        };
        stream.skip_gap(&mut told(connection, state, side, each));
        match stream.pending_bytes() {
            // What waits here next has not waited yet.
            0 => *wait = Wait::default(),
            _ => wait.position = stream.position(),
        }
    }

    /// Tells what waits, and that nothing comes any more.
    fn end(&mut self, each: &mut impl FnMut(&Connection, &mut S, Event<'_>)) {
        let OpenConnection { connection, state, initiator, responder, .. } = self;
        initiator.flush(&mut told(connection, state, Side::Initiator, each));
        responder.flush(&mut told(connection, state, Side::Responder, each));
        each(connection, state, Event::End);
    }
}

/// The connection that is kept there, if it is still open.
fn open_at<S>(
    slots: &mut [Option<OpenConnection<S>>],
    id: ConnectionId,
) -> Option<&mut OpenConnection<S>> {
    let open = slots.get_mut(id.slot).and_then(Option::as_mut);
    open.filter(|open| open.connection.number == id.number)
}

/// Since when a queued connection waits; it leaves the queue if it does not wait.
fn waits_since<S>(slots: &mut [Option<OpenConnection<S>>], id: ConnectionId) -> Option<u64> {
    let open = open_at(slots, id)?;
    let since = open.longest_wait().map(|(since, _)| since);
    open.is_queued = since.is_some();
    since
}

/// Returns a function that tells the output of a stream as events of its connection.
fn told<S>(
    connection: &Connection,
    state: &mut S,
    from: Side,
    each: &mut impl FnMut(&Connection, &mut S, Event<'_>),
) -> impl FnMut(StreamOutput<'_>) {
    move |output| {
        let event = match output {
            StreamOutput::Bytes(bytes, ts) => Event::Bytes { from, bytes, ts },
            StreamOutput::Gap(len) => Event::Gap { from, len },
        };
        each(connection, state, event);
    }
}

/// Returns the flow key and the segment of a packet, if it is a segment of TCP with a whole header.
#[inline]
fn seen<'a>(packet: &Packet, captured: &'a [u8]) -> Option<(FlowKey, SeenSegment<'a>)> {
    if packet.proto() != Some(TCP) || !packet.has(Field::SrcPort) {
        return None;
    }
    let (seq, flags) = (packet.seq()?, packet.tcp_flags()?);
    let (key, reversed) = FlowKey::with_way(packet)?;
    let bytes = packet.payload_range().and_then(|range| captured.get(range)).unwrap_or_default();
    let len = packet.payload_len().unwrap_or_default().max(bytes.len() as u32);
    let ack = packet.ack().unwrap_or_default();
    let segment = TcpSegment { seq, bytes, len, ts: packet.ts() };
    Some((key, SeenSegment { reversed, flags, ack, segment }))
}
