//! Address resolution (RFC 826), and reverse (RFC 903).

use super::super::link::ethertype;
use crate::packet::{Field, HeaderKind, PacketWalk};
use crate::wire::{Endian::Big, Reader};

/// Hardware type of ATM, whose messages have a layout of their own (RFC 2225).
const ATM: u16 = 19;

impl PacketWalk<'_> {
    /// Hardware and protocol types and address lengths, operation, then the two address pairs.
    /// Addresses are told where the protocol is IPv4.
    #[inline(never)]
    pub(in crate::packet) fn arp(&mut self, mut bytes: Reader<'_>) {
        self.note(HeaderKind::Arp, &bytes);
        if self.depth > 0 {
            return;
        }
        let Some(header) = bytes.array_ref::<6>() else { return self.truncated() };
        let Some(operation) = bytes.u16(Big) else { return self.truncated() };
        self.packet.arp_op = operation;
        self.packet.present.insert(Field::ArpOp);
        let hardware = u16::from_be_bytes([header[0], header[1]]);
        let protocol = u16::from_be_bytes([header[2], header[3]]);
        let (hardware_len, protocol_len) = (usize::from(header[4]), header[5]);
        if hardware == ATM || protocol != ethertype::IPV4 || protocol_len != 4 {
            return self.unknown_header();
        }
        for field in [Field::ArpSrcIp, Field::ArpDstIp] {
            let hardware_address = bytes.take(hardware_len);
            let (Some(_), Some(address)) = (hardware_address, bytes.array::<4>()) else {
                return self.truncated();
            };
            match field {
                Field::ArpSrcIp => self.packet.arp_src_ip = address,
                _ => self.packet.arp_dst_ip = address,
            }
            self.packet.present.insert(field);
        }
    }
}
