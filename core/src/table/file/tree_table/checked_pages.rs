//! The file below redb: pages with a check beside each, so that damage is found when a page is read.
//!
//! redb keeps checksums of its pages in their parents, and looks at them only when it verifies a whole
//! file. So this layer stands between redb and the file. `docs/tree-table-file.md` draws it:
//!
//! ```text
//! 0       header: magic 8   format 4   0 4   seed 8   values 12   0 24   check 4, and the same again at 64
//! 4096    redb's header: sequence 8   bytes 496   check 8
//! 8192    the same, written in turns with the first
//! 12288   pages: bytes 4096   check 8
//! ```
//!
//! redb never overwrites a page that a commit uses, so a page may be torn by a crash only while
//! nothing refers to it. Its header is the exception. Two copies stand for it: a write goes to the one
//! that was not synced last, so that the other is whole whatever happens, and after a sync both become
//! the same, so that damage to one of them loses nothing.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, ErrorKind, Result};
use crate::files::{FileId, FileKind, HEADER_LEN, Storage};
use crate::table::ValueType;
use crate::table::foreign::described;
use crate::wire::Endian;

/// First bytes of a file. The last of them change when it is copied as text.
pub(in crate::table::file) const MAGIC: &[u8; 8] = b"\x89BWT\r\n\x1a\n";

const KIND: FileKind = FileKind { name: "an ordered table", magic: MAGIC, format: 1 };

/// Bytes of a page, the least that redb reads or writes.
const PAGE_LEN: usize = 4096;

/// Bytes of the check behind a page or a copy of redb's header.
const CHECK_LEN: usize = 8;

/// Bytes from one page to the next.
const STRIDE: usize = PAGE_LEN + CHECK_LEN;

/// Offsets of the two copies of redb's header.
const COPIES: [u64; 2] = [4096, 8192];

/// Bytes of such a copy.
const COPY_LEN: usize = 512;

/// Bytes of redb's header that a copy has room for; redb 4 needs 320.
const REDB_HEADER_LEN: usize = COPY_LEN - 8 - CHECK_LEN;

/// Offset of the first page, which is redb's second: redb's first holds its header.
const PAGES: u64 = 12_288;

/// Pages that are read at once.
const READ_COUNT_MAX: usize = 16;

type RedbHeader = [u8; REDB_HEADER_LEN];

/// A file as redb sees it: the pages without their checks.
#[derive(Debug)]
pub(super) struct CheckedPages {
    below: Arc<dyn Storage>,
    seed: u64,
    values: ValueType,
    /// Present in a process that writes, which alone knows what it wrote last. It is read when it is
    /// first needed, after redb has locked the file.
    writer: Option<Mutex<Option<HeaderWriter>>>,
    /// True if pages are given as they are, to be verified by redb itself.
    trusts: AtomicBool,
    /// True if redb is to make a table of it.
    is_new: bool,
}

/// Copy of redb's header that a writer keeps.
#[derive(Debug)]
struct HeaderWriter {
    header: RedbHeader,
    sequence: u64,
    /// The copy that has this header.
    newest: usize,
    /// The copy that was synced, and is not overwritten before the other is. After opening a file
    /// nobody knows which one that is.
    synced: Option<usize>,
}

impl CheckedPages {
    /// Writes what a new file begins with: the header, and room for redb's.
    pub(super) fn create(
        below: &Arc<dyn Storage>,
        seed: u64,
        values: ValueType,
    ) -> io::Result<CheckedPages> {
        let header = KIND.header(&[&seed.to_le_bytes(), &values.to_bytes()]);
        below.set_len(PAGES)?;
        below.write_at(0, &header)?;
        below.write_at(HEADER_LEN as u64, &header)?;
        let (below, writer, trusts) = (below.clone(), Some(Mutex::default()), false.into());
        let pages = CheckedPages { below, seed, values, writer, trusts, is_new: true };
        // redb takes the file for an empty one, and does not look at its header.
        pages.write_copy(0, 0, &[0; REDB_HEADER_LEN])?;
        Ok(pages)
    }

    /// The pages of the file `below`. [`ErrorKind::Format`] where it does not begin like one of these.
    pub(super) fn open(below: &Arc<dyn Storage>, writes: bool) -> Result<CheckedPages> {
        let failed = |error| Error::io("read the table", &error);
        let mut beginning = [0; 2 * HEADER_LEN];
        let len = below.len().map_err(failed)?.min(beginning.len() as u64) as usize;
        let beginning = &mut beginning[..len];
        below.read_at(0, beginning).map_err(failed)?;
        let copies: Vec<&[u8]> = beginning.chunks_exact(HEADER_LEN).collect();
        if !copies.iter().any(|copy| copy.starts_with(MAGIC)) {
            let found = described(beginning);
            return Err(Error::format("a table file of Bytewright", found).at(0));
        }
        let (below, writer) = (below.clone(), writes.then(Mutex::default));
        let ((seed, values), trusts) = (header_of(&copies)?, AtomicBool::new(false));
        Ok(CheckedPages { below, seed, values, writer, trusts, is_new: false })
    }

    /// Returns the type of the table's values.
    pub(super) fn values(&self) -> ValueType {
        self.values
    }

    /// Lets redb read damaged pages, because it verifies them itself, or ends that.
    pub(super) fn trust(&self, trusts: bool) {
        self.trusts.store(trusts, Ordering::Relaxed);
    }

    /// The copy of redb's header that was written last, its place and its number.
    fn newest_header(&self) -> io::Result<(usize, u64, RedbHeader)> {
        let mut newest: Option<(usize, u64, RedbHeader)> = None;
        for (number, offset) in COPIES.into_iter().enumerate() {
            let mut copy = [0; COPY_LEN];
            self.below.read_at(offset, &mut copy)?;
            let (content, check) = copy.split_at(COPY_LEN - CHECK_LEN);
            let (Some((sequence, bytes)), true) =
                (content.split_first_chunk::<8>(), self.check(!number as u64, content) == *check)
            else {
                continue;
            };
            let sequence = u64::from_le_bytes(*sequence);
            if newest.as_ref().is_none_or(|(_, newest, _)| *newest < sequence) {
                let mut header = [0; REDB_HEADER_LEN];
                header.copy_from_slice(bytes);
                newest = Some((number, sequence, header));
            }
        }
        newest.ok_or_else(|| {
            let message =
                "expected a copy of the tree's header that matches its checksum, found none";
            damaged(message, COPIES[0])
        })
    }

    fn write_copy(&self, number: usize, sequence: u64, header: &RedbHeader) -> io::Result<()> {
        let mut copy = [0; COPY_LEN];
        let (content, check) = copy.split_at_mut(COPY_LEN - CHECK_LEN);
        content[..8].copy_from_slice(&sequence.to_le_bytes());
        content[8..].copy_from_slice(header);
        check.copy_from_slice(&self.check(!number as u64, content));
        self.below.write_at(COPIES[number], &copy)
    }

    /// The check of what stands in the place `number`: the number of a page, or of a copy of redb's
    /// header, which no page has.
    fn check(&self, number: u64, bytes: &[u8]) -> [u8; CHECK_LEN] {
        let place = self.seed.wrapping_add(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (xxh3_64(bytes) ^ place).to_le_bytes()
    }

    /// Does `work` with what the writer knows of redb's header.
    fn with_writer<T>(
        &self,
        work: impl FnOnce(&mut HeaderWriter) -> io::Result<T>,
    ) -> io::Result<T> {
        let writer = self.writer.as_ref().ok_or(io::ErrorKind::PermissionDenied)?;
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = &mut *writer {
            return work(writer);
        }
        let (newest, sequence, header) = self.newest_header()?;
        work(writer.insert(HeaderWriter { header, sequence, newest, synced: None }))
    }

    /// Syncs the file, and then makes both copies of the header the same.
    fn sync_with(&self, writer: &mut HeaderWriter) -> io::Result<()> {
        self.below.sync()?;
        if writer.synced != Some(writer.newest) {
            writer.synced = Some(writer.newest);
            self.write_copy(1 - writer.newest, writer.sequence, &writer.header)?;
        }
        Ok(())
    }

    fn write_header(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        self.with_writer(|writer| {
            if writer.synced.is_none() {
                self.sync_with(writer)?;
            }
            let there = writer.header.get_mut(offset..offset + bytes.len());
            there.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(bytes);
            writer.sequence += 1;
            writer.newest = 1 - writer.synced.unwrap_or_default();
            self.write_copy(writer.newest, writer.sequence, &writer.header)
        })
    }

    fn read_header(&self, offset: usize, bytes: &mut [u8]) -> io::Result<()> {
        let header = match &self.writer {
            Some(_) => self.with_writer(|writer| Ok(writer.header))?,
            None => self.newest_header()?.2,
        };
        // Behind the header, the page has nothing.
        let there = header.get(offset..).unwrap_or_default();
        let (used, rest) = bytes.split_at_mut(there.len().min(bytes.len()));
        used.copy_from_slice(&there[..used.len()]);
        rest.fill(0);
        Ok(())
    }

    /// Checks a page as the file has it, and shows it without its check.
    fn checked<'a>(&self, number: u64, stored: &'a [u8]) -> io::Result<&'a [u8]> {
        let (page, check) = stored.split_at(PAGE_LEN);
        match self.check(number, page) == *check || self.trusts.load(Ordering::Relaxed) {
            true => Ok(page),
            false => {
                let message = "expected a page that matches its checksum, found damage";
                Err(damaged(message, place_of(number)))
            }
        }
    }

    fn read_page(&self, number: u64, page: &mut [u8]) -> io::Result<()> {
        let mut stored = [0; STRIDE];
        self.below.read_at(place_of(number), &mut stored)?;
        page.copy_from_slice(self.checked(number, &stored)?);
        Ok(())
    }

    fn read_pages(&self, mut number: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut stored = vec![0; STRIDE * READ_COUNT_MAX];
        for pages in bytes.chunks_mut(PAGE_LEN * READ_COUNT_MAX) {
            let stored = &mut stored[..pages.len() / PAGE_LEN * STRIDE];
            self.below.read_at(place_of(number), stored)?;
            for (page, stored) in pages.chunks_mut(PAGE_LEN).zip(stored.chunks(STRIDE)) {
                page.copy_from_slice(self.checked(number, stored)?);
                number += 1;
            }
        }
        Ok(())
    }

    fn write_pages(&self, mut number: u64, bytes: &[u8]) -> io::Result<()> {
        let mut stored = Vec::with_capacity(bytes.len() / PAGE_LEN * STRIDE);
        let start = place_of(number);
        for page in bytes.chunks(PAGE_LEN) {
            stored.extend_from_slice(page);
            stored.extend_from_slice(&self.check(number, page));
            number += 1;
        }
        self.below.write_at(start, &stored)
    }
}

impl Storage for CheckedPages {
    fn len(&self) -> io::Result<u64> {
        let len = self.below.len()?;
        match len.saturating_sub(PAGES) / STRIDE as u64 {
            0 if self.is_new => Ok(0),
            // redb would take it for an empty file.
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok((count + 1) * PAGE_LEN as u64),
        }
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        if offset.saturating_add(bytes.len() as u64) <= PAGE_LEN as u64 {
            return self.read_header(offset as usize, bytes);
        }
        match (page_at(offset, bytes.len())?, bytes.len()) {
            (number, PAGE_LEN) => self.read_page(number, bytes),
            (number, _) => self.read_pages(number, bytes),
        }
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if offset < PAGE_LEN as u64 {
            return self.write_header(offset as usize, bytes);
        }
        self.write_pages(page_at(offset, bytes.len())?, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let count = len / PAGE_LEN as u64;
        self.below.set_len(match count {
            0 => PAGES,
            count => PAGES + (count - 1) * STRIDE as u64,
        })
    }

    fn sync(&self) -> io::Result<()> {
        match &self.writer {
            None => self.below.sync(),
            Some(_) => self.with_writer(|writer| self.sync_with(writer)),
        }
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        self.below.id()
    }

    fn file(&self) -> Option<&std::fs::File> {
        self.below.file()
    }
}

/// Returns the offset of the page of this number in the file.
fn place_of(number: u64) -> u64 {
    PAGES + (number - 1) * STRIDE as u64
}

/// The number of the page that redb has at `offset`. It reads and writes whole ones.
fn page_at(offset: u64, len: usize) -> io::Result<u64> {
    let page_len = PAGE_LEN as u64;
    match offset >= page_len && offset.is_multiple_of(page_len) && len.is_multiple_of(PAGE_LEN) {
        true => Ok(offset / page_len),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Returns the seed of all checks and the type of the values, from the header or its copy.
fn header_of(copies: &[&[u8]]) -> Result<(u64, ValueType)> {
    for header in copies {
        if let Some(mut fields) = KIND.fields(header)? {
            let seed = fields.u64(Endian::Little).unwrap_or_default();
            return Ok((seed, ValueType::from_header(fields.rest(), 24)?));
        }
    }
    let message = "expected an intact header, found two that do not match their checksums";
    Err(Error::new(ErrorKind::Corrupt, message).at(0))
}

/// The error of damage at `offset`, as redb carries it to who asked for the page.
fn damaged(message: &str, offset: u64) -> io::Error {
    io::Error::other(Error::new(ErrorKind::Corrupt, message).at(offset))
}
