//! Link types that stand in for a real header: BSD's address family, Linux's cooked captures.

use super::ethertype;
use crate::packet::{HeaderKind, PacketWalk};
use crate::wire::{Endian, Endian::Big, Reader};

/// Frames without EtherType in a Linux cooked capture: 802.2 logical link control.
const LINUX_802_2: u16 = 0x0004;

/// Address families of IPv4 and, as each system numbers it, IPv6.
const AF_INET: u32 = 2;
const AF_INET6: [u32; 4] = [10, 24, 28, 30];

/// HDLC's address and control bytes, which FreeBSD's ISDN wrote in place of a family.
const PPP_FRAMING: [u8; 2] = [0xff, 0x03];

fn is_ip(family: u32) -> bool {
    family == AF_INET || AF_INET6.contains(&family)
}

/// The number that 4 bytes, read as the least significant first, are meant to be. All numbers have at most 16 bits, so
/// that a larger one is in the other order. IRIX has a family below 6 in the first two bytes (Wireshark,
/// `packet-null.c`).
fn in_order(value: u32) -> u32 {
    match value.to_be_bytes() {
        [0, 0, 1..6, 0] => value >> 8,
        [0, 0, ..] => value,
        [0, 1..6, ..] => value >> 16,
        _ => value.swap_bytes(),
    }
}

impl PacketWalk<'_> {
    /// Address family in the byte order of a machine that the file does not name, or what some systems have in its
    /// place: an EtherType, or the framing of PPP.
    pub(in crate::packet) fn null(&mut self, mut bytes: Reader<'_>) {
        if bytes.rest().starts_with(&PPP_FRAMING) {
            return self.ppp_hdlc(bytes);
        }
        let Some(value) = bytes.u32(Endian::Little).map(in_order) else { return self.truncated() };
        match value as u16 {
            _ if is_ip(value) => self.ip(bytes),
            kind @ ethertype::IPV4.. => self.ethertype(kind, bytes),
            _ => self.unknown_header(),
        }
    }

    pub(in crate::packet) fn address_family(&mut self, order: Endian, mut bytes: Reader<'_>) {
        match bytes.u32(order) {
            Some(family) if is_ip(family) => self.ip(bytes),
            Some(_) => self.unknown_header(),
            None => self.truncated(),
        }
    }

    /// Packet type, hardware type, address length, 8 bytes of address, protocol: 16 bytes.
    pub(in crate::packet) fn linux_sll(&mut self, mut bytes: Reader<'_>) {
        self.note(HeaderKind::Cooked, &bytes);
        let Some(header) = bytes.array_ref::<16>() else { return self.truncated() };
        self.linux_protocol(u16::from_be_bytes([header[14], header[15]]), bytes);
    }

    /// Protocol first, then interface, hardware type, packet type and address: 20 bytes.
    pub(in crate::packet) fn linux_sll2(&mut self, mut bytes: Reader<'_>) {
        self.note(HeaderKind::Cooked2, &bytes);
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
