//! `Bytewright::ThriftColumns`: some fields of many messages as packed columns.

use std::cell::RefCell;

use bytewright::batch::Batch;
use bytewright::thrift::{Columns, MessageLayout, PATHS_MAX};
use magnus::typed_data::Obj;
use magnus::{Error, RArray, RString, Ruby, Value, function, method, prelude::*};

use crate::border::{Codec, layout_named, with_bytes};
use crate::columns::{Columnar, define_columns};
use crate::error::{raised, to_ruby};
use crate::memory_report::MemoryReport;

/// A batch. Its memory is the core's; Ruby is told of it.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::ThriftColumns", free_immediately, size)]
pub(crate) struct ColumnBatch {
    columns: RefCell<Columns>,
    layout: MessageLayout,
    memory: MemoryReport,
}

impl magnus::DataTypeFunctions for ColumnBatch {
    fn size(&self) -> usize {
        size_of::<Self>() + self.memory.told()
    }
}

impl ColumnBatch {
    /// `ThriftColumns.of(codec, paths, protocol)`: no rows yet; all fields are columns without paths.
    fn of(
        ruby: &Ruby,
        codec: Obj<Codec>,
        paths: RArray,
        protocol: Value,
    ) -> Result<ColumnBatch, Error> {
        // On the stack, where the garbage collector sees them.
        let mut slots = [ruby.qnil().as_value(); PATHS_MAX + 1];
        let count = paths.len().min(slots.len());
        for (at, slot) in (0..).zip(&mut slots).take(count) {
            *slot = paths.entry(at)?;
        }
        let projection = match slots.get(..count) {
            Some(paths) if count > 0 => codec.projection(ruby, paths)?,
            _ => codec.whole(ruby)?,
        };
        let columns = raised(ruby, Columns::new(projection))?;
        let limits = codec.compat.limits();
        let layout = MessageLayout { limits, ..layout_named(ruby, protocol)? };
        let (columns, memory) = (RefCell::new(columns), MemoryReport::default());
        Ok(ColumnBatch { columns, layout, memory })
    }

    /// `columns.extend_with(bytes, start, framed, at_end)`: appends the rows of the messages of the bytes that are
    /// whole. `start` is where the bytes begin in the input; one that is not whole is an error at the end of the
    /// input. Answers how many bytes those had with their frames.
    fn extend(
        ruby: &Ruby,
        this: &Self,
        string: RString,
        start: u64,
        framed: bool,
        at_end: bool,
    ) -> Result<usize, Error> {
        let layout = MessageLayout { is_framed: framed, ..this.layout };
        let layout = raised(ruby, layout.checked())?;
        let outcome = with_bytes(string, |bytes| {
            let mut columns = this.columns.borrow_mut();
            let outcome = columns.extend_whole(layout, bytes, start, at_end, usize::MAX);
            this.memory.set(columns.batch().memory_bytes());
            outcome
        });
        outcome.map_err(|error| to_ruby(ruby, error.error()))
    }
}

impl Columnar for ColumnBatch {
    fn with_batch<R>(&self, look: impl FnOnce(&Batch) -> R) -> R {
        look(self.columns.borrow().batch())
    }
}

pub(super) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = crate::class::define::<ColumnBatch>(ruby, "ThriftColumns")?;
    class.define_singleton_method("of", function!(ColumnBatch::of, 3))?;
    class.define_method("extend_with", method!(ColumnBatch::extend, 4))?;
    class.define_method("ends", method!(ColumnBatch::ends, 1))?;
    define_columns! { class ColumnBatch }
    Ok(())
}
