//! Data messages of L2TP version 3 (RFC 3931), behind their session:
//!
//! ```text
//! cookie    0, 4 or 8 bytes   random
//! sublayer  0 or 4 bytes      by default flags and a sequence number
//! frame                       of the pseudowire's type: Ethernet without its check sequence (RFC 4719)
//! ```
//!
//! No message tells which of these it has: control messages agree upon that, and a capture may lack them. A frame is
//! followed only if it is Ethernet that carries an IP packet in every detail, and if no other choice of lengths leads to
//! another packet. Random bytes pass for one less than once in 2^32.

use super::PacketWalk;
use super::link::ethertype;
use crate::wire::{Endian::Big, Reader};

/// Bytes that cookie and sublayer may take together.
const HEADER_LENS: [usize; 4] = [0, 4, 8, 12];

/// Tags of VLANs that a frame may have.
const TAGS_MAX: usize = 2;

/// Bytes to which Ethernet pads what a frame carries (IEEE 802.3, clause 3.2.7).
const PADDED_LEN: usize = 46;

impl PacketWalk<'_> {
    /// Follows the frame behind the session of a data message.
    pub(super) fn pseudowire(&mut self, bytes: Reader<'_>) {
        // The frame's own header has no place that is certain, so that nobody can change what is in it.
        if self.places.is_some() {
            return self.unknown_header();
        }
        match self.only_ip_packet(bytes) {
            Some(packet) => self.ip(packet),
            None => self.unknown_header(),
        }
    }

    /// The IP packet of all choices that lead to one. They may be several: a frame with a tag is one without it, too, that
    /// begins 4 bytes later.
    fn only_ip_packet<'b>(&self, bytes: Reader<'b>) -> Option<Reader<'b>> {
        let mut packets =
            HEADER_LENS.into_iter().filter_map(|len| self.ip_packet_in_frame(bytes, len));
        let first = packets.next()?;
        packets.all(|packet| packet.remaining() == first.remaining()).then_some(first)
    }

    /// The IP packet in the Ethernet frame that would begin behind `header_len` bytes.
    fn ip_packet_in_frame<'b>(
        &self,
        mut bytes: Reader<'b>,
        header_len: usize,
    ) -> Option<Reader<'b>> {
        bytes.take(header_len + 12)?;
        let mut kind = bytes.u16(Big)?;
        for _ in 0..TAGS_MAX {
            if !matches!(kind, ethertype::VLAN | ethertype::QINQ | ethertype::QINQ_OLD) {
                break;
            }
            bytes.take(2)?;
            kind = bytes.u16(Big)?;
        }
        let packet_len = match kind {
            ethertype::IPV4 => ipv4_len(bytes.rest())?,
            ethertype::IPV6 => ipv6_len(bytes.rest())?,
            _ => return None,
        };
        let on_wire = self.on_wire(&bytes) as usize;
        let is_padded = packet_len < on_wire && on_wire <= PADDED_LEN;
        (packet_len == on_wire || is_padded).then_some(bytes)
    }
}

/// Bytes of the IPv4 packet at the start of `bytes`, if its header is whole and its checksum right.
fn ipv4_len(bytes: &[u8]) -> Option<usize> {
    let [first, _, len_high, len_low, ..] = bytes else { return None };
    let header_len = usize::from(first & 0x0f) * 4;
    let packet_len = usize::from(u16::from_be_bytes([*len_high, *len_low]));
    let is_header = first >> 4 == 4 && header_len >= 20 && packet_len >= header_len;
    (is_header && has_right_checksum(bytes.get(..header_len)?)).then_some(packet_len)
}

/// Tells whether the words of a header add up to what a right checksum among them makes of them (RFC 1071).
fn has_right_checksum(header: &[u8]) -> bool {
    let (words, _) = header.as_chunks::<2>();
    let sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    // At most 30 words: one step brings what is above 16 bits down, and a second what that leaves.
    let folded = (sum & 0xffff) + (sum >> 16);
    (folded & 0xffff) + (folded >> 16) == 0xffff
}

/// Bytes of the IPv6 packet at the start of `bytes`, if its header is whole and no group is its sender (RFC 4291, 2.7).
fn ipv6_len(bytes: &[u8]) -> Option<usize> {
    const GROUP: u8 = 0xff;
    let header = bytes.first_chunk::<40>()?;
    let payload_len = usize::from(u16::from_be_bytes([header[4], header[5]]));
    (header[0] >> 4 == 6 && header[8] != GROUP).then_some(40 + payload_len)
}
