//! Goal: docs/names.md tells of every field what its schema says.
//!
//! Method: its tables are compared, row by row, with those that are made of the schemas here. A failure prints the
//! rows that the page should have.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Debug;

use bytewright::batch::{DataType, Schema};
use bytewright::flow::FlowField;
use bytewright::packet::Field;
use bytewright::report::ReportedField;
use bytewright::rpc::{CallField, CarriedField, MethodField};
use bytewright::scan::{CallMergeField, FlowMergeField, InfoField, TableMergeField};
use bytewright::table::StatField;

const PAGE: &str = include_str!("../../docs/names.md");

/// The rows of the table in a section.
fn rows(title: &str) -> Vec<&'static str> {
    let section =
        PAGE.split("\n## ").find_map(|section| section.strip_prefix(title)?.strip_prefix('\n'));
    let section = section.unwrap_or_else(|| panic!("a section {title}"));
    section.lines().filter(|line| line.starts_with('|')).skip(2).collect()
}

/// What the page calls a type: its name, and how its values are kept where that is something else.
fn told(data_type: DataType) -> String {
    match data_type.storage() {
        _ if matches!(data_type, DataType::Enumeration(names) if names.is_closed) => {
            "name (u8)".to_owned()
        }
        storage if storage == data_type => data_type.name().to_owned(),
        storage => format!("{} ({})", data_type.name(), storage.name()),
    }
}

fn expected<F: Debug>(of: &str, all: &[F], schema: &Schema) -> Vec<String> {
    let row = |(variant, field): (&F, &bytewright::batch::Field)| {
        let (name, kind) = (field.name(), told(field.data_type()));
        let null = if field.is_nullable() { "yes" } else { "" };
        format!("| `{of}::{variant:?}` | `{name}` | {kind} | {null} | {} |", field.meaning())
    };
    all.iter().zip(schema.fields()).map(row).collect()
}

#[test]
fn the_page_of_names_says_of_fields_what_their_schemas_say() {
    for (title, expected) in [
        ("Fields of a packet", expected("Field", Field::ALL, &Field::SCHEMA)),
        ("Fields of a flow", expected("FlowField", FlowField::ALL, &FlowField::SCHEMA)),
        (
            "Fields of a call",
            [
                expected("CallField", CallField::ALL, &CallField::SCHEMA),
                expected("CarriedField", CarriedField::ALL, &CarriedField::SCHEMA),
            ]
            .concat(),
        ),
        ("Fields of a method", expected("MethodField", MethodField::ALL, &MethodField::SCHEMA)),
        ("What `stat` says", expected("StatField", StatField::ALL, &StatField::SCHEMA)),
        ("What `info` says", expected("InfoField", InfoField::ALL, &InfoField::SCHEMA)),
        (
            "What a report says of a capture",
            expected("ReportedField", ReportedField::ALL, &ReportedField::SCHEMA),
        ),
        (
            "What a merge says",
            expected("FlowMergeField", FlowMergeField::ALL, &FlowMergeField::SCHEMA),
        ),
        (
            "What a merge of tables says",
            expected("TableMergeField", TableMergeField::ALL, &TableMergeField::SCHEMA),
        ),
        (
            "What a merge of calls says",
            expected("CallMergeField", CallMergeField::ALL, &CallMergeField::SCHEMA),
        ),
    ] {
        assert!(rows(title) == expected, "{title}:\n{}", expected.join("\n"));
    }
}
