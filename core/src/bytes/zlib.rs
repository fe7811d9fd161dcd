//! zlib-rs, called as zlib is: unlike flate2 it then stops where deflate blocks end, and says at which bit.
//!
//! This file may hold `unsafe`: the interface of zlib takes pointers. The library is Rust, and built in.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::ptr;

use libz_rs_sys as zlib;

use super::inflate::{InflateOutcome, Inflated};
use super::seek_point::DeflatePlace;

/// A raw deflate stream, without a wrapper, with the largest window.
const RAW: c_int = -15;

/// Bits of `data_type` that count the bits of the last byte taken that are not used yet.
const UNUSED_BITS: c_int = 0x3f;
/// The block that ends, or goes on, is the last one of the stream.
const LAST_BLOCK: c_int = 0x40;
/// A block has just ended.
const AT_BOUNDARY: c_int = 0x80;

/// The state of one deflate stream.
pub(super) struct ZlibInflate {
    stream: Box<zlib::z_stream>,
    /// False where the library gave no memory for its state.
    is_set_up: bool,
}

// SAFETY: the state is reached through the box alone, and the two pointers in it that lead to others' memory are used only
// during `run`, which sets them first.
unsafe impl Send for ZlibInflate {}

impl ZlibInflate {
    /// A stream at its start.
    pub(super) fn new() -> Self {
        let mut stream = Box::new(zlib::z_stream::default());
        let size = size_of::<zlib::z_stream>() as c_int;
        // SAFETY: the pointers are to a whole stream, which the box owns, without memory or allocator of its own yet, and to the
        // version of this very library, which ends with a zero.
        let code = unsafe { zlib::inflateInit2_(&raw mut *stream, RAW, zlib::zlibVersion(), size) };
        ZlibInflate { stream, is_set_up: code == zlib::Z_OK }
    }

    /// Makes ready for the next stream.
    pub(super) fn reset(&mut self) {
        if self.is_set_up {
            // SAFETY: `new` has set the stream up, and nothing else has it.
            unsafe { zlib::inflateReset2(&raw mut *self.stream, RAW) };
        }
    }

    /// Inflates `input` into the spare capacity of `output`; see `Inflater::inflate`.
    pub(super) fn inflate(&mut self, input: &[u8], output: &mut Vec<u8>) -> Inflated {
        self.run(input, output, zlib::Z_NO_FLUSH)
    }

    /// Inflates as `inflate` does, but not past the end of a block; see `Inflater::inflate_to_place`.
    pub(super) fn inflate_to_place(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> (Inflated, Option<DeflatePlace>) {
        let inflated = self.run(input, output, zlib::Z_BLOCK);
        let state = self.stream.data_type;
        let is_place = inflated.outcome == InflateOutcome::More
            && state & AT_BOUNDARY != 0
            && state & LAST_BLOCK == 0;
        let place = is_place
            .then_some(DeflatePlace { unused_bits: (state & UNUSED_BITS) as u32, stored: None });
        (inflated, place)
    }

    fn run(&mut self, input: &[u8], output: &mut Vec<u8>, flush: c_int) -> Inflated {
        if !self.is_set_up {
            let outcome = InflateOutcome::Broken("no memory to inflate it");
            return Inflated { taken: 0, returned: 0, outcome };
        }
        let room = output.spare_capacity_mut();
        let avail_in = u32::try_from(input.len()).unwrap_or(u32::MAX);
        let avail_out = u32::try_from(room.len()).unwrap_or(u32::MAX);
        self.stream.next_in = input.as_ptr();
        self.stream.avail_in = avail_in;
        self.stream.next_out = room.as_mut_ptr().cast();
        self.stream.avail_out = avail_out;
        // SAFETY: `new` has set the stream up. The library reads at most `avail_in` bytes at `next_in`, all in `input`, and
        // writes at most `avail_out` bytes at `next_out`, all in the spare capacity of `output`; both outlive the call, and
        // neither overlaps the state, which is borrowed exclusively.
        let code = unsafe { zlib::inflate(&raw mut *self.stream, flush) };
        self.stream.next_in = ptr::null();
        self.stream.next_out = ptr::null_mut();
        let written = avail_out.saturating_sub(self.stream.avail_out);
        let length = output.len() + written as usize;
        // SAFETY: the library has filled its output from the front, so `written` bytes of the spare capacity, no more than
        // there are, have a value.
        unsafe { output.set_len(length) };
        let taken = avail_in.saturating_sub(self.stream.avail_in) as usize;
        let outcome = match code {
            zlib::Z_OK | zlib::Z_BUF_ERROR => InflateOutcome::More,
            zlib::Z_STREAM_END => InflateOutcome::Finished,
            zlib::Z_NEED_DICT => InflateOutcome::Broken("a preset dictionary"),
            _ => InflateOutcome::Broken("something else"),
        };
        Inflated { taken, returned: 0, outcome }
    }
}

impl Drop for ZlibInflate {
    fn drop(&mut self) {
        if self.is_set_up {
            // SAFETY: `new` has set the stream up, and it is not used again.
            unsafe { zlib::inflateEnd(&raw mut *self.stream) };
        }
    }
}
