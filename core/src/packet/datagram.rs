//! Identity of the fragments of a datagram: its addresses and its identification (RFC 791, RFC 8200).

use super::{Field, Packet};

/// A datagram whose fragments a host would put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Datagram {
    addresses: [[u8; 16]; 2],
    /// Of IPv4, the protocol is a part of it.
    identification: [u8; 4],
    ip_version: u8,
}

/// Identification of a datagram of IPv4: of two protocols, hosts use the same.
pub(super) fn ipv4_identification(protocol: u8, [high, low]: [u8; 2]) -> [u8; 4] {
    [0, protocol, high, low]
}

impl Packet {
    /// The datagram that a fragment is of; none of a whole packet.
    pub(crate) fn datagram(&self) -> Option<Datagram> {
        (self.has(Field::FragOffset) && self.has(Field::SrcIp)).then_some(Datagram {
            addresses: [self.src_ip, self.dst_ip],
            identification: self.arp_src_ip,
            ip_version: self.ip_version,
        })
    }
}
