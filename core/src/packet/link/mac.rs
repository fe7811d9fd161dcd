//! MAC addresses in the headers that have them.

use super::LinkType;

/// The addresses of a frame, as far as its header keeps them.
#[derive(Debug, Default)]
pub(in crate::packet) struct Macs {
    pub(in crate::packet) source: Option<[u8; 6]>,
    pub(in crate::packet) destination: Option<[u8; 6]>,
}

/// The MAC addresses that a frame of `link_type` begins with: both in Ethernet, the sender's in a Linux cooked capture.
pub(in crate::packet) fn macs(link_type: LinkType, captured: &[u8]) -> Macs {
    match link_type {
        LinkType::ETHERNET => match captured.first_chunk::<14>() {
            Some([d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, ..]) => Macs {
                source: Some([*s0, *s1, *s2, *s3, *s4, *s5]),
                destination: Some([*d0, *d1, *d2, *d3, *d4, *d5]),
            },
            None => Macs::default(),
        },
        LinkType::LINUX_SLL => CookedLayout::FIRST.macs(captured),
        LinkType::LINUX_SLL2 => CookedLayout::SECOND.macs(captured),
        _ => Macs::default(),
    }
}

/// Layout of a header of Linux's cooked captures: the sender's address, in room of 8 bytes, and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::packet) struct CookedLayout {
    /// Bytes of the header.
    pub(in crate::packet) len: usize,
    /// Offset of the address.
    pub(in crate::packet) address_at: usize,
    /// Offset of the last byte of its length.
    address_len_at: usize,
    /// The byte before that is one of the length, too.
    has_wide_len: bool,
}

impl CookedLayout {
    /// Packet type, hardware type, length of the address, address, protocol.
    pub(in crate::packet) const FIRST: CookedLayout =
        CookedLayout { len: 16, address_at: 6, address_len_at: 5, has_wide_len: true };

    /// Version 2: protocol, reserved, interface, hardware type, packet type, length of the address, address.
    pub(in crate::packet) const SECOND: CookedLayout =
        CookedLayout { len: 20, address_at: 12, address_len_at: 11, has_wide_len: false };

    /// Returns true if the address is one of 6 bytes. Bytes that were not captured are zeros.
    pub(in crate::packet) fn has_mac(self, header: &[u8]) -> bool {
        let at = |offset: usize| header.get(offset).copied().unwrap_or_default();
        let high = if self.has_wide_len { at(self.address_len_at - 1) } else { 0 };
        (high, at(self.address_len_at)) == (0, 6)
    }

    /// The sender's address of a whole header.
    fn macs(self, captured: &[u8]) -> Macs {
        let header = captured.get(..self.len).filter(|header| self.has_mac(header));
        let address = header.and_then(|header| header.get(self.address_at..)?.first_chunk());
        Macs { source: address.copied(), destination: None }
    }
}
