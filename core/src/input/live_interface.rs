//! Network interfaces that packets can be captured from.

use std::net::IpAddr;

/// Bits of the flags of `struct pcap_if`.
mod flag {
    pub(super) const LOOPBACK: u32 = 1;
    pub(super) const UP: u32 = 2;
    pub(super) const WIRELESS: u32 = 8;
    pub(super) const CONNECTION: u32 = 0x30;
    pub(super) const CONNECTED: u32 = 0x10;
    pub(super) const DISCONNECTED: u32 = 0x20;
}

/// A network interface that packets can be captured from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveInterface {
    /// Its name.
    pub name: String,
    /// Sentence of the system about it.
    pub description: Option<String>,
    /// Its addresses of IPv4 and IPv6.
    pub addresses: Vec<IpAddr>,
    /// The flags of libpcap's.
    pub(super) flags: u32,
}

impl LiveInterface {
    /// Returns the state as a word.
    pub fn state(&self) -> &'static str {
        match self.flags & flag::CONNECTION {
            _ if self.flags & flag::UP == 0 => "down",
            flag::CONNECTED => "connected",
            flag::DISCONNECTED => "disconnected",
            _ => "up",
        }
    }

    /// Returns the kind of it, where that is a special one.
    pub fn kind(&self) -> Option<&'static str> {
        match self.flags {
            flags if flags & flag::LOOPBACK != 0 => Some("loopback"),
            flags if flags & flag::WIRELESS != 0 => Some("wireless"),
            _ => None,
        }
    }
}
