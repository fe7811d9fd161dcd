//! IPv6 and its extension headers (RFC 8200).

use super::{IpPayload, authentication_len};
use crate::packet::{Field, FieldSet, HeaderKind, PacketWalk};
use crate::wire::Reader;

/// Extension headers that a packet's protocol number may hide behind.
mod extension {
    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    pub(super) use super::super::proto::AUTHENTICATION;
    pub(super) const DESTINATION: u8 = 60;
    pub(super) const MOBILITY: u8 = 135;
}

impl PacketWalk<'_> {
    #[inline(always)]
    pub(super) fn ipv6(&mut self, mut bytes: Reader<'_>) {
        let start = bytes;
        let on_wire = self.on_wire(&bytes);
        let Some(header) = bytes.array_ref::<40>() else { return self.truncated() };
        let payload_len = match u16::from_be_bytes([header[4], header[5]]) {
            // A jumbogram (RFC 2675) or segmentation offload: the frame tells the length.
            0 => on_wire.saturating_sub(40),
            stated => stated.into(),
        };
        self.note(HeaderKind::Ipv6, &start);
        self.replace_outer_ip();
        self.packet.src_ip.copy_from_slice(&header[8..24]);
        self.packet.dst_ip.copy_from_slice(&header[24..40]);
        self.packet.ip_version = 6;
        self.packet.ttl = header[7];
        self.packet.ip_len = payload_len + 40;
        self.packet.present.insert_all(FieldSet::IP_HEADER);
        self.limit(&mut bytes, payload_len);
        let stated = payload_len.min(on_wire.saturating_sub(40));
        self.ipv6_extensions(header[6], IpPayload { bytes, stated, fragment: false });
    }

    /// Steps over extension headers to the protocol they hide. Each takes at least 8 bytes, so the
    /// length of the packet bounds the loop.
    #[inline(never)]
    fn ipv6_extensions(&mut self, mut next: u8, mut payload: IpPayload<'_>) {
        while let extension::HOP_BY_HOP
        | extension::ROUTING
        | extension::FRAGMENT
        | extension::AUTHENTICATION
        | extension::DESTINATION
        | extension::MOBILITY = next
        {
            let [following, len, high, low] = match payload.bytes.rest().first_chunk() {
                Some(start) => *start,
                None => return self.truncated(),
            };
            let header_len = match next {
                extension::FRAGMENT => 8,
                extension::AUTHENTICATION => authentication_len(len),
                _ => (usize::from(len) + 1) * 8,
            };
            let kind = match next {
                extension::FRAGMENT => HeaderKind::Fragment,
                extension::AUTHENTICATION => HeaderKind::Authentication,
                _ => HeaderKind::Extension,
            };
            self.note(kind, &payload.bytes);
            let header = payload.bytes;
            if payload.step_over(header_len).is_none() {
                return self.truncated();
            }
            if next == extension::FRAGMENT {
                let field = u16::from_be_bytes([high, low]);
                let (offset, more) = (field & !7, field & 1 == 1);
                payload.fragment = more || offset > 0;
                let identification = header.rest().get(4..8).and_then(<[u8]>::first_chunk);
                let identification = identification.copied().unwrap_or_default();
                if payload.fragment && self.fragment(offset, identification) {
                    self.packet.proto = following;
                    self.packet.present.insert(Field::Proto);
                    return;
                }
            }
            next = following;
        }
        self.ip_payload(next, payload);
    }
}
