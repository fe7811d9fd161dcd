//! Bytes from the outside world: files, pipes and host objects in, decompressed pieces out.
//!
//! A [`Source`] is where raw bytes come from; [`FileSource`] is the one for files, FIFOs and standard
//! input, and a face can bring its own. A [`ByteStream`] reads a source in pieces, tells by the first
//! bytes whether they are gzip, zstd or neither, and hands out the decompressed bytes from one buffer
//! that does not grow with the input. It says nothing about what the bytes mean: that is for the
//! decoders, which never see this module.
//!
//! Damage costs only what it damaged: every byte that was decompressed before it is delivered first,
//! and only the call that needs more gets the error.

mod byte_stream;
mod compression;
mod feed;
mod file_hash;
mod gzip;
mod inflate;
mod input;
#[cfg_attr(any(target_family = "wasm", target_feature = "crt-static"), path = "no_isal.rs")]
mod isal;
mod lines;
mod members;
mod read_at;
mod search;
mod seek_point;
mod seek_table;
mod source;
mod spans;
mod unread_bytes;
mod whole_file;
mod zlib;
mod zstd;

pub use byte_stream::{ByteStream, Fill, StreamOptions};
pub use compression::{Compression, CompressionChoice};
pub use feed::{Feed, FeedSource};
pub use file_hash::FileHash;
pub use inflate::InflateBackend;
pub use lines::{Line, LineCount, LineRule, LineStep, Separator};
pub use search::{Found, Search};
pub(crate) use seek_point::STATE_LEN;
pub use seek_point::{DeflateState, Resume, SeekPoint, SeekSpacing, StoredRest};
pub(crate) use seek_table::SeekTable;
pub use source::{Cancel, FileSource, Source};
pub(crate) use spans::SeekPlaces;
pub use whole_file::WholeFile;
