//! The records of a capture out of a stream of bytes, decoded where they are asked for.

use super::FrameBatch;
use super::index::{CaptureIndex, IndexMaker, Route, RouteBegin};
use super::live::Watermark;
use super::parts::CapturePart;
use super::selection::{RecordSelection, decode_selected};
use crate::bytes::{ByteStream, Compression, FileHash};
use crate::capture::{Decoder, Format, Record, Step};
use crate::packet::{DecodeOptions, Frame, FrameInterface, FrameMeta, LinkType, Packet, Status};
use crate::{Error, ErrorKind, Result};

/// Known facts about a capture beside its packets.
#[derive(Debug, Clone)]
pub struct CaptureFacts {
    /// Name of the capture for people: its path, usually.
    pub name: String,
    /// Compression of the capture, as far as is known.
    pub compression: Compression,
    /// Format, version, sections and interfaces, as far as they were read.
    pub decoder: Decoder,
    /// Offset in the decompressed capture of what was not read yet.
    pub position: u64,
    /// Bytes of the file as it lies there: all of them where that is known, else those that were read.
    pub file_bytes: u64,
    /// True if somebody may still be writing it, and its packets have to be waited for: it is no regular file.
    pub is_live: bool,
    /// Its index, where one was asked for, made as the capture was read to its end; or why there is none.
    pub index: Option<Result<CaptureIndex>>,
    /// Reason why an index that was found is not used.
    pub index_fault: Option<Error>,
    /// The hash of the file, where one was asked for.
    pub file_hash: Option<FileHash>,
}

/// Source of packets for a reader that does not decode a stream itself: they come decoded, in batches.
pub(crate) trait RecordSource: Send {
    /// Returns the facts about the capture known so far.
    fn facts(&self) -> CaptureFacts;

    /// Reads the header of the capture, unless that was done.
    ///
    /// # Errors
    /// The input is no capture, or ends inside of its header.
    fn read_header(&mut self) -> Result<()>;

    /// Replaces the packets in `batch` with the next ones; none at the end of the capture.
    ///
    /// # Errors
    /// Error that ended the capture, once all packets before it were given; the same on each further call.
    fn read_frames(&mut self, batch: &mut FrameBatch) -> Result<()>;
}

/// Bytes from the stream, records from the decoder, fields from the headers.
pub(crate) struct StreamRecords {
    pub(crate) stream: ByteStream,
    pub(crate) decoder: Decoder,
    pub(crate) decode: DecodeOptions,
    pub(super) selection: Option<RecordSelection>,
    /// Records so far.
    pub(crate) number: u64,
    /// Bytes to be stepped over before the next record.
    pub(crate) skip: Option<u64>,
    /// Error that prevented that.
    pub(crate) cut: Option<Error>,
    /// Of packets that come as they are captured, with the time of this system.
    pub(super) watermark: Option<Watermark>,
    /// Offset of the first record that is not read any more.
    pub(crate) end: u64,
    /// Number of the last record that is read.
    pub(super) last_number: u64,
    /// The way by the index, where some parts of the capture are left out.
    pub(super) route: Option<Box<Route>>,
    /// The place where reading goes on, unless the stream is there.
    pub(super) jump: Option<RouteBegin>,
    pub(super) maker: Option<Box<IndexMaker>>,
    pub(super) index: Option<Result<CaptureIndex>>,
    pub(crate) index_fault: Option<Error>,
}

/// Reason why a pass over the bytes in view stopped.
pub(crate) enum Stop {
    /// The caller has enough.
    Enough,
    /// More bytes than are in view are needed.
    Need(usize),
    /// Bytes follow that are to be stepped over, in view or not.
    Skip(u64),
    /// The header of the capture is needed.
    Header,
    /// Reading goes on elsewhere.
    Jump,
    /// The capture ends.
    End,
}

impl StreamRecords {
    /// Seeks to a part of the capture, of which nothing was read yet.
    pub(crate) fn seek_to_part(&mut self, part: &CapturePart) -> Result<()> {
        if part.start > 0 {
            self.read_header()?;
            let is_plain = self.stream.compression() == Compression::None;
            if !is_plain || self.decoder.format() != Some(Format::Pcap) {
                let message = "expected a plain capture of format pcap to read a part of it";
                return Err(Error::new(ErrorKind::Argument, message).in_file(self.stream.name()));
            }
            self.stream.seek(part.start)?;
            self.decoder.go_to_record(part.start);
        }
        self.number = part.packets_before;
        self.end = part.end.unwrap_or(u64::MAX);
        Ok(())
    }

    /// Gets the bytes that a pass over those in view stopped for; says whether the capture goes on.
    pub(crate) fn advance(&mut self, stop: &Stop) -> Result<bool> {
        match self.fill_or_skip(stop) {
            Err(error) if self.is_stopped(&error) => Ok(false),
            Err(error) => {
                self.end_index_at(&error);
                Err(error)
            }
            outcome => outcome,
        }
    }

    /// Returns true if an error only says that the input was ended in the middle of something, by its reader's wish.
    fn is_stopped(&self, error: &Error) -> bool {
        matches!(error.kind(), ErrorKind::Truncated { .. }) && self.stream.cancel().is_ended()
    }

    fn fill_or_skip(&mut self, stop: &Stop) -> Result<bool> {
        match *stop {
            Stop::Enough => {}
            Stop::End => return Ok(false),
            Stop::Header => self.read_header()?,
            Stop::Jump => self.make_jump()?,
            Stop::Need(count) => {
                self.stream.fill(count)?;
                self.mark_points();
            }
            Stop::Skip(count) => {
                let skipped = self.stream.skip(count)?;
                self.mark_points();
                if skipped < count {
                    let start = self.stream.position() - skipped;
                    let error = cut_block(count, skipped).at(start).in_file(self.stream.name());
                    return Err(self.cut.insert(error).clone());
                }
            }
        }
        Ok(true)
    }

    /// Replaces the packets in `batch` with the next ones, possibly none after a wait for bytes; returns whether the
    /// capture may go on.
    pub(crate) fn read_available(&mut self, batch: &mut FrameBatch) -> Result<bool> {
        let spare = batch.clear();
        let mut has_waited = false;
        loop {
            let view_start = self.stream.position();
            let stop = self.pass(batch);
            if !batch.is_empty() {
                // An error, if there was one, comes again on the next call; a step that the decoder has made does not.
                if let Ok(Stop::Skip(count)) = stop {
                    self.skip = Some(count);
                }
                let consumed = (self.stream.position() - view_start) as usize;
                let (bytes, unread) = self.stream.swap_buffer(spare);
                batch.keep(bytes, unread - consumed);
                return Ok(true);
            }
            let stop = stop?;
            let waits = matches!(stop, Stop::Need(_));
            if waits && has_waited {
                batch.keep(spare, 0);
                return Ok(true);
            }
            if !self.advance(&stop)? {
                return Ok(false);
            }
            has_waited |= waits;
        }
    }

    /// Puts the packets whose bytes are in view into `sink`.
    pub(crate) fn pass(&mut self, sink: &mut impl PacketSink) -> Result<Stop> {
        if let Some(error) = &self.cut {
            return if self.is_stopped(error) { Ok(Stop::End) } else { Err(error.clone()) };
        }
        if let Some(count) = self.skip.take() {
            return Ok(Stop::Skip(count));
        }
        if let Some(stop) = self.before_pass(sink)? {
            return Ok(stop);
        }
        let view = self.stream.buffered();
        let at_end = self.stream.at_end();
        let here = self.end.saturating_sub(self.stream.position());
        let end = usize::try_from(here).unwrap_or(usize::MAX);
        // Why reading ends before the capture does: the part is over, or the last record that is wanted.
        let (mut at, mut leaves_part, mut has_enough) = (0, false, false);
        let base = self.stream.position();
        let result = loop {
            if at >= end {
                leaves_part = true;
                break Ok(Stop::End);
            }
            if self.number >= self.last_number {
                has_enough = true;
                break Ok(Stop::End);
            }
            let rest = view.get(at..).unwrap_or_default();
            match self.decoder.step(rest, at_end) {
                Ok(Step::Record { record, consumed }) => {
                    let place = RecordPlace { decoder: &self.decoder, view, start: at, consumed };
                    if let Some(maker) = &mut self.maker {
                        maker.on_record(base + at as u64, record.ts, self.number);
                    }
                    at += consumed;
                    self.number += 1;
                    let selection = self.selection.as_mut();
                    let (number, options) = (self.number, self.decode);
                    if !decode_selected(selection, &record, number, options, || sink.slot()) {
                        continue;
                    }
                    if !sink.on_packet(&record, place) {
                        break Ok(Stop::Enough);
                    }
                }
                Ok(Step::Skip(count)) if count <= rest.len() as u64 => {
                    let place = RecordPlace {
                        decoder: &self.decoder,
                        view,
                        start: at,
                        consumed: count as usize,
                    };
                    if let Some(maker) = &mut self.maker {
                        maker.on_block(&self.decoder, place.raw());
                    }
                    at += count as usize;
                    if !sink.on_skipped(place) {
                        break Ok(Stop::Enough);
                    }
                }
                Ok(Step::Skip(count)) => {
                    if let Some(maker) = &mut self.maker {
                        maker.on_block(&self.decoder, &[]);
                    }
                    break Ok(Stop::Skip(count));
                }
                Ok(Step::Need(count)) => break Ok(Stop::Need(count)),
                Ok(Step::End) if self.ends_in_part() => break Err(self.misplaced()),
                Ok(Step::End) => break Ok(Stop::End),
                Err(error) if at_end && self.is_stopped(&error) => break Ok(Stop::End),
                Err(error) => break Err(error),
            }
        };
        self.stream.consume(at);
        let result = match result {
            Ok(Stop::End) if leaves_part && self.route.is_some() => self.leave_part(sink),
            Ok(Stop::End) => self.end().map(|()| Stop::End),
            result => result,
        };
        match &result {
            Ok(Stop::End) if !has_enough => self.end_index(true),
            Err(error) => self.end_index_at(error),
            Ok(_) => {}
        }
        result.map_err(|error| error.in_file(self.stream.name()))
    }

    /// The end of the capture.
    fn end(&self) -> Result<()> {
        let selection = self.selection.as_ref();
        selection.map_or(Ok(()), |selection| selection.end(self.decoder.interfaces()))
    }
}

impl RecordSource for StreamRecords {
    fn facts(&self) -> CaptureFacts {
        let stream = &self.stream;
        CaptureFacts {
            name: stream.name().to_owned(),
            compression: stream.compression(),
            decoder: self.decoder.clone(),
            position: stream.position(),
            file_bytes: stream.input_len().unwrap_or(0).max(stream.input_read()),
            is_live: !stream.is_nonblocking(),
            index: self.index.clone(),
            index_fault: self.index_fault.clone(),
            file_hash: stream.file_hash(),
        }
    }

    fn read_header(&mut self) -> Result<()> {
        while !self.decoder.has_header() {
            let step = self.decoder.step(self.stream.buffered(), self.stream.at_end());
            if matches!(&step, Err(error) if self.is_stopped(error)) {
                break;
            }
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

    fn read_frames(&mut self, batch: &mut FrameBatch) -> Result<()> {
        while self.read_available(batch)? && batch.is_empty() {}
        Ok(())
    }
}

/// Sink that a pass fills. Packets are decoded in their place: copying one straight after it was written
/// in small pieces would stall the processor for longer than decoding takes.
pub(crate) trait PacketSink {
    /// Returns the slot of the next packet.
    fn slot(&mut self) -> &mut Packet;

    /// Takes the packet of `record`, which is in its slot, its bytes at `place`; says whether the next one is wanted.
    fn on_packet(&mut self, record: &Record<'_>, place: RecordPlace<'_>) -> bool;

    /// Notes that the bytes at `place` hold no packet; says whether the next one is wanted.
    #[inline(always)]
    fn on_skipped(&mut self, place: RecordPlace<'_>) -> bool {
        let _ = place;
        true
    }
}

/// Place in the bytes in view at which something was found.
#[derive(Clone, Copy)]
pub(crate) struct RecordPlace<'v> {
    /// Who found it, just now.
    pub(crate) decoder: &'v Decoder,
    pub(crate) view: &'v [u8],
    /// Offset of it in the view, and the number of its bytes there.
    pub(crate) start: usize,
    pub(crate) consumed: usize,
}

impl<'v> RecordPlace<'v> {
    /// The packet that the record here was decoded to, with the bytes of the record and its interface.
    #[inline(always)]
    pub(crate) fn frame<'f>(&self, packet: &'f Packet, record: &Record<'f>) -> Frame<'f>
    where
        'v: 'f,
    {
        let interface = record.interface.map(|number| {
            let interface = self.decoder.interfaces().get(number as usize);
            FrameInterface {
                number,
                name: interface.and_then(|interface| interface.name.as_deref()),
            }
        });
        Frame::new(packet, record.captured, interface)
    }

    /// Its bytes as they stand in the file.
    pub(crate) fn raw(&self) -> &'v [u8] {
        self.view.get(self.start..self.start + self.consumed).unwrap_or_default()
    }
}

/// Decodes the packet that a record holds into its place.
#[inline(always)]
pub(crate) fn decode(record: &Record<'_>, number: u64, options: DecodeOptions, place: &mut Packet) {
    let link_type = LinkType(record.link_type);
    let meta = FrameMeta { number, ts: record.ts, length: record.length, link_type };
    place.decode_into(meta, record.captured, options);
    if record.bad_time {
        place.mark(Status::BAD_TIME);
    }
}

/// The input ends where `count` bytes are to be stepped over, of which `available` are there.
pub(crate) fn cut_block(count: u64, available: u64) -> Error {
    Error::truncated("the rest of a block", count, available)
}
