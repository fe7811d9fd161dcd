//! Segments one by one, and what comes of them as text.

use bytewright::packet::{DecodeOptions, FrameMeta, LinkType, Packet};
use bytewright::tcp::{Event, Reassembler, Side, TcpOptions};

use crate::generate::frame;

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

    fn captured(&self) -> (Packet, Vec<u8>) {
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

/// A reassembler that writes down what it tells.
pub(crate) struct Listener {
    tcp: Reassembler<()>,
    pub(crate) events: Vec<String>,
    /// Bytes and gaps of each side of each connection, gaps as `None`.
    pub(crate) streams: Vec<[Vec<Option<u8>>; 2]>,
}

impl Listener {
    pub(crate) fn new(options: TcpOptions) -> Self {
        Listener { tcp: Reassembler::new(options), events: Vec::new(), streams: Vec::new() }
    }

    pub(crate) fn hear(&mut self, segment: &Segment) {
        let (packet, captured) = segment.captured();
        let Listener { tcp, events, streams } = self;
        tcp.add(&packet, &captured, &mut |connection, (), event| {
            note(connection.number, event, events, streams);
        });
    }

    pub(crate) fn tcp(&self) -> &Reassembler<()> {
        &self.tcp
    }

    pub(crate) fn end(self) -> (Vec<String>, Vec<[Vec<Option<u8>>; 2]>) {
        let Listener { tcp, mut events, mut streams } = self;
        tcp.finish(&mut |connection, (), event| {
            note(connection.number, event, &mut events, &mut streams);
        });
        (events, streams)
    }
}

fn note(
    number: u64,
    event: Event<'_>,
    events: &mut Vec<String>,
    streams: &mut Vec<[Vec<Option<u8>>; 2]>,
) {
    streams.resize_with(streams.len().max(number as usize), Default::default);
    let stream = &mut streams[number as usize - 1];
    let side = |from: Side| if from == Side::Initiator { (0, '>') } else { (1, '<') };
    events.push(match event {
        Event::Bytes { from, bytes, .. } => {
            let (index, mark) = side(from);
            stream[index].extend(bytes.iter().map(|byte| Some(*byte)));
            format!("{number}{mark}{}", String::from_utf8_lossy(bytes))
        }
        Event::Gap { from, len } => {
            let (index, mark) = side(from);
            let room = stream[index].len() + usize::try_from(len).unwrap();
            if len < 1 << 24 {
                stream[index].resize(room, None);
            }
            format!("{number}{mark}[{len}]")
        }
        Event::End => format!("{number}."),
    });
}

/// What comes of segments, an event each.
pub(crate) fn heard(segments: &[Segment]) -> Vec<String> {
    heard_with(TcpOptions::default(), segments)
}

pub(crate) fn heard_with(options: TcpOptions, segments: &[Segment]) -> Vec<String> {
    let mut listener = Listener::new(options);
    for segment in segments {
        listener.hear(segment);
    }
    listener.end().0
}
