//! SCTP (RFC 9260), its common header only.

use crate::packet::net::IpPayload;
use crate::packet::{HeaderKind, PacketWalk};

const HEADER_LEN: u32 = 12;

impl PacketWalk<'_> {
    #[inline(never)]
    pub(in crate::packet) fn sctp(&mut self, mut payload: IpPayload<'_>) {
        self.note(HeaderKind::Sctp, &payload.bytes);
        let at = self.position(&payload.bytes);
        if !self.ports(&mut payload) {
            return;
        }
        self.payload(at, HEADER_LEN, payload.stated);
        if payload.bytes.take(8).is_none() {
            self.truncated();
        }
    }
}
