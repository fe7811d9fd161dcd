//! Row for a capture that went into a report, which all faces convert.

use crate::Error;
use crate::batch::schema::record_fields;
use crate::batch::{Batch, DataType, Value, damage};

/// Result of reading a capture for a report.
#[derive(Debug, Clone)]
pub struct ReportedCapture {
    /// The capture.
    pub file: String,
    /// Packets that were read.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Error that ended reading before the end of the file. The packets before it are in the report.
    pub damage: Option<Error>,
}

record_fields! { "Outcome of reading a capture for a report." "captures" ReportedField {
    File "file" required DataType::Text, "The capture.";
    Packets "packets" required DataType::U64, "Packets that were read.";
    Bytes "bytes" required DataType::U64, "Bytes of the packets on the wire.";
    Damage "damage" optional DataType::Json, "Damage that ended reading before the end of the file; null where it did not.";
} }

impl ReportedCapture {
    /// All of it as one row of [`ReportedField::SCHEMA`].
    pub fn to_batch(&self) -> Batch {
        let damage = damage::as_json(self.damage.as_ref());
        let value = |field: &ReportedField| match field {
            ReportedField::File => Value::Text(&self.file),
            ReportedField::Packets => self.packets.into(),
            ReportedField::Bytes => self.bytes.into(),
            ReportedField::Damage => damage.as_deref().map_or(Value::Null, Value::Json),
        };
        let mut batch = Batch::new(ReportedField::SCHEMA);
        batch.push_row(|place| ReportedField::ALL.get(place).map_or(Value::Null, value));
        batch
    }
}
