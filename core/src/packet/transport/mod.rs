//! The transport layer: ports, flags, and where the payload begins.

mod icmp;
mod sctp;
mod tcp;
mod udp;

pub(crate) use self::tcp::TcpHeader;
use super::net::IpPayload;
use super::{Field, FieldSet, PacketWalk};

impl PacketWalk<'_> {
    /// Source and destination port, the first four bytes of TCP, UDP and SCTP alike.
    #[inline(always)]
    fn ports(&mut self, payload: &mut IpPayload<'_>) -> bool {
        let Some([src_high, src_low, dst_high, dst_low]) = payload.bytes.array() else {
            self.truncated();
            return false;
        };
        self.packet.src_port = u16::from_be_bytes([src_high, src_low]);
        self.packet.dst_port = u16::from_be_bytes([dst_high, dst_low]);
        self.packet.present.insert_all(FieldSet::PORTS);
        true
    }

    /// Notes the payload behind a transport header of `header_len` bytes that began `at` bytes into
    /// the frame, with `stated` bytes of header and payload together.
    #[inline(always)]
    fn payload(&mut self, at: u32, header_len: u32, stated: u32) {
        let Some(payload_len) = stated.checked_sub(header_len) else { return self.bad_header() };
        self.packet.payload_offset = at.saturating_add(header_len);
        self.packet.payload_len = payload_len;
        self.packet.present.insert(Field::PayloadLen);
    }
}
