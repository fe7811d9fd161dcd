//! Packets by their numbers: `1000-1999,2500,9000-`.

use std::str::FromStr;

use crate::error::excerpt;
use crate::packet::Field;
use crate::query::Condition;
use crate::{Error, ErrorKind, Result};

// Bound (Captures): ranges in a list of packet numbers = 65,536.
const RANGES_MAX: usize = 65_536;

/// Numbers of packets.
#[derive(Debug, Clone)]
pub(super) struct PacketNumbers {
    /// The condition that a packet with one of them meets.
    pub(super) condition: Condition,
    /// The last of them; none where they have no end.
    pub(super) last: Option<u64>,
}

impl FromStr for PacketNumbers {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = || {
            let found = excerpt(text);
            let message = format!(
                "expected numbers of packets from 1, such as \"1000-1999\" or \"5,17,9000-\", found {found:?}"
            );
            Error::new(ErrorKind::Argument, message)
        };
        let ranges: Vec<(u64, Option<u64>)> = text
            .split(',')
            .take(RANGES_MAX + 1)
            .map(|range| range_of(range.trim()))
            .collect::<Option<_>>()
            .ok_or_else(refused)?;
        if ranges.len() > RANGES_MAX {
            let (limit, found) = (RANGES_MAX as u64, ranges.len() as u64);
            return Err(Error::limit("a list of numbers of packets", limit, found));
        }
        let singles: Vec<String> = ranges
            .iter()
            .filter(|(first, last)| *last == Some(*first))
            .map(|(number, _)| number.to_string())
            .collect();
        let mut tests: Vec<String> = ranges
            .iter()
            .filter(|(first, last)| *last != Some(*first))
            .map(|(first, last)| match last {
                Some(last) => format!("(number >= {first} and number <= {last})"),
                None => format!("number >= {first}"),
            })
            .collect();
        if !singles.is_empty() {
            tests.push(format!("number in ({})", singles.join(", ")));
        }
        let condition = Condition::new(&tests.join(" or "), &Field::SCHEMA)?;
        let last = ranges.iter().map(|(_, last)| *last).collect::<Option<Vec<u64>>>();
        Ok(PacketNumbers { condition, last: last.and_then(|last| last.into_iter().max()) })
    }
}

/// The first and the last number of a range; none where it is no range.
fn range_of(text: &str) -> Option<(u64, Option<u64>)> {
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
    let (first, last) = match text.split_once('-') {
        None => (number(text)?, Some(number(text)?)),
        Some((first, "")) => (number(first)?, None),
        Some((first, last)) => (number(first)?, Some(number(last)?)),
    };
    last.is_none_or(|last| last >= first).then_some((first, last))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::batch::Value;

    #[test]
    fn numbers_are_those_that_are_named_and_those_between() {
        let numbers: PacketNumbers = "3, 7-9,5".parse().unwrap();
        let holds = |number: u64| numbers.condition.holds(|_| Value::Unsigned(number));
        let held: Vec<u64> = (1..20).filter(|number| holds(*number)).collect();
        assert_eq!((held, numbers.last), (vec![3, 5, 7, 8, 9], Some(9)));
        let open: PacketNumbers = "3,17-".parse().unwrap();
        assert_eq!(open.last, None);
    }

    #[test]
    fn what_is_no_number_of_a_packet_is_refused() {
        for text in ["", "0", "a", "3-2", "-3", "1,,2", "1 2", "99999999999999999999"] {
            let error = text.parse::<PacketNumbers>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{text}");
        }
    }
}
