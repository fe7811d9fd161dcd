//! Goal: each header that we say we read is read, each way of breaking it is noted in the status, and
//! what a packet does not have is null.
//!
//! Method: frames are put together header by header, from real bytes where a header has many fields;
//! random frames check what must hold for all, among it that columns hold what packets hold.

mod anonymizer;
mod columns;
mod frame;
mod link;
mod network;
mod promises;
mod transport;
mod tunnel;

use bytewright::batch::Value;
use bytewright::packet::{DecodeOptions, Field, FrameMeta, LinkType, Packet, Status};

/// The packet of a frame that was captured whole.
fn decoded(link_type: LinkType, frame: &[u8]) -> Packet {
    let length = u32::try_from(frame.len()).expect("a small frame");
    let meta = FrameMeta { number: 1, ts: Some(5), length, link_type };
    Packet::decode(meta, frame, DecodeOptions { inner: false, ..DecodeOptions::default() })
}

/// The packet of an Ethernet frame that was captured whole.
fn ethernet(frame: &[u8]) -> Packet {
    decoded(LinkType::ETHERNET, frame)
}

/// Decodes an Ethernet frame with the packets inside of its tunnels.
fn inner(frame: &[u8]) -> Packet {
    let length = u32::try_from(frame.len()).expect("a small frame");
    let meta = FrameMeta { number: 1, ts: Some(5), length, link_type: LinkType::ETHERNET };
    Packet::decode(meta, frame, DecodeOptions { inner: true, ..DecodeOptions::default() })
}

/// Every field that the packet has, beside those that every packet has, as text.
fn told(packet: &Packet) -> String {
    let always = [Field::Ts, Field::Number, Field::Length, Field::Caplen, Field::LinkType];
    let optional = Field::ALL.iter().filter(|field| !always.contains(field));
    let told = optional.filter_map(|field| match packet.value(*field) {
        Value::Null => None,
        value => Some(format!("{}={value}", field.name())),
    });
    told.collect::<Vec<_>>().join(" ")
}

/// The names of the status bits.
fn status(packet: &Packet) -> Vec<&'static str> {
    let set = Status::ALL.iter().filter(|(bit, _)| packet.status().has(*bit));
    set.map(|(_, name)| *name).collect()
}

/// Bytes written in hexadecimal, with any spaces.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16);
    digits.chunks(2).map(|digits| pair(digits).expect("two digits")).collect()
}
