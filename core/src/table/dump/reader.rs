//! The entries of a dump that is read from a file, a pipe or a host, one after another.

use std::path::Path;

use super::DumpDecoder;
use crate::bytes::{ByteStream, StreamOptions};
use crate::error::{Error, Result};
use crate::table::{PackedEntries, PackedPlace, Scan, ValueType};

/// Reads a dump, compressed or not: a scan over its entries, in their order there.
///
/// ```no_run
/// use bytewright::table::{DumpReader, Table, memory};
/// # fn main() -> bytewright::Result<()> {
/// let mut table = memory::TreeTable::new();
/// let mut dump = DumpReader::open("prices.dump".as_ref(), table.values())?;
/// table.put_all(&mut dump)?;
/// # Ok(())
/// # }
/// ```
pub struct DumpReader {
    stream: ByteStream,
    decoder: DumpDecoder,
    ready: PackedEntries,
    place: PackedPlace,
    failed: Option<Error>,
}

impl DumpReader {
    /// Opens the dump at `path`, for a table whose values are `values`.
    pub fn open(path: &Path, values: ValueType) -> Result<DumpReader> {
        Ok(Self::new(ByteStream::open(path, &StreamOptions::default())?, values))
    }

    /// Reads the dump that `stream` gives.
    pub fn new(stream: ByteStream, values: ValueType) -> DumpReader {
        DumpReader {
            stream,
            decoder: DumpDecoder::new(values),
            ready: PackedEntries::default(),
            place: PackedPlace::default(),
            failed: None,
        }
    }

    /// The entries that were read and not given yet.
    pub fn ready(&self) -> &PackedEntries {
        &self.ready
    }

    /// Reads some more in the place of the entries that are ready; false at the end. A read that was called off can be
    /// tried again; any other error comes again.
    pub fn fill(&mut self) -> Result<bool> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        self.ready.clear();
        self.place = PackedPlace::default();
        let named = |error: Error, stream: &ByteStream| error.in_file(stream.name());
        if self.stream.fill(1)?.is_empty() {
            return match self.decoder.finish() {
                Ok(()) => Ok(false),
                Err(error) => Err(named(error, &self.stream)),
            };
        }
        let bytes = self.stream.buffered();
        let (taken, pushed) = (bytes.len(), self.decoder.push(bytes, &mut self.ready));
        if let Err(error) = pushed {
            let error = named(error, &self.stream);
            self.failed = Some(error.clone());
            return Err(error);
        }
        self.stream.consume(taken);
        Ok(true)
    }

    /// Returns the number of entries so far.
    pub fn count(&self) -> u64 {
        self.decoder.count()
    }
}

impl Scan for DumpReader {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        while self.ready.is_at_end(self.place) {
            if !self.fill()? {
                return Ok(None);
            }
        }
        Ok(self.ready.next_from(&mut self.place))
    }
}
