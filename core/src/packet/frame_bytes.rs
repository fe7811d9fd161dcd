//! A kept frame as bytes, for hosts whose programs write objects to files and hand them to other processes.
//!
//! It is no format of captures: what was decoded stands beside what was captured, because options that the packet does not tell
//! have decoded it.

use super::field::{Field, FieldSet};
use super::frame::KeptFrame;
use super::{Packet, Status};
use crate::wire::{Endian::Little, Reader};

/// The first byte.
const VERSION: u8 = 2;

/// Bits of the second byte.
const HAS_INTERFACE: u8 = 1;
const HAS_NAME: u8 = 2;
const HAS_SRC_LABEL: u8 = 4;
const HAS_DST_LABEL: u8 = 8;

/// Writes the two directions of a list of members: numbers in the order of the list, little-endian, then arrays of bytes, then sets of bits.
macro_rules! members {
    ($($number:ident $type:ident)*; $($array:ident)*; $($bits:ident $set:ident $word:ident)*) => {
        fn write(packet: &Packet, into: &mut Vec<u8>) {
            // All members, so that a new one is not forgotten.
            let Packet { $($number,)* $($array,)* $($bits,)* } = packet;
            $(into.extend($number.to_le_bytes());)*
            $(into.extend($array);)*
            $(into.extend($bits.0.to_le_bytes());)*
        }

        fn read(from: &mut Reader<'_>) -> Option<Packet> {
            $(let $number = $type::from_le_bytes(from.array()?);)*
            $(let $array = from.array()?;)*
            $(let $bits = $set($word::from_le_bytes(from.array()?));)*
            Some(Packet { $($number,)* $($array,)* $($bits,)* })
        }
    };
}

members! {
    number u64 ts i64 length u32 caplen u32 ip_len u32 payload_offset u32 payload_len u32 seq u32 ack u32
    src_port u16 dst_port u16 vlan u16 tcp_flags u16 frag_offset u16 link_type u16 ethertype u16 arp_op u16
    ip_version u8 proto u8 ttl u8 icmp_type u8 icmp_code u8 tcp_header_len u8;
    src_ip dst_ip arp_src_ip arp_dst_ip;
    present FieldSet u32 status Status u16
}

impl KeptFrame {
    /// Its bytes, of which [`KeptFrame::from_bytes`] makes an equal one.
    pub fn to_bytes(&self) -> Vec<u8> {
        let interface = self.frame().interface();
        let name = interface.and_then(|interface| interface.name);
        let has_interface = if interface.is_some() { HAS_INTERFACE } else { 0 };
        let has_name = if name.is_some() { HAS_NAME } else { 0 };
        let labels = self.frame().labels();
        let has_src = if labels[0].is_some() { HAS_SRC_LABEL } else { 0 };
        let has_dst = if labels[1].is_some() { HAS_DST_LABEL } else { 0 };
        let mut bytes = vec![VERSION, has_interface | has_name | has_src | has_dst];
        write(self.packet(), &mut bytes);
        if let Some(interface) = interface {
            bytes.extend(interface.number.to_le_bytes());
        }
        for text in [name].into_iter().chain(labels).flatten() {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes.extend(self.captured());
        bytes
    }

    /// The frame of these bytes; none if they are others than [`KeptFrame::to_bytes`] gives.
    pub fn from_bytes(bytes: &[u8]) -> Option<KeptFrame> {
        let mut reader = Reader::new(bytes);
        let (version, has) = (reader.u8()?, reader.u8()?);
        let packet = read(&mut reader)?;
        let number = (has & HAS_INTERFACE != 0).then(|| reader.u32(Little));
        let mut text = |bit: u8| (has & bit != 0).then(|| text(&mut reader));
        let name = text(HAS_NAME);
        let labels = [text(HAS_SRC_LABEL), text(HAS_DST_LABEL)];
        let interface = match (number, name) {
            (None, None) => None,
            (Some(number), None) => Some((number?, None)),
            (Some(number), Some(name)) => Some((number?, Some(name?))),
            (None, Some(_)) => return None,
        };
        let [src, dst] = labels;
        // None of a text that is not there, and no frame where one is wrong.
        let whole =
            |label: Option<Option<Box<str>>>| label.map_or(Some(None), |text| text.map(Some));
        let labels = [whole(src)?, whole(dst)?];
        let known =
            version == VERSION && has <= HAS_INTERFACE | HAS_NAME | HAS_SRC_LABEL | HAS_DST_LABEL;
        let captured = reader.rest();
        let is_whole = usize::try_from(packet.caplen) == Ok(captured.len());
        let is_consistent = packet.present.0 & !FieldSet::of(Field::ALL).0 == 0;
        (known && is_whole && is_consistent)
            .then(|| KeptFrame::of(packet, captured, interface).with_labels(labels))
    }
}

fn text(reader: &mut Reader<'_>) -> Option<Box<str>> {
    let len = usize::try_from(reader.u64(Little)?).ok()?;
    std::str::from_utf8(reader.take(len)?).ok().map(Box::from)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    //! Goal: bytes give the frame that gave them, and no others give any.
    //!
    //! Method: frames with each of an interface and a name; each of their beginnings, and bytes that were changed. All frames of
    //! the samples are in the tests of the faces.

    use super::*;
    use crate::packet::{DecodeOptions, Frame, FrameInterface, FrameMeta, LinkType};

    fn frames() -> Vec<KeptFrame> {
        let meta = FrameMeta { number: 7, ts: Some(-5), length: 90, link_type: LinkType::ETHERNET };
        let captured: Vec<u8> = (0..60).map(|at| if at == 12 { 8 } else { at }).collect();
        let packet = Packet::decode(meta, &captured, DecodeOptions::default());
        let interfaces = [
            None,
            Some(FrameInterface { number: 3, name: None }),
            Some(FrameInterface { number: 0, name: Some("eth0") }),
        ];
        let frames =
            interfaces.map(|interface| Frame::new(&packet, &captured, interface).to_kept());
        let labels = [[Some("home".into()), None], [None, Some("away".into())]];
        let labelled = labels.map(|labels| frames[2].clone().with_labels(labels));
        frames.into_iter().chain(labelled).collect()
    }

    #[test]
    fn bytes_give_the_frame_that_gave_them() {
        for frame in frames() {
            assert_eq!(KeptFrame::from_bytes(&frame.to_bytes()), Some(frame));
        }
    }

    #[test]
    fn bytes_that_are_cut_or_longer_give_none() {
        for frame in frames() {
            let bytes = frame.to_bytes();
            assert!((0..bytes.len()).all(|len| KeptFrame::from_bytes(&bytes[..len]).is_none()));
            assert!(KeptFrame::from_bytes(&[&bytes[..], b"x"].concat()).is_none());
        }
    }

    #[test]
    fn changed_bytes_give_a_frame_whose_fields_can_be_read_or_none() {
        for frame in frames() {
            let bytes = frame.to_bytes();
            for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                if let Some(changed) = KeptFrame::from_bytes(&changed) {
                    let frame = changed.frame();
                    Field::ALL.iter().for_each(|field| drop(frame.value(*field).to_string()));
                    assert!(
                        frame
                            .payload()
                            .is_none_or(|payload| payload.len() <= frame.captured().len())
                    );
                }
            }
        }
    }
}
