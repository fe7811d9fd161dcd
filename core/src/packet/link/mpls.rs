//! MPLS label stacks (RFC 3032).

use crate::packet::PacketWalk;
use crate::wire::{Endian::Big, Reader};

impl PacketWalk<'_> {
    /// Labels down to the one marked as the bottom. Nothing says what follows; an IP version in
    /// the first four bits is taken for IP, as routers do (RFC 4928, section 3).
    #[inline(never)]
    pub(in crate::packet) fn mpls(&mut self, mut bytes: Reader<'_>) {
        const BOTTOM_OF_STACK: u32 = 0x100;
        loop {
            match bytes.u32(Big) {
                Some(label) if label & BOTTOM_OF_STACK != 0 => break,
                Some(_) => {}
                None => return self.truncated(),
            }
        }
        match bytes.rest().first() {
            Some(0x40..=0x6f) => self.ip(bytes),
            Some(_) => self.unknown_header(),
            None => self.truncated(),
        }
    }
}
