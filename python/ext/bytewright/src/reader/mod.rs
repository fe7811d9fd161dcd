//! Binary input: the object with its methods. `records.rs` takes records apart, `bytes.rs` reads long bytes.

mod bytes;
mod records;

use std::os::fd::RawFd;
use std::path::PathBuf;

use bytewright::Error;
use bytewright::bytes::{FileSource, Search};
use bytewright::host::{self, Operation, ReaderOptions, Whence};
use bytewright::options::NamedOptions;
use bytewright::wire::from_zigzag;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

pub(crate) use records::RecordIterator;
use records::Templates;

use crate::border::{Locked, duplicate};
use crate::capture::Batch;
use crate::error::{argument, guarded, guarded_python, raised};
use crate::options::settings;
use crate::stream_host::{FileObject, Sharing};
use crate::turn::{Strand, TurnLock};

/// Base of `bytewright.Reader`.
#[pyclass(frozen, subclass, weakref, module = "bytewright._bytewright")]
pub(crate) struct Reader {
    reader: Locked<host::HostReader<Strand>>,
    lock: TurnLock,
    /// Source of the bytes, if it is an object of Python's.
    file: Option<FileObject>,
    templates: Templates,
}

impl Reader {
    fn new(
        py: Python<'_>,
        reader: host::HostReader<Strand>,
        file: Option<FileObject>,
    ) -> PyResult<Reader> {
        let (lock, templates) = (TurnLock::new(py)?, Templates::default());
        Ok(Reader { reader: Locked::new(reader), lock, file, templates })
    }

    fn host(&self) -> Sharing<'_> {
        Sharing { lock: &self.lock, file: self.file.as_ref() }
    }

    /// Does `work` when no other operation goes on.
    fn operate<'py, R>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(Python<'py>, &Operation<'_, Sharing<'_>>) -> PyResult<R> + Send,
    ) -> PyResult<R> {
        let host = self.host();
        self.reader.with(py, |py, reader| guarded_python(py, || work(py, &reader.begin(&host)?)))
    }

    /// Takes the bytes of a value that errors call `what`.
    #[inline]
    fn array<const N: usize>(&self, py: Python<'_>, what: &str) -> PyResult<[u8; N]> {
        match self.reader.with(py, |_, reader| reader.take_array()) {
            Some(buffered) => Ok(buffered),
            None => self.operate(py, |_, operation| operation.array(what)),
        }
    }
}

fn u24_le([a, b, c]: [u8; 3]) -> u32 {
    u32::from_le_bytes([a, b, c, 0])
}

fn u24_be([a, b, c]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, a, b, c])
}

/// Input of a reader: a path, a regular file that is open, or else a file object.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct OpenedInput {
    /// Its name in errors.
    name: String,
    #[pyo3(default)]
    path: Option<PathBuf>,
    #[pyo3(default)]
    descriptor: Option<RawFd>,
    /// Place in the open file that is the beginning.
    #[pyo3(default)]
    offset: u64,
    #[pyo3(default)]
    object: Option<Py<PyAny>>,
    /// The object's method that gives some bytes.
    #[pyo3(default = "read".to_owned())]
    read: String,
    /// The object's position, if it can be told to go elsewhere.
    #[pyo3(default)]
    origin: Option<u64>,
}

/// Returns the meaning of `os.SEEK_SET`, `os.SEEK_CUR` or `os.SEEK_END`.
pub(crate) fn whence_of(py: Python<'_>, number: i32) -> PyResult<Whence> {
    match number {
        0 => Ok(Whence::Beginning),
        1 => Ok(Whence::Here),
        2 => Ok(Whence::End),
        other => Err(argument(py, format!("expected whence to be 0, 1 or 2, found {other}"))),
    }
}

#[pymethods]
impl Reader {
    /// Of what `opened` says, with the core's options of readers.
    #[new]
    #[pyo3(signature = (opened, /, **options))]
    fn open(
        py: Python<'_>,
        opened: OpenedInput,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Reader> {
        let settings = settings(py, &[ReaderOptions::OPTIONS], options)?;
        let options: ReaderOptions = raised(py, settings.take())?;
        let OpenedInput { name, path, descriptor, offset, object, read, origin } = opened;
        if let Some(path) = path {
            let source = raised(py, py.detach(|| guarded(|| FileSource::open(&path))))?;
            return Reader::new(py, host::HostReader::of_file(source, &name, options), None);
        }
        if let Some(number) = descriptor {
            let copied = duplicate(py, number).map_err(|error| Error::io("duplicate", &error));
            let source = raised(py, copied.and_then(FileSource::from_fd))?.from_offset(offset);
            return Reader::new(py, host::HostReader::of_file(source, &name, options), None);
        }
        let file = object.map(|object| FileObject { object, read });
        Reader::new(py, host::HostReader::of_object(origin, &name, options), file)
    }

    /// The path, or what stands for it.
    #[getter]
    fn name(&self, py: Python<'_>) -> String {
        self.reader.with(py, |_, reader| reader.name().to_owned())
    }

    /// True after it was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.reader.with(py, |_, reader| reader.is_closed())
    }

    /// Closes the file; a file object that was given stays open.
    ///
    /// Raises `LockError` while this very thread reads: in a signal handler.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.reader.with(py, |_, reader| reader.close(&self.host()))
    }

    /// The next byte as a number.
    fn u8(&self, py: Python<'_>) -> PyResult<u8> {
        self.array(py, "a u8").map(|[byte]| byte)
    }

    /// The next byte as a signed number.
    fn i8(&self, py: Python<'_>) -> PyResult<i8> {
        self.array(py, "a i8").map(i8::from_le_bytes)
    }

    /// The next number of 2 bytes, least significant first.
    fn u16le(&self, py: Python<'_>) -> PyResult<u16> {
        self.array(py, "a u16").map(u16::from_le_bytes)
    }

    /// The next number of 2 bytes, most significant first.
    fn u16be(&self, py: Python<'_>) -> PyResult<u16> {
        self.array(py, "a u16").map(u16::from_be_bytes)
    }

    /// The next number of 4 bytes, least significant first.
    fn u32le(&self, py: Python<'_>) -> PyResult<u32> {
        self.array(py, "a u32").map(u32::from_le_bytes)
    }

    /// The next number of 4 bytes, most significant first.
    fn u32be(&self, py: Python<'_>) -> PyResult<u32> {
        self.array(py, "a u32").map(u32::from_be_bytes)
    }

    /// The next number of 8 bytes, least significant first.
    fn u64le(&self, py: Python<'_>) -> PyResult<u64> {
        self.array(py, "a u64").map(u64::from_le_bytes)
    }

    /// The next number of 8 bytes, most significant first.
    fn u64be(&self, py: Python<'_>) -> PyResult<u64> {
        self.array(py, "a u64").map(u64::from_be_bytes)
    }

    /// The next signed number of 2 bytes, least significant first.
    fn i16le(&self, py: Python<'_>) -> PyResult<i16> {
        self.array(py, "a i16").map(i16::from_le_bytes)
    }

    /// The next signed number of 2 bytes, most significant first.
    fn i16be(&self, py: Python<'_>) -> PyResult<i16> {
        self.array(py, "a i16").map(i16::from_be_bytes)
    }

    /// The next signed number of 4 bytes, least significant first.
    fn i32le(&self, py: Python<'_>) -> PyResult<i32> {
        self.array(py, "a i32").map(i32::from_le_bytes)
    }

    /// The next signed number of 4 bytes, most significant first.
    fn i32be(&self, py: Python<'_>) -> PyResult<i32> {
        self.array(py, "a i32").map(i32::from_be_bytes)
    }

    /// The next signed number of 8 bytes, least significant first.
    fn i64le(&self, py: Python<'_>) -> PyResult<i64> {
        self.array(py, "a i64").map(i64::from_le_bytes)
    }

    /// The next signed number of 8 bytes, most significant first.
    fn i64be(&self, py: Python<'_>) -> PyResult<i64> {
        self.array(py, "a i64").map(i64::from_be_bytes)
    }

    /// The next number of 3 bytes, least significant first.
    fn u24le(&self, py: Python<'_>) -> PyResult<u32> {
        self.array(py, "a u24").map(u24_le)
    }

    /// The next number of 3 bytes, most significant first.
    fn u24be(&self, py: Python<'_>) -> PyResult<u32> {
        self.array(py, "a u24").map(u24_be)
    }

    /// The next float of 4 bytes, least significant first.
    fn f32le(&self, py: Python<'_>) -> PyResult<f32> {
        self.array(py, "a f32").map(f32::from_le_bytes)
    }

    /// The next float of 4 bytes, most significant first.
    fn f32be(&self, py: Python<'_>) -> PyResult<f32> {
        self.array(py, "a f32").map(f32::from_be_bytes)
    }

    /// The next float of 8 bytes, least significant first.
    fn f64le(&self, py: Python<'_>) -> PyResult<f64> {
        self.array(py, "a f64").map(f64::from_le_bytes)
    }

    /// The next float of 8 bytes, most significant first.
    fn f64be(&self, py: Python<'_>) -> PyResult<f64> {
        self.array(py, "a f64").map(f64::from_be_bytes)
    }

    /// The next unsigned number of seven bits to a byte, the low ones first (LEB128), of at most 64 bits.
    fn varint(&self, py: Python<'_>) -> PyResult<u64> {
        self.operate(py, |_, operation| operation.varint())
    }

    /// The next signed number of that form, as protocol buffers have it: 0, -1, 1, -2.
    fn zigzag(&self, py: Python<'_>) -> PyResult<i64> {
        self.operate(py, |_, operation| operation.varint()).map(from_zigzag)
    }

    /// Up to `size` bytes, fewer only where the input ends, and none at its end; all that is left where it is negative or
    /// None.
    #[pyo3(signature = (size = None, /))]
    fn read<'py>(&self, py: Python<'py>, size: Option<isize>) -> PyResult<Bound<'py, PyBytes>> {
        let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
        self.operate(py, |py, operation| bytes::read(py, operation, size))
    }

    /// Puts bytes into a buffer that can be written to, such as a bytearray, a memoryview or an array of numpy, until it
    /// is full or the input ends; returns how many. The buffer cannot change its length meanwhile.
    fn readinto(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let buffer = buffer.as_unbound();
        self.operate(py, |py, operation| bytes::read_into(operation, buffer.bind(py)))
    }

    /// Bytes that stay where they are: up to `size`, fewer only where the input ends.
    #[pyo3(signature = (size, /))]
    fn peek<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyBytes>> {
        self.operate(py, |py, operation| {
            let there = operation.want(size)?;
            operation.take(there, 0, |bytes| Ok(PyBytes::new(py, bytes)))
        })
    }

    /// Passes over bytes, and returns how many there were. A long way in a file is not read.
    #[pyo3(signature = (size, /))]
    fn skip(&self, py: Python<'_>, size: u64) -> PyResult<u64> {
        self.operate(py, |_, operation| operation.skip(size))
    }

    /// The values of the next record as a tuple. The template is letters, each with a count or the order of its bytes (<, >)
    /// behind it: C c S s L l Q q J j n N v V are numbers, e E g G f F d D floats, a A Z bytes, x nothing.
    ///
    /// Raises `TruncatedError` where the input ends before the record does.
    fn unpack<'py>(&self, py: Python<'py>, template: &str) -> PyResult<Bound<'py, PyAny>> {
        let template = self.templates.get(py, template)?;
        self.operate(py, |py, operation| records::one(py, operation, self, &template))
    }

    /// Up to `count` records as a list of tuples; all that are left where it is None.
    #[pyo3(name = "_unpack_tuples", signature = (template, count = None))]
    fn unpack_tuples<'py>(
        &self,
        py: Python<'py>,
        template: &str,
        count: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let template = self.templates.get(py, template)?;
        self.operate(py, |py, operation| records::tuples(py, operation, &template, count))
    }

    /// Reads them as columns that are called `names`.
    #[pyo3(name = "_unpack_columns", signature = (template, names, count = None))]
    fn unpack_columns(
        &self,
        py: Python<'_>,
        template: &str,
        names: Vec<String>,
        count: Option<usize>,
    ) -> PyResult<Batch> {
        let template = self.templates.get(py, template)?;
        let schema = raised(py, host::record_schema(&template, &names))?;
        let count = count.unwrap_or(usize::MAX);
        self.operate(py, |_, operation| operation.columns(&template, &schema, count))
            .map(Batch::new)
    }

    /// Iterates over the records that are left, as tuples: see `unpack`.
    ///
    /// Raises `TruncatedError` after the last one, where there are fewer bytes than a record has.
    fn iter_unpack(this: Bound<'_, Self>, template: &str) -> PyResult<RecordIterator> {
        let template = this.get().templates.get(this.py(), template)?;
        Ok(RecordIterator::of_tuples(this.unbind(), template))
    }

    /// Iterates over the records of `size` bytes that are left, as bytes.
    ///
    /// Raises `TruncatedError` after the last one, where there are fewer bytes than a record has.
    #[pyo3(signature = (size, /))]
    fn records(this: Bound<'_, Self>, size: usize) -> PyResult<RecordIterator> {
        match size {
            0 => Err(argument(this.py(), "expected records of at least a byte, found a size of 0")),
            size => Ok(RecordIterator::of_bytes(this.unbind(), size)),
        }
    }

    /// Goes behind the next place where these bytes are, and returns where that begins; None where they are nowhere, and all
    /// is read then.
    #[pyo3(signature = (pattern, /))]
    fn find(&self, py: Python<'_>, pattern: &[u8]) -> PyResult<Option<u64>> {
        let search = raised(py, Search::new(pattern))?;
        self.operate(py, |_, operation| operation.find(&search))
    }

    /// Returns its position, in decompressed bytes from where it began.
    fn tell(&self, py: Python<'_>) -> PyResult<u64> {
        self.operate(py, |_, operation| operation.position())
    }

    /// Goes to a place, and returns where that is: `offset` bytes from the beginning (`whence` 0), from here (1) or from the
    /// end (2). Beyond the end there is nothing to read. In compressed input, forwards is by reading and backwards from the
    /// beginning; in what can be read once there is only forwards.
    ///
    /// Raises `OSError` (`ESPIPE`) for another way in what can be read once, and (`EINVAL`) for a place before the
    /// beginning.
    #[pyo3(signature = (offset, whence = 0, /))]
    fn seek(&self, py: Python<'_>, offset: i64, whence: i32) -> PyResult<u64> {
        let whence = whence_of(py, whence)?;
        self.operate(py, |_, operation| {
            operation.go(whence, offset)?;
            operation.position()
        })
    }

    /// The length of the input, where that is known without reading it; otherwise None.
    fn size(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.operate(py, |_, operation| operation.size())
    }

    /// Returns True if there is nothing left to read.
    fn at_end(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.operate(py, |_, operation| operation.want(1))? == 0)
    }

    /// Returns the compression of the input: "none", "gzip" or "zstd".
    fn compression(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.operate(py, |_, operation| operation.compression())?.to_string())
    }
}
