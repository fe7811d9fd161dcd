//! Thrift messages, Binary and Compact, by a schema.

mod schema;

pub use schema::{
    EnumId, EnumSchema, FieldSchema, Requiredness, Schema, StructId, StructKind, StructSchema,
    TYPE_DEPTH_MAX, Type,
};
