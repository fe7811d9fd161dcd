//! Goal: what is spelled out of the core's tables, and of comments, for the languages and the documents is current.
//!
//! Method: each file is made of the tables, of a template in `gen/` and the tables, or of comments in the sources, or has marks
//! between which what is made of these stands, and is compared with the one that stands.
//! `make generate` writes them anew.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bounds_page;
mod comments;
mod errors_page;
mod list;
mod marks;
mod names_page;
mod options_page;
mod pod;
mod promises;
mod python;
mod questions;
mod records;
mod rows;
mod ruby;
mod tables;
mod template;

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Set by `make generate`.
const WRITE: &str = "BYTEWRIGHT_GENERATE";

/// A function that makes the text of a file.
type Maker = fn() -> String;

/// The files, by their paths in the repository, with what makes them.
const FILES: &[(&str, Maker)] = &[
    ("docs/bounds.md", bounds_page::page),
    ("docs/conditions.md", || rows::filled("conditions")),
    ("docs/errors.md", || template::filled("errors.md", errors_page::written)),
    ("docs/hash-table-file.md", || rows::filled("hash-table-file")),
    ("docs/names.md", || template::filled("names.md", names_page::written)),
    ("docs/options.md", options_page::page),
    ("docs/pstore-journal.md", || rows::filled("pstore-journal")),
    ("docs/questions.md", questions::page),
    ("docs/reader.md", || rows::filled("reader")),
    ("docs/thrift.md", || rows::filled("thrift")),
    ("docs/tree-table-file.md", || rows::filled("tree-table-file")),
    ("docs/tshark.md", || rows::filled("tshark")),
    ("perl/lib/Bytewright/Cache.pm", || pod::filled("perl/lib/Bytewright/Cache.pm")),
    ("perl/lib/Bytewright/Capture.pm", || pod::filled("perl/lib/Bytewright/Capture.pm")),
    ("perl/lib/Bytewright/Questions.pm", questions::perl),
    ("perl/lib/Bytewright/Reader.pm", || pod::filled("perl/lib/Bytewright/Reader.pm")),
    ("perl/lib/Bytewright/Table.pm", || pod::filled("perl/lib/Bytewright/Table.pm")),
    ("python/bytewright/_bytewright.pyi", || template::filled("_bytewright.pyi", python::written)),
    ("python/ext/bytewright/src/capture/fields.rs", python::attributes),
    ("python/bytewright/options.py", python::module),
    ("python/bytewright/options.pyi", python::stub),
    ("python/bytewright/questions.py", questions::python),
    ("python/bytewright/questions.pyi", questions::python_stub),
    ("ruby/lib/bytewright/options.rb", ruby::module),
    ("ruby/lib/bytewright/questions.rb", questions::ruby),
    ("ruby/sig/bytewright.rbs", || template::filled("bytewright.rbs", ruby::written)),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn generated_files_say_what_the_tables_say() {
    let mut stale = Vec::new();
    for (name, make) in FILES {
        let (path, made) = (root().join(name), make());
        if env::var_os(WRITE).is_some() {
            fs::write(&path, made).unwrap();
        } else if fs::read_to_string(&path).ok() != Some(made) {
            stale.push(*name);
        }
    }
    assert!(stale.is_empty(), "stale: {}; run `make generate`", stale.join(", "));
}
