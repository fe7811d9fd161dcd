//! Raw deflate, by whichever library is fastest here: the system's isa-l, or zlib-rs, which is built
//! in. Both do exactly the same; what a deflate stream is wrapped in is not their business.

use std::fmt;

use flate2::{Decompress, FlushDecompress, Status};

use crate::error::{Error, ErrorKind, Result};

use super::isal;

/// A library that inflates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InflateBackend {
    /// zlib-rs, in Rust and built in.
    ZlibRs,
    /// Intel's isa-l, loaded where the system has it. How much faster it is depends on processor and
    /// data: up to 3 times on text, nothing on some processors.
    Isal,
}

impl InflateBackend {
    /// The backends that work on this machine, best first.
    pub fn available() -> &'static [InflateBackend] {
        if isal::is_available() {
            &[InflateBackend::Isal, InflateBackend::ZlibRs]
        } else {
            &[InflateBackend::ZlibRs]
        }
    }

    /// The library's own name.
    pub fn name(self) -> &'static str {
        match self {
            InflateBackend::ZlibRs => "zlib-rs",
            InflateBackend::Isal => "isa-l",
        }
    }
}

impl fmt::Display for InflateBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which backend a stream is to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum InflateChoice {
    /// The fastest that works here.
    #[default]
    Auto,
    /// zlib-rs, even where isa-l is there.
    ZlibRs,
    /// isa-l, or an error where it is not there.
    Isal,
}

/// How a call to [`Inflater::inflate`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The input is used up, or there is no more room.
    More,
    /// The deflate stream ended.
    Finished,
    /// The bytes are not deflate data: this stands there.
    Broken(&'static str),
}

/// What a call to [`Inflater::inflate`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inflated {
    /// Bytes of the input that are used.
    pub(super) taken: usize,
    /// Bytes taken in this call or just before it that turned out not to belong to the stream.
    pub(super) returned: usize,
    pub(super) outcome: Outcome,
}

/// The state of one deflate stream.
pub(super) enum Inflater {
    ZlibRs(Box<Decompress>),
    Isal(isal::Inflate),
}

impl Inflater {
    pub(super) fn new(choice: InflateChoice) -> Result<Self> {
        match (choice, isal::Inflate::new()) {
            (InflateChoice::Auto | InflateChoice::Isal, Some(inflate)) => {
                Ok(Inflater::Isal(inflate))
            }
            (InflateChoice::Auto | InflateChoice::ZlibRs, _) => {
                Ok(Inflater::ZlibRs(Box::new(Decompress::new(false))))
            }
            (InflateChoice::Isal, None) => Err(Error::new(
                ErrorKind::MissingLibrary,
                format!(
                    "expected a working {}, found none; install it: apt-get install libisal2",
                    isal::LIBRARY
                ),
            )),
        }
    }

    pub(super) fn backend(&self) -> InflateBackend {
        match self {
            Inflater::ZlibRs(_) => InflateBackend::ZlibRs,
            Inflater::Isal(_) => InflateBackend::Isal,
        }
    }

    /// Memory that it takes. zlib-rs does not say: it is a window of 32 KiB and tables.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Inflater::ZlibRs(_) => 48 << 10,
            Inflater::Isal(_) => isal::STATE_SIZE,
        }
    }

    /// Makes ready for the next stream.
    pub(super) fn reset(&mut self) {
        match self {
            Inflater::ZlibRs(decompress) => decompress.reset(false),
            Inflater::Isal(inflate) => inflate.reset(),
        }
    }

    /// Inflates `input` into the spare capacity of `output` until either is used up or the stream
    /// ends. Where the room is used up there may be more to come from an empty `input`.
    pub(super) fn inflate(&mut self, input: &[u8], output: &mut Vec<u8>) -> Inflated {
        match self {
            Inflater::ZlibRs(decompress) => inflate_zlib_rs(decompress, input, output),
            Inflater::Isal(inflate) => inflate.inflate(input, output),
        }
    }
}

fn inflate_zlib_rs(decompress: &mut Decompress, input: &[u8], output: &mut Vec<u8>) -> Inflated {
    let before = decompress.total_in();
    let outcome = match decompress.decompress_vec(input, output, FlushDecompress::None) {
        Ok(Status::Ok | Status::BufError) => Outcome::More,
        Ok(Status::StreamEnd) => Outcome::Finished,
        Err(error) if error.needs_dictionary().is_some() => Outcome::Broken("a preset dictionary"),
        Err(_) => Outcome::Broken("something else"),
    };
    let taken = usize::try_from(decompress.total_in() - before).unwrap_or(input.len());
    Inflated { taken: taken.min(input.len()), returned: 0, outcome }
}
