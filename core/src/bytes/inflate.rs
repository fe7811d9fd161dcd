//! Raw deflate, by whichever library is fastest here: the system's isa-l, or zlib-rs, which is built
//! in. Both do exactly the same; what a deflate stream is wrapped in is not their business.
//!
//! Nobody has to choose one. For tests and comparisons, `BYTEWRIGHT_INFLATE` names one for all of the
//! process: `zlib` or `isal`. It is read once.

use std::ffi::{OsStr, OsString};
use std::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::forks::ProcessValue;

use super::isal;
use super::seek_point::DeflatePlace;
use super::zlib::ZlibInflate;

/// A library that inflates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InflateBackend {
    /// zlib-rs, in Rust and built in.
    Zlib,
    /// Intel's isa-l, loaded where the system has it. How much faster it is depends on processor and
    /// data: up to 3 times on text, nothing on some processors.
    Isal,
}

impl InflateBackend {
    /// The backends that work on this machine, best first.
    pub fn available() -> &'static [InflateBackend] {
        if isal::is_available() {
            &[InflateBackend::Isal, InflateBackend::Zlib]
        } else {
            &[InflateBackend::Zlib]
        }
    }

    /// The backend that inflates gzip in this process: the fastest that works on this machine, or the
    /// one that `BYTEWRIGHT_INFLATE` names.
    pub fn serving() -> Result<InflateBackend> {
        static NAMED: ProcessValue<Option<OsString>> = ProcessValue::new();
        let named = NAMED.get_or_init(|| std::env::var_os("BYTEWRIGHT_INFLATE"));
        Self::chosen(named.as_deref(), Self::available())
    }

    /// The backend in whose place one serves that finds places where another inflater can begin: itself, if it does.
    pub(super) fn that_finds_places(self) -> InflateBackend {
        if self == InflateBackend::Isal && !isal::finds_places() {
            InflateBackend::Zlib
        } else {
            self
        }
    }

    /// Chooses from `available`. A name that is none of them is refused: a comparison with what is not
    /// there would compare a library with itself.
    fn chosen(named: Option<&OsStr>, available: &[InflateBackend]) -> Result<InflateBackend> {
        let Some(named) = named.filter(|named| !named.is_empty()) else {
            return Ok(available.first().copied().unwrap_or(InflateBackend::Zlib));
        };
        available.iter().copied().find(|backend| named == backend.value()).ok_or_else(|| {
            let values: Vec<_> = available.iter().map(|backend| backend.value()).collect();
            let message = format!(
                "expected BYTEWRIGHT_INFLATE to name a decompressor that works here ({}), found \
                 {named:?}",
                values.join(", ")
            );
            Error::new(ErrorKind::Argument, message)
        })
    }

    /// The value of the variable that names it.
    fn value(self) -> &'static str {
        match self {
            InflateBackend::Zlib => "zlib",
            InflateBackend::Isal => "isal",
        }
    }

    /// The library's own name.
    pub fn name(self) -> &'static str {
        match self {
            InflateBackend::Zlib => "zlib-rs",
            InflateBackend::Isal => "isa-l",
        }
    }
}

impl fmt::Display for InflateBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// State of the deflate stream after a call to [`Inflater::inflate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InflateOutcome {
    /// The input is used up, or there is no more room.
    More,
    /// The deflate stream ended.
    Finished,
    /// The bytes are not deflate data: this stands there.
    Broken(&'static str),
}

/// Result of a call to [`Inflater::inflate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inflated {
    /// Bytes of the input that are used.
    pub(super) taken: usize,
    /// Bytes taken in this call or just before it that turned out not to belong to the stream.
    pub(super) returned: usize,
    pub(super) outcome: InflateOutcome,
}

/// The state of one deflate stream.
pub(super) enum Inflater {
    Zlib(ZlibInflate),
    Isal(isal::Inflate),
}

impl Inflater {
    /// A stream at its start, by a backend that is available.
    pub(super) fn new(backend: InflateBackend) -> Self {
        let isal = match backend {
            InflateBackend::Isal => isal::Inflate::new(),
            InflateBackend::Zlib => None,
        };
        isal.map_or_else(|| Inflater::Zlib(ZlibInflate::new()), Inflater::Isal)
    }

    pub(super) fn backend(&self) -> InflateBackend {
        match self {
            Inflater::Zlib(_) => InflateBackend::Zlib,
            Inflater::Isal(_) => InflateBackend::Isal,
        }
    }

    /// Memory that it takes. zlib-rs does not say: it is a window of 32 KiB and tables.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Inflater::Zlib(_) => 48 << 10,
            Inflater::Isal(_) => isal::STATE_SIZE,
        }
    }

    /// Makes ready for the next stream.
    pub(super) fn reset(&mut self) {
        match self {
            Inflater::Zlib(inflate) => inflate.reset(),
            Inflater::Isal(inflate) => inflate.reset(),
        }
    }

    /// Inflates `input` into the spare capacity of `output` until either is used up or the stream
    /// ends. Where the room is used up there may be more to come from an empty `input`.
    pub(super) fn inflate(&mut self, input: &[u8], output: &mut Vec<u8>) -> Inflated {
        match self {
            Inflater::Zlib(inflate) => inflate.inflate(input, output),
            Inflater::Isal(inflate) => inflate.inflate(input, output),
        }
    }

    /// Inflates as [`Inflater::inflate`] does, but stops at a place where another inflater can begin, if it finds one in the
    /// piece of `input` that it takes.
    pub(super) fn inflate_to_place(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> (Inflated, Option<DeflatePlace>) {
        let (inflated, place) = match self {
            Inflater::Zlib(inflate) => inflate.inflate_to_place(input, output),
            Inflater::Isal(inflate) => inflate.inflate_to_place(input, output),
        };
        (inflated, place.filter(|_| output.len() < output.capacity()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    use InflateBackend::{Isal, Zlib};

    fn chosen(named: Option<&str>, available: &[InflateBackend]) -> Result<InflateBackend> {
        InflateBackend::chosen(named.map(OsStr::new), available)
    }

    #[test]
    fn the_fastest_backend_serves_where_none_is_named() {
        for named in [None, Some("")] {
            assert_eq!(chosen(named, &[Isal, Zlib]).unwrap(), Isal);
            assert_eq!(chosen(named, &[Zlib]).unwrap(), Zlib);
        }
    }

    #[test]
    fn the_backend_that_is_named_serves() {
        assert_eq!(chosen(Some("zlib"), &[Isal, Zlib]).unwrap(), Zlib);
        assert_eq!(chosen(Some("isal"), &[Isal, Zlib]).unwrap(), Isal);
    }

    #[test]
    fn a_name_of_no_backend_and_one_of_a_library_that_is_absent_are_refused() {
        let error = chosen(Some("quickly"), &[Isal, Zlib]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert_eq!(
            error.message(),
            "expected BYTEWRIGHT_INFLATE to name a decompressor that works here (isal, zlib), found \
             \"quickly\""
        );
        let error = chosen(Some("isal"), &[Zlib]).unwrap_err();
        assert!(error.message().ends_with("works here (zlib), found \"isal\""), "{error}");
    }
}
