//! Places of the headers in a frame, for who changes them: the walk that decodes a frame notes each header it trusts.

use super::{DecodeOptions, FrameMeta, LinkType, Packet, fast_path};

/// Kinds of headers that addresses and checksums are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderKind {
    /// Destination, source, type.
    Ethernet,
    /// Linux cooked capture.
    Cooked,
    /// Linux cooked capture, version 2.
    Cooked2,
    /// Address resolution.
    Arp,
    Ipv4,
    Ipv6,
    /// Extension of IPv6 other than those that follow (RFC 8200, section 4).
    Extension,
    Fragment,
    Authentication,
    Tcp,
    Udp,
    Sctp,
    Icmp,
    Icmpv6,
}

/// The start of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeaderPlace {
    pub(crate) kind: HeaderKind,
    /// Offset in the frame.
    pub(crate) start: usize,
}

impl Packet {
    /// Replaces `places` by those of the headers of a frame, outermost first, those inside of tunnels too. Other headers,
    /// such as tags, labels and those of tunnels, stand between them. Answers where the headers end, if the frame is of the
    /// common shape: behind them there is no other one.
    pub(crate) fn header_places(
        link_type: LinkType,
        captured: &[u8],
        vxlan_port: u16,
        places: &mut Vec<HeaderPlace>,
    ) -> Option<usize> {
        places.clear();
        let length = u32::try_from(captured.len()).unwrap_or(u32::MAX);
        let meta = FrameMeta { number: 0, ts: Some(0), length, link_type };
        let options = DecodeOptions { inner: true, vxlan_port };
        let mut packet = Packet::default();
        if fast_path::decode_into(&mut packet, meta, captured).is_none()
            || options.is_vxlan(&packet)
        {
            packet.walk_into(meta, captured, options, Some(places));
            return None;
        }
        let (kinds, starts) = fast_path::headers(&packet);
        places
            .extend(kinds.into_iter().zip(starts).map(|(kind, start)| HeaderPlace { kind, start }));
        Some(packet.payload_offset as usize)
    }
}
