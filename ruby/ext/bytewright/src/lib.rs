//! The Ruby face: Ruby objects around the core's whole-file operations. It holds no logic that
//! another face would need; what is Ruby's way of saying things is in `ruby/lib`.
//!
//! `border` is the only folder with `unsafe`; `error` the only one that knows exception classes.

// The macro that exports the initialiser gives it no documentation.
#![allow(missing_docs)]

mod address_texts;
mod border;
mod call;
mod capture;
mod claim;
mod class;
mod columns;
mod command;
mod cursor;
mod error;
mod fields;
mod flow;
mod info;
mod memory_report;
mod packet;
mod pstore;
mod reader;
mod reading;
mod record;
mod selection;
mod snapshot;
mod table;
mod table_methods;
mod thrift;
mod turn;
mod view;
mod writer;

use magnus::{Error, Ruby, function, method, prelude::*};

use address_texts::AddressTexts;
use capture::Capture;
use reading::Reading;

/// Called by `require "bytewright/bytewright"`. Classes are defined when the Ruby files that go with them are
/// loaded: those that a program does not use cost it nothing, and each is whole when it is there.
#[magnus::init(name = "bytewright")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    border::declare_ractor_safe();
    // By us, or by magnus, which makes a `fatal` of them.
    bytewright::panics::catch_all();
    let module = error::module(ruby);
    module.const_set("VERSION", ruby.str_new(env!("CARGO_PKG_VERSION")))?;
    module.define_singleton_method("define_captures", function!(define_captures, 0))?;
    module.define_singleton_method("define_tables", function!(define_tables, 0))?;
    module.define_singleton_method("define_stores", function!(pstore::init, 0))?;
    module.define_singleton_method("define_readers", function!(reader::init, 0))?;
    module.define_singleton_method("define_writers", function!(writer::init, 0))?;
    module.define_singleton_method("define_thrift", function!(thrift::init, 0))?;
    module.define_singleton_method("harmless", function!(error::harmless, 1))?;
    module.define_singleton_method("run_command", function!(command::run, 1))?;
    Ok(())
}

fn define_captures(ruby: &Ruby) -> Result<(), Error> {
    packet::init(ruby)?;
    columns::init(ruby)?;
    flow::init(ruby)?;
    call::init(ruby)?;
    class::define::<AddressTexts>(ruby, "AddressTexts")?;

    let capture = class::define::<Capture>(ruby, "Capture")?;
    fields::define_fields(ruby, capture)?;
    capture.define_singleton_method("open_path", function!(Capture::open_path, 4))?;
    capture.define_singleton_method("open_object", function!(Capture::open_object, 4))?;
    capture.define_method("name", method!(Capture::name, 0))?;
    capture.define_method("close", method!(Capture::close, 0))?;
    capture.define_method("closed?", method!(Capture::is_closed, 0))?;
    capture.define_method("read_frames", method!(Capture::read_frames, 1))?;
    capture.define_method("read_columns", method!(Capture::read_columns, 2))?;
    capture.define_method("read_counts", method!(Capture::read_counts, 1))?;
    capture.define_method("read_flows", method!(Capture::read_flows, 2))?;
    capture.define_method("read_merge", method!(Capture::read_merge, 2))?;
    capture.define_method("read_calls", method!(Capture::read_calls, 3))?;
    capture.define_method("read_info", method!(Capture::read_info, 0))?;

    let reading = class::define::<Reading>(ruby, "Reading")?;
    reading.define_method("cursor", method!(Reading::cursor, 0))?;
    reading.define_method("take", method!(Reading::take, 0))?;
    reading.define_method("close", method!(Reading::close, 0))?;
    border::define_loops(reading);
    Ok(())
}

fn define_tables(ruby: &Ruby) -> Result<(), Error> {
    table_methods::init(ruby)?;
    snapshot::init(ruby)?;
    view::init(ruby)?;
    claim::init(ruby)?;
    cursor::init(ruby)
}
