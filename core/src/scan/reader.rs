//! A capture file read front to back: bytes from the stream, records from the decoder, fields from
//! the headers.

use std::path::Path;

use super::{Filter, FrameBatch};
use crate::capture::{Decoder, Record, Step};
use crate::packet::{Columns, DecodeOptions, FrameMeta, LinkType, Packet, Status};
use crate::stream::{ByteStream, StreamOptions};
use crate::{Error, Result};

/// Packets decoded before they are spread over columns: few enough to stay in the cache.
const BLOCK_PACKETS: usize = 128;

/// Rows that columns get room for before any is read.
const ROWS_RESERVED_MAX: usize = 1 << 16;

/// How a capture is read.
#[derive(Debug, Clone, Default)]
pub struct CaptureOptions {
    /// How headers are followed.
    pub decode: DecodeOptions,
    /// A libpcap expression; frames that it does not match are left out.
    pub filter: Option<String>,
    /// How bytes are read.
    pub stream: StreamOptions,
}

/// Reads one capture, plain or compressed, in one pass and in bounded memory.
///
/// Damage ends the capture: every packet before it is given first, then each further call answers
/// the same error, with file and offset.
pub struct CaptureReader {
    stream: ByteStream,
    decoder: Decoder,
    decode: DecodeOptions,
    filter: Option<Filter>,
    number: u64,
}

/// Why a pass over the bytes in view ended.
enum Pass {
    /// The caller has enough.
    Enough,
    /// More bytes than are in view are needed.
    Need(usize),
    /// What follows is to be stepped over, in view or not.
    Skip(u64),
    /// The capture ends.
    End,
}

impl CaptureReader {
    /// Opens the capture at `path`.
    ///
    /// # Errors
    /// `Io` where it cannot be opened, `Format` where its compression is not supported, and those
    /// of [`Filter::new`].
    pub fn open(path: &Path, options: &CaptureOptions) -> Result<Self> {
        Self::new(ByteStream::open(path, &options.stream)?, options)
    }

    /// Reads a capture from a stream that was opened before.
    ///
    /// # Errors
    /// Those of [`Filter::new`].
    pub fn new(stream: ByteStream, options: &CaptureOptions) -> Result<Self> {
        let filter = options.filter.as_deref().map(Filter::new).transpose()?;
        Ok(CaptureReader {
            stream,
            decoder: Decoder::new(),
            decode: options.decode,
            filter,
            number: 0,
        })
    }

    /// The bytes under it, for their name, compression and progress.
    pub fn stream(&self) -> &ByteStream {
        &self.stream
    }

    /// How headers are followed.
    pub fn decode_options(&self) -> DecodeOptions {
        self.decode
    }

    /// The expression that packets have to match.
    pub fn filter(&self) -> Option<&str> {
        self.filter.as_ref().map(Filter::expression)
    }

    /// The decoder under it, for format and interfaces.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// Reads the header of the capture, unless that was done, and no packet.
    ///
    /// # Errors
    /// Those of the stream and the decoder: the input is no capture, or ends inside of its header.
    pub fn read_header(&mut self) -> Result<()> {
        while !self.decoder.has_header() {
            let step = self.decoder.step(self.stream.buffered(), self.stream.at_end());
            match step.map_err(|error| error.in_file(self.stream.name()))? {
                Step::Need(count) => {
                    self.stream.fill(count)?;
                }
                Step::Skip(count) => {
                    self.stream.skip(count)?;
                }
                // A decoder gives neither before it has a header.
                Step::Record { .. } | Step::End => break,
            }
        }
        Ok(())
    }

    /// Calls `each` with every packet and its captured bytes, until the capture ends.
    ///
    /// # Errors
    /// Those of the stream and the decoder, after the packets before the damage.
    pub fn each(&mut self, mut each: impl FnMut(&Packet, &[u8])) -> Result<()> {
        self.each_while(|packet, captured| {
            each(packet, captured);
            true
        })?;
        Ok(())
    }

    /// Calls `each` like [`CaptureReader::each`], but only until it answers `false`; the next call
    /// goes on behind that packet. Says whether the capture may go on.
    ///
    /// # Errors
    /// Those of [`CaptureReader::each`].
    pub fn each_while(&mut self, each: impl FnMut(&Packet, &[u8]) -> bool) -> Result<bool> {
        let mut caller = Caller { packet: Packet::default(), each };
        loop {
            match self.pass(&mut caller)? {
                Pass::Enough => return Ok(true),
                pass if self.go_on(&pass)? => {}
                _ => return Ok(false),
            }
        }
    }

    /// Fills `columns` with up to `rows_max` packets; no rows mean that the capture has ended.
    ///
    /// # Errors
    /// Those of the stream and the decoder, once all rows before the damage were given.
    pub fn read_columns(&mut self, columns: &mut Columns, rows_max: usize) -> Result<()> {
        columns.clear();
        columns.reserve(rows_max.min(ROWS_RESERVED_MAX));
        let mut block = Block { packets: Vec::with_capacity(BLOCK_PACKETS), room: 0 };
        let result = loop {
            block.room = BLOCK_PACKETS.min(rows_max - columns.len());
            match self.pass(&mut block) {
                Ok(Pass::Enough) => {
                    columns.extend(&block.packets);
                    block.packets.clear();
                    if columns.len() == rows_max {
                        return Ok(());
                    }
                }
                Ok(pass) => match self.go_on(&pass) {
                    Ok(true) => {}
                    ended => break ended.map(drop),
                },
                Err(error) => break Err(error),
            }
        };
        columns.extend(&block.packets);
        // An error comes again on the next call, which has no rows to give.
        if columns.is_empty() { result } else { Ok(()) }
    }

    /// Fills `batch` with the packets of one piece of the capture, and their bytes; an empty batch
    /// means that the capture has ended.
    ///
    /// # Errors
    /// Those of the stream and the decoder, once all packets before the damage were given.
    pub fn read_frames(&mut self, batch: &mut FrameBatch) -> Result<()> {
        let spare = batch.clear();
        loop {
            let view_start = self.stream.position();
            let pass = self.pass(batch);
            if !batch.is_empty() {
                // An error, if there was one, comes again on the next call.
                let consumed = (self.stream.position() - view_start) as usize;
                let (bytes, unread) = self.stream.swap_buffer(spare);
                batch.keep(bytes, unread - consumed);
                return Ok(());
            }
            if !self.go_on(&pass?)? {
                return Ok(());
            }
        }
    }

    /// Does what a pass over the bytes in view asked for; says whether the capture goes on.
    fn go_on(&mut self, pass: &Pass) -> Result<bool> {
        match *pass {
            Pass::Enough => {}
            Pass::End => return Ok(false),
            Pass::Need(count) => {
                self.stream.fill(count)?;
            }
            Pass::Skip(count) => {
                let skipped = self.stream.skip(count)?;
                if skipped < count {
                    let start = self.stream.position() - skipped;
                    return Err(Error::truncated("the rest of a block", count, skipped)
                        .at(start)
                        .in_file(self.stream.name()));
                }
            }
        }
        Ok(true)
    }

    /// Puts the packets whose bytes are in view into `sink`.
    fn pass(&mut self, sink: &mut impl Sink) -> Result<Pass> {
        let view = self.stream.buffered();
        let at_end = self.stream.at_end();
        let mut at = 0;
        let result = loop {
            let rest = view.get(at..).unwrap_or_default();
            match self.decoder.step(rest, at_end) {
                Ok(Step::Record { record, consumed }) => {
                    at += consumed;
                    self.number += 1;
                    match self.filter.as_mut().map_or(Ok(true), |filter| filter.matches(&record)) {
                        Ok(true) => {}
                        Ok(false) => continue,
                        Err(error) => break Err(error),
                    }
                    decode(&record, self.number, self.decode, sink.place());
                    if !sink.placed(&record, view) {
                        break Ok(Pass::Enough);
                    }
                }
                Ok(Step::Skip(count)) if count <= rest.len() as u64 => at += count as usize,
                Ok(Step::Skip(count)) => break Ok(Pass::Skip(count)),
                Ok(Step::Need(count)) => break Ok(Pass::Need(count)),
                Ok(Step::End) => break Ok(Pass::End),
                Err(error) => break Err(error),
            }
        };
        self.stream.consume(at);
        result.map_err(|error| error.in_file(self.stream.name()))
    }
}

/// What a pass fills. Packets are decoded in their place: copying one straight after it was written
/// in small pieces would stall the processor for longer than decoding takes.
pub(super) trait Sink {
    /// The place of the next packet.
    fn place(&mut self) -> &mut Packet;

    /// The packet of `record` is in its place, its bytes in `view`; says whether the next one is
    /// wanted.
    fn placed(&mut self, record: &Record<'_>, view: &[u8]) -> bool;
}

/// One packet at a time, shown to a function.
struct Caller<F> {
    packet: Packet,
    each: F,
}

impl<F: FnMut(&Packet, &[u8]) -> bool> Sink for Caller<F> {
    #[inline(always)]
    fn place(&mut self) -> &mut Packet {
        &mut self.packet
    }

    #[inline(always)]
    fn placed(&mut self, record: &Record<'_>, _: &[u8]) -> bool {
        (self.each)(&self.packet, record.captured)
    }
}

/// Packets one behind another, up to `room` of them.
struct Block {
    packets: Vec<Packet>,
    room: usize,
}

impl Sink for Block {
    #[inline(always)]
    fn place(&mut self) -> &mut Packet {
        let index = self.packets.len();
        self.packets.push(Packet::default());
        &mut self.packets[index]
    }

    #[inline(always)]
    fn placed(&mut self, _: &Record<'_>, _: &[u8]) -> bool {
        self.packets.len() < self.room
    }
}

/// Decodes the packet that a record holds into its place.
#[inline(always)]
fn decode(record: &Record<'_>, number: u64, options: DecodeOptions, place: &mut Packet) {
    let link_type = LinkType(record.link_type);
    let meta = FrameMeta { number, ts: record.ts, length: record.length, link_type };
    place.decode_into(meta, record.captured, options);
    if record.bad_time {
        place.mark(Status::BAD_TIME);
    }
}
