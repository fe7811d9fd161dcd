//! The fields of a projection as columns, a row for each message: one packed array of values per path,
//! with a bit per row that says whether the message has it. The layout is Arrow's, as that of
//! [`packet::Columns`](crate::packet): little-endian values, validity bits from the least significant,
//! 1 for a value, 0 for null; strings as one array of bytes and the offsets of their ends.

use std::sync::Arc;

use super::decode::Encoding;
use super::error::{ProtocolError, ProtocolResult};
use super::frames::Frames;
use super::input::{FieldHeader, Protocol};
use super::limits::{Depth, Limits};
use super::plan::Operation;
use super::pluck::Sink;
use super::projection::Projection;
use super::schema::Type;
use crate::{Error, ErrorKind, Result};

/// Rows of messages, one column per path of a projection.
#[derive(Debug, Clone)]
pub struct Columns {
    projection: Arc<Projection>,
    row_count: usize,
    columns: Vec<Column>,
}

/// The values of one path.
#[derive(Debug, Clone)]
pub struct Column {
    column_type: ColumnType,
    values: Vec<u8>,
    ends: Vec<i64>,
    validity: Vec<u8>,
    null_count: usize,
}

/// What the values of a column are, and how many bytes each takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// One byte, 1 or 0.
    Bool,
    /// A signed number of 8 bits.
    I8,
    /// A signed number of 16 bits.
    I16,
    /// A signed number of 32 bits, or of an enum.
    I32,
    /// A signed number of 64 bits.
    I64,
    /// A floating-point number of 64 bits.
    Double,
    /// 16 bytes.
    Uuid,
    /// Bytes that should be UTF-8, see [`Column::ends`].
    String,
    /// Bytes, see [`Column::ends`].
    Binary,
}

impl ColumnType {
    /// Bytes of a value; `None` where they differ.
    pub fn width(self) -> Option<usize> {
        match self {
            ColumnType::Bool | ColumnType::I8 => Some(1),
            ColumnType::I16 => Some(2),
            ColumnType::I32 => Some(4),
            ColumnType::I64 | ColumnType::Double => Some(8),
            ColumnType::Uuid => Some(16),
            ColumnType::String | ColumnType::Binary => None,
        }
    }

    fn of(value_type: &Type) -> Option<Self> {
        Some(match value_type {
            Type::Bool => ColumnType::Bool,
            Type::Byte => ColumnType::I8,
            Type::I16 => ColumnType::I16,
            Type::I32 | Type::Enum(_) => ColumnType::I32,
            Type::I64 => ColumnType::I64,
            Type::Double => ColumnType::Double,
            Type::Uuid => ColumnType::Uuid,
            Type::String => ColumnType::String,
            Type::Binary => ColumnType::Binary,
            Type::Struct(_) | Type::List(_) | Type::Set(_) | Type::Map(..) => return None,
        })
    }
}

impl Columns {
    /// No rows yet of the fields of a projection.
    ///
    /// # Errors
    ///
    /// `Argument` where a path ends in a struct or a container, which no column holds.
    pub fn new(projection: Arc<Projection>) -> Result<Self> {
        let columns = projection.paths().iter().map(|(path, value_type)| {
            let column_type = ColumnType::of(value_type).ok_or_else(|| {
                let found = format!("found {value_type} {path}");
                let message = format!("expected a field with one value for a column, {found}");
                Error::new(ErrorKind::Argument, message)
            })?;
            Ok(Column::new(column_type))
        });
        let columns = columns.collect::<Result<_>>()?;
        Ok(Columns { projection, row_count: 0, columns })
    }

    /// Appends a row with the fields of the struct that begins with the first of `bytes`.
    ///
    /// # Errors
    ///
    /// What is wrong with the bytes that were read, which is up to the last of the fields. There is no
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
    /// What is wrong with a frame, or with the message in it, with the offset in the input. The rows
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
        let before = self.row_count;
        while self.row_count < row_max {
            let Some(frame) = frames.next_frame()? else { break };
            let appended = self.append(&projection, encoding, frame.bytes, limits);
            appended.map_err(|error: ProtocolError| error.moved(frame.offset))?;
        }
        Ok(self.row_count - before)
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
            Ok(missing) => {
                for (path, column) in self.columns.iter_mut().enumerate() {
                    column.end_row(self.row_count, missing >> path & 1 == 0);
                }
                self.row_count += 1;
                Ok(())
            }
            Err(error) => {
                let row_count = self.row_count;
                self.columns.iter_mut().for_each(|column| column.forget_after(row_count));
                Err(error)
            }
        }
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.row_count = 0;
        for column in &mut self.columns {
            column.values.clear();
            column.ends.truncate(1);
            column.validity.clear();
            column.null_count = 0;
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.row_count
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.row_count == 0
    }

    /// Bytes of memory that the columns hold, used or not.
    pub fn memory_bytes(&self) -> usize {
        let words = |column: &Column| column.ends.capacity() * size_of::<i64>();
        let bytes = |column: &Column| column.values.capacity() + column.validity.capacity();
        self.columns.iter().map(|column| bytes(column) + words(column)).sum()
    }

    /// The projection whose paths the columns are.
    pub fn projection(&self) -> &Arc<Projection> {
        &self.projection
    }

    /// The columns, in the order of the paths.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }
}

impl Column {
    fn new(column_type: ColumnType) -> Self {
        let ends = if column_type.width().is_none() { vec![0] } else { Vec::new() };
        Column { column_type, values: Vec::new(), ends, validity: Vec::new(), null_count: 0 }
    }

    /// What the values are.
    pub fn column_type(&self) -> ColumnType {
        self.column_type
    }

    /// The values, packed little-endian, [`ColumnType::width`] bytes each; of strings, their bytes one
    /// after the other. A null takes its place with bytes that mean nothing; of strings, none.
    pub fn values(&self) -> &[u8] {
        &self.values
    }

    /// Of strings: 0, and for each row where its bytes end in [`values`](Column::values), which is
    /// where those of the next begin. Of others, nothing.
    pub fn ends(&self) -> &[i64] {
        &self.ends
    }

    /// One bit per row: bit `row % 8` of byte `row / 8` is 1 where there is a value.
    pub fn validity(&self) -> &[u8] {
        &self.validity
    }

    /// Rows without a value.
    pub fn null_count(&self) -> usize {
        self.null_count
    }

    /// The bytes of the value in `row`; `None` for a null and past the end.
    pub fn value(&self, row: usize) -> Option<&[u8]> {
        if self.validity.get(row / 8)? >> (row % 8) & 1 == 0 {
            return None;
        }
        match self.column_type.width() {
            Some(width) => self.values.get(row * width..)?.get(..width),
            None => {
                let (start, end) = (*self.ends.get(row)?, *self.ends.get(row + 1)?);
                self.values.get(start as usize..end as usize)
            }
        }
    }

    /// Appends the value of a row.
    #[inline(always)]
    fn push<'a, P: Protocol<'a>>(&mut self, at: &mut P, header: FieldHeader) -> ProtocolResult<()> {
        match self.column_type {
            ColumnType::Bool => {
                let value = if P::BOOL_IN_HEADER { header.flag } else { at.bool()? };
                self.values.push(u8::from(value));
            }
            ColumnType::I8 => self.values.push(at.byte()? as u8),
            ColumnType::I16 => self.values.extend_from_slice(&at.i16()?.to_le_bytes()),
            ColumnType::I32 => self.values.extend_from_slice(&at.i32()?.to_le_bytes()),
            ColumnType::I64 => self.values.extend_from_slice(&at.i64()?.to_le_bytes()),
            ColumnType::Double => self.values.extend_from_slice(&at.double()?.to_le_bytes()),
            ColumnType::Uuid => {
                self.values.extend_from_slice(&at.input().array::<16>("a uuid")?);
            }
            ColumnType::String | ColumnType::Binary => {
                self.values.extend_from_slice(at.string()?);
                self.ends.push(self.values.len() as i64);
            }
        }
        Ok(())
    }

    /// Ends the row with that number, which has had its value if `is_valid`.
    #[inline(always)]
    fn end_row(&mut self, row: usize, is_valid: bool) {
        if row.is_multiple_of(8) {
            self.validity.push(0);
        }
        if let Some(bits) = self.validity.last_mut() {
            *bits |= u8::from(is_valid) << (row % 8);
        }
        if !is_valid {
            self.null_count += 1;
            match self.column_type.width() {
                Some(width) => self.values.resize(self.values.len() + width, 0),
                None => self.ends.push(self.values.len() as i64),
            }
        }
    }

    /// Takes back what was appended for a row that is none.
    fn forget_after(&mut self, row_count: usize) {
        match self.column_type.width() {
            Some(width) => self.values.truncate(row_count * width),
            None => {
                self.ends.truncate(row_count + 1);
                let end = self.ends.last().copied().unwrap_or_default();
                self.values.truncate(end as usize);
            }
        }
    }
}

impl Sink for Columns {
    #[inline(always)]
    fn take<'a, P: Protocol<'a>>(
        &mut self,
        at: &mut P,
        header: FieldHeader,
        _operation: Operation,
        path: u16,
        _depth: Depth,
    ) -> ProtocolResult<()> {
        match self.columns.get_mut(usize::from(path)) {
            Some(column) => column.push(at, header),
            None => Ok(()),
        }
    }
}
