//! Where messages come from that follow each other: bytes, a file, or an object with `read`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytewright::session::Host;
use bytewright::stream::{ByteStream, CompressionChoice, Feed, FileSource, Fill, StreamOptions};
use bytewright::thrift::{Encoding, Frames, Limits, ProtocolError, ProtocolErrorKind};
use bytewright::{Error, ErrorKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyString};

use super::copied;
use crate::error::{guarded, raised};

/// Bytes that an object is asked for at once.
const PIECE: usize = 64 << 10;

/// What a program names as the source of messages.
pub(super) enum Origin {
    Bytes(Arc<PyBackedBytes>),
    Path(PathBuf),
    Object(Py<PyAny>),
}

/// How messages lie in their source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) encoding: Encoding,
    pub(super) is_framed: bool,
}

/// A source while it is read.
pub(super) struct Input {
    bytes: Bytes,
    /// What the bytes come from, if it is an object.
    pub(super) object: Option<Py<PyAny>>,
}

enum Bytes {
    Given(Arc<PyBackedBytes>, usize),
    Stream(Box<ByteStream>, Option<Feed>),
}

impl Origin {
    pub(super) fn of(source: &Bound<'_, PyAny>) -> PyResult<Origin> {
        if source.is_instance_of::<PyString>() || source.hasattr("__fspath__")? {
            return Ok(Origin::Path(source.extract()?));
        }
        if source.hasattr("read")? {
            return Ok(Origin::Object(reading_what_is_there(source)?.unbind()));
        }
        match copied_if_changing(source) {
            Ok(bytes) => Ok(Origin::Bytes(Arc::new(bytes))),
            Err(_) => {
                let class = source.get_type().name()?;
                Err(PyTypeError::new_err(format!(
                    "expected bytes, a path, or a binary file object, found {class}"
                )))
            }
        }
    }

    /// What errors call it.
    pub(super) fn name(&self) -> String {
        match self {
            Origin::Bytes(_) => "bytes".to_owned(),
            Origin::Path(path) => path.display().to_string(),
            Origin::Object(_) => "a file object".to_owned(),
        }
    }

    /// The source, from its beginning on; an object, from where it is.
    pub(super) fn open(&self, py: Python<'_>) -> PyResult<Input> {
        let (bytes, object) = match self {
            Origin::Bytes(bytes) => (Bytes::Given(Arc::clone(bytes), 0), None),
            Origin::Object(object) => (fed(&self.name()), Some(object.clone_ref(py))),
            Origin::Path(path) => {
                let source = raised(
                    py,
                    FileSource::open(path).map_err(|error| error.in_file(&self.name())),
                )?;
                if source.is_regular() {
                    let stream = ByteStream::unread(Box::new(source), &self.name(), &options());
                    (Bytes::Stream(Box::new(stream), None), None)
                } else {
                    // Python's own reading of a pipe can be interrupted.
                    drop(source);
                    let file = py.import("io")?.call_method1("open", (path, "rb", 0))?;
                    (fed(&self.name()), Some(file.unbind()))
                }
            }
        };
        Ok(Input { bytes, object })
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

fn fed(name: &str) -> Bytes {
    let feed = Feed::new(false);
    let stream = ByteStream::unread(Box::new(feed.source()), name, &options());
    Bytes::Stream(Box::new(stream), Some(feed))
}

fn options() -> StreamOptions {
    let mut options = StreamOptions::default();
    options.compression = CompressionChoice::AutoElseNone;
    options
}

impl Input {
    /// The bytes that are there and not consumed, and where they begin in the input.
    #[inline]
    pub(super) fn buffered(&self) -> (&[u8], u64) {
        match &self.bytes {
            Bytes::Given(bytes, at) => (bytes.get(*at..).unwrap_or_default(), *at as u64),
            Bytes::Stream(stream, _) => (stream.buffered(), stream.position()),
        }
    }

    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        match &mut self.bytes {
            Bytes::Given(bytes, at) => *at = (*at + count).min(bytes.len()),
            Bytes::Stream(stream, _) => stream.consume(count),
        }
    }

    /// Makes at least so many bytes buffered. Answers whether they are; else the input ends with what is.
    pub(super) fn fill<H: Host>(&mut self, host: &H, at_least: usize) -> Result<bool, H::Error> {
        match &mut self.bytes {
            Bytes::Given(bytes, at) => Ok(bytes.len() - *at >= at_least),
            Bytes::Stream(stream, None) => {
                let stream = Mutex::new(stream);
                let fill = || {
                    let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                    guarded(|| stream.fill(at_least).map(|bytes| bytes.len() >= at_least))
                };
                match host.wait(&fill, &|| ())? {
                    Some(filled) => filled.map_err(|error| host.error(error)),
                    None => host.check_interrupts().map(|()| true),
                }
            }
            Bytes::Stream(stream, Some(feed)) => loop {
                match guarded(|| stream.try_fill(at_least)).map_err(|error| host.error(error))? {
                    Fill::Ready => return Ok(true),
                    Fill::Ended => return Ok(false),
                    Fill::WouldWait => match host.read(PIECE)? {
                        bytes if bytes.is_empty() => feed.end(),
                        bytes => feed.push(&bytes),
                    },
                }
            },
        }
    }

    /// An error of a message, with the file.
    #[cold]
    pub(super) fn placed(&self, error: &Error) -> Error {
        match &self.bytes {
            Bytes::Given(..) => error.clone(),
            Bytes::Stream(stream, _) => error.clone().in_file(stream.name()),
        }
    }
}

impl Row {
    /// The messages in bytes, which begin at `start` of the input.
    #[inline]
    pub(super) fn frames(self, bytes: &[u8], start: u64) -> Frames<'_> {
        match self.is_framed {
            true => Frames::new(bytes, start),
            false => Frames::unframed(bytes, start, self.encoding, Limits::default()),
        }
    }
}

/// How many bytes more than those there a message has at least, if that is all that is wrong.
pub(super) fn missing(error: &ProtocolError) -> Option<usize> {
    match error.error().kind() {
        ErrorKind::Truncated { needed, available }
            if error.kind() == ProtocolErrorKind::Truncated =>
        {
            Some(needed.saturating_sub(available).max(1) as usize)
        }
        _ => None,
    }
}
