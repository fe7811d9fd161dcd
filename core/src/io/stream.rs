//! One buffered reader over decompressed bytes, whatever they come from.

use std::fmt;
use std::path::Path;

use crate::error::{Error, Result};

use super::compression::{Compression, Detected, detect};
use super::gzip::GzipDecoder;
use super::inflate::{InflateBackend, InflateChoice};
use super::input::{Input, Supply};
use super::source::{Cancel, FileSource, Source};
use super::zstd::ZstdDecoder;

/// What people call standard input.
const STDIN: &str = "standard input";

/// How a [`ByteStream`] reads.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Decompressed bytes that are made at once. The default, 256 KiB, stays in a core's cache.
    pub piece: usize,
    /// What inflates gzip.
    pub inflate: InflateChoice,
    /// The most bytes that the buffer holds for one item. The default is 17 MiB.
    pub max_buffer: usize,
    /// Calls off reads of this stream, from its opening on, instead of a handle of its own.
    pub cancel: Option<Cancel>,
}

impl Default for StreamOptions {
    fn default() -> Self {
        StreamOptions {
            piece: 256 << 10,
            inflate: InflateChoice::Auto,
            max_buffer: 17 << 20,
            cancel: None,
        }
    }
}

/// Decompressed bytes, read in pieces into one buffer whose memory is never zeroed first.
///
/// ```
/// use bytewright::io::{ByteStream, StreamOptions};
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
    decoder: Decoder,
    buffer: Vec<u8>,
    /// The first byte of `buffer` that is not consumed.
    start: usize,
    /// The offset in the decompressed stream of the first byte of `buffer`.
    base: u64,
    ended: bool,
    /// The error that everything after the buffered bytes answers with.
    failed: Option<Error>,
    piece: usize,
    max_buffer: usize,
}

enum Decoder {
    Plain,
    Gzip(Box<GzipDecoder>),
    Zstd(Box<ZstdDecoder>),
}

impl ByteStream {
    /// Reads the file, FIFO or device at `path`.
    pub fn open(path: &Path, options: &StreamOptions) -> Result<Self> {
        Self::from_file(FileSource::open(path)?, &path.display().to_string(), options)
    }

    /// Reads standard input.
    pub fn stdin(options: &StreamOptions) -> Result<Self> {
        let source = FileSource::stdin().map_err(|error| error.in_file(STDIN))?;
        Self::from_file(source, STDIN, options)
    }

    fn from_file(source: FileSource, name: &str, options: &StreamOptions) -> Result<Self> {
        let source = match &options.cancel {
            Some(cancel) => source.with_cancel(cancel.clone()),
            None => source,
        };
        Self::new(Box::new(source), name, options)
    }

    /// Reads `source`, which errors call `name`. It reads the first bytes, and so may wait for them,
    /// to see how they are compressed.
    pub fn new(source: Box<dyn Source>, name: &str, options: &StreamOptions) -> Result<Self> {
        Self::start(source, name, options).map_err(|error| error.in_file(name))
    }

    fn start(source: Box<dyn Source>, name: &str, options: &StreamOptions) -> Result<Self> {
        let cancel = source.cancel().or_else(|| options.cancel.clone()).unwrap_or_default();
        let mut input = Input::new(source, cancel);
        let decoder = match detect_compression(&mut input)? {
            Compression::None => Decoder::Plain,
            Compression::Gzip => Decoder::Gzip(Box::new(GzipDecoder::new(options.inflate)?)),
            Compression::Zstd => Decoder::Zstd(Box::new(ZstdDecoder::new()?)),
        };
        Ok(ByteStream {
            name: name.to_owned(),
            input,
            decoder,
            buffer: Vec::new(),
            start: 0,
            base: 0,
            ended: false,
            failed: None,
            piece: options.piece.max(1),
            max_buffer: options.max_buffer.max(options.piece).max(1),
        })
    }

    /// What people call the input: its path, usually.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the input is compressed.
    pub fn compression(&self) -> Compression {
        match self.decoder {
            Decoder::Plain => Compression::None,
            Decoder::Gzip(_) => Compression::Gzip,
            Decoder::Zstd(_) => Compression::Zstd,
        }
    }

    /// What inflates the input, if it is gzip.
    pub fn inflate_backend(&self) -> Option<InflateBackend> {
        match &self.decoder {
            Decoder::Gzip(decoder) => Some(decoder.backend()),
            Decoder::Plain | Decoder::Zstd(_) => None,
        }
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
            self.fill_more(at_least)?;
        }
        Ok(self.buffered())
    }

    /// Whether nothing comes after what is buffered. It can be found out by a [`ByteStream::fill`]
    /// only, so right after the last byte was read it may still be `false`.
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
        while left > 0 {
            if self.fill(1)?.is_empty() {
                break;
            }
            let buffered = self.buffered().len();
            let taken = usize::try_from(left).map_or(buffered, |left| left.min(buffered));
            self.consume(taken);
            left -= taken as u64;
            if left >= self.piece as u64 {
                left -= self.seek(left)?;
            }
        }
        Ok(count - left)
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

    /// Raw bytes there are in all, where that is known, for progress bars.
    pub fn input_len(&self) -> Option<u64> {
        self.input.len()
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
        spare.reserve_exact(self.piece.max(tail.len()));
        spare.extend_from_slice(tail);
        let start = std::mem::take(&mut self.start);
        self.base += start as u64;
        (std::mem::replace(&mut self.buffer, spare), start)
    }

    #[cold]
    fn fill_more(&mut self, at_least: usize) -> Result<()> {
        if at_least > self.max_buffer {
            let (limit, found) = (self.max_buffer as u64, at_least as u64);
            return Err(self.place(Error::limit("an item in the stream", limit, found)));
        }
        while self.buffered().len() < at_least && !self.ended {
            if let Some(error) = &self.failed {
                return Err(error.clone());
            }
            self.make_room(at_least);
            if let Err(error) = self.read_piece() {
                let error = self.place(error);
                if Cancel::caused(&error) {
                    return Err(error);
                }
                self.failed = Some(error);
            }
        }
        Ok(())
    }

    /// Puts the name, and the offset where there is none, into an error.
    fn place(&self, error: Error) -> Error {
        let error = match error.offset() {
            Some(_) => error,
            None => error.at(self.base + self.buffer.len() as u64),
        };
        error.in_file(&self.name)
    }

    /// Appends to the buffer what fits, at least a byte, or finds the end.
    fn read_piece(&mut self) -> Result<()> {
        let more = match &mut self.decoder {
            Decoder::Plain => read_plain(&mut self.input, &mut self.buffer)?,
            Decoder::Gzip(decoder) => decoder.decode(&mut self.input, &mut self.buffer)?,
            Decoder::Zstd(decoder) => decoder.decode(&mut self.input, &mut self.buffer)?,
        };
        self.ended = !more;
        Ok(())
    }

    /// Makes room after the buffered bytes: for `at_least` in all, and for a good part of a piece.
    ///
    /// What is not consumed moves to the front when there is little room behind it and it is no
    /// more than what was consumed, so that each byte moves once on the average; or when it must.
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
    fn seek(&mut self, count: u64) -> Result<u64> {
        if !matches!(self.decoder, Decoder::Plain) || !self.buffered().is_empty() {
            return Ok(0);
        }
        let raw = self.input.bytes().len();
        if raw > 0 {
            // What was read to see whether the input is compressed comes first.
            return Ok(0);
        }
        let skipped = self.input.skip(count).map_err(|error| self.place(error))?;
        self.base += self.buffer.len() as u64 + skipped;
        self.buffer.clear();
        self.start = 0;
        Ok(skipped)
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

/// Reads until the first bytes tell what the input is.
fn detect_compression(input: &mut Input) -> Result<Compression> {
    let mut ended = false;
    loop {
        match detect(input.bytes(), ended) {
            Some(Detected::Supported(compression)) => return Ok(compression),
            Some(Detected::Unsupported(unsupported)) => return Err(unsupported.error()),
            None => ended = input.supply(input.bytes().len() + 1, true)? == Supply::Ended,
        }
    }
}

/// Appends to the spare capacity of `output`; `false` is the end.
fn read_plain(input: &mut Input, output: &mut Vec<u8>) -> Result<bool> {
    let before = output.len();
    let bytes = input.bytes();
    let count = bytes.len().min(output.capacity() - before);
    output.extend_from_slice(bytes.get(..count).unwrap_or_default());
    input.advance(count);
    // A file fills the piece up; a pipe hands on what is there.
    while output.len() < output.capacity()
        && input.bytes().is_empty()
        && (output.len() == before || input.never_waits())
    {
        if input.read_into(output)? == 0 {
            break;
        }
    }
    Ok(output.len() > before)
}
