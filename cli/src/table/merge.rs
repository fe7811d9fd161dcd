//! `bytewright table merge`: tables of flows, added up.

use std::io;
use std::path::Path;

use bytewright::Result;
use bytewright::ask::merge_table;
use bytewright::sums::{FlowStore, Merged};

use crate::args::MergeArgs;
use crate::merge::counted;
use crate::session::Session;

pub(crate) fn run(args: &MergeArgs, session: &mut Session) -> io::Result<()> {
    let into = match FlowStore::open_to_count_within(&args.into, args.wait.options.timeout) {
        Ok(into) => into,
        Err(error) => return session.report(&error),
    };
    for path in &args.files {
        match merge(path, &into) {
            Ok(told) => {
                session.output.line(&told);
                session.output.flush()?;
            }
            Err(error) => session.report(&error)?,
        }
    }
    match held(&into) {
        Ok(held) => session.output.line(&format!("{}: {held}", args.into.display())),
        Err(error) => session.report(&error)?,
    }
    Ok(())
}

/// Adds a table; what became of it.
fn merge(path: &Path, into: &FlowStore) -> Result<String> {
    let merge = merge_table(path, into, || Ok(()))?;
    Ok(match &merge.merged {
        Merged::Added { flows, new_flows } => {
            let captures = counted(merge.captures, "capture");
            let flows = counted(*flows, "flow");
            format!("{}: added: {flows} of {captures}, {new_flows} of them new", merge.file)
        }
        Merged::AlreadyCounted(capture) => {
            let name = &capture.name;
            format!("{}: already counted, all of its captures, {name} among them", merge.file)
        }
    })
}

fn held(store: &FlowStore) -> Result<String> {
    let captures = counted(store.captures()?.len() as u64, "capture");
    Ok(format!("holds {} of {captures}", counted(store.len()?, "flow")))
}
