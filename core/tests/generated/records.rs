//! The schemas of records that languages name.

use bytewright::ask::{CallMergeField, FlowMergeField, InfoField, TableMergeField};
use bytewright::batch::{DataType, Field};
use bytewright::flow::FlowField;
use bytewright::packet;
use bytewright::report::ReportedField;
use bytewright::rpc::{CallField, CarriedField, MethodField};
use bytewright::table::StatField;

/// A field, with its path in the core.
pub(crate) struct Named {
    /// The enumeration and the variant: `Field::Ts`.
    pub(crate) path: String,
    pub(crate) field: Field,
}

/// The kinds of values that host languages tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostType {
    Integer,
    Float,
    Bool,
    Text,
    Other,
}

impl HostType {
    pub(crate) fn of(data_type: DataType) -> HostType {
        match data_type {
            DataType::Enumeration(names) if names.is_closed => HostType::Text,
            DataType::Address | DataType::Text => HostType::Text,
            DataType::Bool => HostType::Bool,
            DataType::Double => HostType::Float,
            DataType::Json | DataType::Bytes | DataType::Uuid => HostType::Other,
            _ => HostType::Integer,
        }
    }
}

macro_rules! all {
    ($($fields:ident),*) => {{
        let mut named = Vec::new();
        $(for (variant, field) in $fields::ALL.iter().zip($fields::SCHEMA.fields()) {
            let path = format!("{}::{variant:?}", stringify!($fields));
            named.push(Named { path, field: field.clone() });
        })*
        named
    }};
}

/// The fields of the record with that name.
pub(crate) fn fields_of(record: &str) -> Vec<Named> {
    use packet::Field;
    match record {
        "packets" => all!(Field),
        "flows" => all!(FlowField),
        "calls" => all!(CallField),
        "calls and what they carry" => all!(CallField, CarriedField),
        "methods" => all!(MethodField),
        "stat" => all!(StatField),
        "info" => all!(InfoField),
        "report" => all!(ReportedField),
        "merge" => all!(FlowMergeField),
        "table_merge" => all!(TableMergeField),
        "call_merge" => all!(CallMergeField),
        other => panic!("no record {other}"),
    }
}
