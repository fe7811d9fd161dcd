//! Ethernet II and 802.3 frames, VLAN tags (IEEE 802.1Q, 802.1ad), VN-Tags (Cisco), and what an
//! EtherType leads to.

use super::ethertype;
use crate::packet::{Field, HeaderKind, PacketWalk};
use crate::wire::{Endian::Big, Reader};

/// Below this the type field of an Ethernet header is a length (IEEE 802.3, clause 3.2.6).
const ETHERTYPE_MIN: u16 = 0x0600;

impl PacketWalk<'_> {
    /// Destination, source, type: 14 bytes.
    #[inline(always)]
    pub(in crate::packet) fn ethernet(&mut self, mut bytes: Reader<'_>) {
        self.note(HeaderKind::Ethernet, &bytes);
        let Some(header) = bytes.array_ref::<14>() else { return self.truncated() };
        let kind = u16::from_be_bytes([header[12], header[13]]);
        self.ethertype(kind, bytes);
    }

    /// Decodes the bytes behind an EtherType: tags are stepped over, the first one gives the VLAN id.
    #[inline(always)]
    pub(in crate::packet) fn ethertype(&mut self, mut kind: u16, mut bytes: Reader<'_>) {
        // Most frames have no tag: one comparison tells, before three look for one.
        while kind != ethertype::IPV4
            && matches!(
                kind,
                ethertype::VLAN | ethertype::QINQ | ethertype::QINQ_OLD | ethertype::VN_TAG
            )
        {
            // Two bytes longer than the others, and names interfaces instead of a VLAN.
            let is_vn_tag = kind == ethertype::VN_TAG;
            if is_vn_tag && bytes.take(2).is_none() {
                return self.truncated();
            }
            let Some(tag) = bytes.array_ref::<4>() else { return self.truncated() };
            if !is_vn_tag && self.depth == 0 && !self.packet.has(Field::Vlan) {
                self.packet.vlan = u16::from_be_bytes([tag[0], tag[1]]) & 0x0fff;
                self.packet.present.insert(Field::Vlan);
            }
            kind = u16::from_be_bytes([tag[2], tag[3]]);
        }
        if kind < ETHERTYPE_MIN {
            self.limit(&mut bytes, kind.into());
            return self.llc(bytes);
        }
        if self.depth == 0 {
            self.packet.ethertype = kind;
            self.packet.present.insert(Field::Ethertype);
        }
        if matches!(kind, ethertype::IPV4 | ethertype::IPV6) {
            return self.ip(bytes);
        }
        match kind {
            ethertype::ARP | ethertype::RARP => self.arp(bytes),
            ethertype::MPLS | ethertype::MPLS_MULTICAST => self.mpls(bytes),
            ethertype::PPPOE_SESSION => self.pppoe(bytes),
            _ => self.unknown_header(),
        }
    }

    /// Logical link control: IP, or the SNAP header that carries an EtherType (RFC 1042).
    #[inline(never)]
    pub(in crate::packet) fn llc(&mut self, mut bytes: Reader<'_>) {
        const SNAP: [u8; 3] = [0xaa, 0xaa, 0x03];
        const IP: [u8; 3] = [0x06, 0x06, 0x03];
        match bytes.array::<3>() {
            Some(SNAP) => {
                let organisation = bytes.array::<3>();
                let Some(kind) = bytes.u16(Big) else { return self.truncated() };
                if organisation == Some([0, 0, 0]) && kind >= ETHERTYPE_MIN {
                    self.ethertype(kind, bytes);
                } else {
                    self.unknown_header();
                }
            }
            Some(IP) => self.ip(bytes),
            _ => self.unknown_header(),
        }
    }
}
