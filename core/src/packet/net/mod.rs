//! The network layer: ARP, IPv4, IPv6 and its extension headers.

mod arp;
mod ipv4;
mod ipv6;

pub(super) use ipv4::mapped;

use super::{Field, FieldSet, HeaderKind, PacketWalk};
use crate::wire::Reader;

/// Protocol numbers of the IP header (IANA, "Assigned Internet Protocol Numbers").
pub(super) mod proto {
    pub(in crate::packet) const ICMP: u8 = 1;
    pub(in crate::packet) const IPV4: u8 = 4;
    pub(in crate::packet) const TCP: u8 = 6;
    pub(in crate::packet) const UDP: u8 = 17;
    pub(in crate::packet) const IPV6: u8 = 41;
    pub(in crate::packet) const GRE: u8 = 47;
    pub(in crate::packet) const AUTHENTICATION: u8 = 51;
    pub(in crate::packet) const ICMPV6: u8 = 58;
    pub(in crate::packet) const ETHERNET: u8 = 97;
    pub(in crate::packet) const L2TP: u8 = 115;
    pub(in crate::packet) const SCTP: u8 = 132;
    pub(in crate::packet) const MPLS: u8 = 137;
}

/// The part of an IP packet that a transport protocol gets.
#[derive(Clone, Copy)]
pub(super) struct IpPayload<'a> {
    /// The captured part of it.
    pub(super) bytes: Reader<'a>,
    /// Its length as the IP header states it, never more than was on the wire.
    pub(super) stated: u32,
    /// True for the first fragment of several, so that inner lengths may exceed it.
    pub(super) fragment: bool,
}

impl IpPayload<'_> {
    /// Steps over a header of `len` bytes before the transport header; none where it is cut off.
    fn step_over(&mut self, len: usize) -> Option<()> {
        self.bytes.take(len)?;
        self.stated = self.stated.saturating_sub(len as u32);
        Some(())
    }
}

/// Bytes of an authentication header (RFC 4302) by its length field, which counts words and leaves two out.
pub(super) fn authentication_len(words: u8) -> usize {
    (usize::from(words) + 2) * 4
}

impl PacketWalk<'_> {
    /// An IP packet of either version: the first four bits tell, whatever led here.
    #[inline(always)]
    pub(super) fn ip(&mut self, bytes: Reader<'_>) {
        match bytes.rest().first() {
            Some(first) if first >> 4 == 4 => self.ipv4(bytes),
            Some(first) if first >> 4 == 6 => self.ipv6(bytes),
            Some(_) => self.bad_header(),
            None => self.truncated(),
        }
    }

    /// Forgets what an outer IP header said, before an inner one is told.
    #[inline(always)]
    fn replace_outer_ip(&mut self) {
        if self.depth > 0 {
            self.packet.present.remove(FieldSet::IP_AND_ABOVE);
        }
    }

    /// Bytes that were on the wire from the cursor to the end that outer headers state, captured or
    /// not.
    #[inline(always)]
    pub(super) fn on_wire(&self, bytes: &Reader<'_>) -> u32 {
        self.end.saturating_sub(self.position(bytes))
    }

    /// Hands the payload of an IP packet to the transport protocol or tunnel it carries.
    #[inline(always)]
    fn ip_payload(&mut self, protocol: u8, payload: IpPayload<'_>) {
        self.packet.proto = protocol;
        self.packet.present.insert(Field::Proto);
        // Comparisons for the two that nearly all packets have are predicted better than a jump
        // through a table.
        if protocol == proto::TCP {
            return self.tcp(payload);
        }
        if protocol == proto::UDP {
            return self.udp(payload);
        }
        match protocol {
            proto::ICMP | proto::ICMPV6 => self.icmp(payload),
            proto::SCTP => self.sctp(payload),
            proto::IPV4 | proto::IPV6 => self.ip_in_ip(payload.bytes),
            proto::GRE => self.gre(payload.bytes),
            proto::ETHERNET => self.ethernet_in_ip(payload.bytes),
            proto::L2TP => self.l2tp_in_ip(payload.bytes),
            proto::MPLS => self.mpls_tunnel(payload.bytes),
            proto::AUTHENTICATION => self.authentication(payload),
            _ => {}
        }
    }

    /// Steps over authentication headers in IPv4 to the protocol they hide, as over those of IPv6. Each takes at least
    /// 8 bytes.
    #[inline(never)]
    fn authentication(&mut self, mut payload: IpPayload<'_>) {
        let mut next = proto::AUTHENTICATION;
        while next == proto::AUTHENTICATION {
            self.note(HeaderKind::Authentication, &payload.bytes);
            let start = payload.bytes.rest().first_chunk::<2>();
            let Some(following) = start.and_then(|[following, words]| {
                payload.step_over(authentication_len(*words)).map(|()| *following)
            }) else {
                self.packet.present.remove(FieldSet(Field::Proto.bit()));
                return self.truncated();
            };
            next = following;
        }
        self.ip_payload(next, payload);
    }
}
