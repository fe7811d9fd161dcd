//! Key that makes packets one flow: addresses, protocol and ports, the same for both directions.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Field, Packet};

/// Protocol numbers whose packets say more than their addresses.
pub(crate) mod proto {
    pub(crate) const ICMP: u8 = 1;
    pub(crate) const TCP: u8 = 6;
    pub(crate) const UDP: u8 = 17;
    pub(crate) const ICMPV6: u8 = 58;
}

/// An address of one IP version, in the order of its bytes on the wire.
pub(crate) trait IpAddress: Copy + Eq + std::fmt::Debug {
    /// The address in a packet's 16 bytes.
    fn of(bytes: &[u8; 16]) -> Self;

    /// Compares it with `other`: returns true if it comes before, and true if it is the same.
    fn compare(self, other: Self) -> (bool, bool);

    fn same(left: [Self; 2], right: [Self; 2]) -> bool;

    /// The pair the other way round where `swap` says so, without a branch: which way a packet goes
    /// is hard to foresee.
    fn swap_if(pair: [Self; 2], swap: bool) -> [Self; 2];

    fn ip(self) -> IpAddr;
}

impl IpAddress for [u8; 4] {
    #[inline]
    fn of(bytes: &[u8; 16]) -> Self {
        [bytes[12], bytes[13], bytes[14], bytes[15]]
    }

    #[inline]
    fn compare(self, other: Self) -> (bool, bool) {
        (u32::from_be_bytes(self) < u32::from_be_bytes(other), self == other)
    }

    #[inline]
    fn same(left: [Self; 2], right: [Self; 2]) -> bool {
        left == right
    }

    #[inline]
    fn swap_if(pair: [Self; 2], swap: bool) -> [Self; 2] {
        let [first, second] = pair.map(u32::from_ne_bytes);
        let change = (first ^ second) & u32::from(swap).wrapping_neg();
        [first ^ change, second ^ change].map(u32::to_ne_bytes)
    }

    fn ip(self) -> IpAddr {
        Ipv4Addr::from(self).into()
    }
}

impl IpAddress for [u8; 16] {
    #[inline]
    fn of(bytes: &[u8; 16]) -> Self {
        *bytes
    }

    #[inline]
    fn compare(self, other: Self) -> (bool, bool) {
        (u128::from_be_bytes(self) < u128::from_be_bytes(other), self == other)
    }

    #[inline]
    fn same(left: [Self; 2], right: [Self; 2]) -> bool {
        let [left, right] = [left, right].map(|pair| pair.map(u128::from_ne_bytes));
        (left[0] ^ right[0]) | (left[1] ^ right[1]) == 0
    }

    #[inline]
    fn swap_if(pair: [Self; 2], swap: bool) -> [Self; 2] {
        let [first, second] = pair.map(u128::from_ne_bytes);
        let change = (first ^ second) & u128::from(swap).wrapping_neg();
        [first ^ change, second ^ change].map(u128::to_ne_bytes)
    }

    fn ip(self) -> IpAddr {
        Ipv6Addr::from(self).into()
    }
}

/// The key of a flow inside a table. Where a way back is possible the smaller endpoint comes first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key<A> {
    pub(crate) addresses: [A; 2],
    pub(crate) ports: [u16; 2],
    pub(crate) proto: u8,
    pub(crate) has_ports: bool,
}

impl<A: IpAddress> PartialEq for Key<A> {
    /// In one go: keys that are compared have the same tag and are nearly always the same.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        A::same(self.addresses, other.addresses)
            & (self.ports == other.ports)
            & (self.proto == other.proto)
            & (self.has_ports == other.has_ports)
    }
}

impl<A: IpAddress> Key<A> {
    /// The key of a packet that has addresses of this version, and whether it goes from the second
    /// endpoint to the first.
    #[inline]
    pub(crate) fn of(packet: &Packet, proto: u8) -> (Self, bool) {
        let addresses = [A::of(&packet.src_ip), A::of(&packet.dst_ip)];
        if packet.has(Field::SrcPort) {
            return Key::ordered(addresses, proto, Some([packet.src_port, packet.dst_port]), false);
        }
        if packet.has(Field::IcmpType) {
            let (ports, one_way) = icmp_ports(proto, packet.icmp_type, packet.icmp_code);
            return Key::ordered(addresses, proto, Some(ports), one_way);
        }
        Key::ordered(addresses, proto, None, false)
    }

    /// Puts the smaller endpoint first, unless there is only one way.
    #[inline]
    fn ordered(
        addresses: [A; 2],
        proto: u8,
        ports: Option<[u16; 2]>,
        one_way: bool,
    ) -> (Self, bool) {
        let (has_ports, ports) = (ports.is_some(), ports.unwrap_or_default());
        let (after, same) = addresses[1].compare(addresses[0]);
        let reversed = !one_way & (after | (same & (ports[1] < ports[0])));
        let change = (ports[0] ^ ports[1]) & u16::from(reversed).wrapping_neg();
        let key = Key {
            addresses: A::swap_if(addresses, reversed),
            ports: [ports[0] ^ change, ports[1] ^ change],
            proto,
            has_ports,
        };
        (key, reversed)
    }
}

/// The key of a flow for people: which packets belong to it, whichever way they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    pub(crate) addresses: [IpAddr; 2],
    pub(crate) ports: Option<[u16; 2]>,
    pub(crate) proto: u8,
}

impl FlowKey {
    /// The key of packets from `source` to `destination`, or back.
    ///
    /// `ports` are those of TCP, UDP or SCTP, or the type and code of ICMP and ICMPv6, or `None` for
    /// other protocols. It is `None` where the two addresses are of different IP versions.
    pub fn new(
        source: IpAddr,
        destination: IpAddr,
        proto: u8,
        ports: Option<(u16, u16)>,
    ) -> Option<FlowKey> {
        let (ports, one_way) = match ports {
            Some((kind, code)) if proto == proto::ICMP || proto == proto::ICMPV6 => {
                let (kind, code) = (u8::try_from(kind).ok()?, u8::try_from(code).ok()?);
                let (ports, one_way) = icmp_ports(proto, kind, code);
                (Some(ports), one_way)
            }
            ports => (ports.map(|(source, destination)| [source, destination]), false),
        };
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let addresses = [source.octets(), destination.octets()];
                Some(Key::ordered(addresses, proto, ports, one_way).0.into())
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let addresses = [source.octets(), destination.octets()];
                Some(Key::ordered(addresses, proto, ports, one_way).0.into())
            }
            _ => None,
        }
    }

    /// The key of the flow that `packet` belongs to; `None` where it has no IP addresses or protocol.
    pub fn of(packet: &Packet) -> Option<FlowKey> {
        Self::with_way(packet).map(|(key, _)| key)
    }

    /// The key of the flow that `packet` belongs to, and whether the packet goes from the second endpoint
    /// of the key to the first.
    pub fn with_way(packet: &Packet) -> Option<(FlowKey, bool)> {
        let proto = packet.proto().filter(|_| packet.has(Field::SrcIp))?;
        Some(match packet.ip_version {
            4 => {
                let (key, reversed) = Key::<[u8; 4]>::of(packet, proto);
                (key.into(), reversed)
            }
            _ => {
                let (key, reversed) = Key::<[u8; 16]>::of(packet, proto);
                (key.into(), reversed)
            }
        })
    }

    /// The two endpoints of a flow with ports, the first one the smaller.
    pub fn endpoints(&self) -> Option<[SocketAddr; 2]> {
        let [first, second] = self.transport_ports()?;
        let [from, to] = self.addresses;
        Some([SocketAddr::new(from, first), SocketAddr::new(to, second)])
    }

    /// Returns the two numbers of the key if they are ports, not ICMP's type and its counterpart.
    pub(crate) fn transport_ports(&self) -> Option<[u16; 2]> {
        self.ports.filter(|_| self.proto != proto::ICMP && self.proto != proto::ICMPV6)
    }
}

impl<A: IpAddress> From<Key<A>> for FlowKey {
    fn from(key: Key<A>) -> Self {
        FlowKey {
            addresses: key.addresses.map(A::ip),
            ports: key.has_ports.then_some(key.ports),
            proto: key.proto,
        }
    }
}

/// Returns the numbers of an ICMP message in place of ports, and true if it goes one way only: a
/// request and its reply swap each other's numbers, as in Community ID v1.
fn icmp_ports(proto: u8, kind: u8, code: u8) -> ([u16; 2], bool) {
    let counterpart = if proto == proto::ICMP { icmp_counterpart } else { icmpv6_counterpart };
    match counterpart(kind) {
        Some(answer) => ([kind.into(), answer.into()], false),
        None => ([kind.into(), code.into()], true),
    }
}

/// Echo, router discovery, timestamp, information and address mask.
fn icmp_counterpart(kind: u8) -> Option<u8> {
    Some(match kind {
        0 => 8,
        8 => 0,
        9 => 10,
        10 => 9,
        13 | 15 | 17 => kind + 1,
        14 | 16 | 18 => kind - 1,
        _ => return None,
    })
}

/// Echo, listener discovery, router and neighbour discovery, node information, home agent discovery.
fn icmpv6_counterpart(kind: u8) -> Option<u8> {
    Some(match kind {
        128 | 130 | 133 | 135 | 139 | 144 => kind + 1,
        129 | 131 | 134 | 136 | 140 | 145 => kind - 1,
        _ => return None,
    })
}
