//! The link layer: what a frame begins with, down to the network header.

mod cisco_hdlc;
mod cooked;
mod ethernet;
mod mac;
mod mpls;
mod ppp;

pub(super) use mac::{CookedLayout, Macs, macs};

use super::{PacketWalk, Status};
use crate::wire::{Endian, Reader};

/// A link-layer type as capture files number it (<https://www.tcpdump.org/linktypes.html>), without
/// the frame check sequence bits that may stand above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkType(pub u16);

/// Declares the link types that are known by name: `NAME number "meaning"`. It expands to one
/// constant each and to [`LinkType::name`].
macro_rules! link_types {
    ($($name:ident $number:literal $meaning:literal;)*) => {
        impl LinkType {
            $(#[doc = $meaning] pub const $name: LinkType = LinkType($number);)*

            /// The name that the registry of link types gives it.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 { $($number => Some(stringify!($name)),)* _ => None }
            }
        }
    };
}

link_types! {
    NULL 0 "BSD loopback: address family in the byte order of the capturing machine.";
    ETHERNET 1 "IEEE 802.3 Ethernet.";
    PPP 9 "Point-to-point protocol (RFC 1661), HDLC framing optional.";
    RAW_BSD 12 "Raw IP as some systems number it.";
    RAW_OPENBSD 14 "Raw IP as OpenBSD numbers it.";
    PPP_HDLC 50 "PPP in HDLC-like framing (RFC 1662).";
    PPP_ETHER 51 "PPPoE session frames (RFC 2516).";
    RAW 101 "Raw IP: the version nibble tells which.";
    C_HDLC 104 "Cisco PPP with HDLC framing.";
    IEEE802_11 105 "Wireless LAN.";
    FRELAY 107 "Frame Relay.";
    LOOP 108 "OpenBSD loopback: address family in network byte order.";
    LINUX_SLL 113 "Linux cooked capture.";
    IEEE802_11_RADIOTAP 127 "Wireless LAN with radiotap header.";
    USB_LINUX_MMAPPED 220 "USB frames as Linux gives them.";
    IPV4 228 "Raw IPv4.";
    IPV6 229 "Raw IPv6.";
    NFLOG 239 "Linux netfilter log.";
    USBPCAP 249 "USB frames as USBPcap gives them.";
    LINUX_SLL2 276 "Linux cooked capture, version 2.";
}

/// Values that stand where an EtherType is expected (IEEE 802 numbers).
pub(super) mod ethertype {
    pub(in crate::packet) const IPV4: u16 = 0x0800;
    pub(in crate::packet) const ARP: u16 = 0x0806;
    pub(in crate::packet) const ERSPAN_3: u16 = 0x22eb;
    pub(in crate::packet) const TRANSPARENT_ETHERNET: u16 = 0x6558;
    pub(in crate::packet) const RARP: u16 = 0x8035;
    pub(in crate::packet) const VLAN: u16 = 0x8100;
    pub(in crate::packet) const IPV6: u16 = 0x86dd;
    pub(in crate::packet) const MPLS: u16 = 0x8847;
    pub(in crate::packet) const MPLS_MULTICAST: u16 = 0x8848;
    pub(in crate::packet) const PPPOE_SESSION: u16 = 0x8864;
    pub(in crate::packet) const PPP: u16 = 0x880b;
    pub(in crate::packet) const QINQ: u16 = 0x88a8;
    pub(in crate::packet) const ERSPAN: u16 = 0x88be;
    pub(in crate::packet) const VN_TAG: u16 = 0x8926;
    pub(in crate::packet) const QINQ_OLD: u16 = 0x9100;
}

impl PacketWalk<'_> {
    /// A frame of `link_type` begins at the cursor.
    #[inline(always)]
    pub(super) fn link(&mut self, link_type: LinkType, bytes: Reader<'_>) {
        // By far the most frequent: a comparison is predicted better than a jump through a table.
        if link_type == LinkType::ETHERNET {
            return self.ethernet(bytes);
        }
        match link_type {
            LinkType::RAW | LinkType::RAW_BSD | LinkType::RAW_OPENBSD => self.ip(bytes),
            LinkType::IPV4 | LinkType::IPV6 => self.ip(bytes),
            LinkType::NULL => self.null(bytes),
            LinkType::LOOP => self.address_family(Endian::Big, bytes),
            LinkType::LINUX_SLL => self.linux_sll(bytes),
            LinkType::LINUX_SLL2 => self.linux_sll2(bytes),
            LinkType::PPP | LinkType::PPP_HDLC => self.ppp_hdlc(bytes),
            LinkType::PPP_ETHER => self.pppoe(bytes),
            LinkType::C_HDLC => self.cisco_hdlc(bytes),
            _ => self.packet.status.set(Status::UNKNOWN_LINK),
        }
    }
}
