//! `Bytewright::Options`: the options as Ruby's keywords, with their defaults.

use bytewright::options::{OptionKind, OptionSpec};

use crate::list::entry;
use crate::questions;
use crate::records::{HostType, Named, fields_of};
use crate::tables::{self, groups};

pub(crate) fn module() -> String {
    let mut module = String::from(
        "# Generated from the core's tables of options by `make generate`. Do not edit.\n\
         # frozen_string_literal: true\n\n\
         module Bytewright\n  \
           # The options that methods take as keywords, by what they are about, with their defaults. nil is an option that is not\n  \
           # given.\n  \
           module Options\n",
    );
    for (place, group) in groups().iter().enumerate() {
        module += if place == 0 { "" } else { "\n" };
        module += &format!("    # {}.\n    #\n", group.title);
        for option in group.options() {
            module += &entry("    # ", &format!("+{}+: {}.", option.name, option.summary));
        }
        let pair = |option: &OptionSpec| format!("      {}: {}", option.name, default_of(option));
        let pairs: Vec<_> = group.options().map(pair).collect();
        module += &format!("    {} = {{\n{}\n", group.name, pairs.join(",\n"));
        module += "    }.freeze\n";
    }
    module + "  end\nend\n"
}

/// `getters RECORD`: the fields of a record as methods; `options GROUP`: options as keywords; `questions class` and `questions
/// capture`: questions that are asked by their name.
pub(crate) fn written(word: &str, argument: &str) -> String {
    match word {
        "getters" => fields_of(argument).into_iter().map(getter).collect(),
        "questions" => questions::ruby_signatures(argument == "class"),
        _ => keywords(argument),
    }
}

fn getter(named: Named) -> String {
    let field = named.field;
    // An object's method `method` gives its methods as objects.
    let name = if field.name() == "method" { "method_name" } else { field.name() };
    let class = match HostType::of(field.data_type()) {
        HostType::Integer => "Integer",
        HostType::Float => "Float",
        HostType::Bool => "bool",
        HostType::Text => "String",
        HostType::Other => "untyped",
    };
    let null = if field.is_nullable() { "?" } else { "" };
    format!("    def {name}: () -> {class}{null}\n")
}

fn keywords(group: &str) -> String {
    let group = tables::group(group);
    // Ruby calls times `from` and `to`, and takes more classes for them.
    let options = group.options().filter(|option| option.kind != OptionKind::Time);
    let keyword = |option: &OptionSpec| format!("?{}: {}", option.name, class_of(option.kind));
    options.map(keyword).collect::<Vec<_>>().join(", ")
}

fn class_of(kind: OptionKind) -> String {
    match kind {
        OptionKind::Flag => "boolish".to_owned(),
        OptionKind::Count { .. } => "Integer?".to_owned(),
        OptionKind::Seconds => "Numeric?".to_owned(),
        OptionKind::Text | OptionKind::Time => "String?".to_owned(),
        OptionKind::Choice(words) => {
            // Ruby says false where others say "none".
            let own = words.contains(&"none").then(|| "bool".to_owned());
            let words: Vec<_> = words.iter().map(|word| format!(":{word}")).chain(own).collect();
            format!("({})?", words.join(" | "))
        }
        OptionKind::Path => "path?".to_owned(),
        OptionKind::Texts => "(Array[Symbol | String] | Symbol | String)?".to_owned(),
        OptionKind::Paths => "(Array[path] | path)?".to_owned(),
    }
}

fn default_of(option: &OptionSpec) -> String {
    match option.kind {
        OptionKind::Flag => option.default.to_owned(),
        OptionKind::Choice(_) => format!(":{}", option.default),
        OptionKind::Count { .. } | OptionKind::Seconds if is_number(option.default) => {
            option.default.to_owned()
        }
        _ => "nil".to_owned(),
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}
