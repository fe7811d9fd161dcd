//! Thrift messages, Binary and Compact, by a schema.

mod binary;
mod columns;
mod compact;
mod decode;
mod error;
mod extent;
mod frames;
mod input;
mod limits;
mod message;
mod plan;
mod pluck;
mod projection;
mod schema;
mod skip;
mod tape;
mod wire_type;
mod write;

pub use columns::{Column, ColumnType, Columns};
pub use decode::Encoding;
pub use error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
pub use extent::{Extent, Progress};
pub use frames::{FRAME_USUAL, Frame, Frames};
pub use limits::{DEPTH_MAX, DEPTH_USUAL, Limits};
pub use message::{MessageHeader, MessageKind, Strictness};
pub use plan::Plan;
pub use projection::{PATHS_MAX, Projection};
pub use schema::{
    EnumId, EnumSchema, FieldSchema, Requiredness, Schema, StructId, StructKind, StructSchema,
    TYPE_DEPTH_MAX, Type,
};
pub use tape::{Collection, Cursor, Doubles, Tape, Value};
pub use wire_type::WireType;
pub use write::{BinaryWriter, CompactWriter, Write};
