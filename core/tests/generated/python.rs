//! `bytewright.options`: the options as Python's keywords, with their defaults and types.

use std::fmt::Debug;

use bytewright::flow::FlowField;
use bytewright::options::{OptionKind, OptionSpec};
use bytewright::packet::Field;
use bytewright::rpc::CallField;

use crate::list::entry;
use crate::records::{HostType, Named, fields_of};
use crate::tables::groups;

const HEAD: &str =
    "# Generated from the core's tables of options by `make generate`. Do not edit.\n";

/// `options.py`: a dict of names and defaults for each group.
pub(crate) fn module() -> String {
    let mut module = String::from(HEAD);
    module += "\"\"\"The options that calls take as keywords, by what they are about: dicts of their names and defaults.\n\n\
               None is an option that is not given.\n";
    for group in groups() {
        module += &format!("\n`{}`: {}\n\n", group.name, lower(&group.title));
        for option in group.options() {
            module += &entry("", &format!("`{}`: {}.", option.name, option.summary));
        }
    }
    module += "\"\"\"\n\n";
    for group in groups() {
        module += &format!("{} = {{\n", group.name);
        for option in group.options() {
            module += &format!("    \"{}\": {},\n", option.name, default_of(option));
        }
        module += "}\n";
    }
    module
}

/// `options.pyi`: a `TypedDict` for each group, which calls unpack.
pub(crate) fn stub() -> String {
    let mut stub = String::from(HEAD);
    stub += "from collections.abc import Iterable\nfrom os import PathLike\nfrom typing import Any, Literal, TypedDict\n\n";
    for group in groups() {
        stub += &format!("{}: dict[str, Any]\n", group.name);
    }
    for group in groups() {
        stub += &format!("\nclass _{}Options(TypedDict, total=False):\n", group.type_name);
        for option in group.options().filter(|option| option.kind != OptionKind::Time) {
            stub += &format!("    {}: {} | None\n", option.name, type_of(option.kind));
        }
    }
    stub
}

/// `properties RECORD`: the fields of a record as properties of its class.
pub(crate) fn written(_word: &str, record: &str) -> String {
    let property = |named: Named| {
        let field = named.field;
        let class = match HostType::of(field.data_type()) {
            HostType::Integer => "int",
            HostType::Float => "float",
            HostType::Bool => "bool",
            HostType::Text => "str",
            HostType::Other => "Any",
        };
        let null = if field.is_nullable() { " | None" } else { "" };
        let (name, meaning) = (field.name(), field.meaning());
        format!(
            "    @property\n    def {name}(self) -> {class}{null}:\n        \"\"\"{meaning}\"\"\"\n"
        )
    };
    fields_of(record).into_iter().map(property).collect()
}

/// `fields.rs` of Python's extension: the fields of each record, for the macro that makes attributes of them.
pub(crate) fn attributes() -> String {
    let lists = [
        list("packet_fields", Field::ALL, |field| field.name()),
        list("flow_fields", FlowField::ALL, |field| field.name()),
        list("call_fields", CallField::ALL, |field| field.name()),
    ];
    format!(
        "// Generated from the core's schemas by `make generate`. Do not edit.\n\
         //! The fields of records, as `name Variant`, for the macro that makes attributes of them.\n{}\n\
         pub(super) use {{call_fields, flow_fields, packet_fields}};\n",
        lists.concat()
    )
}

/// A macro that hands `fields!` the fields of a class, between its name and what else it has.
fn list<F: Copy + Debug>(title: &str, fields: &[F], name: impl Fn(F) -> &'static str) -> String {
    let fields: String =
        fields.iter().map(|field| format!("            {} {field:?},\n", name(*field))).collect();
    format!(
        "\nmacro_rules! {title} {{\n    ($class:ident $($more:tt)*) => {{\n        fields! {{ $class {{\n{fields}        }} $($more)* }}\n    }};\n}}\n"
    )
}

fn lower(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn default_of(option: &OptionSpec) -> String {
    match option.kind {
        OptionKind::Flag if option.default == "true" => "True".to_owned(),
        OptionKind::Flag => "False".to_owned(),
        OptionKind::Choice(_) => format!("\"{}\"", option.default),
        OptionKind::Count { .. } | OptionKind::Seconds if is_number(option.default) => {
            option.default.to_owned()
        }
        _ => "None".to_owned(),
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

fn type_of(kind: OptionKind) -> String {
    match kind {
        OptionKind::Flag => "bool".to_owned(),
        OptionKind::Count { .. } => "int".to_owned(),
        OptionKind::Seconds => "float".to_owned(),
        OptionKind::Text | OptionKind::Time => "str".to_owned(),
        OptionKind::Choice(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        OptionKind::Path => "str | PathLike[str]".to_owned(),
        OptionKind::Texts => "str | Iterable[str]".to_owned(),
        OptionKind::Paths => "Iterable[str | PathLike[str]]".to_owned(),
    }
}
