//! Thrift messages, Binary and Compact, by a schema: bytes in, values on a tape out, and back.
//!
//! A [`Schema`] says what messages may hold; whoever knows fills it (generated classes of a host, or
//! [`idl`] from a file). A [`Plan`] is compiled from it once. [`Plan::decode`] goes over a message once and leaves
//! a [`Tape`], which holds no host objects: a face walks it with a [`Cursor`] and makes its objects. A
//! [`Projection`] takes some fields only, onto a tape or, of many messages, into [`Columns`]. Writing
//! is for a face to drive, through [`Write`].
//!
//! What a message has and the schema has not is passed: unknown fields, and fields of another type.
//! A list, set or map of other elements than the schema's is there and null. Of a field that comes
//! twice, the last counts where a message is read whole, and the first where fields are taken out of
//! it. Whether fields are required, enums have a name for a number, and unions have one field, is for
//! the face to say, as libraries differ.
//!
//! Bytes may claim no more than there is: a count times the smallest that an element can take is
//! compared with the bytes left before anything is done for it. [`Limits`] has the other bounds.

mod binary;
mod columns;
mod compact;
mod decode;
mod error;
mod extent;
mod frames;
pub mod idl;
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

pub use columns::{Columns, MessageLayout};
pub use decode::Encoding;
pub use error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
pub use extent::{Extent, Progress};
pub use frames::{Ahead, FRAME_USUAL, Frame, Frames};
pub use limits::{DEPTH_MAX, DEPTH_USUAL, Limits, NarrowVarint};
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
