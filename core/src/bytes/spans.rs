//! Spans of compressed input between places at which reading can begin, decompressed side by side.
//!
//! The places come from an index, which may be wrong: of another file, or of what the file was before somebody changed it. So
//! a span counts only if the one before it has led to exactly its beginning: the same offset, bit, checksum and window. To see
//! that, a thread decompresses the raw bytes up to the place and, behind them, the few bits of an empty last block: only a
//! decoder that is at the end of a block there ends with them. Where it does not, one decoder reads on from the last place
//! that counted, as it does without an index. So the bytes, the errors and their offsets are the same.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::workers::{TaskOutput, WorkerLimits, Workers};

use super::byte_stream::{ByteStream, StreamOptions};
use super::compression::{Compression, CompressionChoice};
use super::inflate::InflateBackend;
use super::seek_point::{DeflateState, Resume, SeekPoint, WINDOW_LEN};
use super::source::{Cancel, Source};
use super::unread_bytes::UnreadBytes;

// Bound (Streams): spans between places of an index or seek table decompressed ahead = one more than there are threads,
// of each 9 MiB, whose memory serves again, and what its decoder takes.
/// More make the thread of a span wait.
const WAITING_LEN: usize = 9 << 20;

/// Bytes of a piece, about: as many pieces as may wait are used again, because memory that the system takes back and gives anew
/// costs more than to decompress into it.
const PIECE_LEN: usize = 256 << 10;

/// Bytes that are held back: what the bits behind the raw bytes may make; where the end is near also the window, and the
/// rest of a stored block.
const HELD_LEN: usize = 8 << 10;
const HELD_LEN_NEAR_END: usize = HELD_LEN + WINDOW_LEN + (64 << 10);

/// An empty block with fixed codes, the last of its member: its bits from the lowest on, and their number.
const LAST_BLOCK: (u32, u32) = (0b011, 10);

/// Places of an input at which reading can begin, in their order. The first is its beginning.
pub(crate) trait SeekPlaces: Send {
    /// Returns the offset in the decompressed stream of the place with an index; none behind the last one.
    fn position(&self, index: usize) -> Option<u64>;

    /// Returns the place; none where it is damaged.
    fn place(&self, index: usize) -> Option<SeekPoint>;
}

/// Makes the streams that read spans.
#[derive(Debug, Clone)]
pub(super) struct SpanReader {
    pub(super) name: String,
    pub(super) compression: Compression,
    pub(super) backend: InflateBackend,
    pub(super) cancel: Cancel,
    /// Streams that have read a span: their memory serves for the next ones.
    pub(super) idle: IdleStreams,
}

/// Streams that nobody reads, one for each thread at most.
pub(super) type IdleStreams = Arc<Mutex<Vec<ByteStream>>>;

/// Bounds of the spans that are under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpanLimits {
    pub(super) threads: usize,
    /// Decompressed bytes of a span at least, so that beginning it costs little.
    pub(super) span: u64,
}

/// Decompresses an input span by span, some of them ahead on other threads.
pub(super) struct Spans {
    reader: SpanReader,
    source: Box<dyn Source>,
    places: Box<dyn SeekPlaces>,
    workers: Workers<SpanPiece>,
    limits: SpanLimits,
    /// The place at which the next span begins that is given to the threads, and its index.
    next: Option<(usize, SeekPoint)>,
    /// Spans that are under way: their task, and where they begin.
    spans: VecDeque<(usize, SeekPoint)>,
    tasks: usize,
    /// The piece that is handed on, and the number of its bytes that were.
    piece: Piece,
    /// Offset in the decompressed stream behind what was handed on.
    position: u64,
    /// Beginning of the span before the first one.
    previous: SeekPoint,
    /// The one decoder, where it reads what is left.
    rest: Option<RestReader>,
    has_ended: bool,
}

/// Reads what is left by one decoder.
struct RestReader {
    stream: Option<Box<ByteStream>>,
    /// Places from which it can be read, until one was gone to, the best first.
    places: VecDeque<SeekPoint>,
}

/// Message of a thread about a span, sent in this order.
enum SpanPiece {
    Bytes(Piece),
    /// It ends where the next one begins.
    Met,
    /// It does not, or cannot be read.
    Unmet,
    /// It ends with the input, or its damage.
    End(Result<()>),
}

/// Decompressed bytes: those of a buffer from `start` to `end`.
#[derive(Default)]
struct Piece {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl SpanReader {
    fn stream(&self, source: Box<dyn Source>) -> ByteStream {
        let options = StreamOptions {
            compression: CompressionChoice::Is(self.compression),
            cancel: Some(self.cancel.clone()),
            ..StreamOptions::default()
        };
        ByteStream::unread(source, &self.name, &options).with_backend(self.backend)
    }

    /// A stream that is at a place.
    fn stream_at(&self, source: Box<dyn Source>, place: &SeekPoint) -> Result<ByteStream> {
        if place.position == 0 {
            return Ok(self.stream(source));
        }
        let mut stream = match self.idle().pop() {
            Some(mut idle) => {
                idle.go_on_with(source, place)?;
                return Ok(idle);
            }
            None => self.stream(source),
        };
        stream.seek_to_point(place)?;
        Ok(stream)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<ByteStream>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spans {
    /// Reads `source` by its places; none where that is not worth its while, or there are no threads.
    pub(super) fn start(
        reader: SpanReader,
        source: Box<dyn Source>,
        places: Box<dyn SeekPlaces>,
        limits: SpanLimits,
    ) -> Option<Self> {
        let beginning = SeekPoint::beginning();
        place_behind(&*places, 0, limits.span)?;
        let SpanLimits { threads, .. } = limits;
        let tasks = threads + 1;
        let spares = tasks * (WAITING_LEN / PIECE_LEN);
        let limits_of_work = WorkerLimits { threads, tasks, weight: WAITING_LEN, spares };
        let workers = Workers::start(limits_of_work).ok()?;
        Some(Spans {
            reader,
            source,
            places,
            workers,
            limits,
            next: Some((0, beginning.clone())),
            spans: VecDeque::new(),
            tasks: 0,
            piece: Piece::default(),
            position: 0,
            previous: beginning,
            rest: None,
            has_ended: false,
        })
    }

    pub(super) fn compression(&self) -> Compression {
        self.reader.compression
    }

    /// Memory that it takes, its threads not counted.
    pub(super) fn memory_bytes(&self) -> usize {
        let rest = self.rest.as_ref().and_then(|rest| rest.stream.as_ref());
        self.piece.buffer.capacity() + rest.map_or(0, |stream| stream.memory_bytes())
    }

    /// Hands a piece on as it is: see [`UnreadBytes::exchange`]. None where there is no piece, or it has to be copied.
    pub(super) fn exchange(&mut self, kept: UnreadBytes<'_>) -> Result<Option<usize>> {
        if !self.has_piece()? {
            return Ok(None);
        }
        let Piece { buffer, start, end } = &mut self.piece;
        buffer.truncate(*end);
        let exchanged = kept.exchange(buffer, *start);
        if exchanged.is_some() {
            self.position += (*end - *start) as u64;
            (*start, *end) = (0, 0);
        }
        Ok(exchanged)
    }

    /// Waits for a piece, unless one decoder reads what is left, or nothing is.
    fn has_piece(&mut self) -> Result<bool> {
        while self.piece.start == self.piece.end {
            if self.has_ended || self.rest.is_some() {
                return Ok(false);
            }
            self.take_piece()?;
        }
        Ok(true)
    }

    /// Appends to the spare capacity of `output`, at least a byte; `false` is the end.
    pub(super) fn decode(&mut self, output: &mut Vec<u8>) -> Result<bool> {
        if !self.has_piece()? {
            return if self.has_ended { Ok(false) } else { self.decode_rest(output) };
        }
        let room = output.capacity() - output.len();
        let Piece { buffer, start, end } = &mut self.piece;
        let count = room.min(*end - *start);
        output.extend_from_slice(buffer.get(*start..*start + count).unwrap_or_default());
        *start += count;
        self.position += count as u64;
        Ok(true)
    }

    /// Waits for the next message about the first span.
    fn take_piece(&mut self) -> Result<()> {
        self.plan();
        let Some((task, _)) = self.spans.front() else {
            self.has_ended = true;
            return Ok(());
        };
        match self.workers.next(*task) {
            Ok(Some(SpanPiece::Bytes(piece))) => {
                let used = std::mem::replace(&mut self.piece, piece);
                self.workers.recycle(SpanPiece::Bytes(used));
            }
            Ok(Some(SpanPiece::Met)) => {
                self.workers.abandon(*task);
                self.previous = self.spans.pop_front().map_or_else(SeekPoint::beginning, |it| it.1);
            }
            Ok(Some(SpanPiece::End(Ok(())))) => self.has_ended = true,
            Ok(Some(SpanPiece::End(Err(error)))) if !Cancel::caused(&error) => return Err(error),
            _ => self.fall_back(),
        }
        Ok(())
    }

    /// Leaves what comes next to one decoder, from the last place that counted.
    fn fall_back(&mut self) {
        self.next = None;
        self.spans.iter().for_each(|(task, _)| self.workers.abandon(*task));
        let begin = self.spans.drain(..).next().map(|(_, begin)| begin);
        // Damage may be so near that no decoder can begin before it.
        let places = begin.into_iter().chain([self.previous.clone()]).collect();
        self.rest = Some(RestReader { stream: None, places });
    }

    fn decode_rest(&mut self, output: &mut Vec<u8>) -> Result<bool> {
        let rest = self.rest.as_mut().ok_or_else(|| Error::internal("no decoder"))?;
        let stream = rest.open(&self.reader, &*self.source)?;
        // Some of it was handed on before.
        let known = self.position.saturating_sub(stream.position());
        if stream.skip(known)? < known || stream.fill(1)?.is_empty() {
            self.has_ended = true;
            return Ok(false);
        }
        let bytes = stream.buffered();
        let count = bytes.len().min(output.capacity() - output.len());
        output.extend_from_slice(bytes.get(..count).unwrap_or_default());
        stream.consume(count);
        self.position += count as u64;
        Ok(true)
    }

    /// Gives spans to the threads until enough are under way.
    fn plan(&mut self) {
        while self.spans.len() <= self.limits.threads
            && let Some((index, begin)) = self.next.take()
        {
            let end =
                place_behind(&*self.places, index, begin.position.saturating_add(self.limits.span));
            let (reader, source) = (self.reader.clone(), self.source.another());
            let (from, to) = (begin.clone(), end.as_ref().map(|(_, place)| place.clone()));
            self.workers.add(move |output| {
                let last = match source {
                    Some(source) => read_span(&reader, source, &from, to.as_ref(), output),
                    None => Some(SpanPiece::Unmet),
                };
                if let Some(last) = last {
                    output.give(last, 0);
                }
            });
            self.spans.push_back((self.tasks, begin));
            self.tasks += 1;
            self.next = end;
        }
    }
}

impl RestReader {
    /// The stream; one that was called off before it was opened is opened by the next call.
    fn open(&mut self, reader: &SpanReader, source: &dyn Source) -> Result<&mut ByteStream> {
        while self.stream.is_none() {
            let again = || Error::internal("a file that cannot be read once more");
            let place = self.places.front().ok_or_else(again)?;
            let opened = source.another().ok_or_else(again);
            match opened.and_then(|source| reader.stream_at(source, place)) {
                Ok(stream) => self.stream = Some(Box::new(stream)),
                Err(error) if Cancel::caused(&error) || self.places.len() == 1 => {
                    return Err(error);
                }
                Err(_) => drop(self.places.pop_front()),
            }
        }
        self.stream.as_deref_mut().ok_or_else(|| Error::internal("no decoder"))
    }
}

/// The first whole place behind the one with an index that is at an offset in the decompressed stream or behind, and its index.
fn place_behind(places: &dyn SeekPlaces, index: usize, least: u64) -> Option<(usize, SeekPoint)> {
    let mut index = index + 1;
    loop {
        if places.position(index)? >= least
            && let Some(place) = places.place(index)
        {
            return Some((index, place));
        }
        index += 1;
    }
}

/// Hands on the bytes from a place to another, or to the end of the input. Returns what is to be said about their end, unless
/// nobody wants to know.
fn read_span(
    reader: &SpanReader,
    source: Box<dyn Source>,
    begin: &SeekPoint,
    end: Option<&SeekPoint>,
    output: &TaskOutput<SpanPiece>,
) -> Option<SpanPiece> {
    let Some(end) = end else {
        let opened = reader.stream_at(source, begin);
        let read = opened.map(|stream| read_to_end(stream, output));
        return read.unwrap_or(Some(SpanPiece::Unmet));
    };
    let closed = ClosedSource::new(source, end).map(Box::new);
    match closed.and_then(|source| reader.stream_at(source, begin).ok()) {
        Some(mut stream) => {
            let last = read_to_place(&mut stream, end, output);
            reader.idle().push(stream);
            last
        }
        None => Some(SpanPiece::Unmet),
    }
}

fn read_to_end(mut stream: ByteStream, output: &TaskOutput<SpanPiece>) -> Option<SpanPiece> {
    loop {
        match stream.fill(1).map(<[u8]>::len) {
            Ok(0) => return Some(SpanPiece::End(Ok(()))),
            Ok(count) => give(&mut stream, count, output)?,
            Err(error) => return Some(SpanPiece::End(Err(error))),
        }
    }
}

fn read_to_place(
    stream: &mut ByteStream,
    end: &SeekPoint,
    output: &TaskOutput<SpanPiece>,
) -> Option<SpanPiece> {
    let has_failed = loop {
        let filled = stream.fill(HELD_LEN_NEAR_END + 1).map(<[u8]>::len);
        let there = stream.buffered().len();
        match filled {
            Ok(_) if there > HELD_LEN_NEAR_END => {}
            Ok(_) => break false,
            Err(_) => break true,
        }
        let left = end.position.saturating_sub(stream.position());
        let is_near = left <= (there + HELD_LEN_NEAR_END) as u64;
        let held = if is_near { HELD_LEN_NEAR_END } else { HELD_LEN };
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(there - held);
        if count == 0 {
            // More than the rest of a stored block is behind the place: it is none.
            return Some(SpanPiece::Unmet);
        }
        give(stream, count, output)?;
    };
    let left = end.position.saturating_sub(stream.position());
    let split = stream.buffered().split_at_checked(usize::try_from(left).unwrap_or(usize::MAX));
    let is_met = split.is_some_and(|(before, behind)| match &end.resume {
        Resume::Boundary => behind.is_empty() && !has_failed,
        Resume::Deflate(state) => is_met(stream, state, before, behind),
    });
    if !is_met {
        return Some(SpanPiece::Unmet);
    }
    give(stream, left as usize, output)?;
    Some(SpanPiece::Met)
}

/// Returns true if a stream that has closed the block at a place has this state there: `before` ends with its window, and
/// `behind` is the rest of its stored block.
fn is_met(stream: &ByteStream, state: &DeflateState, before: &[u8], behind: &[u8]) -> bool {
    let window_len = WINDOW_LEN.min(state.len as usize);
    let has_window = state.unpacked_window().is_ok_and(|window| {
        (window.len() == WINDOW_LEN || window.len() == window_len) && before.ends_with(&window)
    });
    let mut crc = crc32fast::Hasher::new_with_initial_len(state.crc, state.len.into());
    crc.update(behind);
    let len = state.len.wrapping_add(behind.len() as u32);
    let is_state = state.used_bits < 8 && (state.stored.is_none() || state.used_bits == 0);
    has_window
        && is_state
        && behind.len() == state.stored.map_or(0, |rest| rest.len.into())
        && stream.ends_deflate_with(crc.finalize(), len)
}

/// Hands on the first `count` bytes that are buffered; none where nobody wants them.
fn give(stream: &mut ByteStream, count: usize, output: &TaskOutput<SpanPiece>) -> Option<()> {
    let spare = match output.spare() {
        Some(SpanPiece::Bytes(piece)) => piece.buffer,
        _ => Vec::new(),
    };
    stream.consume(count);
    let (buffer, end) = stream.swap_buffer(spare);
    let weight = buffer.capacity();
    let piece = Piece { buffer, start: end.checked_sub(count)?, end };
    output.give(SpanPiece::Bytes(piece), weight).then_some(())
}

/// Raw bytes up to a place, and behind them what ends deflate data there.
struct ClosedSource {
    source: Box<dyn Source>,
    /// Offset behind the last byte that is read.
    end: u64,
    /// Bytes up to there.
    left: u64,
    closing: Vec<u8>,
}

impl ClosedSource {
    /// Reads `source` from its beginning; none where the place is none.
    fn new(mut source: Box<dyn Source>, place: &SeekPoint) -> Option<Self> {
        let (end, closing) = match &place.resume {
            Resume::Boundary => (place.raw_offset, Vec::new()),
            Resume::Deflate(state) => match state.stored {
                Some(rest) => {
                    let end = place.raw_offset.checked_add(rest.len.into())?;
                    (end, if rest.is_last { Vec::new() } else { closing(0, 0) })
                }
                None => {
                    let mut first = Vec::with_capacity(1);
                    if state.used_bits > 0 {
                        let is_there = source.seek(place.raw_offset).ok()?
                            && source.read(&mut first, 1).ok()? == 1;
                        is_there.then_some(())?;
                    }
                    let first = first.first().copied().unwrap_or_default();
                    (place.raw_offset, closing(first, state.used_bits.min(7)))
                }
            },
        };
        source.seek(0).ok()?.then_some(ClosedSource { source, end, left: end, closing })
    }
}

/// The last block behind the first `used_bits` of a byte, with those.
fn closing(first: u8, used_bits: u8) -> Vec<u8> {
    let (block, len) = LAST_BLOCK;
    let used = u32::from(first) & ((1 << used_bits) - 1);
    let count = (u32::from(used_bits) + len).div_ceil(8) as usize;
    let bits = (used | block << used_bits).to_le_bytes();
    bits.get(..count).unwrap_or_default().to_vec()
}

impl Source for ClosedSource {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        if self.left == 0 {
            let count = limit.min(self.closing.len());
            into.extend(self.closing.drain(..count));
            return Ok(count);
        }
        let limit = usize::try_from(self.left).unwrap_or(usize::MAX).min(limit);
        let before = into.len();
        self.source.read(into, limit)?;
        let count = into.len().saturating_sub(before);
        if count == 0 {
            // The file is shorter than the index says.
            self.closing.clear();
        }
        self.left = self.left.saturating_sub(count as u64);
        Ok(count)
    }

    fn seek(&mut self, offset: u64) -> Result<bool> {
        let Some(left) = self.end.checked_sub(offset) else { return Ok(false) };
        self.left = left;
        self.source.seek(offset)
    }

    fn is_nonblocking(&self) -> bool {
        self.source.is_nonblocking()
    }

    fn cancel(&self) -> Option<Cancel> {
        self.source.cancel()
    }
}
