//! gzip's members (RFC 1952) around raw deflate data: headers, checksums, and what may follow.
//!
//! Written here and not left to a backend, so that both backends say the same about damage, and so
//! that checksums are always compared.

use crate::error::{Error, ErrorKind, Result};
use crate::wire::{Endian, Reader};

use super::inflate::{InflateBackend, InflateOutcome, Inflated, Inflater};
use super::input::{Input, Supply};
use super::seek_point::{DeflateState, SeekMarker, WINDOW_LEN};

const MAGIC: [u8; 2] = [0x1f, 0x8b];
const DEFLATE: u8 = 8;
const TRAILER_SIZE: usize = 8;
// Bound (Streams): text in a gzip header = 64 KiB.
/// RFC 1952 knows no limit for file names and comments; nobody needs more.
const TEXT_MAX: usize = 64 << 10;

const FLAG_HEADER_CRC: u8 = 1 << 1;
const FLAG_EXTRA: u8 = 1 << 2;
const FLAG_NAME: u8 = 1 << 3;
const FLAG_COMMENT: u8 = 1 << 4;
const FLAGS_RESERVED: u8 = 0b1110_0000;

/// Part of the input that is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Header,
    Deflate,
    Trailer,
    /// Another header, zeros, or the end.
    AfterMember,
}

/// Takes gzip apart, member by member.
pub(super) struct GzipDecoder {
    inflater: Inflater,
    next: Next,
    /// The room ran out in the last call, so the inflater may hold bytes back.
    holds_back: bool,
    /// The checksum and length of what the current member has inflated to.
    crc: crc32fast::Hasher,
    size: u32,
    pauses: bool,
    marker: Option<Box<SeekMarker>>,
}

impl GzipDecoder {
    pub(super) fn new(backend: InflateBackend) -> Self {
        GzipDecoder {
            inflater: Inflater::new(backend),
            next: Next::Header,
            holds_back: false,
            crc: crc32fast::Hasher::new(),
            size: 0,
            pauses: false,
            marker: None,
        }
    }

    /// Finds places at which another decoder can begin, from here on.
    pub(super) fn mark(&mut self, marker: SeekMarker) {
        self.marker = Some(Box::new(marker));
    }

    /// The places that were found.
    pub(super) fn marker(&mut self) -> Option<&mut SeekMarker> {
        self.marker.as_deref_mut()
    }

    /// Goes on inside of a member, whose next byte is `first`; says whether the decoder has taken that byte.
    ///
    /// # Errors
    /// `Format` where the state is none.
    pub(super) fn resume(&mut self, state: &DeflateState, first: u8) -> Result<bool> {
        let (prologue, len) = state.prologue(first)?;
        self.inflater.reset();
        let mut window = Vec::with_capacity(WINDOW_LEN + 1);
        let inflated = self.inflater.inflate(&prologue, &mut window);
        let is_there = inflated.outcome == InflateOutcome::More
            && (inflated.taken, window.len()) == (prologue.len(), len);
        // The few bits of a byte may end the member.
        let has_ended = inflated.outcome == InflateOutcome::Finished && state.takes_first_byte();
        if !is_there && !has_ended {
            return Err(Error::format("a place in deflate data", "something else"));
        }
        self.next = if has_ended { Next::Trailer } else { Next::Deflate };
        self.holds_back = false;
        self.crc = crc32fast::Hasher::new_with_initial_len(state.crc, state.len.into());
        self.size = state.len;
        if let Some(marker) = &mut self.marker {
            marker.keep(&window);
        }
        Ok(state.takes_first_byte())
    }

    /// Lets [`GzipDecoder::decode`] return where another member follows.
    pub(super) fn pause_behind_members(&mut self) {
        self.pauses = true;
    }

    /// Returns true if a member, or what follows the last one, begins at the next byte.
    pub(super) fn is_between_members(&self) -> bool {
        matches!(self.next, Next::Header | Next::AfterMember)
    }

    /// Says that the input goes on behind a member that this has not seen.
    pub(super) fn pass_members(&mut self) {
        self.next = Next::AfterMember;
    }

    /// Returns true if deflate data has just ended that has inflated to bytes of this checksum and length.
    pub(super) fn ends_deflate_with(&self, crc: u32, size: u32) -> bool {
        self.next == Next::Trailer && (self.crc.clone().finalize(), self.size) == (crc, size)
    }

    /// Memory that it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.inflater.memory_bytes()
    }

    pub(super) fn backend(&self) -> InflateBackend {
        self.inflater.backend()
    }

    /// Appends to the spare capacity of `output`, at least a byte; `false` is the end. It goes on
    /// until there is no more room, or until it would have to wait. After an error, `output` has all
    /// that comes before it.
    pub(super) fn decode(&mut self, input: &mut Input, output: &mut Vec<u8>) -> Result<bool> {
        let before = output.len();
        while output.len() < output.capacity() {
            let supply = match self.next {
                Next::Header => self.header(input, output.len() == before)?,
                Next::Deflate => self.deflate(input, output, before)?,
                Next::Trailer => self.trailer(input, output.len() == before)?,
                Next::AfterMember => self.after_member(input, output.len() == before)?,
            };
            if let (Some(marker), Supply::Ready, Next::Header) =
                (&mut self.marker, supply, self.next)
            {
                marker.at_boundary(output.len(), input.offset());
            }
            match supply {
                Supply::Ready if self.pauses && self.next == Next::Header => break,
                Supply::Ready => {}
                Supply::Later => break,
                Supply::Ended => return Ok(output.len() > before),
            }
        }
        Ok(true)
    }

    fn header(&mut self, input: &mut Input, may_wait: bool) -> Result<Supply> {
        loop {
            let needed = match parse_header(input.bytes()) {
                Ok(GzipHeader::Whole(length)) => {
                    input.advance(length);
                    self.inflater.reset();
                    self.crc = crc32fast::Hasher::new();
                    self.size = 0;
                    self.holds_back = false;
                    self.next = Next::Deflate;
                    return Ok(Supply::Ready);
                }
                Ok(GzipHeader::Short(needed)) => needed,
                Err(error) => {
                    let offset = input.offset() + error.offset().unwrap_or(0);
                    return Err(input.error_at(offset, &error));
                }
            };
            match input.supply(needed, may_wait)? {
                Supply::Ready => {}
                Supply::Later => return Ok(Supply::Later),
                Supply::Ended => return Err(truncated(input, "a gzip header", needed)),
            }
        }
    }

    fn deflate(&mut self, input: &mut Input, output: &mut Vec<u8>, start: usize) -> Result<Supply> {
        if !self.holds_back && input.supply(1, output.len() == start)? == Supply::Later {
            return Ok(Supply::Later);
        }
        let before = output.len();
        let (Inflated { taken, returned, outcome }, place) = match &self.marker {
            Some(marker) if marker.wants_place(before, input.offset()) => {
                self.inflater.inflate_to_place(input.bytes(), output)
            }
            marker => {
                let reach = marker.as_ref().map(|marker| marker.reach(before, input.offset()));
                let bytes = input.bytes();
                let bytes = reach.and_then(|reach| bytes.get(..reach)).unwrap_or(bytes);
                (self.inflater.inflate(bytes, output), None)
            }
        };
        let inflated = output.get(before..).unwrap_or_default();
        self.crc.update(inflated);
        // The trailer has the length modulo 2^32.
        self.size = self.size.wrapping_add(inflated.len() as u32);
        let made = !inflated.is_empty();
        if let Some(marker) = &mut self.marker {
            marker.keep_near(inflated, output.len(), input.offset());
            if let Some(place) = place {
                let (taken, crc) = (input.offset() + taken as u64, self.crc.clone().finalize());
                marker.at_place(output.len(), taken, place, crc, self.size);
            }
        }
        let held_back = self.holds_back;
        self.holds_back = output.len() == output.capacity();
        input.advance(taken);
        if !input.give_back(returned) {
            return Err(Error::internal("more bytes given back than were taken"));
        }
        match outcome {
            InflateOutcome::Finished => self.next = Next::Trailer,
            InflateOutcome::Broken(found) => {
                let error = Error::format("deflate data of a gzip member", found);
                return Err(input.error_at(input.offset(), &error));
            }
            InflateOutcome::More if made || taken > 0 || held_back => {}
            InflateOutcome::More if input.bytes().is_empty() => {
                let kind = ErrorKind::Truncated { needed: 1, available: 0 };
                let message =
                    "expected more deflate data of a gzip member, found the end of the input";
                return Err(input.error_at(input.offset(), &Error::new(kind, message)));
            }
            InflateOutcome::More => {
                let message = format!("{} makes no progress", self.backend());
                return Err(input.error_at(input.offset(), &Error::internal(message)));
            }
        }
        Ok(Supply::Ready)
    }

    fn trailer(&mut self, input: &mut Input, may_wait: bool) -> Result<Supply> {
        let supply = input.supply(TRAILER_SIZE, may_wait)?;
        if supply == Supply::Later {
            return Ok(supply);
        }
        let mut reader = Reader::new(input.bytes());
        let (Some(crc), Some(size)) = (reader.u32(Endian::Little), reader.u32(Endian::Little))
        else {
            return Err(truncated(input, "a gzip trailer", TRAILER_SIZE));
        };
        let crc_found = self.crc.clone().finalize();
        if crc != crc_found {
            let error = Error::format(
                format_args!("a gzip member's CRC-32 {crc:#010x}"),
                format_args!("{crc_found:#010x} over its bytes"),
            );
            return Err(input.error_at(input.offset(), &error));
        }
        if size != self.size {
            let error = Error::format(
                format_args!("a gzip member of {size} bytes modulo 2^32"),
                format_args!("{}", self.size),
            );
            return Err(input.error_at(input.offset() + 4, &error));
        }
        input.advance(TRAILER_SIZE);
        self.next = Next::AfterMember;
        Ok(Supply::Ready)
    }

    fn after_member(&mut self, input: &mut Input, may_wait: bool) -> Result<Supply> {
        let supply = input.supply(1, may_wait)?;
        if supply != Supply::Ready {
            return Ok(supply);
        }
        let bytes = input.bytes();
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        if zeros > 0 {
            // Padding, as a tape leaves it.
            input.advance(zeros);
            return Ok(Supply::Ready);
        }
        if !bytes.iter().zip(MAGIC).all(|(byte, magic)| *byte == magic) {
            let found = bytes.get(..bytes.len().min(4)).unwrap_or_default();
            let error = Error::format(
                "another gzip member, zeros or the end after a gzip member",
                format_args!("{found:02x?}"),
            );
            return Err(input.error_at(input.offset(), &error));
        }
        self.next = Next::Header;
        Ok(Supply::Ready)
    }
}

fn truncated(input: &Input, what: &str, needed: usize) -> Error {
    let available = input.bytes().len() as u64;
    input.error_at(input.offset(), &Error::truncated(what, needed as u64, available))
}

/// The fewest bytes of a member, and of what [`block_size`] looks at.
pub(super) const MEMBER_MIN: usize = 18;

/// The length of the member that `bytes` begin with, as far as can be guessed, and that of its content. If `searches`, the
/// header of another member is looked for where the size is not known; `has_ended` says that nothing follows `bytes`.
pub(super) fn guess_member(
    bytes: &[u8],
    has_ended: bool,
    searches: bool,
) -> Option<(usize, usize)> {
    if !matches!(parse_header(bytes), Ok(GzipHeader::Whole(_) | GzipHeader::Short(_))) {
        return None;
    }
    if let Some(size) = block_size(bytes) {
        return Some((size, content_size(bytes, size)?));
    }
    if !searches {
        return None;
    }
    let behind = bytes.get(MEMBER_MIN..)?;
    let is_next = |at: &usize| {
        let follows = behind.get(*at..).unwrap_or_default();
        let is_header =
            matches!(parse_header(follows), Ok(GzipHeader::Whole(_) | GzipHeader::Short(_)));
        is_header && follows.len() > 3 && content_size(bytes, MEMBER_MIN + at).is_some()
    };
    let next = memchr::memmem::find_iter(behind, &[MAGIC[0], MAGIC[1], DEFLATE]).find(is_next);
    let end = match next {
        Some(at) => MEMBER_MIN + at,
        None if has_ended => bytes.len(),
        None => return None,
    };
    Some((end, content_size(bytes, end)?))
}

/// The size of the member that `bytes` begin with, where bgzip has written it into the header
/// (<https://samtools.github.io/hts-specs/SAMv1.pdf>, section 4.1).
pub(super) fn block_size(bytes: &[u8]) -> Option<usize> {
    let mut reader = Reader::new(bytes);
    let [_, _, _, flags] = reader.array()?;
    if flags & FLAG_EXTRA == 0 {
        return None;
    }
    reader.take(6)?;
    let extra_len = reader.u16(Endian::Little)?;
    let mut extra = Reader::new(reader.take(extra_len.into())?);
    loop {
        let name: [u8; 2] = extra.array()?;
        let len = extra.u16(Endian::Little)?;
        let value = extra.take(len.into())?;
        if name == *b"BC" {
            let size = usize::from(Reader::new(value).u16(Endian::Little)?) + 1;
            return (len == 2 && size > MEMBER_MIN).then_some(size);
        }
    }
}

/// The length of the content of the member that is the first `size` of `bytes`, as its trailer has it; none where that
/// cannot be.
fn content_size(bytes: &[u8], size: usize) -> Option<usize> {
    /// Deflate makes at most so many bytes of one.
    const RATIO_MAX: usize = 1032;
    let trailer = bytes.get(..size)?.last_chunk::<4>()?;
    let content = u32::from_le_bytes(*trailer) as usize;
    (content <= size.saturating_mul(RATIO_MAX)).then_some(content)
}

/// A header as far as it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GzipHeader {
    /// All of it: its length.
    Whole(usize),
    /// At least this many bytes are needed to go on.
    Short(usize),
}

/// Measures the header that `bytes` begins with. Offsets of errors count from its start.
fn parse_header(bytes: &[u8]) -> Result<GzipHeader> {
    let mut reader = Reader::new(bytes);
    let Some([magic_0, magic_1, method, flags]) = reader.array() else {
        return Ok(GzipHeader::Short(10));
    };
    if [magic_0, magic_1] != MAGIC {
        let found = [magic_0, magic_1];
        return Err(Error::format("a gzip header (1f 8b)", format_args!("{found:02x?}")).at(0));
    }
    if method != DEFLATE {
        return Err(Error::format("gzip's compression method 8 (deflate)", method).at(2));
    }
    if flags & FLAGS_RESERVED != 0 {
        let found = format_args!("{flags:#010b}");
        return Err(Error::format("gzip header flags without the reserved bits", found).at(3));
    }
    // Time, extra flags and operating system.
    if reader.take(6).is_none() {
        return Ok(GzipHeader::Short(10));
    }
    if flags & FLAG_EXTRA != 0 {
        let Some(length) = reader.u16(Endian::Little) else {
            return Ok(GzipHeader::Short(reader.position_in(bytes) + 2));
        };
        if reader.take(usize::from(length)).is_none() {
            return Ok(GzipHeader::Short(reader.position_in(bytes) + usize::from(length)));
        }
    }
    for (flag, what) in [(FLAG_NAME, "a gzip file name"), (FLAG_COMMENT, "a gzip comment")] {
        if flags & flag != 0 && !skip_text(bytes, &mut reader, what)? {
            return Ok(GzipHeader::Short(bytes.len() + 1));
        }
    }
    if flags & FLAG_HEADER_CRC != 0 {
        let covered = bytes.get(..reader.position_in(bytes)).unwrap_or_default();
        let offset = reader.position_in(bytes);
        let Some(crc) = reader.u16(Endian::Little) else {
            return Ok(GzipHeader::Short(offset + 2));
        };
        let [low, high, ..] = crc32fast::hash(covered).to_le_bytes();
        let crc_found = u16::from_le_bytes([low, high]);
        if crc != crc_found {
            let error = Error::format(
                format_args!("a gzip header's CRC-16 {crc:#06x}"),
                format_args!("{crc_found:#06x} over its bytes"),
            );
            return Err(error.at(offset as u64));
        }
    }
    Ok(GzipHeader::Whole(reader.position_in(bytes)))
}

/// Passes a text of `header` that ends with a zero; `false` where the zero is not there yet.
fn skip_text(header: &[u8], reader: &mut Reader<'_>, what: &str) -> Result<bool> {
    let text = reader.rest();
    let bounded = text.get(..text.len().min(TEXT_MAX)).unwrap_or_default();
    match bounded.iter().position(|byte| *byte == 0) {
        Some(length) => Ok(reader.take(length + 1).is_some()),
        None if bounded.len() < TEXT_MAX => Ok(false),
        None => {
            let start = reader.position_in(header) as u64;
            Err(Error::limit(what, TEXT_MAX as u64, text.len() as u64 + 1).at(start))
        }
    }
}
