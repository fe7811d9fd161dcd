//! Batches as Ruby objects, and `Bytewright::Columns`, a batch of packets.

use std::sync::Arc;

use bytewright::batch::{Batch, Column, DataType};
use bytewright::error::excerpt;
use magnus::typed_data::Obj;
use magnus::value::Opaque;
use magnus::{Error, RString, Ruby, Symbol, Value, method, prelude::*};

use crate::address_texts::AddressTexts;
use crate::border::{encoding_index, string_of};
use crate::fields::field_named;
use crate::memory_report::{LiveMemory, MemoryReport};
use crate::record::object_of;

/// An object that shows a batch as packed columns.
pub(crate) trait Columnar {
    /// Shows `look` the batch.
    fn with_batch<R>(&self, look: impl FnOnce(&Batch) -> R) -> R;

    /// The cache of the texts of addresses; a batch without one has no addresses.
    fn texts(&self) -> Option<Opaque<Obj<AddressTexts>>> {
        None
    }

    fn len(&self) -> usize {
        self.with_batch(Batch::len)
    }

    fn names(ruby: &Ruby, this: &Self) -> Value {
        this.with_batch(|batch| {
            let names = batch.schema().fields().iter().map(|field| ruby.to_symbol(field.name()));
            ruby.ary_from_iter(names).as_value()
        })
    }

    /// Refuses a name that no batch of the kind has.
    fn check(_ruby: &Ruby, _name: Symbol) -> Result<(), Error> {
        Ok(())
    }

    /// Shows `look` the column of that name.
    fn with<R>(
        &self,
        ruby: &Ruby,
        name: Symbol,
        look: impl FnOnce(&Column) -> R,
    ) -> Result<R, Error> {
        Self::check(ruby, name)?;
        let name = name.name()?;
        self.with_batch(|batch| match batch.column(&name) {
            Some(column) => Ok(look(column)),
            None => {
                let found = excerpt(&name);
                let message = format!("expected one of the batch's columns, found :{found}");
                Err(Error::new(ruby.exception_arg_error(), message))
            }
        })
    }

    /// Shows `look` the column of that name, which has single values.
    fn with_single<R>(
        &self,
        ruby: &Ruby,
        name: Symbol,
        look: impl FnOnce(&Column) -> R,
    ) -> Result<R, Error> {
        let looked = self.with(ruby, name, |column| match column.data_type() {
            nested if nested.is_nested() => Err(nested.name()),
            _ => Ok(look(column)),
        })?;
        let name = name.name()?;
        looked.map_err(|kind| {
            let message = format!(
                "expected a column of single values, found the {kind} :{name}; values(:{name}) has its Arrays and Hashes",
                name = excerpt(&name)
            );
            Error::new(ruby.exception_arg_error(), message)
        })
    }

    fn packed(ruby: &Ruby, this: &Self, name: Symbol) -> Result<RString, Error> {
        this.with_single(ruby, name, |column| match column.data_type() {
            DataType::Bool => frozen(ruby.str_from_slice(&bools(column))),
            _ => frozen(ruby.str_from_slice(column.values())),
        })
    }

    fn ends(ruby: &Ruby, this: &Self, name: Symbol) -> Result<RString, Error> {
        this.with_single(ruby, name, |column| {
            let bytes: Vec<u8> =
                column.offsets().iter().flat_map(|end| end.to_le_bytes()).collect();
            frozen(ruby.str_from_slice(&bytes))
        })
    }

    fn validity(ruby: &Ruby, this: &Self, name: Symbol) -> Result<RString, Error> {
        this.with(ruby, name, |column| frozen(ruby.str_from_slice(column.validity())))
    }

    fn null_count(ruby: &Ruby, this: &Self, name: Symbol) -> Result<usize, Error> {
        this.with(ruby, name, Column::null_count)
    }

    fn values(ruby: &Ruby, this: &Self, name: Symbol) -> Result<Value, Error> {
        let texts = this.texts().map(|texts| ruby.get_inner(texts));
        this.with(ruby, name, |column| {
            let values = ruby.ary_new_capa(column.len());
            for row in 0..column.len() {
                values.push(value_of(ruby, column, row, texts.as_deref())?)?;
            }
            Ok(values.as_value())
        })?
    }
}

/// A byte for each boolean.
fn bools(column: &Column) -> Vec<u8> {
    let bit = |row: usize| column.values().get(row / 8).map_or(0, |bits| bits >> (row % 8) & 1);
    (0..column.len()).map(bit).collect()
}

/// The value in a row. Text has the encoding of text, whatever its bytes are.
fn value_of(
    ruby: &Ruby,
    column: &Column,
    row: usize,
    texts: Option<&AddressTexts>,
) -> Result<Value, Error> {
    match column.data_type() {
        DataType::Text if column.is_valid(row) => {
            Ok(string_of(column.bytes(row), encoding_index(None)).as_value())
        }
        _ => object_of(ruby, column.value(row), texts),
    }
}

/// Defines what a batch can be asked.
macro_rules! define_columns {
    ($class:ident $object:ident) => {
        $class.define_method("size", method!($object::len, 0))?;
        $class.define_method("names", method!($object::names, 0))?;
        $class.define_method("[]", method!($object::packed, 1))?;
        $class.define_method("validity", method!($object::validity, 1))?;
        $class.define_method("null_count", method!($object::null_count, 1))?;
        $class.define_method("values", method!($object::values, 1))?;
    };
}

pub(crate) use define_columns;

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
    batch: Batch,
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
    pub(crate) fn new(batch: Batch, texts: Obj<AddressTexts>, live: &LiveBatches) -> Self {
        let live = Arc::clone(&live.0);
        let memory = MemoryReport::of(batch.memory_bytes());
        live.add(memory.told());
        ColumnBatch { batch, texts: texts.into(), live, memory }
    }
}

impl Columnar for ColumnBatch {
    fn with_batch<R>(&self, look: impl FnOnce(&Batch) -> R) -> R {
        look(&self.batch)
    }

    fn texts(&self) -> Option<Opaque<Obj<AddressTexts>>> {
        Some(self.texts)
    }

    fn check(ruby: &Ruby, name: Symbol) -> Result<(), Error> {
        field_named(ruby, name).map(drop)
    }
}

fn frozen(string: RString) -> RString {
    string.freeze();
    string
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = crate::class::define::<ColumnBatch>(ruby, "Columns")?;
    define_columns! { class ColumnBatch }
    Ok(())
}
