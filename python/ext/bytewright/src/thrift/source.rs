//! Sources of messages that follow each other: bytes, a file, or an object with `read`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytewright::bytes::{ByteStream, CompressionChoice, FileSource, StreamOptions};
use bytewright::files::FileId;
use bytewright::host::MessageSource;
use bytewright::thrift::MessageLayout;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyString};

use super::{copied, layout_named};
use crate::border::descriptor_of;
use crate::error::{or_worded, raised};
use crate::shown::class_name;

/// Source of messages as a program names it.
pub(super) enum Origin {
    Bytes(Arc<PyBackedBytes>),
    Path(PathBuf),
    /// An object with `read`, and the descriptor that it reads from, if it has one.
    Object(Py<PyAny>, Option<i32>),
}

/// A source while it is read.
pub(super) struct Input {
    pub(super) messages: MessageSource,
    /// Source of the bytes, if it is an object.
    pub(super) object: Option<Py<PyAny>>,
}

impl Origin {
    pub(super) fn of(source: &Bound<'_, PyAny>) -> PyResult<Origin> {
        if source.is_instance_of::<PyString>() || source.hasattr("__fspath__")? {
            return Ok(Origin::Path(source.extract()?));
        }
        if source.hasattr("read")? {
            let descriptor = descriptor_of(source)?;
            return Ok(Origin::Object(reading_what_is_there(source)?.unbind(), descriptor));
        }
        match copied_if_changing(source) {
            Ok(bytes) => Ok(Origin::Bytes(Arc::new(bytes))),
            Err(error) => Err(or_worded::<PyTypeError>(source.py(), error, || {
                let class = class_name(source);
                PyTypeError::new_err(format!(
                    "expected bytes, a path, or a binary file object, found {class}"
                ))
            })),
        }
    }

    /// Returns its name in errors.
    pub(super) fn name(&self) -> String {
        match self {
            Origin::Bytes(_) => "bytes".to_owned(),
            Origin::Path(path) => path.display().to_string(),
            Origin::Object(..) => "a file object".to_owned(),
        }
    }

    /// The file that it is, if it is one.
    pub(super) fn file(&self) -> Option<FileId> {
        match self {
            Origin::Path(path) => FileId::at(path).ok(),
            Origin::Object(_, Some(descriptor)) => {
                FileId::at(Path::new(&format!("/dev/fd/{descriptor}"))).ok()
            }
            Origin::Bytes(_) | Origin::Object(_, None) => None,
        }
    }

    /// The source, from its beginning on; an object, from where it is.
    pub(super) fn open(&self, py: Python<'_>) -> PyResult<Input> {
        let fed = || MessageSource::of_host(&self.name(), &options());
        let (messages, object) = match self {
            Origin::Bytes(bytes) => {
                (MessageSource::of_bytes(Arc::<PyBackedBytes>::clone(bytes)), None)
            }
            Origin::Object(object, _) => (fed(), Some(object.clone_ref(py))),
            Origin::Path(path) => {
                let source = raised(
                    py,
                    FileSource::open(path).map_err(|error| error.in_file(&self.name())),
                )?;
                if source.is_regular() {
                    let stream = ByteStream::unread(Box::new(source), &self.name(), &options());
                    (MessageSource::of_stream(stream), None)
                } else {
                    // Python's own reading of a pipe can be interrupted.
                    drop(source);
                    let file = py.import("io")?.call_method1("open", (path, "rb", 0))?;
                    (fed(), Some(file.unbind()))
                }
            }
        };
        Ok(Input { messages, object })
    }
}

/// An object whose `read` gives what is there: that of a buffered pipe waits for all that it is asked for.
fn reading_what_is_there<'py>(source: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = source.py();
    if !source.is_instance(&py.import("io")?.getattr("BufferedReader")?)? {
        return Ok(source.clone());
    }
    let methods = PyDict::new(py);
    methods.set_item("read", source.getattr("read1")?)?;
    py.import("types")?.getattr("SimpleNamespace")?.call((), Some(&methods))
}

/// The bytes of a buffer, which are a copy where the buffer may change.
fn copied_if_changing(source: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    match source.extract::<PyBackedBytes>() {
        Ok(bytes) => Ok(bytes),
        Err(_) => Ok(copied(source)?.extract::<PyBackedBytes>()?),
    }
}

fn options() -> StreamOptions {
    let mut options = StreamOptions::default();
    options.compression = CompressionChoice::AutoElseNone;
    options
}

/// Makes the layout of messages in their source, of what Python says of them.
pub(super) fn layout_of(
    py: Python<'_>,
    protocol: &str,
    is_framed: bool,
) -> PyResult<MessageLayout> {
    let layout = MessageLayout { is_framed, ..layout_named(py, protocol)? };
    raised(py, layout.checked())
}
