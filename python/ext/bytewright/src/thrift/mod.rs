//! Thrift messages as objects of classes, and back. What the classes are is found in `python/bytewright`, which describes
//! them to [`codec::ThriftCodec`].

mod build;
mod codec;
mod columns;
mod encode;
mod idl;
mod messages;
mod names;
mod source;

use std::cell::Cell;

use bytewright::error::excerpt;
use bytewright::thrift::{
    Encoding, Limits, MessageLayout, PackedMessage, ProtocolResult, ReadableMessage, StructId, Tape,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};

pub(crate) use codec::ThriftCodec;
pub(crate) use columns::{ThriftBatches, ThriftColumns};
pub(crate) use idl::read_idl;
pub(crate) use messages::{ThriftMessages, thrift_decode_many};

use crate::error::{argument, guarded, or_worded, to_python};
use crate::shown::class_name;
use build::Building;
use codec::codec_of;

thread_local! {
    /// A tape that no message is on. It is taken while one is, as Python code that runs meanwhile may decode, too.
    static TAPE: Cell<Option<Box<Tape>>> = const { Cell::new(None) };
}

/// Reads a message: an object of `cls`, a class that `load` made or a generated one of apache's compiler or thriftpy2.
///
/// `data` is bytes or any other buffer; what is behind the message is not looked at. `protocol` is "binary", "compact",
/// "json", or "header": a frame of THeader, with its length before it.
/// Raises `FormatError`, `TruncatedError` or `LimitError`, with the offset of what is wrong.
#[pyfunction]
#[pyo3(signature = (cls, data, protocol = "binary"))]
pub(crate) fn thrift_decode<'py>(
    cls: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    protocol: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = cls.py();
    let layout = layout_named(py, protocol)?;
    let (codec, root) = codec_of(cls)?;
    with_bytes(data, |bytes| object(py, &codec, root, opened(py, layout, bytes)?))
}

/// Writes a message: the bytes of an object, in the order of its fields' ids.
///
/// Raises `TypeError` for a value of another class than its field's, `OverflowError` for a number that its field has not
/// enough bits for, each with the field, and `ArgumentError` for a required field that is None and for a union without
/// exactly one field.
#[pyfunction]
#[pyo3(signature = (obj, protocol = "binary"))]
pub(crate) fn thrift_encode<'py>(
    obj: &Bound<'py, PyAny>,
    protocol: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let encoding = encoding_named(obj.py(), protocol)?;
    let (codec, root) = codec_of(obj.get_type().as_any())?;
    encode::encode(&codec, encoding, obj, root)
}

/// Reads some fields of a message, up to the last of them, and makes no other objects: a tuple of their values, None for
/// those that the message does not have.
///
/// `paths` are names of fields, and with dots of fields in structs inside: "address.city". Through a list or a set it is a list of
/// values, as it is through a map, whose entries have a `key` and a `value`. `*` at the end is all fields with one value. Of a field
/// that the message has twice, the first is taken. Raises `ArgumentError` for a field that the class does not have.
#[pyfunction]
#[pyo3(signature = (cls, data, *paths, protocol = "binary"))]
pub(crate) fn thrift_pluck<'py>(
    cls: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    paths: Vec<String>,
    protocol: &str,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = cls.py();
    let layout = layout_named(py, protocol)?;
    let (codec, root) = codec_of(cls)?;
    let projection = codec.projection(py, cls, &paths)?;
    let shapes: Vec<_> = projection
        .steps()
        .iter()
        .map(|steps| {
            (steps.iter().filter(|step| step.is_list()).count(), codec.shape_at(root, steps))
        })
        .collect();
    with_bytes(data, |bytes| {
        let message = packed(py, &codec, root, opened(py, layout, bytes)?)?;
        let (bytes, start) = (&*message.bytes, message.offset);
        let read = |tape: &mut Tape| projection.pluck(message.encoding, bytes, layout.limits, tape);
        with_tape(py, start, read, |tape| {
            Building::new(py, &codec, tape.cursor(bytes), bytes, start).plucked(&shapes)
        })
    })
}

/// The message that `bytes` begin with.
#[inline]
fn opened<'a>(
    py: Python<'_>,
    layout: MessageLayout,
    bytes: &'a [u8],
) -> PyResult<ReadableMessage<'a>> {
    layout.open_first(bytes).map_err(|error| to_python(py, error.error()))
}

/// The message as bytes that are read.
#[inline]
fn packed<'a>(
    py: Python<'_>,
    codec: &ThriftCodec,
    root: u32,
    message: ReadableMessage<'a>,
) -> PyResult<PackedMessage<'a>> {
    let packed = message.packed(&codec.plan, StructId(root), Limits::default());
    packed.map_err(|error| to_python(py, error.error()))
}

/// The object of a message.
#[inline]
fn object<'py>(
    py: Python<'py>,
    codec: &ThriftCodec,
    root: u32,
    message: ReadableMessage<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let message = packed(py, codec, root, message)?;
    let (bytes, start) = (&*message.bytes, message.offset);
    let read = |tape: &mut Tape| {
        let decoded =
            codec.plan.decode(message.encoding, StructId(root), bytes, Limits::default(), tape);
        decoded.map(|_| ())
    };
    with_tape(py, start, read, |tape| {
        Building::new(py, codec, tape.cursor(bytes), bytes, start).object()
    })
}

/// Has a message read onto a tape, and objects made of it. `start` is where the message begins in the input.
#[inline]
fn with_tape<T>(
    py: Python<'_>,
    start: u64,
    read: impl FnOnce(&mut Tape) -> ProtocolResult<()>,
    build: impl FnOnce(&Tape) -> PyResult<T>,
) -> PyResult<T> {
    let mut tape = TAPE.take().unwrap_or_default();
    let outcome = guarded(|| {
        read(&mut tape).map_err(|error| {
            let at = start + error.error().offset().unwrap_or_default();
            error.error().clone().at(at)
        })
    });
    let built = match outcome {
        Ok(()) => build(&tape),
        Err(error) => Err(to_python(py, &error)),
    };
    tape.clear();
    TAPE.set(Some(tape));
    built
}

/// Calls `work` with the bytes of a buffer: those of `bytes` where they are, of all else, which may change, a copy.
#[inline]
fn with_bytes<T>(data: &Bound<'_, PyAny>, work: impl FnOnce(&[u8]) -> PyResult<T>) -> PyResult<T> {
    match data.cast::<PyBytes>() {
        Ok(bytes) => work(bytes.as_bytes()),
        Err(_) => work(copied(data)?.as_bytes()),
    }
}

/// The bytes of any buffer.
fn copied<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let view = PyMemoryView::from(data).map_err(|error| {
        or_worded::<PyTypeError>(data.py(), error, || {
            let class = class_name(data);
            PyTypeError::new_err(format!("expected bytes, or another buffer, found {class}"))
        })
    })?;
    Ok(view.call_method0("tobytes")?.cast_into::<PyBytes>()?)
}

/// The layout of messages in a protocol that is read.
#[inline]
fn layout_named(py: Python<'_>, protocol: &str) -> PyResult<MessageLayout> {
    MessageLayout::named(protocol).ok_or_else(|| {
        let found = excerpt(protocol);
        let expected = "\"binary\", \"compact\", \"header\" or \"json\"";
        argument(py, format!("expected protocol to be {expected}, found {found:?}"))
    })
}

/// The encoding of a message that is written.
#[inline]
fn encoding_named(py: Python<'_>, protocol: &str) -> PyResult<Encoding> {
    match protocol {
        "binary" => Ok(Encoding::Binary),
        "compact" => Ok(Encoding::Compact),
        other => {
            let message = format!(
                "expected protocol to be \"binary\" or \"compact\", found {:?}",
                excerpt(other)
            );
            Err(argument(py, message))
        }
    }
}
