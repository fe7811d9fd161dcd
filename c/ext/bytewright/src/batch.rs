//! Rows as columns. All results of captures leave as a [`bw_batch`], also counts and a single row (`info`, a merge), so a
//! language over the C interface needs one way to read columns.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;

use bytewright::batch::arrow::{ArrowArray, ArrowSchema, Layout};
use bytewright::batch::{Batch, Column, ExportOptions, Field};
use bytewright::{Error, ErrorKind, Result};

use crate::buffer::{given, handle};
use crate::error::{bw_error, bw_status, guard};
use crate::schema::{bw_schema, bw_type};
use crate::value::bw_value;

/// Rows as columns. It is its user's, and needs nothing that it came from. Threads may share it, as nothing changes it.
pub struct bw_batch {
    batch: Arc<Batch>,
    schema: Arc<bw_schema>,
}

impl bw_batch {
    /// Hands rows of `schema` to C.
    pub(crate) fn handle_of(batch: Batch, schema: &Arc<bw_schema>) -> *mut bw_batch {
        handle(bw_batch { batch: Arc::new(batch), schema: Arc::clone(schema) })
    }

    /// Hands a result with a schema of its own to C.
    pub(crate) fn handle_of_result(batch: Batch) -> *mut bw_batch {
        let schema = Arc::new(bw_schema::new(batch.schema().clone()));
        Self::handle_of(batch, &schema)
    }
}

/// The values of one column, as Arrow lays them out. They belong to the batch. Values are aligned for their type.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_column {
    /// Type of the values, and the way they are kept.
    pub value_type: bw_type,
    /// Number of rows.
    pub rows: usize,
    /// Rows without a value. Their place has bytes that mean nothing.
    pub null_count: usize,
    /// One bit for each row, from the least significant: 1 where there is a value.
    pub validity: *const u8,
    /// Values of a fixed width, one after the other; of booleans, bits; of text, JSON and bytes, all of their bytes.
    pub values: *const c_void,
    /// Of text, JSON and bytes: row `n` has the bytes of `values` from `offsets[n]` to before `offsets[n + 1]`. Null for
    /// others.
    pub offsets: *const i64,
}

/// Target of the pointers of columns without values: aligned memory that never changes.
static NOTHING: [u64; 2] = [0; 2];

impl bw_column {
    fn of(column: &Column) -> bw_column {
        let nothing = NOTHING.as_ptr();
        let start = |bytes: &[u8]| match bytes.is_empty() {
            true => nothing.cast(),
            false => bytes.as_ptr(),
        };
        bw_column {
            value_type: column.data_type().into(),
            rows: column.len(),
            null_count: column.null_count(),
            validity: start(column.validity()),
            values: start(column.values()).cast(),
            offsets: match column.data_type().is_variable() {
                true => column.offsets().as_ptr(),
                false => std::ptr::null(),
            },
        }
    }
}

/// Number of rows; 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn bw_batch_rows(batch: Option<&bw_batch>) -> usize {
    batch.map_or(0, |batch| batch.batch.len())
}

/// The columns of a batch, for as long as the batch; null for null.
#[unsafe(no_mangle)]
pub extern "C" fn bw_batch_schema(batch: Option<&bw_batch>) -> Option<&bw_schema> {
    batch.map(|batch| &*batch.schema)
}

/// The values of the column at `place`, from 0. `BW_STATUS_ARGUMENT` past the last, and for a column of lists, structs or maps,
/// which `bw_batch_arrow` gives.
#[unsafe(no_mangle)]
pub extern "C" fn bw_batch_column(
    batch: Option<&bw_batch>,
    place: usize,
    column: Option<&mut MaybeUninit<bw_column>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let out = given(column, "a place for the column")?;
        out.write(bw_column::of(column_at(&given(batch, "a batch")?.batch, place)?));
        Ok(bw_status::Ok)
    })
}

fn column_at(batch: &Batch, place: usize) -> Result<&Column> {
    let refused = |message| Err(Error::new(ErrorKind::Argument, message));
    match batch.columns().get(place) {
        Some(column) if column.data_type().is_nested() => refused(format!(
            "expected a column of single values, found the {} {}; bw_batch_arrow gives it",
            column.data_type().name(),
            batch.schema().fields().get(place).map_or("", Field::name)
        )),
        Some(column) => Ok(column),
        None => {
            let count = batch.columns().len();
            refused(format!("expected a column below {count}, found {place}"))
        }
    }
}

/// One value. `BW_STATUS_NONE` where the row has none, and `value` is null then. `BW_STATUS_ARGUMENT` past the last row or
/// column, and for a list, a struct or a map, which `bw_batch_arrow` gives. Slower than `bw_batch_column` for many values.
#[unsafe(no_mangle)]
pub extern "C" fn bw_batch_value(
    batch: Option<&bw_batch>,
    row: usize,
    place: usize,
    value: Option<&mut MaybeUninit<bw_value>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let batch = &given(batch, "a batch")?.batch;
        let out = given(value, "a place for the value")?;
        let column = column_at(batch, place)?;
        if row >= batch.len() {
            let message = format!("expected a row below {}, found {row}", batch.len());
            return Err(Error::new(ErrorKind::Argument, message));
        }
        Ok(out.write(bw_value::of(column.value(row))).status())
    })
}

/// The rows as a struct array of Arrow's C data interface, and what it consists of; the batch stays, and may be freed first: the
/// array shares its memory. Each is released by its `release`. IP addresses are text.
#[unsafe(no_mangle)]
pub extern "C" fn bw_batch_arrow(
    batch: Option<&bw_batch>,
    schema: Option<&mut MaybeUninit<ArrowSchema>>,
    array: Option<&mut MaybeUninit<ArrowArray>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let batch = &given(batch, "a batch")?.batch;
        let (schema, array) = given(schema.zip(array), "places for a schema and an array")?;
        let layout = Layout::new(batch.schema(), ExportOptions::default());
        let rows = layout.shared_array(batch)?;
        schema.write(layout.schema(&[]));
        array.write(rows);
        Ok(bw_status::Ok)
    })
}

/// Frees a batch. Null is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_batch_free(batch: Option<Box<bw_batch>>) {
    drop(batch);
}
