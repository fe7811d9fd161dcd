//! Writing a journal, in one call if it is small.

use std::io;
use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use super::format::{HEADER_LEN, JournalHeader, checked, put_checksum};
use crate::files::Storage;
use crate::pstore::blocks::BlockHashes;
use crate::pstore::blocks::pieces;

/// Bytes that are gathered for one call.
const BUFFER_LEN: usize = 256 << 10;

/// Bytes that are written from where they are, and not gathered.
const LARGE: usize = 32 << 10;

/// A journal on its way to its file. What comes behind the header is given in its order.
pub(in crate::pstore) struct JournalWriter<'a> {
    file: &'a dyn Storage,
    hasher: Xxh3,
    header: [u8; HEADER_LEN],
    buffer: Vec<u8>,
    /// Offset that the buffer goes to.
    at: u64,
}

impl<'a> JournalWriter<'a> {
    pub(super) fn new(file: &'a dyn Storage, header: &JournalHeader, mut buffer: Vec<u8>) -> Self {
        let header = header.encoded();
        let mut hasher = Xxh3::new();
        hasher.update(checked(&header));
        buffer.clear();
        buffer.extend_from_slice(&header);
        JournalWriter { file, hasher, header, buffer, at: 0 }
    }

    /// Bytes that the checksum covers as they are.
    pub(in crate::pstore) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.write(bytes)
    }

    /// New bytes of a range, by the hashes of their pieces, which are known of whole blocks.
    pub(in crate::pstore) fn put_new(
        &mut self,
        range: Range<usize>,
        bytes: &[u8],
        blocks: &BlockHashes,
    ) -> io::Result<()> {
        for piece in pieces(range.clone()) {
            let of_piece = &bytes[piece.start - range.start..piece.end - range.start];
            self.hasher.update(&blocks.hash(&piece, of_piece).to_le_bytes());
        }
        self.write(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() >= LARGE {
            self.flush()?;
            self.file.write_at(self.at, bytes)?;
            self.at += bytes.len() as u64;
            return Ok(());
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_LEN { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.at == 0 {
            // A header that is not whole makes the journal void until the end.
            self.buffer[..HEADER_LEN].fill(0);
        }
        if !self.buffer.is_empty() {
            self.file.write_at(self.at, &self.buffer)?;
            self.at += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Writes what is left, the header last. Gives the length, and the buffer back.
    pub(super) fn finish(mut self) -> io::Result<(u64, Vec<u8>)> {
        put_checksum(&mut self.header, self.hasher.digest());
        if self.at == 0 {
            self.buffer[..HEADER_LEN].copy_from_slice(&self.header);
            self.file.write_at(0, &self.buffer)?;
            self.at = self.buffer.len() as u64;
        } else {
            self.flush()?;
            self.file.write_at(0, &self.header)?;
        }
        Ok((self.at, self.buffer))
    }
}
