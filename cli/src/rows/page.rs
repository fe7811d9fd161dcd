//! Rows of text that wait until it is known how wide their columns are, and that fit the terminal.

use std::borrow::Cow;

use anstyle::Style;
use bytewright::batch::{DataType, Field, Schema, Value};
use bytewright::terminal::shortened;

use super::people_value;
use crate::merge::counted;
use crate::notation;
use crate::output::Output;

const HEADER_STYLE: Style = Style::new().bold();

/// Characters between columns.
const GAP: usize = 2;

/// Characters that a text, an address and a time keep in a narrow column: a word, an address of IPv4, whole seconds.
const TEXT_LEAST: usize = 16;
const ADDRESS_LEAST: usize = 15;
const TIME_LEAST: usize = 19;

/// Rows that are printed together. Columns only grow from one page to the next, so long lists line up but for a few places.
pub(super) struct Page {
    text: Vec<u8>,
    /// End of each cell in `text`, row by row.
    ends: Vec<usize>,
    columns: Vec<Column>,
    has_header: bool,
    /// The columns that are left out first, by their places.
    given_up: Vec<usize>,
    /// Cells that were not printed as a whole.
    cut: u64,
}

struct Column {
    /// Characters of the widest cell.
    natural: usize,
    /// Characters that it is given.
    given: usize,
    /// Characters that it can do with.
    least: usize,
    is_right: bool,
    is_shown: bool,
    /// True if its values are numbers of bytes that are shown with their units.
    is_bytes: bool,
    cutting: Cutting,
}

/// Part that is left out of a cell that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cutting {
    /// Nothing: a number that is cut is another number.
    None,
    /// Digits of the fraction of a second.
    Fraction,
    End,
    Middle,
}

impl Page {
    pub(super) fn new(schema: &Schema, output: &Output) -> Self {
        let has_units = output.has_units();
        let columns = schema.fields().iter().map(|field| Column::new(field, has_units)).collect();
        let (text, ends, given_up) = (Vec::new(), Vec::new(), Vec::new());
        Page { text, ends, columns, has_header: false, given_up, cut: 0 }
    }

    pub(super) fn give_up_first(&mut self, places: Vec<usize>) {
        self.given_up = places;
    }

    /// Bytes that wait to be printed.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns true if no row was ever printed.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_header
    }

    pub(super) fn push(&mut self, place: usize, value: Value<'_>, data_type: DataType) {
        let start = self.text.len();
        let column = &mut self.columns[place];
        match value {
            Value::Unsigned(count) if column.is_bytes => {
                self.text.extend_from_slice(notation::byte_count(count).as_bytes());
            }
            value => people_value(&mut self.text, value, data_type),
        }
        column.natural = column.natural.max(characters(&self.text[start..]));
        self.ends.push(self.text.len());
    }

    /// Appends the aligned rows to the output, below a header if they are the first, or have fewer columns than those before.
    pub(super) fn print(&mut self, schema: &Schema, output: &mut Output) {
        if self.ends.is_empty() {
            return;
        }
        let is_narrower = self.fit(output.width());
        if is_narrower || !self.has_header {
            self.has_header = true;
            self.print_header(schema.fields(), output);
        }
        let (buffer, mut start) = (output.buffer(), 0);
        for row in self.ends.chunks(self.columns.len()) {
            let mut line = Line { buffer: &mut *buffer, gap: 0 };
            for (column, end) in self.columns.iter().zip(row) {
                let cell = self.text.get(start..*end).unwrap_or_default();
                start = *end;
                self.cut += u64::from(column.push(&mut line, cell));
            }
            line.end();
        }
        self.text.clear();
        self.ends.clear();
    }

    fn print_header(&self, fields: &[Field], output: &mut Output) {
        output.style(&HEADER_STYLE.render().to_string());
        let mut line = Line { buffer: output.buffer(), gap: 0 };
        for (column, field) in self.columns.iter().zip(fields) {
            column.push(&mut line, field.name().as_bytes());
        }
        output.style(&HEADER_STYLE.render_reset().to_string());
        output.buffer().push(b'\n');
    }

    /// Gives each column its width, so that a line is not wider than that; says whether a column was left out for it. One
    /// that was left out before stays so.
    fn fit(&mut self, width: Option<usize>) -> bool {
        let mut is_narrower = false;
        loop {
            self.columns.iter_mut().for_each(|column| column.given = column.natural);
            let Some(width) = width else { return false };
            let shown = self.columns.iter().filter(|column| column.is_shown);
            let (count, sum) = shown.fold((0, 0), |(count, sum), c| (count + 1, sum + c.given));
            let excess = (sum + GAP * (count - 1)).saturating_sub(width);
            if self.shrink(excess) || count == 1 {
                return is_narrower;
            }
            self.leave_one_out();
            is_narrower = true;
        }
    }

    /// Takes so many characters from the columns that can do with less, from times first, or says that they cannot.
    fn shrink(&mut self, excess: usize) -> bool {
        let spare: usize = self.columns.iter().map(Column::spare).sum();
        if spare < excess {
            return false;
        }
        for _ in 0..excess {
            let rank = |column: &&mut Column| {
                (column.spare() > 0, column.cutting == Cutting::Fraction, column.given)
            };
            if let Some(widest) = self.columns.iter_mut().max_by_key(rank) {
                widest.given -= 1;
            }
        }
        true
    }

    fn leave_one_out(&mut self) {
        let is_shown = |place: &usize| self.columns.get(*place).is_some_and(|c| c.is_shown);
        let first = self.given_up.iter().copied().find(is_shown);
        let place = first.or_else(|| self.columns.iter().rposition(|column| column.is_shown));
        if let Some(column) = place.and_then(|place| self.columns.get_mut(place)) {
            column.is_shown = false;
        }
    }

    /// Returns what the terminal had no room for; None if it had room for all.
    pub(super) fn left_out(&self, schema: &Schema) -> Option<String> {
        let columns = self.columns.iter().zip(schema.fields());
        let names = columns.filter(|(column, _)| !column.is_shown).map(|(_, field)| field.name());
        let names: Vec<&str> = names.collect();
        let mut parts = Vec::new();
        if !names.is_empty() {
            let counted = counted(names.len() as u64, "column");
            parts.push(format!("{counted} left out ({})", names.join(", ")));
        }
        if self.cut > 0 {
            parts.push(format!("{} cut", counted(self.cut, "value")));
        }
        let parts = parts.join(", ");
        (!parts.is_empty())
            .then(|| format!("the terminal is too narrow: {parts}; --csv and --json have all"))
    }
}

/// A line that is put together.
struct Line<'b> {
    buffer: &'b mut Vec<u8>,
    /// Spaces in front of the next cell. Nothing follows the last text of a line.
    gap: usize,
}

impl Line<'_> {
    fn push(&mut self, text: &[u8]) {
        self.buffer.resize(self.buffer.len() + self.gap, b' ');
        self.gap = 0;
        self.buffer.extend_from_slice(text);
    }

    fn end(self) {
        self.buffer.push(b'\n');
    }
}

impl Column {
    fn new(field: &Field, has_units: bool) -> Self {
        let (name, data_type) = (field.name(), field.data_type());
        let natural = characters(name.as_bytes());
        let (cutting, least) = match data_type {
            DataType::TimeNs => (Cutting::Fraction, TIME_LEAST),
            DataType::Address => (Cutting::Middle, ADDRESS_LEAST),
            DataType::Text | DataType::Bytes | DataType::Json => (Cutting::End, TEXT_LEAST),
            _ => (Cutting::None, usize::MAX),
        };
        Column {
            natural,
            given: natural,
            least: least.max(natural),
            is_right: is_at_right(data_type),
            is_shown: true,
            is_bytes: has_units && is_of_bytes(name, data_type),
            cutting,
        }
    }

    /// Characters that it can do without.
    fn spare(&self) -> usize {
        if self.is_shown { self.given.saturating_sub(self.least) } else { 0 }
    }

    /// Appends a cell padded to the column's width, if the column is shown; says whether some of it is left out.
    fn push(&self, line: &mut Line<'_>, cell: &[u8]) -> bool {
        if !self.is_shown {
            return false;
        }
        let length = characters(cell);
        let padding = self.given.saturating_sub(length);
        line.gap += if self.is_right { padding } else { 0 };
        if length > self.given {
            line.push(self.cutting.apply(&String::from_utf8_lossy(cell), self.given).as_bytes());
        } else {
            line.push(cell);
        }
        line.gap = GAP + if self.is_right { 0 } else { padding };
        length > self.given && self.cutting != Cutting::Fraction
    }
}

impl Cutting {
    /// So many characters of a text at most.
    fn apply(self, text: &str, width: usize) -> Cow<'_, str> {
        let beginning = |count| text.chars().take(count).collect::<String>();
        match self {
            Cutting::None => text.into(),
            Cutting::Fraction => beginning(width).trim_end_matches('.').to_owned().into(),
            Cutting::End => (beginning(width.saturating_sub(1)) + "…").into(),
            Cutting::Middle => shortened(text, width),
        }
    }
}

/// Characters of a text, each of which takes one place of a line; bytes that are no text count as one.
fn characters(text: &[u8]) -> usize {
    if text.is_ascii() { text.len() } else { String::from_utf8_lossy(text).chars().count() }
}

/// Returns true for a column of sums of bytes. Lengths of single packets are narrower, and easy to compare as they are.
fn is_of_bytes(name: &str, data_type: DataType) -> bool {
    const LENGTHS: [&str; 4] = ["length", "caplen", "ip_len", "payload_len"];
    let is_named = name == "bytes" || name.ends_with("_bytes") || LENGTHS.contains(&name);
    data_type == DataType::U64 && is_named
}

/// Returns true if people compare the values of a column more easily when they end in one line.
fn is_at_right(data_type: DataType) -> bool {
    match data_type.storage() {
        DataType::I64 => data_type != DataType::TimeNs,
        DataType::Address | DataType::Bool | DataType::Text | DataType::Bytes | DataType::Uuid => {
            false
        }
        _ => !matches!(data_type, DataType::Enumeration(_) | DataType::TcpFlags),
    }
}
