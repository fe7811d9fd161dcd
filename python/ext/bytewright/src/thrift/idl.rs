//! Content of IDL, as tuples and dicts of which `python/bytewright` makes classes.

use std::path::PathBuf;

use bytewright::ask::load_idl;
use bytewright::bytes::WholeFile;
use bytewright::error::excerpt;
use bytewright::thrift::idl::{
    Document, IdlOptions, Origin, SourceText, TEXT_LEN_MAX, Value as IdlValue, parse,
};
use bytewright::thrift::{Requiredness, StructKind, Type, WireType};
use bytewright::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::error::{guarded, raised};

/// The number by which descriptions tell binary from strings.
const BINARY: u8 = 111;

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
) -> PyResult<Bound<'py, PyDict>> {
    let options = IdlOptions::default();
    let document = guarded(|| match (text, path) {
        (Some(text), _) => {
            let main = SourceText { path: TEXT.to_owned(), bytes: text.into_bytes() };
            parse(main, &mut |name: &str, _: &str| included(name, &include), options)
        }
        (None, Some(path)) => load_idl(&path, &include, options),
        (None, None) => Err(Error::new(ErrorKind::Argument, "expected IDL, found none")),
    });
    described(py, &raised(py, document)?)
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

fn described<'py>(py: Python<'py>, document: &Document) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("programs", programs(py, document)?)?;
    all.set_item("enums", enums(py, document)?)?;
    all.set_item("structs", structs(py, document)?)?;
    Ok(all)
}

/// Of each file its path, its name, its namespace in Python or None, the numbers of those it includes, and its constants'
/// names, types and values.
fn programs<'py>(py: Python<'py>, document: &Document) -> PyResult<Bound<'py, PyList>> {
    let programs = PyList::empty(py);
    for program in &document.programs {
        let consts = PyList::empty(py);
        for constant in &program.consts {
            let value = value(py, &constant.value)?;
            consts.append((&constant.name, described_type(py, &constant.value_type)?, value))?;
        }
        let includes: Vec<u32> = program.includes.iter().map(|id| id.0).collect();
        let (path, name, namespace) = (&program.path, &program.name, program.namespace("py"));
        programs.append((path, name, namespace, includes, consts))?;
    }
    Ok(programs)
}

/// Of each enum the number of its file, its name, and names and numbers.
fn enums<'py>(py: Python<'py>, document: &Document) -> PyResult<Bound<'py, PyList>> {
    let enums = PyList::empty(py);
    for (defined, definition) in document.schema.enums().iter().zip(&document.enums) {
        enums.append((definition.program.0, &defined.name, defined.values.clone()))?;
    }
    Ok(enums)
}

/// Of each struct the number of its file, its name, its kind, whether it is written as such, and fields.
fn structs<'py>(py: Python<'py>, document: &Document) -> PyResult<Bound<'py, PyList>> {
    let structs = PyList::empty(py);
    for (defined, definition) in document.schema.structs().iter().zip(&document.structs) {
        let fields = PyList::empty(py);
        for (field, more) in defined.fields.iter().zip(&definition.fields) {
            let default = more.default.as_ref().map(|default| value(py, default)).transpose()?;
            let is_required = field.requiredness == Requiredness::Required;
            let value_type = described_type(py, &field.value_type)?;
            fields.append((field.id, &field.name, value_type, is_required, default))?;
        }
        let kind = match defined.kind {
            StructKind::Struct => "struct",
            StructKind::Union => "union",
            StructKind::Exception => "exception",
        };
        let is_declared = definition.origin == Origin::Declared;
        structs.append((definition.program.0, &defined.name, kind, is_declared, fields))?;
    }
    Ok(structs)
}

/// A tuple of the type's number in Binary, and the types inside or the number of an enum or a struct.
fn described_type<'py>(py: Python<'py>, value_type: &Type) -> PyResult<Bound<'py, PyTuple>> {
    let number = match value_type {
        Type::Binary => BINARY,
        other => WireType::of(other).number(),
    };
    match value_type {
        Type::Enum(id) => (number, id.0).into_pyobject(py),
        Type::Struct(id) => (number, id.0).into_pyobject(py),
        Type::List(element) | Type::Set(element) => {
            (number, described_type(py, element)?).into_pyobject(py)
        }
        Type::Map(key, element) => {
            let (key, element) = (described_type(py, key)?, described_type(py, element)?);
            (number, key, element).into_pyobject(py)
        }
        _ => (number,).into_pyobject(py),
    }
}

/// A value, which its type says how to take: of a list or a set a list, of a map a list of pairs, of a struct a list of
/// numbers of fields with values.
fn value<'py>(py: Python<'py>, given: &IdlValue) -> PyResult<Bound<'py, PyAny>> {
    let all = |given: &[IdlValue]| -> PyResult<Bound<'py, PyAny>> {
        let values = given.iter().map(|element| value(py, element));
        Ok(PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any())
    };
    Ok(match given {
        IdlValue::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        IdlValue::Int(number) => number.into_pyobject(py)?.into_any(),
        IdlValue::Double(number) => number.into_pyobject(py)?.into_any(),
        IdlValue::String(text) => text.into_pyobject(py)?.into_any(),
        IdlValue::List(elements) | IdlValue::Set(elements) => all(elements)?,
        IdlValue::Map(entries) => {
            let pairs =
                entries.iter().map(|(key, element)| Ok((value(py, key)?, value(py, element)?)));
            PyList::new(py, pairs.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        IdlValue::Struct(_, fields) => {
            let pairs = fields.iter().map(|(number, element)| Ok((*number, value(py, element)?)));
            PyList::new(py, pairs.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
    })
}
