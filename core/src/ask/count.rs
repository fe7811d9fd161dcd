//! Counting packets by the value of one field.

use std::collections::HashMap;

use crate::Result;
use crate::batch::{Batch, DataType, Field as Column, Schema, Value};
use crate::input::CaptureReader;
use crate::packet::{Field, Frame};
use crate::query::Condition;

/// Counts of packets by the value of a field.
#[derive(Debug, Clone)]
pub struct Counts {
    field: Field,
    /// One count per value, for fields with few possible values.
    direct: Vec<u64>,
    hashed: HashMap<Value<'static>, u64>,
    texts: HashMap<Box<str>, u64>,
}

impl Counts {
    fn new(field: Field) -> Self {
        let direct_len = match field.data_type().width() {
            Some(width @ 1..=2) => 1 << (8 * width),
            _ => 0,
        };
        let (hashed, texts) = (HashMap::new(), HashMap::new());
        Counts { field, direct: vec![0; direct_len], hashed, texts }
    }

    /// Adds a packet by the bytes that it was decoded from.
    fn add_frame(&mut self, frame: &Frame<'_>) {
        let value = frame.value(self.field);
        match value.text() {
            Some(text) => self.add_text(text),
            None => self.add(value.to_static().unwrap_or(Value::Null)),
        }
    }

    fn add_text(&mut self, text: &str) {
        match self.texts.get_mut(text) {
            Some(count) => *count += 1,
            None => drop(self.texts.insert(text.into(), 1)),
        }
    }

    #[inline]
    fn add(&mut self, value: Value<'static>) {
        if let Value::Unsigned(number) = value
            && let Some(count) = self.direct.get_mut(number as usize)
        {
            *count += 1;
        } else {
            *self.hashed.entry(value).or_default() += 1;
        }
    }

    /// The schema of the counts of a field, and of how many packets have each value.
    pub fn schema(field: Field) -> Schema {
        const PACKETS: Column =
            Column::constant("packets", DataType::U64, false, "Packets with that value.");
        let field = Field::SCHEMA.fields()[field as usize].clone();
        Schema::new("counts", vec![field, PACKETS])
    }

    /// A row for each value, in their order.
    pub fn to_batch(&self) -> Batch {
        let mut batch = Batch::new(Counts::schema(self.field));
        for (value, packets) in self.sorted() {
            batch.push_row(|column| if column == 0 { value } else { Value::Unsigned(packets) });
        }
        batch
    }

    /// Each value with its count of packets, in order of the values; packets without the field are
    /// counted under [`Value::Null`], which comes first.
    pub fn sorted(&self) -> Vec<(Value<'_>, u64)> {
        let direct = self.direct.iter().copied();
        let direct = (0..).map(Value::Unsigned).zip(direct).filter(|(_, count)| *count > 0);
        let hashed = self.hashed.iter().map(|(value, count)| (*value, *count));
        let texts = self.texts.iter().map(|(text, count)| (Value::Text(text), *count));
        let mut counts: Vec<_> = hashed.chain(direct).chain(texts).collect();
        counts.sort_unstable();
        counts
    }
}

/// Counts the packets of a capture by `field`, or those that hold a condition: the counts of all packets before its end or
/// its damage, and how it ended, as [`CaptureReader::each`] tells it.
pub fn count_by(
    reader: &mut CaptureReader,
    field: Field,
    condition: Option<&Condition>,
) -> (Counts, Result<()>) {
    let mut counts = Counts::new(field);
    let result = match condition {
        None if field.is_in_packet() => reader.each(|packet, _| counts.add(packet.value(field))),
        None => reader.each_frame(|frame| counts.add_frame(frame)),
        Some(condition) => reader.each_frame(|frame| {
            if condition.holds(|place| frame.value_at(place)) {
                counts.add_frame(frame);
            }
        }),
    };
    (counts, result)
}
