//! A capture read front to back, whatever its packets come from.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blocks;
use super::index::{IndexUse, WantedRecords};
use super::live::Watermark;
use super::records::{CaptureFacts, PacketSink, RecordPlace, RecordSource, Stop, StreamRecords};
use super::selection::RecordSelection;
use super::{CaptureOptions, FrameBatch};
use crate::bytes::{ByteStream, Cancel};
use crate::capture::{Decoder, Record};
use crate::packet::{DecodeOptions, Frame, NetworkLabels, Packet, PacketColumns};
use crate::query::Condition;
use crate::{Error, ErrorKind, Result};

/// Packets decoded before they are spread over columns: few enough to stay in the cache.
const BLOCK_PACKETS: usize = 128;

// Bound (Captures): rows reserved for a batch = 65,536.
/// Room for rows before any is read.
const ROWS_RESERVED_MAX: usize = 1 << 16;

/// Reads one capture, plain or compressed, in one pass and in bounded memory.
///
/// Damage ends the capture: every packet before it is given first, then each further call answers
/// the same error, with file and offset.
pub struct CaptureReader {
    source: ReaderSource,
    /// Path of the file that is read, where it may have an index.
    file: Option<PathBuf>,
    options: Box<CaptureOptions>,
    cancel: Cancel,
    /// Threads that may decode, until they are started.
    jobs: usize,
}

/// Source of packets.
enum ReaderSource {
    /// They are decoded when they are asked for.
    Stream(Box<StreamRecords>),
    /// They come decoded.
    Batches(Batches),
}

/// Packets that come in batches, and the place in the present one.
struct Batches {
    source: Box<dyn RecordSource>,
    batch: FrameBatch,
    at: usize,
}

impl CaptureReader {
    /// Opens the capture at `path`.
    ///
    /// # Errors
    /// `Io` where it cannot be opened, `Format` where its compression is not supported, and those
    /// of [`CaptureReader::new`].
    pub fn open(path: &Path, options: &CaptureOptions) -> Result<Self> {
        Ok(Self::new(ByteStream::open(path, &options.stream)?, options)?.of_file(path))
    }

    /// Says that the capture is the file at `path`, which nothing else in the stream tells, so that its index can be used and
    /// made.
    #[must_use]
    pub fn of_file(mut self, path: &Path) -> Self {
        if let (ReaderSource::Stream(records), None) = (&mut self.source, &self.options.part)
            && records.stream.is_nonblocking()
            // Bytes that are hashed are read in their order.
            && records.stream.file_hash().is_none()
        {
            self.file = Some(path.to_owned());
            match self.options.index {
                IndexUse::Make | IndexUse::Only | IndexUse::Anew => self.make_index(),
                IndexUse::Use => {
                    records.find_places(path, self.options.index_dir.as_deref());
                    self.leave_out_but(&self.options.wanted.clone());
                }
            }
        }
        self
    }

    /// Reads a capture from a stream that was opened before.
    ///
    /// # Errors
    /// Those of [`Filter::new`](super::Filter::new); for a part also those of the header.
    pub fn new(stream: ByteStream, options: &CaptureOptions) -> Result<Self> {
        let selection = RecordSelection::new(options)?;
        let (cancel, decode) = (stream.cancel(), options.decode);
        let mut records = StreamRecords {
            stream,
            decoder: Decoder::new(),
            decode,
            selection,
            number: 0,
            skip: None,
            cut: None,
            watermark: None,
            end: u64::MAX,
            last_number: options.wanted.last,
            route: None,
            jump: None,
            maker: None,
            index: None,
            index_fault: None,
        };
        let mut jobs = options.stream.jobs;
        if let Some(part) = &options.part {
            if records.stream.file_hash().is_some() {
                let message = "expected a whole capture to hash, found a part of one";
                return Err(Error::new(ErrorKind::Argument, message).in_file(records.stream.name()));
            }
            records.seek_to_part(part)?;
            jobs = 1;
        }
        let (source, options) =
            (ReaderSource::Stream(Box::new(records)), Box::new(options.clone()));
        Ok(CaptureReader { source, file: None, options, cancel, jobs })
    }

    /// A reader of packets that come as they are captured, and of which the system leaves out those that the filter of
    /// `options` does not match.
    pub(super) fn of_interface(
        stream: ByteStream,
        options: &CaptureOptions,
        watermark: Watermark,
    ) -> Result<Self> {
        // The system sees whole packets. What is left of them may not match any more.
        let rest = CaptureOptions { filter: None, ..options.clone() };
        let mut reader = Self::new(stream, &rest)?;
        reader.options = Box::new(options.clone());
        if let ReaderSource::Stream(records) = &mut reader.source {
            records.watermark = Some(watermark);
        }
        Ok(reader)
    }

    /// Reads a capture whose packets come decoded, as `options` say.
    pub(crate) fn of_batches(
        source: Box<dyn RecordSource>,
        options: &CaptureOptions,
        cancel: Cancel,
    ) -> Self {
        let source = ReaderSource::Batches(Batches { source, batch: FrameBatch::new(), at: 0 });
        let options = Box::new(options.clone());
        CaptureReader { source, file: None, options, cancel, jobs: 1 }
    }

    /// Says that packets whose records are not `wanted` need not be shown, before any was read. With an index, the parts of the
    /// capture that have none are not read; without, nothing changes.
    pub(crate) fn leave_out_but(&mut self, wanted: &WantedRecords) {
        let ReaderSource::Stream(records) = &mut self.source else { return };
        if let Some(path) = &self.file
            && records.has_all()
            && !wanted.are_all()
        {
            records.find_route(path, self.options.index_dir.as_deref(), wanted);
        }
        records.last_number = records.last_number.min(wanted.last);
    }

    /// Makes the index of the capture as it is read to its end, unless there is one; [`CaptureFacts::index`] then has it. Of
    /// what is no file, or was read in part, none is made.
    pub(crate) fn make_index(&mut self) {
        if let (ReaderSource::Stream(records), Some(path)) = (&mut self.source, &self.file)
            && records.has_all()
            && records.last_number == u64::MAX
            && records.index.is_none()
        {
            records.begin_index(path, self.options.index_dir.as_deref(), self.options.index);
        }
    }

    /// Makes the index of the capture as `Only` or `Anew` say, and shows packets only as far as they are read for it.
    pub(crate) fn make_index_as(&mut self, index: IndexUse) {
        self.options.index = index;
        self.make_index();
    }

    /// Returns the known facts about the capture beside its packets; all of them once it was read to the end.
    pub fn facts(&self) -> CaptureFacts {
        match &self.source {
            ReaderSource::Stream(records) => records.facts(),
            ReaderSource::Batches(batches) => batches.source.facts(),
        }
    }

    /// Memory that its buffers take.
    pub fn memory_bytes(&self) -> usize {
        match &self.source {
            ReaderSource::Stream(records) => records.stream.memory_bytes(),
            ReaderSource::Batches(batches) => batches.batch.memory_bytes(),
        }
    }

    /// The handle that ends a read of this capture that waits.
    pub fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Returns the options for following headers.
    pub fn decode_options(&self) -> DecodeOptions {
        self.options.decode
    }

    /// Returns true if the packets can be read once more: those of a file, and not those of a pipe or an interface.
    pub(crate) fn can_be_read_again(&self) -> bool {
        match &self.source {
            ReaderSource::Stream(records) => records.stream.is_nonblocking(),
            ReaderSource::Batches(batches) => !batches.source.facts().is_live,
        }
    }

    /// Returns true if packets come as they are captured.
    pub(crate) fn is_of_interface(&self) -> bool {
        matches!(&self.source, ReaderSource::Stream(records) if records.watermark.is_some())
    }

    /// Returns the labels of addresses.
    pub(crate) fn labels(&self) -> Option<&Arc<NetworkLabels>> {
        self.options.labels.as_ref()
    }

    /// Returns the conditions that packets have to match, as text; `None` if all are read.
    pub fn selection(&self) -> Option<String> {
        let filter = self.options.filter.clone();
        match &self.options.flow {
            Some(flow) => Some(format!("{}\nflow {flow}", filter.unwrap_or_default())),
            None => filter,
        }
    }

    /// Reads the header of the capture, unless that was done, and no packet.
    ///
    /// # Errors
    /// Those of the stream and the decoder: the input is no capture, or ends inside of its header.
    pub fn read_header(&mut self) -> Result<()> {
        match &mut self.source {
            ReaderSource::Stream(records) => records.read_header(),
            ReaderSource::Batches(batches) => batches.source.read_header(),
        }
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
        match self.source() {
            ReaderSource::Stream(records) => {
                let mut caller = Caller { packet: Packet::default(), each };
                records.show_until(&mut caller, || false)
            }
            ReaderSource::Batches(batches) => batches.each_while(each),
        }
    }

    /// Calls `each` with every packet, its captured bytes and its interface, until the capture ends.
    ///
    /// # Errors
    /// Those of [`CaptureReader::each`].
    pub fn each_frame(&mut self, mut each: impl FnMut(&Frame<'_>)) -> Result<()> {
        let each = |frame: &Frame<'_>| {
            each(frame);
            true
        };
        self.each_frame_until(each, || false)?;
        Ok(())
    }

    /// Calls `each` with every frame until it returns `false`. Of an interface it also ends when packets have to be
    /// waited for, if by then there are `enough`.
    fn each_frame_until(
        &mut self,
        each: impl FnMut(&Frame<'_>) -> bool,
        enough: impl Fn() -> bool,
    ) -> Result<bool> {
        let labels = self.options.labels.clone();
        match self.source() {
            ReaderSource::Stream(records) => {
                let labels = labels.as_deref();
                let mut caller = FrameCaller { packet: Packet::default(), each, labels };
                records.show_until(&mut caller, enough)
            }
            ReaderSource::Batches(batches) => batches.each_frame_while(each, labels),
        }
    }

    /// Fills `columns` with up to `rows_max` packets, of an interface with those that have come; no rows mean that the
    /// capture has ended.
    ///
    /// # Errors
    /// Those of the stream and the decoder, once all rows before the damage were given.
    pub fn read_columns(&mut self, columns: &mut PacketColumns, rows_max: usize) -> Result<()> {
        if columns.needs_frames() {
            return self.read_frame_columns(columns, rows_max, None);
        }
        columns.clear();
        columns.reserve(rows_max.min(ROWS_RESERVED_MAX));
        let result = match self.source() {
            ReaderSource::Stream(records) => records.read_columns(columns, rows_max),
            ReaderSource::Batches(batches) => batches.read_columns(columns, rows_max),
        };
        // An error comes again on the next call, which has no rows to give.
        if columns.is_empty() { result } else { Ok(()) }
    }

    /// Fills `columns` like [`CaptureReader::read_columns`], with packets only that hold a condition.
    ///
    /// # Errors
    /// Those of [`CaptureReader::read_columns`].
    pub fn read_columns_where(
        &mut self,
        columns: &mut PacketColumns,
        rows_max: usize,
        condition: &Condition,
    ) -> Result<()> {
        self.read_frame_columns(columns, rows_max, Some(condition))
    }

    /// Fills `columns` packet by packet, with those that hold a condition, or with all.
    fn read_frame_columns(
        &mut self,
        columns: &mut PacketColumns,
        rows_max: usize,
        condition: Option<&Condition>,
    ) -> Result<()> {
        columns.clear();
        if condition.is_none() {
            columns.reserve(rows_max.min(ROWS_RESERVED_MAX));
        }
        let has_some = Cell::new(false);
        let each = |frame: &Frame<'_>| {
            if condition.is_none_or(|condition| condition.holds(|place| frame.value_at(place))) {
                columns.push(frame);
                has_some.set(true);
            }
            columns.len() < rows_max
        };
        let result = self.each_frame_until(each, || has_some.get());
        columns.flush();
        // An error comes again on the next call, which has no rows to give.
        if columns.is_empty() { result.map(drop) } else { Ok(()) }
    }

    /// Fills `batch` with the packets of one piece of the capture, and their bytes; an empty batch
    /// means that the capture has ended.
    ///
    /// # Errors
    /// Those of the stream and the decoder, once all packets before the damage were given.
    pub fn read_frames(&mut self, batch: &mut FrameBatch) -> Result<()> {
        batch.set_labels(self.options.labels.clone());
        self.read_unlabelled(batch)
    }

    fn read_unlabelled(&mut self, batch: &mut FrameBatch) -> Result<()> {
        match self.source() {
            ReaderSource::Stream(records) => records.read_frames(batch),
            ReaderSource::Batches(batches) => batches.read_frames(batch),
        }
    }

    /// Fills `batch` with the packets that have come, possibly none after a wait; answers whether the capture may go on.
    ///
    /// # Errors
    /// Those of [`CaptureReader::read_frames`].
    pub(crate) fn read_available(&mut self, batch: &mut FrameBatch) -> Result<bool> {
        match self.source() {
            ReaderSource::Stream(records) => records.read_available(batch),
            ReaderSource::Batches(batches) => {
                batches.read_frames(batch)?;
                Ok(!batch.is_empty())
            }
        }
    }

    /// The time before which no packet comes any more, as far as it is known, of packets that come as they are captured.
    pub(crate) fn watermark(&self) -> Option<i64> {
        match &self.source {
            ReaderSource::Stream(records) => records.watermark.as_ref()?.get(),
            ReaderSource::Batches(_) => None,
        }
    }

    /// Fills `batch` with up to `count_max` packets, without their bytes; an empty batch means that the capture has
    /// ended.
    ///
    /// # Errors
    /// Those of [`CaptureReader::read_frames`].
    pub(crate) fn read_packets(&mut self, batch: &mut FrameBatch, count_max: usize) -> Result<()> {
        match self.source() {
            ReaderSource::Stream(records) => {
                let mut block = PacketBlock { packets: batch.take_packets(), room: count_max };
                let result = records.read_block(&mut block);
                batch.put_packets(block.packets);
                // An error comes again on the next call, which has no packets to give.
                if batch.is_empty() { result } else { Ok(()) }
            }
            ReaderSource::Batches(batches) => {
                batches.read_frames(batch)?;
                drop(batch.take_bytes());
                Ok(())
            }
        }
    }

    /// The records of the capture, to be decoded on this thread; itself where they come decoded.
    pub(crate) fn into_records(self) -> Result<Box<StreamRecords>> {
        match self.source {
            ReaderSource::Stream(records) => Ok(records),
            ReaderSource::Batches(_) => {
                Err(Error::internal("a capture that is read on other threads"))
            }
        }
    }

    /// Returns the source of packets, with the threads started that may decode them.
    fn source(&mut self) -> &mut ReaderSource {
        let jobs = std::mem::replace(&mut self.jobs, 1);
        if jobs > 1
            && let ReaderSource::Stream(records) = &mut self.source
            && records.has_all()
            && records.last_number == u64::MAX
            && let Some(source) = blocks::start(records, jobs)
        {
            self.source =
                ReaderSource::Batches(Batches { source, batch: FrameBatch::new(), at: 0 });
        }
        &mut self.source
    }
}

impl StreamRecords {
    /// Shows packets to `caller` until it wants no more, there are `enough`, or the capture ends.
    fn show_until(
        &mut self,
        caller: &mut impl PacketSink,
        enough: impl Fn() -> bool,
    ) -> Result<bool> {
        loop {
            match self.pass(caller)? {
                Stop::Enough => return Ok(true),
                Stop::Need(_) if self.watermark.is_some() && enough() => return Ok(true),
                stop if self.advance(&stop)? => {}
                _ => return Ok(false),
            }
        }
    }

    /// Adds packets to `block` until it is full, or the capture ends.
    fn read_block(&mut self, block: &mut PacketBlock) -> Result<()> {
        loop {
            match self.pass(block)? {
                Stop::Enough => return Ok(()),
                stop if self.advance(&stop)? => {}
                _ => return Ok(()),
            }
        }
    }

    /// Adds packets to `columns` until there are `rows_max`, or the capture ends.
    fn read_columns(&mut self, columns: &mut PacketColumns, rows_max: usize) -> Result<()> {
        let mut block = PacketBlock { packets: Vec::with_capacity(BLOCK_PACKETS), room: 0 };
        let result = loop {
            block.room = BLOCK_PACKETS.min(rows_max - columns.len());
            match self.pass(&mut block) {
                Ok(Stop::Enough) => {
                    columns.extend(&block.packets);
                    block.packets.clear();
                    if columns.len() == rows_max {
                        return Ok(());
                    }
                }
                // Who captures now wants them now.
                Ok(Stop::Need(_))
                    if self.watermark.is_some() && columns.len() + block.packets.len() > 0 =>
                {
                    break Ok(());
                }
                Ok(stop) => match self.advance(&stop) {
                    Ok(true) => {}
                    ended => break ended.map(drop),
                },
                Err(error) => break Err(error),
            }
        };
        columns.extend(&block.packets);
        result
    }
}

impl Batches {
    /// Makes sure of a packet at the present place; says whether there is one.
    fn supply(&mut self) -> Result<bool> {
        if self.at == self.batch.len() {
            self.at = 0;
            self.source.read_frames(&mut self.batch)?;
        }
        Ok(!self.batch.is_empty())
    }

    fn each_while(&mut self, mut each: impl FnMut(&Packet, &[u8]) -> bool) -> Result<bool> {
        while self.supply()? {
            while let Some((packet, captured)) = self.batch.packet_and_bytes(self.at) {
                self.at += 1;
                if !each(packet, captured) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn each_frame_while(
        &mut self,
        mut each: impl FnMut(&Frame<'_>) -> bool,
        labels: Option<Arc<NetworkLabels>>,
    ) -> Result<bool> {
        while self.supply()? {
            self.batch.set_labels(labels.clone());
            while let Some(frame) = self.batch.frame(self.at) {
                self.at += 1;
                if !each(&frame) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Adds packets to `columns` until there are `rows_max`, or the capture ends.
    fn read_columns(&mut self, columns: &mut PacketColumns, rows_max: usize) -> Result<()> {
        while columns.len() < rows_max && self.supply()? {
            let packets = self.batch.packets().get(self.at..).unwrap_or_default();
            let count = packets.len().min(rows_max - columns.len());
            columns.extend(packets.get(..count).unwrap_or_default());
            self.at += count;
        }
        Ok(())
    }

    fn read_frames(&mut self, batch: &mut FrameBatch) -> Result<()> {
        if self.at == self.batch.len() {
            return self.source.read_frames(batch);
        }
        // Some of these packets were shown one by one.
        self.batch.forget_first(std::mem::take(&mut self.at));
        std::mem::swap(batch, &mut self.batch);
        drop(self.batch.clear());
        Ok(())
    }
}

/// One packet at a time, shown to a function.
struct Caller<F> {
    packet: Packet,
    each: F,
}

impl<F: FnMut(&Packet, &[u8]) -> bool> PacketSink for Caller<F> {
    #[inline(always)]
    fn slot(&mut self) -> &mut Packet {
        &mut self.packet
    }

    #[inline(always)]
    fn on_packet(&mut self, record: &Record<'_>, _: RecordPlace<'_>) -> bool {
        (self.each)(&self.packet, record.captured)
    }
}

/// One packet at a time with its interface, shown to a function.
struct FrameCaller<'l, F> {
    packet: Packet,
    each: F,
    labels: Option<&'l NetworkLabels>,
}

impl<F: FnMut(&Frame<'_>) -> bool> PacketSink for FrameCaller<'_, F> {
    #[inline(always)]
    fn slot(&mut self) -> &mut Packet {
        &mut self.packet
    }

    #[inline(always)]
    fn on_packet(&mut self, record: &Record<'_>, place: RecordPlace<'_>) -> bool {
        (self.each)(&place.frame(&self.packet, record).with_labels(self.labels))
    }
}

/// Packets one behind another, up to `room` of them.
struct PacketBlock {
    packets: Vec<Packet>,
    room: usize,
}

impl PacketSink for PacketBlock {
    #[inline(always)]
    fn slot(&mut self) -> &mut Packet {
        let index = self.packets.len();
        self.packets.push(Packet::default());
        &mut self.packets[index]
    }

    #[inline(always)]
    fn on_packet(&mut self, _: &Record<'_>, _: RecordPlace<'_>) -> bool {
        self.packets.len() < self.room
    }
}
