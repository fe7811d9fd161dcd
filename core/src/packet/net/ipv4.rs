//! IPv4 (RFC 791).

use super::IpPayload;
use crate::packet::datagram::ipv4_identification;
use crate::packet::{Field, FieldSet, HeaderKind, PacketWalk, Status};
use crate::wire::Reader;

const HEADER_LEN_MIN: usize = 20;
const MORE_FRAGMENTS: u16 = 0x2000;
const FRAGMENT_OFFSET: u16 = 0x1fff;

impl PacketWalk<'_> {
    #[inline(always)]
    pub(super) fn ipv4(&mut self, mut bytes: Reader<'_>) {
        let start = bytes;
        let on_wire = self.on_wire(&bytes);
        let Some(header) = bytes.array_ref::<HEADER_LEN_MIN>() else { return self.truncated() };
        let header_len = usize::from(header[0] & 0x0f) * 4;
        let total_len = match u16::from_be_bytes([header[2], header[3]]) {
            // Segmentation offload leaves the length for the network card to fill in.
            0 => on_wire,
            stated => stated.into(),
        };
        if header_len < HEADER_LEN_MIN || (total_len as usize) < header_len {
            return self.bad_header();
        }
        self.note(HeaderKind::Ipv4, &start);
        self.replace_outer_ip();
        self.packet.src_ip = mapped([header[12], header[13], header[14], header[15]]);
        self.packet.dst_ip = mapped([header[16], header[17], header[18], header[19]]);
        self.packet.ip_version = 4;
        self.packet.ttl = header[8];
        self.packet.ip_len = total_len;
        self.packet.present.insert_all(FieldSet::IP_HEADER);

        let stated = total_len.min(on_wire).saturating_sub(header_len as u32);
        self.limit(&mut bytes, total_len - HEADER_LEN_MIN as u32);
        let fragment = u16::from_be_bytes([header[6], header[7]]);
        let is_fragment = fragment & (MORE_FRAGMENTS | FRAGMENT_OFFSET) != 0;
        let is_later = is_fragment
            && self.fragment(
                (fragment & FRAGMENT_OFFSET) * 8,
                ipv4_identification(header[9], [header[4], header[5]]),
            );
        let has_options = bytes.take(header_len - HEADER_LEN_MIN).is_some();
        if !has_options {
            self.truncated();
        }
        if is_later || !has_options {
            self.packet.proto = header[9];
            self.packet.present.insert(Field::Proto);
            return;
        }
        self.ip_payload(header[9], IpPayload { bytes, stated, fragment: is_fragment });
    }

    /// Notes a fragment; says whether it is a later one, which has no transport header.
    #[cold]
    pub(super) fn fragment(&mut self, offset: u16, identification: [u8; 4]) -> bool {
        self.packet.status.set(Status::FRAGMENT);
        self.packet.frag_offset = offset;
        self.packet.arp_src_ip = identification;
        self.packet.present.insert(Field::FragOffset);
        offset > 0
    }
}

/// The IPv4-mapped IPv6 address, so that both versions share a column.
pub(in crate::packet) fn mapped(address: [u8; 4]) -> [u8; 16] {
    const PREFIX: u128 = 0xffff << 32;
    (PREFIX | u128::from(u32::from_be_bytes(address))).to_be_bytes()
}
