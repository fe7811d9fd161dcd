//! Packets for the tests of flows, made as frames of raw IP and decoded, and the numbers they are
//! made from.

// Each test file uses a part of it.
#![allow(dead_code)]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytewright::packet::{DecodeOptions, FrameMeta, LinkType, Packet};

use crate::generate::Random;

/// Values that a frame is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec {
    pub(crate) ts: Option<i64>,
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    pub(crate) proto: u8,
    /// Ports, or type and code of ICMP.
    pub(crate) numbers: (u16, u16),
    pub(crate) tcp_flags: u16,
    pub(crate) length: u32,
    /// A fragment that is not the first.
    pub(crate) later_fragment: bool,
}

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// A TCP packet of 60 bytes from 10.0.0.`src` to 10.0.0.`dst`.
pub(crate) fn tcp(ts: i64, src: (u8, u16), dst: (u8, u16), tcp_flags: u16) -> Spec {
    Spec {
        ts: Some(ts),
        src: Ipv4Addr::new(10, 0, 0, src.0).into(),
        dst: Ipv4Addr::new(10, 0, 0, dst.0).into(),
        proto: TCP,
        numbers: (src.1, dst.1),
        tcp_flags,
        length: 60,
        later_fragment: false,
    }
}

impl Spec {
    pub(crate) fn packet(&self) -> Packet {
        let meta =
            FrameMeta { number: 1, ts: self.ts, length: self.length, link_type: LinkType(101) };
        Packet::decode(meta, &self.frame(), DecodeOptions::default())
    }

    fn frame(&self) -> Vec<u8> {
        let payload = self.payload();
        let mut frame = Vec::new();
        match (self.src, self.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                let fragment: u16 = if self.later_fragment { 100 } else { 0 };
                frame.extend([0x45, 0]);
                frame.extend((20 + payload.len() as u16).to_be_bytes());
                frame.extend([0, 0]);
                frame.extend(fragment.to_be_bytes());
                frame.extend([64, self.proto, 0, 0]);
                frame.extend(src.octets());
                frame.extend(dst.octets());
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                let extension = if self.later_fragment { 8 } else { 0 };
                frame.extend([0x60, 0, 0, 0]);
                frame.extend((payload.len() as u16 + extension).to_be_bytes());
                frame.extend([if self.later_fragment { 44 } else { self.proto }, 64]);
                frame.extend(src.octets());
                frame.extend(dst.octets());
                if self.later_fragment {
                    frame.extend([self.proto, 0, 0x03, 0x20, 0, 0, 0, 1]);
                }
            }
            _ => panic!("addresses of two versions"),
        }
        frame.extend(payload);
        frame
    }

    fn payload(&self) -> Vec<u8> {
        let (first, second) = self.numbers;
        let mut payload = match self.proto {
            1 | 58 => vec![first as u8, second as u8, 0, 0],
            _ => [first.to_be_bytes(), second.to_be_bytes()].concat(),
        };
        payload.extend([0; 8]);
        payload.extend((0x5000 | self.tcp_flags).to_be_bytes());
        payload.extend([0; 6]);
        payload
    }
}

/// A random packet among few enough endpoints that many belong together.
pub(crate) fn random_spec(random: &mut Random, ts: Option<i64>, hosts: usize) -> Spec {
    let v4 = random.below(2) == 0;
    let mut host = || {
        let host = random.below(hosts) as u8;
        match v4 {
            true => IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)),
            false => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host.into())),
        }
    };
    let (src, dst) = (host(), host());
    let icmp = if v4 { 1 } else { 58 };
    let proto = [TCP, UDP, 132, icmp, 47, 50][random.below(6)];
    let numbers = match proto {
        1 => (random.below(20) as u16, random.below(2) as u16),
        58 => (125 + random.below(24) as u16, random.below(2) as u16),
        _ => (random.below(3) as u16, random.below(3) as u16),
    };
    Spec {
        ts,
        src,
        dst,
        proto,
        numbers,
        tcp_flags: random.below(0x1000) as u16,
        length: 60 + random.below(1440) as u32,
        later_fragment: random.below(12) == 0,
    }
}
