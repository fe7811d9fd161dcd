//! `bytewright table merge`: tables of flows, added up.

use std::io;
use std::path::Path;

use bytewright::Result;
use bytewright::sums::{FlowStore, Merged};

use crate::args::MergeArgs;
use crate::merge::counted;
use crate::session::Session;

pub(crate) fn run(args: &MergeArgs, session: &mut Session) -> io::Result<()> {
    let into = match FlowStore::open_to_count_within(&args.into, args.wait.timeout) {
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
    let other = FlowStore::open_read_only(path)?;
    let (merged, name) = (into.merge(&other)?, path.display());
    Ok(match merged {
        Merged::Added { flows, new_flows } => {
            let captures = counted(other.captures()?.len() as u64, "capture");
            let flows = counted(flows, "flow");
            format!("{name}: added: {flows} of {captures}, {new_flows} of them new")
        }
        Merged::AlreadyCounted(capture) => {
            format!("{name}: already counted, all of its captures, {} among them", capture.name)
        }
    })
}

fn held(store: &FlowStore) -> Result<String> {
    let captures = counted(store.captures()?.len() as u64, "capture");
    Ok(format!("holds {} of {captures}", counted(store.len()?, "flow")))
}
