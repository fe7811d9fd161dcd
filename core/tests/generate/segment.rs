//! Segments of TCP connections, one by one.

use bytewright::packet::{DecodeOptions, FrameMeta, LinkType, Packet};

use super::frame;

pub(crate) const FIN: u16 = 1;
pub(crate) const SYN: u16 = 2;
pub(crate) const RST: u16 = 4;
pub(crate) const ACK: u16 = 16;

/// A segment as a capture has it.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) ports: (u16, u16),
    pub(crate) flags: u16,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) bytes: Vec<u8>,
    /// Bytes at the end that were not captured.
    pub(crate) cut: usize,
    /// Seconds.
    pub(crate) ts: i64,
}

/// From the client, port 4000, to the server, port 9090.
pub(crate) fn there(flags: u16, seq: u32, ack: u32, bytes: &[u8]) -> Segment {
    let ports = (4000, 9090);
    Segment { ports, flags, seq, ack, bytes: bytes.to_vec(), cut: 0, ts: 0 }
}

/// The way back.
pub(crate) fn back(flags: u16, seq: u32, ack: u32, bytes: &[u8]) -> Segment {
    Segment { ports: (9090, 4000), ..there(flags, seq, ack, bytes) }
}

impl Segment {
    pub(crate) fn at(mut self, ts: i64) -> Self {
        self.ts = ts;
        self
    }

    pub(crate) fn cut(mut self, cut: usize) -> Self {
        self.cut = cut;
        self
    }

    pub(crate) fn between(mut self, ports: (u16, u16)) -> Self {
        self.ports = ports;
        self
    }

    /// The packet as it is decoded, and its captured bytes.
    pub(crate) fn captured(&self) -> (Packet, Vec<u8>) {
        let mut tcp = frame::tcp(self.ports.0, self.ports.1, self.flags, &self.bytes);
        tcp[4..8].copy_from_slice(&self.seq.to_be_bytes());
        tcp[8..12].copy_from_slice(&self.ack.to_be_bytes());
        let mut ip = frame::ipv4(6, &tcp);
        if self.ports.0 > self.ports.1 {
            ip[12..20].copy_from_slice(&[10, 0, 0, 2, 10, 0, 0, 1]);
        }
        let mut captured = frame::ethernet(frame::IPV4, &ip);
        let length = captured.len() as u32;
        captured.truncate(captured.len() - self.cut);
        let ts = Some(self.ts * 1_000_000_000);
        let meta = FrameMeta { number: 1, ts, length, link_type: LinkType(1) };
        (Packet::decode(meta, &captured, DecodeOptions::default()), captured)
    }
}
