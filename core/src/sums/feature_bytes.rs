//! The features of a flow as bytes, for hosts whose programs write objects to files. No table file has them.

use crate::flow::{FeatureSet, FeatureValue, FlowFeatures, FlowField};
use crate::wire::{Endian::Little, Reader};

/// The byte in front of a value, which says of which kind it is.
mod tag {
    pub(super) const NONE: u8 = 0;
    pub(super) const NUMBER: u8 = 1;
    pub(super) const MICROS: u8 = 2;
    pub(super) const DOUBLE: u8 = 3;
    pub(super) const TEXT: u8 = 4;
}

/// Appends the bytes of features, of which [`decode_features`] makes equal ones.
pub(super) fn encode_features(features: &FlowFeatures, into: &mut Vec<u8>) {
    into.push(features.set().bits());
    for value in features.values() {
        match value {
            FeatureValue::None => into.push(tag::NONE),
            FeatureValue::Number(number) => put(into, tag::NUMBER, &number.to_le_bytes()),
            FeatureValue::Micros(micros) => put(into, tag::MICROS, &micros.to_le_bytes()),
            FeatureValue::Double(number) => put(into, tag::DOUBLE, &number.to_bits().to_le_bytes()),
            FeatureValue::Text(text) => {
                put(into, tag::TEXT, &(text.len() as u32).to_le_bytes());
                into.extend(text.as_bytes());
            }
        }
    }
}

/// The features of these bytes; none if they are others than [`encode_features`] gives.
pub(super) fn decode_features(bytes: &[u8]) -> Option<FlowFeatures> {
    let mut from = Reader::new(bytes);
    let set = FeatureSet::of_bits(from.u8()?)?;
    let values = FlowField::FEATURES.iter().map(|_| decode_value(&mut from));
    let values: Box<[FeatureValue]> = values.collect::<Option<_>>()?;
    (from.remaining() == 0).then(|| FlowFeatures::new(set, values))
}

fn put(into: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    into.push(tag);
    into.extend(bytes);
}

fn decode_value(from: &mut Reader<'_>) -> Option<FeatureValue> {
    Some(match from.u8()? {
        tag::NONE => FeatureValue::None,
        tag::NUMBER => FeatureValue::Number(from.u64(Little)?),
        tag::MICROS => FeatureValue::Micros(from.u64(Little)?),
        tag::DOUBLE => FeatureValue::Double(f64::from_bits(from.u64(Little)?)),
        tag::TEXT => {
            let len = from.u32(Little)?;
            let text = from.take(len as usize)?;
            FeatureValue::Text(std::str::from_utf8(text).ok()?.into())
        }
        _ => return None,
    })
}
