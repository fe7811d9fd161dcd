//! The C interface: what `c/include/bytewright.h` declares.
//!
//! Each function turns what C passes into what the core takes, and returns an [`error::bw_status`]. It holds no logic of its
//! own. Nothing here panics into C: [`error::guard`] turns a panic into [`error::bw_status::Internal`].
//!
//! A handle has no lock: its user has one or needs none. Everything that a call can be given wrongly is checked, but for the
//! pointers themselves. The thread that makes a call also runs the program's functions, never a thread of the library.
//!
//! `bytewright.h` is committed, and `tests/header.rs` compares it with what cbindgen writes from the sources: a user needs no
//! cbindgen, and a reviewer sees the change. cbindgen does not expand macros, so functions that differ in a word are written
//! out over one that they share.
//!
//! # References and pointers
//!
//! A parameter is a reference where C cannot make one unsound, and `None` is its null pointer: what only a call of one thread
//! uses (`Option<&mut bw_error>`, `Option<&mut bw_buffer>`), places for results, which need not be initialized
//! (`Option<&mut MaybeUninit<_>>`), handles that are only read (`Option<&bw_table>`), and handles that are given back and that
//! no call can be using (`Option<Box<bw_scan>>`). C promises what a reference needs: it is null, or aligned, initialized
//! unless it is a place, and neither freed nor used by others while the call runs. cbindgen writes the same prototypes for
//! references as for pointers. A parameter stays a pointer where that promise would be too much:
//!
//! - **Whatever a call is given that runs functions of the program** (`bw_read`, `bw_interrupted`, `bw_found`): those may make
//!   calls with the same handle, the same `bw_error` and the same places, as a program in C that has one of each does. So all
//!   but the bytes of keys, which must stay, is read before the program runs, and written after it or by [`buffer::Place`].
//!   The handle is a shared reference with cells inside (`bw_rows`, `bw_frames`, `bw_reader`), from which [`in_use`] keeps
//!   other calls away.
//! - **Handles that are changed** and that a call below this one may be using (`bw_table`, `bw_reader`, ...): already a
//!   `&mut` as the parameter of a call that is refused would be undefined behaviour. [`in_use::check`] comes first.
//! - **Handles that are closed or freed** and that a call below this one may be using: it waits for that call, or is refused.
//! - **Structs of options**: those of a program that was compiled for an older version are shorter than the type.
//!   [`sized_struct`] copies what is there.
//! - **Two places of one type** (the key and the value of an entry): a program that wants one of them passes one place twice.
//! - **Bytes with a length, and text**: a reference to the first byte is no right to read the others. [`buffer::bytes`],
//!   [`buffer::room`] and [`text`] turn them into slices. C may free them when the call has returned.
//!
//! # Words of the `# Safety` sections
//!
//! - A handle comes from the function of this library that opens it, and was not closed; or it is null. It is used by one
//!   thread at a time. Different handles are independent.
//! - Bytes are a pointer to as many bytes as the length after it says, or null with the length 0.
//! - Text is null, or ends with a zero byte. A struct has texts where what it points to is text, as often as it says.
//! - A struct that begins with its `size` is initialized where it is null, or aligned, and has all the bytes that its `size`
//!   says, which `BW_..._INIT` and the program have set.
//! - A place is null, or aligned memory for one value that can be written.
//! - An error is a `bw_error` that was initialized with `BW_ERROR_INIT`.
#![allow(unsafe_code, reason = "the border to C")]
// Names as C knows them.
#![allow(non_camel_case_types)]

pub mod adb;
pub mod batch;
pub mod buffer;
pub mod bulk;
pub mod cache;
pub mod capture;
pub mod changes;
pub mod cursor;
pub mod cut;
pub mod error;
pub mod flow_log;
pub mod flow_store;
pub mod frames;
pub mod host;
pub mod idl;
mod in_use;
pub mod live;
mod named;
pub mod options;
pub mod reader;
pub mod rows;
pub mod scan;
pub mod schema;
mod sized_struct;
pub mod snapshot;
pub mod sums;
pub mod table;
pub mod text;
pub mod thrift;
pub mod transaction;
mod under_way;
pub mod upkeep;
pub mod value;
pub mod version;
pub mod writer;
