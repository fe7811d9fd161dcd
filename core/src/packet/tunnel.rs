//! Packets inside packets: IP in IP (RFC 2003), 6in4 (RFC 4213), GRE (RFC 2784, 2890, 2637, 1701), also over
//! UDP (RFC 8086), ERSPAN in GRE (draft-foschiano-erspan-03), VXLAN (RFC 7348) and its generic extension
//! (draft-ietf-nvo3-vxlan-gpe-13), GENEVE (RFC 8926), GTP-U (3GPP TS 29.281), MPLS over UDP (RFC 7510) and IP (RFC 4023),
//! Ethernet in IP (RFC 3378), Teredo (RFC 4380) and L2TP (RFC 2661, 3931). A tunnel is always noted; it is
//! followed only when the caller asked for inner headers.

use super::PacketWalk;
use super::link::ethertype;
use crate::wire::{Endian::Big, Reader};

/// UDP destination ports (IANA).
const VXLAN_PORT: u16 = 4789;
const VXLAN_GPE_PORT: u16 = 4790;
const GENEVE_PORT: u16 = 6081;
const GTP_U_PORT: u16 = 2152;
const GRE_PORT: u16 = 4754;
const MPLS_PORT: u16 = 6635;

/// The port of VXLAN in Linux before IANA assigned one, which Linux and flannel still have where nobody says otherwise.
/// It is that of OTV, too, whose header is the same.
const VXLAN_LINUX_PORT: u16 = 8472;

/// UDP ports of servers, which also answer from them.
const TEREDO_PORT: u16 = 3544;
const L2TP_PORT: u16 = 1701;

/// Returns true if datagrams from port `source` to `destination` may carry a tunnel: few may, and two steps tell.
#[inline]
pub(super) fn is_udp_tunnel(source: u16, destination: u16) -> bool {
    (is_near(source) || is_near(destination)) && has_tunnel_port(source, destination)
}

/// Returns true if a port is among the 256 around one of a tunnel.
#[inline]
fn is_near(port: u16) -> bool {
    const BLOCKS: u64 = block(VXLAN_PORT)
        | block(VXLAN_GPE_PORT)
        | block(VXLAN_LINUX_PORT)
        | block(GENEVE_PORT)
        | block(GTP_U_PORT)
        | block(GRE_PORT)
        | block(MPLS_PORT)
        | block(TEREDO_PORT)
        | block(L2TP_PORT);
    BLOCKS.checked_shr(u32::from(port >> 8)).unwrap_or(0) & 1 == 1
}

/// The bit of the 256 ports that a port is of; all ports of tunnels are below 64 times 256.
const fn block(port: u16) -> u64 {
    1 << (port >> 8)
}

#[cold]
fn has_tunnel_port(source: u16, destination: u16) -> bool {
    matches!(
        destination,
        VXLAN_PORT
            | VXLAN_GPE_PORT
            | VXLAN_LINUX_PORT
            | GENEVE_PORT
            | GTP_U_PORT
            | GRE_PORT
            | MPLS_PORT
            | TEREDO_PORT
            | L2TP_PORT
    ) || matches!(source, TEREDO_PORT | L2TP_PORT)
}

impl PacketWalk<'_> {
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
        if !self.enter_tunnel() {
            return;
        }
        let is_routed = flags & ROUTING != 0;
        let is_acknowledged = flags & VERSION == 1 && flags & ACKNOWLEDGEMENT != 0;
        // The checksum and the offset of the active route are one word, which is there for either.
        let words = [CHECKSUM | ROUTING, KEY, SEQUENCE];
        let words = words.into_iter().filter(|flag| flags & flag != 0).count()
            + usize::from(is_acknowledged);
        let is_whole = bytes.take(words * 4).is_some();
        if !is_whole || is_routed && step_over_routes(&mut bytes).is_none() {
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

    /// The tunnels that are known by their UDP ports.
    #[inline(always)]
    pub(super) fn udp_tunnel(&mut self, bytes: Reader<'_>) {
        match self.packet.dst_port {
            port if port == self.options.vxlan_port && port != 0 => self.vxlan(bytes),
            VXLAN_PORT | VXLAN_LINUX_PORT => self.vxlan(bytes),
            VXLAN_GPE_PORT => self.vxlan_gpe(bytes),
            GENEVE_PORT => self.geneve(bytes),
            GTP_U_PORT => self.gtp_u(bytes),
            GRE_PORT => self.gre(bytes),
            MPLS_PORT => self.mpls_tunnel(bytes),
            TEREDO_PORT => self.teredo(bytes),
            L2TP_PORT => self.l2tp(bytes),
            _ => match self.packet.src_port {
                TEREDO_PORT => self.teredo(bytes),
                L2TP_PORT => self.l2tp(bytes),
                _ => {}
            },
        }
    }

    #[inline(never)]
    pub(super) fn mpls_tunnel(&mut self, bytes: Reader<'_>) {
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

    /// Flags, reserved bytes, the type of what follows, network: 8 bytes. Without its flag the type is Ethernet.
    #[inline(never)]
    fn vxlan_gpe(&mut self, mut bytes: Reader<'_>) {
        const VERSION: u8 = 0x30;
        const HAS_TYPE: u8 = 0x04;
        const IS_MANAGEMENT: u8 = 0x01;
        let Some([flags, _, _, kind, ..]) = bytes.array::<8>() else { return };
        if flags & (VERSION | IS_MANAGEMENT) != 0 || !self.enter_tunnel() {
            return;
        }
        match if flags & HAS_TYPE == 0 { gpe_type::ETHERNET } else { kind } {
            gpe_type::IPV4 | gpe_type::IPV6 => self.ip(bytes),
            gpe_type::ETHERNET => self.ethernet(bytes),
            gpe_type::MPLS => self.mpls(bytes),
            _ => self.unknown_header(),
        }
    }

    /// IPv6, behind an authentication and an origin where a server sends them. Both begin with a 0, so that they are no
    /// IP header.
    #[inline(never)]
    fn teredo(&mut self, mut bytes: Reader<'_>) {
        const ORIGIN_LEN: usize = 8;
        const NONCE_AND_CONFIRMATION_LEN: usize = 9;
        if let [0, 1, id_len, value_len, ..] = bytes.rest() {
            let header_len = 4 + usize::from(*id_len) + usize::from(*value_len);
            if bytes.take(header_len + NONCE_AND_CONFIRMATION_LEN).is_none() {
                return;
            }
        }
        if bytes.rest().starts_with(&[0, 0]) && bytes.take(ORIGIN_LEN).is_none() {
            return;
        }
        if let Some(0x60..=0x6f) = bytes.rest().first()
            && self.enter_tunnel()
        {
            self.ip(bytes);
        }
    }

    /// Flags and version, then what the flags announce, and PPP. Version 3 has no flags but that of control: two reserved
    /// bytes, and what it has in IP, too.
    #[inline(never)]
    fn l2tp(&mut self, mut bytes: Reader<'_>) {
        const CONTROL: u16 = 0x8000;
        const LENGTH: u16 = 0x4000;
        const SEQUENCE: u16 = 0x0800;
        const OFFSET: u16 = 0x0200;
        const VERSION: u16 = 0x000f;
        const VERSION_2: u16 = 2;
        const VERSION_3: u16 = 3;
        let Some(flags) = bytes.u16(Big) else { return };
        let version = flags & VERSION;
        if flags & CONTROL != 0 || !matches!(version, VERSION_2 | VERSION_3) || !self.enter_tunnel()
        {
            return;
        }
        if version == VERSION_3 {
            return match bytes.take(6) {
                Some([_, _, 0, 0, 0, 0]) => self.unknown_header(),
                Some(_) => self.pseudowire(bytes),
                None => self.truncated(),
            };
        }
        if flags & LENGTH != 0 {
            match bytes.u16(Big).map(|len| len.checked_sub(4)) {
                Some(Some(rest)) => self.limit(&mut bytes, rest.into()),
                Some(None) => return self.bad_header(),
                None => return self.truncated(),
            }
        }
        // Tunnel and session, and both sequence numbers.
        let ids = bytes.take(if flags & SEQUENCE == 0 { 4 } else { 8 });
        let padding_len = if flags & OFFSET == 0 { Some(0) } else { bytes.u16(Big) };
        match (ids, padding_len.and_then(|len| bytes.take(len.into()))) {
            (Some(_), Some(_)) => self.ppp_hdlc(bytes),
            _ => self.truncated(),
        }
    }

    /// L2TP of version 3 in IP: a session, and then what belongs to it. Session 0 is control.
    #[inline(never)]
    pub(super) fn l2tp_in_ip(&mut self, mut bytes: Reader<'_>) {
        let session = bytes.u32(Big);
        if session.is_some_and(|session| session != 0) && self.enter_tunnel() {
            self.pseudowire(bytes);
        }
    }

    /// Version and reserved bits: 2 bytes, then a frame.
    #[inline(never)]
    pub(super) fn ethernet_in_ip(&mut self, mut bytes: Reader<'_>) {
        const VERSION_3: u16 = 0x3000;
        if bytes.u16(Big) == Some(VERSION_3) && self.enter_tunnel() {
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

/// Types of what VXLAN's generic extension carries.
mod gpe_type {
    pub(super) const IPV4: u8 = 1;
    pub(super) const IPV6: u8 = 2;
    pub(super) const ETHERNET: u8 = 3;
    pub(super) const MPLS: u8 = 5;
}

/// Steps over GRE's source routes (RFC 1701): address family, offset, length, and as many bytes; the last has neither
/// family nor length. Each takes at least 4 bytes.
fn step_over_routes(bytes: &mut Reader<'_>) -> Option<()> {
    loop {
        let [family_high, family_low, _, len] = bytes.array()?;
        if [family_high, family_low, len] == [0; 3] {
            return Some(());
        }
        bytes.take(len.into())?;
    }
}
