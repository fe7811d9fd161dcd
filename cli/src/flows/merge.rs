//! `flows --into`: each capture merged into a table file in a transaction of its own. What is
//! reported as added is on disk.

use std::io;
use std::path::Path;

use bytewright::flow::{FlowStore, Merged};
use bytewright::scan::{CaptureMerge, CaptureOptions, CaptureReader, merge_flows};

use super::flow_options;
use crate::args::{FlowsArgs, Reader};
use crate::json::Object;
use crate::output::Output;
use crate::session::Session;

pub(super) fn run(
    args: &FlowsArgs,
    table: &Path,
    captures: &CaptureOptions,
    session: &mut Session,
) -> io::Result<()> {
    let store = match FlowStore::open(table) {
        Ok(store) => store,
        Err(error) => return session.report(&error),
    };
    let reader = args.format.reader();
    for file in &args.files {
        let merge = session
            .open(file)
            .and_then(|stream| CaptureReader::new(stream, captures))
            .and_then(|mut capture| {
                let name = capture.stream().name().to_owned();
                Ok((merge_flows(&mut capture, flow_options(args), &store)?, name))
            });
        let damage = match merge {
            Ok((merge, name)) => {
                print_merge(&merge, &name, reader, &mut session.output);
                session.output.flush()?;
                merge.damage
            }
            Err(error) => Some(error),
        };
        if let Some(error) = damage {
            session.report(&error)?;
        }
    }
    let counts = store.len().and_then(|flows| Ok((flows, store.captures()?.len())));
    match counts {
        Ok((flows, captures)) => {
            print_table(&table.to_string_lossy(), flows, captures, reader, &mut session.output);
            Ok(())
        }
        Err(error) => session.report(&error),
    }
}

fn print_merge(merge: &CaptureMerge, name: &str, reader: Reader, output: &mut Output) {
    let packets = merge.packets;
    if reader == Reader::Json {
        let mut object = Object::new(output.buffer());
        object.text("file", name);
        object.boolean("added", matches!(merge.merged, Merged::Added { .. }));
        object.unsigned("packets", packets);
        object.unsigned("packets_without_flow", merge.packets_without_flow);
        let (flows, new_flows, counted_as) = match &merge.merged {
            Merged::Added { flows, new_flows } => (*flows, *new_flows, None),
            Merged::AlreadyCounted(counted) => (0, 0, Some(counted.name.as_str())),
        };
        object.unsigned("flows", flows);
        object.unsigned("new_flows", new_flows);
        object.text_or_null("counted_as", counted_as);
        object.text("content_id", &merge.content_id.to_string());
        object.damage("damage", merge.damage.as_ref());
        object.end_line();
        return;
    }
    let extent = if merge.damage.is_some() { " up to the damage" } else { "" };
    output.line(&match &merge.merged {
        Merged::Added { flows, new_flows } => {
            let (packets, flows) = (counted(packets, "packet"), counted(*flows, "flow"));
            format!("{name}: added{extent}: {packets}, {flows}, {new_flows} of them new")
        }
        Merged::AlreadyCounted(counted) => {
            format!("{name}: already counted{extent}, as {}", counted.name)
        }
    });
}

fn print_table(table: &str, flows: u64, captures: usize, reader: Reader, output: &mut Output) {
    if reader == Reader::Json {
        let mut object = Object::new(output.buffer());
        object.text("table", table);
        object.unsigned("flows", flows);
        object.unsigned("captures", captures as u64);
        object.end_line();
        return;
    }
    let (flows, captures) = (counted(flows, "flow"), counted(captures as u64, "capture"));
    output.line(&format!("{table}: holds {flows} of {captures}"));
}

/// "1 flow", "2 flows".
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
