//! Counting packets by the value of one field, and adding them up by group.

use std::collections::HashMap;

use super::CaptureReader;
use crate::Result;
use crate::batch::Value;
use crate::packet::{Field, Packet};
use crate::query::{Condition, GROUPS_MAX, GroupBy, Groups};

/// How many packets had which value of a field.
#[derive(Debug, Clone)]
pub struct Counts {
    field: Field,
    /// One count per value, for fields with few possible values.
    direct: Vec<u64>,
    hashed: HashMap<Value<'static>, u64>,
}

impl Counts {
    fn new(field: Field) -> Self {
        let direct_len = match field.data_type().width() {
            Some(width @ 1..=2) => 1 << (8 * width),
            _ => 0,
        };
        Counts { field, direct: vec![0; direct_len], hashed: HashMap::new() }
    }

    #[inline]
    fn add(&mut self, packet: &Packet) {
        let value = packet.value(self.field);
        if let Value::Unsigned(number) = value
            && let Some(count) = self.direct.get_mut(number as usize)
        {
            *count += 1;
        } else {
            *self.hashed.entry(value).or_default() += 1;
        }
    }

    /// Each value with its count of packets, in order of the values; packets without the field are
    /// counted under [`Value::Null`], which comes first.
    pub fn into_sorted(self) -> Vec<(Value<'static>, u64)> {
        let direct = (0..).map(Value::Unsigned).zip(self.direct).filter(|(_, count)| *count > 0);
        let mut counts: Vec<_> = self.hashed.into_iter().chain(direct).collect();
        counts.sort_unstable();
        counts
    }
}

/// Adds the packets of a capture that hold a condition up by group.
///
/// # Errors
/// Those of [`CaptureReader::each`].
pub fn sum_by(
    reader: &mut CaptureReader,
    by: GroupBy,
    condition: Option<&Condition>,
) -> Result<Groups> {
    let mut groups = by.groups(GROUPS_MAX);
    reader.each(|packet, _| {
        if condition.is_none_or(|condition| condition.holds(value_of(packet))) {
            groups.add(value_of(packet));
        }
    })?;
    Ok(groups)
}

/// The values of a packet by the places of its schema.
pub(super) fn value_of(packet: &Packet) -> impl Fn(usize) -> Value<'static> {
    |place| Field::ALL.get(place).map_or(Value::Null, |field| packet.value(*field))
}

/// Counts the packets of a capture by `field`: the counts of all packets before its end or its damage,
/// and how it ended, as [`CaptureReader::each`] tells it.
pub fn count_by(reader: &mut CaptureReader, field: Field) -> (Counts, Result<()>) {
    let mut counts = Counts::new(field);
    let result = reader.each(|packet, _| counts.add(packet));
    (counts, result)
}
