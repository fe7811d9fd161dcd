//! Place of `device.rs` where network interfaces cannot be opened.

use std::convert::Infallible;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::LiveOptions;
use super::libpcap::missing;
use super::live_interface::LiveInterface;
use crate::Result;

/// Time of a wait that there is none of.
pub(super) const TIMEOUT: Duration = Duration::ZERO;

/// Lost packets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Statistics {
    pub(super) dropped: u32,
    pub(super) dropped_by_interface: u32,
}

/// Returns the error of what opens no interfaces.
///
/// # Errors
/// `MissingLibrary`.
pub fn live_interfaces() -> Result<Vec<LiveInterface>> {
    Err(missing("interfaces"))
}

/// Interface that there is none of.
pub(super) struct Device(Infallible);

/// Packet of an interface.
pub(super) struct DevicePacket<'d> {
    pub(super) seconds: u32,
    pub(super) nanoseconds: u32,
    pub(super) length: u32,
    pub(super) captured: &'d [u8],
}

impl Device {
    /// Opens no interface.
    pub(super) fn open(_: &str, _: &LiveOptions, _: Option<&str>) -> Result<Device> {
        Err(missing("interfaces"))
    }

    /// Returns the link type of its packets.
    pub(super) fn data_link(&self) -> u16 {
        match self.0 {}
    }

    /// Returns the bytes that are kept of each packet at most.
    pub(super) fn snaplen(&self) -> u32 {
        match self.0 {}
    }

    /// Returns the descriptor to wait for.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self.0 {}
    }

    /// Returns the next packet.
    pub(super) fn next(&mut self) -> Result<Option<DevicePacket<'_>>> {
        match self.0 {}
    }

    /// Returns the counts so far.
    pub(super) fn statistics(&self) -> Option<Statistics> {
        match self.0 {}
    }
}
