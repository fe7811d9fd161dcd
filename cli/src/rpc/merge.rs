//! `rpc --into`: the calls of each capture added up in a table file, in a transaction of its own. What is reported as added
//! is on disk.

use std::io;
use std::path::Path;

use bytewright::rpc::{CallStore, RpcOptions};
use bytewright::scan::{CallsMerge, CaptureOptions, CaptureReader, merge_calls};

use crate::args::{Reader, RpcArgs};
use crate::flows::merge::counted;
use crate::json::Object;
use crate::output::Output;
use crate::session::Session;

pub(super) fn run(
    args: &RpcArgs,
    table: &Path,
    captures: &CaptureOptions,
    session: &mut Session,
) -> io::Result<()> {
    let store = match CallStore::open(table) {
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
                Ok((merge_calls(&mut capture, RpcOptions::default(), &store)?, name))
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
    match store.len().and_then(|methods| Ok((methods, store.captures()?.len() as u64))) {
        Ok((methods, captures)) => {
            print_table(&table.to_string_lossy(), methods, captures, reader, &mut session.output);
            Ok(())
        }
        Err(error) => session.report(&error),
    }
}

fn print_merge(merge: &CallsMerge, name: &str, reader: Reader, output: &mut Output) {
    let counted_as = merge.already_counted.as_ref().map(|capture| capture.name.as_str());
    if reader == Reader::Json {
        let mut object = Object::new(output.buffer());
        object.text("file", name);
        object.boolean("added", counted_as.is_none());
        object.unsigned("packets", merge.packets);
        object.unsigned("calls", merge.calls);
        object.text_or_null("counted_as", counted_as);
        object.text("content_id", &merge.content_id.to_string());
        object.damage("damage", merge.damage.as_ref());
        object.end_line();
        return;
    }
    let extent = if merge.damage.is_some() { " up to the damage" } else { "" };
    output.line(&match counted_as {
        None => {
            let (packets, calls) = (counted(merge.packets, "packet"), counted(merge.calls, "call"));
            format!("{name}: added{extent}: {packets}, {calls}")
        }
        Some(counted_as) => format!("{name}: already counted{extent}, as {counted_as}"),
    });
}

fn print_table(table: &str, methods: u64, captures: u64, reader: Reader, output: &mut Output) {
    if reader == Reader::Json {
        let mut object = Object::new(output.buffer());
        object.text("table", table);
        object.unsigned("methods", methods);
        object.unsigned("captures", captures);
        object.end_line();
        return;
    }
    let (methods, captures) = (counted(methods, "method"), counted(captures, "capture"));
    output.line(&format!("{table}: holds {methods} of {captures}"));
}
