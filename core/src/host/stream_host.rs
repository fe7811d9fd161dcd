//! Host of readers and writers: beside waiting and turns, it has an object that bytes come from or go to.

use std::io::SeekFrom;

use super::pass_host::Blocking;
use super::reader::PIECE;
use super::turn::TurnHost;
use super::writer::HostWriter;
use crate::bytes::Feed;
use crate::error::{Error, ErrorKind};

/// A host of readers and writers. What a method leaves out is right for a host without objects.
pub trait StreamHost: TurnHost {
    /// Is told of the memory that a stream has now.
    fn report_memory(&self, bytes: usize) {
        let _ = bytes;
    }

    /// Waits until the object has something, and reads some of it, or its end, into `feed`. No interrupt may come between
    /// the object giving bytes and the feed having them, or they are lost.
    ///
    /// # Errors
    /// Returns the error that the object raises.
    fn read_into(&self, feed: &Feed) -> Result<(), Self::Error> {
        match self.read(PIECE)? {
            bytes if bytes.is_empty() => feed.end(),
            bytes => feed.push(&bytes),
        }
        Ok(())
    }

    /// Waits until the object takes something, and writes some of [`HostWriter::gathered`] to it. How much it took is told to
    /// [`HostWriter::forget`] before an interrupt can come, or those bytes are written once more.
    ///
    /// # Errors
    /// Returns the error that the object raises.
    fn write_from(&self, writer: &HostWriter<Self::Caller>) -> Result<(), Self::Error> {
        let _ = writer;
        Err(self.error(Error::internal("a writer to an object that takes nothing")))
    }

    /// Makes the object hand on what it has been given, with `sync` until that survives a power cut.
    ///
    /// # Errors
    /// Returns the error that the object raises.
    fn flush(&self, sync: bool) -> Result<(), Self::Error> {
        let _ = sync;
        Ok(())
    }

    /// Has the object go to a place, and answers where that is; `None` where it knows no such place.
    ///
    /// # Errors
    /// Returns the error that the object raises.
    fn seek(&self, place: SeekFrom) -> Result<Option<u64>, Self::Error> {
        let _ = place;
        Ok(None)
    }
}

impl StreamHost for Blocking {}

/// Origin of an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whence {
    /// The beginning of the stream.
    Beginning,
    /// The current position.
    Here,
    /// The end of the stream.
    End,
}

/// The number of `ESPIPE`, which all systems agree on: what can be read or written once goes nowhere else.
pub(super) const ESPIPE: i32 = 29;
/// The number of `EINVAL`: there is no such place.
pub(super) const EINVAL: i32 = 22;

/// Builds the system's error for a place that a stream cannot go to.
pub(super) fn no_place(number: i32, name: &str) -> Error {
    Error::new(ErrorKind::Io(Some(number)), "cannot seek").in_file(name)
}
