//! Bytes from the outside world: files, pipes and host objects in, decompressed pieces out.

mod storage;

pub use storage::{FileStorage, MemoryStorage, Storage, StorageMode};
