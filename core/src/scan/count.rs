//! Counting packets by the value of one field.

use std::collections::HashMap;

use super::CaptureReader;
use crate::Result;
use crate::batch::Value;
use crate::packet::{Field, Packet};

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

/// Counts the packets of a capture by `field`: the counts of all packets before its end or its damage,
/// and how it ended, as [`CaptureReader::each`] tells it.
pub fn count_by(reader: &mut CaptureReader, field: Field) -> (Counts, Result<()>) {
    let mut counts = Counts::new(field);
    let result = reader.each(|packet, _| counts.add(packet));
    (counts, result)
}
