//! The entries of a table as text that other programs read and write, and back.
//!
//! Berkeley DB's `db_dump` and LMDB's `mdb_dump` write, and `db_load` and `mdb_load` read
//!
//! ```text
//! VERSION=3
//! format=bytevalue      or print: bytes as they are, the others and \ as \xx
//! type=btree            or hash
//! HEADER=END
//!  6b6579               a space and the key
//!  76616c7565           a space and the value
//! DATA=END
//! ```
//!
//! with further lines in the header. `sqlite3` writes with `.dump`, and reads, the statements
//!
//! ```text
//! PRAGMA foreign_keys=OFF;
//! BEGIN TRANSACTION;
//! CREATE TABLE entries(key BLOB PRIMARY KEY, value BLOB);
//! INSERT INTO entries VALUES(X'6b6579',X'76616c7565');
//! COMMIT;
//! ```
//!
//! A [`Dump`] makes such text of a table in pieces, a [`DumpReader`] is a scan over the entries of one. Neither holds more
//! than an entry and a piece in memory. The type of the values is not in it.

mod db_text;
mod decoder;
mod dumped;
mod encoder;
mod format;
mod loading;
mod reader;
mod sql_text;
mod sql_token;

pub use decoder::DumpDecoder;
pub use dumped::Dump;
pub use format::DumpFormat;
pub use loading::load;
pub use reader::DumpReader;
