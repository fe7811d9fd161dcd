//! Headers one by one, for examples, and random frames made of them.

use super::Random;

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;
pub(crate) const ARP: u16 = 0x0806;

/// A frame as a capture holds it.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) link_type: u16,
    /// Bytes on the wire.
    pub(crate) length: u32,
    pub(crate) captured: Vec<u8>,
}

/// The parts of a header and what follows it, one after the other.
pub(crate) fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

pub(crate) fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    join(&[&[0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2], &kind.to_be_bytes(), payload])
}

/// Makes the bytes after the EtherType 0x8100 and its like: tag, then the next EtherType.
pub(crate) fn vlan(id: u16, kind: u16, payload: &[u8]) -> Vec<u8> {
    join(&[&id.to_be_bytes(), &kind.to_be_bytes(), payload])
}

pub(crate) fn mpls(labels: &[u32], payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        let is_last = index + 1 == labels.len();
        bytes.extend((label << 12 | u32::from(is_last) << 8 | 64).to_be_bytes());
    }
    join(&[&bytes, payload])
}

pub(crate) fn pppoe(payload: &[u8]) -> Vec<u8> {
    join(&[&[0x11, 0, 0, 7], &(payload.len() as u16).to_be_bytes(), payload])
}

pub(crate) fn arp(operation: u16, sender: [u8; 4], target: [u8; 4]) -> Vec<u8> {
    let mac = [2, 0, 0, 0, 0, 1];
    let head = [0, 1, 8, 0, 6, 4];
    join(&[&head, &operation.to_be_bytes(), &mac, &sender, &mac, &target])
}

/// An IPv4 header without options in front of `payload`, from 10.0.0.1 to 10.0.0.2, TTL 64.
pub(crate) fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    ipv4_with(protocol, 0x4000, &[], payload)
}

/// Makes such a header with the field of flags and fragment offset, and with options.
pub(crate) fn ipv4_with(protocol: u8, fragment: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let header_len = 20 + options.len();
    let total_len = (header_len + payload.len()) as u16;
    join(&[
        &[0x40 | (header_len / 4) as u8, 0],
        &total_len.to_be_bytes(),
        &[0x12, 0x34],
        &fragment.to_be_bytes(),
        &[64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2],
        options,
        payload,
    ])
}

/// An IPv6 header in front of `payload`, from 2001:db8::1 to 2001:db8::2, hop limit 63.
pub(crate) fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let address = |last| [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
    let len = (payload.len() as u16).to_be_bytes();
    join(&[&[0x60, 0, 0, 0], &len, &[next, 63], &address(1), &address(2), payload])
}

pub(crate) fn tcp(src_port: u16, dst_port: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
    tcp_with(src_port, dst_port, flags, &[], payload)
}

pub(crate) fn tcp_with(
    src_port: u16,
    dst_port: u16,
    flags: u16,
    options: &[u8],
    payload: &[u8],
) -> Vec<u8> {
    let offset_and_flags = ((20 + options.len()) as u16 / 4) << 12 | flags;
    join(&[
        &src_port.to_be_bytes(),
        &dst_port.to_be_bytes(),
        &[0, 0, 0, 100, 0, 0, 0, 200],
        &offset_and_flags.to_be_bytes(),
        &[0x10, 0, 0, 0, 0, 0],
        options,
        payload,
    ])
}

pub(crate) fn udp(src_port: u16, dst_port: u16, payload: &[u8]) -> Vec<u8> {
    let len = (8 + payload.len()) as u16;
    join(&[&src_port.to_be_bytes(), &dst_port.to_be_bytes(), &len.to_be_bytes(), &[0, 0], payload])
}

/// GRE version 0 with the key that `flags` may announce.
pub(crate) fn gre(flags: u16, kind: u16, words: &[u8], payload: &[u8]) -> Vec<u8> {
    join(&[&flags.to_be_bytes(), &kind.to_be_bytes(), words, payload])
}

pub(crate) fn vxlan(payload: &[u8]) -> Vec<u8> {
    join(&[&[0x08, 0, 0, 0, 0, 0, 42, 0], payload])
}

pub(crate) fn geneve(kind: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let words = (options.len() / 4) as u8;
    join(&[&[words, 0], &kind.to_be_bytes(), &[0, 0, 42, 0], options, payload])
}

pub(crate) fn gtp_u(payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u16).to_be_bytes();
    join(&[&[0x30, 0xff], &len, &[0, 0, 0, 9], payload])
}

/// A random frame: whole headers of many kinds in sensible order, and then, in half of the frames,
/// something that breaks them: changed bytes, a cut, padding, a wrong length on the wire.
pub(crate) fn random(random: &mut Random) -> Frame {
    let (link_type, mut captured) = link(random);
    let mut length = captured.len() as u32;
    match random.below(10) {
        0 => {
            for _ in 0..=random.below(4) {
                let at = random.below(captured.len());
                if let Some(byte) = captured.get_mut(at) {
                    *byte = random.byte();
                }
            }
        }
        1 | 2 => captured.truncate(random.below(captured.len() + 1)),
        3 => {
            let padding = random.below(24);
            captured.resize(captured.len() + padding, 0);
            length = captured.len() as u32;
        }
        4 => length = random.below(200) as u32,
        _ => {}
    }
    Frame { link_type, length, captured }
}

fn link(random: &mut Random) -> (u16, Vec<u8>) {
    match random.below(16) {
        0 => (101, ip(random, 0)),
        1 => (random.pick(&[228, 229, 12, 14]), ip(random, 0)),
        2 => {
            let family = random.pick(&[2u32, 10, 24, 28, 30, 2, 99, 0x0800, 0x86dd, 0x0002_0000]);
            let bytes = if random.once_in(2) { family.to_be_bytes() } else { family.to_le_bytes() };
            (0, join(&[&bytes, &ip(random, 0)]))
        }
        3 => (108, join(&[&random.pick(&[2u32, 24, 28]).to_be_bytes(), &ip(random, 0)])),
        4 => {
            let (kind, payload) = network(random, 0);
            (113, join(&[&[0, 0, 0, 1, 0, 6], &random.array::<8>(), &kind.to_be_bytes(), &payload]))
        }
        5 => {
            let (kind, payload) = network(random, 0);
            (276, join(&[&kind.to_be_bytes(), &random.array::<18>(), &payload]))
        }
        6 => (9, join(&[random.pick(&[&[0xff, 3][..], &[]]), &ppp(random)])),
        7 => (51, pppoe(&ppp(random))),
        8 => (random.pick(&[105, 127, 220, 7]), random_payload(random)),
        9 => {
            let (kind, payload) = network(random, 0);
            let head = [random.pick(&[0x0f, 0x8f]), 0];
            (random.pick(&[104, 9, 50]), join(&[&head, &kind.to_be_bytes(), &payload]))
        }
        _ => (1, random_ethernet(random, 0)),
    }
}

fn random_ethernet(random: &mut Random, depth: u8) -> Vec<u8> {
    let (kind, payload) = network(random, depth);
    let mut frame = ethernet(kind, &payload);
    for byte in &mut frame[..12] {
        *byte = random.byte();
    }
    frame
}

/// An EtherType and what follows it.
fn network(random: &mut Random, depth: u8) -> (u16, Vec<u8>) {
    match random.below(16) {
        0 => (
            random.pick(&[ARP, 0x8035]),
            arp(random.below(3) as u16, random.array(), random.array()),
        ),
        1 | 2 => {
            let (kind, payload) = network(random, depth);
            let tag = random.next() as u16;
            (random.pick(&[0x8100, 0x88a8, 0x9100]), vlan(tag, kind, &payload))
        }
        7 => {
            let (kind, payload) = network(random, depth);
            (0x8926, join(&[&random.array::<4>(), &kind.to_be_bytes(), &payload]))
        }
        3 => {
            let labels: Vec<u32> = (0..=random.below(3)).map(|_| random.next() as u32).collect();
            (random.pick(&[0x8847, 0x8848]), mpls(&labels, &ip(random, depth)))
        }
        4 => (0x8864, pppoe(&ppp(random))),
        5 => {
            let (kind, payload) = network(random, depth);
            let snap = join(&[&[0xaa, 0xaa, 3, 0, 0, 0], &kind.to_be_bytes(), &payload]);
            (snap.len() as u16, snap)
        }
        6 => (random.next() as u16, random_payload(random)),
        _ => {
            let packet = ip(random, depth);
            let kind =
                if packet.first().is_some_and(|first| first >> 4 == 6) { IPV6 } else { IPV4 };
            (kind, packet)
        }
    }
}

fn ppp(random: &mut Random) -> Vec<u8> {
    let packet = ip(random, 0);
    match random.below(4) {
        0 => join(&[&[0x21], &packet]),
        1 => join(&[&[0xc0, 0x21], &random_payload(random)]),
        _ if packet[0] >> 4 == 6 => join(&[&[0, 0x57], &packet]),
        _ => join(&[&[0, 0x21], &packet]),
    }
}

fn ip(random: &mut Random, depth: u8) -> Vec<u8> {
    let (protocol, payload) = transport(random, depth);
    let mut packet = if random.once_in(3) {
        let (next, payload) = extensions(random, protocol, payload);
        let mut packet = ipv6(next, &payload);
        packet[8..40].copy_from_slice(&random.bytes(32));
        packet
    } else {
        let options = if random.once_in(4) { random.below(11) * 4 } else { 0 };
        let (protocol, payload) = authenticated(random, protocol, payload);
        let fragment = random.pick(&[0, 0x4000, 0x4000, 0x4000, 0x2000, 0x2010, 0x00b9]);
        let mut packet = ipv4_with(protocol, fragment, &random.bytes(options), &payload);
        packet[12..20].copy_from_slice(&random.bytes(8));
        packet
    };
    if random.once_in(40) {
        let len_at = if packet[0] >> 4 == 6 { 4 } else { 2 };
        packet[len_at..len_at + 2].copy_from_slice(&random.pick(&[0u16, 19, 5000]).to_be_bytes());
    }
    packet
}

/// At times an authentication header before `payload` in IPv4, and the protocol number of the first.
fn authenticated(random: &mut Random, protocol: u8, payload: Vec<u8>) -> (u8, Vec<u8>) {
    if !random.once_in(8) {
        return (protocol, payload);
    }
    (51, join(&[&[protocol, 4, 0, 0], &random.array::<20>(), &payload]))
}

/// IPv6 extension headers before `payload`, and the protocol number of the first.
fn extensions(random: &mut Random, protocol: u8, payload: Vec<u8>) -> (u8, Vec<u8>) {
    let (mut next, mut payload) = (protocol, payload);
    while random.once_in(3) {
        let kind = random.pick(&[0, 43, 44, 51, 60, 135]);
        let header = match kind {
            44 => {
                let field = random.pick(&[0u16, 1, 0x0010, 0x0101]).to_be_bytes();
                join(&[&[next, 0], &field, &random.array::<4>()])
            }
            51 => join(&[&[next, 4, 0, 0], &random.array::<20>()]),
            _ => {
                let units = random.below(3);
                join(&[&[next, units as u8], &random.bytes(units * 8 + 6)])
            }
        };
        payload = join(&[&header, &payload]);
        next = kind;
    }
    (next, payload)
}

/// A protocol number and what follows it.
fn transport(random: &mut Random, depth: u8) -> (u8, Vec<u8>) {
    let ports = (random.next() as u16, random.next() as u16);
    match random.below(12) {
        0..4 => {
            let options = if random.once_in(3) { random.below(11) * 4 } else { 0 };
            let flags = random.next() as u16 & 0x0fff;
            let mut segment =
                tcp_with(ports.0, ports.1, flags, &random.bytes(options), &random_payload(random));
            segment[4..12].copy_from_slice(&random.bytes(8));
            (6, segment)
        }
        4..7 => (17, random_udp(random, ports)),
        7 => (random.pick(&[1, 58]), join(&[&random.array::<8>(), &random_payload(random)])),
        8 => (132, join(&[&random.array::<12>(), &random_payload(random)])),
        9 => {
            let length_break = random.pick(&[8u16, 8, 0, 7, 900]);
            let mut datagram = udp(ports.0, ports.1, &[]);
            datagram[4..6].copy_from_slice(&length_break.to_be_bytes());
            (17, datagram)
        }
        10 if depth < 4 => tunnel(random, depth + 1),
        _ => (random.byte(), random_payload(random)),
    }
}

fn random_udp(random: &mut Random, ports: (u16, u16)) -> Vec<u8> {
    udp(ports.0, ports.1, &random_payload(random))
}

fn tunnel(random: &mut Random, depth: u8) -> (u8, Vec<u8>) {
    let port = random.next() as u16;
    match random.below(14) {
        9 => (17, udp(port, 8472, &vxlan(&random_ethernet(random, depth)))),
        10 => {
            let header = [random.pick(&[4, 12, 8]), 0, 0, random.pick(&[1, 2]), 0, 0, 42, 0];
            (17, udp(port, 4790, &join(&[&header, &ip(random, depth)])))
        }
        11 => {
            let origin = [&[][..], &[0, 0, 1, 2, 3, 4, 5, 6]];
            let datagram = join(&[random.pick(&origin), &ip(random, depth)]);
            (
                17,
                if random.once_in(2) {
                    udp(port, 3544, &datagram)
                } else {
                    udp(3544, port, &datagram)
                },
            )
        }
        12 => {
            let header = random.pick(&[&[0u8, 2, 0, 7, 0, 9, 0, 0x21][..], &[0xc8, 2, 0, 7, 0, 9]]);
            (17, udp(1701, port, &join(&[header, &ip(random, depth)])))
        }
        13 => {
            let routes = [0, 0, 0, 0, 8, 0, 0, 4, 10, 0, 0, 3, 0, 0, 0, 0];
            (47, gre(0x4000, IPV4, &routes, &ip(random, depth)))
        }
        0 => {
            let packet = ip(random, depth);
            (if packet[0] >> 4 == 6 { 41 } else { 4 }, packet)
        }
        1 => {
            let flags = random.pick(&[0u16, 0x8000, 0x2000, 0x1000, 0xb000]);
            let words = random.bytes(4 * (flags & 0xb000).count_ones() as usize);
            let (kind, payload) = network(random, depth);
            (47, gre(flags, kind, &words, &payload))
        }
        2 => (47, gre(0, random.pick(&[0x6558, 0x88be]), &[], &random_ethernet(random, depth))),
        5 => {
            let (kind, header) = random.pick(&[(0x88be, 8), (0x22eb, 12)]);
            let mirrored = join(&[&random.bytes(header), &random_ethernet(random, depth)]);
            (47, gre(0x1000, kind, &[0; 4], &mirrored))
        }
        6 => (17, udp(port, 4754, &gre(0, IPV4, &[], &ip(random, depth)))),
        7 => (17, udp(port, 6635, &mpls(&[16], &ip(random, depth)))),
        3 => (17, udp(port, 4789, &vxlan(&random_ethernet(random, depth)))),
        4 => {
            let options = 4 * random.below(3);
            let options = random.bytes(options);
            (17, udp(port, 6081, &geneve(0x6558, &options, &random_ethernet(random, depth))))
        }
        _ => (17, udp(port, 2152, &gtp_u(&ip(random, depth)))),
    }
}

fn random_payload(random: &mut Random) -> Vec<u8> {
    let count = random.below(40);
    random.bytes(count)
}
