//! Python as the host of the core's readers and writers: turns, and the file object that bytes come from or go to.

use std::cell::Cell;
use std::io::SeekFrom;
use std::time::{Duration, Instant};

use bytewright::Error;
use bytewright::bytes::Feed;
use bytewright::host::{Host, HostWriter, StreamHost, TurnHost};
use pyo3::exceptions::{PyBlockingIOError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::host::{PythonHost, bytes_given, count_given, read_into};
use crate::turn::{Strand, TurnLock};

/// Bytes that an object is asked for, or given, at once.
const PIECE: usize = 64 << 10;

/// Shortest time between two moments in which other threads have the GIL. Who waits for it asks for it after 5 ms
/// (`sys.getswitchinterval`), and only a release after that hands it over: one before wakes a thread that finds it taken
/// again, and waits anew.
const GIVES_WAY_EVERY: Duration = Duration::from_millis(10);

thread_local! {
    static GAVE_WAY: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Lets threads that wait for the GIL run, in work that takes long.
fn let_others_run() {
    let now = Instant::now();
    match GAVE_WAY.get() {
        Some(last) if now.duration_since(last) < GIVES_WAY_EVERY => (),
        _ => {
            Python::attach(|py| py.detach(|| ()));
            GAVE_WAY.set(Some(now));
        }
    }
}

/// A file object of Python's.
pub(crate) struct FileObject {
    pub(crate) object: Py<PyAny>,
    /// The method that is asked for some bytes, and answers with those that there are.
    pub(crate) read: String,
}

/// A thread of Python that uses a reader or a writer.
pub(crate) struct Sharing<'a> {
    pub(crate) lock: &'a TurnLock,
    pub(crate) file: Option<&'a FileObject>,
}

impl Sharing<'_> {
    /// Does something with the object, where there is one.
    fn with_object<T: Default>(
        &self,
        work: impl FnOnce(&Bound<'_, PyAny>, &FileObject) -> PyResult<T>,
    ) -> PyResult<T> {
        Python::attach(|py| match self.file {
            Some(file) => work(file.object.bind(py), file),
            None => Ok(T::default()),
        })
    }
}

impl Host for Sharing<'_> {
    type Error = PyErr;

    fn error(&self, error: Error) -> PyErr {
        PythonHost::OF_FILE.error(error)
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        wake: &(dyn Fn() + Sync),
    ) -> PyResult<Option<T>> {
        PythonHost::OF_FILE.wait(work, wake)
    }

    fn check_interrupts(&self) -> PyResult<()> {
        let_others_run();
        PythonHost::OF_FILE.check_interrupts()
    }
}

impl TurnHost for Sharing<'_> {
    type Caller = Strand;

    fn caller(&self) -> PyResult<Strand> {
        Ok(Strand::of_thread())
    }

    fn is_running(&self, holder: &Strand) -> PyResult<bool> {
        Python::attach(|py| holder.is_running(py))
    }

    fn is_of_this_thread(&self, holder: &Strand) -> bool {
        holder.is_of_this_thread()
    }

    fn lock_turn(&self) -> PyResult<()> {
        Python::attach(|py| self.lock.take(py))
    }

    fn unlock_turn(&self) -> PyResult<()> {
        Python::attach(|py| self.lock.give_back(py))
    }
}

impl StreamHost for Sharing<'_> {
    fn read_into(&self, feed: &Feed) -> PyResult<()> {
        self.with_object(|object, file| {
            match file.read.as_str() {
                "readinto" => feed_with(feed, &read_into(object, PIECE)?),
                read => {
                    feed_with(feed, bytes_given(object.call_method1(read, (PIECE,))?)?.as_bytes())
                }
            }
            Ok(())
        })
    }

    fn write_from(&self, writer: &HostWriter<Strand>) -> PyResult<()> {
        self.with_object(|object, _| {
            let bytes = writer.gathered(PIECE, |bytes| PyBytes::new(object.py(), bytes));
            let taken = object.call_method1("write", (&bytes,))?;
            if taken.is_none() && is_raw(object)? {
                let message =
                    "expected an object that waits until it takes bytes, found none taken";
                return Err(PyBlockingIOError::new_err(message));
            }
            let given = bytes.as_bytes().len();
            // An object that returns no number took all.
            let is_count = taken.hasattr("__index__")?;
            writer.forget(if is_count { count_given(&taken, "write", given)? } else { given });
            Ok(())
        })
    }

    fn flush(&self, sync: bool) -> PyResult<()> {
        self.with_object(|object, _| {
            if object.hasattr("flush")? {
                object.call_method0("flush")?;
            }
            if sync && object.hasattr("fileno")? {
                let number = object.call_method0("fileno")?;
                object.py().import("os")?.call_method1("fsync", (number,))?;
            }
            Ok(())
        })
    }

    fn seek(&self, place: SeekFrom) -> PyResult<Option<u64>> {
        self.with_object(|object, _| match place {
            SeekFrom::Start(offset) => {
                object.call_method1("seek", (offset,))?;
                Ok(Some(offset))
            }
            SeekFrom::Current(_) => object.call_method0("tell")?.extract().map(Some),
            SeekFrom::End(offset) => match object.call_method1("seek", (offset, 2)) {
                Ok(_) => object.call_method0("tell")?.extract().map(Some),
                Err(error) if cannot_tell(object.py(), &error) => Ok(None),
                Err(error) => Err(error),
            },
        })
    }
}

fn feed_with(feed: &Feed, bytes: &[u8]) {
    match bytes {
        [] => feed.end(),
        bytes => feed.push(bytes),
    }
}

/// Returns true for a raw file, which returns None if it would have to wait. Others may always return None.
fn is_raw(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.is_instance(&object.py().import("io")?.getattr("RawIOBase")?)
}

/// Returns true if an object refuses to go to its end, as some that decompress do.
fn cannot_tell(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyOSError>(py)
}
