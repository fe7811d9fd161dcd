//! Binary output: the object with its methods.

use std::path::{Path, PathBuf};

use bytewright::error::excerpt;
use bytewright::files::FileWriter;
use bytewright::host::{self, GATHERED_MAX};
use bytewright::wire::{U24, VARINT_LEN_MAX, to_zigzag, write_varint};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::border::Locked;
use crate::error::{argument, guarded, guarded_python, or_worded, raised};
use crate::reader::whence_of;
use crate::shown::{class_name, shown};
use crate::stream_host::{FileObject, Sharing};
use crate::turn::{Strand, TurnLock};

/// Base of `bytewright.Writer`.
#[pyclass(frozen, subclass, weakref, module = "bytewright._bytewright")]
pub(crate) struct Writer {
    writer: Locked<host::HostWriter<Strand>>,
    lock: TurnLock,
    /// Destination of the bytes, if it is an object of Python's.
    file: Option<FileObject>,
    /// True if it takes the place of another file when it is closed.
    replaces: bool,
}

impl Writer {
    fn host(&self) -> Sharing<'_> {
        Sharing { lock: &self.lock, file: self.file.as_ref() }
    }

    fn operate<R>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&host::HostWriter<Strand>, &Sharing<'_>) -> PyResult<R> + Send,
    ) -> PyResult<R> {
        let host = self.host();
        self.writer.with(py, |py, writer| guarded_python(py, || work(writer, &host)))
    }

    /// Puts the bytes of a value.
    #[inline]
    fn put(&self, py: Python<'_>, value: &[u8]) -> PyResult<()> {
        match self.writer.with(py, |_, writer| writer.try_put(value)) {
            true => Ok(()),
            false => self.operate(py, |writer, host| writer.put(host, value)),
        }
    }

    fn put_varint(&self, py: Python<'_>, number: u64) -> PyResult<()> {
        let mut encoded = [0; VARINT_LEN_MAX];
        let len = write_varint(&mut encoded, number);
        self.put(py, encoded.get(..len).unwrap_or_default())
    }

    fn put_all(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<usize> {
        for piece in bytes.chunks(GATHERED_MAX) {
            self.put(py, piece)?;
        }
        Ok(bytes.len())
    }
}

/// A whole number that has to fit into what `method` writes.
fn integer<T: TryFrom<i128>>(number: &Bound<'_, PyAny>, method: &str) -> PyResult<T> {
    let fits = match number.extract::<i64>() {
        Ok(number) => T::try_from(number.into()).ok(),
        // It is an integer, also one of numpy's, and needs more bits.
        Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => {
            match number.extract::<u64>() {
                Ok(number) => T::try_from(number.into()).ok(),
                Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => None,
                Err(error) => return Err(error),
            }
        }
        Err(error) => return Err(error),
    };
    fits.ok_or_else(|| does_not_fit(number, method))
}

/// A float of 4 bytes: the nearest one. One that is too large for it would become infinite.
fn single(number: &Bound<'_, PyAny>, method: &str) -> PyResult<f32> {
    let given: f64 = number.extract()?;
    let nearest = given as f32;
    match nearest.is_infinite() && given.is_finite() {
        true => Err(does_not_fit(number, method)),
        false => Ok(nearest),
    }
}

fn u24(number: &Bound<'_, PyAny>, method: &str) -> PyResult<U24> {
    U24::new(integer::<u32>(number, method)?).ok_or_else(|| does_not_fit(number, method))
}

/// Returns the data to write as bytes that nobody changes: a copy if it is not bytes itself.
pub(crate) fn bytes_written<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    let view = PyMemoryView::from(data).map_err(|error| {
        or_worded::<PyTypeError>(data.py(), error, || {
            let class = class_name(data);
            PyTypeError::new_err(format!(
                "expected bytes, found {class}; encode it, or use struct.pack"
            ))
        })
    })?;
    let copied = view.call_method0("tobytes")?.cast_into::<PyBytes>()?;
    view.call_method0("release")?;
    Ok(copied)
}

#[cold]
fn does_not_fit(number: &Bound<'_, PyAny>, method: &str) -> PyErr {
    match shown(number) {
        Ok(found) => PyOverflowError::new_err(format!(
            "expected a number that fits into {method}, found {found}"
        )),
        Err(error) => error,
    }
}

#[pymethods]
impl Writer {
    /// Of a path, with `mode` "write", "append" or "replace", or to a file object, which was at `origin` if it can be told to
    /// go elsewhere.
    #[new]
    #[pyo3(signature = (name, *, path = None, mode = "write", object = None, origin = None))]
    fn open(
        py: Python<'_>,
        name: &str,
        path: Option<PathBuf>,
        mode: &str,
        object: Option<Py<PyAny>>,
        origin: Option<u64>,
    ) -> PyResult<Writer> {
        let open: fn(&Path) -> bytewright::Result<FileWriter> = match mode {
            "write" => FileWriter::open,
            "append" => FileWriter::append,
            "replace" => FileWriter::replace,
            other => {
                return Err(argument(py, format!("expected a mode, found {:?}", excerpt(other))));
            }
        };
        let writer = match path {
            Some(path) => {
                let file = py.detach(|| guarded(|| open(&path)));
                host::HostWriter::of_file(raised(py, file)?)
            }
            None => host::HostWriter::of_object(origin, name),
        };
        let file = object.map(|object| FileObject { object, read: String::new() });
        let (lock, replaces) = (TurnLock::new(py)?, mode == "replace");
        Ok(Writer { writer: Locked::new(writer), lock, file, replaces })
    }

    /// The path, or what stands for it.
    #[getter]
    fn name(&self, py: Python<'_>) -> String {
        self.writer.with(py, |_, writer| writer.name().to_owned())
    }

    /// True after it was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.writer.with(py, |_, writer| writer.is_closed())
    }

    /// True if it takes the place of another file when it is closed.
    #[getter(_replaces)]
    fn replaces(&self) -> bool {
        self.replaces
    }

    /// Writes bytes, or what has the buffer protocol, and returns how many.
    #[pyo3(signature = (data, /))]
    fn write(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.put_all(py, bytes_written(data)?.as_bytes())
    }

    /// A byte.
    fn u8(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<u8>(number, "u8")?.to_le_bytes())
    }

    /// A signed number of one byte.
    fn i8(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<i8>(number, "i8")?.to_le_bytes())
    }

    /// A number of 2 bytes, least significant first.
    fn u16le(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<u16>(number, "u16le")?.to_le_bytes())
    }

    /// A number of 2 bytes, most significant first.
    fn u16be(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<u16>(number, "u16be")?.to_be_bytes())
    }

    /// A number of 4 bytes, least significant first.
    fn u32le(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<u32>(number, "u32le")?.to_le_bytes())
    }

    /// A number of 4 bytes, most significant first.
    fn u32be(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<u32>(number, "u32be")?.to_be_bytes())
    }

    /// A number of 8 bytes, least significant first.
    fn u64le(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<u64>(number, "u64le")?.to_le_bytes())
    }

    /// A number of 8 bytes, most significant first.
    fn u64be(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<u64>(number, "u64be")?.to_be_bytes())
    }

    /// A signed number of 2 bytes, least significant first.
    fn i16le(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<i16>(number, "i16le")?.to_le_bytes())
    }

    /// A signed number of 2 bytes, most significant first.
    fn i16be(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<i16>(number, "i16be")?.to_be_bytes())
    }

    /// A signed number of 4 bytes, least significant first.
    fn i32le(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<i32>(number, "i32le")?.to_le_bytes())
    }

    /// A signed number of 4 bytes, most significant first.
    fn i32be(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<i32>(number, "i32be")?.to_be_bytes())
    }

    /// A signed number of 8 bytes, least significant first.
    fn i64le(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<i64>(number, "i64le")?.to_le_bytes())
    }

    /// A signed number of 8 bytes, most significant first.
    fn i64be(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &integer::<i64>(number, "i64be")?.to_be_bytes())
    }

    /// A number of 3 bytes, least significant first.
    fn u24le(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &u24(number, "u24le")?.to_le_bytes())
    }

    /// A number of 3 bytes, most significant first.
    fn u24be(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &u24(number, "u24be")?.to_be_bytes())
    }

    /// A float of 4 bytes, least significant first.
    fn f32le(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &single(number, "f32le")?.to_le_bytes())
    }

    /// A float of 4 bytes, most significant first.
    fn f32be(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &single(number, "f32be")?.to_be_bytes())
    }

    /// A float of 8 bytes, least significant first.
    fn f64le(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &number.extract::<f64>()?.to_le_bytes())
    }

    /// A float of 8 bytes, most significant first.
    fn f64be(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, &number.extract::<f64>()?.to_be_bytes())
    }

    /// An unsigned number of seven bits to a byte, the low ones first (LEB128).
    fn varint(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put_varint(py, integer(number, "varint")?)
    }

    /// A signed number of that form, as protocol buffers have it: 0, -1, 1, -2.
    fn zigzag(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put_varint(py, to_zigzag(integer(number, "zigzag")?))
    }

    /// Returns the position of the next byte.
    fn tell(&self, py: Python<'_>) -> PyResult<u64> {
        self.operate(py, |writer, host| writer.position(host))
    }

    /// Writes what is gathered, goes to a place from which on the next bytes are written, and returns where that is: `offset`
    /// bytes from the beginning (`whence` 0), from here (1) or from the end (2). Where it appends, what is written goes to the
    /// end all the same.
    ///
    /// Raises `OSError` (`ESPIPE`) in a pipe, and (`EINVAL`) for a place before the beginning.
    #[pyo3(signature = (offset, whence = 0, /))]
    fn seek(&self, py: Python<'_>, offset: i64, whence: i32) -> PyResult<u64> {
        let whence = whence_of(py, whence)?;
        self.operate(py, |writer, host| {
            writer.go(host, whence, offset)?;
            writer.position(host)
        })
    }

    /// Hands all that is gathered to the system, or to the object; with `sync`, returns when it will survive a power cut.
    #[pyo3(name = "_flush")]
    fn flush(&self, py: Python<'_>, sync: bool) -> PyResult<()> {
        self.operate(py, |writer, host| writer.flush(host, sync))
    }

    /// Flushes it, and closes it if that works. A file that replaces another takes its place.
    #[pyo3(name = "_finish")]
    fn finish(&self, py: Python<'_>, sync: bool) -> PyResult<()> {
        self.operate(py, |writer, host| match self.replaces {
            true if writer.is_closed() => Ok(()),
            true => writer.finish_replacement(host),
            false => writer.close(host, sync),
        })
    }

    /// Closes it, and drops what is gathered still, and a file that did not become whole.
    #[pyo3(name = "_abandon")]
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        self.operate(py, |writer, host| writer.abandon(host))
    }
}
