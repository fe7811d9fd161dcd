//! The Ruby face: Ruby objects around the core's whole-file operations. It holds no logic that
//! another face would need; what is Ruby's way of saying things is in `ruby/lib`.
//!
//! `border` is the only folder with `unsafe`; `error` the only one that knows exception classes.

// The macro that exports the initialiser gives it no documentation.
#![allow(missing_docs)]

mod adb;
mod address_texts;
mod border;
mod cache;
mod cache_data;
mod call;
mod capture;
mod capture_writer;
mod changes;
mod class;
mod columns;
mod command;
mod cursor;
mod error;
mod fields;
mod flow;
mod host;
mod info;
mod memory_report;
mod nested;
mod options;
mod packet;
mod pstore;
mod reader;
mod reading;
mod record;
mod report;
mod selection;
mod snapshot;
mod stream_host;
mod summary;
mod table;
mod thrift;
mod turn;
mod view;
mod walk;
mod writer;

use magnus::{Error, Ruby, function, prelude::*};

use address_texts::AddressTexts;

/// Called by `require "bytewright/bytewright"`. Classes are defined when the Ruby files that go with them are
/// loaded: those that a program does not use cost it nothing, and each is whole when it is there.
#[magnus::init(name = "bytewright")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    border::declare_ractor_safe();
    // By us, or by magnus, which makes a `fatal` of them.
    bytewright::panics::catch_all();
    let module = error::module(ruby);
    let version = ruby.str_new(env!("CARGO_PKG_VERSION"));
    version.freeze();
    module.const_set("VERSION", version)?;
    module.define_singleton_method("define_captures", function!(define_captures, 0))?;
    module.define_singleton_method("define_tables", function!(define_tables, 0))?;
    module.define_singleton_method("define_caches", function!(cache::init, 0))?;
    module.define_singleton_method("define_stores", function!(pstore::init, 0))?;
    module.define_singleton_method("define_readers", function!(reader::init, 0))?;
    module.define_singleton_method("define_writers", function!(writer::init, 0))?;
    module.define_singleton_method("define_thrift", function!(thrift::init, 0))?;
    module.define_singleton_method("excerpt", function!(error::excerpt, 1))?;
    module.define_singleton_method("shown", function!(error::shown, 1))?;
    module.define_singleton_method("run_command", function!(command::run, 1))?;
    Ok(())
}

fn define_captures(ruby: &Ruby) -> Result<(), Error> {
    packet::init(ruby)?;
    columns::init(ruby)?;
    flow::init(ruby)?;
    call::init(ruby)?;
    report::init(ruby)?;
    class::define::<AddressTexts>(ruby, "AddressTexts")?;
    capture::init(ruby)?;
    summary::init(ruby)?;
    capture_writer::init(ruby)?;
    reading::init(ruby)
}

fn define_tables(ruby: &Ruby) -> Result<(), Error> {
    table::init(ruby)?;
    snapshot::init(ruby)?;
    walk::init(ruby)?;
    view::init(ruby)?;
    adb::init(ruby)?;
    changes::init(ruby)?;
    cursor::init(ruby)
}
