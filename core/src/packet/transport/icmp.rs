//! ICMP (RFC 792) and ICMPv6 (RFC 4443): type and code.

use crate::packet::net::IpPayload;
use crate::packet::{Field, PacketWalk};

impl PacketWalk<'_> {
    #[inline(never)]
    pub(in crate::packet) fn icmp(&mut self, mut payload: IpPayload<'_>) {
        let Some([kind, code]) = payload.bytes.array() else { return self.truncated() };
        self.packet.icmp_type = kind;
        self.packet.icmp_code = code;
        self.packet.present.insert(Field::IcmpType);
        self.packet.present.insert(Field::IcmpCode);
    }
}
