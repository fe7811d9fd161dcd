//! Indexes of captures, which are made by asking for them.

use super::summary::{Adder, Summary};
use crate::batch::schema::record_fields;
use crate::batch::{Batch, DataType, Schema, Value};
use crate::input::{CaptureIndex, CaptureReader, IndexUse};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::{Error, ErrorKind, Result};

/// The answer, as [`super::QuestionSpec::summary`] says it.
pub(super) const SUMMARY: &str = "Make the indexes of captures, files with which questions about a time and packets by their numbers need not read a \
     whole capture. An index lies beside its capture, as FILE.bwi, or in the folder that index_dir names; one that fits is \
     left as it is, and that of a capture that has grown is made longer";

record_fields! { "An index of a capture." "indexes" IndexField {
    File "file" required DataType::Text, "The capture.";
    Index "index" required DataType::Text, "Path of the index.";
    State "state" required DataType::Text, "`made`, `extended` where the capture has grown, or `current` where the index was there.";
    Packets "packets" required DataType::U64, "Packets that it covers.";
    Parts "parts" required DataType::U64, "Places at which reading can begin.";
    Bytes "bytes" required DataType::U64, "Bytes of the index.";
    FirstTs "first_ts" optional DataType::TimeNs, "Earliest time, nanoseconds since 1970-01-01 00:00 UTC.";
    LastTs "last_ts" optional DataType::TimeNs, "Latest time.";
} }

/// Options of making indexes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IndexOptions {
    /// An index that fits is made anew, too.
    is_anew: bool,
}

impl NamedOptions for IndexOptions {
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "anew",
        kind: OptionKind::Flag,
        default: "false",
        summary: "Make an index anew, also where there is one that fits",
    }];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "anew" => self.is_anew = setting.flag()?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

/// The question for indexes.
#[derive(Debug)]
pub(super) struct Indexes(pub(super) IndexOptions);

impl Summary for Indexes {
    fn schema(&self) -> Schema {
        IndexField::SCHEMA
    }

    fn adder(&self) -> Box<dyn Adder> {
        let rows = Batch::new(IndexField::SCHEMA);
        Box::new(IndexRows { rows, index: self.index() })
    }

    fn index(&self) -> IndexUse {
        if self.0.is_anew { IndexUse::Anew } else { IndexUse::Only }
    }
}

/// A row for each capture.
struct IndexRows {
    rows: Batch,
    index: IndexUse,
}

impl Adder for IndexRows {
    fn read(&mut self, reader: &mut CaptureReader) -> Result<()> {
        reader.make_index_as(self.index);
        let read = reader.each(|_, _| ());
        let facts = reader.facts();
        match facts.index {
            Some(Ok(index)) => self.push(&facts.name, &index),
            Some(Err(error)) => return Err(error),
            // Nothing of it is a capture.
            None if read.is_err() => {}
            None => {
                let message =
                    "expected a file that can have an index, found input that can be read once";
                return Err(Error::new(ErrorKind::Argument, message).in_file(&facts.name));
            }
        }
        read
    }

    fn finish(self: Box<Self>) -> Batch {
        self.rows
    }
}

impl IndexRows {
    fn push(&mut self, file: &str, index: &CaptureIndex) {
        let path = index.path.to_string_lossy();
        let value = |field: &IndexField| match field {
            IndexField::File => Value::Text(file),
            IndexField::Index => Value::Text(&path),
            IndexField::State => index.state.name().into(),
            IndexField::Packets => index.packets.into(),
            IndexField::Parts => index.parts.into(),
            IndexField::Bytes => index.bytes.into(),
            IndexField::FirstTs => index.first_ts.map_or(Value::Null, Value::Time),
            IndexField::LastTs => index.last_ts.map_or(Value::Null, Value::Time),
        };
        self.rows.push_row(|place| IndexField::ALL.get(place).map_or(Value::Null, value));
    }
}
