//! `--plot`: groups over time, a line of blocks for each.

use std::collections::BTreeMap;
use std::io;

use bytewright::batch::{Batch, DataType, Value};

use crate::notation;
use crate::output::Output;
use crate::rows::people_value;

/// Blocks of a line where there is no terminal.
const BLOCKS: usize = 60;

/// Characters that the numbers behind the blocks of a line take: those of `12345678  12345678 in all, 12345678 at most`.
const NUMBERS_LEN: usize = 40;

/// Lines at most.
const LINES_MAX: usize = 40;

/// Characters for an eighth of the largest number, for two, and so on.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A block for each number, as high as it is beside the largest; nothing is shown of 0.
pub(crate) fn blocks(numbers: &[u64]) -> String {
    let most = numbers.iter().max().copied().unwrap_or_default().max(1);
    let block = |number: &u64| {
        let eighths = u128::from(*number) * 8;
        match eighths.div_ceil(u128::from(most)) {
            0 => ' ',
            height => HEIGHTS.get(height as usize - 1).copied().unwrap_or('█'),
        }
    };
    numbers.iter().map(block).collect()
}

/// A line of the picture.
struct Line {
    label: String,
    numbers: Vec<u64>,
    total: u64,
}

/// Prints the groups of a question with an interval of `every` nanoseconds: what `batch` has of them, by the number that
/// they are measured by.
pub(crate) fn print(batch: &Batch, every: i64, output: &mut Output) -> io::Result<()> {
    let Some((begin, end)) = span(batch, every) else { return Ok(()) };
    let count = (end - begin) / every + 1;
    let labels = (0..batch.len()).map(|row| label(batch, row, keys(batch)).chars().count());
    let taken = labels.max().unwrap_or_default() + NUMBERS_LEN;
    let blocks_max = output.picture_width(taken, BLOCKS) as i64;
    let width = every.saturating_mul((count + blocks_max - 1) / blocks_max);
    let mut lines = lines(batch, begin, width, ((end - begin) / width + 1) as usize);
    lines.sort_by(|left, right| right.total.cmp(&left.total).then(left.label.cmp(&right.label)));
    let mut from = Vec::new();
    notation::time(&mut from, begin);
    let from = String::from_utf8_lossy(&from).into_owned();
    let each = notation::interval(width);
    output.line(&format!("{}, {each} a block, from {from}", measure(batch)));
    let more = lines.len().saturating_sub(LINES_MAX);
    let lines = &lines[..lines.len() - more];
    let widest = |of: fn(&Line) -> usize| lines.iter().map(of).max().unwrap_or_default();
    let label_width = widest(|line| line.label.chars().count());
    let total_width = widest(|line| line.total.to_string().len());
    for Line { label, numbers, total } in lines {
        let peak = numbers.iter().max().copied().unwrap_or_default();
        let blocks = blocks(numbers);
        output.line(&format!(
            "{label:label_width$}  {blocks}  {total:>total_width$} in all, {peak} at most"
        ));
    }
    if more > 0 {
        output.line(&format!("and {more} more; --top N chooses how many"));
    }
    output.flush()
}

/// The first and the last interval.
fn span(batch: &Batch, every: i64) -> Option<(i64, i64)> {
    let begins = (0..batch.len()).filter_map(|row| match batch.value(row, 0) {
        Value::Time(begin) => Some(begin),
        _ => None,
    });
    let (first, last) = begins.fold(None, |span: Option<(i64, i64)>, begin| {
        Some(span.map_or((begin, begin), |(a, z)| (a.min(begin), z.max(begin))))
    })?;
    (every > 0).then_some((first, last))
}

/// The place of the number that is shown: the first sum, or else how many rows there are.
fn place(batch: &Batch) -> usize {
    let fields = batch.schema().fields();
    let last = fields.len().saturating_sub(1);
    // The count is the first number that no row is without; sums stand behind it, and `groups` last.
    let count = fields.iter().position(|field| !field.is_nullable()).unwrap_or(last);
    let sum = fields.get(count + 1).filter(|_| count + 1 < last);
    // Of both ways without a sum, the count of what was sent stands there.
    let is_sum = sum
        .zip(fields.get(count))
        .is_some_and(|(sum, count)| sum.name().strip_prefix("sent_") != Some(count.name()));
    if is_sum { count + 1 } else { count }
}

fn measure(batch: &Batch) -> String {
    let field = batch.schema().fields().get(place(batch));
    let unit = match field.map(|field| field.data_type()) {
        Some(DataType::DurationUs) => " in microseconds",
        _ => "",
    };
    format!("{}{unit}", field.map_or("", |field| field.name()))
}

/// The groups by what they are told by, each with a number for each block.
fn lines(batch: &Batch, begin: i64, width: i64, count: usize) -> Vec<Line> {
    let place = place(batch);
    let mut lines: BTreeMap<String, Line> = BTreeMap::new();
    for row in 0..batch.len() {
        let Value::Time(ts) = batch.value(row, 0) else { continue };
        let label = label(batch, row, keys(batch));
        let number = match batch.value(row, place) {
            Value::Unsigned(number) | Value::Duration(number) => number,
            Value::Signed(number) => u64::try_from(number).unwrap_or_default(),
            Value::Double(number) => number.max(0.0) as u64,
            _ => 0,
        };
        let line = lines.entry(label.clone()).or_insert_with(|| Line {
            label,
            numbers: vec![0; count],
            total: 0,
        });
        line.total = line.total.saturating_add(number);
        if let Some(sum) = line.numbers.get_mut(((ts - begin) / width) as usize) {
            *sum = sum.saturating_add(number);
        }
    }
    lines.into_values().collect()
}

/// The places of what groups are told by, behind the interval.
fn keys(batch: &Batch) -> std::ops::Range<usize> {
    let fields = batch.schema().fields();
    1..fields.iter().position(|field| !field.is_nullable()).unwrap_or(1)
}

/// Returns the text by which people are told a group.
fn label(batch: &Batch, row: usize, keys: std::ops::Range<usize>) -> String {
    let fields = batch.schema().fields();
    let is_other = fields.len().checked_sub(1).is_some_and(
        |groups| matches!(batch.value(row, groups), Value::Unsigned(together) if together > 1),
    );
    if is_other {
        return "other".to_owned();
    }
    let values = keys.filter_map(|key| {
        let mut text = Vec::new();
        people_value(&mut text, batch.value(row, key), fields.get(key)?.data_type());
        Some(String::from_utf8_lossy(&text).into_owned())
    });
    let values: Vec<_> = values.collect();
    if values.is_empty() { "all".to_owned() } else { values.join("  ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_high_as_their_numbers() {
        assert_eq!(blocks(&[0, 1, 50, 51, 100]), " ▁▄▅█");
        assert_eq!(blocks(&[0, 0]), "  ");
        assert_eq!(blocks(&[u64::MAX, u64::MAX / 2]), "█▄");
        assert_eq!(blocks(&[]), "");
    }
}
