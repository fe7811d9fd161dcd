//! The busiest hosts and conversations, and the services with the most failures, in bounded memory.

use std::cmp::Reverse;
use std::net::IpAddr;

use crate::Result;
use crate::batch::{Batch, DataType, Field, Schema, Value};
use crate::flow::{Flow, FlowField};
use crate::query::{GROUPS_MAX, GroupBy, Groups};

/// Schema of a host's amounts in one flow.
const HOST: Schema = Schema::constant("flows", HOST_FIELDS);

const HOST_FIELDS: &[Field] = &[
    Field::constant("ip", DataType::Address, false, "Address of the host."),
    number("bytes", "Bytes of the frames that it sent or received."),
    number("packets", "Packets that it sent or received."),
    number("sent", "Bytes of the frames that it sent."),
    number("received", "Bytes of the frames that it received."),
];

/// Schema of the failures of connections.
const FAILURE: Schema = Schema::constant("packets", FAILURE_FIELDS);

const FAILURE_FIELDS: &[Field] = &[
    Field::constant("ip", DataType::Address, false, "Address of the side with the smaller port."),
    Field::constant("port", DataType::U16, false, "That port."),
    number("events", "Resets and retransmissions."),
    number("resets", "Packets that reset connections."),
    number("repeats", "Packets that repeat what had come before."),
    number("fills", "Packets that fill a gap in front of others."),
];

const fn number(name: &'static str, meaning: &'static str) -> Field {
    Field::constant(name, DataType::U64, false, meaning)
}

/// Hosts by what they sent and received.
pub(super) struct Hosts(Groups);

impl Hosts {
    pub(super) fn new() -> Result<Self> {
        let sums = ["bytes", "packets", "sent", "received"];
        let by = GroupBy::new(&HOST, &["ip"], &sums, None)?;
        Ok(Hosts(by.groups(GROUPS_MAX)))
    }

    /// Adds what both hosts of a flow have to do with it; a host that talks to itself has all of it once.
    pub(super) fn add(&mut self, flow: &Flow) {
        let (there, back) = (flow.bytes(), flow.rev_bytes());
        let packets = flow.packets() + flow.rev_packets();
        if flow.src_ip() == flow.dst_ip() {
            return self.add_row(
                flow.src_ip(),
                packets,
                [there + back, there + back, there + back],
            );
        }
        self.add_row(flow.src_ip(), packets, [there + back, there, back]);
        self.add_row(flow.dst_ip(), packets, [there + back, back, there]);
    }

    fn add_row(&mut self, ip: IpAddr, packets: u64, [bytes, sent, received]: [u64; 3]) {
        let row: [Value<'_>; 5] =
            [ip.into(), bytes.into(), packets.into(), sent.into(), received.into()];
        self.0.add(|place| row.get(place).copied().unwrap_or(Value::Null));
    }

    /// The `count` hosts with the most bytes.
    pub(super) fn largest(self, count: usize) -> Batch {
        self.0.finish(Some(count))
    }
}

/// Failure of a connection that a packet shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ConnectionFailure {
    pub(super) is_reset: bool,
    pub(super) is_repeat: bool,
    pub(super) is_fill: bool,
}

/// Failures of connections, by service.
pub(super) struct FailuresByService(Groups);

impl FailuresByService {
    pub(super) fn new() -> Result<Self> {
        let sums = ["events", "resets", "repeats", "fills"];
        let by = GroupBy::new(&FAILURE, &["ip", "port"], &sums, None)?;
        Ok(FailuresByService(by.groups(GROUPS_MAX)))
    }

    pub(super) fn add(&mut self, service: (IpAddr, u16), failure: ConnectionFailure) {
        let [resets, repeats, fills] =
            [failure.is_reset, failure.is_repeat, failure.is_fill].map(u64::from);
        let row: [Value<'_>; 6] = [
            service.0.into(),
            service.1.into(),
            (resets + repeats + fills).into(),
            resets.into(),
            repeats.into(),
            fills.into(),
        ];
        self.0.add(|place| row.get(place).copied().unwrap_or(Value::Null));
    }

    /// The `count` services with the most resets and retransmissions.
    pub(super) fn largest(self, count: usize) -> Batch {
        self.0.finish(Some(count))
    }
}

/// The largest conversations.
pub(super) struct Conversations {
    count: usize,
    largest: Vec<Flow>,
    seen: u64,
}

impl Conversations {
    pub(super) fn new(count: usize) -> Self {
        Conversations { count, largest: Vec::new(), seen: 0 }
    }

    /// Conversations so far.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    pub(super) fn add(&mut self, flow: Flow) {
        self.seen += 1;
        self.largest.push(flow);
        if self.largest.len() >= 16 * self.count {
            self.forget_small();
        }
    }

    /// Keeps the largest. The sort is stable: of two that are alike, the earlier is the larger.
    fn forget_small(&mut self) {
        self.largest.sort_by_key(|flow| Reverse(flow.bytes() + flow.rev_bytes()));
        self.largest.truncate(self.count);
    }

    /// The largest conversations, the largest first.
    pub(super) fn largest(mut self) -> Batch {
        self.forget_small();
        let mut batch = Batch::new(FlowField::SCHEMA);
        for flow in &self.largest {
            let value = |place| FlowField::ALL.get(place).map(|field| flow.value(*field));
            batch.push_row(|place| value(place).unwrap_or(Value::Null));
        }
        batch
    }
}
