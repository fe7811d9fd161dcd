//! Thrift messages, Binary, Compact and JSON, by a schema: bytes in, values on a tape out, and back. JSON is read only: as Binary, to which
//! it is transcoded.
//!
//! A [`ThriftSchema`] describes messages. It is filled from the generated classes of a host, or by [`idl`] from a file. A
//! [`Plan`] is compiled from it once. [`Plan::decode`] reads a message in one pass and returns a [`Tape`], which has no host
//! objects: a face walks it with a [`TapeCursor`], through lists and sets with [`Elements`], and makes its objects. A
//! [`Projection`] decodes selected fields, to a tape or, for many messages, to [`Columns`]. A face writes messages through
//! [`Write`].
//!
//! Unknown fields, and fields of another type than in the schema, are skipped. A list, set or map with elements of another
//! type is present and null. If a field comes twice, the last one counts when a whole message is read, and the first one
//! when selected fields are read. Whether fields are required, enums have a name for a number, and unions have one field, is for
//! the face to say, as libraries differ.
//!
//! Bytes may claim no more than there is: a count times the smallest that an element can take is
//! compared with the bytes left before anything is done for it. [`Limits`] has the other bounds.

mod binary;
mod column_tree;
mod columns;
mod compact;
mod compact_window;
mod decode;
mod elements;
mod error;
mod extent;
mod frames;
mod header_frame;
pub mod idl;
mod input;
mod json;
mod json_protocol;
mod limits;
mod message;
mod message_layout;
mod open_structs;
mod path;
mod plan;
mod pluck;
mod projection;
mod row_layout;
mod schema;
mod skip;
mod tape;
mod through;
mod tree_reader;
mod tree_rows;
mod wire_type;
mod write;

pub use columns::Columns;
pub use decode::Encoding;
pub use elements::Elements;
pub use error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
pub use extent::{Progress, StructExtent};
pub use frames::{Ahead, FRAME_USUAL, Frames, ThriftFrame};
pub use header_frame::{FrameHeader, INFLATED_MAX};
pub use json::json;
pub use limits::{COLUMNS_USUAL, DEPTH_MAX, DEPTH_USUAL, Limits, NarrowVarint};
pub use message::{MessageHeader, MessageKind, Strictness};
pub use message_layout::{MessageForm, MessageLayout, PackedMessage, ReadableMessage};
pub use path::PathStep;
pub use plan::Plan;
pub use projection::{PATHS_MAX, Projection};
pub use schema::{
    EnumId, EnumSchema, FieldSchema, Requiredness, StructId, StructKind, StructSchema,
    TYPE_DEPTH_MAX, ThriftSchema, Type,
};
pub use tape::{Collection, Doubles, Tape, TapeCursor, TapeValue};
pub use wire_type::WireType;
pub use write::{BinaryWriter, CompactWriter, Write};
