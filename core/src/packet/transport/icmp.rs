//! ICMP (RFC 792) and ICMPv6 (RFC 4443): type and code.

use crate::packet::net::{IpPayload, proto};
use crate::packet::{Field, HeaderKind, PacketWalk};

impl PacketWalk<'_> {
    #[inline(never)]
    pub(in crate::packet) fn icmp(&mut self, mut payload: IpPayload<'_>) {
        let is_v6 = self.packet.proto == proto::ICMPV6;
        self.note(if is_v6 { HeaderKind::Icmpv6 } else { HeaderKind::Icmp }, &payload.bytes);
        let Some([kind, code]) = payload.bytes.array() else { return self.truncated() };
        self.packet.icmp_type = kind;
        self.packet.icmp_code = code;
        self.packet.present.insert(Field::IcmpType);
        self.packet.present.insert(Field::IcmpCode);
    }
}
