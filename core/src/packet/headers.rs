//! Places of the headers in a frame, for who changes them: the walk that decodes a frame notes each header it trusts.

use super::{DecodeOptions, FrameMeta, LinkType, Packet};

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
    /// such as tags, labels and those of tunnels, stand between them.
    pub(crate) fn header_places(
        link_type: LinkType,
        captured: &[u8],
        vxlan_port: u16,
        places: &mut Vec<HeaderPlace>,
    ) {
        places.clear();
        let length = u32::try_from(captured.len()).unwrap_or(u32::MAX);
        let meta = FrameMeta { number: 0, ts: None, length, link_type };
        let options = DecodeOptions { inner: true, vxlan_port };
        Packet::default().walk_into(meta, captured, options, Some(places));
    }
}
