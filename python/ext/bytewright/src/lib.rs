//! The Python face: Python objects around the core's operations. It holds no logic that another face would need;
//! what is Python's way of saying things is in `python/bytewright`.
//!
//! `error` is the only file that knows exception classes.

// The macro that exports the module gives it no documentation.
#![allow(missing_docs)]

mod border;
mod capture;
mod command;
mod error;
mod frames;
mod host;
mod options;
mod pstore;
mod reader;
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
// Readers and writers rely on Python's lock (`border/locked.rs`).
#[pymodule(name = "_bytewright", gil_used = true)]
mod native {
    use super::*;

    #[pymodule_export]
    use crate::capture::{
        Batch, Batches, Call, Capture, CapturePart, CaptureWriter, EntryBatches, EntryMerge, Flow,
        FlowStore, Interface, Packet, Records, Report, Rows, StoredFlows, capture_parts,
        restored_batch, restored_call, restored_flow, restored_packet, schema_of,
    };
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::error::panic_in_nth;
    #[pymodule_export]
    use crate::options::parse_options;
    #[pymodule_export]
    use crate::pstore::Store;
    #[pymodule_export]
    use crate::reader::{Reader, RecordIterator};
    #[pymodule_export]
    use crate::table::{Cursor, Scan, Snapshot, Table, Transaction};
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
