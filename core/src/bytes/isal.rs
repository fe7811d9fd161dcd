//! Intel's isa-l, loaded at run time where the system has it.
//!
//! This file may hold `unsafe`. Three things make it safe to call into a library whose
//! minor version we do not know: the state lies in a block larger than any version needs, only fields
//! that `igzip_lib.h` documents are touched, and a self-test that inflates a known stream in pieces
//! has to pass before the library is used for anything.
//!
//! We load it ourselves, because isa-l's crate builds the library, for which a user would need automake and nasm.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::mem::offset_of;
use std::ptr;

use libloading::Library;

use super::inflate::{InflateOutcome, Inflated};
use super::seek_point::{DeflatePlace, DeflateState, StoredRest};
use crate::forks::ProcessValue;

/// The name the library is loaded by.
const LIBRARY: &str = if cfg!(target_os = "macos") { "libisal.2.dylib" } else { "libisal.so.2" };

/// isa-l 2.30 takes 87368 bytes for its state.
pub(super) const STATE_SIZE: usize = 128 << 10;

/// `struct inflate_state` of igzip_lib.h, as far as it concerns us, with room to spare at its end.
/// All zeros is a value of it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct IsalState {
    next_out: *mut u8,
    avail_out: u32,
    total_out: u32,
    next_in: *const u8,
    /// Bits taken from the input and not used yet.
    read_in: u64,
    avail_in: u32,
    read_in_length: i32,
    tables: [u8; 21160 - 40],
    block_state: u32,
    dict_length: u32,
    /// 1 in the last block of the stream.
    bfinal: u32,
    crc_flag: u32,
    crc: u32,
    hist_bits: u32,
    /// Bytes that are left of a stored block.
    type0_block_len: i32,
    overflow: [u32; 4],
    wrapper_flag: i16,
    /// Bytes of a block's header that is not whole.
    tmp_in_size: i16,
    rest: [u8; STATE_SIZE - 21208],
}

/// The processors that isa-l is written for. On others the layout of [`IsalState`] need not hold.
const SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

const _: () = {
    if SUPPORTED {
        assert!(offset_of!(IsalState, avail_out) == 8);
        assert!(offset_of!(IsalState, next_in) == 16);
        assert!(offset_of!(IsalState, read_in) == 24);
        assert!(offset_of!(IsalState, avail_in) == 32);
        assert!(offset_of!(IsalState, read_in_length) == 36);
        assert!(offset_of!(IsalState, block_state) == 21160);
        assert!(offset_of!(IsalState, type0_block_len) == 21184);
        assert!(offset_of!(IsalState, tmp_in_size) == 21206);
        assert!(size_of::<IsalState>() == STATE_SIZE);
    }
};

/// A block begins: nothing of it was read, or a part of its header.
const BLOCK_NEW: u32 = 0;
const BLOCK_HEADER: u32 = 1;
const BLOCK_STORED: u32 = 2;
const BLOCK_FINISH: u32 = 5;

/// Raw bytes that are inflated at once while the end of a block is looked for: a block has some tens of thousands.
const SEARCH_PIECE: usize = 4 << 10;

type Init = unsafe extern "C" fn(*mut IsalState);
type Run = unsafe extern "C" fn(*mut IsalState) -> i32;

#[derive(Clone, Copy)]
struct Functions {
    init: Init,
    inflate: Run,
}

/// Returns true if isa-l is here and works.
pub(super) fn is_available() -> bool {
    functions().is_some()
}

/// The functions, if they are there and have passed the self-test.
fn functions() -> Option<Functions> {
    static FUNCTIONS: ProcessValue<Option<Functions>> = ProcessValue::new();
    *FUNCTIONS.get_or_init(|| load().filter(|functions| passes_self_test(*functions)))
}

fn load() -> Option<Functions> {
    if !SUPPORTED {
        return None;
    }
    // SAFETY: loading runs the library's initialisers; those of libisal do nothing but what every
    // C library's do. The name has no path, so it comes from where the system keeps its libraries.
    let library = unsafe { Library::new(LIBRARY) }.ok()?;
    // SAFETY: `Init` is the signature of isal_inflate_init in igzip_lib.h, for all of version 2.
    let init = *unsafe { library.get::<Init>(b"isal_inflate_init\0") }.ok()?;
    // SAFETY: `Run` is the signature of isal_inflate in igzip_lib.h, for all of version 2.
    let inflate = *unsafe { library.get::<Run>(b"isal_inflate\0") }.ok()?;
    // The functions are used until the process ends, so the library is never unloaded.
    std::mem::forget(library);
    Some(Functions { init, inflate })
}

/// Returns true if it is here and its state tells where blocks begin.
pub(super) fn finds_places() -> bool {
    static FINDS: ProcessValue<bool> = ProcessValue::new();
    *FINDS.get_or_init(|| functions().is_some_and(|functions| resumes(functions).is_some()))
}

/// The state of one deflate stream.
pub(super) struct Inflate {
    functions: Functions,
    state: Box<IsalState>,
    /// The damage that the library found, while bytes from before it did not fit yet.
    broken: Option<&'static str>,
    /// A copy of the state before a piece in which a place is looked for.
    before: Option<Box<IsalState>>,
}

// SAFETY: the state is owned by the box, the library keeps nothing about it elsewhere, and the two
// pointers in it are used only during `run`, which sets them first.
unsafe impl Send for Inflate {}

impl Inflate {
    /// A stream at its start, if isa-l works here.
    pub(super) fn new() -> Option<Self> {
        functions().map(Self::with)
    }

    fn with(functions: Functions) -> Self {
        let mut state = Box::<MaybeUninit<IsalState>>::new(MaybeUninit::uninit());
        // SAFETY: the pointer is to one whole `IsalState`, which the box owns.
        unsafe { ptr::write_bytes(state.as_mut_ptr(), 0, 1) };
        // SAFETY: every byte was just set to zero, and zeros are a value of each field.
        let state = unsafe { state.assume_init() };
        let mut inflate = Inflate { functions, state, broken: None, before: None };
        inflate.reset();
        inflate
    }

    /// Makes ready for the next stream.
    pub(super) fn reset(&mut self) {
        self.broken = None;
        // SAFETY: the block is exclusively ours, zeroed or left by an earlier use of this library,
        // and larger than the `struct inflate_state` that the function sets up in it.
        unsafe { (self.functions.init)(&raw mut *self.state) };
    }

    /// Inflates `input` into the spare capacity of `output`; see `Inflater::inflate`.
    pub(super) fn inflate(&mut self, input: &[u8], output: &mut Vec<u8>) -> Inflated {
        if let Some(what) = self.broken {
            self.run(&[], output);
            return self.broken_at(what, 0, 0, output);
        }
        let (code, taken) = self.run(input, output);
        // Whole bytes that were taken into the bit buffer belong to what follows the stream.
        let returned = usize::try_from(self.state.read_in_length / 8).unwrap_or(0);
        if let Some(what) = damage(code) {
            return self.broken_at(what, taken, returned, output);
        }
        if self.state.block_state == BLOCK_FINISH {
            self.state.read_in_length = 0;
            return Inflated { taken, returned, outcome: InflateOutcome::Finished };
        }
        Inflated { taken, returned: 0, outcome: InflateOutcome::More }
    }

    /// Inflates a piece of `input`, less where a block begins in it that can be begun at; see `Inflater::inflate_to_place`.
    ///
    /// The library does not stop between blocks. But its tables show that a block has begun, and where its input ends inside of
    /// the header of one, it waits for the rest of the header. So the piece is halved until it does.
    pub(super) fn inflate_to_place(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> (Inflated, Option<DeflatePlace>) {
        let piece = input.get(..SEARCH_PIECE).unwrap_or(input);
        let len = output.len();
        self.keep_state();
        let inflated = self.inflate(piece, output);
        if inflated.outcome != InflateOutcome::More || !self.may_be_at_place(output) {
            return (inflated, None);
        }
        if let Some(place) = self.place() {
            return (inflated, Some(place));
        }
        if !self.has_begun_block() {
            return (inflated, None);
        }
        let (mut none_begun, mut begun) = (0, piece.len());
        while begun - none_begun > 1 {
            let half = none_begun + (begun - none_begun) / 2;
            self.restore_state();
            output.truncate(len);
            let inflated = self.inflate(piece.get(..half).unwrap_or_default(), output);
            if let Some(place) = self.place() {
                return (inflated, Some(place));
            }
            if self.has_begun_block() { begun = half } else { none_begun = half }
        }
        // No piece ended in the header: it is very short. The whole piece comes again.
        self.restore_state();
        output.truncate(len);
        (self.inflate(piece, output), None)
    }

    fn keep_state(&mut self) {
        match &mut self.before {
            Some(before) => **before = *self.state,
            before => *before = Some(self.state.clone()),
        }
    }

    fn restore_state(&mut self) {
        if let Some(before) = &self.before {
            *self.state = **before;
        }
    }

    /// Returns true if the tables have changed since the state was kept: a block has begun.
    fn has_begun_block(&self) -> bool {
        self.before.as_ref().is_some_and(|before| self.state.tables != before.tables)
    }

    /// Returns true if nothing is held back, so that the place of the state is the end of `output`.
    fn may_be_at_place(&self, output: &Vec<u8>) -> bool {
        output.len() < output.capacity() && self.broken.is_none()
    }

    /// The place that the state is at, if one can begin there.
    fn place(&self) -> Option<DeflatePlace> {
        let state = &*self.state;
        let buffered = u32::try_from(state.read_in_length).ok()?;
        let of_header = u32::try_from(state.tmp_in_size).ok()?;
        let unused_bits = buffered + 8 * of_header;
        match state.block_state {
            BLOCK_NEW | BLOCK_HEADER => Some(DeflatePlace { unused_bits, stored: None }),
            BLOCK_STORED if unused_bits % 8 == 0 && of_header == 0 => {
                let len = u16::try_from(state.type0_block_len).ok()?;
                let rest = StoredRest { len, is_last: state.bfinal != 0 };
                Some(DeflatePlace { unused_bits, stored: Some(rest) })
            }
            _ => None,
        }
    }

    /// Reports damage once everything from before it is out. The library keeps up to 64 KiB of that
    /// inside when the room runs out, and gives it away even after damage, as long as there is
    /// nothing left that it could go on to inflate.
    fn broken_at(
        &mut self,
        what: &'static str,
        taken: usize,
        returned: usize,
        output: &Vec<u8>,
    ) -> Inflated {
        self.state.read_in = 0;
        self.state.read_in_length = 0;
        let full = output.len() == output.capacity();
        self.broken = full.then_some(what);
        let outcome = if full { InflateOutcome::More } else { InflateOutcome::Broken(what) };
        Inflated { taken, returned, outcome }
    }

    /// Calls the library once. Answers its code and the bytes of `input` it took.
    fn run(&mut self, input: &[u8], output: &mut Vec<u8>) -> (i32, usize) {
        let room = output.spare_capacity_mut();
        let avail_in = u32::try_from(input.len()).unwrap_or(u32::MAX);
        let avail_out = u32::try_from(room.len()).unwrap_or(u32::MAX);
        self.state.next_in = input.as_ptr();
        self.state.avail_in = avail_in;
        self.state.next_out = room.as_mut_ptr().cast();
        self.state.avail_out = avail_out;
        // SAFETY: `reset` has set up the state, at least at first. The library reads at most
        // `avail_in` bytes at `next_in`, all in `input`, and writes at most `avail_out` bytes at
        // `next_out`, all in the spare capacity of `output`; both outlive the call, and neither
        // overlaps the state, which is borrowed exclusively.
        let code = unsafe { (self.functions.inflate)(&raw mut *self.state) };
        self.state.next_in = ptr::null();
        self.state.next_out = ptr::null_mut();
        let written = avail_out.saturating_sub(self.state.avail_out);
        let length = output.len() + written as usize;
        // SAFETY: the library has filled its output from the front, so `written` bytes of the spare
        // capacity, no more than there are, have a value.
        unsafe { output.set_len(length) };
        (code, avail_in.saturating_sub(self.state.avail_in) as usize)
    }
}

/// Describes what stands in the place of deflate data, for the codes that report damage.
fn damage(code: i32) -> Option<&'static str> {
    match code {
        0.. => None,
        -1 => Some("an invalid block header"),
        -2 => Some("an invalid symbol"),
        -3 => Some("a reference to before its start"),
        _ => Some("something else"),
    }
}

/// Inflates a known stream in pieces of several sizes: everything we rely on has to come out.
fn passes_self_test(functions: Functions) -> bool {
    let expected = self_test_output();
    let pieces = [(usize::MAX, usize::MAX), (1, usize::MAX), (usize::MAX, 4099), (7, 40_000)];
    pieces.into_iter().all(|(input_piece, output_piece)| {
        self_test(functions, &expected, input_piece, output_piece).unwrap_or(false)
    })
}

/// Inflates the known stream and goes on from each place that is found in it; `None` is a failure.
fn resumes(functions: Functions) -> Option<()> {
    let expected = self_test_output();
    let mut inflate = Inflate::with(functions);
    let (mut output, mut position) = (Vec::with_capacity(expected.len() + 1), 0_usize);
    let mut places = 0;
    for _ in 0..SELF_TEST_STREAM.len() {
        let rest = SELF_TEST_STREAM.get(position..)?;
        let piece = rest.get(..rest.len().min(100))?;
        let (step, place) = inflate.inflate_to_place(piece, &mut output);
        position = (position + step.taken).checked_sub(step.returned)?;
        if let Some(place) = place {
            let window = output.get(output.len().saturating_sub(32 << 10)..)?;
            let (first, state) = DeflateState::of(place, position as u64, window)?;
            let rest = SELF_TEST_STREAM.get(usize::try_from(first).ok()?..)?;
            let (prologue, _) = state.prologue(*rest.first()?).ok()?;
            let rest = rest.get(usize::from(state.takes_first_byte())..)?;
            let mut again = Inflate::with(functions);
            let mut resumed = Vec::with_capacity(expected.len() + 1);
            again.inflate(&prologue, &mut resumed);
            let end = again.inflate(rest, &mut resumed).outcome;
            let behind = expected.get(output.len() - window.len()..)?;
            if end != InflateOutcome::Finished || resumed != behind {
                return None;
            }
            places += 1;
        }
        if step.outcome == InflateOutcome::Finished {
            return (places > 0 && output == expected).then_some(());
        }
    }
    None
}

/// `None` or `false` is a failure.
fn self_test(
    functions: Functions,
    expected: &[u8],
    input_piece: usize,
    output_piece: usize,
) -> Option<bool> {
    let trailer = *b"trailers";
    let input = [SELF_TEST_STREAM, &trailer].concat();
    let mut inflate = Inflate::with(functions);
    let mut inflated = Vec::with_capacity(expected.len() + 1);
    let mut position = 0_usize;
    // Each turn takes or makes at least a byte, or the stream does not come out.
    for _ in 0..input.len() + expected.len() {
        let rest = input.get(position..)?;
        let rest = rest.get(..rest.len().min(input_piece))?;
        let mut piece = Vec::with_capacity(output_piece.min(expected.len() + 1));
        let step = inflate.inflate(rest, &mut piece);
        inflated.extend_from_slice(&piece);
        position = (position + step.taken).checked_sub(step.returned)?;
        match step.outcome {
            InflateOutcome::Finished => {
                return Some(inflated == expected && input.get(position..)? == trailer);
            }
            InflateOutcome::More if inflated.len() <= expected.len() => {}
            InflateOutcome::More | InflateOutcome::Broken(_) => return None,
        }
    }
    None
}

/// Returns the output of [`SELF_TEST_STREAM`]: 70 000 bytes that repeat from near, then from far.
fn self_test_output() -> Vec<u8> {
    let mut seed = 1_u32;
    let mut output = Vec::with_capacity(70_000);
    for index in 0..70_000_usize {
        let distance = if index < 33_000 { 32 } else { 32_768 };
        let byte = match index.checked_sub(distance).and_then(|earlier| output.get(earlier)) {
            _ if index >= 32 && index % 4099 == 0 => (index / 4099).to_le_bytes()[0],
            Some(byte) => *byte,
            None => {
                seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7fff_ffff;
                (seed >> 16).to_le_bytes()[0]
            }
        };
        output.push(byte);
    }
    output
}

/// Two dynamic blocks of deflate with an empty stored one between them, made by zlib at level 9.
#[rustfmt::skip]
const SELF_TEST_STREAM: &[u8] = &[
    0xec, 0xc9, 0x21, 0x0e, 0x82, 0x00, 0x14, 0x00, 0xd0, 0x21, 0x2a, 0x91, 0x0b, 0x78, 0x09, 0xbb,
    0x9d, 0x60, 0x75, 0x6e, 0x5c, 0x00, 0x83, 0x8d, 0xcc, 0xdc, 0x4c, 0x70, 0x16, 0xee, 0xc0, 0x6c,
    0x1c, 0x43, 0x07, 0x87, 0xa0, 0x50, 0xec, 0x1e, 0xc1, 0xff, 0x5e, 0x7d, 0xe3, 0xe3, 0x79, 0x3f,
    0xaf, 0xf3, 0x7a, 0x59, 0x86, 0x4f, 0x73, 0x98, 0xda, 0xe4, 0x75, 0x7c, 0x5f, 0xeb, 0xbc, 0xb8,
    0x55, 0x6d, 0xd9, 0x77, 0xa7, 0x72, 0xf4, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xfd,
    0x3f, 0x7c, 0xe2, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0xfb, 0x08, 0xbf, 0xf1, 0xde,
    0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0x7d, 0x84, 0x4f, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd,
    0xf7, 0xde, 0x7b, 0x1f, 0xe1, 0xb7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0x8f,
    0xf0, 0x3b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x47, 0xf8, 0xbd, 0xf7, 0xde,
    0x7b, 0xef, 0xbd, 0xf7, 0xde, 0x7b, 0xef, 0x23, 0x7c, 0xe6, 0xbd, 0xf7, 0xfe, 0xf7, 0xbf, 0x00,
    0x00, 0x00, 0xff, 0xff, 0xed, 0xdd, 0xb9, 0x09, 0x80, 0x00, 0x00, 0x04, 0x41, 0xcc, 0xfc, 0x9f,
    0xfe, 0x9b, 0xb5, 0x82, 0x43, 0x30, 0x92, 0x73, 0xe2, 0x29, 0x61, 0x83, 0xe5, 0x9c, 0x73, 0xce,
    0x39, 0xe7, 0xbc, 0xd1, 0xc7, 0x36, 0xf7, 0x7f, 0xe4, 0x9c, 0x73, 0xce, 0x39, 0xe7, 0x9c, 0x73,
    0xfe, 0x6f, 0x4f, 0x7f, 0xc0, 0xc9, 0x1f, 0x91, 0x73, 0xce, 0x39, 0xe7, 0x9c, 0x73, 0xce, 0x39,
    0x6f, 0xf2, 0xd4, 0xc7, 0x67, 0x7f, 0x44, 0xce, 0x39, 0xe7, 0x9c, 0x73, 0xce, 0x39, 0xe7, 0xbc,
    0xc9, 0xd3, 0x1f, 0x70, 0xf1, 0x47, 0xe4, 0x9c, 0x73, 0xce, 0x39, 0xe7, 0x9c, 0x73, 0xce, 0x9b,
    0x3c, 0xfd, 0x01, 0x57, 0x7f, 0x44, 0xce, 0x39, 0xe7, 0x9c, 0x73, 0xce, 0x39, 0xe7, 0xbc, 0xc9,
    0xd3, 0x1f, 0x70, 0xf3, 0x47, 0xe4, 0x9c, 0x73, 0xce, 0x39, 0xe7, 0x9c, 0x73, 0xce, 0x9b, 0x3c,
    0xfd, 0x01, 0x77, 0x7f, 0x44, 0xce, 0x39, 0xe7, 0x9c, 0x73, 0xce, 0x39, 0xe7, 0xbc, 0xc9, 0xd3,
    0x1f, 0xf0, 0xf0, 0x47, 0xe4, 0x9c, 0x73, 0xce, 0x39, 0xe7, 0x9c, 0x73, 0xce, 0x9b, 0x7c, 0x0c,
    0x7e, 0x3e, 0xf8, 0xf0, 0x55, 0xf7, 0x7f, 0xe4, 0x9c, 0x73, 0xce, 0x39, 0xe7, 0x9c, 0x73, 0xfe,
    0x6f, 0x4f, 0x7f, 0xc0, 0x29, 0xf8, 0xe5, 0x9f, 0xf8, 0xde, 0x6f,
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_self_test_stream_is_what_zlib_makes_of_it_too() {
        let mut output = Vec::with_capacity(80_000);
        let mut decompress = flate2::Decompress::new(false);
        let flush = flate2::FlushDecompress::Finish;
        let status = decompress.decompress_vec(SELF_TEST_STREAM, &mut output, flush).unwrap();
        assert_eq!(status, flate2::Status::StreamEnd);
        assert!(output == self_test_output());
    }

    #[test]
    fn a_library_that_is_there_passes_the_self_test() {
        if let Some(functions) = load() {
            assert!(passes_self_test(functions));
            assert!(resumes(functions).is_some());
        } else {
            eprintln!("skipped: no {LIBRARY}");
        }
    }

    #[test]
    fn a_library_that_does_nothing_fails_the_self_test() {
        unsafe extern "C" fn init(_: *mut IsalState) {}
        unsafe extern "C" fn inflate(_: *mut IsalState) -> i32 {
            0
        }
        assert!(!passes_self_test(Functions { init, inflate }));
    }
}
