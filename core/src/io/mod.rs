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

mod access;
mod compression;
mod directory;
mod feed;
mod file_writer;
mod gzip;
mod inflate;
mod input;
mod isal;
mod lines;
mod mapping;
mod process_mark;
mod read_at;
mod search;
mod shared_file;
mod source;
mod storage;
mod stream;
mod whole_file;
mod zstd;

pub use access::FileAccess;
pub use compression::{Compression, CompressionChoice};
pub use directory::{Directory, FileDirectory};
pub use feed::{Feed, FeedSource};
pub use file_writer::FileWriter;
pub use inflate::InflateBackend;
pub use inflate::InflateChoice;
pub use lines::{Line, LineCount, LineRule, LineStep, Separator};
pub use mapping::Mapping;
pub use process_mark::ProcessMark;
pub use search::{Found, Search};
pub use shared_file::{
    FileOwner, FileSystem, FileVersion, LocalFileSystem, LockKind, SharedFile, SharedMode,
};
pub use source::Cancel;
pub use source::FileSource;
pub use source::Source;
pub use storage::{FileId, FileStatus, FileStorage, MemoryStorage, Storage, StorageMode};
pub use stream::{ByteStream, Fill, StreamOptions};
pub use whole_file::WholeFile;
