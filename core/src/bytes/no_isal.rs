//! Place of `isal.rs` where no libraries are loaded: zlib-rs, which is built in, inflates there.

use std::convert::Infallible;

use super::inflate::Inflated;
use super::seek_point::DeflatePlace;

/// None are kept.
pub(super) const STATE_SIZE: usize = 0;

/// Returns false.
pub(super) fn is_available() -> bool {
    false
}

/// Returns false.
pub(super) fn finds_places() -> bool {
    false
}

/// Stream that there is none of.
pub(super) struct Inflate(Infallible);

impl Inflate {
    /// Returns none.
    pub(super) fn new() -> Option<Self> {
        None
    }

    /// Makes ready for the next stream.
    pub(super) fn reset(&mut self) {
        match self.0 {}
    }

    /// Inflates.
    pub(super) fn inflate(&mut self, _: &[u8], _: &mut Vec<u8>) -> Inflated {
        match self.0 {}
    }

    /// Inflates to a place.
    pub(super) fn inflate_to_place(
        &mut self,
        _: &[u8],
        _: &mut Vec<u8>,
    ) -> (Inflated, Option<DeflatePlace>) {
        match self.0 {}
    }
}
