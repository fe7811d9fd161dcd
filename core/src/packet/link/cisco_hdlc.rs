//! Cisco HDLC (RFC 1547, section 4.3.1): an address, a control byte, an EtherType.

use crate::packet::PacketWalk;
use crate::wire::{Endian::Big, Reader};

/// Addresses of frames to one station and to all.
const UNICAST: u8 = 0x0f;
const MULTICAST: u8 = 0x8f;

/// Serial line address resolution, which has the number that RARP has elsewhere.
const SLARP: u16 = 0x8035;

/// Returns true if a frame that may be PPP begins as one of Cisco HDLC.
pub(super) fn is_cisco_hdlc(bytes: &[u8]) -> bool {
    matches!(bytes, [UNICAST | MULTICAST, ..])
}

impl PacketWalk<'_> {
    #[inline(never)]
    pub(in crate::packet) fn cisco_hdlc(&mut self, mut bytes: Reader<'_>) {
        let address_and_control = bytes.take(2);
        match (address_and_control, bytes.u16(Big)) {
            (Some(_), Some(SLARP)) => self.unknown_header(),
            (Some(_), Some(kind)) => self.ethertype(kind, bytes),
            _ => self.truncated(),
        }
    }
}
