//! Persistent files: random access, locks, replacement, syncing and memory mapping.
//!
//! A [`Storage`] is one file, a [`Directory`] the files beside it, a [`SharedFile`] one that several programs write in
//! turns. Each is a trait, so that tests can use a simulated disk that fails or loses power. [`table`](crate::table) and
//! [`pstore`](crate::pstore) know what the bytes mean.

mod access;
#[cfg_attr(not(target_os = "linux"), path = "no_bus_guard.rs")]
mod bus_guard;
mod commit_log;
mod directory;
mod file_end;
mod file_header;
mod file_room;
mod file_writer;
mod found_file;
mod lock_holder;
mod mapping;
mod memory_storage;
mod page_chunk;
mod page_map;
mod process_mark;
mod shared_area;
mod shared_file;
mod storage;
mod unnamed_directory;
mod unnamed_file;

pub use access::{FileAccess, FileOwner};
pub(crate) use commit_log::{
    CHECK_LEN, CommitFrame, CommitLog, FRAME_HEADER_LEN, FrameBuffer, FrameFlags, LENS_LEN,
    LogHeader, LogReader, LogRecord, PAYLOAD_LEN_MAX, Salt,
};
pub(crate) use directory::name_beside;
pub use directory::{Directory, Displaced, FileDirectory};
pub(crate) use file_header::{FileKind, HEADER_LEN};
pub(crate) use file_room::{punch, reserve};
pub use file_writer::FileWriter;
pub(crate) use found_file::begins_like;
pub use found_file::{FoundFile, Stranger};
pub use mapping::Mapping;
pub use memory_storage::MemoryStorage;
pub(crate) use page_chunk::PageChunk;
pub(crate) use page_map::{PAGE_LEN, PageMap, PageNumber};
pub use process_mark::ProcessMark;
pub(crate) use shared_area::{
    AREA_WORDS, Attachment, FoundArea, SharedTurn, StatePin, TurnKind, TurnWaiter,
};
pub use shared_file::{FileSystem, FileVersion, LocalFileSystem, LockKind, SharedFile, SharedMode};
pub use storage::{FileId, FileStatus, FileStorage, Storage, StorageMode};
pub(crate) use unnamed_directory::UnnamedDirectory;
pub use unnamed_file::HiddenName;
