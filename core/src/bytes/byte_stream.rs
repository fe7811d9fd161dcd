//! One buffered reader over decompressed bytes, whatever they come from.

use std::fmt;
use std::mem::MaybeUninit;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

use super::compression::{Compression, CompressionChoice, Detected, detect};
use super::file_hash::{FileHash, HashedSource};
use super::gzip::GzipDecoder;
use super::inflate::InflateBackend;
use super::input::{Input, Supply};
use super::members::{self, Members};
use super::seek_point::{Resume, SeekMarker, SeekPoint, SeekSpacing};
use super::seek_table::SeekTable;
use super::source::{Cancel, FileSource, Source};
use super::spans::{IdleStreams, SeekPlaces, SpanLimits, SpanReader, Spans};
use super::unread_bytes::{UnreadBytes, headroom_at};
use super::zstd::ZstdDecoder;

/// Name of standard input for people.
const STDIN: &str = "standard input";

/// Options of a [`ByteStream`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Decompressed bytes that are made at once. The default, 256 KiB, stays in a core's cache.
    pub piece: usize,
    /// Choice of the compression that the input is read with.
    pub compression: CompressionChoice,
    /// Threads that may work for this stream at a time, beside the one that reads it; 1, the default, means none.
    pub jobs: usize,
    /// Decompressed bytes at least between two places of an index or seek table at which threads begin. The default is 4 MiB.
    pub span: u64,
    /// The most bytes that the buffer holds for one item. The default is 17 MiB.
    pub max_buffer: usize,
    /// Calls off reads of this stream, from its opening on, instead of a handle of its own.
    pub cancel: Option<Cancel>,
    /// Distance of the places that are found at which reading can begin another time, if any are to be: see
    /// [`ByteStream::take_seek_points`]. One thread reads then.
    pub seek_points: Option<SeekSpacing>,
    /// Hashes the raw bytes as they are read: see [`ByteStream::file_hash`]. They are read in their order then, once.
    pub hash: bool,
}

impl Default for StreamOptions {
    fn default() -> Self {
        StreamOptions {
            // Bound (Streams): decompressed bytes = 256 KiB pieces; 17 MiB for one item.
            piece: 256 << 10,
            compression: CompressionChoice::Auto,
            jobs: 1,
            span: 4 << 20,
            max_buffer: 17 << 20,
            cancel: None,
            seek_points: None,
            hash: false,
        }
    }
}

/// Decompressed bytes, read in pieces into one buffer whose memory is never zeroed first.
///
/// ```
/// use bytewright::bytes::{ByteStream, StreamOptions};
/// # fn main() -> bytewright::Result<()> {
/// # let path = std::path::Path::new(env!("CARGO_MANIFEST_PATH"));
/// let mut stream = ByteStream::open(path, &StreamOptions::default())?;
/// let mut lines = 0;
/// while !stream.fill(1)?.is_empty() {
///     let bytes = stream.buffered();
///     lines += bytes.iter().filter(|byte| **byte == b'\n').count();
///     let count = bytes.len();
///     stream.consume(count);
/// }
/// assert!(lines > 3);
/// # Ok(())
/// # }
/// ```
pub struct ByteStream {
    name: String,
    input: Input,
    decoder: StreamDecoder,
    buffer: Vec<u8>,
    /// The first byte of `buffer` that is not consumed.
    start: usize,
    /// The offset in the decompressed stream of the first byte of `buffer`.
    base: u64,
    ended: bool,
    /// The error that everything after the buffered bytes answers with.
    failed: Option<Error>,
    choice: CompressionChoice,
    /// The backend that is to inflate gzip, where a test names one.
    backend: Option<InflateBackend>,
    jobs: usize,
    span: u64,
    /// Places at which threads can begin.
    places: Option<Box<dyn SeekPlaces>>,
    seek_points: Option<SeekSpacing>,
    file_hash: Option<FileHash>,
    piece: usize,
    max_buffer: usize,
}

/// Result of filling the buffer without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// As many bytes as were asked for are buffered.
    Ready,
    /// Fewer are buffered, and reading more would wait, for a disk or for a writer.
    WouldWait,
    /// Fewer are buffered, and the input ends with them.
    Ended,
}

enum StreamDecoder {
    /// Nothing was read yet that would tell.
    Undecided,
    Plain,
    Gzip(Box<GzipDecoder>),
    Zstd(Box<ZstdDecoder>),
    /// gzip or zstd, with other threads.
    Members(Box<Members>),
    /// gzip or zstd with places at which they can begin.
    Spans(Box<Spans>),
}

impl ByteStream {
    /// Reads the file, FIFO or device at `path`. This never waits: of what is no regular file, the first
    /// bytes are read when something is asked for.
    pub fn open(path: &Path, options: &StreamOptions) -> Result<Self> {
        Self::from_file(FileSource::open(path)?, &path.display().to_string(), options)
    }

    /// Reads standard input, as [`ByteStream::open`] reads a file.
    pub fn stdin(options: &StreamOptions) -> Result<Self> {
        let source = FileSource::stdin().map_err(|error| error.in_file(STDIN))?;
        Self::from_file(source, STDIN, options)
    }

    fn from_file(source: FileSource, name: &str, options: &StreamOptions) -> Result<Self> {
        let source = match &options.cancel {
            Some(cancel) => source.with_cancel(cancel.clone()),
            None => source,
        };
        match source.is_regular() {
            true => Self::new(Box::new(source), name, options),
            false => Ok(Self::unread(Box::new(source), name, options)),
        }
    }

    /// Reads `source`, which errors call `name`. It reads the first bytes, and so may wait for them,
    /// to see how they are compressed.
    pub fn new(source: Box<dyn Source>, name: &str, options: &StreamOptions) -> Result<Self> {
        Self::unread(source, name, options).decided()
    }

    /// Reads `source` as [`ByteStream::new`] does; `backend` inflates gzip. For tests, which compare the backends.
    #[doc(hidden)]
    pub fn by_backend(
        source: Box<dyn Source>,
        name: &str,
        options: &StreamOptions,
        backend: InflateBackend,
    ) -> Result<Self> {
        Self::unread(source, name, options).with_backend(backend).decided()
    }

    /// Reads `source` as [`ByteStream::new`] does, but nothing before something is asked for. Damage of the first bytes
    /// shows then, too.
    pub fn unread(source: Box<dyn Source>, name: &str, options: &StreamOptions) -> Self {
        let cancel = source.cancel().or_else(|| options.cancel.clone()).unwrap_or_default();
        let (source, file_hash) = match options.hash {
            true => {
                let hashed = HashedSource::new(source);
                let hash = hashed.hash();
                (Box::new(hashed) as Box<dyn Source>, Some(hash))
            }
            false => (source, None),
        };
        ByteStream {
            name: name.to_owned(),
            input: Input::new(source, cancel),
            decoder: StreamDecoder::Undecided,
            buffer: Vec::new(),
            start: 0,
            base: 0,
            ended: false,
            failed: None,
            choice: options.compression,
            backend: None,
            places: None,
            span: options.span,
            jobs: if options.seek_points.is_some() { 1 } else { options.jobs.max(1) },
            seek_points: options.seek_points,
            file_hash,
            piece: options.piece.max(1),
            max_buffer: options.max_buffer.max(options.piece).max(1),
        }
    }

    /// Inflates gzip by this backend.
    pub(super) fn with_backend(mut self, backend: InflateBackend) -> Self {
        self.backend = Some(backend);
        self
    }

    fn decided(mut self) -> Result<Self> {
        self.decide().map_err(|error| error.in_file(&self.name))?;
        Ok(self)
    }

    /// Finds out how the input is compressed; `false` where that needs bytes that are not to be waited
    /// for.
    fn decide(&mut self) -> Result<bool> {
        if !matches!(self.decoder, StreamDecoder::Undecided) {
            return Ok(true);
        }
        let compression = match self.choice {
            CompressionChoice::Is(compression) => Some(compression),
            choice => detect_compression(&mut self.input, choice)?,
        };
        let Some(compression) = compression else { return Ok(false) };
        self.decoder = match compression {
            Compression::None => StreamDecoder::Plain,
            Compression::Gzip => self.gzip(self.gzip_decoder()?),
            Compression::Zstd => self.zstd()?,
        };
        Ok(true)
    }

    /// Returns the threads that may work ahead.
    fn jobs(&self) -> usize {
        // Nothing is read ahead of what somebody may still write.
        if self.input.is_nonblocking() { self.jobs } else { 1 }
    }

    fn gzip_decoder(&self) -> Result<GzipDecoder> {
        let backend = self.backend.map_or_else(InflateBackend::serving, Ok)?;
        let Some(spacing) = self.seek_points else { return Ok(GzipDecoder::new(backend)) };
        let mut decoder = GzipDecoder::new(backend.that_finds_places());
        decoder.mark(SeekMarker::new(spacing));
        Ok(decoder)
    }

    fn gzip(&self, decoder: GzipDecoder) -> StreamDecoder {
        match self.jobs() {
            1 => StreamDecoder::Gzip(Box::new(decoder)),
            jobs => with_threads(members::MemberDecoder::Gzip(decoder), jobs),
        }
    }

    fn zstd(&self) -> Result<StreamDecoder> {
        let mut decoder = ZstdDecoder::new()?;
        if let Some(spacing) = self.seek_points {
            decoder.mark(SeekMarker::new(spacing));
        }
        Ok(match self.jobs() {
            1 => StreamDecoder::Zstd(Box::new(decoder)),
            jobs => with_threads(members::MemberDecoder::Zstd(decoder), jobs),
        })
    }

    /// Lets threads begin at the places of an index or of a seek table, where nothing was read yet.
    fn begin_spans(&mut self) -> Result<()> {
        if !matches!(self.decoder, StreamDecoder::Members(_)) {
            return Ok(());
        }
        let places = self.places.take().or_else(|| self.seek_table());
        let (Some(places), Some(source)) = (places, self.input.another_source()) else {
            return Ok(());
        };
        let reader = SpanReader {
            name: self.name.clone(),
            compression: self.compression(),
            backend: self.backend.map_or_else(InflateBackend::serving, Ok)?,
            cancel: self.cancel(),
            idle: IdleStreams::default(),
        };
        let limits = SpanLimits { threads: self.jobs(), span: self.span };
        if let Some(spans) = Spans::start(reader, source, places, limits) {
            self.decoder = StreamDecoder::Spans(Box::new(spans));
        }
        Ok(())
    }

    fn seek_table(&self) -> Option<Box<dyn SeekPlaces>> {
        if self.compression() != Compression::Zstd {
            return None;
        }
        let table = SeekTable::read(&mut *self.input.another_source()?, self.input.len()?)?;
        Some(Box::new(table))
    }

    /// Returns the name of the input for people: its path, usually.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the compression of the input as far as is known: none while nothing was read.
    pub fn compression(&self) -> Compression {
        match &self.decoder {
            StreamDecoder::Undecided | StreamDecoder::Plain => Compression::None,
            StreamDecoder::Gzip(_) => Compression::Gzip,
            StreamDecoder::Zstd(_) => Compression::Zstd,
            StreamDecoder::Members(members) if members.is_gzip() => Compression::Gzip,
            StreamDecoder::Members(_) => Compression::Zstd,
            StreamDecoder::Spans(spans) => spans.compression(),
        }
    }

    /// Returns true if the compression is known for good: the first bytes were read, or do not matter.
    pub fn knows_compression(&self) -> bool {
        !matches!(self.decoder, StreamDecoder::Undecided)
            || matches!(self.choice, CompressionChoice::Is(_))
    }

    /// The hash of the raw bytes, where [`StreamOptions::hash`] asks for it.
    pub fn file_hash(&self) -> Option<FileHash> {
        self.file_hash.clone()
    }

    /// Memory that it takes: its buffers, and what the decompressor keeps.
    pub fn memory_bytes(&self) -> usize {
        let decoder = match &self.decoder {
            StreamDecoder::Undecided | StreamDecoder::Plain => 0,
            StreamDecoder::Gzip(decoder) => decoder.memory_bytes(),
            StreamDecoder::Zstd(decoder) => decoder.memory_bytes(),
            StreamDecoder::Members(members) => members.memory_bytes(),
            StreamDecoder::Spans(spans) => spans.memory_bytes(),
        };
        self.buffer.capacity() + self.input.memory_bytes() + decoder
    }

    /// The bytes that are there and not consumed.
    #[inline]
    pub fn buffered(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Makes at least `at_least` bytes buffered and answers all that are. Fewer, or none, means that
    /// the input ends with them. Damage in the way is an error, the same on every later call; what
    /// comes before it stays buffered.
    #[inline]
    pub fn fill(&mut self, at_least: usize) -> Result<&[u8]> {
        if self.buffer.len() - self.start < at_least {
            self.input.set_nonblocking(false);
            self.fill_more(at_least)?;
        }
        Ok(self.buffered())
    }

    /// Buffers bytes as [`ByteStream::fill`] does, but never waits, so that a face that holds the lock
    /// of its language may call it. After [`Fill::WouldWait`] the face gives the lock up and calls
    /// [`ByteStream::fill`], or brings the bytes itself if it is their source.
    #[inline]
    pub fn try_fill(&mut self, at_least: usize) -> Result<Fill> {
        if self.buffer.len() - self.start >= at_least {
            return Ok(Fill::Ready);
        }
        self.input.set_nonblocking(true);
        self.fill_more(at_least)
    }

    /// Returns true if nothing comes after what is buffered. Only a [`ByteStream::fill`] can find that
    /// out, so right after the last byte was read it may still be `false`.
    pub fn at_end(&self) -> bool {
        self.ended
    }

    /// Takes `count` of the buffered bytes, or all where there are fewer.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.buffer.len());
    }

    /// Passes over `count` bytes and answers how many there were; fewer means that the input ended.
    /// After an error, [`ByteStream::position`] says how far it came. In a plain file, a long way is
    /// not read.
    pub fn skip(&mut self, count: u64) -> Result<u64> {
        let mut left = count;
        while left > 0 && !self.fill(1)?.is_empty() {
            left -= self.step_over(left)?;
        }
        Ok(count - left)
    }

    /// Passes over what comes before `target`, as [`ByteStream::skip`] does, as far as that takes no
    /// waiting. [`ByteStream::position`] says how far it came.
    pub fn try_skip_to(&mut self, target: u64) -> Result<Fill> {
        loop {
            let left = target.saturating_sub(self.position());
            if left == 0 {
                return Ok(Fill::Ready);
            }
            match self.try_fill(1)? {
                Fill::Ready => self.step_over(left)?,
                other => return Ok(other),
            };
        }
    }

    /// Passes over at most `count` bytes, at least those of them that are buffered.
    fn step_over(&mut self, count: u64) -> Result<u64> {
        let buffered = self.buffered().len();
        let taken = usize::try_from(count).map_or(buffered, |count| count.min(buffered));
        self.consume(taken);
        let left = count - taken as u64;
        let passed = if left >= self.piece as u64 { self.pass_over(left)? } else { 0 };
        Ok(taken as u64 + passed)
    }

    /// The offset in the decompressed stream of the next byte that is not consumed.
    #[inline]
    pub fn position(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Raw bytes read so far, for progress bars.
    pub fn input_read(&self) -> u64 {
        self.input.read_count()
    }

    /// Raw bytes there are in all at the moment, where that is known.
    pub fn input_len(&self) -> Option<u64> {
        self.input.len()
    }

    /// Returns true if a read never has to wait for somebody else to write: see [`Source::is_nonblocking`].
    pub fn is_nonblocking(&self) -> bool {
        self.input.is_nonblocking()
    }

    /// A second reader of the bytes of plain input, for another thread: see [`Source::another`].
    pub(crate) fn another_source(&self) -> Option<Box<dyn Source>> {
        matches!(self.decoder, StreamDecoder::Plain).then(|| self.input.another_source())?
    }

    /// The handle that ends a read of this stream that waits. A read that was called off is not
    /// damage: after [`Cancel::reset`] the stream goes on where it was.
    pub fn cancel(&self) -> Cancel {
        self.input.cancel().clone()
    }

    /// Hands out the whole buffer, with the index of its first byte that is not consumed, so that
    /// rows can point into it. The stream goes on in `spare`, whose bytes are dropped, with a copy of
    /// the bytes that are not consumed; nothing else changes.
    pub fn swap_buffer(&mut self, mut spare: Vec<u8>) -> (Vec<u8>, usize) {
        let tail = self.buffered();
        spare.clear();
        let headroom = headroom_at(self.position());
        spare.reserve_exact(headroom + self.piece.max(tail.len()));
        spare.resize(headroom, 0);
        spare.extend_from_slice(tail);
        let start = std::mem::replace(&mut self.start, headroom);
        self.base = self.base + start as u64 - headroom as u64;
        (std::mem::replace(&mut self.buffer, spare), start)
    }

    #[cold]
    fn fill_more(&mut self, at_least: usize) -> Result<Fill> {
        if at_least > self.max_buffer {
            let (limit, found) = (self.max_buffer as u64, at_least as u64);
            return Err(self.place(Error::limit("an item in the stream", limit, found)));
        }
        loop {
            let buffered = self.buffered().len();
            if buffered >= at_least {
                return Ok(Fill::Ready);
            }
            if self.ended {
                return Ok(Fill::Ended);
            }
            if let Some(error) = &self.failed {
                return Err(error.clone());
            }
            match self.read_more(at_least, buffered) {
                Ok(true) => {}
                Ok(false) => return Ok(Fill::WouldWait),
                Err(error) => {
                    let error = self.place(error);
                    if Cancel::caused(&error) {
                        return Err(error);
                    }
                    self.failed = Some(error);
                }
            }
        }
    }

    fn read_more(&mut self, at_least: usize, buffered: usize) -> Result<bool> {
        if self.exchange_buffer()? {
            return Ok(true);
        }
        // The memory grows with what is there: a large count may be a wrong one.
        self.make_room(at_least.min(self.piece.max(buffered.saturating_mul(2))));
        self.read_piece()
    }

    /// Takes the buffer that a thread has filled in the place of its own, where there is one and what is buffered fits before
    /// its bytes: these are not copied then.
    fn exchange_buffer(&mut self) -> Result<bool> {
        let position = self.position();
        let kept = UnreadBytes { buffer: &mut self.buffer, start: self.start, position };
        let start = match &mut self.decoder {
            StreamDecoder::Members(members) => members.exchange(&mut self.input, kept)?,
            StreamDecoder::Spans(spans) => spans.exchange(kept)?,
            _ => None,
        };
        let Some(start) = start else { return Ok(false) };
        (self.base, self.start) = (position - start as u64, start);
        Ok(true)
    }

    /// Puts the name, and the offset where there is none and one means something, into an error.
    fn place(&self, error: Error) -> Error {
        let error = match error.offset() {
            None if self.input.has_offsets() => error.at(self.base + self.buffer.len() as u64),
            _ => error,
        };
        error.in_file(&self.name)
    }

    /// Appends to the buffer what fits, at least a byte, or finds the end; `false` where it would have
    /// to wait and is not to.
    fn read_piece(&mut self) -> Result<bool> {
        if !self.decide()? {
            return Ok(false);
        }
        if self.base == 0 && self.buffer.is_empty() {
            self.begin_spans()?;
        }
        let (before, base) = (self.buffer.len(), self.base);
        if let Some(marker) = self.marker() {
            marker.set_base(base);
        }
        let more = match &mut self.decoder {
            StreamDecoder::Undecided => true,
            StreamDecoder::Plain => read_plain(&mut self.input, &mut self.buffer)?,
            StreamDecoder::Gzip(decoder) => decoder.decode(&mut self.input, &mut self.buffer)?,
            StreamDecoder::Zstd(decoder) => decoder.decode(&mut self.input, &mut self.buffer)?,
            StreamDecoder::Members(members) => members.decode(&mut self.input, &mut self.buffer)?,
            StreamDecoder::Spans(spans) => spans.decode(&mut self.buffer)?,
        };
        self.ended = !more;
        Ok(self.ended || self.buffer.len() > before)
    }

    /// Makes room after the buffered bytes: for `at_least` in all, and for a good part of a piece.
    ///
    /// Unconsumed bytes move to the front when there is little room behind them and they are no more
    /// than the consumed ones, so that each byte moves once on the average; or when they must.
    fn make_room(&mut self, at_least: usize) {
        let tail = self.buffered().len();
        let fits = self.buffer.capacity() - self.start >= at_least.max(tail + 1);
        let room = self.buffer.capacity() - self.buffer.len();
        if fits && (room >= self.piece / 2 || tail > self.start) {
            return;
        }
        let wanted = self.capacity_for(at_least.max(tail + 1));
        // A buffer that had to grow for one item is given back after it.
        let oversized = self.buffer.capacity() / 2 > wanted;
        if oversized || self.buffer.capacity() < wanted {
            let mut buffer = Vec::with_capacity(wanted);
            buffer.extend_from_slice(self.buffered());
            self.buffer = buffer;
        } else {
            self.buffer.copy_within(self.start.., 0);
            self.buffer.truncate(tail);
        }
        self.base += self.start as u64;
        self.start = 0;
    }

    /// The capacity for an item of `size` bytes: a piece, or room for another such item.
    fn capacity_for(&self, size: usize) -> usize {
        if size <= self.piece {
            return self.piece;
        }
        size.saturating_mul(2).min(self.max_buffer).max(size)
    }

    /// Passes over at most `count` bytes without reading them. Only after everything is consumed.
    fn pass_over(&mut self, count: u64) -> Result<u64> {
        if !matches!(self.decoder, StreamDecoder::Plain) || !self.buffered().is_empty() {
            return Ok(0);
        }
        let raw = self.input.bytes().len();
        if raw > 0 {
            // Bytes that were read to see whether the input is compressed come first.
            return Ok(0);
        }
        let skipped = self.input.skip(count).map_err(|error| self.place(error))?;
        self.base += self.buffer.len() as u64 + skipped;
        self.buffer.clear();
        self.start = 0;
        Ok(skipped)
    }

    /// Goes towards `offset` as far as that takes no reading: [`ByteStream::position`] tells how far it
    /// came, and what is left is a matter of [`ByteStream::skip`]. In a plain file it comes all the
    /// way, beyond the end, too. In compressed input, going back leads to the beginning.
    ///
    /// Behind damage the input is read anew, also for what is buffered: it may have been repaired.
    pub fn seek(&mut self, offset: u64) -> Result<()> {
        let is_in_buffer = self.failed.is_none() && self.seek_in_buffer(offset);
        if is_in_buffer { Ok(()) } else { self.seek_in_input(offset) }
    }

    /// Seeks to `offset` past the end that was found, where there is nothing to read, as one may in a
    /// plain file. Elsewhere it changes nothing.
    pub fn seek_past_end(&mut self, offset: u64) {
        if self.ended && offset > self.position() && self.buffered().is_empty() {
            self.buffer.clear();
            self.start = 0;
            self.base = offset;
        }
    }

    /// Goes back to the beginning, to read anew what may have changed since; where the input can be read
    /// once, only as far as its beginning is buffered.
    pub fn rewind(&mut self) -> Result<()> {
        match self.seek_in_input(0) {
            Err(_) if self.seek_in_buffer(0) => Ok(()),
            outcome => outcome,
        }
    }

    fn seek_in_buffer(&mut self, offset: u64) -> bool {
        let in_buffer = offset.checked_sub(self.base).filter(|at| *at <= self.buffer.len() as u64);
        if let Some(at) = in_buffer {
            self.start = at as usize;
        }
        in_buffer.is_some()
    }

    fn seek_in_input(&mut self, offset: u64) -> Result<()> {
        let is_plain = matches!(self.decoder, StreamDecoder::Plain)
            || self.choice == CompressionChoice::Is(Compression::None);
        let target = if is_plain { offset } else { 0 };
        // Behind damage there is nothing to read on from.
        if !is_plain && offset > self.position() && self.failed.is_none() {
            return Ok(());
        }
        if !self.input.seek(target).map_err(|error| self.place(error))? {
            if offset > self.position() {
                return Ok(());
            }
            let number = rustix::io::Errno::SPIPE.raw_os_error();
            let message = "expected seekable input, found input that can be read only once";
            return Err(self.place(Error::new(ErrorKind::Io(Some(number)), message)));
        }
        if !is_plain {
            self.decoder = StreamDecoder::Undecided;
        }
        self.buffer.clear();
        self.start = 0;
        self.base = target;
        self.ended = false;
        self.failed = None;
        Ok(())
    }

    fn marker(&mut self) -> Option<&mut SeekMarker> {
        match &mut self.decoder {
            StreamDecoder::Gzip(decoder) => decoder.marker(),
            StreamDecoder::Zstd(decoder) => decoder.marker(),
            StreamDecoder::Undecided
            | StreamDecoder::Plain
            | StreamDecoder::Members(_)
            | StreamDecoder::Spans(_) => None,
        }
    }

    /// Takes the places that were found since the last call, at which reading can begin: some of those that were decompressed,
    /// with [`StreamOptions::seek_points`]. In plain input there are none to be found: it can begin anywhere.
    pub fn take_seek_points(&mut self) -> Vec<SeekPoint> {
        self.marker().map(SeekMarker::take).unwrap_or_default()
    }

    /// Distance of the places that are found, if any are.
    pub fn seek_points(&self) -> Option<SeekSpacing> {
        self.seek_points
    }

    /// Finds such places from here on in a stream of which nothing was read.
    ///
    /// # Errors
    /// Those of the first bytes.
    pub fn find_seek_points(&mut self, spacing: SeekSpacing) -> Result<()> {
        self.seek_points = Some(spacing);
        self.jobs = 1;
        if self.position() == 0 && self.buffer.is_empty() {
            self.decoder = StreamDecoder::Undecided;
            self.input.set_nonblocking(false);
        }
        self.decide().map(drop).map_err(|error| self.place(error))
    }

    /// Returns true if threads could begin at several places of the input, if those were known.
    pub(crate) fn wants_places(&self) -> bool {
        self.jobs() > 1 && self.compression() != Compression::None
    }

    /// Lets threads begin at these places of an input of which nothing was read; none take that back. What they say is
    /// checked, so wrong ones change nothing.
    pub(crate) fn use_places(&mut self, places: Option<Box<dyn SeekPlaces>>) {
        self.places = places;
    }

    /// Returns true if deflate data has just ended behind all input, and has inflated to bytes of this checksum and length.
    pub(super) fn ends_deflate_with(&self, crc: u32, size: u32) -> bool {
        match &self.decoder {
            StreamDecoder::Gzip(decoder) => {
                self.input.bytes().is_empty() && decoder.ends_deflate_with(crc, size)
            }
            _ => false,
        }
    }

    /// Goes to a place that was found in this very input, of which something was read before.
    ///
    /// # Errors
    /// `Format` where no decoder of this input has such a state; those of reading.
    pub fn seek_to_point(&mut self, point: &SeekPoint) -> Result<()> {
        self.input.set_nonblocking(false);
        let sought = self.resume(point);
        sought.map_err(|error| self.place(error))
    }

    fn resume(&mut self, point: &SeekPoint) -> Result<()> {
        let misplaced = || Error::format("a place in input of this compression", "another one");
        if !self.decide()? || !self.input.seek(point.raw_offset)? {
            return Err(misplaced());
        }
        self.decoder = match (self.compression(), &point.resume) {
            (Compression::None, Resume::Boundary) => StreamDecoder::Plain,
            (Compression::Zstd, Resume::Boundary) => self.restarted_zstd()?,
            (Compression::Gzip, Resume::Boundary) => {
                let mut decoder = self.gzip_decoder()?;
                decoder.pass_members();
                self.gzip(decoder)
            }
            (Compression::Gzip, Resume::Deflate(state)) => {
                let mut decoder = self.gzip_decoder()?;
                let is_there = self.input.supply(1, true)? == Supply::Ready;
                let first = self.input.bytes().first().filter(|_| is_there).copied();
                if decoder.resume(state, first.unwrap_or_default())? {
                    self.input.advance(1);
                }
                self.gzip(decoder)
            }
            _ => return Err(misplaced()),
        };
        if let Some(marker) = self.marker() {
            marker.begin_at(point.position, point.raw_offset);
        }
        self.buffer.clear();
        self.start = headroom_at(point.position);
        self.buffer.resize(self.start, 0);
        self.base = point.position - self.start as u64;
        self.ended = false;
        self.failed = None;
        Ok(())
    }

    /// A decoder of zstd that begins anew: the one that there is, whose memory is that of its window.
    fn restarted_zstd(&mut self) -> Result<StreamDecoder> {
        match std::mem::replace(&mut self.decoder, StreamDecoder::Undecided) {
            StreamDecoder::Zstd(mut decoder) if self.seek_points.is_none() => {
                decoder.restart()?;
                Ok(StreamDecoder::Zstd(decoder))
            }
            _ => self.zstd(),
        }
    }

    /// Goes on with another source of bytes of the compression, from a place on, with the memory that it has.
    pub(super) fn go_on_with(&mut self, source: Box<dyn Source>, place: &SeekPoint) -> Result<()> {
        self.input.set_source(source);
        self.seek_to_point(place)
    }

    /// The time of the last change of the file that is read, in nanoseconds since 1970, where it is one.
    pub fn modified(&self) -> Option<i64> {
        self.input.modified()
    }

    /// A second reader of the raw bytes: see [`Source::another`].
    pub(crate) fn another_raw_source(&self) -> Option<Box<dyn Source>> {
        self.input.another_source()
    }

    /// Puts `bytes` back that were just taken, so that they come once more.
    pub fn give_back(&mut self, bytes: &[u8]) {
        let position = self.position();
        let mut buffer = Vec::with_capacity(bytes.len() + self.buffered().len().max(self.piece));
        buffer.extend_from_slice(bytes);
        buffer.extend_from_slice(self.buffered());
        self.buffer = buffer;
        self.start = 0;
        self.base = position.saturating_sub(bytes.len() as u64);
    }

    /// Checks the end of plain input again on the next read: a file may have grown since.
    pub fn recheck_end(&mut self) {
        if self.ended && matches!(self.decoder, StreamDecoder::Plain) {
            self.ended = false;
            self.input.recheck_end();
        }
    }

    /// Reads plain input past the buffer, which must be empty, without waiting: as many of the first
    /// bytes of `into` are written as the answer says; 0 is the end. `None` where it would have to
    /// wait, and where nothing but [`ByteStream::fill`] will do.
    pub fn try_read_slice(&mut self, into: &mut [MaybeUninit<u8>]) -> Result<Option<usize>> {
        let is_past_all = matches!(self.decoder, StreamDecoder::Plain)
            && self.buffered().is_empty()
            && self.input.bytes().is_empty();
        if !is_past_all || into.is_empty() {
            return Ok(None);
        }
        let read = self.input.try_read_slice(into).map_err(|error| self.place(error))?;
        if let Some(count) = read {
            self.base += self.buffer.len() as u64 + count as u64;
            self.buffer.clear();
            self.start = 0;
            self.ended = count == 0;
        }
        Ok(read)
    }
}

impl fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteStream")
            .field("name", &self.name)
            .field("compression", &self.compression())
            .field("position", &self.position())
            .field("ended", &self.ended)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

fn with_threads(decoder: members::MemberDecoder, jobs: usize) -> StreamDecoder {
    StreamDecoder::Members(Box::new(Members::new(decoder, jobs)))
}

/// Reads until the first bytes tell what the input is; `None` where they are not there yet.
fn detect_compression(input: &mut Input, choice: CompressionChoice) -> Result<Option<Compression>> {
    let mut ended = false;
    loop {
        match detect(input.bytes(), ended) {
            Some(Detected::Supported(compression)) => return Ok(Some(compression)),
            Some(Detected::Unsupported(_)) if choice == CompressionChoice::AutoElseNone => {
                return Ok(Some(Compression::None));
            }
            Some(Detected::Unsupported(unsupported)) => return Err(unsupported.error()),
            None => match input.supply(input.bytes().len() + 1, true)? {
                Supply::Ready => {}
                Supply::Later => return Ok(None),
                Supply::Ended => ended = true,
            },
        }
    }
}

/// Appends to the spare capacity of `output`; `false` is the end. It appends nothing where it would
/// have to wait and is not to.
fn read_plain(input: &mut Input, output: &mut Vec<u8>) -> Result<bool> {
    let before = output.len();
    let bytes = input.bytes();
    let count = bytes.len().min(output.capacity() - before);
    output.extend_from_slice(bytes.get(..count).unwrap_or_default());
    input.advance(count);
    // A file fills the piece up; a pipe hands on what is there.
    while output.len() < output.capacity()
        && input.bytes().is_empty()
        && (output.len() == before || input.is_nonblocking())
    {
        match input.read_into(output)? {
            None => return Ok(true),
            Some(0) => break,
            Some(_) => {}
        }
    }
    Ok(output.len() > before)
}
