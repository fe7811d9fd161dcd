//! `bytewright.options`: the options as Python's keywords, with their defaults and types.

use bytewright::options::{OptionKind, OptionSpec};

use crate::list::entry;
use crate::records::{HostType, Named, fields_of};
use crate::tables::GROUPS;

const HEAD: &str =
    "# Generated from the core's tables of options by `make generate`. Do not edit.\n";

/// `options.py`: a dict of names and defaults for each group.
pub(crate) fn module() -> String {
    let mut module = String::from(HEAD);
    module += "\"\"\"The options that calls take as keywords, by what they are about: dicts of their names and defaults.\n\n\
               None is an option that is not given.\n";
    for group in GROUPS {
        module += &format!("\n`{}`: {}\n\n", group.name, lower(group.title));
        for option in group.options() {
            module += &entry("", &format!("`{}`: {}.", option.name, option.summary));
        }
    }
    module += "\"\"\"\n\n";
    for group in GROUPS {
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
    for group in GROUPS {
        stub += &format!("{}: dict[str, Any]\n", group.name);
    }
    for group in GROUPS {
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
