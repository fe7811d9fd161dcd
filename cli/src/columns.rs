//! `--parquet`: rows in a file of columns.

use std::io;
use std::path::PathBuf;

use bytewright::batch::{RowOrigin, Schema};
use bytewright::export::ParquetFile;

use crate::args::{ColumnsArgs, Format, Reader};
use crate::rows::Rows;
use crate::session::{self, Session};

impl ColumnsArgs {
    /// Who reads the rows: a file is for programs.
    pub(crate) fn reader(&self, format: Format) -> Reader {
        if self.parquet.is_some() { Reader::Json } else { format.reader() }
    }

    /// The file that rows of `schema` are to go to, if they are not to be printed; `inputs` and `filter` say what they
    /// are made of.
    pub(crate) fn create(
        &self,
        schema: &Schema,
        inputs: &[PathBuf],
        filter: Option<&str>,
        session: &Session,
    ) -> bytewright::Result<Option<ParquetFile>> {
        let Some(path) = &self.parquet else { return Ok(None) };
        let sources = inputs.iter().map(|input| session::name_of(input).into_owned()).collect();
        let origin = RowOrigin { sources, filter: filter.map(str::to_owned) };
        let metadata = origin.metadata(schema);
        let output = session::output_options(inputs, self.replacing.options.force);
        let schema = schema.clone();
        let file = ParquetFile::create(path, &output, schema, self.form.options, &metadata)?;
        session.remove_at_signal(file.hidden_path())?;
        Ok(Some(file))
    }

    /// Rows for a file or for the output; nothing, once the error is told, where the file cannot be made.
    pub(crate) fn rows(
        &self,
        schema: Schema,
        format: Format,
        inputs: &[PathBuf],
        filter: Option<&str>,
        session: &mut Session,
    ) -> io::Result<Option<Rows>> {
        let made = self
            .create(&schema, inputs, filter, session)
            .and_then(|file| Rows::new(schema, self.reader(format), file, &mut session.output));
        match made {
            Ok(rows) => Ok(Some(rows)),
            Err(error) => session.report(&error).map(|()| None),
        }
    }
}
