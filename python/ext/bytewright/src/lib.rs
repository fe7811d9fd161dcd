//! The Python face: Python objects around the core's operations. It holds no logic that another face would need;
//! what is Python's way of saying things is in `python/bytewright`.
//!
//! `error` is the only file that knows exception classes. There, too, a panic becomes `InternalError`; PyO3 would make an
//! exception of it that is no `Exception`.
//!
//! # Locks
//!
//! - Python's lock guards every object. A mutex of ours is held only with that lock, for work in which no Python code runs. So
//!   nobody ever waits for it; and no error is made while it is held, because making one imports.
//! - A free-threaded interpreter has no such lock. There, too, a thread that holds a mutex of ours neither lets go of Python nor
//!   waits for a lock of Python's, so that others wait for it briefly, and nobody for them.
//! - What takes long gives Python's lock up and has the table for itself meanwhile; so does a transaction. This turn is a lock
//!   of Python's, so a thread that waits for it can be interrupted.
//! - A forked child may find the turn taken by a thread that it has not got. It rolls that thread's transaction back, or refuses
//!   a table that was being changed.
//! - Tables, readers and writers are sessions of the core, made for a host with one lock. `border/locked.rs` lends them to threads
//!   that have it, or in a free-threaded interpreter gives each one a lock that is held and let go of in the same places.
//! - An iterator that another thread is using is refused: a thread that waited for it would hold the lock that the other needs.
//!   A program that reads a stream of Arrow's may do so in a thread of its own while one of Python's waits for it with the lock
//!   held. So only the thread that made the stream looks for interrupts, before each batch (`capture/host.rs`). The program
//!   makes an error of its own of an exception; the exception is raised when Python goes on (`border/pending.rs`).
//!
//! # Objects
//!
//! Packets of an iteration are copies with their bytes, so one that is kept keeps nothing else in memory. A class of Thrift is
//! described once, with all that its messages hold, and keeps its codec. Its objects are made from the core's tape, without
//! `__init__` where that is a generated one, and with slots set at places that were tried out (`border/objects.rs`).

// The macro that exports the module gives it no documentation.
#![allow(missing_docs)]

mod border;
mod capture;
mod command;
mod error;
mod frames;
mod host;
mod options;
mod parquet;
mod pstore;
mod reader;
mod shown;
mod stream_host;
mod strings;
mod table;
mod task;
mod thrift;
mod turn;
mod values;
mod writer;

use pyo3::prelude::*;

/// The native half of the package `bytewright`, which has the documentation of what is public.
#[pymodule(name = "_bytewright", gil_used = false)]
mod native {
    use super::*;

    #[pymodule_export]
    use crate::capture::{
        Batch, Batches, Call, Capture, CapturePart, CaptureWriter, EntryBatches, EntryMerge, Flow,
        FlowLog, FlowStore, Interface, Packet, Records, Report, Rows, StoredFlows, capture_parts,
        indexed_parts, restored_batch, restored_call, restored_flow, restored_packet, schema_of,
    };
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::error::panic_in_nth;
    #[pymodule_export]
    use crate::options::{parse_options, unknown_option};
    #[pymodule_export]
    use crate::pstore::Store;
    #[pymodule_export]
    use crate::reader::{Reader, RecordIterator};
    #[pymodule_export]
    use crate::shown::excerpt_of;
    #[pymodule_export]
    use crate::table::{CacheTable, Changes, Cursor, Scan, Snapshot, Table, Transaction};
    #[pymodule_export]
    use crate::writer::Writer;

    #[pymodule_export]
    use crate::thrift::{
        ThriftBatches, ThriftCodec, ThriftColumns, ThriftMessages, read_idl, thrift_decode,
        thrift_decode_many, thrift_encode, thrift_pluck,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // By us, or by PyO3, which makes a `PanicException` of them.
        bytewright::panics::catch_all();
        crate::border::check_lock(module.py())?;
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}
