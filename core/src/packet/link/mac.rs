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
        LinkType::LINUX_SLL => match captured.first_chunk::<16>() {
            Some([_, _, _, _, len_high, len, address @ ..]) => {
                sender(u16::from_be_bytes([*len_high, *len]), address)
            }
            None => Macs::default(),
        },
        LinkType::LINUX_SLL2 => match captured.first_chunk::<20>() {
            Some([_, _, _, _, _, _, _, _, _, _, _, len, address @ ..]) => {
                sender((*len).into(), address)
            }
            None => Macs::default(),
        },
        _ => Macs::default(),
    }
}

/// The sender's address of so many bytes, which is a MAC address where it has 6.
fn sender(len: u16, address: &[u8]) -> Macs {
    let source = if len == 6 { address.first_chunk().copied() } else { None };
    Macs { source, destination: None }
}
