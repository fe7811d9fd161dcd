//! `Bytewright::Columns`: a batch of packets as packed columns.

use std::sync::Arc;

use bytewright::packet::{Column, Columns};
use magnus::typed_data::Obj;
use magnus::value::Opaque;
use magnus::{Error, RString, Ruby, Symbol, Value, method, prelude::*};

use crate::address_texts::AddressTexts;
use crate::fields::field_named;
use crate::memory_report::{LiveMemory, MemoryReport};
use crate::packet::field_value;

/// Bytes of the batches of one pass that Ruby has not freed yet.
pub(crate) struct LiveBatches(Arc<LiveMemory>);

impl Default for LiveBatches {
    fn default() -> Self {
        LiveBatches(Arc::new(LiveMemory::new(LIVE_BYTES_MAX)))
    }
}

impl LiveBatches {
    /// Collects where batches pile up.
    pub(crate) fn collect(&self, ruby: &Ruby) -> Result<(), Error> {
        self.0.collect(ruby)
    }
}

/// Bytes of live batches that pass without a collection.
const LIVE_BYTES_MAX: usize = 6 << 20;

/// A batch. Its memory is the core's; Ruby is told of it.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Columns", free_immediately, mark, size)]
pub(crate) struct ColumnBatch {
    columns: Columns,
    texts: Opaque<Obj<AddressTexts>>,
    live: Arc<LiveMemory>,
    memory: MemoryReport,
}

impl magnus::DataTypeFunctions for ColumnBatch {
    fn mark(&self, marker: &magnus::gc::Marker) {
        marker.mark(self.texts);
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.memory.told()
    }

    fn free(self: Box<Self>) {
        self.live.subtract(self.memory.told());
    }
}

impl ColumnBatch {
    pub(crate) fn new(columns: Columns, texts: Obj<AddressTexts>, live: &LiveBatches) -> Self {
        let live = Arc::clone(&live.0);
        let memory = MemoryReport::of(columns.memory_bytes());
        live.add(memory.told());
        ColumnBatch { columns, texts: texts.into(), live, memory }
    }

    fn len(&self) -> usize {
        self.columns.len()
    }

    fn names(ruby: &Ruby, this: &Self) -> Result<Value, Error> {
        let names = this.columns.columns().iter().map(|c| ruby.to_symbol(c.field().name()));
        Ok(ruby.ary_from_iter(names).as_value())
    }

    fn column(&self, ruby: &Ruby, name: Symbol) -> Result<&Column, Error> {
        let field = field_named(ruby, name)?;
        self.columns.column(field).ok_or_else(|| {
            let message = format!("expected one of the batch's columns, found :{}", field.name());
            Error::new(ruby.exception_arg_error(), message)
        })
    }

    fn packed(ruby: &Ruby, this: &Self, name: Symbol) -> Result<RString, Error> {
        Ok(frozen(ruby.str_from_slice(this.column(ruby, name)?.values())))
    }

    fn validity(ruby: &Ruby, this: &Self, name: Symbol) -> Result<RString, Error> {
        Ok(frozen(ruby.str_from_slice(this.column(ruby, name)?.validity())))
    }

    fn null_count(ruby: &Ruby, this: &Self, name: Symbol) -> Result<usize, Error> {
        Ok(this.column(ruby, name)?.null_count())
    }

    fn values(ruby: &Ruby, this: &Self, name: Symbol) -> Result<Value, Error> {
        let column = this.column(ruby, name)?;
        let texts = ruby.get_inner(this.texts);
        let values = ruby.ary_new_capa(this.len());
        for row in 0..this.len() {
            values.push(field_value(ruby, column.value(row), &texts)?)?;
        }
        Ok(values.as_value())
    }
}

fn frozen(string: RString) -> RString {
    string.freeze();
    string
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = crate::class::define::<ColumnBatch>(ruby, "Columns")?;
    class.define_method("size", method!(ColumnBatch::len, 0))?;
    class.define_method("names", method!(ColumnBatch::names, 0))?;
    class.define_method("[]", method!(ColumnBatch::packed, 1))?;
    class.define_method("validity", method!(ColumnBatch::validity, 1))?;
    class.define_method("null_count", method!(ColumnBatch::null_count, 1))?;
    class.define_method("values", method!(ColumnBatch::values, 1))?;
    Ok(())
}
