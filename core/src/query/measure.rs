//! Measures of the values of a field in a group beside their sum: `distinct(src_ip)`, `p95(length)`.

use super::distinct::Distinct;
use super::histogram::Histogram;
use super::key;
use crate::batch::{DataType, Field, Schema, Value};
use crate::error::excerpt;
use crate::spelling::hint;
use crate::{Error, ErrorKind, Result};

/// The functions by name; `p` stands with a number.
const FUNCTIONS: [(&str, Fold); 6] = [
    ("distinct", Fold::Distinct),
    ("min", Fold::Min),
    ("max", Fold::Max),
    ("mean", Fold::Mean),
    ("first", Fold::First),
    ("last", Fold::Last),
];

/// Measure of a field.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    /// As it was asked for, and as the column of the answer is called.
    name: String,
    place: usize,
    fold: Fold,
    data_type: DataType,
    meaning: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fold {
    // Row (sums): `distinct(dst_ip)` | the number of different values. Counted while all groups together have less than
    // some seven million; then, of groups with more than 512, an estimate with a standard error of 1.6 %
    Distinct,
    // Row (sums): `min(length)`, `max(length)`, `mean(length)` | the smallest and the largest value, and the mean
    Min,
    Max,
    Mean,
    // Row (sums): `first(ts)`, `last(dns_query)` | the value of the first row that has one, and of the last, in the
    // order of rows
    First,
    Last,
    // Row (sums): `p50(length)`, `p99.9(duration)` | the value that so many percent are not above: exact below 64, and
    // at most 1/32 too large above
    /// The value that so many of 1000 are not above.
    Quantile(u32),
}

impl Measure {
    /// The measure of a text; none where it is just a field.
    ///
    /// # Errors
    /// `Argument` for an unknown function or field, and for a field that the function tells nothing of.
    pub(super) fn new(schema: &Schema, text: &str) -> Result<Option<Self>> {
        let Some((function, name)) = text.strip_suffix(')').and_then(|text| text.split_once('('))
        else {
            return Ok(None);
        };
        let fold = Fold::named(function).ok_or_else(|| no_function(text, function))?;
        let place = schema.place_of(name)?;
        let Some(field) = schema.fields().get(place) else { return Ok(None) };
        let data_type = fold.data_type(field.data_type()).ok_or_else(|| {
            let (expected, found) = (fold.expected(), field.data_type().name());
            argument(format!("expected {expected} in {function}(), found {name} ({found})"))
        })?;
        let meaning = format!("{} of: {}", fold.meaning(), field.meaning());
        Ok(Some(Measure { name: text.to_owned(), place, fold, data_type, meaning }))
    }

    /// The place of the field.
    pub(super) fn place(&self) -> usize {
        self.place
    }

    /// The column of the answer.
    pub(super) fn field(&self) -> Field {
        let is_nullable = self.fold != Fold::Distinct;
        Field::new(self.name.clone(), self.data_type, is_nullable, self.meaning.clone())
    }

    /// No value yet.
    pub(super) fn begin(&self) -> Measured {
        match self.fold {
            Fold::Distinct => Measured::Distinct(Distinct::new()),
            Fold::Min | Fold::Max => Measured::Extreme(Value::Null),
            Fold::Mean => Measured::Mean { sum: 0.0, count: 0 },
            Fold::First | Fold::Last => Measured::One { row: 0, value: Vec::new() },
            Fold::Quantile(_) => Measured::Histogram(Histogram::new()),
        }
    }

    /// Adds the value of a row, which has that number.
    pub(super) fn add(&self, measured: &mut Measured, value: &Value<'_>, now: Now<'_>) {
        if value.is_null() {
            return;
        }
        match measured {
            Measured::Distinct(distinct) => {
                now.scratch.clear();
                key::push(now.scratch, value);
                distinct.add(now.scratch, now.is_short);
            }
            Measured::Extreme(extreme) => self.add_extreme(extreme, value),
            Measured::Mean { sum, count } => {
                *sum += number(value);
                *count += 1;
            }
            Measured::One { row, value: kept } => {
                if kept.is_empty() || self.fold == Fold::Last {
                    kept.clear();
                    key::push(kept, value);
                    *row = now.row;
                }
            }
            Measured::Histogram(histogram) => {
                if let Value::Unsigned(number) | Value::Duration(number) = value {
                    histogram.add(*number);
                }
            }
        }
    }

    fn add_extreme(&self, extreme: &mut Value<'static>, value: &Value<'_>) {
        let is_new = match self.fold {
            _ if extreme.is_null() => true,
            Fold::Min => value < extreme,
            _ => value > extreme,
        };
        if is_new {
            *extreme = value.to_static().unwrap_or(Value::Null);
        }
    }

    /// Adds what another group has.
    pub(super) fn merge(&self, measured: &mut Measured, other: &Measured) {
        match (measured, other) {
            (Measured::Distinct(distinct), Measured::Distinct(other)) => distinct.merge(other),
            (Measured::Extreme(extreme), Measured::Extreme(other)) if !other.is_null() => {
                self.add_extreme(extreme, other);
            }
            (Measured::Mean { sum, count }, Measured::Mean { sum: more, count: others }) => {
                *sum += more;
                *count += others;
            }
            (Measured::One { row, value }, Measured::One { row: other_row, value: other }) => {
                let is_wanted = (self.fold == Fold::Last) == (other_row > row);
                if value.is_empty() || (is_wanted && !other.is_empty()) {
                    (*row, *value) = (*other_row, other.clone());
                }
            }
            (Measured::Histogram(histogram), Measured::Histogram(other)) => histogram.merge(other),
            _ => {}
        }
    }

    /// The value that is told.
    pub(super) fn value<'m>(&self, measured: &'m Measured) -> Value<'m> {
        match (measured, self.fold) {
            (Measured::Distinct(distinct), _) => Value::Unsigned(distinct.count()),
            (Measured::Extreme(extreme), _) => *extreme,
            (Measured::Mean { count: 0, .. }, _) => Value::Null,
            (Measured::Mean { sum, count }, _) => match self.data_type {
                DataType::DurationUs => Value::Duration((sum / *count as f64).round() as u64),
                _ => Value::Double(sum / *count as f64),
            },
            (Measured::One { value, .. }, _) => key::take(&mut value.as_slice()),
            (Measured::Histogram(histogram), Fold::Quantile(per_mille)) => {
                histogram.quantile(per_mille).map_or(Value::Null, |number| match self.data_type {
                    DataType::DurationUs => Value::Duration(number),
                    _ => Value::Unsigned(number),
                })
            }
            (Measured::Histogram(_), _) => Value::Null,
        }
    }
}

/// State of the groups that a row is added to.
pub(super) struct Now<'s> {
    /// The number of the row.
    pub(super) row: u64,
    /// True where there is little room left.
    pub(super) is_short: bool,
    /// Bytes for whatever needs some.
    pub(super) scratch: &'s mut Vec<u8>,
}

/// The values of a group so far.
#[derive(Debug, Clone)]
pub(super) enum Measured {
    Distinct(Distinct),
    Extreme(Value<'static>),
    Mean {
        sum: f64,
        count: u64,
    },
    /// The value of a row, as bytes; none without any.
    One {
        row: u64,
        value: Vec<u8>,
    },
    Histogram(Histogram),
}

impl Measured {
    /// Bytes that it takes elsewhere.
    pub(super) fn heap(&self) -> usize {
        match self {
            Measured::Distinct(distinct) => distinct.heap(),
            Measured::One { value, .. } => value.capacity(),
            Measured::Histogram(histogram) => size_of_val(histogram.buckets()),
            Measured::Extreme(_) | Measured::Mean { .. } => 0,
        }
    }

    /// Takes less room, at the price of an estimate.
    pub(super) fn estimate(&mut self) {
        if let Measured::Distinct(distinct) = self {
            distinct.estimate();
        }
    }
}

impl Fold {
    /// The function of a name: `distinct`, `p50`, `p99.9`.
    fn named(name: &str) -> Option<Self> {
        let quantile = || {
            let (whole, tenth) =
                name.strip_prefix('p')?.split_once('.').unwrap_or((&name[1..], "0"));
            let is_number = |text: &str, most| {
                (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
            };
            let numbers = is_number(whole, 3) && is_number(tenth, 1);
            let per_mille = numbers
                .then(|| Some(whole.parse::<u32>().ok()? * 10 + tenth.parse::<u32>().ok()?))??;
            (per_mille <= 1000).then_some(Fold::Quantile(per_mille))
        };
        FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, fold)| *fold).or_else(quantile)
    }

    /// The type of the answer for a field of a type; none where there is no answer.
    fn data_type(self, of: DataType) -> Option<DataType> {
        let is_unsigned = of.is_unsigned() || of == DataType::DurationUs;
        let is_number = is_unsigned || of.is_integer() || of == DataType::Double;
        let is_time = matches!(of, DataType::TimeNs | DataType::TimeUs);
        match self {
            Fold::Distinct => (!of.is_nested()).then_some(DataType::U64),
            Fold::First | Fold::Last => (!of.is_nested()).then_some(of),
            Fold::Min | Fold::Max => (is_number || is_time).then_some(of),
            Fold::Mean if of == DataType::DurationUs => Some(of),
            Fold::Mean => is_number.then_some(DataType::Double),
            Fold::Quantile(_) => is_unsigned.then_some(of),
        }
    }

    /// The fields that it takes, for errors.
    fn expected(self) -> &'static str {
        match self {
            Fold::Distinct | Fold::First | Fold::Last => "a field of single values",
            Fold::Min | Fold::Max => "a field of numbers or times",
            Fold::Mean => "a field of numbers",
            Fold::Quantile(_) => "a field of numbers that are never negative",
        }
    }

    fn meaning(self) -> String {
        match self {
            Fold::Distinct => "Number of different values".to_owned(),
            Fold::Min => "Smallest".to_owned(),
            Fold::Max => "Largest".to_owned(),
            Fold::Mean => "Mean".to_owned(),
            Fold::First => "First value, in the order of rows,".to_owned(),
            Fold::Last => "Last value, in the order of rows,".to_owned(),
            Fold::Quantile(per_mille) => {
                format!("Value that {} % are not above,", f64::from(per_mille) / 10.0)
            }
        }
    }
}

/// The number that a value is.
fn number(value: &Value<'_>) -> f64 {
    match value {
        Value::Unsigned(number) | Value::Duration(number) => *number as f64,
        Value::Signed(number) => *number as f64,
        Value::Double(number) => *number,
        _ => 0.0,
    }
}

fn no_function(text: &str, function: &str) -> Error {
    let names = FUNCTIONS.map(|(name, _)| name);
    let hint = hint(function, names);
    let (known, found) = (names.join(", "), excerpt(text));
    argument(format!(
        "expected a field, or {known} or p0 to p100 of one, such as p95(length), found {found}{hint}"
    ))
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
