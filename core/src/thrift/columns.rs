//! The fields of a projection into the columns of a batch, a row for each message.

use std::sync::Arc;

use super::decode::Encoding;
use super::error::{ProtocolError, ProtocolResult};
use super::frames::{Ahead, Frames};
use super::input::{FieldHeader, ProtocolReader};
use super::limits::{Depth, Limits};
use super::message_layout::{MessageForm, MessageLayout};
use super::plan::ReadOperation;
use super::pluck::PluckSink;
use super::projection::Projection;
use super::row_layout::RowLayout;
use super::through::ThroughPath;
use super::tree_rows::TreeRows;
use crate::Result;
use crate::batch::{Batch, Column, DataType};

/// A batch that is filled with messages, a column for each path of a projection.
///
/// A message is a row, or as many as the lists have elements that paths with `[]` and `{}` name: none if they are empty. A
/// `string` is [`DataType::Text`], whose bytes are as the message has them: who writes messages may write any.
#[derive(Debug, Clone)]
pub struct Columns {
    projection: Arc<Projection>,
    batch: Batch,
    /// Messages that are read as a tree first.
    tree: Option<Box<TreeRows>>,
    /// Bytes that rows out of a tree take, about, and how many they may.
    bytes: u64,
    bytes_max: u64,
}

impl Columns {
    /// No rows yet of the fields of a projection.
    ///
    /// # Errors
    ///
    /// `Argument` for structs that hold themselves, for more columns than there may be, and for rows of lists that are not in
    /// each other.
    pub fn new(projection: Arc<Projection>) -> Result<Self> {
        let RowLayout { schema, tree } = projection.layout(RowLayout::of)?;
        let tree = tree.map(|tree| Box::new(TreeRows::new(tree)));
        let batch = Batch::new(schema);
        Ok(Columns { projection, batch, tree, bytes: 0, bytes_max: u64::MAX })
    }

    /// Ends [`Columns::extend_whole`] behind the message with which rows out of lists take about so many bytes.
    #[must_use]
    pub fn with_bytes_max(mut self, bytes_max: u64) -> Self {
        self.bytes_max = bytes_max;
        self
    }

    /// Appends the rows of the struct that begins with the first of `bytes`.
    ///
    /// # Errors
    ///
    /// Returns the error in the bytes that were read, which is up to the last of the fields. There is no
    /// row then.
    pub fn push(&mut self, encoding: Encoding, bytes: &[u8], limits: Limits) -> ProtocolResult<()> {
        let projection = self.projection.clone();
        let pushed = self.append(&projection, encoding, bytes, limits);
        self.settle()?;
        pushed
    }

    /// Appends the rows of the message that `bytes` begin with, which has a frame only if that has a header of THeader.
    ///
    /// # Errors
    ///
    /// Those of [`Columns::push`], of [`MessageLayout::open_first`] and of [`ReadableMessage::packed`](super::ReadableMessage::packed).
    pub fn push_first(&mut self, layout: MessageLayout, bytes: &[u8]) -> ProtocolResult<()> {
        let (projection, limits) = (self.projection.clone(), layout.limits);
        let message = layout.open_first(bytes)?;
        let message = message.packed(projection.plan(), projection.root(), limits)?;
        let pushed = self.push(message.encoding, &message.bytes, limits);
        pushed.map_err(|error| error.moved(message.offset))
    }

    /// Appends rows for `frames` until there are `row_max` rows in all or more, or no frame more. Answers how
    /// many it appended.
    ///
    /// # Errors
    ///
    /// Returns the error in a frame, or in the message in it, with the offset in the input. The rows
    /// before it are there. A frame with a bad message is passed, so that a next call goes on behind
    /// it.
    pub fn extend(
        &mut self,
        encoding: Encoding,
        frames: &mut Frames<'_>,
        row_max: usize,
        limits: Limits,
    ) -> ProtocolResult<usize> {
        let projection = self.projection.clone();
        let before = self.batch.len();
        let mut appended = || {
            while self.row_count() < row_max {
                let Some(frame) = frames.next_frame()? else { break };
                let appended = self.append(&projection, encoding, frame.bytes, limits);
                appended.map_err(|error: ProtocolError| error.moved(frame.offset))?;
            }
            Ok(())
        };
        let appended = appended();
        self.settle()?;
        appended.map(|()| self.batch.len() - before)
    }

    /// Appends rows for the messages of `bytes` that are whole, which begin at `start` of the input, until there are
    /// `row_max` rows in all or more. Answers how many bytes those had with their frames. `at_end` says that no more bytes come.
    ///
    /// # Errors
    ///
    /// Returns the error in the first message that is not whole, unless only bytes are missing that may still come, and
    /// the errors of [`Columns::extend`]. The rows before it are there.
    pub fn extend_whole(
        &mut self,
        layout: MessageLayout,
        bytes: &[u8],
        start: u64,
        at_end: bool,
        row_max: usize,
    ) -> ProtocolResult<usize> {
        let projection = self.projection.clone();
        let mut ahead = layout.messages(bytes, start);
        let mut appended = || {
            while !self.is_full(row_max) {
                let path = match self.append_unframed(&mut ahead, layout) {
                    Ok(true) => continue,
                    Ok(false) => None,
                    Err(error) => error.path().map(str::to_owned),
                };
                let placed = |error: ProtocolError| error.in_path(path.as_deref().unwrap_or(""));
                match ahead.ahead().map_err(placed)? {
                    Ahead::Message(frame) => {
                        let limits = layout.limits;
                        let message = layout.open(frame)?;
                        let message =
                            message.packed(projection.plan(), projection.root(), limits)?;
                        let encoding = message.encoding;
                        let appended = self.append(&projection, encoding, &message.bytes, limits);
                        appended.map_err(|error: ProtocolError| error.moved(message.offset))?;
                    }
                    Ahead::Needs(_, Some(error)) if at_end => return Err(placed(error)),
                    Ahead::Needs(..) => break,
                }
            }
            Ok(())
        };
        let appended = appended();
        self.settle()?;
        appended.map(|()| ahead.consumed())
    }

    /// Appends the rows of the next message that has no frame, if it is read to its end: its end is found by reading it. Answers
    /// whether it did; if not, nothing happened.
    ///
    /// # Errors
    /// Returns what is wrong with it, or with the bytes of it that are there.
    #[inline]
    fn append_unframed(
        &mut self,
        ahead: &mut Frames<'_>,
        layout: MessageLayout,
    ) -> ProtocolResult<bool> {
        let (Some(tree), MessageForm::Packed(encoding)) = (&mut self.tree, layout.form) else {
            return Ok(false);
        };
        let rest = ahead.unframed_rest();
        if rest.is_empty() {
            return Ok(false);
        }
        let appended = tree.push_first(encoding, rest, layout.limits)?;
        self.bytes += appended.bytes;
        ahead.pass(appended.len);
        Ok(true)
    }

    #[inline(always)]
    fn append(
        &mut self,
        projection: &Projection,
        encoding: Encoding,
        bytes: &[u8],
        limits: Limits,
    ) -> ProtocolResult<()> {
        if let Some(tree) = &mut self.tree {
            self.bytes += tree.push(encoding, bytes, limits)?.bytes;
            return Ok(());
        }
        match projection.find(encoding, bytes, limits, self) {
            Ok(_) => self.batch.end_row(),
            Err(error) => {
                self.batch.forget_row();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns true if there are so many rows, or if they take as many bytes as they may.
    pub fn is_full(&self, row_max: usize) -> bool {
        self.row_count() >= row_max || self.bytes >= self.bytes_max
    }

    /// The rows, those included that are not in the batch yet.
    #[inline(always)]
    fn row_count(&self) -> usize {
        self.batch.len() + self.tree.as_ref().map_or(0, |tree| tree.row_count())
    }

    /// Moves what was read into the batch.
    fn settle(&mut self) -> ProtocolResult<()> {
        self.tree.as_mut().map_or(Ok(()), |tree| tree.move_to(&mut self.batch))
    }

    /// The projection whose paths the columns are.
    pub fn projection(&self) -> &Arc<Projection> {
        &self.projection
    }

    /// The rows.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Takes the rows out with the memory that holds them.
    #[must_use]
    pub fn take(&mut self) -> Batch {
        self.bytes = 0;
        self.batch.take()
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes = 0;
        self.batch.clear();
    }
}

impl PluckSink for Columns {
    fn take_through<'a, P: ProtocolReader<'a>>(
        &mut self,
        _at: &mut P,
        _path: &ThroughPath,
        _depth: Depth,
    ) -> ProtocolResult<()> {
        // A path through a container is read as a tree.
        Ok(())
    }

    #[inline(always)]
    fn take<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        header: FieldHeader,
        _operation: ReadOperation,
        path: u16,
        _depth: Depth,
    ) -> ProtocolResult<()> {
        match self.batch.column_mut(usize::from(path)) {
            Some(column) => push(column, at, header),
            None => Ok(()),
        }
    }
}

/// Appends the value of a row.
#[inline(always)]
fn push<'a, P: ProtocolReader<'a>>(
    column: &mut Column,
    at: &mut P,
    header: FieldHeader,
) -> ProtocolResult<()> {
    match column.data_type() {
        DataType::Bool => {
            column.push_bool(if P::BOOL_IN_HEADER { header.flag } else { at.bool()? })
        }
        DataType::I8 => column.push_fixed(at.byte()?.to_le_bytes()),
        DataType::I16 => column.push_fixed(at.i16()?.to_le_bytes()),
        DataType::I32 => column.push_fixed(at.i32()?.to_le_bytes()),
        DataType::I64 => column.push_fixed(at.i64()?.to_le_bytes()),
        DataType::Double => column.push_fixed(at.double()?.to_le_bytes()),
        DataType::Uuid => column.push_fixed(at.input().array::<16>("a uuid")?),
        DataType::Text | DataType::Bytes => column.push_bytes(at.string()?),
        // No field of a message has another type, see `data_type`.
        _ => column.push_null(),
    }
    Ok(())
}
