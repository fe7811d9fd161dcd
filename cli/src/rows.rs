//! Rows of values in the three forms of the output: aligned text for people, NDJSON, CSV.

mod page;

use std::io;

use bytewright::Result;
use bytewright::batch::{DataType, Schema, Value, csv, json};
use bytewright::export::ParquetFile;
use bytewright::terminal::push_visible;

use crate::args::Reader;
use crate::notation;
use crate::output::Output;
use crate::session::Session;
use page::Page;

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
    People(Box<Page>),
    /// Rows go to a file of columns, and none to the output.
    Columns(Box<ParquetFile>),
}

impl Rows {
    /// Writes the header line, where the form has one. With a `file`, rows go there.
    ///
    /// # Errors
    /// `Argument` for columns that the form has no place for.
    pub(crate) fn new(
        schema: Schema,
        reader: Reader,
        file: Option<ParquetFile>,
        output: &mut Output,
    ) -> Result<Self> {
        let form = match (file, reader) {
            (Some(file), _) => Form::Columns(Box::new(file)),
            (None, Reader::Json) => Form::Json(json::RowWriter::new(&schema)),
            (None, Reader::Csv { formulas }) => {
                let writer = csv::RowWriter::new(&schema, output.buffer())?;
                Form::Csv(if formulas { writer } else { writer.without_formulas() })
            }
            (None, Reader::People) => Form::People(Box::new(Page::new(&schema, output))),
        };
        Ok(Rows { schema, form, is_drawn: false })
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
                    page.push(index, value(index), field.data_type());
                }
                if page.len() >= PAGE_LEN {
                    page.print(&self.schema, output);
                }
            }
        }
        output.settle()
    }

    /// Writes what was pushed so far.
    pub(crate) fn flush(&mut self, output: &mut Output) -> io::Result<()> {
        if let Form::People(page) = &mut self.form {
            page.print(&self.schema, output);
        }
        output.flush()
    }

    /// Says which columns a terminal that is too narrow for all does without first; after those, it is the last ones.
    #[must_use]
    pub(crate) fn giving_up(mut self, names: &[&str]) -> Self {
        if let Form::People(page) = &mut self.form {
            page.give_up_first(names.iter().filter_map(|name| self.schema.find(name)).collect());
        }
        self
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
            Form::People(page) if page.is_empty() && !self.is_drawn => {
                session.tell_of_nothing(self.schema.name());
                Ok(())
            }
            Form::People(page) => {
                page.left_out(&self.schema).inspect(|what| session.complain(what));
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
        (Value::Nested(_), _) => json::value(into, value),
        (value, _) => csv::value(into, value),
    }
}
