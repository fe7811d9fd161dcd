//! TCP (RFC 9293).

use crate::packet::net::IpPayload;
use crate::packet::{Field, PacketWalk};
use crate::wire::Endian::Big;

const HEADER_LEN_MIN: u32 = 20;

impl PacketWalk<'_> {
    #[inline(always)]
    pub(in crate::packet) fn tcp(&mut self, mut payload: IpPayload<'_>) {
        let at = self.position(&payload.bytes);
        if !self.ports(&mut payload) {
            return;
        }
        let Some(seq) = payload.bytes.u32(Big) else { return self.truncated() };
        self.packet.seq = seq;
        self.packet.present.insert(Field::Seq);
        let Some(ack) = payload.bytes.u32(Big) else { return self.truncated() };
        self.packet.ack = ack;
        self.packet.present.insert(Field::Ack);
        let Some(offset_and_flags) = payload.bytes.u16(Big) else { return self.truncated() };
        self.packet.tcp_flags = offset_and_flags & 0x0fff;
        self.packet.present.insert(Field::TcpFlags);
        let header_len = u32::from(offset_and_flags >> 12) * 4;
        if header_len < HEADER_LEN_MIN {
            return self.bad_header();
        }
        self.payload(at, header_len, payload.stated);
        if payload.bytes.take(header_len as usize - 14).is_none() {
            self.truncated();
        }
    }
}
