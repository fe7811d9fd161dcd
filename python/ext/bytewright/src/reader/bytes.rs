//! Bytes, few or many.

use bytewright::host::Operation;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::border::PinnedMemory;
use crate::shown::class_name;
use crate::stream_host::Sharing;

/// Bytes that are copied at once: no more are buffered for them, however many are asked for. Between two pieces, interrupts
/// have their turn.
const PIECE: usize = 256 << 10;

/// Up to `size` bytes. Where it fails, none is taken.
pub(super) fn read<'py>(
    py: Python<'py>,
    operation: &Operation<'_, Sharing<'_>>,
    size: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let there = operation.want(size.min(PIECE))?;
    if there == size || there == 0 {
        return operation.take(there, there, |bytes| Ok(PyBytes::new(py, bytes)));
    }
    let mut taken = Vec::with_capacity(there);
    let outcome = read_pieces(operation, size, |piece| {
        taken.extend_from_slice(piece);
        Ok(())
    });
    match outcome {
        Ok(_) => Ok(PyBytes::new(py, &taken)),
        Err(error) => Err(given_back(operation, &taken, error)),
    }
}

/// Fills a buffer of Python's; answers how many bytes there were. Where it fails, none is taken.
pub(super) fn read_into(
    operation: &Operation<'_, Sharing<'_>>,
    buffer: &Bound<'_, PyAny>,
) -> PyResult<usize> {
    let mut memory = PinnedMemory::of(buffer).map_err(|error| unfit(buffer, error))?;
    let len = memory.len();
    operation.fill(&mut memory, len)
}

/// Explains that an object's bytes cannot be filled.
#[cold]
fn unfit(buffer: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let readonly =
        PyMemoryView::from(buffer).and_then(|view| view.getattr("readonly")?.is_truthy());
    let class = class_name(buffer);
    match readonly {
        Ok(true) => {
            PyTypeError::new_err(format!("expected a buffer that can be written to, found {class}"))
        }
        _ => error,
    }
}

fn read_pieces(
    operation: &Operation<'_, Sharing<'_>>,
    size: usize,
    mut take: impl FnMut(&[u8]) -> PyResult<()>,
) -> PyResult<()> {
    let mut left = size;
    while left > 0 {
        let there = operation.want(left.min(PIECE))?;
        if there == 0 {
            break;
        }
        operation.take(there, there, &mut take)?;
        left -= there;
        operation.let_interrupts()?;
    }
    Ok(())
}

fn given_back(operation: &Operation<'_, Sharing<'_>>, taken: &[u8], error: PyErr) -> PyErr {
    // A closed stream has nothing to give back to.
    let _ = operation.with_stream(|stream| {
        stream.give_back(taken);
        Ok(())
    });
    error
}
