//! Rows on their way to DuckDB, in pieces of as many as it takes at once.

use std::ops::Range;

use bytewright::Result;
use bytewright::batch::{Batch, Column, Export, Field, Schema};

/// A question, which is asked for the columns that are wanted, and may answer with others beside them.
pub(crate) type Ask = Box<dyn Fn(&dyn Fn(&str) -> bool) -> Result<Answer> + Send + Sync>;

/// Batches of rows, of which none is read yet. Dropping it ends what prepares them.
pub(crate) struct Answer {
    /// Conversion of the batches, whose addresses and names leave as text.
    pub(crate) export: Export,
    /// Source of the batches, with nothing after the last. An error comes after all rows before it.
    pub(crate) next: Box<dyn FnMut() -> Result<Option<Batch>> + Send>,
}

/// A call in a query, whose columns are known.
pub(crate) struct BoundCall {
    ask: Ask,
    pub(crate) schema: Schema,
}

impl BoundCall {
    pub(crate) fn new(ask: Ask) -> Result<Self> {
        Ok(BoundCall { schema: ask(&|_| true)?.export.schema().clone(), ask })
    }

    /// Begins to read the columns at these places of the schema. A place past the last is a column without values, which
    /// `count(*)` asks for.
    pub(crate) fn begin(&self, places: impl Iterator<Item = u64>) -> Result<Reading> {
        let fields = self.schema.fields();
        let names: Vec<_> = places.map(|at| fields.get(at as usize).map(Field::name)).collect();
        // There are no rows without a column.
        let first = fields.first().map(Field::name).filter(|_| names.iter().all(Option::is_none));
        let answer = (self.ask)(&|name| names.contains(&Some(name)) || first == Some(name))?;
        let schema = answer.export.schema();
        let named = (0..).zip(names);
        let columns = named.filter_map(|(at, name)| Some((at, schema.find(name?)?))).collect();
        Ok(Reading { answer, columns, batch: None, at: 0 })
    }
}

/// Some rows, and the columns that have them, with the place of each in DuckDB.
type Piece<'a> = (Vec<(u64, &'a Column)>, Range<usize>);

/// Rows that are read. One batch is in memory at a time, beside those that the core prepares.
pub(crate) struct Reading {
    answer: Answer,
    /// The columns with values that DuckDB asked for: the place there, and in the batches.
    columns: Vec<(u64, usize)>,
    batch: Option<Batch>,
    /// Rows of the batch that were handed out.
    at: usize,
}

impl Reading {
    /// The next rows of a batch, at most so many; none at the end.
    pub(crate) fn next(&mut self, rows_max: usize) -> Result<Piece<'_>> {
        while self.batch.as_ref().is_none_or(|batch| self.at >= batch.len()) {
            (self.batch, self.at) = (None, 0);
            let Some(batch) = (self.answer.next)()? else { return Ok((Vec::new(), 0..0)) };
            self.batch = Some(self.answer.export.convert(batch)?);
        }
        let columns = self.batch.as_ref().map_or(&[][..], Batch::columns);
        let rows = self.at..columns.first().map_or(0, Column::len).min(self.at + rows_max);
        self.at = rows.end;
        let column = |(at, place): &(u64, usize)| Some((*at, columns.get(*place)?));
        Ok((self.columns.iter().filter_map(column).collect(), rows))
    }
}
