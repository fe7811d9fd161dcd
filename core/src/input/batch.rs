//! Packets together with their bytes, for callers that look at them one by one.

use std::sync::Arc;

use super::interfaces::Interfaces;
use super::records::{PacketSink, RecordPlace};
use crate::capture::{Decoder, Record};
use crate::packet::{Frame, NetworkLabels, Packet};

/// The packets of one piece of a capture. The bytes are the piece itself, as it was read: nothing
/// is copied for packets that nobody looks into. Where only fields were asked for, there are no bytes.
#[derive(Debug, Default)]
pub struct FrameBatch {
    packets: Vec<Packet>,
    /// Offset of each packet's bytes, from `base` on.
    starts: Vec<u32>,
    base: usize,
    bytes: Vec<u8>,
    interfaces: Interfaces,
    labels: Option<Arc<NetworkLabels>>,
}

impl FrameBatch {
    /// An empty batch.
    pub fn new() -> Self {
        FrameBatch::default()
    }

    /// Number of packets.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns true if it holds no packet.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The fields of the packet at `index`.
    #[inline]
    pub fn packet(&self, index: usize) -> Option<&Packet> {
        self.packets.get(index)
    }

    /// The captured bytes of the packet at `index`.
    pub fn captured(&self, index: usize) -> Option<&[u8]> {
        let start = self.base + *self.starts.get(index)? as usize;
        self.bytes.get(start..)?.get(..self.packets.get(index)?.caplen() as usize)
    }

    /// The captured bytes behind the transport header of the packet at `index`.
    pub fn payload(&self, index: usize) -> Option<&[u8]> {
        self.captured(index)?.get(self.packets.get(index)?.payload_range()?)
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let packets = self.packets.capacity() * size_of::<Packet>();
        let starts = self.starts.capacity() * size_of::<u32>();
        packets + starts + self.bytes.capacity() + self.interfaces.memory_bytes()
    }

    /// The packets.
    pub(crate) fn packets(&self) -> &[Packet] {
        &self.packets
    }

    /// The packet at `index` with its captured bytes and its interface.
    #[inline]
    pub fn frame(&self, index: usize) -> Option<Frame<'_>> {
        let captured = self.captured(index).unwrap_or_default();
        let frame = Frame::new(self.packets.get(index)?, captured, self.interfaces.get(index));
        Some(frame.with_labels(self.labels.as_deref()))
    }

    /// Has frames with these labels of their addresses.
    pub(crate) fn set_labels(&mut self, labels: Option<Arc<NetworkLabels>>) {
        self.labels = labels;
    }

    /// The packet at `index` and its captured bytes.
    #[inline]
    pub(crate) fn packet_and_bytes(&self, index: usize) -> Option<(&Packet, &[u8])> {
        Some((self.packets.get(index)?, self.captured(index).unwrap_or_default()))
    }

    /// Lends the memory of its packets, which are gone then, and their bytes with them.
    pub(crate) fn take_packets(&mut self) -> Vec<Packet> {
        drop(self.clear());
        std::mem::take(&mut self.packets)
    }

    /// Holds these packets, without their bytes.
    pub(crate) fn put_packets(&mut self, packets: Vec<Packet>) {
        self.packets = packets;
    }

    /// Forgets the first `count` packets.
    pub(crate) fn forget_first(&mut self, count: usize) {
        self.packets.drain(..count.min(self.packets.len()));
        self.starts.drain(..count.min(self.starts.len()));
        self.interfaces.forget_first(count);
    }

    /// Forgets all packets but the one with a number; returns true if there is one.
    pub(crate) fn keep_number(&mut self, number: u64) -> bool {
        let Some(index) = self.packets.iter().position(|packet| packet.number() == number) else {
            return false;
        };
        self.packets.truncate(index + 1);
        self.starts.truncate(index + 1);
        self.forget_first(index);
        true
    }

    /// Forgets the packets and gives up the memory of their bytes.
    pub(crate) fn clear(&mut self) -> Vec<u8> {
        self.packets.clear();
        self.interfaces.clear();
        self.take_bytes()
    }

    /// Keeps the packets and gives up the memory of their bytes.
    pub(crate) fn take_bytes(&mut self) -> Vec<u8> {
        self.starts.clear();
        std::mem::take(&mut self.bytes)
    }

    /// The bytes of the packet that was added last are those of `record` in `view`.
    #[inline(always)]
    pub(crate) fn add_start(&mut self, record: &Record<'_>, view: &[u8]) {
        let start = record.captured.as_ptr().addr() - view.as_ptr().addr();
        self.starts.push(start as u32);
    }

    /// The packet that was added last is that of `record`, which `decoder` has just found.
    #[inline(always)]
    fn add_interface(&mut self, record: &Record<'_>, decoder: &Decoder) {
        self.interfaces.add(self.packets.len() - 1, record, decoder);
    }

    /// The packet that was added last came through the interface that `interfaces` have at `index`.
    pub(super) fn add_interface_from(&mut self, interfaces: &Interfaces, index: usize) {
        self.interfaces.add_from(self.packets.len() - 1, interfaces, index);
    }

    /// Takes the bytes that the packets were found in; the view began `base` bytes into them.
    pub(crate) fn keep(&mut self, bytes: Vec<u8>, base: usize) {
        self.bytes = bytes;
        self.base = base;
    }
}

impl PacketSink for FrameBatch {
    #[inline(always)]
    fn slot(&mut self) -> &mut Packet {
        let index = self.packets.len();
        self.packets.push(Packet::default());
        &mut self.packets[index]
    }

    #[inline(always)]
    fn on_packet(&mut self, record: &Record<'_>, place: RecordPlace<'_>) -> bool {
        self.add_start(record, place.view);
        self.add_interface(record, place.decoder);
        true
    }
}
