//! Arguments and results of the calls of one method as columns of structs, nested as the IDL file has them.
//!
//! A struct that a call carries becomes the only field of a message, which [`Columns`] reads: so it is the column that it is of messages.

use std::sync::Arc;

use super::call::{Call, Outcome};
use super::field::CarriedField;
use super::methods::Methods;
use crate::batch::{Batch, Column, Field};
use crate::error::excerpt;
use crate::thrift::{
    Columns, DEPTH_USUAL, Encoding, FieldSchema, Limits, Plan, Projection, ReadableMessage,
    StructId, StructKind, Type,
};
use crate::{Error, ErrorKind, Result};

/// The header of the field with the id 1 that is a struct.
const FIELD_BINARY: &[u8] = b"\x0c\0\x01";
const FIELD_COMPACT: &[u8] = b"\x1c";

/// The end of a struct; alone, one without fields.
const STOP: &[u8] = b"\0";

/// The columns of what the calls of one method carry: a struct for its arguments, and one for its result or exception.
#[derive(Debug, Clone)]
pub struct CallStructs(Vec<CarriedColumn>);

/// Column of arguments, or of results.
#[derive(Debug, Clone)]
struct CarriedColumn {
    field: CarriedField,
    /// The struct that calls carry.
    root: StructId,
    /// No row yet.
    columns: Columns,
}

impl CallStructs {
    /// The columns of the calls of a method.
    ///
    /// # Errors
    /// `Argument` for a method that the service does not have, and for structs that hold themselves.
    pub fn new(methods: &Methods, method: &str) -> Result<Self> {
        let (arguments, result) = methods.structs_of(method).ok_or_else(|| {
            let (names, method) = (methods.names().join(", "), excerpt(method));
            let expected = format!("expected a method of the service ({})", excerpt(&names));
            Error::new(ErrorKind::Argument, format!("{expected}, found {method}"))
        })?;
        let fields = CarriedField::ALL.iter().zip([arguments, result]);
        let columns = fields.map(|(field, root)| CarriedColumn::new(methods, method, *field, root));
        columns.collect::<Result<_>>().map(CallStructs)
    }

    /// The fields of the columns.
    pub fn fields(&self) -> Vec<Field> {
        let fields = self.0.iter().flat_map(|carried| carried.columns.batch().schema().fields());
        fields.cloned().collect()
    }

    /// Puts the columns of these calls, a row for each, in the place of those of a batch from `place` on: null for what a call does not
    /// have, or what does not fit the IDL file.
    pub fn fill(&self, calls: &[Call], batch: &mut Batch, place: usize) {
        for (carried, place) in self.0.iter().zip(place..) {
            if let (Some(column), Some(filled)) =
                (batch.column_mut(place), carried.column_of(calls))
            {
                *column = filled;
            }
        }
    }
}

impl CarriedColumn {
    fn new(methods: &Methods, method: &str, field: CarriedField, root: StructId) -> Result<Self> {
        let mut schema = methods.schema().clone();
        let call = schema.declare_struct(method, StructKind::Struct);
        let fields = vec![FieldSchema::new(1, field.name(), Type::Struct(root))];
        schema.define_struct(call, fields)?;
        let plan = Arc::new(Plan::new(Arc::new(schema))?);
        let columns = Columns::new(Arc::new(Projection::whole(plan, call)?))?;
        Ok(CarriedColumn { field, root, columns })
    }

    /// The struct that a call carries. That of a failure is none of the method's.
    fn bytes_of<'c>(&self, call: &'c Call) -> Option<&'c [u8]> {
        match self.field {
            CarriedField::Arguments => call.arguments.as_deref(),
            CarriedField::Result if call.outcome == Outcome::Failure => None,
            CarriedField::Result => call.result.as_deref(),
        }
    }

    fn column_of(&self, calls: &[Call]) -> Option<Column> {
        let (mut columns, mut message) = (self.columns.clone(), Vec::new());
        // A level more is that of the message.
        let limits = Limits { depth_max: DEPTH_USUAL + 1, ..Limits::default() };
        for call in calls {
            message.clear();
            let encoding = self.write(call, &mut message);
            let is_read =
                encoding.is_some_and(|encoding| columns.push(encoding, &message, limits).is_ok());
            if !is_read {
                columns.push(Encoding::Binary, STOP, limits).ok()?;
            }
        }
        columns.take().into_columns().pop()
    }

    /// Writes the message whose field is what a call carries; nothing if there is none.
    fn write(&self, call: &Call, message: &mut Vec<u8>) -> Option<Encoding> {
        let (form, bytes) = (call.protocol.form, self.bytes_of(call)?.into());
        let carried = ReadableMessage { form, offset: 0, bytes };
        let plan = self.columns.projection().plan();
        let carried = carried.packed(plan, self.root, Limits::default()).ok()?;
        message.extend_from_slice(match carried.encoding {
            Encoding::Binary => FIELD_BINARY,
            Encoding::Compact => FIELD_COMPACT,
        });
        message.extend_from_slice(&carried.bytes);
        message.extend_from_slice(STOP);
        Some(carried.encoding)
    }
}
