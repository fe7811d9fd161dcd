//! Entries of flow tables as columns, for engines that take Arrow. `docs/flow-table.md` draws their keys and values.

use super::capture_ledger;
use super::entry::FlowEntry;
use super::flow_store::FlowStore;
use crate::batch::schema::record_fields;
use crate::batch::{Batch, DataType, Field, Schema, Value};
use crate::error::Result;
use crate::table::{KeyRange, Scan};

record_fields! { "A field of an entry of a flow table, or of a file that is no capture." "entries" EntryField {
    Capture "capture" required DataType::I64, "Place of the capture in the list of captures, from 0.";
    ContentId "content_id" optional DataType::Bytes, "Fingerprint of the packets of the capture; null where the file is no capture.";
    Key "key" optional DataType::Bytes, "Key of the entry; null only where the file is no capture.";
    Value "value" optional DataType::Bytes, "Value of the entry; null only where the file is no capture.";
    File "file" optional DataType::Text, "Path of the capture, in the one entry that stands for it.";
    Offset "offset" optional DataType::I64, "Place of the capture's damage in bytes, beside file; null where there is none.";
    Text "text" optional DataType::Text, "Message of the damage, beside file; null where there is none.";
} }

/// Schema of the merged entries of all captures.
const MERGED: Schema = Schema::constant("merged entries", MERGED_FIELDS);

const MERGED_FIELDS: &[Field] = &[
    Field::constant("key", DataType::Bytes, false, "Key of the entry."),
    Field::constant("value", DataType::Bytes, false, "Value of the entry."),
];

/// Capture that entries belong to.
#[derive(Debug, Clone)]
pub struct EntryOrigin {
    /// Its place in the list of captures, from 0.
    pub place: i64,
    /// Its path.
    pub file: String,
    /// Offset of its damage in bytes, and what the damage is.
    pub damage: Option<(u64, String)>,
}

impl EntryOrigin {
    /// The one row of a file that is no capture.
    pub fn without_entries(&self) -> Batch {
        let mut rows = Batch::new(EntryField::SCHEMA);
        self.push(&mut rows, None, None);
        rows
    }

    /// Appends the row of an entry with its key and value.
    fn push(&self, rows: &mut Batch, content_id: Option<&[u8]>, entry: Option<(&[u8], &[u8])>) {
        let is_of_flow =
            entry.is_some_and(|(key, _)| key.first() != Some(&capture_ledger::CAPTURE_KEY));
        let damage = self.damage.as_ref().filter(|_| !is_of_flow);
        rows.push_row(|place| match EntryField::ALL.get(place) {
            Some(EntryField::Capture) => Value::Signed(self.place),
            Some(EntryField::ContentId) => content_id.map_or(Value::Null, Value::Bytes),
            Some(EntryField::Key) => entry.map_or(Value::Null, |(key, _)| Value::Bytes(key)),
            Some(EntryField::Value) => entry.map_or(Value::Null, |(_, value)| Value::Bytes(value)),
            Some(EntryField::File) if !is_of_flow => Value::Text(&self.file),
            Some(EntryField::Offset) => {
                damage.map_or(Value::Null, |(at, _)| Value::Signed(*at as i64))
            }
            Some(EntryField::Text) => damage.map_or(Value::Null, |(_, text)| Value::Text(text)),
            Some(EntryField::File) | None => Value::Null,
        });
    }
}

/// The entries of the flow table of one capture, in the order of their keys.
pub struct EntryRows {
    origin: EntryOrigin,
    content_id: Vec<u8>,
    entries: Box<dyn Scan>,
}

impl EntryRows {
    /// Reads the table that counted the capture with that content, and no other.
    ///
    /// # Errors
    /// Those of reading the table.
    pub fn new(store: &FlowStore, content_id: &[u8], origin: EntryOrigin) -> Result<Self> {
        let entries = store.scan(&KeyRange::ALL)?;
        Ok(EntryRows { origin, content_id: content_id.to_vec(), entries })
    }

    /// At most so many rows; none after the last one.
    ///
    /// # Errors
    /// Those of reading the table.
    pub fn next(&mut self, rows_max: usize) -> Result<Option<Batch>> {
        let mut rows = Batch::new(EntryField::SCHEMA);
        while rows.len() < rows_max
            && let Some(entry) = self.entries.advance()?
        {
            self.origin.push(&mut rows, Some(&self.content_id), Some(entry));
        }
        Ok((!rows.is_empty()).then_some(rows))
    }
}

/// Merged entries as columns.
pub fn merged_rows(entries: &[FlowEntry]) -> Batch {
    let mut rows = Batch::new(MERGED);
    for entry in entries {
        let (key, value) = entry.encode();
        rows.push_row(|place| Value::Bytes(if place == 0 { &key } else { &value }));
    }
    rows
}
