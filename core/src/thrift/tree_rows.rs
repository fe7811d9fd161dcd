//! Messages in a tree of columns, and rows out of it.
//!
//! A column whose path has all lists of the call as rows is the column of the tree, as it is. One that has fewer is repeated beside
//! the elements, and a list on the way that makes no rows is around what is in it.

use std::ops::Range;
use std::sync::Arc;

use super::binary::Binary;
use super::compact::Compact;
use super::decode::Encoding;
use super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use super::input::{MessageInput, ProtocolReader, ThriftMessage};
use super::limits::Limits;
use super::row_layout::{ColumnStep, RowTree, TreeOutput};
use super::tree_reader::TreeReader;
use crate::batch::{Batch, Column};

/// Messages that were read, and are no rows yet.
#[derive(Debug, Clone)]
pub(super) struct TreeRows {
    tree: Arc<RowTree>,
    root: Column,
    /// Rows of the messages.
    row_count: usize,
}

/// Message that was read.
pub(super) struct AppendedMessage {
    /// Bytes of it that were read.
    pub(super) len: usize,
    /// Bytes that its columns take, about.
    pub(super) bytes: u64,
}

impl TreeRows {
    pub(super) fn new(tree: Arc<RowTree>) -> Self {
        let root = Column::of(&tree.field);
        TreeRows { tree, root, row_count: 0 }
    }

    pub(super) fn row_count(&self) -> usize {
        self.row_count
    }

    /// Reads a message. There is nothing of it after an error.
    pub(super) fn push(
        &mut self,
        encoding: Encoding,
        bytes: &[u8],
        limits: Limits,
    ) -> ProtocolResult<AppendedMessage> {
        self.push_one(encoding, bytes, limits, false)
    }

    /// Reads the message that `bytes` begin with to its end. There is nothing of it after an error.
    pub(super) fn push_first(
        &mut self,
        encoding: Encoding,
        bytes: &[u8],
        limits: Limits,
    ) -> ProtocolResult<AppendedMessage> {
        self.push_one(encoding, bytes, limits, true)
    }

    fn push_one(
        &mut self,
        encoding: Encoding,
        bytes: &[u8],
        limits: Limits,
        to_end: bool,
    ) -> ProtocolResult<AppendedMessage> {
        let message = ThriftMessage::whole(bytes, limits);
        let input = MessageInput::new(&message);
        let before = self.root.len();
        let read = match encoding {
            Encoding::Binary => self.read(Binary::new(input), to_end),
            Encoding::Compact => self.read(Compact::new(input), to_end),
        };
        match read {
            Ok(_) => self.row_count = self.inside(0..self.root.len(), 0, self.tree.level()).end,
            Err(_) => self.root.truncate(before),
        }
        read
    }

    fn read<'a, P: ProtocolReader<'a>>(
        &mut self,
        mut at: P,
        to_end: bool,
    ) -> ProtocolResult<AppendedMessage> {
        let tree = Arc::clone(&self.tree);
        let before = self.root.len();
        let mut reader = TreeReader::new(at.input(), &tree.root, to_end);
        reader.message(&mut at, &tree.root, &mut self.root)?;
        let len = at.input().position();
        let rows = self.inside(before..self.root.len(), 0, tree.level()).len() as u64;
        if rows.saturating_mul(len as u64) > reader.left {
            for output in tree.outputs.iter().filter(|output| output.level < tree.level()) {
                let bytes = self.repeated_bytes(output, before);
                let charged = reader.charge_bytes(&mut at, bytes);
                charged.map_err(|error: ProtocolError| error.in_path(&output.path))?;
            }
        }
        Ok(AppendedMessage { len, bytes: reader.used() + len as u64 })
    }

    /// The elements at the level `to` of the lists that make rows, which `elements` at the level `from` have. Messages are at the
    /// level 0.
    fn inside(&self, elements: Range<usize>, from: usize, to: usize) -> Range<usize> {
        let (mut column, mut inside, mut level) = (&self.root, elements, 0);
        for step in &self.tree.rows {
            if *step == ColumnStep::Rows {
                if (from..to).contains(&level) {
                    let offsets = column.list_offsets();
                    let end = |row: usize| offsets.get(row).map_or(0, |offset| *offset as usize);
                    inside = end(inside.start)..end(inside.end);
                }
                level += 1;
            }
            let Some(child) = column.children().get(step.place()) else { break };
            column = child;
        }
        inside
    }

    /// The rows that an element at a level becomes.
    fn rows_of(&self, element: usize, level: usize) -> usize {
        self.inside(element..element + 1, level, self.tree.level()).len()
    }

    /// Bytes of a column that is repeated, for the messages from one on.
    fn repeated_bytes(&self, output: &TreeOutput, message: usize) -> u64 {
        // Lists that make no rows are measured with what is in them.
        let mut steps = output.route.iter().take_while(|step| **step != ColumnStep::Elements);
        let column = steps.try_fold(&self.root, |column, step| column.children().get(step.place()));
        let Some(column) = column else { return 0 };
        let elements = self.inside(message..self.root.len(), 0, output.level);
        elements.fold(0, |sum: u64, row| {
            let count = self.rows_of(row, output.level) as u64;
            sum.saturating_add(count.saturating_mul(column.value_bytes(row..row + 1)))
        })
    }

    /// Moves the rows into a batch.
    ///
    /// # Errors
    /// `SizeLimit` where lists have more elements together than a column can have. The rows are lost then.
    pub(super) fn move_to(&mut self, batch: &mut Batch) -> ProtocolResult<()> {
        if self.root.is_empty() {
            return Ok(());
        }
        let tree = Arc::clone(&self.tree);
        let repeats: Vec<Vec<u32>> = (0..tree.level()).map(|level| self.repeats(level)).collect();
        let columns = tree.outputs.iter().map(|output| {
            let column = take(&mut self.root, &output.route);
            match repeats.get(output.level) {
                Some(rows) => column.gather(rows),
                None => Ok(column),
            }
        });
        let columns = columns.collect::<crate::Result<Vec<Column>>>();
        let rows = self.row_count;
        self.clear();
        let appended = columns.and_then(|columns| batch.append(rows, columns));
        appended.map_err(|error| ProtocolError::new(ProtocolErrorKind::SizeLimit, error))
    }

    /// The element at a level that each row is of.
    fn repeats(&self, level: usize) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.row_count);
        for element in self.inside(0..self.root.len(), 0, level) {
            rows.resize(rows.len() + self.rows_of(element, level), element as u32);
        }
        rows
    }

    pub(super) fn clear(&mut self) {
        self.root.clear();
        self.row_count = 0;
    }
}

impl RowTree {
    /// The lists in each other whose elements are rows.
    fn level(&self) -> usize {
        self.rows.iter().filter(|step| **step == ColumnStep::Rows).count()
    }
}

/// Takes the column at the end of a route out of a tree, with the lists around it that make no rows.
fn take(column: &mut Column, route: &[ColumnStep]) -> Column {
    let Some((step, rest)) = route.split_first() else {
        let emptied = column.emptied();
        return std::mem::replace(column, emptied);
    };
    let place = step.place();
    let field = column.child_fields().get(place).cloned();
    let Some(child) = column.children_mut().get_mut(place) else { return column.emptied() };
    let taken = take(child, rest);
    match (step, field) {
        (ColumnStep::Elements, Some(field)) => column.lists_of(&field, taken),
        _ => taken,
    }
}
