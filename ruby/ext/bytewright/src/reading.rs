//! One pass over a capture or a store, and its results as Ruby objects.

use std::cell::Cell;

use bytewright::ask::Answer;
use bytewright::batch;
use bytewright::host::{Item, Pass};
use bytewright::packet::Field;
use magnus::typed_data::Obj;
use magnus::value::Opaque;
use magnus::{Error, RArray, Ruby, Value, method, prelude::*};

use crate::address_texts::AddressTexts;
use crate::border::{PacketSource, define_packet_loops};
use crate::call::CallObject;
use crate::class;
use crate::columns::{ColumnBatch, LiveBatches};
use crate::error::{damage, guarded};
use crate::flow::FlowObject;
use crate::host::RubyHost;
use crate::memory_report::MemoryReport;
use crate::packet::PacketCursor;
use crate::record::{object_of, row_to_hash};

/// A pass that is under way.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Reading", free_immediately, mark, size)]
pub(crate) struct Reading {
    pass: Pass,
    /// Source of the bytes, if it is a Ruby object.
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
        pass: Pass,
        object: Option<Opaque<Value>>,
        fields: Vec<Field>,
    ) -> Self {
        let texts = ruby.obj_wrap(AddressTexts::new(ruby)).into();
        let (live_batches, cursor) = (LiveBatches::default(), Cell::new(None));
        let memory = MemoryReport::of(PASS_BYTES);
        Reading { pass, object, fields, texts, live_batches, cursor, memory }
    }

    /// Ends the pass and frees its memory; the packet that was moved over it stays at its last place.
    pub(crate) fn close(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.pass.stop();
        if let Some(cursor) = this.cursor.take() {
            ruby.get_inner(cursor).settle();
        }
        ruby.get_inner(this.texts).forget(ruby)?;
        this.memory.set(0);
        this.pass.close(&RubyHost::new(ruby))
    }

    /// A packet to be moved over this pass.
    pub(crate) fn cursor(ruby: &Ruby, this: &Self) -> Obj<PacketCursor> {
        let cursor = ruby.obj_wrap(PacketCursor::new(ruby.get_inner(this.texts)));
        this.cursor.set(Some(cursor.into()));
        cursor
    }

    /// The next item, or nil at the end.
    pub(crate) fn take(ruby: &Ruby, this: &Self) -> Result<Option<Value>, Error> {
        guarded(ruby, || match this.next(ruby)? {
            None => Ok(None),
            Some(Item::Answer(answer)) => this.answer(ruby, answer),
            Some(Item::Cut(totals)) => crate::info::cut_to_hash(ruby, &totals).map(Some),
            Some(Item::Merge(merge)) => crate::flow::merge_to_hash(ruby, &merge).map(Some),
            Some(Item::TableMerge(merge)) => {
                Ok(Some(row_to_hash(ruby, &merge.to_batch(), 0)?.as_value()))
            }
            Some(Item::Reported(reported)) => {
                crate::report::reported_to_hash(ruby, &reported).map(Some)
            }
        })
    }

    /// A piece of an answer; nil for frames, which a cursor takes.
    fn answer(&self, ruby: &Ruby, answer: Answer) -> Result<Option<Value>, Error> {
        match answer {
            Answer::Frames(_) => Ok(None),
            Answer::Columns(batch) => {
                self.live_batches.collect(ruby)?;
                let texts = ruby.get_inner(self.texts);
                let batch = ColumnBatch::new(batch, texts, &self.live_batches);
                Ok(Some(ruby.obj_wrap(batch).as_value()))
            }
            Answer::Counts(counts) => self.counts(ruby, &counts.sorted()).map(Some),
            Answer::Info(info) => crate::info::to_hash(ruby, &info).map(Some),
            Answer::Sums(batch) => crate::info::rows(ruby, &batch).map(Some),
            Answer::Calls(calls, methods) => {
                let object = |call| ruby.obj_wrap(CallObject::new(call, methods.clone()));
                Ok(Some(ruby.ary_from_iter(calls.into_iter().map(object)).as_value()))
            }
            Answer::Flows(flows) => {
                let flows = flows.into_iter().map(|flow| ruby.obj_wrap(FlowObject(flow)));
                Ok(Some(ruby.ary_from_iter(flows).as_value()))
            }
        }
    }

    /// The damage that has come to light since the last call, and that the pass has kept what is before.
    fn take_damage(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        let list = ruby.ary_new();
        for found in this.pass.take_damage() {
            list.push(damage(ruby, Some(&found))?)?;
        }
        Ok(list)
    }

    fn counts(&self, ruby: &Ruby, counts: &[(batch::Value<'_>, u64)]) -> Result<Value, Error> {
        let texts = ruby.get_inner(self.texts);
        let hash = ruby.hash_new();
        for (value, count) in counts {
            hash.aset(object_of(ruby, *value, Some(&texts))?, *count)?;
        }
        Ok(hash.as_value())
    }

    fn next(&self, ruby: &Ruby) -> Result<Option<Item>, Error> {
        self.pass.next(&RubyHost::with_object(ruby, self.object))
    }
}

impl PacketSource for Reading {
    type Packet = PacketCursor;

    fn next_batch(&self, ruby: &Ruby, packet: &PacketCursor) -> Result<usize, Error> {
        if let Some(used) = packet.take_batch() {
            self.pass.recycle(Item::Answer(Answer::Frames(used)));
        }
        match self.next(ruby)? {
            Some(Item::Answer(Answer::Frames(batch))) => Ok(packet.enter_batch(batch)),
            _ => Ok(0),
        }
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<Reading>(ruby, "Reading")?;
    class.define_method("cursor", method!(Reading::cursor, 0))?;
    class.define_method("take", method!(Reading::take, 0))?;
    class.define_method("take_damage", method!(Reading::take_damage, 0))?;
    class.define_method("close", method!(Reading::close, 0))?;
    define_packet_loops::<Reading>(class);
    Ok(())
}
