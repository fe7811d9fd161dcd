//! `--into`: what captures have, added up in a table file, each in a transaction of its own. What is reported as added
//! is on disk.

use std::io;
use std::path::Path;

use bytewright::Error;
use bytewright::batch::{Batch, json};

use crate::args::Reader;
use crate::json::Object;
use crate::output::Output;
use crate::session::Session;

/// Outcome of a capture.
pub(crate) struct MergedCapture {
    /// Name of the capture in errors.
    pub(crate) name: String,
    /// All that is known of it, in one row.
    pub(crate) row: Batch,
    /// Counts, as people are told them.
    pub(crate) told: String,
    /// The capture that was counted before with the same content.
    pub(crate) counted_as: Option<String>,
    pub(crate) damage: Option<Error>,
}

/// A table file that captures are merged into.
pub(crate) struct Target<'t> {
    pub(crate) path: &'t Path,
    /// One of its entries: "flow".
    pub(crate) entry: &'static str,
    /// Several of them, for programs: "flows".
    pub(crate) entries: &'static str,
}

impl Target<'_> {
    /// Tells what became of each capture. `held` says how many entries, and of how many captures, are in the table then.
    pub(crate) fn fill(
        &self,
        merges: impl Iterator<Item = bytewright::Result<MergedCapture>>,
        reader: Reader,
        session: &mut Session,
        held: impl FnOnce() -> bytewright::Result<(u64, u64)>,
    ) -> io::Result<()> {
        for merged in merges {
            let damage = match merged {
                Ok(merged) => {
                    merged.print(reader, &mut session.output);
                    session.output.flush()?;
                    merged.damage
                }
                Err(error) => Some(error),
            };
            if let Some(error) = damage {
                session.report(&error)?;
            }
        }
        // A table that no capture came into was not made.
        if !self.path.exists() {
            return Ok(());
        }
        match held() {
            Ok((entries, captures)) => {
                self.print(entries, captures, reader, &mut session.output);
                Ok(())
            }
            Err(error) => session.report(&error),
        }
    }

    fn print(&self, entries: u64, captures: u64, reader: Reader, output: &mut Output) {
        let path = self.path.to_string_lossy();
        if reader == Reader::Json {
            let mut object = Object::new(output.buffer());
            object.text("table", &path);
            object.value(self.entries, entries);
            object.value("captures", captures);
            object.end_line();
            return;
        }
        let (entries, captures) = (counted(entries, self.entry), counted(captures, "capture"));
        output.line(&format!("{path}: holds {entries} of {captures}"));
    }
}

impl MergedCapture {
    fn print(&self, reader: Reader, output: &mut Output) {
        let name = &self.name;
        let counted_as = self.counted_as.as_deref();
        if reader == Reader::Json {
            let writer = json::RowWriter::new(self.row.schema());
            writer.push_batch(output.buffer(), &self.row);
            return;
        }
        let extent = if self.damage.is_some() { " up to the damage" } else { "" };
        output.line(&match counted_as {
            None => format!("{name}: added{extent}: {}", self.told),
            Some(counted_as) => format!("{name}: already counted{extent}, as {counted_as}"),
        });
    }
}

/// "1 flow", "2 flows".
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
