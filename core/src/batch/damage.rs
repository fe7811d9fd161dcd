//! Place and description of damage in input, as a value of a row: an object in JSON.

use super::schema::record_fields;
use super::{Batch, DataType, Value, json};
use crate::Error;

record_fields! { "Facts about damage." "damages" DamageField {
    Offset "offset" optional DataType::U64, "Bytes from the start of the input, decompressed, to the place that is damaged.";
    Message "message" required DataType::Text, "Expected and found content there.";
} }

/// Damage as an object in JSON; nothing where there is none.
pub fn as_json(damage: Option<&Error>) -> Option<String> {
    let damage = damage?;
    let mut batch = Batch::new(DamageField::SCHEMA);
    batch.push_row(|place| match DamageField::ALL.get(place) {
        Some(DamageField::Offset) => damage.offset().into(),
        Some(DamageField::Message) => Value::Text(damage.message()),
        None => Value::Null,
    });
    json::object(&batch, 0)
}
