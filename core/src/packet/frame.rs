//! A packet together with what it was decoded from, for the fields that it does not hold itself: they are read from the
//! frame's bytes when somebody asks for them, and cost nothing before.

use std::cell::OnceCell;

use super::app::Application;
use super::link::{self, Macs};
use super::{Field, LinkType, NetworkLabels, Packet};
use crate::batch::{ShortText, Value};

/// A packet, its captured bytes and its interface.
#[derive(Debug)]
pub struct Frame<'f> {
    packet: &'f Packet,
    captured: &'f [u8],
    interface: Option<FrameInterface<'f>>,
    labels: FrameLabels<'f>,
    /// Content of its payload, once that was asked for.
    application: OnceCell<Option<Box<Application>>>,
}

/// Place of the labels of a frame's addresses.
#[derive(Debug, Clone, Copy)]
enum FrameLabels<'f> {
    None,
    Of(&'f NetworkLabels),
    Own(&'f [Option<Box<str>>; 2]),
}

/// The interface of pcapng that a packet came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameInterface<'f> {
    /// Its number in its section, from 0.
    pub number: u32,
    /// Its name, where the file says it.
    pub name: Option<&'f str>,
}

impl<'f> Frame<'f> {
    /// The frame of a packet: the bytes that it was decoded from, and its interface where the file names one.
    #[inline]
    pub fn new(
        packet: &'f Packet,
        captured: &'f [u8],
        interface: Option<FrameInterface<'f>>,
    ) -> Self {
        Frame {
            packet,
            captured,
            interface,
            labels: FrameLabels::None,
            application: OnceCell::new(),
        }
    }

    /// This frame, with labels of its addresses.
    #[inline]
    #[must_use]
    pub fn with_labels(self, labels: Option<&'f NetworkLabels>) -> Self {
        Frame { labels: labels.map_or(FrameLabels::None, FrameLabels::Of), ..self }
    }

    /// The fields of its headers.
    #[inline]
    pub fn packet(&self) -> &'f Packet {
        self.packet
    }

    /// The bytes that were captured.
    pub fn captured(&self) -> &'f [u8] {
        self.captured
    }

    /// The captured bytes behind the transport header.
    pub fn payload(&self) -> Option<&'f [u8]> {
        self.captured.get(self.packet.payload_range()?)
    }

    /// The interface that it came through.
    pub fn interface(&self) -> Option<FrameInterface<'f>> {
        self.interface
    }

    /// The value of `field`.
    #[inline]
    pub fn value(&self, field: Field) -> Value<'_> {
        if field.is_in_packet() { self.packet.value(field) } else { self.value_of_bytes(field) }
    }

    /// The value of a field that no packet holds.
    fn value_of_bytes(&self, field: Field) -> Value<'_> {
        match field {
            Field::SrcMac => self.macs().source.map_or(Value::Null, mac_text),
            Field::DstMac => self.macs().destination.map_or(Value::Null, mac_text),
            Field::Interface => self.interface.map_or(Value::Null, |it| it.number.into()),
            Field::InterfaceName => text(self.interface.and_then(|it| it.name)),
            Field::SrcLabel => text(self.labels()[0]),
            Field::DstLabel => text(self.labels()[1]),
            other => self.application().map_or(Value::Null, |content| content.value(other)),
        }
    }

    /// The value of the field at a place of [`Field::SCHEMA`]; null behind its end.
    #[inline]
    pub fn value_at(&self, place: usize) -> Value<'_> {
        Field::ALL.get(place).map_or(Value::Null, |field| self.value(*field))
    }

    /// A copy that needs nothing else.
    pub fn to_kept(&self) -> KeptFrame {
        let interface = self.interface.map(|it| (it.number, it.name.map(Box::from)));
        let kept = KeptFrame::of(*self.packet, self.captured, interface);
        kept.with_labels(self.labels().map(|label| label.map(Box::from)))
    }

    /// The labels of its source and of its destination.
    pub(super) fn labels(&self) -> [Option<&'f str>; 2] {
        let ends = || [self.packet.src_ip(), self.packet.dst_ip()];
        match self.labels {
            FrameLabels::None => [None, None],
            FrameLabels::Of(labels) => ends().map(|address| labels.label_of(address?)),
            FrameLabels::Own(labels) => labels.each_ref().map(Option::as_deref),
        }
    }

    fn macs(&self) -> Macs {
        link::macs(LinkType(self.packet.link_type), self.captured)
    }

    fn application(&self) -> Option<&Application> {
        let read = || Application::of(self.packet, self.payload()?).map(Box::new);
        self.application.get_or_init(read).as_deref()
    }
}

impl PartialEq for Frame<'_> {
    /// Returns true if headers, captured bytes and interface are equal.
    fn eq(&self, other: &Self) -> bool {
        (self.packet, self.captured, self.interface)
            == (other.packet, other.captured, other.interface)
    }
}

/// A frame with bytes of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFrame {
    packet: Packet,
    captured: Box<[u8]>,
    interface: Option<(u32, Option<Box<str>>)>,
    /// Labels of its source and its destination, if there is one.
    labels: Option<Box<[Option<Box<str>>; 2]>>,
}

impl KeptFrame {
    /// The frame of a packet, with a copy of its bytes.
    pub(super) fn of(
        packet: Packet,
        captured: &[u8],
        interface: Option<(u32, Option<Box<str>>)>,
    ) -> Self {
        KeptFrame { packet, captured: captured.into(), interface, labels: None }
    }

    /// This frame, with the labels of its source and its destination.
    pub(super) fn with_labels(self, labels: [Option<Box<str>>; 2]) -> Self {
        let labels = labels.iter().any(Option::is_some).then(|| Box::new(labels));
        KeptFrame { labels, ..self }
    }

    /// The frame.
    #[inline]
    pub fn frame(&self) -> Frame<'_> {
        let interface = self.interface.as_ref();
        let interface = interface
            .map(|(number, name)| FrameInterface { number: *number, name: name.as_deref() });
        let labels = self.labels.as_deref().map_or(FrameLabels::None, FrameLabels::Own);
        Frame { labels, ..Frame::new(&self.packet, &self.captured, interface) }
    }

    /// The fields of its headers.
    #[inline]
    pub fn packet(&self) -> &Packet {
        &self.packet
    }

    /// The bytes that were captured.
    pub fn captured(&self) -> &[u8] {
        &self.captured
    }
}

fn text(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Null, Value::Text)
}

/// A MAC address as people write it: small hexadecimal digits, in pairs, with colons.
fn mac_text(address: [u8; 6]) -> Value<'static> {
    let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + value - 10 };
    let mut text = [b':'; 17];
    for (pair, byte) in text.chunks_mut(3).zip(address) {
        if let [high, low, ..] = pair {
            *high = digit(byte >> 4);
            *low = digit(byte & 0xf);
        }
    }
    let text = str::from_utf8(&text).ok().and_then(ShortText::new);
    text.map_or(Value::Null, Value::ShortText)
}
