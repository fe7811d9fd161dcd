//! The flow table: packets in, finished flows out, in bounded memory.

use std::ops::Range;

use super::fragments::Fragments;
use super::key_hash::Mix;
use super::options::FlowOptions;
use super::record::Flow;
use super::records::{NO_TIME, Observation, Ordered, RECORDS_MAX, Records, Timeouts};
use crate::packet::{Field, FieldSet, Key, Packet};

/// Records looked at for every flow that begins, so that the idle ones leave faster than new ones
/// come.
const SWEEP_PER_FLOW: usize = 2;

/// Packets for each record of either version looked at.
const PACKETS_PER_SWEEP: u64 = 8;

/// Fields that make a packet one of a flow.
const MAKE_FLOW: FieldSet = FieldSet(Field::Proto.bit() | Field::SrcIp.bit());

/// Fields that tell a packet that nearly all are like: it has a flow, and is no fragment.
const ARE_TOLD: FieldSet = MAKE_FLOW.union(FieldSet(Field::FragOffset.bit()));

/// Open flows, one compact record each: at most 72 bytes for IPv4 and 96 for IPv6, all counted. A fragment counts for the
/// flow that the first one of its datagram tells, if that came before.
///
/// Flows end by the times of the packets, and by the clock where [`Self::end_idle`] is called: by a timeout,
/// because their counter of packets is full (2^32), or because the table is. They are then kept for
/// [`Self::drain_finished`], which should be called every few thousand packets: a packet ends five flows at most.
pub struct FlowTable {
    v4: Records<[u8; 4]>,
    v6: Records<[u8; 16]>,
    finished: Vec<Flow>,
    rules: Rules,
    fragments: Fragments,
    /// Times at which no open flow has been idle for too long.
    quiet: Range<i64>,
    packets: u64,
    packets_without_flow: u64,
    /// Features are counted.
    features: bool,
}

impl FlowTable {
    /// An empty table.
    pub fn new(options: FlowOptions) -> Self {
        let features = options.features.counted();
        let max_flows = options.max_flows.clamp(1, RECORDS_MAX);
        FlowTable {
            v4: Records::new(features),
            v6: Records::new(features),
            finished: Vec::new(),
            rules: Rules {
                timeouts: Timeouts {
                    idle: options.idle_timeout.unwrap_or(i64::MAX),
                    active: options.active_timeout.unwrap_or(i64::MAX),
                },
                sweeps: options.idle_timeout.is_some(),
                max_flows,
            },
            fragments: Fragments::default(),
            features: !features.is_empty(),
            quiet: 0..0,
            packets: 0,
            packets_without_flow: 0,
        }
    }

    /// Counts a packet for its flow. Features of TCP need the bytes that it was decoded from, see [`Self::add_frame`].
    pub fn add(&mut self, packet: &Packet) {
        self.add_frame(packet, &[]);
    }

    /// Counts a packet for its flow, and for the features of that what its captured bytes tell.
    #[inline]
    pub fn add_frame(&mut self, packet: &Packet, captured: &[u8]) {
        self.packets += 1;
        let completed;
        let packet = match packet.present.and(ARE_TOLD) == MAKE_FLOW {
            true => packet,
            false => match self.take_rare(packet) {
                Some(packet) => {
                    completed = packet;
                    &completed
                }
                None => return,
            },
        };
        let observation = Observation {
            ts: if packet.has(Field::Ts) { packet.ts.max(NO_TIME + 1) } else { NO_TIME },
            length: packet.length,
            tcp_flags: if packet.has(Field::TcpFlags) { packet.tcp_flags } else { 0 },
        };
        let FlowTable { v4, v6, finished, rules, features, .. } = self;
        match packet.ip_version {
            4 => {
                let (number, reversed) = rules.count(v4, v6, packet, observation, finished);
                if *features {
                    v4.add_features(number, reversed, packet, captured);
                }
            }
            _ => {
                let (number, reversed) = rules.count(v6, v4, packet, observation, finished);
                if *features {
                    v6.add_features(number, reversed, packet, captured);
                }
            }
        }
        if self.packets.is_multiple_of(PACKETS_PER_SWEEP) && self.rules.sweeps {
            self.sweep(observation.ts);
        }
    }

    /// Answers a fragment with what is known of its flow. Another packet is of none, and is counted.
    #[cold]
    #[inline(never)]
    fn take_rare(&mut self, packet: &Packet) -> Option<Packet> {
        if packet.present.and(MAKE_FLOW) != MAKE_FLOW {
            self.packets_without_flow += 1;
            return None;
        }
        Some(self.fragments.take(packet))
    }

    /// Looks at a record of each version, which may have been idle.
    #[inline(never)]
    fn sweep(&mut self, ts: i64) {
        self.v4.sweep(1, ts, self.rules.timeouts, &mut self.finished);
        self.v6.sweep(1, ts, self.rules.timeouts, &mut self.finished);
    }

    /// Ends the flows that have been idle for too long at a time, in nanoseconds since the epoch, before which no packet
    /// comes any more. Looks at all that are open, unless none of them can have been idle for so long since it last did.
    pub fn end_idle(&mut self, ts: i64) {
        if !self.rules.sweeps || self.quiet.contains(&ts) {
            return;
        }
        let timeouts = self.rules.timeouts;
        let v4 = self.v4.sweep_all(ts, timeouts, &mut self.finished);
        let v6 = self.v6.sweep_all(ts, timeouts, &mut self.finished);
        // Packets that come from here on are not older than `ts`.
        let oldest = v4.into_iter().chain(v6).fold(ts, i64::min);
        self.quiet = ts..oldest.saturating_add(timeouts.idle);
    }

    /// Open flows.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Returns true if no flow is open.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Flows that ended and were not drained yet.
    pub fn finished_len(&self) -> usize {
        self.finished.len()
    }

    /// Packets given to the table.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Packets that belong to no flow: they have no IP header, or it hides the protocol.
    pub fn packets_without_flow(&self) -> u64 {
        self.packets_without_flow
    }

    /// Takes the flows that have ended, in the order in which they did.
    pub fn drain_finished(&mut self) -> impl Iterator<Item = Flow> {
        self.finished.drain(..)
    }

    /// Ends every open flow: first what [`Self::drain_finished`] would still give, then the open ones
    /// in the order of their first packet.
    pub fn finish(self) -> FinishedFlows {
        FinishedFlows {
            finished: self.finished.into_iter(),
            v4: self.v4.into_ordered(),
            v6: self.v6.into_ordered(),
        }
    }

    /// Bytes of memory that the table has taken, besides what the allocator adds.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.v4.memory_bytes()
            + self.v6.memory_bytes()
            + self.fragments.memory_bytes()
            + self.finished.capacity() * size_of::<Flow>()
    }
}

/// Rules for the end of flows.
struct Rules {
    timeouts: Timeouts,
    max_flows: usize,
    /// Flows can be idle for too long.
    sweeps: bool,
}

impl Rules {
    /// Counts a packet for its flow; answers the number of its record, and if the packet is of the key's second endpoint.
    #[inline]
    fn count<A: Mix, B: Mix>(
        &self,
        records: &mut Records<A>,
        others: &mut Records<B>,
        packet: &Packet,
        observation: Observation,
        finished: &mut Vec<Flow>,
    ) -> (usize, bool) {
        let (key, reversed) = Key::of(packet, packet.proto);
        let hash = records.hash(&key);
        let found = records.update(hash, &key, reversed, observation, self.timeouts, finished);
        let number = found.unwrap_or_else(|| {
            self.begin(records, others, hash, key, reversed, observation, finished)
        });
        (number, reversed)
    }

    /// Begins a flow, and makes room for it.
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn begin<A: Mix, B: Mix>(
        &self,
        records: &mut Records<A>,
        others: &mut Records<B>,
        hash: u64,
        key: Key<A>,
        reversed: bool,
        observation: Observation,
        finished: &mut Vec<Flow>,
    ) -> usize {
        if self.sweeps {
            records.sweep(SWEEP_PER_FLOW, observation.ts, self.timeouts, finished);
        }
        if records.len() + others.len() >= self.max_flows {
            match records.len() >= others.len() {
                true => records.evict(finished),
                false => others.evict(finished),
            }
        }
        records.insert(hash, key, reversed, observation)
    }
}

/// The last flows of a table.
pub struct FinishedFlows {
    finished: std::vec::IntoIter<Flow>,
    v4: Ordered<[u8; 4]>,
    v6: Ordered<[u8; 16]>,
}

impl Iterator for FinishedFlows {
    type Item = Flow;

    fn next(&mut self) -> Option<Flow> {
        if let Some(flow) = self.finished.next() {
            return Some(flow);
        }
        match (self.v4.peek(), self.v6.peek()) {
            (Some(v4), Some(v6)) if v6 < v4 => self.v6.next(),
            (Some(_), _) => self.v4.next(),
            (None, _) => self.v6.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.finished.len() + self.v4.len() + self.v6.len();
        (len, Some(len))
    }
}

impl ExactSizeIterator for FinishedFlows {}
