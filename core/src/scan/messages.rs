//! Fields of the Thrift messages of a file, as columns.

use crate::batch::{Batch, Schema};
use crate::stream::ByteStream;
use crate::thrift::{Columns, MessageLayout};
use crate::{Error, Result};

/// Reads the messages of a stream into batches of columns. No more of the file is in memory than one message and a piece.
pub struct MessageColumns {
    stream: ByteStream,
    columns: Columns,
    layout: MessageLayout,
    rows_max: usize,
    /// Whether all is in the buffer that there is.
    at_end: bool,
    /// Bytes that are asked for beyond those that are buffered.
    wanted: usize,
    failure: Option<Error>,
}

impl MessageColumns {
    /// Reads the messages of `stream` into `columns`, in batches of at most `rows_max` rows.
    pub fn new(
        stream: ByteStream,
        columns: Columns,
        layout: MessageLayout,
        rows_max: usize,
    ) -> Self {
        let (rows_max, at_end, wanted) = (rows_max.max(1), false, 1);
        MessageColumns { stream, columns, layout, rows_max, at_end, wanted, failure: None }
    }

    /// What the rows consist of.
    pub fn schema(&self) -> &Schema {
        self.columns.batch().schema()
    }

    /// The next rows; none at the end.
    ///
    /// # Errors
    /// What is wrong with a message, and those of reading, after all rows before; and again however often it is asked.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        while self.failure.is_none() && self.columns.batch().len() < self.rows_max {
            match self.step() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => self.failure = Some(error),
            }
        }
        if !self.columns.batch().is_empty() {
            return Ok(Some(self.columns.take()));
        }
        self.failure.clone().map_or(Ok(None), Err)
    }

    /// Appends rows for what is whole in the buffer, of which there is more than before. Says whether there may be more.
    fn step(&mut self) -> Result<bool> {
        let start = self.stream.position();
        if !self.at_end {
            self.at_end = self.stream.fill(self.wanted)?.len() < self.wanted;
        }
        let bytes = self.stream.buffered();
        let (layout, at_end, rows_max) = (self.layout, self.at_end, self.rows_max);
        let taken = self.columns.extend_whole(layout, bytes, start, at_end, rows_max);
        let taken = taken.map_err(|error| Error::from(error).in_file(self.stream.name()))?;
        self.stream.consume(taken);
        let left = self.stream.buffered().len();
        // Where rows are full, what is left has whole messages; where they are not, it has none.
        self.wanted = if self.columns.batch().len() < self.rows_max { left + 1 } else { 1 };
        Ok(left > 0 || !self.at_end)
    }
}
