//! The features of a flow that has ended.

use super::{FeatureSet, FlowField};
use crate::batch::Value;

/// The value of one feature.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum FeatureValue {
    /// There is none, or it was not asked for.
    #[default]
    None,
    Number(u64),
    Micros(u64),
    Double(f64),
    Text(Box<str>),
}

/// The features of a flow: a value for each field of [`FlowField::FEATURES`](super::FlowField::FEATURES).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlowFeatures {
    set: FeatureSet,
    values: Box<[FeatureValue]>,
}

impl FeatureValue {
    pub(in crate::flow) fn text(text: &str) -> Self {
        FeatureValue::Text(text.into())
    }

    fn value(&self) -> Value<'_> {
        match self {
            FeatureValue::None => Value::Null,
            FeatureValue::Number(number) => Value::Unsigned(*number),
            FeatureValue::Micros(micros) => Value::Duration(*micros),
            FeatureValue::Double(number) => Value::Double(*number),
            FeatureValue::Text(text) => Value::Text(text),
        }
    }
}

impl FlowFeatures {
    /// The features with these values.
    pub(crate) fn new(set: FeatureSet, values: Box<[FeatureValue]>) -> Self {
        FlowFeatures { set, values }
    }

    /// Sets the labels of the addresses, with which the set of them is there.
    pub(in crate::flow) fn set_labels(&mut self, labels: [Option<&str>; 2]) {
        self.set.labels = true;
        let mut values = std::mem::take(&mut self.values).into_vec();
        values.resize(FlowField::FEATURES.len(), FeatureValue::None);
        for (field, label) in [FlowField::SrcLabel, FlowField::DstLabel].into_iter().zip(labels) {
            if let Some(value) = field.feature_place().and_then(|place| values.get_mut(place)) {
                *value = label.map_or(FeatureValue::None, FeatureValue::text);
            }
        }
        self.values = values.into();
    }

    /// Gives a feature another value.
    pub(in crate::flow) fn set_value(&mut self, field: FlowField, value: FeatureValue) {
        let place = field.feature_place();
        if let Some(kept) = place.and_then(|place| self.values.get_mut(place)) {
            *kept = value;
        }
    }

    /// Exchanges the values of two features.
    pub(in crate::flow) fn exchange(&mut self, one: FlowField, other: FlowField) {
        let places = one.feature_place().zip(other.feature_place());
        if let Some((one, other)) =
            places.filter(|(one, other)| one.max(other) < &self.values.len())
        {
            self.values.swap(one, other);
        }
    }

    /// The value of the feature at a place of [`FlowField::FEATURES`](super::FlowField::FEATURES).
    pub(in crate::flow) fn value_at(&self, place: usize) -> Value<'_> {
        self.values.get(place).map_or(Value::Null, FeatureValue::value)
    }

    /// The sets that were counted.
    pub(crate) fn set(&self) -> FeatureSet {
        self.set
    }

    /// The values, one for each feature.
    pub(crate) fn values(&self) -> &[FeatureValue] {
        &self.values
    }
}

impl From<u64> for FeatureValue {
    fn from(number: u64) -> Self {
        FeatureValue::Number(number)
    }
}

impl From<Option<u64>> for FeatureValue {
    fn from(number: Option<u64>) -> Self {
        number.map(FeatureValue::Number).unwrap_or_default()
    }
}

impl From<Option<u32>> for FeatureValue {
    fn from(number: Option<u32>) -> Self {
        number.map(u64::from).into()
    }
}

impl From<Option<f64>> for FeatureValue {
    fn from(number: Option<f64>) -> Self {
        number.map(FeatureValue::Double).unwrap_or_default()
    }
}

/// Nanoseconds of a duration.
impl From<Option<i64>> for FeatureValue {
    fn from(nanoseconds: Option<i64>) -> Self {
        nanoseconds.map(|it| FeatureValue::Micros(it.unsigned_abs() / 1000)).unwrap_or_default()
    }
}
