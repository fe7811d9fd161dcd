//! The shape that most frames have, decoded in one go: Ethernet, at most one VLAN tag, IPv4 without
//! options or IPv6 without extension headers, whole TCP or UDP headers, lengths that agree.
//!
//! It says nothing that the walk would not say: for any other shape it declines, and a test holds
//! both against each other on random and real frames.

use super::link::ethertype;
use super::net::{mapped, proto};
use super::{Field, FieldSet, FrameMeta, HeaderKind, LinkType, Packet, tunnel};

const ETHERNET_LEN: usize = 14;
const TAG_LEN: usize = 4;
const UDP_LEN: usize = 8;
const TCP_LEN: usize = 20;

/// Fields of every packet of the shape.
const FIELDS: FieldSet = FieldSet::ALWAYS
    .union(FieldSet::IP_HEADER)
    .union(FieldSet::PORTS)
    .union(FieldSet(Field::Ethertype.bit() | Field::Proto.bit() | Field::PayloadLen.bit()));

/// Fields that TCP adds.
const TCP_FIELDS: FieldSet = FieldSet(Field::Seq.bit() | Field::Ack.bit() | Field::TcpFlags.bit());

/// Makes `packet` the one of the frame, where that has the shape; else leaves it half made. It is
/// written in place: copying it straight after it was written in pieces would stall the processor.
#[inline(always)]
pub(super) fn decode_into(packet: &mut Packet, meta: FrameMeta, captured: &[u8]) -> Option<()> {
    if meta.link_type != LinkType::ETHERNET {
        return None;
    }
    let header = captured.first_chunk::<ETHERNET_LEN>()?;
    *packet = Packet {
        number: meta.number,
        ts: meta.ts?,
        length: meta.length,
        caplen: u32::try_from(captured.len()).ok()?,
        link_type: meta.link_type.0,
        present: FIELDS.union(FieldSet(Field::Ts.bit())),
        ..Packet::default()
    };
    let mut kind = u16::from_be_bytes([header[12], header[13]]);
    let mut at = ETHERNET_LEN;
    if kind == ethertype::VLAN {
        let tag = chunk::<TAG_LEN>(captured, at)?;
        packet.vlan = u16::from_be_bytes([tag[0], tag[1]]) & 0x0fff;
        packet.present.insert(Field::Vlan);
        kind = u16::from_be_bytes([tag[2], tag[3]]);
        at += TAG_LEN;
    }
    packet.ethertype = kind;
    match kind {
        ethertype::IPV4 => ipv4(packet, captured, at),
        ethertype::IPV6 => ipv6(packet, captured, at),
        _ => None,
    }
}

/// The headers of a packet that has the shape, and where each begins.
pub(super) fn headers(packet: &Packet) -> ([HeaderKind; 3], [usize; 3]) {
    let tag = if packet.has(Field::Vlan) { TAG_LEN } else { 0 };
    let net = if packet.ip_version == 4 { HeaderKind::Ipv4 } else { HeaderKind::Ipv6 };
    let (transport, len) = match packet.proto {
        proto::TCP => (HeaderKind::Tcp, packet.tcp_header_len.into()),
        _ => (HeaderKind::Udp, UDP_LEN),
    };
    let starts = [0, ETHERNET_LEN + tag, (packet.payload_offset as usize).saturating_sub(len)];
    ([HeaderKind::Ethernet, net, transport], starts)
}

#[inline(always)]
fn ipv4(packet: &mut Packet, captured: &[u8], at: usize) -> Option<()> {
    const HEADER_LEN: u32 = 20;
    const FRAGMENT: u16 = 0x3fff;
    let ip = chunk::<{ HEADER_LEN as usize }>(captured, at)?;
    let total_len = u32::from(u16::from_be_bytes([ip[2], ip[3]]));
    if ip[0] != 0x45 || u16::from_be_bytes([ip[6], ip[7]]) & FRAGMENT != 0 || total_len < HEADER_LEN
    {
        return None;
    }
    packet.src_ip = mapped([ip[12], ip[13], ip[14], ip[15]]);
    packet.dst_ip = mapped([ip[16], ip[17], ip[18], ip[19]]);
    packet.ip_version = 4;
    packet.ttl = ip[8];
    packet.ip_len = total_len;
    transport(packet, captured, ip[9], at + HEADER_LEN as usize, total_len - HEADER_LEN)
}

#[inline(always)]
fn ipv6(packet: &mut Packet, captured: &[u8], at: usize) -> Option<()> {
    const HEADER_LEN: usize = 40;
    let ip = chunk::<HEADER_LEN>(captured, at)?;
    let payload_len = u32::from(u16::from_be_bytes([ip[4], ip[5]]));
    if ip[0] >> 4 != 6 || payload_len == 0 {
        return None;
    }
    packet.src_ip.copy_from_slice(&ip[8..24]);
    packet.dst_ip.copy_from_slice(&ip[24..40]);
    packet.ip_version = 6;
    packet.ttl = ip[7];
    packet.ip_len = payload_len + HEADER_LEN as u32;
    transport(packet, captured, ip[6], at + HEADER_LEN, payload_len)
}

/// TCP or UDP at `at`, in an IP payload of `stated` bytes that all were on the wire.
#[inline(always)]
fn transport(
    packet: &mut Packet,
    captured: &[u8],
    protocol: u8,
    at: usize,
    stated: u32,
) -> Option<()> {
    if at + stated as usize > packet.length.max(packet.caplen) as usize {
        return None;
    }
    packet.proto = protocol;
    let header_len = match protocol {
        proto::TCP => {
            let tcp = chunk::<TCP_LEN>(captured, at)?;
            packet.src_port = u16::from_be_bytes([tcp[0], tcp[1]]);
            packet.dst_port = u16::from_be_bytes([tcp[2], tcp[3]]);
            packet.seq = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
            packet.ack = u32::from_be_bytes([tcp[8], tcp[9], tcp[10], tcp[11]]);
            packet.tcp_flags = u16::from_be_bytes([tcp[12], tcp[13]]) & 0x0fff;
            packet.present = packet.present.union(TCP_FIELDS);
            let header_len = usize::from(tcp[12] >> 4) * 4;
            let ends_in_view = at + header_len <= captured.len();
            packet.tcp_header_len = header_len as u8;
            (header_len >= TCP_LEN && ends_in_view).then_some(header_len)?
        }
        proto::UDP => {
            let udp = chunk::<UDP_LEN>(captured, at)?;
            packet.src_port = u16::from_be_bytes([udp[0], udp[1]]);
            packet.dst_port = u16::from_be_bytes([udp[2], udp[3]]);
            // Anything behind a datagram inside its packet is for the walk.
            let is_whole = u32::from(u16::from_be_bytes([udp[4], udp[5]])) == stated;
            let may_be_tunnel = tunnel::is_udp_tunnel(packet.src_port, packet.dst_port);
            (is_whole && !may_be_tunnel).then_some(UDP_LEN)?
        }
        _ => return None,
    };
    packet.payload_offset = (at + header_len) as u32;
    packet.payload_len = stated.checked_sub(header_len as u32)?;
    Some(())
}

#[inline(always)]
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..)?.first_chunk()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{DecodeOptions, HeaderPlace};

    /// TCP over IPv4, UDP over IPv6, and both behind a VLAN tag, in the hexadecimal of a capture.
    const FRAMES: [&str; 4] = [
        "02000000000102000000000208004500002a00010000400600000a0000010a0000021f900050000000010000\
         00025018100000000000686900000000",
        "02000000000102000000000286dd60000000000c1140fd000000000000000000000000000001fd0000000000\
         0000000000000000000200350400000c000001020304",
        "020000000001020000000002810000640800450000200001000040110000c0a80001c0a80002003504000\
         00c000001020304",
        "0200000000010200000000028100006486dd6000000000140640fd000000000000000000000000000001fd00\
         00000000000000000000000000021f90005000000001000000025010100000000000",
    ];

    /// Offsets of the ports in them.
    const PORTS_AT: [usize; 4] = [34, 54, 38, 58];

    fn bytes_of(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> =
            hex.bytes().filter_map(|digit| (digit as char).to_digit(16)).map(|d| d as u8).collect();
        digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    /// Both ways of decoding one frame: the way of this file, where it takes the frame, and the walk.
    fn both(captured: &[u8], length: u32) -> (Option<Packet>, Packet) {
        let meta = FrameMeta { number: 1, ts: Some(5), length, link_type: LinkType::ETHERNET };
        let (mut fast, mut walked) = (Packet::default(), Packet::default());
        let taken = decode_into(&mut fast, meta, captured);
        walked.walk_into(meta, captured, DecodeOptions::default(), None);
        (taken.map(|()| fast), walked)
    }

    /// The places of the headers of a frame by the walk, and where they end.
    fn walked_places(captured: &[u8]) -> (Vec<HeaderPlace>, Option<usize>) {
        let length = captured.len() as u32;
        let meta = FrameMeta { number: 0, ts: Some(0), length, link_type: LinkType::ETHERNET };
        let options = DecodeOptions { inner: true, vxlan_port: 0 };
        let (mut packet, mut places) = (Packet::default(), Vec::new());
        packet.walk_into(meta, captured, options, Some(&mut places));
        (places, packet.has(Field::PayloadLen).then_some(packet.payload_offset as usize))
    }

    fn has_same_places(captured: &[u8]) -> bool {
        let mut places = Vec::new();
        let end = Packet::header_places(LinkType::ETHERNET, captured, 0, &mut places);
        let walked = walked_places(captured);
        assert_eq!(places, walked.0, "{captured:02x?}");
        assert!(end.is_none() || end == walked.1, "{end:?} is not {:?}: {captured:02x?}", walked.1);
        end.is_some()
    }

    #[test]
    fn whole_frames_of_the_shape_are_taken() {
        for hex in FRAMES {
            let frame = bytes_of(hex);
            let (fast, walked) = both(&frame, frame.len() as u32);
            assert_eq!(fast, Some(walked), "{hex}");
            assert!(has_same_places(&frame));
        }
    }

    #[test]
    fn what_is_taken_is_what_the_walk_says_of_random_changes() {
        let seed = std::env::var("BYTEWRIGHT_SEED").ok().and_then(|seed| seed.parse().ok());
        let mut state: u64 = seed.unwrap_or(0x5eed_0001);
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut taken = 0;
        for case in 0..200_000 {
            let which = random(FRAMES.len());
            let mut frame = bytes_of(FRAMES[which]);
            if random(8) == 0 {
                let at = PORTS_AT[which] + 2 * random(2);
                let port: u16 = [4789, 4790, 8472, 3544, 1701, 6081][random(6)];
                frame[at..at + 2].copy_from_slice(&port.to_be_bytes());
            }
            for _ in 0..random(4) {
                let at = random(frame.len());
                frame[at] = [random(256) as u8, frame[at] ^ 1 << random(8)][random(2)];
            }
            frame.truncate(frame.len() - [0, random(frame.len())][random(2)]);
            let length = frame.len() as u32 + [0, 0, random(2000) as u32][random(3)];
            has_same_places(&frame);
            let (fast, walked) = both(&frame, length);
            if let Some(fast) = fast {
                taken += 1;
                assert_eq!(fast, walked, "case {case}, length {length}, frame {frame:02x?}");
            }
        }
        assert!(taken > 50_000, "only {taken} frames were taken");
    }
}
