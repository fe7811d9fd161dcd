//! Numbers that are added up in each group: sums of fields, over all of its rows, or over those that it has sent or received.

use crate::batch::{DataType, Field, Schema, Value};
use crate::{Error, ErrorKind, Result};

/// A number that is added up in each group.
#[derive(Debug, Clone)]
pub(super) struct GroupSum {
    /// The place of the field; of the number of rows itself, none.
    pub(super) place: Option<usize>,
    pub(super) kind: SumKind,
    /// The rows that it is added up over.
    pub(super) of: RowsOf,
}

/// Rows that a sum is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowsOf {
    All,
    Sent,
    Received,
}

/// The ways that a row has taken, as the group that it is counted for sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ways {
    /// The group has sent it.
    pub is_sent: bool,
    /// The group has received it.
    pub is_received: bool,
}

/// Kind of the sum of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SumKind {
    Unsigned,
    Duration,
    Signed,
    Double,
}

// Row (sums): `length`, `bytes` | the sum of the values
/// Returns the kind of the sum of a field.
pub(super) fn kind_of_sum(schema: &Schema, place: usize) -> Result<SumKind> {
    let Some(field) = schema.fields().get(place) else { return Ok(SumKind::Unsigned) };
    Ok(match field.data_type() {
        DataType::U8 | DataType::U16 | DataType::U32 | DataType::U64 => SumKind::Unsigned,
        DataType::DurationUs => SumKind::Duration,
        DataType::I8 | DataType::I16 | DataType::I32 | DataType::I64 => SumKind::Signed,
        DataType::Double => SumKind::Double,
        other => {
            let found = format!("found {} ({})", field.name(), other.name());
            return Err(argument(format!("expected a field of numbers to sum up, {found}")));
        }
    })
}

/// The sums of the fields, first over all rows.
pub(super) fn group_sums(
    schema: &Schema,
    kinds: &[(usize, SumKind)],
    is_both_ways: bool,
) -> Vec<GroupSum> {
    let fields = kinds.iter().map(|(place, kind)| (Some(*place), *kind));
    let of_all = fields.clone().map(|(place, kind)| GroupSum { place, kind, of: RowsOf::All });
    let mut sums: Vec<_> = of_all.collect();
    let ways: &[RowsOf] = if is_both_ways { &[RowsOf::Sent, RowsOf::Received] } else { &[] };
    for way in ways {
        let of_way = [(None, SumKind::Unsigned)].into_iter().chain(fields.clone());
        sums.extend(of_way.map(|(place, kind)| {
            let of = if comes_back(schema, place) { way.reversed() } else { *way };
            GroupSum { place, kind, of }
        }));
    }
    sums
}

/// True for what counts the way back of another field: `rev_bytes`.
fn comes_back(schema: &Schema, place: Option<usize>) -> bool {
    let name = place.and_then(|place| schema.fields().get(place)).map(Field::name);
    let forth = name.and_then(|name| name.strip_prefix("rev_"));
    forth.is_some_and(|forth| schema.find(forth).is_some())
}

/// The column of a sum.
pub(super) fn sum_field(schema: &Schema, sum: &GroupSum) -> Option<Field> {
    let rows = schema.name();
    // What came back has been received by who sends.
    let way = if comes_back(schema, sum.place) { sum.of.reversed() } else { sum.of };
    let (prefix, of_way) = match way {
        RowsOf::All => ("", ""),
        RowsOf::Sent => ("sent_", " that it has sent"),
        RowsOf::Received => ("received_", " that it has received"),
    };
    let (name, meaning) = match sum.place.map(|place| schema.fields().get(place)) {
        Some(field) => (field?.name(), format!("Sum{of_way} of: {}", field?.meaning())),
        None => (rows, format!("Number of {rows}{of_way}.")),
    };
    let name = format!("{prefix}{name}");
    Some(Field::new(name, sum.kind.data_type(), false, meaning))
}

impl RowsOf {
    pub(super) fn reversed(self) -> Self {
        match self {
            RowsOf::All => RowsOf::All,
            RowsOf::Sent => RowsOf::Received,
            RowsOf::Received => RowsOf::Sent,
        }
    }

    pub(super) fn has(self, ways: Ways) -> bool {
        match self {
            RowsOf::All => true,
            RowsOf::Sent => ways.is_sent,
            RowsOf::Received => ways.is_received,
        }
    }
}

/// The bit that tells negative numbers.
const SIGN: u64 = 1 << 63;

impl SumKind {
    /// The type of the sum.
    pub(super) fn data_type(self) -> DataType {
        match self {
            SumKind::Unsigned => DataType::U64,
            SumKind::Duration => DataType::DurationUs,
            SumKind::Signed => DataType::I64,
            SumKind::Double => DataType::Double,
        }
    }

    /// The bits of a value; nothing where there is none.
    pub(super) fn bits(self, value: &Value<'_>) -> Option<u64> {
        match (self, value) {
            (
                SumKind::Unsigned | SumKind::Duration,
                Value::Unsigned(number) | Value::Duration(number),
            ) => Some(*number),
            (SumKind::Signed, Value::Signed(number)) => Some(*number as u64),
            (SumKind::Double, Value::Double(number)) => Some(number.to_bits()),
            _ => None,
        }
    }

    /// Both together. What does not fit stays at the largest number.
    pub(super) fn add(self, sum: u64, more: u64) -> u64 {
        match self {
            SumKind::Unsigned | SumKind::Duration => sum.saturating_add(more),
            SumKind::Signed => (sum as i64).saturating_add(more as i64) as u64,
            SumKind::Double => (f64::from_bits(sum) + f64::from_bits(more)).to_bits(),
        }
    }

    pub(super) fn rank(self, bits: u64) -> u64 {
        match self {
            SumKind::Unsigned | SumKind::Duration => bits,
            SumKind::Signed => bits ^ SIGN,
            SumKind::Double if bits & SIGN == 0 => bits | SIGN,
            SumKind::Double => !bits,
        }
    }

    pub(super) fn value<'v>(self, bits: u64) -> Value<'v> {
        match self {
            SumKind::Unsigned => Value::Unsigned(bits),
            SumKind::Duration => Value::Duration(bits),
            SumKind::Signed => Value::Signed(bits as i64),
            SumKind::Double => Value::Double(f64::from_bits(bits)),
        }
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
