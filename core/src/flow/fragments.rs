//! Datagrams in fragments: what the first fragment says of their flow, for the fragments behind it, which say nothing of it.
//!
//! Nothing is put together again, and a fragment that comes before the first one of its datagram is not kept.

use std::collections::HashMap;

use super::records::NO_TIME;
use crate::packet::{Datagram, Field, FieldSet, Packet};

// Bound (Flows): first fragments whose ports count for those behind them = 16,384, in 3 MiB; a newer one makes the
// oldest be forgotten.
const DATAGRAMS_MAX: usize = 16_384;

/// Nanoseconds between the first fragment of a datagram and another of the same identification, which is used again:
/// those that are further apart are of two datagrams. A host gives a datagram up after at most so long (RFC 1122, RFC 8200).
const SPAN_MAX: u64 = 60_000_000_000;

/// Fields of the first fragment that tell the flow.
const TOLD: FieldSet =
    FieldSet::PORTS.union(FieldSet(Field::IcmpType.bit() | Field::IcmpCode.bit()));

/// The last first fragments.
#[derive(Default)]
pub(super) struct Fragments {
    /// In a circle.
    firsts: Vec<FirstFragment>,
    /// The place that is used next: that of the oldest, once all are in use.
    next: usize,
    /// Places in the circle.
    places: HashMap<Datagram, u32>,
}

/// The flow of a datagram as its first fragment tells it.
struct FirstFragment {
    datagram: Datagram,
    ts: i64,
    present: FieldSet,
    ports: [u16; 2],
    proto: u8,
    icmp: [u8; 2],
}

impl FirstFragment {
    fn of(datagram: Datagram, packet: &Packet) -> Self {
        FirstFragment {
            datagram,
            ts: time_of(packet),
            present: packet.present.and(TOLD),
            ports: [packet.src_port, packet.dst_port],
            proto: packet.proto,
            icmp: [packet.icmp_type, packet.icmp_code],
        }
    }

    /// Returns true if a packet at `ts` can be of the same datagram.
    fn is_near(&self, ts: i64) -> bool {
        self.ts == NO_TIME || ts == NO_TIME || self.ts.abs_diff(ts) <= SPAN_MAX
    }

    /// Says of a later fragment what is known of its flow.
    fn complete(&self, later: &Packet) -> Packet {
        let mut packet = *later;
        packet.present.insert_all(self.present);
        [packet.src_port, packet.dst_port] = self.ports;
        [packet.icmp_type, packet.icmp_code] = self.icmp;
        packet.proto = self.proto;
        packet
    }
}

fn time_of(packet: &Packet) -> i64 {
    packet.ts().unwrap_or(NO_TIME)
}

impl Fragments {
    /// Takes a fragment: remembers a first one, and answers a later one with the ports of its first one, if that is known.
    pub(super) fn take(&mut self, packet: &Packet) -> Packet {
        let Some(datagram) = packet.datagram() else { return *packet };
        if packet.frag_offset == 0 {
            self.remember(FirstFragment::of(datagram, packet));
            return *packet;
        }
        let place = self.places.get(&datagram).and_then(|place| usize::try_from(*place).ok());
        match place.and_then(|place| self.firsts.get(place)) {
            Some(first) if first.is_near(time_of(packet)) => first.complete(packet),
            _ => *packet,
        }
    }

    fn remember(&mut self, first: FirstFragment) {
        let (datagram, place) = (first.datagram, self.next);
        self.next = (place + 1) % DATAGRAMS_MAX;
        match self.firsts.get_mut(place) {
            Some(oldest) => {
                let forgotten = std::mem::replace(oldest, first).datagram;
                // Unless a fragment that came since is the first one of another datagram with its identification.
                if self.places.get(&forgotten) == Some(&(place as u32)) {
                    self.places.remove(&forgotten);
                }
            }
            None => self.firsts.push(first),
        }
        self.places.insert(datagram, place as u32);
    }

    /// Bytes of memory that it has taken, besides what the allocator adds.
    pub(super) fn memory_bytes(&self) -> usize {
        self.firsts.capacity() * size_of::<FirstFragment>()
            + self.places.capacity() * size_of::<(Datagram, u32)>()
    }
}
