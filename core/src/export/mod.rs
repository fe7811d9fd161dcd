//! Writes rows, packets and tables to files for other programs. A separate thread encodes rows while the next ones are made; packets
//! become a capture. A file gets its name when it is complete.
//!
//! Without the feature `parquet` the interface is the same, and creating a file of rows is an error.

mod capture_file;
mod capture_limits;
mod capture_pieces;
mod compressor;
#[cfg(not(target_family = "wasm"))]
mod dump_file;
#[cfg_attr(target_family = "wasm", path = "no_output.rs")]
mod output;
mod output_file;
#[cfg(not(target_family = "wasm"))]
mod packet_file;
#[cfg(all(feature = "parquet", not(target_family = "wasm")))]
mod parquet_file;
#[cfg(not(any(feature = "parquet", target_family = "wasm")))]
#[path = "without_parquet.rs"]
mod parquet_file;
mod piece_names;

pub use capture_file::{CaptureFile, CaptureForm};
pub use capture_limits::CaptureLimits;
pub use capture_pieces::{CapturePieces, PieceWatcher};
#[cfg(not(target_family = "wasm"))]
pub use dump_file::DumpFile;
pub use output::OutputOptions;
pub use output_file::OutputFile;
#[cfg(not(target_family = "wasm"))]
pub use packet_file::{PacketFile, WrittenPacket};
#[cfg(not(target_family = "wasm"))]
pub use parquet_file::ParquetFile;
