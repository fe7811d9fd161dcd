//! `docs/names.md`: of every field what its schema says.

use bytewright::batch::DataType;

use crate::questions;
use crate::records::fields_of;

/// `rows RECORD`: the rows of a table of fields; `questions LANGUAGES`: a row for each question that is asked by its name.
pub(crate) fn written(word: &str, argument: &str) -> String {
    match word {
        "questions" => questions::names(argument),
        _ => rows(argument),
    }
}

fn rows(record: &str) -> String {
    let row = |named: crate::records::Named| {
        let field = &named.field;
        let (path, name, kind) = (named.path, field.name(), told(field.data_type()));
        let null = if field.is_nullable() { "yes" } else { "" };
        format!("| `{path}` | `{name}` | {kind} | {null} | {} |\n", field.meaning())
    };
    fields_of(record).into_iter().map(row).collect()
}

/// The page's word for a type: its name, and the way its values are kept where that is something else.
fn told(data_type: DataType) -> String {
    match data_type.storage() {
        _ if matches!(data_type, DataType::Enumeration(names) if names.is_closed) => {
            "name (u8)".to_owned()
        }
        storage if storage == data_type => data_type.name().to_owned(),
        storage => format!("{} ({})", data_type.name(), storage.name()),
    }
}
