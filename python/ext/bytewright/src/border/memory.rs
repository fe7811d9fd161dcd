//! Memory of other objects of Python's, to be written to. PyO3 has the buffer protocol in the stable interface from Python 3.11
//! on; the calls and the struct are the same in 3.10, which only did not promise so.

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
#[cfg(Py_GIL_DISABLED)]
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::{ptr, slice};

use bytewright::host::Destination;
use pyo3::ffi;
use pyo3::prelude::*;

/// Python's `Py_buffer`.
#[repr(C)]
struct View {
    buf: *mut c_void,
    obj: *mut ffi::PyObject,
    len: ffi::Py_ssize_t,
    itemsize: ffi::Py_ssize_t,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut ffi::Py_ssize_t,
    strides: *mut ffi::Py_ssize_t,
    suboffsets: *mut ffi::Py_ssize_t,
    internal: *mut c_void,
}

/// `PyBUF_WRITABLE`: bytes that lie one after the other and may be changed.
const WRITABLE: c_int = 1;

// SAFETY: they are declared as CPython does.
unsafe extern "C" {
    fn PyObject_GetBuffer(object: *mut ffi::PyObject, view: *mut View, flags: c_int) -> c_int;
    fn PyBuffer_Release(view: *mut View);
}

/// The bytes of an object, which stay where they are while this lives.
pub(crate) struct PinnedMemory<'py> {
    /// On the heap, because some objects keep its address.
    view: Box<View>,
    written: usize,
    /// The bytes that were written, for which no other thread can reach them here.
    #[cfg(Py_GIL_DISABLED)]
    staged: Vec<MaybeUninit<u8>>,
    /// It is given back by a thread that is attached to Python.
    _py: Python<'py>,
}

impl<'py> PinnedMemory<'py> {
    /// Pins the bytes of an object. Raises `BufferError` for an object whose bytes may not be changed, or are not one after the
    /// other.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<PinnedMemory<'py>> {
        let py = object.py();
        let mut view = Box::new(View {
            buf: ptr::null_mut(),
            obj: ptr::null_mut(),
            len: 0,
            itemsize: 0,
            readonly: 0,
            ndim: 0,
            format: ptr::null_mut(),
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            suboffsets: ptr::null_mut(),
            internal: ptr::null_mut(),
        });
        // SAFETY: an object that is alive, and a struct of ours. It is filled in, or there is an exception.
        match unsafe { PyObject_GetBuffer(object.as_ptr(), &raw mut *view, WRITABLE) } {
            0 => Ok(PinnedMemory {
                view,
                written: 0,
                #[cfg(Py_GIL_DISABLED)]
                staged: Vec::new(),
                _py: py,
            }),
            _ => Err(PyErr::fetch(py)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.view.len.unsigned_abs()
    }
}

impl Drop for PinnedMemory<'_> {
    fn drop(&mut self) {
        // SAFETY: the view was filled in by `of`, and is given back once, by a thread that is attached.
        unsafe { PyBuffer_Release(&raw mut *self.view) }
    }
}

#[cfg(not(Py_GIL_DISABLED))]
impl Destination for PinnedMemory<'_> {
    type Error = PyErr;

    fn room(&mut self, len: usize, count: usize) -> PyResult<&mut [MaybeUninit<u8>]> {
        if self.len() == 0 {
            return Ok(&mut []);
        }
        // SAFETY: the object has so many bytes there while it is pinned, and lets them be written to. They were made by it, and so
        // have values. Python's lock is held while the slice is used, so nobody of Python's changes them meanwhile.
        let bytes = unsafe { slice::from_raw_parts_mut(self.view.buf.cast(), self.len()) };
        let end = len.saturating_add(count).min(bytes.len());
        Ok(bytes.get_mut(len..end).unwrap_or_default())
    }

    fn set_len(&mut self, len: usize) {
        self.written = len.min(self.len());
    }

    fn bytes(&self) -> &[u8] {
        if self.written == 0 {
            return &[];
        }
        // SAFETY: as in `room`; `set_len` keeps it within the bytes of the object.
        unsafe { slice::from_raw_parts(self.view.buf.cast(), self.written) }
    }
}

/// Other threads may read and write the object at any time, so that no slice of its bytes can be lent: they are copied there
/// one by one.
#[cfg(Py_GIL_DISABLED)]
impl Destination for PinnedMemory<'_> {
    type Error = PyErr;

    fn room(&mut self, len: usize, count: usize) -> PyResult<&mut [MaybeUninit<u8>]> {
        let end = len.saturating_add(count).min(self.len());
        if self.staged.len() < end {
            self.staged.resize(end, MaybeUninit::new(0));
        }
        Ok(self.staged.get_mut(len..end).unwrap_or_default())
    }

    fn set_len(&mut self, len: usize) {
        let (from, to) = (self.written, len.min(self.staged.len()));
        self.written = to;
        for (place, byte) in self.staged.iter().enumerate().take(to).skip(from) {
            // SAFETY: the object has a byte there while it is pinned, because none is staged beyond its end, and lets it be
            // written to. The first `len` bytes that are staged have values.
            unsafe {
                let byte = byte.assume_init();
                AtomicU8::from_ptr(self.view.buf.cast::<u8>().add(place)).store(byte, Relaxed);
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the first bytes that are staged, so many that `set_len` was told of, have values.
        unsafe { slice::from_raw_parts(self.staged.as_ptr().cast(), self.written) }
    }
}
