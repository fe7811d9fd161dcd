//! Packets inside packets: IP in IP (RFC 2003), 6in4 (RFC 4213), GRE (RFC 2784, 2890, 2637), also over
//! UDP (RFC 8086), ERSPAN in GRE (draft-foschiano-erspan-03), VXLAN (RFC 7348), GENEVE (RFC 8926), GTP-U
//! (3GPP TS 29.281) and MPLS over UDP (RFC 7510). A tunnel is always noted; it is
//! followed only when the caller asked for inner headers.

use super::Walk;
use super::link::ethertype;
use crate::wire::{Endian::Big, Reader};

/// UDP destination ports (IANA).
const VXLAN_PORT: u16 = 4789;
const GENEVE_PORT: u16 = 6081;
const GTP_U_PORT: u16 = 2152;
const GRE_PORT: u16 = 4754;
const MPLS_PORT: u16 = 6635;

/// Whether datagrams to `port` may carry a tunnel.
#[inline]
pub(super) fn is_udp_port(port: u16) -> bool {
    matches!(port, VXLAN_PORT | GENEVE_PORT | GTP_U_PORT | GRE_PORT | MPLS_PORT)
}

impl Walk<'_> {
    #[inline(never)]
    pub(super) fn ip_in_ip(&mut self, bytes: Reader<'_>) {
        if self.enter_tunnel() {
            self.ip(bytes);
        }
    }

    /// Flags and version, protocol, then the optional words that the flags announce.
    #[inline(never)]
    pub(super) fn gre(&mut self, mut bytes: Reader<'_>) {
        const CHECKSUM: u16 = 0x8000;
        const ROUTING: u16 = 0x4000;
        const KEY: u16 = 0x2000;
        const SEQUENCE: u16 = 0x1000;
        const ACKNOWLEDGEMENT: u16 = 0x0080;
        const VERSION: u16 = 0x0007;
        let (Some(flags), Some(protocol)) = (bytes.u16(Big), bytes.u16(Big)) else {
            return self.truncated();
        };
        // Source routes (RFC 1701) have no length in the header, and are long dead.
        let is_routed = flags & ROUTING != 0;
        if !self.enter_tunnel() {
            return;
        }
        if is_routed {
            return self.unknown_header();
        }
        let is_acknowledged = flags & VERSION == 1 && flags & ACKNOWLEDGEMENT != 0;
        let words = [CHECKSUM, KEY, SEQUENCE].into_iter().filter(|flag| flags & flag != 0).count()
            + usize::from(is_acknowledged);
        if bytes.take(words * 4).is_none() {
            return self.truncated();
        }
        match protocol {
            ethertype::TRANSPARENT_ETHERNET => self.ethernet(bytes),
            ethertype::PPP => self.ppp_hdlc(bytes),
            // Mirrored frames of type I stand behind the header itself, and have no sequence numbers.
            ethertype::ERSPAN if flags & SEQUENCE == 0 => self.ethernet(bytes),
            ethertype::ERSPAN => self.erspan_2(bytes),
            ethertype::ERSPAN_3 => self.erspan_3(bytes),
            kind => self.ethertype(kind, bytes),
        }
    }

    /// Version, VLAN, session and port: 8 bytes, then the mirrored frame.
    fn erspan_2(&mut self, mut bytes: Reader<'_>) {
        match bytes.take(8) {
            Some(_) => self.ethernet(bytes),
            None => self.truncated(),
        }
    }

    /// Version, VLAN, session, time and hardware: 12 bytes; 8 more where the last bit says so.
    fn erspan_3(&mut self, mut bytes: Reader<'_>) {
        const ETHERNET: u8 = 0;
        const IP: u8 = 2;
        let Some(header) = bytes.array_ref::<12>() else { return self.truncated() };
        let (frame_type, has_more) = (header[10] >> 2 & 0x1f, header[11] & 1 == 1);
        if has_more && bytes.take(8).is_none() {
            return self.truncated();
        }
        match frame_type {
            ETHERNET => self.ethernet(bytes),
            IP => self.ip(bytes),
            _ => self.unknown_header(),
        }
    }

    /// The tunnels that are known by their UDP destination port.
    #[inline(always)]
    pub(super) fn udp_tunnel(&mut self, bytes: Reader<'_>) {
        match self.packet.dst_port {
            VXLAN_PORT => self.vxlan(bytes),
            GENEVE_PORT => self.geneve(bytes),
            GTP_U_PORT => self.gtp_u(bytes),
            GRE_PORT => self.gre(bytes),
            MPLS_PORT => self.mpls_over_udp(bytes),
            _ => {}
        }
    }

    #[inline(never)]
    fn mpls_over_udp(&mut self, bytes: Reader<'_>) {
        if self.enter_tunnel() {
            self.mpls(bytes);
        }
    }

    #[inline(never)]
    fn vxlan(&mut self, mut bytes: Reader<'_>) {
        const NETWORK_ID_IS_VALID: u8 = 0x08;
        if let Some(header) = bytes.array_ref::<8>()
            && header[0] & NETWORK_ID_IS_VALID != 0
            && self.enter_tunnel()
        {
            self.ethernet(bytes);
        }
    }

    #[inline(never)]
    fn geneve(&mut self, mut bytes: Reader<'_>) {
        let Some(header) = bytes.array_ref::<8>() else { return };
        let (version, options_words) = (header[0] >> 6, usize::from(header[0] & 0x3f));
        if version != 0 || !self.enter_tunnel() {
            return;
        }
        if bytes.take(options_words * 4).is_none() {
            return self.truncated();
        }
        match u16::from_be_bytes([header[2], header[3]]) {
            ethertype::TRANSPARENT_ETHERNET => self.ethernet(bytes),
            kind => self.ethertype(kind, bytes),
        }
    }

    /// A G-PDU carries an IP packet behind the header, its optional word and extension headers.
    #[inline(never)]
    fn gtp_u(&mut self, mut bytes: Reader<'_>) {
        const VERSION_1: u8 = 0x30;
        const OPTIONAL_WORD: u8 = 0x07;
        const EXTENSION: u8 = 0x04;
        const USER_DATA: u8 = 0xff;
        let Some(header) = bytes.array_ref::<8>() else { return };
        if header[0] & 0xf0 != VERSION_1 || header[1] != USER_DATA || !self.enter_tunnel() {
            return;
        }
        if header[0] & OPTIONAL_WORD != 0 {
            let Some(optional) = bytes.array_ref::<4>() else { return self.truncated() };
            let mut next = if header[0] & EXTENSION != 0 { optional[3] } else { 0 };
            while next != 0 {
                let Some(words) = bytes.rest().first().copied() else { return self.truncated() };
                match bytes.take(usize::from(words) * 4) {
                    Some([.., following]) => next = *following,
                    Some([]) => return self.bad_header(),
                    None => return self.truncated(),
                }
            }
        }
        self.ip(bytes);
    }
}
