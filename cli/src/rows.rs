//! Rows of values in the three forms of the output: aligned text for people, NDJSON, CSV.

use std::io;
use std::net::IpAddr;

use anstyle::Style;
use bytewright::flow::FieldValue;
use bytewright::terminal::push_visible;

use crate::args::Reader;
use crate::notation;
use crate::output::Output;

const HEADER_STYLE: Style = Style::new().bold();

/// Bytes of text that are collected before they are aligned.
const PAGE_LEN: usize = 64 << 10;

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Unsigned(u64),
    Signed(i64),
    Address(IpAddr),
    Text(String),
    /// A value with parts, as JSON.
    Json(Vec<u8>),
}

impl From<FieldValue> for Cell {
    fn from(value: FieldValue) -> Self {
        match value {
            FieldValue::Null => Cell::Null,
            FieldValue::Unsigned(number) => Cell::Unsigned(number),
            FieldValue::Signed(number) => Cell::Signed(number),
            FieldValue::Address(address) => Cell::Address(address),
            FieldValue::Text(text) => Cell::Text(text),
        }
    }
}

/// How people see the values of a column; programs get them as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// As it is, at the left.
    Text,
    /// As it is, at the right.
    Number,
    /// Nanoseconds since the epoch.
    Time,
    /// Microseconds.
    Duration,
    Protocol,
    TcpFlags,
}

/// A column's name and look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heading {
    pub(crate) name: &'static str,
    pub(crate) look: Look,
}

/// Writes rows of the same columns.
pub(crate) struct Rows {
    headings: Vec<Heading>,
    form: Form,
}

enum Form {
    /// What stands before each value.
    Json(Vec<String>),
    Csv,
    People(Page),
}

impl Rows {
    /// Writes the header line, where the form has one.
    pub(crate) fn new(headings: Vec<Heading>, reader: Reader, output: &mut Output) -> Self {
        let form = match reader {
            Reader::Json => Form::Json(json_prefixes(&headings)),
            Reader::Csv => {
                let names: Vec<_> = headings.iter().map(|heading| heading.name).collect();
                output.line(&names.join(","));
                Form::Csv
            }
            Reader::People => Form::People(Page::new(&headings)),
        };
        Rows { headings, form }
    }

    /// Writes one row; `value` gives the value of the column at an index.
    #[inline]
    pub(crate) fn push(
        &mut self,
        output: &mut Output,
        value: impl Fn(usize) -> Cell,
    ) -> io::Result<()> {
        match &mut self.form {
            Form::Json(prefixes) => {
                let line = output.buffer();
                for (index, prefix) in prefixes.iter().enumerate() {
                    line.extend_from_slice(prefix.as_bytes());
                    json_value(line, value(index));
                }
                line.extend_from_slice(b"}\n");
            }
            Form::Csv => {
                let line = output.buffer();
                for index in 0..self.headings.len() {
                    if index > 0 {
                        line.push(b',');
                    }
                    csv_value(line, value(index));
                }
                line.push(b'\n');
            }
            Form::People(page) => {
                for (index, heading) in self.headings.iter().enumerate() {
                    page.push(index, |text| people_value(text, value(index), heading.look));
                }
                if page.text.len() >= PAGE_LEN {
                    page.print(&self.headings, output);
                }
            }
        }
        output.settle()
    }

    /// Writes what was pushed so far.
    pub(crate) fn flush(&mut self, output: &mut Output) -> io::Result<()> {
        if let Form::People(page) = &mut self.form {
            page.print(&self.headings, output);
        }
        output.flush()
    }
}

/// `{"first":` for the first column, `,"name":` for the others.
fn json_prefixes(headings: &[Heading]) -> Vec<String> {
    let prefix = |(index, heading): (usize, &Heading)| {
        format!("{}\"{}\":", if index == 0 { '{' } else { ',' }, heading.name)
    };
    headings.iter().enumerate().map(prefix).collect()
}

#[inline]
fn json_value(into: &mut Vec<u8>, value: Cell) {
    match value {
        Cell::Null => into.extend_from_slice(b"null"),
        Cell::Unsigned(number) => notation::unsigned(into, number),
        Cell::Signed(number) => notation::signed(into, number),
        Cell::Address(address) => {
            into.push(b'"');
            notation::address(into, address);
            into.push(b'"');
        }
        Cell::Text(text) => notation::json_text(into, &text),
        Cell::Json(json) => into.extend_from_slice(&json),
    }
}

#[inline]
fn csv_value(into: &mut Vec<u8>, value: Cell) {
    match value {
        Cell::Null => {}
        Cell::Unsigned(number) => notation::unsigned(into, number),
        Cell::Signed(number) => notation::signed(into, number),
        Cell::Address(address) => notation::address(into, address),
        Cell::Text(text) => notation::csv_text(into, &text),
        Cell::Json(json) => notation::csv_bytes(into, &json),
    }
}

fn people_value(into: &mut Vec<u8>, value: Cell, look: Look) {
    match (value, look) {
        (Cell::Null, _) => into.push(b'-'),
        (Cell::Signed(ts), Look::Time) => notation::time(into, ts),
        (Cell::Unsigned(count), Look::Duration) => notation::seconds(into, count),
        (Cell::Unsigned(number), Look::Protocol) => notation::protocol(into, number),
        (Cell::Unsigned(flags), Look::TcpFlags) => notation::tcp_flags(into, flags),
        (Cell::Unsigned(number), _) => notation::unsigned(into, number),
        (Cell::Signed(number), _) => notation::signed(into, number),
        (Cell::Address(address), _) => notation::address(into, address),
        (Cell::Text(text), _) => push_visible(into, text.as_bytes()),
        (Cell::Json(json), _) => into.extend_from_slice(&json),
    }
}

/// Rows of text that wait until it is known how wide their columns are. Columns only grow from one
/// page to the next, so long lists line up but for a few places.
struct Page {
    text: Vec<u8>,
    /// Where each cell ends in `text`, row by row.
    ends: Vec<usize>,
    widths: Vec<usize>,
    has_header: bool,
}

impl Page {
    fn new(headings: &[Heading]) -> Self {
        let widths = headings.iter().map(|heading| heading.name.len()).collect();
        Page { text: Vec::new(), ends: Vec::new(), widths, has_header: false }
    }

    fn push(&mut self, column: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        let width = &mut self.widths[column];
        *width = (*width).max(self.text.len() - start);
        self.ends.push(self.text.len());
    }

    /// Appends the aligned rows to the output, below a header if they are the first.
    fn print(&mut self, headings: &[Heading], output: &mut Output) {
        if self.ends.is_empty() {
            return;
        }
        if !self.has_header {
            self.has_header = true;
            self.print_header(headings, output);
        }
        let line = output.buffer();
        let mut start = 0;
        for row in self.ends.chunks(headings.len()) {
            for (column, end) in row.iter().enumerate() {
                let cell = self.text.get(start..*end).unwrap_or_default();
                align(line, cell, headings, &self.widths, column);
                start = *end;
            }
            line.push(b'\n');
        }
        self.text.clear();
        self.ends.clear();
    }

    fn print_header(&self, headings: &[Heading], output: &mut Output) {
        output.style(&HEADER_STYLE.render().to_string());
        for (column, heading) in headings.iter().enumerate() {
            align(output.buffer(), heading.name.as_bytes(), headings, &self.widths, column);
        }
        output.style(&HEADER_STYLE.render_reset().to_string());
        output.buffer().push(b'\n');
    }
}

/// Appends a cell padded to its column's width. Nothing follows the last text of a line.
fn align(line: &mut Vec<u8>, cell: &[u8], headings: &[Heading], widths: &[usize], column: usize) {
    if column > 0 {
        line.extend_from_slice(b"  ");
    }
    let padding = widths[column].saturating_sub(cell.len());
    let is_right = matches!(headings[column].look, Look::Number | Look::Duration);
    if is_right {
        line.resize(line.len() + padding, b' ');
    }
    line.extend_from_slice(cell);
    if !is_right && column + 1 < headings.len() {
        line.resize(line.len() + padding, b' ');
    }
}
