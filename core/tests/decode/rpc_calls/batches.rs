//! Calls of a capture come in batches that are bounded by what is in them.

use bytewright::Result;
use bytewright::ask::CallBatches;
use bytewright::bytes::{ByteStream, Source, StreamOptions};
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::rpc::{Call, RpcOptions};

use super::talk::{PROTOCOLS, Talk, asked};
use crate::generate::capture::{Pcap, PcapHeader};

/// A capture in memory, and how much of it was read.
struct Bytes(Vec<u8>, usize);

impl Source for Bytes {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let rest = &self.0[self.1..];
        let bytes = &rest[..limit.min(rest.len())];
        into.extend_from_slice(bytes);
        self.1 += bytes.len();
        Ok(bytes.len())
    }
}

fn reader(talk: &Talk) -> CaptureReader {
    let pcap = talk.segments.iter().fold(Pcap::new(PcapHeader::default()), |pcap, segment| {
        let (_, captured) = segment.captured();
        let len = captured.len() as u32;
        pcap.record([segment.ts as u32, 0, len, len], &captured)
    });
    let source = Box::new(Bytes(pcap.bytes(), 0));
    let stream = ByteStream::new(source, "calls.pcap", &StreamOptions::default()).unwrap();
    CaptureReader::new(stream, &CaptureOptions::default()).unwrap()
}

/// Calls that nobody answers, each with so many bytes of arguments.
fn unanswered(count: i32, len: usize) -> Talk {
    let text = vec![b'x'; len];
    let mut talk = Talk::new();
    for number in 0..count {
        let call = asked("put", number).field(Some((1, &text))).bytes(PROTOCOLS[1]);
        for piece in call.chunks(50_000) {
            talk = talk.there(piece);
        }
    }
    talk
}

#[test]
fn calls_that_are_over_at_once_come_in_batches_of_bounded_size() {
    for (count, len) in [(30, 500_000), (1000, 10)] {
        let options = RpcOptions { keeps_messages: true, ..RpcOptions::default() };
        let mut batches = CallBatches::new(options, None);
        let (mut calls, mut most, mut longest) = (0, 0, 0);
        let mut give = |batch: Vec<Call>| -> Result<()> {
            calls += batch.len();
            longest = longest.max(batch.len());
            most = most.max(batch.iter().map(Call::struct_bytes).sum());
            Ok(())
        };
        batches.read(&mut reader(&unanswered(count, len)), &mut give).unwrap().unwrap();
        batches.finish(&mut give).unwrap();
        assert_eq!(calls, count as usize);
        assert!(longest <= 256 && most < (4 << 20) + len + 100, "{longest} calls, {most} bytes");
    }
}

#[test]
fn reading_ends_where_a_batch_cannot_be_given() {
    let mut batches = CallBatches::new(RpcOptions::default(), None);
    let mut talk = Talk::new();
    for number in 0..2000 {
        talk = talk.there(&asked("put", number).bytes(PROTOCOLS[1]));
    }
    let mut given = 0;
    // 1,024 calls wait, so that others are over.
    let read = batches.read(&mut reader(&talk), &mut |_| {
        given += 1;
        Err("no room")
    });
    assert_eq!(read.unwrap_err(), "no room");
    assert_eq!(given, 1);
}
