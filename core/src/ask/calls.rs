//! The Thrift calls of a whole capture.

use std::sync::Arc;

use crate::Result;
use crate::input::{CaptureReader, FrameBatch};
use crate::rpc::{Call, Methods, Rpc, RpcOptions};

/// Calls that are handed on together.
const BATCH_LEN: usize = 256;

// Bound (Flows): structs of calls that are handed on together = 4 MiB and one call.
const BATCH_BYTES: usize = 4 << 20;

/// The calls of captures that are read as one run, handed on in batches. What takes them may wait meanwhile, and then
/// reading does: so that not all calls that are over at once are in memory at once.
#[derive(Debug)]
pub struct CallBatches {
    rpc: Rpc,
    batch: CallBatch,
}

/// Calls that wait for more.
#[derive(Debug)]
struct CallBatch {
    methods: Option<Arc<Methods>>,
    calls: Vec<Call>,
    bytes: usize,
}

impl CallBatches {
    /// No capture read yet. With `methods`, calls of others are left out.
    pub fn new(options: RpcOptions, methods: Option<Arc<Methods>>) -> Self {
        let batch = CallBatch { methods, calls: Vec::new(), bytes: 0 };
        CallBatches { rpc: Rpc::new(options), batch }
    }

    /// Reads a capture to its end, and gives the calls that are over by then. Answers how reading ended; the calls
    /// before that were given.
    ///
    /// # Errors
    /// The first one of `give`, with which reading ends.
    pub fn read<E>(
        &mut self,
        reader: &mut CaptureReader,
        give: &mut impl FnMut(Vec<Call>) -> Result<(), E>,
    ) -> Result<Result<()>, E> {
        if reader.facts().is_live {
            return self.read_as_it_comes(reader, give);
        }
        let CallBatches { rpc, batch } = self;
        let mut given = Ok(());
        let step = reader.each_while(|packet, captured| {
            rpc.add(packet, captured, &mut |call| batch.add(call, give, &mut given));
            given.is_ok()
        });
        given?;
        batch.give(give)?;
        Ok(step.map(|_| ()))
    }

    /// Does this for a capture whose bytes arrive over time: gives the calls that are over before each wait.
    fn read_as_it_comes<E>(
        &mut self,
        reader: &mut CaptureReader,
        give: &mut impl FnMut(Vec<Call>) -> Result<(), E>,
    ) -> Result<Result<()>, E> {
        let CallBatches { rpc, batch } = self;
        let mut frames = FrameBatch::new();
        loop {
            match reader.read_frames(&mut frames) {
                Ok(()) if frames.is_empty() => return Ok(Ok(())),
                Ok(()) => {}
                Err(error) => return Ok(Err(error)),
            }
            let mut given = Ok(());
            for (packet, captured) in
                (0..frames.len()).filter_map(|index| frames.packet_and_bytes(index))
            {
                rpc.add(packet, captured, &mut |call| batch.add(call, give, &mut given));
            }
            given?;
            batch.give(give)?;
        }
    }

    /// Gives the calls that wait for answers.
    ///
    /// # Errors
    /// The first one of `give`.
    pub fn finish<E>(self, give: &mut impl FnMut(Vec<Call>) -> Result<(), E>) -> Result<(), E> {
        let CallBatches { rpc, mut batch } = self;
        let mut given = Ok(());
        rpc.finish(&mut |call| batch.add(call, give, &mut given));
        given?;
        batch.give(give)
    }
}

impl CallBatch {
    /// Takes a call, and gives the batch if it is full; nothing where that failed before.
    fn add<E>(
        &mut self,
        call: Call,
        give: &mut impl FnMut(Vec<Call>) -> Result<(), E>,
        given: &mut Result<(), E>,
    ) {
        if given.is_err() || self.methods.as_ref().is_some_and(|methods| !methods.has(&call)) {
            return;
        }
        self.bytes += call.struct_bytes();
        self.calls.push(call);
        if self.calls.len() >= BATCH_LEN || self.bytes >= BATCH_BYTES {
            *given = self.give(give);
        }
    }

    fn give<E>(&mut self, give: &mut impl FnMut(Vec<Call>) -> Result<(), E>) -> Result<(), E> {
        self.bytes = 0;
        if self.calls.is_empty() {
            return Ok(());
        }
        give(std::mem::take(&mut self.calls))
    }
}
