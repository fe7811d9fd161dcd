//! Link types that stand in for a real header: BSD's address family, Linux's cooked captures.

use super::ethertype;
use crate::packet::Walk;
use crate::wire::{Endian, Endian::Big, Reader};

/// Frames without EtherType in a Linux cooked capture: 802.2 logical link control.
const LINUX_802_2: u16 = 0x0004;

/// Address families of IPv4 and, as each system numbers it, IPv6.
const AF_INET: u32 = 2;
const AF_INET6: [u32; 4] = [10, 24, 28, 30];

impl Walk<'_> {
    /// Address family in the byte order of a machine that the file does not name: a number above
    /// the 16 bits that families take shows that the other order is meant.
    pub(in crate::packet) fn null(&mut self, bytes: Reader<'_>) {
        let mut ahead = bytes;
        let order = match ahead.u32(Endian::Little) {
            Some(family) if family <= 0xffff => Endian::Little,
            _ => Endian::Big,
        };
        self.address_family(order, bytes);
    }

    pub(in crate::packet) fn address_family(&mut self, order: Endian, mut bytes: Reader<'_>) {
        match bytes.u32(order) {
            Some(AF_INET) => self.ip(bytes),
            Some(family) if AF_INET6.contains(&family) => self.ip(bytes),
            Some(_) => self.unknown_header(),
            None => self.truncated(),
        }
    }

    /// Packet type, hardware type, address length, 8 bytes of address, protocol: 16 bytes.
    pub(in crate::packet) fn linux_sll(&mut self, mut bytes: Reader<'_>) {
        let Some(header) = bytes.array_ref::<16>() else { return self.truncated() };
        self.linux_protocol(u16::from_be_bytes([header[14], header[15]]), bytes);
    }

    /// Protocol first, then interface, hardware type, packet type and address: 20 bytes.
    pub(in crate::packet) fn linux_sll2(&mut self, mut bytes: Reader<'_>) {
        let protocol = bytes.u16(Big);
        match (protocol, bytes.take(18)) {
            (Some(protocol), Some(_)) => self.linux_protocol(protocol, bytes),
            _ => self.truncated(),
        }
    }

    fn linux_protocol(&mut self, protocol: u16, bytes: Reader<'_>) {
        match protocol {
            LINUX_802_2 => self.llc(bytes),
            0..ethertype::IPV4 => self.unknown_header(),
            kind => self.ethertype(kind, bytes),
        }
    }
}
