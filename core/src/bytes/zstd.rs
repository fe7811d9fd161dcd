//! Zstandard frames, one after another, by the zstd library.

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use crate::error::{Error, ErrorKind, Result};

use super::input::{Input, Supply};
use super::seek_point::SeekMarker;

// Bound (Streams): zstd window = 2^31 bytes, as the frame asks for; 2^30 on systems of 32 bits.
/// As a power of two: all that a 64-bit zstd can do. `zstd` itself takes more than 27 only when asked to, but a file that needs
/// it is not a wrong file.
const WINDOW_LOG_MAX: u32 = if cfg!(target_pointer_width = "64") { 31 } else { 30 };
/// Bytes of a frame that tell how long its header is.
const FRAME_START: usize = 5;
const BLOCK_HEADER: usize = 3;
/// Raw bytes to have at hand for one block and the header of the next.
const BLOCK_MAX: usize = (128 << 10) + BLOCK_HEADER;

const WINDOW_TOO_LARGE: usize = 16;
const CHECKSUM_WRONG: usize = 22;

/// Takes zstd apart, frame by frame.
pub(super) struct ZstdDecoder {
    context: DCtx<'static>,
    /// Raw bytes until the end of the block (or header) that is next.
    wanted: usize,
    in_frame: bool,
    /// The room ran out in the last call, so the library may hold bytes back.
    holds_back: bool,
    /// Memory of the context, asked for once in a call of [`ZstdDecoder::decode`].
    memory_bytes: usize,
    pauses: bool,
    marker: Option<Box<SeekMarker>>,
}

impl ZstdDecoder {
    pub(super) fn new() -> Result<Self> {
        let failed = || Error::internal("zstd cannot be set up");
        let mut context = DCtx::try_create().ok_or_else(failed)?;
        context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).map_err(|_| failed())?;
        Ok(ZstdDecoder {
            context,
            wanted: FRAME_START,
            in_frame: false,
            holds_back: false,
            memory_bytes: 0,
            pauses: false,
            marker: None,
        })
    }

    /// Begins anew, with the memory that it has.
    pub(super) fn restart(&mut self) -> Result<()> {
        let reset = self.context.reset(ResetDirective::SessionOnly);
        reset.map_err(|_| Error::internal("zstd cannot begin anew"))?;
        (self.wanted, self.in_frame, self.holds_back) = (FRAME_START, false, false);
        Ok(())
    }

    /// Finds places at which another decoder can begin, from here on.
    pub(super) fn mark(&mut self, marker: SeekMarker) {
        self.marker = Some(Box::new(marker));
    }

    /// The places that were found.
    pub(super) fn marker(&mut self) -> Option<&mut SeekMarker> {
        self.marker.as_deref_mut()
    }

    /// Lets [`ZstdDecoder::decode`] return behind each frame.
    pub(super) fn pause_behind_frames(&mut self) {
        self.pauses = true;
    }

    /// Returns true if a frame, or the end, comes next.
    pub(super) fn is_between_frames(&self) -> bool {
        !self.in_frame
    }

    /// Memory that it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Appends to the spare capacity of `output`, at least a byte; `false` is the end. It goes on
    /// until there is no more room, or until it would have to wait. After an error, `output` has all
    /// that comes before it.
    pub(super) fn decode(&mut self, input: &mut Input, output: &mut Vec<u8>) -> Result<bool> {
        let before = output.len();
        while output.len() < output.capacity() {
            // Bytes that are held back come out by themselves, and must: see `step`.
            let wanted = if self.holds_back {
                0
            } else {
                match self.supply(input, output.len() == before)? {
                    Supply::Ready => self.one_block(),
                    Supply::Later => break,
                    Supply::Ended => return Ok(output.len() > before),
                }
            };
            self.step(input, wanted, output)?;
            if let Some(marker) = &mut self.marker
                && !self.in_frame
            {
                marker.at_boundary(output.len(), input.offset());
            }
            if self.pauses && !self.in_frame {
                break;
            }
        }
        self.memory_bytes = self.context.sizeof();
        Ok(true)
    }

    /// Makes sure of a byte of input, and of a whole block where that takes no waiting.
    fn supply(&self, input: &mut Input, may_wait: bool) -> Result<Supply> {
        let supply = input.supply(1, may_wait)?;
        if supply == Supply::Ended && self.in_frame {
            let kind = ErrorKind::Truncated { needed: self.wanted as u64, available: 0 };
            let message = "expected more of a zstd frame, found the end of the input";
            return Err(input.error_at(input.offset(), &Error::new(kind, message)));
        }
        if supply == Supply::Ready {
            input.supply(self.wanted.min(BLOCK_MAX), false)?;
        }
        Ok(supply)
    }

    /// Bytes of the block that is next. What the library asks for has the header of the block behind
    /// it too, and where that is damaged it would take the good block with it.
    fn one_block(&self) -> usize {
        match self.wanted.checked_sub(BLOCK_HEADER) {
            Some(block) if block > 0 && self.in_frame => block,
            _ => self.wanted.max(1),
        }
    }

    /// Decompresses at most `wanted` bytes of input, which end where a block ends: a call that fails
    /// loses what it had decompressed before, so each gets one block and nothing else.
    fn step(&mut self, input: &mut Input, wanted: usize, output: &mut Vec<u8>) -> Result<()> {
        let bytes = input.bytes();
        let mut raw = InBuffer::around(bytes.get(..wanted.min(bytes.len())).unwrap_or_default());
        let before = output.len();
        let mut room = OutBuffer::around_pos(output, before);
        let answer = self.context.decompress_stream(&mut room, &mut raw);
        let taken = raw.pos();
        let wanted = answer.map_err(|code| self.error(input, code))?;
        let made = output.len() > before;
        let held_back = self.holds_back;
        self.holds_back = output.len() == output.capacity();
        if taken == 0 && !made && !held_back {
            let error = Error::internal("zstd makes no progress");
            return Err(input.error_at(input.offset(), &error));
        }
        if wanted == 0 {
            self.in_frame = false;
            self.wanted = FRAME_START;
        } else {
            self.in_frame |= taken > 0;
            self.wanted = wanted;
        }
        input.advance(taken);
        Ok(())
    }

    fn error(&self, input: &Input, code: usize) -> Error {
        let found = zstd_safe::get_error_name(code);
        let number = code.wrapping_neg();
        let error = if number == WINDOW_TOO_LARGE {
            let message = format!(
                "expected a zstd window of at most 2^{WINDOW_LOG_MAX} bytes, found a larger one"
            );
            Error::new(ErrorKind::Limit, message)
        } else if number == CHECKSUM_WRONG {
            Error::format("the zstd frame's checksum over its bytes", "another one")
        } else if self.in_frame {
            Error::format("data of a zstd frame", format_args!("something else ({found})"))
        } else {
            let start = input.bytes().get(..FRAME_START.min(input.bytes().len()));
            Error::format(
                "a zstd frame or the end",
                format_args!("{:02x?} ({found})", start.unwrap_or_default()),
            )
        };
        input.error_at(input.offset(), &error)
    }
}

/// The length of the frame that `bytes` begin with, and that of its content where the frame says it; none where it is not
/// all there.
pub(super) fn guess_frame(bytes: &[u8]) -> Option<(usize, usize)> {
    let size = zstd_safe::find_frame_compressed_size(bytes).ok()?;
    let content = zstd_safe::get_frame_content_size(bytes).ok().flatten();
    // Decompressing finds out a length that is not known.
    let content = content.map_or(Some(size), |content| usize::try_from(content).ok())?;
    Some((size, content))
}
