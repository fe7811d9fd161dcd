//! The command as a user meets it: the built program is run on captures that the tests write, and on
//! the samples where they are there. Each test says what must come out, on which stream, with which
//! exit code.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asked;
mod cache;
mod capture;
mod command;
mod cut;
mod demo;
mod flow_logs;
mod flows;
mod index;
mod info;
#[cfg(target_os = "linux")]
mod interface;
#[cfg(target_os = "linux")]
mod interrupted;
mod jobs;
#[cfg(target_os = "linux")]
mod live;
mod outputs;
mod packets;
#[cfg(feature = "parquet")]
mod parquet;
mod pseudo_terminal;
mod question;
mod report;
mod rpc;
mod run;
mod store;
mod table;
mod terminal;
mod thrift;
mod told;
mod widths;

/// The sample of that name, where the samples are there.
fn sample(name: &str) -> Option<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples").join(name);
    path.exists().then(|| path.to_str().unwrap().to_owned())
}
