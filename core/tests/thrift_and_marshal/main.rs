//! Messages and IDL of Thrift, and Ruby's dumps. Each module has its goal.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[path = "../generate/mod.rs"]
mod generate;
#[path = "../ruby_process/mod.rs"]
mod ruby_process;

mod marshal_ruby;
mod marshal_stream;
mod marshal_values;
mod thrift_idl;
mod thrift_messages;
