//! The fields of a projection into the columns of a batch, a row for each message.

use std::sync::Arc;

use super::decode::Encoding;
use super::error::{ProtocolError, ProtocolResult};
use super::frames::{Ahead, Frames};
use super::input::{FieldHeader, ProtocolReader};
use super::limits::{Depth, Limits};
use super::plan::ReadOperation;
use super::pluck::PluckSink;
use super::projection::Projection;
use super::schema::Type;
use crate::batch::{Batch, Column, DataType, Field, Schema};
use crate::{Error, ErrorKind, Result};

/// Layout of messages: how they are written, and how they follow each other.
#[derive(Debug, Clone, Copy)]
pub struct MessageLayout {
    /// The protocol of their structs.
    pub encoding: Encoding,
    /// True if the length of each comes before it.
    pub is_framed: bool,
    /// Bounds of what one may ask of its reader.
    pub limits: Limits,
}

impl MessageLayout {
    /// The messages of `bytes`, which begin at `start` of the input.
    pub fn messages(self, bytes: &[u8], start: u64) -> Frames<'_> {
        match self.is_framed {
            true => Frames::new(bytes, start),
            false => Frames::unframed(bytes, start, self.encoding, self.limits),
        }
    }
}

/// A batch that is filled with messages, a column for each path of a projection.
///
/// A `string` is [`DataType::Text`], whose bytes are as the message has them: who writes messages may write any.
#[derive(Debug, Clone)]
pub struct Columns {
    projection: Arc<Projection>,
    batch: Batch,
}

impl Columns {
    /// No rows yet of the fields of a projection.
    ///
    /// # Errors
    ///
    /// `Argument` where a path ends in a struct or a container, which no column holds.
    pub fn new(projection: Arc<Projection>) -> Result<Self> {
        let schema = projection.schema(schema_of)?;
        Ok(Columns { projection, batch: Batch::new(schema) })
    }

    /// Appends a row with the fields of the struct that begins with the first of `bytes`.
    ///
    /// # Errors
    ///
    /// Returns the error in the bytes that were read, which is up to the last of the fields. There is no
    /// row then.
    pub fn push(&mut self, encoding: Encoding, bytes: &[u8], limits: Limits) -> ProtocolResult<()> {
        let projection = self.projection.clone();
        self.append(&projection, encoding, bytes, limits)
    }

    /// Appends rows for `frames` until there are `row_max` rows in all, or no frame more. Answers how
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
        while self.batch.len() < row_max {
            let Some(frame) = frames.next_frame()? else { break };
            let appended = self.append(&projection, encoding, frame.bytes, limits);
            appended.map_err(|error: ProtocolError| error.moved(frame.offset))?;
        }
        Ok(self.batch.len() - before)
    }

    /// Appends rows for the messages of `bytes` that are whole, which begin at `start` of the input, until there are
    /// `row_max` rows in all. Answers how many bytes those had with their frames. `at_end` says that no more bytes come.
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
        let mut ahead = layout.messages(bytes, start);
        let mut room = row_max.saturating_sub(self.batch.len());
        let mut end = Ok(());
        while room > 0 {
            match ahead.ahead() {
                Ok(Ahead::Message(_)) => room -= 1,
                Ok(Ahead::Needs(_, Some(error))) if at_end => {
                    end = Err(error);
                    break;
                }
                Ok(Ahead::Needs(..)) => break,
                Err(error) => {
                    end = Err(error);
                    break;
                }
            }
        }
        let whole = bytes.get(..ahead.consumed()).unwrap_or_default();
        let mut messages = layout.messages(whole, start);
        self.extend(layout.encoding, &mut messages, row_max, layout.limits)?;
        match messages.consumed() {
            used if used < whole.len() => Ok(used),
            used => end.map(|()| used),
        }
    }

    #[inline(always)]
    fn append(
        &mut self,
        projection: &Projection,
        encoding: Encoding,
        bytes: &[u8],
        limits: Limits,
    ) -> ProtocolResult<()> {
        match projection.find(encoding, bytes, limits, self) {
            Ok(_) => self.batch.end_row(),
            Err(error) => {
                self.batch.forget_row();
                return Err(error);
            }
        }
        Ok(())
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
        self.batch.take()
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.batch.clear();
    }
}

impl PluckSink for Columns {
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

/// A column for each path.
fn schema_of(paths: &[(String, Type)]) -> Result<Schema> {
    let fields = paths.iter().map(|(path, value_type)| {
        let data_type = data_type(value_type).ok_or_else(|| {
            let found = format!("found {value_type} {path}");
            let message = format!("expected a field with one value for a column, {found}");
            Error::new(ErrorKind::Argument, message)
        })?;
        Ok(Field::new(path.clone(), data_type, true, String::new()))
    });
    Ok(Schema::new("messages", fields.collect::<Result<_>>()?))
}

/// Returns the type of a field's column; `None` for a type with parts.
fn data_type(value_type: &Type) -> Option<DataType> {
    Some(match value_type {
        Type::Bool => DataType::Bool,
        Type::Byte => DataType::I8,
        Type::I16 => DataType::I16,
        Type::I32 | Type::Enum(_) => DataType::I32,
        Type::I64 => DataType::I64,
        Type::Double => DataType::Double,
        Type::Uuid => DataType::Uuid,
        Type::String => DataType::Text,
        Type::Binary => DataType::Bytes,
        Type::Struct(_) | Type::List(_) | Type::Set(_) | Type::Map(..) => return None,
    })
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
