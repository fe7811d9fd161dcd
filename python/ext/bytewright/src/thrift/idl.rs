//! Content of IDL, as tuples of which `python/bytewright` makes classes.

use std::path::PathBuf;

use bytewright::ask::load_idl;
use bytewright::bytes::WholeFile;
use bytewright::error::excerpt;
use bytewright::thrift::idl::{Described, IdlOptions, SourceText, TEXT_LEN_MAX, parse};
use bytewright::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::error::{guarded, raised};
use crate::values;

/// Name of an IDL text in errors.
const TEXT: &str = "IDL text";

/// Reads IDL: a text, or where there is none the file at a path. Included files are looked for beside the file, and in the
/// folders of `include`.
#[pyfunction]
pub(crate) fn read_idl<'py>(
    py: Python<'py>,
    text: Option<String>,
    path: Option<PathBuf>,
    include: Vec<PathBuf>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = IdlOptions::default();
    let document = guarded(|| match (text, path) {
        (Some(text), _) => {
            let main = SourceText { path: TEXT.to_owned(), bytes: text.into_bytes() };
            parse(main, &mut |name: &str, _: &str| included(name, &include), options)
        }
        (None, Some(path)) => load_idl(&path, &include, options),
        (None, None) => Err(Error::new(ErrorKind::Argument, "expected IDL, found none")),
    });
    object(py, &raised(py, document)?.described("py"))
}

/// A file that a text includes.
fn included(name: &str, folders: &[PathBuf]) -> bytewright::Result<SourceText> {
    for folder in folders {
        let path = folder.join(name);
        if let Some(file) = WholeFile::read(&path, TEXT_LEN_MAX)? {
            let path = path.to_string_lossy().into_owned();
            return Ok(SourceText { path, bytes: file.bytes });
        }
    }
    let message = format!("expected {} in a folder of include, found none", excerpt(name));
    Err(Error::new(ErrorKind::Argument, message))
}

/// A description of the core's, with lists as tuples.
fn object<'py>(py: Python<'py>, described: &Described<'_>) -> PyResult<Bound<'py, PyAny>> {
    match described {
        Described::Fact(fact) => values::object(py, *fact),
        Described::Word(word) => Ok(PyString::intern(py, word).into_any()),
        Described::List(parts) => {
            let parts = parts.iter().map(|part| object(py, part)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, parts)?.into_any())
        }
    }
}
