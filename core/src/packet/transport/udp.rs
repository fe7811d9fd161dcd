//! UDP (RFC 768).

use crate::packet::net::IpPayload;
use crate::packet::{HeaderKind, PacketWalk};
use crate::wire::Endian::Big;

const HEADER_LEN: u32 = 8;

impl PacketWalk<'_> {
    #[inline(always)]
    pub(in crate::packet) fn udp(&mut self, mut payload: IpPayload<'_>) {
        self.note(HeaderKind::Udp, &payload.bytes);
        let at = self.position(&payload.bytes);
        if !self.ports(&mut payload) {
            return;
        }
        let Some(len) = payload.bytes.u16(Big) else { return self.truncated() };
        let stated = match u32::from(len) {
            // A jumbogram leaves the length to IP (RFC 2675, section 4).
            0 => payload.stated,
            // The first fragment states the length of the whole datagram.
            len if len > payload.stated && payload.fragment => payload.stated,
            len if len > payload.stated => return self.bad_header(),
            len => len,
        };
        self.payload(at, HEADER_LEN, stated);
        if payload.bytes.take(2).is_none() {
            return self.truncated();
        }
        self.limit(&mut payload.bytes, stated.saturating_sub(HEADER_LEN));
        self.udp_tunnel(payload.bytes);
    }
}
