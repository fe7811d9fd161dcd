//! One pass over a capture: the thread that reads, and the waiting for what it has read.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytewright::batch::{self, Batch};
use bytewright::flow::Flow;
use bytewright::packet::Field;
use bytewright::rpc::{Call, Methods};
use bytewright::scan::{Background, CaptureInfo, CaptureMerge, Event, FrameBatch};
use magnus::typed_data::Obj;
use magnus::value::Opaque;
use magnus::{Error, RString, Ruby, Value, prelude::*};

use crate::address_texts::AddressTexts;
use crate::border::{bytes_of, without_lock};
use crate::call::CallObject;
use crate::columns::{ColumnBatch, LiveBatches};
use crate::error::raised;
use crate::flow::FlowObject;
use crate::memory_report::MemoryReport;
use crate::packet::PacketCursor;
use crate::record::object_of;

/// What a pass may give.
pub(crate) enum Item {
    Frames(FrameBatch),
    Columns(Batch),
    Counts(Vec<(batch::Value<'static>, u64)>),
    Info(Box<CaptureInfo>),
    Flows(Vec<Flow>),
    Merge(Box<CaptureMerge>),
    Calls(Vec<Call>, Option<Arc<Methods>>),
}

/// The passes over something that may be under way, to end them when it is closed.
#[derive(Default)]
pub(crate) struct Passes(RefCell<Vec<Weak<Background<Item>>>>);

impl Passes {
    pub(crate) fn add(&self, pass: &Arc<Background<Item>>) {
        let mut passes = self.0.borrow_mut();
        passes.retain(|pass| pass.strong_count() > 0);
        passes.push(Arc::downgrade(pass));
    }

    /// Ends them all; whoever waits for one is told `ClosedError`.
    ///
    /// # Errors
    /// What was raised in this thread meanwhile; they end by themselves then.
    pub(crate) fn close(&self, ruby: &Ruby) -> Result<(), Error> {
        let passes: Vec<_> = self.0.take().iter().filter_map(Weak::upgrade).collect();
        passes.iter().for_each(|pass| pass.stop());
        passes.iter().try_for_each(|pass| wait_for_end(ruby, pass))
    }
}

/// How long a pass that was stopped is waited for with Ruby's lock held. Nearly all are gone sooner,
/// and giving the lock up costs some 200 microseconds: Ruby starts a thread that could wake this one.
const PATIENCE: Duration = Duration::from_millis(1);

/// Waits until the thread of a pass that was stopped is gone: without Ruby's lock, unless that is
/// soon. What the thread waits for may be another pass, which wants bytes from a Ruby thread.
///
/// # Errors
/// What was raised in this Ruby thread meanwhile.
fn wait_for_end(ruby: &Ruby, pass: &Background<Item>) -> Result<(), Error> {
    while !pass.join_within(PATIENCE)
        && without_lock(ruby, &|| pass.join(), &|| pass.interrupt())? != Some(true)
    {
        ruby.thread_check_ints()?;
    }
    Ok(())
}

/// A pass that is under way.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Reading", free_immediately, mark, size)]
pub(crate) struct Reading {
    background: Arc<Background<Item>>,
    /// Where bytes come from, when that is a Ruby object.
    object: Option<Opaque<Value>>,
    fields: Vec<Field>,
    texts: Opaque<Obj<AddressTexts>>,
    live_batches: LiveBatches,
    /// The packet that is moved over this pass.
    cursor: Cell<Option<Opaque<Obj<PacketCursor>>>>,
    memory: MemoryReport,
}

/// Memory of a pass under way: the buffers of its thread, and results that wait.
const PASS_BYTES: usize = 2 << 20;

impl magnus::DataTypeFunctions for Reading {
    fn mark(&self, marker: &magnus::gc::Marker) {
        marker.mark(self.texts);
        if let Some(cursor) = self.cursor.get() {
            marker.mark(cursor);
        }
        if let Some(object) = self.object {
            marker.mark(object);
        }
    }
}

impl Reading {
    pub(crate) fn new(
        ruby: &Ruby,
        background: Arc<Background<Item>>,
        object: Option<Opaque<Value>>,
        fields: Vec<Field>,
    ) -> Self {
        let texts = ruby.obj_wrap(AddressTexts::new(ruby)).into();
        let (live_batches, cursor) = (LiveBatches::default(), Cell::new(None));
        let memory = MemoryReport::of(PASS_BYTES);
        Reading { background, object, fields, texts, live_batches, cursor, memory }
    }

    /// Ends the pass and frees its memory; the packet that was moved over it stays at its last place.
    pub(crate) fn close(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.background.stop();
        if let Some(cursor) = this.cursor.take() {
            ruby.get_inner(cursor).settle();
        }
        ruby.get_inner(this.texts).forget(ruby)?;
        this.memory.set(0);
        wait_for_end(ruby, &this.background)
    }

    /// A packet to be moved over this pass.
    pub(crate) fn cursor(ruby: &Ruby, this: &Self) -> Obj<PacketCursor> {
        let cursor = ruby.obj_wrap(PacketCursor::new(ruby.get_inner(this.texts)));
        this.cursor.set(Some(cursor.into()));
        cursor
    }

    /// The next item, or nil at the end.
    pub(crate) fn take(ruby: &Ruby, this: &Self) -> Result<Option<Value>, Error> {
        crate::error::guarded(ruby, || match this.next(ruby)? {
            None | Some(Item::Frames(_)) => Ok(None),
            Some(Item::Columns(batch)) => {
                this.live_batches.collect(ruby)?;
                let texts = ruby.get_inner(this.texts);
                Ok(Some(
                    ruby.obj_wrap(ColumnBatch::new(batch, texts, &this.live_batches)).as_value(),
                ))
            }
            Some(Item::Counts(counts)) => this.counts(ruby, &counts).map(Some),
            Some(Item::Info(info)) => crate::info::to_hash(ruby, &info).map(Some),
            Some(Item::Merge(merge)) => crate::flow::merge_to_hash(ruby, &merge).map(Some),
            Some(Item::Calls(calls, methods)) => {
                let object = |call| ruby.obj_wrap(CallObject::new(call, methods.clone()));
                Ok(Some(ruby.ary_from_iter(calls.into_iter().map(object)).as_value()))
            }
            Some(Item::Flows(flows)) => {
                let flows = flows.into_iter().map(|flow| ruby.obj_wrap(FlowObject::new(flow)));
                Ok(Some(ruby.ary_from_iter(flows).as_value()))
            }
        })
    }

    fn counts(&self, ruby: &Ruby, counts: &[(batch::Value<'static>, u64)]) -> Result<Value, Error> {
        let texts = ruby.get_inner(self.texts);
        let hash = ruby.hash_new();
        for (value, count) in counts {
            hash.aset(object_of(ruby, *value, Some(&texts))?, *count)?;
        }
        Ok(hash.as_value())
    }

    /// Waits for the next item without Ruby's lock, and serves the thread with the bytes of a Ruby
    /// object where it asks for them.
    fn next(&self, ruby: &Ruby) -> Result<Option<Item>, Error> {
        loop {
            match self.next_event(ruby)? {
                Event::Item(item) => return Ok(Some(item)),
                Event::End => return Ok(None),
                Event::Interrupted => ruby.thread_check_ints()?,
                Event::InputWanted(count) => {
                    let bytes = self.read_object(ruby, count)?;
                    self.background.supply(Ok(bytes));
                }
            }
        }
    }

    /// What is there already is taken with Ruby's lock: where an interrupt comes each time that it is to be
    /// given up, as under GC.stress, the pass still goes on.
    fn next_event(&self, ruby: &Ruby) -> Result<Event<Item>, Error> {
        if let Some(event) = raised(ruby, self.background.try_next())? {
            return Ok(event);
        }
        let (next, wake) = (|| self.background.next(), || self.background.interrupt());
        let event = without_lock(ruby, &next, &wake)?;
        event.map_or(Ok(Event::Interrupted), |event| raised(ruby, event))
    }

    /// Up to `count` bytes from the Ruby object, none at its end.
    fn read_object(&self, ruby: &Ruby, count: usize) -> Result<Vec<u8>, Error> {
        let Some(object) = self.object else { return Ok(Vec::new()) };
        let object = ruby.get_inner(object);
        let method = if object.respond_to("readpartial", false)? { "readpartial" } else { "read" };
        match object.funcall::<_, _, Option<RString>>(method, (count,)) {
            Ok(bytes) => Ok(bytes.map(bytes_of).unwrap_or_default()),
            Err(error) if error.is_kind_of(ruby.exception_eof_error()) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The fields that its rows have.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Moves `cursor` to the next batch of packets; says how many there are, 0 at the end.
    pub(crate) fn next_frames(&self, ruby: &Ruby, cursor: &PacketCursor) -> Result<usize, Error> {
        if let Some(used) = cursor.take_batch() {
            self.background.recycle(Item::Frames(used));
        }
        match self.next(ruby)? {
            Some(Item::Frames(batch)) => Ok(cursor.enter_batch(batch)),
            _ => Ok(0),
        }
    }
}
