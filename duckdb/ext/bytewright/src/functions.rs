//! The table functions, as questions to the core.

use std::path::{Path, PathBuf};

use bytewright::ask::RowSpec;
use bytewright::batch::{Export, ExportOptions};
use bytewright::host::{Blocking, CaptureSource, MessageOptions, MessageQuestion, Rows};
use bytewright::input::CaptureOptions;
use bytewright::options::{NamedOptions, OptionSpec, Settings};
use bytewright::{Error, ErrorKind, Result};

use crate::reading::{Answer, Ask};

/// A table function: of rows of captures, or of Thrift messages.
#[derive(Clone, Copy)]
pub(crate) struct TableFunction(pub(crate) Option<&'static RowSpec>);

impl TableFunction {
    pub(crate) fn all() -> impl Iterator<Item = TableFunction> {
        RowSpec::ALL.iter().map(Some).chain([None]).map(TableFunction)
    }

    pub(crate) fn name(self) -> String {
        format!("read_{}", self.0.map_or("thrift", |spec| spec.name))
    }

    /// The tables of its options.
    pub(crate) fn tables(self) -> &'static [&'static [OptionSpec]] {
        self.0.map_or(&[MessageOptions::OPTIONS], |spec| spec.tables)
    }

    /// The question of a call with these paths and patterns of paths.
    pub(crate) fn ask(self, paths: &[String], settings: &Settings) -> Result<Ask> {
        let files = files_of(paths)?;
        match self.0 {
            Some(spec) => of_captures(files, spec, settings),
            None => of_messages(files, settings),
        }
    }
}

fn of_captures(files: Vec<PathBuf>, spec: &RowSpec, settings: &Settings) -> Result<Ask> {
    let question = spec.question(settings)?;
    let mut options = CaptureOptions::default();
    options.stream.jobs = std::thread::available_parallelism().map_or(1, usize::from);
    settings.fill(&mut options)?;
    Ok(Box::new(move |is_wanted| {
        let source = |file: &PathBuf| CaptureSource::Path(file.clone(), options.clone().into());
        let captures = files.iter().map(source).collect();
        let mut rows = Rows::new(captures, question.with_fields(is_wanted));
        let export = Export::new(rows.schema(), ExportOptions::default());
        Ok(Answer { export, next: Box::new(move || rows.next(&Blocking)) })
    }))
}

fn of_messages(files: Vec<PathBuf>, settings: &Settings) -> Result<Ask> {
    let question = MessageQuestion::new(files, &settings.take::<MessageOptions>()?)?;
    Ok(Box::new(move |is_wanted| {
        let mut rows = question.rows(is_wanted)?;
        let export = Export::new(rows.schema(), ExportOptions::default());
        Ok(Answer { export, next: Box::new(move || rows.next(&Blocking)) })
    }))
}

/// The files that paths and patterns name. A file whose own name looks like a pattern is that file.
fn files_of(paths: &[String]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let count = files.len();
        if path.contains(['*', '?', '[']) && !Path::new(path).exists() {
            files.extend(glob::glob(path).into_iter().flatten().flatten());
        }
        // Of a pattern that no file has, the core says that there is none of that name.
        if files.len() == count {
            files.push(path.into());
        }
    }
    let none = || Error::new(ErrorKind::Argument, "expected the path of a file, found none");
    (!files.is_empty()).then_some(files).ok_or_else(none)
}
