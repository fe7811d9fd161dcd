//! Messages that follow each other, as objects one by one.

use std::sync::Mutex;

use bytewright::host::Messages;
use pyo3::prelude::*;

use super::codec::codec_of;
use super::object;
use super::source::{Origin, layout_of};
use crate::capture::try_enter;
use crate::error::{BEING_READ, guarded_python, no_pickle};
use crate::host::PythonHost;

/// Messages between two looks for interrupts: what is called in a loop of C's runs no Python code that would look.
const UNTIL_INTERRUPTS: u32 = 256;

/// An iterator over the objects of messages.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct ThriftMessages {
    state: Mutex<State>,
}

struct State {
    class: Py<PyAny>,
    messages: Messages,
    /// Source of the bytes, if it is an object.
    object: Option<Py<PyAny>>,
    is_over: bool,
    until_interrupts: u32,
}

/// Iterates over the objects of messages that follow each other: in frames, a length of 4 bytes before each, as a framed
/// transport sends them, or with `framed=False` without. With the protocol "header", frames have headers of THeader.
///
/// `source` is bytes, a path, or a binary file object with `read`, such as a pipe: what is compressed by gzip or zstd is
/// decompressed. A message is given when its bytes are there. Raises what `decode` raises, and `TruncatedError` where the
/// input ends in a message, after the objects before it.
#[pyfunction]
#[pyo3(signature = (cls, source, protocol = "binary", framed = true))]
pub(crate) fn thrift_decode_many(
    cls: &Bound<'_, PyAny>,
    source: &Bound<'_, PyAny>,
    protocol: &str,
    framed: bool,
) -> PyResult<ThriftMessages> {
    let layout = layout_of(cls.py(), protocol, framed)?;
    codec_of(cls)?;
    let input = Origin::of(source)?.open(cls.py())?;
    let state = State {
        class: cls.clone().unbind(),
        messages: Messages::new(input.messages, layout),
        object: input.object,
        is_over: false,
        until_interrupts: UNTIL_INTERRUPTS,
    };
    Ok(ThriftMessages { state: Mutex::new(state) })
}

#[pymethods]
impl ThriftMessages {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle("ThriftMessages", BEING_READ))
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut state = try_enter(py, &self.state)?;
        if state.is_over {
            return Ok(None);
        }
        // Unless there is another message.
        state.is_over = true;
        let found = state.next(py)?;
        state.is_over = found.is_none();
        Ok(found)
    }
}

impl State {
    fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.until_interrupts -= 1;
        if self.until_interrupts == 0 {
            self.until_interrupts = UNTIL_INTERRUPTS;
            py.check_signals()?;
        }
        let class = &self.class;
        let host = PythonHost { object: self.object.as_ref() };
        guarded_python(py, || {
            self.messages.next(&host, |message| {
                let (codec, root) = codec_of(class.bind(py))?;
                object(py, &codec, root, message)
            })
        })
    }
}
