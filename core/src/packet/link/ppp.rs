//! PPP (RFC 1661), HDLC-like framing (RFC 1662) and PPPoE (RFC 2516).

use super::cisco_hdlc::is_cisco_hdlc;
use crate::packet::PacketWalk;
use crate::wire::{Endian::Big, Reader};

const IPV4: u16 = 0x0021;
const IPV6: u16 = 0x0057;
const MPLS: u16 = 0x0281;
const MPLS_MULTICAST: u16 = 0x0283;

impl PacketWalk<'_> {
    /// A frame that may begin with the HDLC address and control bytes, or be one of Cisco's.
    pub(in crate::packet) fn ppp_hdlc(&mut self, mut bytes: Reader<'_>) {
        if is_cisco_hdlc(bytes.rest()) {
            return self.cisco_hdlc(bytes);
        }
        if bytes.rest().starts_with(&[0xff, 0x03]) {
            bytes.take(2);
        }
        self.ppp(bytes);
    }

    /// The protocol field, in one byte where the sender compressed it (an odd first byte).
    #[inline(never)]
    pub(in crate::packet) fn ppp(&mut self, mut bytes: Reader<'_>) {
        let protocol = match bytes.rest().first() {
            Some(first) if first & 1 == 1 => bytes.u8().map(u16::from),
            _ => bytes.u16(Big),
        };
        match protocol {
            Some(IPV4 | IPV6) => self.ip(bytes),
            Some(MPLS | MPLS_MULTICAST) => self.mpls(bytes),
            Some(_) => self.unknown_header(),
            None => self.truncated(),
        }
    }

    /// Version and type, code, session, length: 6 bytes, then PPP of that length.
    #[inline(never)]
    pub(in crate::packet) fn pppoe(&mut self, mut bytes: Reader<'_>) {
        const VERSION_1_TYPE_1: u8 = 0x11;
        const SESSION_DATA: u8 = 0;
        let Some(header) = bytes.array_ref::<6>() else { return self.truncated() };
        if header[0] != VERSION_1_TYPE_1 {
            return self.bad_header();
        }
        if header[1] == SESSION_DATA {
            self.limit(&mut bytes, u16::from_be_bytes([header[4], header[5]]).into());
            self.ppp(bytes);
        } else {
            self.unknown_header();
        }
    }
}
