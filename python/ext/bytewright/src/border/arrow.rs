//! Schemas that other libraries give in capsules, as Arrow's PyCapsule interface has it.

use bytewright::batch::arrow::ArrowSchema;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Returns the result of `read` for the schema in a capsule. Raises `TypeError` for another object, and `ValueError`
/// for a capsule of something else.
pub(crate) fn read_schema<T>(
    capsule: &Bound<'_, PyAny>,
    read: impl FnOnce(&ArrowSchema) -> T,
) -> PyResult<T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_schema"))?.cast::<ArrowSchema>();
    // SAFETY: the name says that the capsule has this struct, and that it keeps the rules of the interface; it is alive as long
    // as the capsule, which is borrowed. Whoever takes a schema over has been given the capsule for itself, so no other thread
    // does so while the call that has it here goes on.
    Ok(read(unsafe { pointer.as_ref() }))
}
