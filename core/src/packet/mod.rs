//! Protocol headers of a captured frame, outermost IP first, turned into one flat [`Packet`].
//!
//! It is pure: bytes in, fields out, no I/O, no panic on any input. It is not a dissector: it stops at the transport
//! header and at the first thing it cannot trust, and says so in [`Status`]. A packet is decoded without an allocation.
//!
//! Fields outside of these headers, such as MAC addresses and the names in DNS, TLS and HTTP, are no members of a
//! packet: a [`Frame`] reads them from the bytes when they are asked for.

mod anonymizer;
mod app;
mod columns;
mod community_id;
mod datagram;
mod fast_path;
mod field;
mod flow_key;
mod flow_selector;
mod frame;
mod frame_bytes;
mod headers;
mod labels;
mod link;
mod net;
mod pseudowire;
mod status;
mod transport;
mod tunnel;

pub use anonymizer::{Anonymizer, AnonymousFrame, PayloadRule};
pub(crate) use app::ConversationNames;
pub use columns::PacketColumns;
pub(crate) use datagram::Datagram;
pub use field::{Field, FieldSet, PROTOCOLS};
pub use flow_key::FlowKey;
pub(crate) use flow_key::{IpAddress, Key, proto};
pub use flow_selector::FlowSelector;
pub use frame::{Frame, FrameInterface, KeptFrame};
pub(crate) use headers::{HeaderKind, HeaderPlace};
pub(crate) use labels::{LabelBuilder, Network};
pub use labels::{NetworkLabels, ReplacedLabel};
pub use link::LinkType;
pub use status::Status;
pub(crate) use transport::TcpHeader;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::batch::Value;
use crate::wire::Reader;

/// Options for following headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecodeOptions {
    /// Follow GRE, ERSPAN, IPIP, 6in4, VXLAN, VXLAN-GPE, GENEVE, GTP-U, Teredo, L2TP, and MPLS and Ethernet in IP or UDP,
    /// and report the innermost IP header instead of the outermost.
    pub inner: bool,
    /// A UDP port of VXLAN beside its own; 0 for none.
    pub vxlan_port: u16,
}

impl DecodeOptions {
    /// Tells a packet of the usual shape that is VXLAN by the port of these options.
    #[inline(always)]
    fn is_vxlan(self, packet: &Packet) -> bool {
        self.vxlan_port != 0
            && packet.dst_port == self.vxlan_port
            && packet.proto == net::proto::UDP
    }
}

/// One packet's fields, owned and flat. A field is meaningful only when [`Packet::has`] says that it
/// is there; the typed getters check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packet {
    pub(crate) number: u64,
    pub(crate) ts: i64,
    pub(crate) src_ip: [u8; 16],
    pub(crate) dst_ip: [u8; 16],
    pub(crate) length: u32,
    pub(crate) caplen: u32,
    pub(crate) present: FieldSet,
    pub(crate) ip_len: u32,
    pub(crate) payload_offset: u32,
    pub(crate) payload_len: u32,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// Sender's address of ARP; of a fragment, which no ARP is, the identification, so that packets take no more room.
    pub(crate) arp_src_ip: [u8; 4],
    pub(crate) arp_dst_ip: [u8; 4],
    pub(crate) src_port: u16,
    pub(crate) dst_port: u16,
    pub(crate) vlan: u16,
    pub(crate) tcp_flags: u16,
    pub(crate) frag_offset: u16,
    pub(crate) link_type: u16,
    pub(crate) ethertype: u16,
    pub(crate) arp_op: u16,
    pub(crate) status: Status,
    pub(crate) ip_version: u8,
    pub(crate) proto: u8,
    pub(crate) ttl: u8,
    pub(crate) icmp_type: u8,
    pub(crate) icmp_code: u8,
    /// Bytes of the TCP header, options counted; 0 without one.
    pub(crate) tcp_header_len: u8,
}

/// Facts about a frame in the capture file, beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameMeta {
    /// Number of the frame in its capture, from 1.
    pub number: u64,
    /// Nanoseconds since the epoch, where the file keeps a time.
    pub ts: Option<i64>,
    /// Bytes on the wire.
    pub length: u32,
    /// Type of the header that the bytes begin with.
    pub link_type: LinkType,
}

impl Packet {
    /// Decodes the headers of the `captured` bytes of one frame.
    pub fn decode(meta: FrameMeta, captured: &[u8], options: DecodeOptions) -> Packet {
        let mut packet = Packet::default();
        packet.decode_into(meta, captured, options);
        packet
    }

    /// Replaces this packet by the one that [`Packet::decode`] would give.
    #[inline]
    pub fn decode_into(&mut self, meta: FrameMeta, captured: &[u8], options: DecodeOptions) {
        if fast_path::decode_into(self, meta, captured).is_none() || options.is_vxlan(self) {
            self.walk_into(meta, captured, options, None);
        }
    }

    /// [`Packet::decode_into`] for frames of any shape, header by header. Where `places` are asked for, it notes them.
    #[inline(never)]
    fn walk_into(
        &mut self,
        meta: FrameMeta,
        captured: &[u8],
        options: DecodeOptions,
        places: Option<&mut Vec<HeaderPlace>>,
    ) {
        let caplen = u32::try_from(captured.len()).unwrap_or(u32::MAX);
        *self = Packet {
            number: meta.number,
            ts: meta.ts.unwrap_or_default(),
            length: meta.length,
            caplen,
            link_type: meta.link_type.0,
            present: FieldSet::ALWAYS,
            ..Packet::default()
        };
        if meta.ts.is_some() {
            self.present.insert(Field::Ts);
        }
        let end = meta.length.max(caplen);
        let mut walk = PacketWalk { packet: self, frame: captured, options, depth: 0, end, places };
        walk.link(meta.link_type, Reader::new(captured));
    }

    /// Returns true if the packet has `field`.
    #[inline]
    pub const fn has(&self, field: Field) -> bool {
        self.present.contains(field)
    }

    /// Returns the bits for what is unusual about it.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Adds to what is unusual about it, for what only the capture file can show.
    pub fn mark(&mut self, status: Status) {
        self.status.set(status);
    }

    /// Number in its capture, from 1.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Bytes of the frame on the wire.
    pub const fn length(&self) -> u32 {
        self.length
    }

    /// Bytes of the frame in the capture.
    pub const fn caplen(&self) -> u32 {
        self.caplen
    }

    /// Source address.
    pub fn src_ip(&self) -> Option<IpAddr> {
        self.has(Field::SrcIp).then(|| self.address(self.src_ip))
    }

    /// Destination address.
    pub fn dst_ip(&self) -> Option<IpAddr> {
        self.has(Field::DstIp).then(|| self.address(self.dst_ip))
    }

    /// Returns the place in the frame of the payload after the transport header, as far as it was
    /// captured.
    pub fn payload_range(&self) -> Option<std::ops::Range<usize>> {
        if !self.has(Field::PayloadLen) {
            return None;
        }
        let start = self.payload_offset.min(self.caplen);
        let end = start.saturating_add(self.payload_len).min(self.caplen);
        Some(start as usize..end as usize)
    }

    /// The value of a field that it holds; of others see [`Frame::value`].
    pub fn value(&self, field: Field) -> Value<'static> {
        if !self.has(field) {
            return Value::Null;
        }
        match field {
            Field::Ts => Value::Time(self.ts),
            Field::SrcIp => Value::Address(self.address(self.src_ip)),
            Field::DstIp => Value::Address(self.address(self.dst_ip)),
            Field::ArpSrcIp => Value::Address(Ipv4Addr::from(self.arp_src_ip).into()),
            Field::ArpDstIp => Value::Address(Ipv4Addr::from(self.arp_dst_ip).into()),
            number => Value::Unsigned(self.number_of(number)),
        }
    }

    /// The value of a field that is a number and is there, widened.
    fn number_of(&self, field: Field) -> u64 {
        match field {
            Field::SrcPort => self.src_port.into(),
            Field::DstPort => self.dst_port.into(),
            Field::Proto => self.proto.into(),
            Field::Length => self.length.into(),
            Field::Caplen => self.caplen.into(),
            Field::Vlan => self.vlan.into(),
            Field::Ttl => self.ttl.into(),
            Field::TcpFlags => self.tcp_flags.into(),
            Field::PayloadLen => self.payload_len.into(),
            Field::Number => self.number,
            Field::Status => self.status.0.into(),
            Field::LinkType => self.link_type.into(),
            Field::Ethertype => self.ethertype.into(),
            Field::IpVersion => self.ip_version.into(),
            Field::IpLen => self.ip_len.into(),
            Field::FragOffset => self.frag_offset.into(),
            Field::Seq => self.seq.into(),
            Field::Ack => self.ack.into(),
            Field::IcmpType => self.icmp_type.into(),
            Field::IcmpCode => self.icmp_code.into(),
            Field::ArpOp => self.arp_op.into(),
            // None of these is a number that a packet holds.
            _ => 0,
        }
    }

    fn address(&self, bytes: [u8; 16]) -> IpAddr {
        let address = Ipv6Addr::from(bytes);
        match address.to_ipv4_mapped() {
            Some(v4) if self.ip_version == 4 => v4.into(),
            _ => address.into(),
        }
    }
}

/// Declares a getter for each numeric field: `name Field type "meaning"` becomes
/// `pub fn name(&self) -> Option<type>`, `None` where the packet has no such field.
macro_rules! getters {
    ($($name:ident $field:ident $type:ty, $meaning:literal;)*) => {
        impl Packet {
            $(
                #[doc = $meaning]
                #[inline]
                pub fn $name(&self) -> Option<$type> {
                    self.has(Field::$field).then_some(self.$name)
                }
            )*
        }
    };
}

getters! {
    ts Ts i64, "Time of capture, nanoseconds since the epoch.";
    src_port SrcPort u16, "Source port.";
    dst_port DstPort u16, "Destination port.";
    proto Proto u8, "Protocol number after IP and its extension headers.";
    vlan Vlan u16, "VLAN id.";
    ttl Ttl u8, "Time to live or hop limit.";
    tcp_flags TcpFlags u16, "TCP flag bits.";
    payload_len PayloadLen u32, "Bytes of payload after the transport header.";
    ethertype Ethertype u16, "EtherType after VLAN tags.";
    ip_version IpVersion u8, "4 or 6.";
    ip_len IpLen u32, "Bytes of the IP packet.";
    frag_offset FragOffset u16, "Offset of the fragment in bytes.";
    seq Seq u32, "TCP sequence number.";
    ack Ack u32, "TCP acknowledgement number.";
    icmp_type IcmpType u8, "ICMP type.";
    icmp_code IcmpCode u8, "ICMP code.";
    arp_op ArpOp u16, "ARP operation.";
}

// Bound (Captures): nesting of tunnels = 64.
/// Headers that may stand inside each other before the walk gives up.
const DEPTH_MAX: u8 = 64;

/// The way through one frame's headers, outermost first. Each layer's file adds the step for its
/// headers; a step that runs out of bytes marks the packet and stops.
struct PacketWalk<'p> {
    packet: &'p mut Packet,
    /// The bytes that the walk goes over.
    frame: &'p [u8],
    options: DecodeOptions,
    depth: u8,
    /// Offset in the frame of the end that the innermost header with a length states, captured or not.
    end: u32,
    /// Places of headers, if they are asked for.
    places: Option<&'p mut Vec<HeaderPlace>>,
}

impl PacketWalk<'_> {
    /// Notes that a header begins at the cursor.
    #[inline(always)]
    fn note(&mut self, kind: HeaderKind, bytes: &Reader<'_>) {
        let start = bytes.position_in(self.frame);
        if let Some(places) = &mut self.places {
            places.push(HeaderPlace { kind, start });
        }
    }

    /// The frame ends inside a header.
    #[cold]
    fn truncated(&mut self) {
        self.packet.status.set(Status::TRUNCATED);
    }

    /// A header contradicts itself.
    #[cold]
    fn bad_header(&mut self) {
        self.packet.status.set(Status::BAD_HEADER);
    }

    /// The bytes that follow are of a type that is not decoded.
    #[cold]
    fn unknown_header(&mut self) {
        self.packet.status.set(Status::UNKNOWN_HEADER);
    }

    /// The header that stands before `bytes` states that `count` of them belong to it. What the frame
    /// holds behind them is padding.
    #[inline(always)]
    fn limit(&mut self, bytes: &mut Reader<'_>, count: u32) {
        self.end = self.end.min(self.position(bytes).saturating_add(count));
        bytes.limit(count as usize);
    }

    /// Returns the offset of the cursor in the frame.
    #[inline(always)]
    fn position(&self, bytes: &Reader<'_>) -> u32 {
        bytes.position_in(self.frame) as u32
    }

    /// A tunnel begins here: notes it, and says whether the walk goes on inside.
    fn enter_tunnel(&mut self) -> bool {
        self.packet.status.set(Status::TUNNEL);
        if !self.options.inner || self.depth >= DEPTH_MAX {
            return false;
        }
        self.depth += 1;
        true
    }
}
