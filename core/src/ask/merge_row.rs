//! Outcome of merging a capture into a table file, as a row, which all faces print and convert.

use super::{CallsMerge, CaptureMerge};
use crate::Error;
use crate::batch::schema::record_fields;
use crate::batch::{Batch, DataType, Value, damage};
use crate::input::ContentId;
use crate::sums::{CountedCapture, Merged};

record_fields! { "Outcome of merging the flows of a capture." "merges" FlowMergeField {
    File "file" required DataType::Text, "The capture.";
    Added "added" required DataType::Bool, "True, or false where it was counted before.";
    Packets "packets" required DataType::U64, "Packets that were read.";
    PacketsWithoutFlow "packets_without_flow" required DataType::U64, "Packets among them that belong to no flow.";
    Flows "flows" required DataType::U64, "Flows of the capture; 0 where it was counted before.";
    NewFlows "new_flows" required DataType::U64, "Flows among them that were not in the store.";
    CountedAs "counted_as" optional DataType::Text, "The name under which it was counted before.";
    ContentId "content_id" required DataType::Text, "Fingerprint that its packets are recognised by, in hexadecimal.";
    Damage "damage" optional DataType::Json, "Damage that ended reading before the end of the file; null where it did not.";
} }

record_fields! { "Outcome of merging the calls of a capture." "merges" CallMergeField {
    File "file" required DataType::Text, "The capture.";
    Added "added" required DataType::Bool, "True, or false where it was counted before.";
    Packets "packets" required DataType::U64, "Packets that were read.";
    Calls "calls" required DataType::U64, "Calls of the capture.";
    CountedAs "counted_as" optional DataType::Text, "The name under which it was counted before.";
    ContentId "content_id" required DataType::Text, "Fingerprint that its packets are recognised by, in hexadecimal.";
    Damage "damage" optional DataType::Json, "Damage that ended reading before the end of the file; null where it did not.";
} }

/// Texts that both kinds of merges tell.
struct Texts {
    content_id: String,
    damage: Option<String>,
}

impl Texts {
    fn new(content_id: &ContentId, damage: Option<&Error>) -> Self {
        Texts { content_id: content_id.to_string(), damage: damage::as_json(damage) }
    }

    fn damage(&self) -> Value<'_> {
        self.damage.as_deref().map_or(Value::Null, Value::Json)
    }
}

impl CaptureMerge {
    /// The capture that was counted before with the same content.
    pub fn counted_as(&self) -> Option<&CountedCapture> {
        match &self.merged {
            Merged::Added { .. } => None,
            Merged::AlreadyCounted(counted) => Some(counted),
        }
    }

    /// Flows of the capture, and how many of them are new; none where it was counted before.
    pub fn flows(&self) -> (u64, u64) {
        match self.merged {
            Merged::Added { flows, new_flows } => (flows, new_flows),
            Merged::AlreadyCounted(_) => (0, 0),
        }
    }

    /// All of it as one row of [`FlowMergeField::SCHEMA`].
    pub fn to_batch(&self) -> Batch {
        let texts = Texts::new(&self.content_id, self.damage.as_ref());
        let counted_as = self.counted_as().map(|counted| counted.name.as_str());
        let (flows, new_flows) = self.flows();
        let value = |field: &FlowMergeField| match field {
            FlowMergeField::File => Value::Text(&self.file),
            FlowMergeField::Added => counted_as.is_none().into(),
            FlowMergeField::Packets => self.packets.into(),
            FlowMergeField::PacketsWithoutFlow => self.packets_without_flow.into(),
            FlowMergeField::Flows => flows.into(),
            FlowMergeField::NewFlows => new_flows.into(),
            FlowMergeField::CountedAs => counted_as.into(),
            FlowMergeField::ContentId => Value::Text(&texts.content_id),
            FlowMergeField::Damage => texts.damage(),
        };
        let mut batch = Batch::new(FlowMergeField::SCHEMA);
        batch.push_row(|place| FlowMergeField::ALL.get(place).map_or(Value::Null, value));
        batch
    }
}

impl CallsMerge {
    /// All of it as one row of [`CallMergeField::SCHEMA`].
    pub fn to_batch(&self) -> Batch {
        let texts = Texts::new(&self.content_id, self.damage.as_ref());
        let counted_as = self.already_counted.as_ref().map(|counted| counted.name.as_str());
        let value = |field: &CallMergeField| match field {
            CallMergeField::File => Value::Text(&self.file),
            CallMergeField::Added => counted_as.is_none().into(),
            CallMergeField::Packets => self.packets.into(),
            CallMergeField::Calls => self.calls.into(),
            CallMergeField::CountedAs => counted_as.into(),
            CallMergeField::ContentId => Value::Text(&texts.content_id),
            CallMergeField::Damage => texts.damage(),
        };
        let mut batch = Batch::new(CallMergeField::SCHEMA);
        batch.push_row(|place| CallMergeField::ALL.get(place).map_or(Value::Null, value));
        batch
    }
}
