//! Goal: the header that users have is the one that the sources give, and every function says what it promises.
//!
//! Method: cbindgen writes the header anew and the text is compared. To take over a change:
//! `BYTEWRIGHT_WRITE_HEADER=1 cargo test -p bytewright-c --test header`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bytewright::batch::Field;
use bytewright::table::StatField;

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header_path() -> PathBuf {
    crate_folder().join("../../include/bytewright.h")
}

/// Sources of the declarations, in the order of the header.
const SOURCES: [&str; 31] = [
    "version",
    "error",
    "buffer",
    "text",
    "options",
    "table",
    "bulk",
    "transaction",
    "upkeep",
    "scan",
    "snapshot",
    "cursor",
    "changes",
    "cache",
    "schema",
    "value",
    "batch",
    "host",
    "adb",
    "capture",
    "live",
    "sums",
    "idl",
    "rows",
    "frames",
    "flow_store",
    "flow_log",
    "cut",
    "thrift",
    "reader",
    "writer",
];

fn generated() -> String {
    let config = cbindgen::Config::from_file(crate_folder().join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    // File by file: cbindgen would ask cargo for the whole workspace otherwise.
    for file in SOURCES {
        builder = builder.with_src(crate_folder().join(format!("src/{file}.rs")));
    }
    let mut header = Vec::new();
    builder.generate().expect("a header").write(&mut header);
    // `# Safety` is for callers in Rust; the header says the rules for C at its beginning.
    without_safety(&String::from_utf8(header).unwrap())
}

fn without_safety(header: &str) -> String {
    let mut kept = Vec::new();
    let mut is_in_section = false;
    for line in header.lines() {
        let text = line.trim();
        if text == "* # Safety" {
            is_in_section = true;
            // The empty line before it.
            if kept.last().is_some_and(|last: &&str| last.trim() == "*") {
                kept.pop();
            }
        } else if text == "*/" {
            is_in_section = false;
        }
        if !is_in_section {
            kept.push(line);
        }
    }
    kept.join("\n") + "\n"
}

#[test]
fn the_header_is_what_the_sources_give() {
    let generated = generated();
    if std::env::var_os("BYTEWRIGHT_WRITE_HEADER").is_some() {
        fs::write(header_path(), &generated).unwrap();
    }
    let committed = fs::read_to_string(header_path()).unwrap_or_default();
    let first = generated.lines().zip(committed.lines()).position(|(new, old)| new != old);
    assert!(
        generated == committed,
        "c/include/bytewright.h differs from line {:?} on; BYTEWRIGHT_WRITE_HEADER=1 writes it",
        first.map(|line| line + 1)
    );
}

/// The functions that the sources export.
fn functions() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(crate_folder().join("src")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for part in text.split("extern \"C\" fn ").skip(1) {
            let name = part.split(['(', ' ']).next().unwrap();
            if name.starts_with("bw_") {
                names.insert(name.to_owned());
            }
        }
    }
    assert!(names.len() > 20, "the functions were found: {names:?}");
    names
}

#[test]
fn the_page_of_names_has_every_function_and_no_other() {
    let page = crate_folder().join("../../../docs/names.md");
    let page = fs::read_to_string(page).unwrap();
    let section = page.split("## The C interface\n").nth(1).unwrap();
    let table = section.lines().filter(|line| line.starts_with('|'));
    let named: BTreeSet<String> = table
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|name| name.starts_with("bw_"))
        .map(str::to_owned)
        .collect();
    assert_eq!(named, functions());
}

#[test]
fn every_exported_function_says_what_it_promises_and_is_in_the_header_and_in_the_map() {
    let header = generated();
    let map = fs::read_to_string(crate_folder().join("../../bytewright.map")).unwrap();
    for name in functions() {
        assert!(
            header.contains(&format!(" {name}(")) || header.contains(&format!("*{name}(")),
            "{name}: not in the header"
        );
        assert!(map.contains(&format!(" {name};")), "{name}: not in bytewright.map");
    }
}

#[test]
fn the_figures_of_a_table_are_those_of_the_schema_in_its_order() {
    let header = generated();
    let declared = header.split("typedef struct bw_stat {").nth(1).unwrap();
    let declared = declared.split("} bw_stat;").next().unwrap();
    let names: Vec<&str> = declared
        .lines()
        .filter_map(|line| line.trim().strip_prefix("uint64_t ")?.strip_suffix(';'))
        .collect();
    let schema = StatField::SCHEMA;
    let expected: Vec<&str> = schema.fields().iter().map(Field::name).collect();
    assert_eq!(names, expected);
}
