//! Writes rows, packets and tables to files for other programs. A separate thread encodes rows while the next ones are made; packets
//! become a capture. A file gets its name when it is complete.
//!
//! Without the feature `parquet` the interface is the same, and creating a file of rows is an error.

mod capture_file;
mod capture_limits;
mod capture_pieces;
mod compressor;
mod dump_file;
mod output;
mod output_file;
mod packet_file;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(not(feature = "parquet"))]
#[path = "without_parquet.rs"]
mod parquet_file;
mod piece_names;

pub use capture_file::{CaptureFile, CaptureForm};
pub use capture_limits::CaptureLimits;
pub use capture_pieces::{CapturePieces, PieceWatcher};
pub use dump_file::DumpFile;
pub use output::OutputOptions;
pub use output_file::OutputFile;
pub use packet_file::{PacketFile, WrittenPacket};
pub use parquet_file::ParquetFile;
