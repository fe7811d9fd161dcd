//! A table file of flows, merged into another one, and what became of it as a row, which all faces print and convert.

use std::path::Path;

use crate::Result;
use crate::batch::schema::record_fields;
use crate::batch::{Batch, DataType, Value};
use crate::sums::{FlowStore, Merged};

record_fields! { "Outcome of merging a table of flows into another one." "merges" TableMergeField {
    File "file" required DataType::Text, "The table.";
    Added "added" required DataType::Bool, "True, or false where its captures were counted before.";
    Captures "captures" required DataType::U64, "Captures that it holds.";
    Flows "flows" required DataType::U64, "Flows that were added; 0 where its captures were counted before.";
    NewFlows "new_flows" required DataType::U64, "Flows among them that were not in the store.";
    CountedAs "counted_as" optional DataType::Text, "The name under which its first capture was counted before.";
} }

/// Outcome of merging a table of flows into another one.
#[derive(Debug)]
pub struct TableMerge {
    /// The table.
    pub file: String,
    /// Captures that it holds.
    pub captures: u64,
    /// Outcome for them: added, or counted before.
    pub merged: Merged,
}

/// Merges the table file of flows at `path` into `store`, whole or not at all: see [`FlowStore::merge_checked`].
///
/// # Errors
/// Those of opening the file, of merging, and of `check`.
pub fn merge_table(
    path: &Path,
    store: &FlowStore,
    check: impl FnMut() -> Result<()>,
) -> Result<TableMerge> {
    let other = FlowStore::open_read_only(path)?;
    let captures = other.captures()?.len() as u64;
    let merged = store.merge_checked(&other, check)?;
    Ok(TableMerge { file: path.display().to_string(), captures, merged })
}

impl TableMerge {
    /// All of it as one row of [`TableMergeField::SCHEMA`].
    pub fn to_batch(&self) -> Batch {
        let (added, flows, new_flows, counted_as) = match &self.merged {
            Merged::Added { flows, new_flows } => (true, *flows, *new_flows, None),
            Merged::AlreadyCounted(capture) => (false, 0, 0, Some(capture.name.as_str())),
        };
        let value = |field: &TableMergeField| match field {
            TableMergeField::File => Value::Text(&self.file),
            TableMergeField::Added => Value::Bool(added),
            TableMergeField::Captures => self.captures.into(),
            TableMergeField::Flows => flows.into(),
            TableMergeField::NewFlows => new_flows.into(),
            TableMergeField::CountedAs => counted_as.map_or(Value::Null, Value::Text),
        };
        let mut batch = Batch::new(TableMergeField::SCHEMA);
        batch.push_row(|place| TableMergeField::ALL.get(place).map_or(Value::Null, value));
        batch
    }
}
