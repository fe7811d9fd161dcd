//! `--fields`: the fields of rows that are printed, by their names.

use bytewright::batch::Schema;
use clap::error::ErrorKind as UsageKind;

use crate::args;
use crate::session::Session;

/// Value of `--fields` that lists the fields.
const HELP: &str = "help";

/// The places of the fields that are named; none once what there is was told, or that a name is none.
///
/// `command` is the one whose option it is.
pub(crate) fn places(
    names: &[String],
    schema: &Schema,
    command: &str,
    session: &mut Session,
) -> Option<Vec<usize>> {
    if names.iter().any(|name| name == HELP) {
        list(schema).lines().for_each(|line| session.output.line(line));
        return None;
    }
    if let Some(unknown) = names.iter().find(|name| schema.find(name).is_none()) {
        let message = no_field(unknown, schema);
        session.usage(&args::usage(command, UsageKind::InvalidValue, &message));
        return None;
    }
    Some(names.iter().filter_map(|name| schema.find(name)).collect())
}

/// Says that there is no field of that name, and which there are.
fn no_field(unknown: &str, schema: &Schema) -> String {
    if let Some(here) = schema.name_here(unknown) {
        return format!(
            "expected the name of a field, found '{unknown}', as Wireshark calls it; {here}. `--fields help` lists all"
        );
    }
    let list = list(schema);
    match schema.nearest(unknown) {
        Some(near) => format!(
            "expected the name of a field, found '{unknown}' (did you mean '{near}'?); there are\n{list}"
        ),
        None => format!("expected the name of a field, found '{unknown}'; there are\n{list}"),
    }
}

/// Every field with its meaning, a line each.
fn list(schema: &Schema) -> String {
    let width = schema.fields().iter().map(|field| field.name().len()).max().unwrap_or(0);
    let lines = schema
        .fields()
        .iter()
        .map(|field| format!("  {:<width$} {}", field.name(), field.meaning()));
    lines.collect::<Vec<_>>().join("\n")
}
