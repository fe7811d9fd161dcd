//! TCP (RFC 9293).

use crate::packet::net::IpPayload;
use crate::packet::{Field, HeaderKind, Packet, PacketWalk};
use crate::wire::Endian::Big;
use crate::wire::Reader;

const HEADER_LEN_MIN: u32 = 20;

/// Offset of the window in the header.
const WINDOW_AT: usize = 14;

/// Kinds of options (RFC 9293, section 3.2; RFC 7323, section 2.2).
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;

/// Members of a header that no packet holds: they are read from its bytes (RFC 9293, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TcpHeader {
    /// The window, not scaled.
    pub(crate) window: u16,
    /// The maximum segment size that the sender takes, in a SYN (RFC 9293, section 3.7.1).
    pub(crate) mss: Option<u16>,
    /// The shift of the sender's windows, in a SYN (RFC 7323, section 2.2).
    pub(crate) window_scale: Option<u8>,
}

impl TcpHeader {
    /// The header of a packet; none where it was not captured as a whole.
    pub(crate) fn of(packet: &Packet, captured: &[u8]) -> Option<TcpHeader> {
        if packet.tcp_header_len == 0 || !packet.has(Field::PayloadLen) {
            return None;
        }
        let end = packet.payload_offset as usize;
        let start = end.checked_sub(usize::from(packet.tcp_header_len))?;
        let mut header = Reader::new(captured.get(start..end)?);
        header.take(WINDOW_AT)?;
        let window = header.u16(Big)?;
        header.take(HEADER_LEN_MIN as usize - WINDOW_AT - 2)?;
        Some(TcpHeader { window, mss: None, window_scale: None }.with_options(header))
    }

    /// This header with its options; those behind a damaged one are left out.
    fn with_options(mut self, mut options: Reader<'_>) -> TcpHeader {
        while let Some(kind) = options.u8() {
            match kind {
                END_OF_OPTIONS => break,
                NO_OPERATION => continue,
                _ => {}
            }
            let len = options.u8().and_then(|len| usize::from(len).checked_sub(2));
            let Some(mut value) = len.and_then(|len| options.take(len)).map(Reader::new) else {
                break;
            };
            match kind {
                MAXIMUM_SEGMENT_SIZE => self.mss = value.u16(Big),
                WINDOW_SCALE => self.window_scale = value.u8(),
                _ => {}
            }
        }
        self
    }
}

impl PacketWalk<'_> {
    #[inline(always)]
    pub(in crate::packet) fn tcp(&mut self, mut payload: IpPayload<'_>) {
        self.note(HeaderKind::Tcp, &payload.bytes);
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
        self.packet.tcp_header_len = header_len as u8;
        self.payload(at, header_len, payload.stated);
        if payload.bytes.take(header_len as usize - 14).is_none() {
            self.truncated();
        }
    }
}
