//! Places in compressed input at which reading can begin: between members of gzip and frames of zstd, and inside of a gzip
//! member between two deflate blocks, with the last 32 KiB before it, which what follows may repeat.
//!
//! They are found while a stream is read ([`StreamOptions::seek_points`](super::StreamOptions)). A decoder that begins at one
//! gives the bytes, errors and offsets that one gives that came there from the beginning: it knows the checksum and the length
//! of its member so far.

use crate::error::{Error, Result};
use crate::wire::{Endian, Reader};

// Bound (Streams): window of a seek point = 32 KiB.
/// Bytes that deflate data may go back.
pub(super) const WINDOW_LEN: usize = 32 << 10;

/// Level at which zstd compresses windows: higher ones take longer and gain nothing on packets.
const WINDOW_LEVEL: i32 = 1;

/// Distance between seek points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeekSpacing {
    /// Decompressed bytes between two points at least.
    pub bytes: u64,
    /// Decompressed bytes before a point that holds a window at least, because one takes time to find.
    pub window_bytes: u64,
    /// Raw bytes between two points that hold a window, as a multiple of the bytes of the one before.
    pub raw_per_window_byte: u64,
}

impl Default for SeekSpacing {
    /// Windows that take at most 0.8 % of the input.
    fn default() -> Self {
        SeekSpacing { bytes: 1 << 20, window_bytes: 8 << 20, raw_per_window_byte: 125 }
    }
}

/// A place in compressed input at which reading can begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeekPoint {
    /// Offset in the decompressed stream.
    pub position: u64,
    /// Offset in the input of the byte that has the first bit.
    pub raw_offset: u64,
    /// State of the decoder there.
    pub resume: Resume,
}

impl SeekPoint {
    /// The beginning of the input.
    pub(crate) fn beginning() -> Self {
        SeekPoint { position: 0, raw_offset: 0, resume: Resume::Boundary }
    }
}

/// State of a decoder at a [`SeekPoint`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// Between members or frames, or in plain input: none.
    Boundary,
    /// Inside of a gzip member.
    Deflate(DeflateState),
}

/// State of a gzip decoder inside of a member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeflateState {
    /// Bits of the first byte that belong to what comes before: 0 to 7.
    pub used_bits: u8,
    /// The rest of a stored block that goes on here.
    pub stored: Option<StoredRest>,
    /// CRC-32 of the content of the member so far.
    pub crc: u32,
    /// Length of it, modulo 2^32.
    pub len: u32,
    /// The last bytes before the point, up to 32 KiB, compressed with zstd.
    pub window: Vec<u8>,
}

/// Rest of a stored block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRest {
    /// Bytes that are left of it.
    pub len: u16,
    /// It is the last block of its member.
    pub is_last: bool,
}

/// Place between two blocks of deflate data, or inside of a stored one, as an inflater finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DeflatePlace {
    /// Bits that the inflater has taken and that come behind the place.
    pub(super) unused_bits: u32,
    pub(super) stored: Option<StoredRest>,
}

/// Finds the seek points of a stream as it is read.
#[derive(Debug, Default)]
pub(super) struct SeekMarker {
    spacing: SeekSpacing,
    /// Offset in the decompressed stream of the first byte of the buffer that is decompressed into.
    base: u64,
    /// Points that were found and not taken.
    found: Vec<SeekPoint>,
    /// Place of the last point.
    position: u64,
    raw_offset: u64,
    /// Raw bytes behind the last point from which on another window may be kept.
    raw_wanted: u64,
    /// The end of what the member has decompressed to: its window, and up to as much before.
    history: Vec<u8>,
    /// The member has more of it that was not kept, because no point was near.
    lacks_history: bool,
}

impl SeekMarker {
    pub(super) fn new(spacing: SeekSpacing) -> Self {
        let raw_wanted = (WINDOW_LEN as u64).saturating_mul(spacing.raw_per_window_byte);
        SeekMarker { spacing, raw_wanted, ..SeekMarker::default() }
    }

    /// Notes where in the decompressed stream the buffer begins.
    pub(super) fn set_base(&mut self, base: u64) {
        self.base = base;
    }

    /// Says that the next points are counted from a place in the input.
    pub(super) fn begin_at(&mut self, position: u64, raw_offset: u64) {
        self.position = position;
        self.raw_offset = raw_offset;
    }

    /// Takes the points that were found, in their order.
    pub(super) fn take(&mut self) -> Vec<SeekPoint> {
        std::mem::take(&mut self.found)
    }

    /// Notes the end of a member or a frame, `made` bytes into the buffer.
    pub(super) fn at_boundary(&mut self, made: usize, raw_offset: u64) {
        self.history.clear();
        self.lacks_history = false;
        let position = self.base + made as u64;
        if position >= self.position + self.spacing.bytes {
            self.add(SeekPoint { position, raw_offset, resume: Resume::Boundary });
        }
    }

    /// Returns true if a point inside of the member is wanted from here on.
    pub(super) fn wants_place(&self, made: usize, raw_offset: u64) -> bool {
        let has_window = !self.lacks_history || self.history.len() >= WINDOW_LEN;
        has_window
            && self.base + made as u64 >= self.position + self.spacing.window_bytes
            && raw_offset >= self.raw_offset + self.raw_wanted
    }

    /// Returns the raw bytes after which a point may be wanted, roughly; at least so many that a call is worth its while.
    pub(super) fn reach(&self, made: usize, raw_offset: u64) -> usize {
        const LEAST: u64 = 4 << 10;
        let raw = (self.raw_offset + self.raw_wanted).saturating_sub(raw_offset);
        let wanted = self.position + self.spacing.window_bytes;
        let bytes = wanted.saturating_sub(self.base + made as u64);
        usize::try_from(raw.max(bytes / 4).max(LEAST)).unwrap_or(usize::MAX)
    }

    /// Keeps the end of what a member decompresses to, `bytes` up to `made` bytes in the buffer, where a point is near.
    pub(super) fn keep_near(&mut self, bytes: &[u8], made: usize, raw_offset: u64) {
        /// More than is inflated in one call, raw and decompressed.
        const NEAR: u64 = 1 << 20;
        let is_near = self.base + made as u64 + NEAR >= self.position + self.spacing.window_bytes
            && raw_offset + NEAR >= self.raw_offset + self.raw_wanted;
        if is_near {
            self.keep(bytes);
        } else {
            self.history.clear();
            self.lacks_history = true;
        }
    }

    /// Keeps the end of what a member decompresses to.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        let tail = bytes.get(bytes.len().saturating_sub(WINDOW_LEN)..).unwrap_or_default();
        if self.history.len() + tail.len() > 2 * WINDOW_LEN {
            let gone = self.history.len() - (WINDOW_LEN - tail.len()).min(self.history.len());
            self.history.drain(..gone);
        }
        self.history.extend_from_slice(tail);
    }

    /// Notes a place inside of a member, behind `made` bytes in the buffer and all that was kept. `taken` is the offset
    /// behind the last raw byte that the inflater has.
    pub(super) fn at_place(
        &mut self,
        made: usize,
        taken: u64,
        place: DeflatePlace,
        crc: u32,
        len: u32,
    ) {
        let window_start = self.history.len().saturating_sub(WINDOW_LEN);
        let window = self.history.get(window_start..).unwrap_or_default();
        // A point is nothing that anybody has to have.
        let Some((raw_offset, state)) = DeflateState::of(place, taken, window) else { return };
        self.raw_wanted =
            (state.window.len() as u64).saturating_mul(self.spacing.raw_per_window_byte);
        let position = self.base + made as u64;
        let resume = Resume::Deflate(DeflateState { crc, len, ..state });
        self.add(SeekPoint { position, raw_offset, resume });
    }

    fn add(&mut self, point: SeekPoint) {
        self.position = point.position;
        self.raw_offset = point.raw_offset;
        self.found.push(point);
    }
}

impl DeflateState {
    /// The state at a place behind `window`, of a member that nothing is known about, and the offset of its first bit, where
    /// `taken` is the offset behind the last byte that the inflater has; none where it cannot be.
    pub(super) fn of(place: DeflatePlace, taken: u64, window: &[u8]) -> Option<(u64, Self)> {
        let unused_bytes = u64::from(place.unused_bits.div_ceil(8));
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(window.len()));
        zstd_safe::compress(&mut packed, window, WINDOW_LEVEL).ok()?;
        packed.shrink_to_fit();
        let used_bits = (unused_bytes * 8 - u64::from(place.unused_bits)) as u8;
        let state =
            DeflateState { used_bits, stored: place.stored, crc: 0, len: 0, window: packed };
        Some((taken.checked_sub(unused_bytes)?, state))
    }

    /// The deflate data that brings an inflater from its start to this state, where `first` is the byte of the input that has
    /// the first bits: the window as a stored block, empty blocks as long as the bits that are used, and the beginning of a
    /// stored block. Also the number of bytes that it inflates to.
    ///
    /// # Errors
    /// `Format` where no decoder has such a state.
    pub(super) fn prologue(&self, first: u8) -> Result<(Vec<u8>, usize)> {
        let window = self.unpacked_window()?;
        let mut data = Vec::with_capacity(window.len() + 32);
        if !window.is_empty() {
            data.push(0);
            push_stored_len(&mut data, window.len() as u16);
            data.extend_from_slice(&window);
        }
        match self.stored {
            Some(rest) if self.used_bits == 0 => {
                data.push(u8::from(rest.is_last));
                push_stored_len(&mut data, rest.len);
            }
            None if self.used_bits < 8 => push_empty_blocks(&mut data, self.used_bits, first),
            _ => return Err(Error::format("a place in deflate data", "something else")),
        }
        Ok((data, window.len()))
    }

    pub(super) fn unpacked_window(&self) -> Result<Vec<u8>> {
        let mut window = Vec::with_capacity(WINDOW_LEN);
        match zstd_safe::decompress(&mut window, &self.window) {
            Ok(_) => Ok(window),
            Err(_) => Err(Error::format("a window of at most 32 KiB", "something else")),
        }
    }

    /// Returns true if the first byte of the input is in the prologue, at least some of its bits.
    pub(super) fn takes_first_byte(&self) -> bool {
        self.used_bits > 0
    }
}

fn push_stored_len(data: &mut Vec<u8>, len: u16) {
    data.extend_from_slice(&len.to_le_bytes());
    data.extend_from_slice(&(!len).to_le_bytes());
}

/// An empty block with fixed codes: not the last one, its kind 01, and the end of it, seven zeros.
const FIXED_BLOCK: (u128, u32) = (0b10, 10);

/// Pushes empty blocks that end `used` bits into a byte, with the other bits of that byte from `first`.
fn push_empty_blocks(data: &mut Vec<u8>, used: u8, first: u8) {
    let (mut bits, mut count) = (0, 0);
    if used % 2 == 1 {
        const WHOLE: usize = (DYNAMIC_BLOCK_LEN / 8) as usize;
        let block = dynamic_block();
        data.extend_from_slice(block.to_le_bytes().get(..WHOLE).unwrap_or_default());
        (bits, count) = (block >> (8 * WHOLE), DYNAMIC_BLOCK_LEN % 8);
    }
    while count % 8 != u32::from(used) {
        bits |= FIXED_BLOCK.0 << count;
        count += FIXED_BLOCK.1;
    }
    let whole = (count / 8) as usize;
    if used > 0 {
        bits |= u128::from(first >> used) << count;
    }
    let bytes = bits.to_le_bytes();
    data.extend_from_slice(bytes.get(..whole + usize::from(used > 0)).unwrap_or_default());
}

/// Bits of an empty block with codes of its own, of which an odd number can be made; those with fixed codes have 10.
const DYNAMIC_BLOCK_LEN: u32 = 99;

/// The empty block of [`DYNAMIC_BLOCK_LEN`]. Literals 254, 255 and the end
/// have codes of 1, 2 and 2 bits, and the lengths 0, 1, 2 and a run of zeros codes of 2 bits.
fn dynamic_block() -> u128 {
    let (mut bits, mut count) = (0_u128, 0);
    let mut push = |value: u128, len: u32| {
        bits |= value << count;
        count += len;
    };
    // Not the last block, its kind, 257 literals, 1 distance, 18 lengths of codes for lengths.
    push(0, 1);
    push(2, 2);
    push(0, 5);
    push(0, 5);
    push(14, 4);
    // In the order of deflate: 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1.
    for len in [0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] {
        push(len, 3);
    }
    // Codes stand with their first bit first: 0 is 00, 1 is 01, 2 is 10, a run 11.
    let (zero, one, two, run) = (0b00, 0b10, 0b01, 0b11);
    for zeros in [138, 116] {
        push(run, 2);
        push(zeros - 11, 7);
    }
    for code in [one, two, two, zero] {
        push(code, 2);
    }
    // The end is the last literal, 11.
    push(0b11, 2);
    bits
}

/// Bytes of a state as an index keeps it, without its window.
pub(crate) const STATE_LEN: usize = 12;

impl DeflateState {
    /// The state without its window, to be kept: used bits, kind of the rest, its length, CRC-32, length.
    pub(crate) fn to_bytes(&self) -> [u8; STATE_LEN] {
        let mut bytes = [0; STATE_LEN];
        let (kind, len) = match self.stored {
            None => (0, 0),
            Some(rest) => (1 + u8::from(rest.is_last), rest.len),
        };
        bytes[0] = self.used_bits;
        bytes[1] = kind;
        bytes[2..4].copy_from_slice(&len.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.crc.to_le_bytes());
        bytes[8..].copy_from_slice(&self.len.to_le_bytes());
        bytes
    }

    /// A state that was kept, with its window.
    pub(crate) fn of_bytes(bytes: [u8; STATE_LEN], window: Vec<u8>) -> Self {
        let mut fields = Reader::new(&bytes);
        let [used_bits, kind] = fields.array().unwrap_or_default();
        let len = fields.u16(Endian::Little).unwrap_or_default();
        let stored = (kind > 0).then_some(StoredRest { len, is_last: kind == 2 });
        let crc = fields.u32(Endian::Little).unwrap_or_default();
        let len = fields.u32(Endian::Little).unwrap_or_default();
        DeflateState { used_bits, stored, crc, len, window }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::super::inflate::{InflateBackend, InflateOutcome, Inflater};
    use super::*;

    #[test]
    fn every_inflater_comes_to_every_bit_of_a_byte_by_a_prologue() {
        let window: Vec<u8> = (0..40_000_u32).map(|n| (n * 7 % 251) as u8).collect();
        let mut marker = SeekMarker::new(SeekSpacing::default());
        marker.keep(&window[..30_000]);
        marker.keep(&window[30_000..]);
        for used_bits in 0..8_u8 {
            let place = DeflatePlace { unused_bits: (8 - u32::from(used_bits)) % 8, stored: None };
            marker.at_place(0, 100, place, 1, 2);
            let Some(SeekPoint { resume: Resume::Deflate(state), .. }) = marker.take().pop() else {
                panic!("a point")
            };
            assert_eq!(state.used_bits, used_bits);
            // An empty last block with fixed codes, behind the bits that are used.
            let tail = (0b011_u32 << used_bits | ((1 << used_bits) - 1)).to_le_bytes();
            let (prologue, len) = state.prologue(tail[0]).unwrap();
            let rest = if used_bits > 0 { &tail[1..] } else { &tail[..] };
            for backend in InflateBackend::available() {
                let mut inflater = Inflater::new(*backend);
                let mut output = Vec::with_capacity(100_000);
                let inflated = inflater.inflate(&prologue, &mut output);
                assert_eq!((inflated.taken, output.len()), (prologue.len(), len), "{backend}");
                assert_eq!(output, window[window.len() - WINDOW_LEN..]);
                let ended = match inflated.outcome {
                    InflateOutcome::More => inflater.inflate(rest, &mut output).outcome,
                    outcome => outcome,
                };
                assert_eq!(ended, InflateOutcome::Finished, "{backend} {used_bits}");
            }
        }
    }
}
