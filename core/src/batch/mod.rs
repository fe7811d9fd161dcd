//! Rows as columns: the form of every result, and the one place for the names, types and meanings of its fields.
//!
//! A [`Schema`] describes rows. A [`Batch`] holds rows as columns in Arrow's layout. It is filled by rows or by blocks, read by
//! [`Value`], and cleared or handed over when it is full. It does not know what its rows are: packets, flows and calls
//! bring their schema, and fill it.

#[cfg(target_endian = "little")]
pub mod arrow;
mod bits;
mod column;
pub mod csv;
pub mod damage;
mod data_type;
mod export;
pub mod json;
mod nested_value;
pub mod notation;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(target_endian = "little")]
mod request;
pub(crate) mod schema;
mod tcp_flags;
mod value;
pub(crate) mod wireshark_names;

pub use column::Column;
pub(crate) use column::mapped;
pub use data_type::{DataType, Enumeration};
pub use export::{AddressForm, Export, ExportOptions, RowOrigin, TimeUnit};
pub use nested_value::NestedValue;
pub use schema::{Field, Schema};
pub use tcp_flags::{TCP_FLAGS, TcpFlag, tcp_flags_of};
pub use value::{ShortText, Value};

/// Rows of one schema, a column for each of its fields.
#[derive(Debug, Clone)]
pub struct Batch {
    schema: Schema,
    row_count: usize,
    columns: Vec<Column>,
}

impl Batch {
    /// No rows yet.
    pub fn new(schema: Schema) -> Self {
        let columns = schema.fields().iter().map(Column::of);
        Batch { row_count: 0, columns: columns.collect(), schema }
    }

    /// Returns the schema of its rows.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.row_count
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.row_count == 0
    }

    /// Bytes of memory that the columns hold, used or not.
    pub fn memory_bytes(&self) -> usize {
        self.columns.iter().map(Column::memory_bytes).sum()
    }

    /// The columns, in the order of the schema's fields.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of the field with that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.get(self.schema.find(name)?)
    }

    /// The value of a row in the column at a place; null past the end.
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.columns.get(column).map_or(Value::Null, |column| column.value(row))
    }

    /// Makes room for that many rows in all, without a guess at the length of text.
    pub fn reserve(&mut self, rows: usize) {
        let more = rows.saturating_sub(self.row_count);
        self.columns.iter_mut().for_each(|column| column.reserve(more));
    }

    /// Appends a row; `value` gives the value of the column at a place.
    pub fn push_row<'v>(&mut self, mut value: impl FnMut(usize) -> Value<'v>) {
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.push(value(place));
        }
        self.row_count += 1;
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.row_count = 0;
        self.columns.iter_mut().for_each(Column::clear);
    }

    /// Keeps the first rows.
    pub fn truncate(&mut self, rows: usize) {
        self.row_count = self.row_count.min(rows);
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
    }

    /// Takes the rows out with the memory that holds them. No rows of the same schema stay.
    #[must_use]
    pub fn take(&mut self) -> Batch {
        let empty = Batch::new(self.schema.clone());
        std::mem::replace(self, empty)
    }

    /// Gives up its columns.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// Appends rows column by column: `fill` appends the values and the validity of `rows` rows to the column at
    /// a place.
    #[inline]
    pub(crate) fn extend(&mut self, rows: usize, mut fill: impl FnMut(usize, &mut Column)) {
        self.row_count += rows;
        for (place, column) in self.columns.iter_mut().enumerate() {
            fill(place, column);
            debug_assert_eq!(column.len(), self.row_count);
        }
    }

    /// The column at a place, for values of a row that come in any order; [`Batch::end_row`] or
    /// [`Batch::forget_row`] has to follow.
    #[inline(always)]
    pub(crate) fn column_mut(&mut self, place: usize) -> Option<&mut Column> {
        self.columns.get_mut(place)
    }

    /// Ends a row of which each column has the value or nothing, which is null.
    #[inline]
    pub(crate) fn end_row(&mut self) {
        self.row_count += 1;
        for column in &mut self.columns {
            if column.len() < self.row_count {
                column.push_null();
            }
        }
    }

    /// Appends as many rows as each of `columns` has, the values of a field each.
    ///
    /// # Errors
    /// `Limit` as for [`Column::end_list`]; the rows are not whole then.
    pub(crate) fn append(&mut self, rows: usize, columns: Vec<Column>) -> crate::Result<()> {
        debug_assert_eq!(columns.len(), self.columns.len());
        for (column, more) in self.columns.iter_mut().zip(columns) {
            column.append(more)?;
            debug_assert_eq!(column.len(), self.row_count + rows);
        }
        self.row_count += rows;
        Ok(())
    }

    /// Takes back what was appended for a row that is none.
    pub(crate) fn forget_row(&mut self) {
        self.truncate(self.row_count);
    }
}
