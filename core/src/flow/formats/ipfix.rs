//! Messages of IPFIX (RFC 7011), one behind the other as in a file (RFC 5655). A flow is one record of both directions
//! (RFC 5103), of a template that has what the flow tells.
//!
//! Source of the elements: the IPFIX registry of IANA (<https://www.iana.org/assignments/ipfix>).

use std::net::IpAddr;

use crate::batch::Value;
use crate::flow::{Flow, FlowField};
use crate::packet::proto;

/// Features that the records tell.
pub(super) const FEATURES: &[FlowField] = &[FlowField::IpBytes];

/// The version in the header of a message (RFC 7011, section 3.1).
const VERSION: u16 = 10;

/// Bytes of the header of a message.
const MESSAGE_HEADER: usize = 16;

/// The observation domain: that of one observer, who is none of several.
const DOMAIN: u32 = 1;

/// The identifier of a set of templates, and the first one of templates.
const TEMPLATES: u16 = 2;
const FIRST_TEMPLATE: u16 = 256;

/// The enterprise of elements of the way back (RFC 5103, section 6.1).
const REVERSE: u32 = 29_305;

/// The bit in front of the number of an element of an enterprise.
const HAS_ENTERPRISE: u16 = 0x8000;

// Bound (Flows): message of IPFIX that is written = 16 KiB and one record.
/// A message ends behind them, and is kept until then.
const MESSAGE_LEN: usize = 16 << 10;

/// Seconds from 1900, which NTP counts from, to 1970.
const NTP_EPOCH: i64 = 2_208_988_800;

/// Facts that a flow has or lacks, as bits: each sum of them has a template.
mod fact {
    pub(super) const IPV4: u8 = 1;
    pub(super) const IPV6: u8 = 2;
    pub(super) const TIMES: u8 = 4;
    pub(super) const PORTS: u8 = 8;
    pub(super) const TCP: u8 = 16;
    pub(super) const ICMP: u8 = 32;
    pub(super) const IP_BYTES: u8 = 64;
    /// Sums of facts.
    pub(super) const COUNT: usize = 128;
}

/// The value of an element.
enum ElementValue {
    Number(fn(&Flow) -> u64),
    Address(fn(&Flow) -> IpAddr),
}

/// An element of a record.
struct Element {
    number: u16,
    len: u16,
    /// It is one of the way back.
    is_reverse: bool,
    /// Facts that a flow has to have for it.
    needs: u8,
    value: ElementValue,
}

const fn element(number: u16, len: u16, needs: u8, value: fn(&Flow) -> u64) -> Element {
    Element { number, len, is_reverse: false, needs, value: ElementValue::Number(value) }
}

const fn back(number: u16, len: u16, needs: u8, value: fn(&Flow) -> u64) -> Element {
    Element { number, len, is_reverse: true, needs, value: ElementValue::Number(value) }
}

const fn address(number: u16, len: u16, needs: u8, value: fn(&Flow) -> IpAddr) -> Element {
    Element { number, len, is_reverse: false, needs, value: ElementValue::Address(value) }
}

/// The elements, in the order that records have them in.
const ELEMENTS: &[Element] = &[
    // flowStartMilliseconds, flowEndMilliseconds: for readers that know of no others.
    element(152, 8, fact::TIMES, |flow| milliseconds(flow.ts())),
    element(153, 8, fact::TIMES, |flow| milliseconds(flow.last_ts())),
    // flowStartNanoseconds, flowEndNanoseconds.
    element(156, 8, fact::TIMES, |flow| ntp_time(flow.ts())),
    element(157, 8, fact::TIMES, |flow| ntp_time(flow.last_ts())),
    // sourceIPv4Address, destinationIPv4Address, sourceIPv6Address, destinationIPv6Address.
    address(8, 4, fact::IPV4, Flow::src_ip),
    address(12, 4, fact::IPV4, Flow::dst_ip),
    address(27, 16, fact::IPV6, Flow::src_ip),
    address(28, 16, fact::IPV6, Flow::dst_ip),
    // sourceTransportPort, destinationTransportPort.
    element(7, 2, fact::PORTS, |flow| flow.src_port().unwrap_or(0).into()),
    element(11, 2, fact::PORTS, |flow| flow.dst_port().unwrap_or(0).into()),
    // protocolIdentifier.
    element(4, 1, 0, |flow| flow.proto().into()),
    // icmpTypeIPv4, icmpTypeIPv6.
    element(176, 1, fact::ICMP | fact::IPV4, icmp_type),
    element(178, 1, fact::ICMP | fact::IPV6, icmp_type),
    // tcpControlBits.
    element(6, 2, fact::TCP, |flow| flow.tcp_flags().unwrap_or(0).into()),
    back(6, 2, fact::TCP, |flow| flow.rev_tcp_flags().unwrap_or(0).into()),
    // packetDeltaCount.
    element(2, 8, 0, Flow::packets),
    back(2, 8, 0, Flow::rev_packets),
    // octetDeltaCount: bytes of IP packets.
    element(1, 8, fact::IP_BYTES, |flow| count(flow, FlowField::IpBytes)),
    back(1, 8, fact::IP_BYTES, |flow| count(flow, FlowField::RevIpBytes)),
    // layer2OctetDeltaCount: bytes of frames.
    element(352, 8, 0, Flow::bytes),
    back(352, 8, 0, Flow::rev_bytes),
    // biflowDirection: the source is the initiator, as far as its first packet tells.
    element(239, 1, 0, |_| 1),
];

fn milliseconds(ts: Option<i64>) -> u64 {
    ts.unwrap_or(0).div_euclid(1_000_000).max(0).unsigned_abs()
}

/// A time as NTP has it: 32 bits of seconds, and of a fraction that is rounded up, so that rounding down finds the nanosecond
/// again (RFC 7011, section 6.1.9).
fn ntp_time(ts: Option<i64>) -> u64 {
    let ts = ts.unwrap_or(0);
    let (seconds, nanoseconds) = (ts.div_euclid(1_000_000_000), ts.rem_euclid(1_000_000_000));
    let fraction = (nanoseconds.unsigned_abs() << 32).div_ceil(1_000_000_000);
    // In 2036, NTP counts from zero again.
    let seconds = u64::from(seconds.wrapping_add(NTP_EPOCH) as u32);
    seconds << 32 | fraction
}

/// The type of the initiator's messages of ICMP.
fn icmp_type(flow: &Flow) -> u64 {
    flow.key.ports.unwrap_or_default()[flow.initiator()].into()
}

fn count(flow: &Flow, field: FlowField) -> u64 {
    if let Value::Unsigned(count) = flow.value(field) { count } else { 0 }
}

/// The facts that a flow has.
fn facts_of(flow: &Flow) -> u8 {
    let is_icmp = matches!(flow.proto(), proto::ICMP | proto::ICMPV6) && flow.key.ports.is_some();
    let has_ip_bytes = flow.value(FlowField::IpBytes) != Value::Null;
    let facts = [
        (flow.src_ip().is_ipv4(), fact::IPV4),
        (flow.src_ip().is_ipv6(), fact::IPV6),
        (flow.span.is_some(), fact::TIMES),
        (flow.src_port().is_some(), fact::PORTS),
        (flow.tcp_flags().is_some(), fact::TCP),
        (is_icmp, fact::ICMP),
        (has_ip_bytes, fact::IP_BYTES),
    ];
    facts.into_iter().filter(|(has, _)| *has).fold(0, |facts, (_, bit)| facts | bit)
}

/// The elements of the records with these facts.
fn elements(facts: u8) -> impl Iterator<Item = &'static Element> + Clone {
    ELEMENTS.iter().filter(move |element| element.needs & !facts == 0)
}

/// Messages with templates, each before its first record, and records.
#[derive(Debug)]
pub(super) struct IpfixMessages {
    /// The message that is not full; empty, or its header and sets.
    message: Vec<u8>,
    /// Its last set: its place, and the facts that its records have.
    set: Option<(usize, u8)>,
    /// Records in it, and in the messages before it.
    records: u32,
    records_before: u32,
    /// Templates that were written, by facts.
    known: [bool; fact::COUNT],
    /// Time of export, seconds since 1970.
    time: u32,
}

impl Default for IpfixMessages {
    fn default() -> Self {
        IpfixMessages {
            message: Vec::new(),
            set: None,
            records: 0,
            records_before: 0,
            known: [false; fact::COUNT],
            time: 0,
        }
    }
}

impl IpfixMessages {
    /// Sets the time at which messages are written, nanoseconds since the epoch.
    pub(super) fn set_time(&mut self, now: i64) {
        self.time = now.div_euclid(1_000_000_000) as u32;
    }

    /// Adds a flow; appends the message once that is full.
    pub(super) fn push(&mut self, flow: &Flow, into: &mut Vec<u8>) {
        let facts = facts_of(flow);
        if self.message.is_empty() {
            self.message.resize(MESSAGE_HEADER, 0);
        }
        if self.set.is_none_or(|(_, of)| of != facts) {
            self.end_set();
            self.begin_set(facts);
        }
        for element in elements(facts) {
            element.write(flow, &mut self.message);
        }
        self.records += 1;
        if self.message.len() >= MESSAGE_LEN {
            self.flush(into);
        }
    }

    /// Appends the message, if there is one.
    pub(super) fn flush(&mut self, into: &mut Vec<u8>) {
        self.end_set();
        if self.message.is_empty() {
            return;
        }
        let len = self.message.len() as u16;
        into.extend(VERSION.to_be_bytes());
        into.extend(len.to_be_bytes());
        into.extend(self.time.to_be_bytes());
        into.extend(self.records_before.to_be_bytes());
        into.extend(DOMAIN.to_be_bytes());
        into.extend_from_slice(self.message.get(MESSAGE_HEADER..).unwrap_or_default());
        self.message.clear();
        // It counts around (RFC 7011, section 3.1).
        self.records_before = self.records_before.wrapping_add(self.records);
        self.records = 0;
    }

    /// Begins a set of records, behind their template if that was not written.
    fn begin_set(&mut self, facts: u8) {
        let id = FIRST_TEMPLATE + u16::from(facts);
        let is_known = self.known.get_mut(usize::from(facts)).map(|it| std::mem::replace(it, true));
        if is_known == Some(false) {
            self.set = Some((self.open_set(TEMPLATES), facts));
            let count = elements(facts).count() as u16;
            self.message.extend(id.to_be_bytes());
            self.message.extend(count.to_be_bytes());
            elements(facts).for_each(|element| element.specify(&mut self.message));
            self.end_set();
        }
        self.set = Some((self.open_set(id), facts));
    }

    /// Appends the header of a set whose length is not known, and returns its place.
    fn open_set(&mut self, id: u16) -> usize {
        let place = self.message.len();
        self.message.extend(id.to_be_bytes());
        self.message.extend([0; 2]);
        place
    }

    /// Fills in the length of the last set.
    fn end_set(&mut self) {
        let Some((place, _)) = self.set.take() else { return };
        let len = (self.message.len() - place) as u16;
        if let Some(field) = self.message.get_mut(place + 2..place + 4) {
            field.copy_from_slice(&len.to_be_bytes());
        }
    }
}

impl Element {
    /// Appends its specification in a template (RFC 7011, section 3.2).
    fn specify(&self, into: &mut Vec<u8>) {
        let enterprise = if self.is_reverse { HAS_ENTERPRISE } else { 0 };
        into.extend((self.number | enterprise).to_be_bytes());
        into.extend(self.len.to_be_bytes());
        if self.is_reverse {
            into.extend(REVERSE.to_be_bytes());
        }
    }

    /// Appends its value.
    fn write(&self, flow: &Flow, into: &mut Vec<u8>) {
        match self.value {
            ElementValue::Number(value) => {
                let bytes = value(flow).to_be_bytes();
                into.extend_from_slice(bytes.get(8 - usize::from(self.len)..).unwrap_or_default());
            }
            ElementValue::Address(value) => match value(flow) {
                IpAddr::V4(address) => into.extend(address.octets()),
                IpAddr::V6(address) => into.extend(address.octets()),
            },
        }
    }
}
