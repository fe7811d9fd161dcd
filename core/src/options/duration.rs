//! Durations as people write them.

/// Nanoseconds of each unit of time.
const UNITS: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 6e10),
    ("h", 3.6e12),
    ("d", 8.64e13),
];

/// Nanoseconds of a number with a unit.
pub(crate) fn duration_ns(text: &str) -> Option<f64> {
    let digits = text.find(|character: char| character.is_alphabetic() && character != 'e')?;
    let (number, unit) = (text.get(..digits)?, text.get(digits..)?);
    let (_, nanoseconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let number: f64 = number.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * nanoseconds)
}
