//! Rows in files of columns that other programs read: they are encoded on a thread of their own while the next rows
//! are made, and the file has its name when it is whole.
//!
//! Built without the feature `parquet`, there is the same interface, and no file can be made.

#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(not(feature = "parquet"))]
#[path = "without_parquet.rs"]
mod parquet_file;

pub use parquet_file::ParquetFile;
