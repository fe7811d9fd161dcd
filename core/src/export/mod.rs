//! Rows and packets in files that other programs read. Rows are encoded on a thread of their own while the next rows
//! are made; packets become a capture. A file has its name when it is whole.
//!
//! Built without the feature `parquet`, there is the same interface, and no file of rows can be made.

mod capture_file;
mod compressor;
mod packet_file;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(not(feature = "parquet"))]
#[path = "without_parquet.rs"]
mod parquet_file;

pub use capture_file::{CaptureFile, CaptureForm};
pub use packet_file::{PacketFile, WrittenPacket};
pub use parquet_file::ParquetFile;
