//! A schema made ready for reading: for each struct, what to do with a field by its id.

use std::sync::Arc;

use super::schema::{FieldSchema, StructId, StructKind, ThriftSchema, Type};
use super::wire_type::WireType;
use crate::{Error, ErrorKind, Result};

/// Ids up to this many times the number of fields are looked up in a table.
const SPARSE_FACTOR: usize = 8;

/// No field, in the table of ids.
const NONE: u16 = u16::MAX;

/// A schema, compiled once and used for every message of any of its structs. It is shared by
/// reference and never changes.
#[derive(Debug)]
pub struct Plan {
    schema: Arc<ThriftSchema>,
    structs: Vec<StructPlan>,
    containers: Vec<ContainerPlan>,
}

/// Plan for the fields of one struct.
#[derive(Debug)]
pub(super) struct StructPlan {
    /// By id, the order in which most writers write them.
    fields: Vec<FieldPlan>,
    /// The first id of `places`.
    first_id: i32,
    /// Places in `fields` by id, if the ids are dense.
    places: Vec<u16>,
    pub(super) is_union: bool,
}

/// Plan for one field.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldPlan {
    pub(super) id: i32,
    /// The type that its value must have in the message.
    pub(super) kind: WireType,
    /// Its place in the schema.
    pub(super) number: u16,
    pub(super) value: ReadOperation,
}

/// Plan for the elements of a list or a set, or for the entries of a map.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContainerPlan {
    /// Of a list or a set, the elements.
    pub(super) key: ReadOperation,
    pub(super) key_kind: WireType,
    /// Of a map, the values; else the same as the keys.
    pub(super) value: ReadOperation,
    pub(super) value_kind: WireType,
}

/// Operation that reads a value. The number in it is that of a struct, or of a container's plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadOperation {
    Bool,
    Byte,
    I16,
    I32,
    I64,
    Double,
    String,
    Binary,
    Uuid,
    Struct(u32),
    List(u32),
    Set(u32),
    Map(u32),
}

impl Plan {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// `Argument` where a field has a struct or an enum for a type that the schema does not have.
    pub fn new(schema: Arc<ThriftSchema>) -> Result<Self> {
        let mut plan = Plan { schema: schema.clone(), structs: Vec::new(), containers: Vec::new() };
        for defined in schema.structs() {
            let mut fields = Vec::with_capacity(defined.fields.len());
            for (number, field) in defined.fields.iter().enumerate() {
                let value = plan.operation(&field.value_type).ok_or_else(|| {
                    let found = missing(field);
                    let message =
                        format!("{}: expected types of the schema, {found}", defined.name);
                    Error::new(ErrorKind::Argument, message)
                })?;
                let number = u16::try_from(number).unwrap_or(NONE);
                let kind = WireType::of(&field.value_type);
                fields.push(FieldPlan { id: i32::from(field.id), kind, number, value });
            }
            plan.structs.push(StructPlan::new(fields, defined.kind));
        }
        Ok(plan)
    }

    /// The schema it was compiled from.
    pub fn schema(&self) -> &Arc<ThriftSchema> {
        &self.schema
    }

    /// The plan of a struct.
    #[inline(always)]
    pub(super) fn get(&self, id: u32) -> Option<&StructPlan> {
        self.structs.get(id as usize)
    }

    /// The plan of the field of a struct with that number in the schema.
    pub(super) fn field(&self, id: u32, number: u16) -> Option<&FieldPlan> {
        self.get(id)?.fields.iter().find(|field| field.number == number)
    }

    /// The plan of a container's elements.
    #[inline(always)]
    pub(super) fn container(&self, number: u32) -> Option<ContainerPlan> {
        self.containers.get(number as usize).copied()
    }

    /// Returns the operation that reads a value of that type; `None` if the schema lacks a struct of it.
    pub(super) fn operation(&mut self, value_type: &Type) -> Option<ReadOperation> {
        Some(match value_type {
            Type::Bool => ReadOperation::Bool,
            Type::Byte => ReadOperation::Byte,
            Type::I16 => ReadOperation::I16,
            Type::I32 => ReadOperation::I32,
            Type::I64 => ReadOperation::I64,
            Type::Double => ReadOperation::Double,
            Type::String => ReadOperation::String,
            Type::Binary => ReadOperation::Binary,
            Type::Uuid => ReadOperation::Uuid,
            Type::Enum(id) => self.schema.get_enum(*id).map(|_| ReadOperation::I32)?,
            Type::Struct(id) => self.schema.get(*id).map(|_| ReadOperation::Struct(id.0))?,
            Type::List(element) => ReadOperation::List(self.container_of(element, element)?),
            Type::Set(element) => ReadOperation::Set(self.container_of(element, element)?),
            Type::Map(key, value) => ReadOperation::Map(self.container_of(key, value)?),
        })
    }

    fn container_of(&mut self, key: &Type, value: &Type) -> Option<u32> {
        let added = ContainerPlan {
            key: self.operation(key)?,
            key_kind: WireType::of(key),
            value: if key == value { self.operation(key)? } else { self.operation(value)? },
            value_kind: WireType::of(value),
        };
        let number = u32::try_from(self.containers.len()).ok()?;
        self.containers.push(added);
        Some(number)
    }

    /// The plan of a struct that a caller named.
    pub(super) fn root(&self, id: StructId) -> Result<&StructPlan> {
        self.get(id.0).ok_or_else(|| {
            let found = format!("expected a struct of the schema, found number {}", id.0);
            Error::new(ErrorKind::Argument, found)
        })
    }
}

impl StructPlan {
    fn new(mut fields: Vec<FieldPlan>, kind: StructKind) -> Self {
        fields.sort_unstable_by_key(|field| field.id);
        let first_id = fields.first().map_or(0, |field| field.id);
        let last_id = fields.last().map_or(0, |field| field.id);
        let span = usize::try_from(last_id - first_id).unwrap_or_default() + 1;
        let mut places = Vec::new();
        if span <= fields.len().saturating_mul(SPARSE_FACTOR) {
            places.resize(span, NONE);
            for (place, field) in (0..NONE).zip(&fields) {
                let at = usize::try_from(field.id - first_id).unwrap_or_default();
                if let Some(slot) = places.get_mut(at) {
                    *slot = place;
                }
            }
        }
        StructPlan { fields, first_id, places, is_union: kind == StructKind::Union }
    }

    /// The field at a place, counted by id.
    #[inline(always)]
    pub(super) fn at(&self, place: usize) -> Option<&FieldPlan> {
        self.fields.get(place)
    }

    /// The place of the field with that id.
    #[inline]
    pub(super) fn place(&self, id: i32) -> Option<usize> {
        if self.places.is_empty() {
            return self.fields.binary_search_by_key(&id, |field| field.id).ok();
        }
        let at = usize::try_from(id.wrapping_sub(self.first_id)).ok()?;
        self.places.get(at).filter(|place| **place != NONE).map(|place| usize::from(*place))
    }
}

fn missing(field: &FieldSchema) -> String {
    format!("found another in {} {}", field.value_type, field.name)
}
