//! Rows of values in the three forms of the output: aligned text for people, NDJSON, CSV.

use std::io;

use anstyle::Style;
use bytewright::batch::{DataType, Field, Schema, Value, csv, json};
use bytewright::export::ParquetFile;
use bytewright::terminal::push_visible;

use crate::args::Reader;
use crate::notation;
use crate::output::Output;
use crate::session::Session;

const HEADER_STYLE: Style = Style::new().bold();

/// Bytes of text that are collected before they are aligned.
const PAGE_LEN: usize = 64 << 10;

/// Writes rows of the same columns.
pub(crate) struct Rows {
    schema: Schema,
    form: Form,
    is_drawn: bool,
}

enum Form {
    Json(json::RowWriter),
    Csv(csv::RowWriter),
    People(Page),
    /// Rows go to a file of columns, and none to the output.
    Columns(Box<ParquetFile>),
}

impl Rows {
    /// Writes the header line, where the form has one. With a `file`, rows go there.
    pub(crate) fn new(
        schema: Schema,
        reader: Reader,
        file: Option<ParquetFile>,
        output: &mut Output,
    ) -> Self {
        let form = match (file, reader) {
            (Some(file), _) => Form::Columns(Box::new(file)),
            (None, Reader::Json) => Form::Json(json::RowWriter::new(&schema)),
            (None, Reader::Csv { formulas }) => {
                let writer = csv::RowWriter::new(&schema, output.buffer());
                Form::Csv(if formulas { writer } else { writer.without_formulas() })
            }
            (None, Reader::People) => Form::People(Page::new(schema.fields())),
        };
        Rows { schema, form, is_drawn: false }
    }

    /// Writes one row; `value` gives the value of the column at an index.
    #[inline]
    pub(crate) fn push<'v>(
        &mut self,
        output: &mut Output,
        value: impl Fn(usize) -> Value<'v>,
    ) -> io::Result<()> {
        match &mut self.form {
            Form::Json(writer) => writer.push(output.buffer(), value),
            Form::Csv(writer) => writer.push(output.buffer(), value),
            Form::Columns(file) => file.push_row(value).map_err(io::Error::other)?,
            Form::People(page) => {
                for (index, field) in self.schema.fields().iter().enumerate() {
                    page.push(index, |text| people_value(text, value(index), field.data_type()));
                }
                if page.text.len() >= PAGE_LEN {
                    page.print(self.schema.fields(), output);
                }
            }
        }
        output.settle()
    }

    /// Writes what was pushed so far.
    pub(crate) fn flush(&mut self, output: &mut Output) -> io::Result<()> {
        if let Form::People(page) = &mut self.form {
            page.print(self.schema.fields(), output);
        }
        output.flush()
    }

    /// Takes note that the rows are shown in another way, so that none is pushed.
    pub(crate) fn are_drawn(&mut self) {
        self.is_drawn = true;
    }

    /// Writes what was pushed so far, which is all.
    pub(crate) fn finish(mut self, session: &mut Session) -> io::Result<()> {
        self.flush(&mut session.output)?;
        match self.form {
            Form::Columns(file) => session.finish_file(*file),
            Form::People(page) if !page.has_header && !self.is_drawn => {
                session.tell_of_nothing(self.schema.name());
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Appends a value as people read it, harmless to a terminal.
pub(crate) fn people_value(into: &mut Vec<u8>, value: Value<'_>, data_type: DataType) {
    match (value, data_type) {
        (Value::Null, _) => into.push(b'-'),
        (Value::Time(ts), _) => notation::time(into, ts),
        (Value::Duration(count), _) => notation::seconds(into, count),
        (Value::Unsigned(number), DataType::Enumeration(names)) => {
            match u8::try_from(number).ok().and_then(|number| names.name(number)) {
                Some(name) => into.extend_from_slice(name.as_bytes()),
                None => notation::unsigned(into, number),
            }
        }
        (Value::Unsigned(flags), DataType::TcpFlags) => notation::tcp_flags(into, flags),
        (Value::Text(text), _) => push_visible(into, text.as_bytes()),
        (Value::ShortText(text), _) => push_visible(into, text.as_str().as_bytes()),
        (Value::Json(text), _) => into.extend_from_slice(text.as_bytes()),
        (Value::Bytes(bytes), _) => push_visible(into, bytes),
        (value, _) => csv::value(into, value),
    }
}

/// Whether people find it easier to compare the values of a column when they end in one line.
fn is_at_right(data_type: DataType) -> bool {
    match data_type.storage() {
        DataType::I64 => data_type != DataType::TimeNs,
        DataType::Address | DataType::Bool | DataType::Text | DataType::Bytes | DataType::Uuid => {
            false
        }
        _ => !matches!(data_type, DataType::Enumeration(_) | DataType::TcpFlags),
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
    fn new(fields: &[Field]) -> Self {
        let widths = fields.iter().map(|field| field.name().len()).collect();
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
    fn print(&mut self, fields: &[Field], output: &mut Output) {
        if self.ends.is_empty() {
            return;
        }
        if !self.has_header {
            self.has_header = true;
            self.print_header(fields, output);
        }
        let line = output.buffer();
        let mut start = 0;
        for row in self.ends.chunks(fields.len()) {
            for (column, end) in row.iter().enumerate() {
                let cell = self.text.get(start..*end).unwrap_or_default();
                align(line, cell, fields, &self.widths, column);
                start = *end;
            }
            line.push(b'\n');
        }
        self.text.clear();
        self.ends.clear();
    }

    fn print_header(&self, fields: &[Field], output: &mut Output) {
        output.style(&HEADER_STYLE.render().to_string());
        for (column, field) in fields.iter().enumerate() {
            align(output.buffer(), field.name().as_bytes(), fields, &self.widths, column);
        }
        output.style(&HEADER_STYLE.render_reset().to_string());
        output.buffer().push(b'\n');
    }
}

/// Appends a cell padded to its column's width. Nothing follows the last text of a line.
fn align(line: &mut Vec<u8>, cell: &[u8], fields: &[Field], widths: &[usize], column: usize) {
    if column > 0 {
        line.extend_from_slice(b"  ");
    }
    let padding = widths[column].saturating_sub(cell.len());
    let is_right = is_at_right(fields[column].data_type());
    if is_right {
        line.resize(line.len() + padding, b' ');
    }
    line.extend_from_slice(cell);
    if !is_right && column + 1 < fields.len() {
        line.resize(line.len() + padding, b' ');
    }
}
