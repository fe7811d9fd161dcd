//! A plain capture file, decoded by blocks on several threads.
//!
//! Each thread reads a block of the file. Where the records in it begin is known once the block before it was looked
//! through, so the decoder goes from block to block, in order, and each thread hands it on before it decodes the packets of
//! its block: going from record to record takes a small part of the time that reading and decoding take.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::FrameBatch;
use super::interfaces::Interfaces;
use super::records::{CaptureFacts, PacketSink, RecordSource, StreamRecords, cut_block};
use super::selection::{RecordSelection, decode_selected};
use crate::bytes::Source;
use crate::capture::{Decoder, Record, Step};
use crate::packet::DecodeOptions;
use crate::workers::{WorkerLimits, Workers};
use crate::{Error, Result};

// Bound (Captures): plain file decoded by blocks = two blocks of 128 KiB for each thread, and one record each.
/// A block stays in the cache of a core while its packets are decoded.
const BLOCK: usize = 128 << 10;

/// Blocks that a file has at least for threads to be worth their start.
const BLOCKS_MIN: u64 = 8;

/// Blocks under way for each thread: one that it works on, and one that waits or is next.
const BLOCKS_PER_JOB: usize = 2;

/// Starts `jobs` threads that decode what `records` has not read yet; none where that cannot be done side by side.
pub(super) fn start(records: &StreamRecords, jobs: usize) -> Option<Box<dyn RecordSource>> {
    let stream = &records.stream;
    let left = stream.input_len()?.checked_sub(stream.position())?;
    if left < BLOCKS_MIN * BLOCK as u64 {
        return None;
    }
    let count = jobs * BLOCKS_PER_JOB;
    let kits = (0..count).map(|_| Kit::new(records)).collect::<Option<Vec<_>>>()?;
    let workers =
        Workers::start(WorkerLimits { threads: jobs, tasks: count, weight: 1, spares: count })
            .ok()?;
    let link = DecoderPlace {
        decoder: records.decoder.clone(),
        offset: stream.position(),
        number: records.number,
        skip: None,
    };
    let about = About {
        name: stream.name().to_owned(),
        start: stream.position(),
        decode: records.decode,
        chain: Chain::new(link),
    };
    let facts = records.facts();
    let mut blocks = Blocks {
        workers,
        about: Arc::new(about),
        selection: records.selection.clone(),
        added: 0,
        taken: 0,
        facts,
        ended: None,
    };
    kits.into_iter().for_each(|kit| blocks.add(kit));
    Some(Box::new(blocks))
}

/// The caller's end.
struct Blocks {
    workers: Workers<DecodedBlock>,
    about: Arc<About>,
    selection: Option<RecordSelection>,
    /// Blocks that were given to the threads, and those that came back.
    added: usize,
    taken: usize,
    facts: CaptureFacts,
    ended: Option<Result<()>>,
}

/// Facts that all threads need.
struct About {
    name: String,
    /// Offset of the first block.
    start: u64,
    decode: DecodeOptions,
    chain: Chain,
}

/// Input of a thread for one block, and the memory of its results.
struct Kit {
    source: Box<dyn Source>,
    selection: Option<RecordSelection>,
    batch: FrameBatch,
    records: Vec<BlockRecord>,
    /// Those of the records.
    interfaces: Interfaces,
}

/// A block that was decoded.
struct DecodedBlock {
    kit: Kit,
    end: Option<BlocksEnd>,
}

/// Reason why no block follows.
struct BlocksEnd {
    result: Result<()>,
    decoder: Decoder,
    position: u64,
}

impl Kit {
    fn new(records: &StreamRecords) -> Option<Self> {
        let source = records.stream.another_source()?;
        let selection = records.selection.clone();
        let (batch, interfaces) = (FrameBatch::new(), Interfaces::default());
        Some(Kit { source, selection, batch, records: Vec::new(), interfaces })
    }
}

impl Blocks {
    /// Gives the next block to the threads.
    fn add(&mut self, kit: Kit) {
        let (about, index) = (Arc::clone(&self.about), self.added);
        self.added += 1;
        self.workers.add(move |output| {
            // Whatever happens here, the next block must not wait for ever.
            let token = DecoderToken { chain: &about.chain, index };
            output.give(read_block(kit, &about, token), 1);
        });
    }

    /// Takes the next block, with `batch` for its packets, and gives the threads another one.
    fn take(&mut self, batch: &mut FrameBatch) -> Result<()> {
        let block = self.workers.next(self.taken)?;
        let Some(DecodedBlock { mut kit, end }) = block else {
            return Err(Error::internal("a block without a result"));
        };
        self.workers.abandon(self.taken);
        self.taken += 1;
        std::mem::swap(batch, &mut kit.batch);
        match end {
            None => self.add(kit),
            Some(end) => {
                let interfaces = end.decoder.interfaces();
                let selection = self.selection.as_ref();
                let selected = selection.map_or(Ok(()), |selection| selection.end(interfaces));
                let named = |error: Error| error.in_file(&self.about.name);
                self.ended = Some(end.result.and_then(|()| selected.map_err(named)));
                self.facts.decoder = end.decoder;
                self.facts.position = end.position;
            }
        }
        Ok(())
    }
}

impl RecordSource for Blocks {
    fn facts(&self) -> CaptureFacts {
        self.facts.clone()
    }

    fn read_header(&mut self) -> Result<()> {
        // Threads are started to read packets, and that begins with the header.
        match &self.ended {
            Some(result) if !self.facts.decoder.has_header() => result.clone(),
            _ => Ok(()),
        }
    }

    fn read_frames(&mut self, batch: &mut FrameBatch) -> Result<()> {
        loop {
            if let Some(result) = &self.ended {
                drop(batch.clear());
                return result.clone();
            }
            if let Err(error) = self.take(batch) {
                self.ended = Some(Err(error.in_file(&self.about.name)));
            } else if !batch.is_empty() {
                return Ok(());
            }
        }
    }
}

/// The decoder on its way from block to block.
struct Chain {
    state: Mutex<ChainState>,
    changed: Condvar,
}

struct ChainState {
    /// The block that comes next.
    index: usize,
    /// None while a block has it, and behind the end.
    link: Option<DecoderPlace>,
}

/// The decoder at the place of its next step.
struct DecoderPlace {
    decoder: Decoder,
    offset: u64,
    /// Records so far.
    number: u64,
    /// Bytes that are being stepped over: offset of the first, and how many.
    skip: Option<(u64, u64)>,
}

/// The right of a block to have the decoder once. Given up, it lets the next block come.
struct DecoderToken<'c> {
    chain: &'c Chain,
    index: usize,
}

impl Chain {
    fn new(link: DecoderPlace) -> Self {
        let state = ChainState { index: 0, link: Some(link) };
        Chain { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, ChainState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DecoderToken<'_> {
    /// Waits for the decoder; none behind the end.
    fn wait(&self) -> Option<DecoderPlace> {
        let mut state = self.chain.lock();
        while state.index < self.index {
            state = self.chain.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.link.take()
    }

    /// Lets the next block have the decoder.
    fn hand_on(self, link: DecoderPlace) {
        self.chain.lock().link = Some(link);
    }
}

impl Drop for DecoderToken<'_> {
    fn drop(&mut self) {
        let mut state = self.chain.lock();
        // Threads that come out of turn have none before them that could hang.
        state.index = state.index.max(self.index + 1);
        drop(state);
        self.chain.changed.notify_all();
    }
}

/// A record in a block.
struct BlockRecord {
    ts: Option<i64>,
    bad_time: bool,
    length: u32,
    link_type: u16,
    interface: Option<u32>,
    start: u32,
    caplen: u32,
}

/// Reads, looks through and decodes a block.
fn read_block(mut kit: Kit, about: &About, token: DecoderToken<'_>) -> DecodedBlock {
    let start = about.start + token.index as u64 * BLOCK as u64;
    let mut bytes = BlockBytes::new(kit.batch.clear(), start);
    bytes.seek(&mut *kit.source);
    bytes.read_to(&mut *kit.source, BLOCK);
    let Some(mut link) = token.wait() else {
        kit.batch.keep(bytes.buffer, PADDING);
        return DecodedBlock { kit, end: None };
    };
    let number = link.number;
    kit.records.clear();
    kit.interfaces.clear();
    let result = find_records(&mut link, &mut bytes, &mut kit);
    link.number += kit.records.len() as u64;
    let position = link.offset;
    let mut end = match result {
        None => {
            token.hand_on(link);
            None
        }
        Some(result) => {
            drop(token);
            Some(BlocksEnd { result, decoder: link.decoder, position })
        }
    };
    decode_records(&mut kit, bytes.view(), number, about.decode);
    kit.batch.keep(bytes.buffer, PADDING);
    if let Some(BlocksEnd { result: Err(error), .. }) = &mut end {
        *error = error.clone().in_file(&about.name);
    }
    DecodedBlock { kit, end }
}

/// Bytes in front of a block. Memory of this size begins 16 bytes behind a page, and some processors take six times as
/// long to copy to an address that is less than 32 bytes above that of its source, by the place in their pages.
const PADDING: usize = 64;

/// The bytes of a block, and of what begins in it.
struct BlockBytes {
    /// They stand behind the padding.
    buffer: Vec<u8>,
    /// Offset of the first byte.
    start: u64,
    at_end: bool,
    /// Error that ended reading further.
    failed: Option<Error>,
}

impl BlockBytes {
    fn new(mut buffer: Vec<u8>, start: u64) -> Self {
        buffer.clear();
        buffer.resize(PADDING, 0);
        BlockBytes { buffer, start, at_end: false, failed: None }
    }

    fn view(&self) -> &[u8] {
        self.buffer.get(PADDING..).unwrap_or_default()
    }

    /// Offset behind the last byte.
    fn end(&self) -> u64 {
        self.start + self.view().len() as u64
    }

    fn seek(&mut self, source: &mut dyn Source) {
        match source.seek(self.start) {
            Ok(true) => {}
            Ok(false) => self.failed = Some(Error::internal("a file that cannot be gone into")),
            Err(error) => self.failed = Some(error),
        }
    }

    /// Reads until there are `count` bytes, or the file ends, or cannot be read.
    fn read_to(&mut self, source: &mut dyn Source, count: usize) {
        while self.view().len() < count && !self.at_end && self.failed.is_none() {
            let before = self.buffer.len();
            // The memory grows with what is there: a damaged length asks for too much.
            let limit = (count - self.view().len()).min(BLOCK);
            self.buffer.reserve_exact(limit);
            match source.read(&mut self.buffer, limit) {
                Ok(_) => self.at_end = self.buffer.len() == before,
                Err(error) => self.failed = Some(error),
            }
        }
    }
}

/// Goes through the records that begin in the block, up to the first step behind it. Answers how the capture ended, if
/// it did.
fn find_records(
    link: &mut DecoderPlace,
    bytes: &mut BlockBytes,
    kit: &mut Kit,
) -> Option<Result<()>> {
    loop {
        let at = link.offset.saturating_sub(bytes.start);
        if at >= BLOCK as u64 {
            return None;
        }
        let Some(rest) = bytes.view().get(at as usize..) else {
            return Some(Err(end_in_skip(link, bytes)));
        };
        match link.decoder.step(rest, bytes.at_end) {
            Ok(Step::Record { record, consumed }) => {
                kit.interfaces.add(kit.records.len(), &record, &link.decoder);
                let start = record.captured.as_ptr().addr() - bytes.view().as_ptr().addr();
                kit.records.push(BlockRecord {
                    ts: record.ts,
                    bad_time: record.bad_time,
                    length: record.length,
                    link_type: record.link_type,
                    interface: record.interface,
                    start: start as u32,
                    caplen: record.captured.len() as u32,
                });
                link.offset += consumed as u64;
            }
            Ok(Step::Skip(count)) => {
                link.skip = Some((link.offset, count));
                link.offset += count;
            }
            Ok(Step::Need(count)) => {
                if let Some(error) = &bytes.failed {
                    return Some(Err(error.clone().at(bytes.end())));
                }
                bytes.read_to(&mut *kit.source, at as usize + count);
            }
            Ok(Step::End) => return Some(Ok(())),
            Err(error) => return Some(Err(error)),
        }
    }
}

/// The next step is behind the bytes that could be read.
fn end_in_skip(link: &mut DecoderPlace, bytes: &BlockBytes) -> Error {
    if let Some(error) = &bytes.failed {
        return error.clone().at(bytes.end());
    }
    let (start, count) = link.skip.unwrap_or((link.offset, 0));
    link.offset = bytes.end();
    cut_block(count, link.offset.saturating_sub(start)).at(start)
}

/// Decodes the records that are asked for.
fn decode_records(kit: &mut Kit, bytes: &[u8], before: u64, options: DecodeOptions) {
    let Kit { selection, batch, records, interfaces, .. } = kit;
    for (index, (found, number)) in records.iter().zip(before + 1..).enumerate() {
        let captured = bytes.get(found.start as usize..).unwrap_or_default();
        let record = Record {
            ts: found.ts,
            bad_time: found.bad_time,
            length: found.length,
            link_type: found.link_type,
            interface: found.interface,
            captured: captured.get(..found.caplen as usize).unwrap_or_default(),
        };
        let selection = selection.as_mut();
        if decode_selected(selection, &record, number, options, || batch.slot()) {
            batch.add_start(&record, bytes);
            batch.add_interface_from(interfaces, index);
        }
    }
}
