//! Short texts that come again in one message after another: keys of maps, elements of sets.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// Bytes of the longest text that is kept.
const LEN_MAX: usize = 23;

/// Texts that are kept: one for each hash.
const COUNT: usize = 256;

/// Texts that were met before. One that comes again is the same object: it is not made anew, and its hash is known to it.
pub(super) struct Names(Vec<Option<Name>>);

struct Name {
    bytes: [u8; LEN_MAX],
    len: u8,
    text: Py<PyString>,
}

impl Names {
    pub(super) fn new() -> Names {
        Names((0..COUNT).map(|_| None).collect())
    }

    /// The text of these bytes; none where it would not be kept, or the bytes are not UTF-8.
    #[inline]
    pub(super) fn text<'py>(
        &mut self,
        py: Python<'py>,
        bytes: &[u8],
    ) -> Option<Bound<'py, PyString>> {
        if bytes.len() > LEN_MAX {
            return None;
        }
        let place = self.0.get_mut(hash(bytes) % COUNT)?;
        if let Some(name) = place
            && name.bytes.get(..usize::from(name.len)) == Some(bytes)
        {
            return Some(name.text.bind(py).clone());
        }
        let text = PyString::from_bytes(py, bytes).ok()?;
        let mut kept = [0; LEN_MAX];
        kept.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let len = u8::try_from(bytes.len()).ok()?;
        *place = Some(Name { bytes: kept, len, text: text.clone().unbind() });
        Some(text)
    }
}

/// Names often differ in their last bytes only.
#[inline]
fn hash(bytes: &[u8]) -> usize {
    let hash = bytes.iter().fold(bytes.len() as u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ hash >> 32) as usize
}
