//! Events of segments, as text.

use bytewright::tcp::{Event, Reassembler, Side, TcpOptions};

pub(crate) use crate::generate::segment::{ACK, FIN, RST, SYN, Segment, back, there};

/// Bytes and gaps of both sides of each connection, gaps as `None`.
pub(crate) type Streams = Vec<[Vec<Option<u8>>; 2]>;

/// A reassembler that writes down what it tells.
pub(crate) struct Listener {
    tcp: Reassembler<()>,
    pub(crate) events: Vec<String>,
    pub(crate) streams: Streams,
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

    pub(crate) fn end(self) -> (Vec<String>, Streams) {
        let Listener { tcp, mut events, mut streams } = self;
        tcp.finish(&mut |connection, (), event| {
            note(connection.number, event, &mut events, &mut streams);
        });
        (events, streams)
    }
}

fn note(number: u64, event: Event<'_>, events: &mut Vec<String>, streams: &mut Streams) {
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

/// Returns the events of segments, one text each.
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
