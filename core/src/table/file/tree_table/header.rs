//! First page of the file: the header, twice, and two roots.
//!
//! ```text
//! 0     header 64, and 64 again: seed 8   name of the values 12
//! 512   root 64
//! 1024  root 64
//!
//! root: generation 8   page 4   0 4   generation of the page 8   entries 8   0 24   check 8
//! ```
//!
//! A sync writes the root that the last one did not, each in a sector of its own. The whole one with the later generation
//! counts.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::pointer::{PagePointer, TreeRoot};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{FileKind, HEADER_LEN, Storage};
use crate::table::ValueType;
use crate::table::foreign::described;
use crate::wire::{Endian, Reader};

const KIND: FileKind =
    FileKind { name: "an ordered table", magic: b"\x89BWT\r\n\x1a\n", format: 2 };

/// Places of the two roots.
const ROOTS_AT: [u64; 2] = [512, 1024];

/// Bytes of a root.
const ROOT_LEN: usize = 64;

/// Bytes of the page that have something in them.
pub(super) const USED_LEN: usize = 1024 + ROOT_LEN;

/// Whole roots of a header, the later one first, each with its place.
pub(super) type FoundRoots = [Option<(TreeRoot, usize)>; 2];

/// Header of an ordered table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeHeader {
    /// Random number, part of all checks.
    pub(super) seed: u64,
    pub(super) values: ValueType,
}

/// Returns true if a file that begins so is an ordered table, of whatever format.
pub(in crate::table::file) fn is_beginning(beginning: &[u8]) -> bool {
    beginning.starts_with(KIND.magic)
}

impl TreeHeader {
    /// Makes the first page of a file, which has `root` as both of its roots.
    pub(super) fn to_page(self, root: TreeRoot) -> Vec<u8> {
        let mut page = vec![0; USED_LEN];
        let header = KIND.header(&[&self.seed.to_le_bytes(), &self.values.to_bytes()]);
        page[..HEADER_LEN].copy_from_slice(&header);
        page[HEADER_LEN..2 * HEADER_LEN].copy_from_slice(&header);
        for at in ROOTS_AT {
            let at = at as usize;
            page[at..at + ROOT_LEN].copy_from_slice(&self.root_bytes(root));
        }
        page
    }

    fn root_bytes(self, root: TreeRoot) -> [u8; ROOT_LEN] {
        let mut bytes = [0; ROOT_LEN];
        bytes[..8].copy_from_slice(&root.generation.to_le_bytes());
        bytes[8..12].copy_from_slice(&root.page.page.to_le_bytes());
        bytes[16..24].copy_from_slice(&root.page.generation.to_le_bytes());
        bytes[24..32].copy_from_slice(&root.len.to_le_bytes());
        let check = xxh3_64_with_seed(&bytes[..ROOT_LEN - 8], self.seed);
        bytes[ROOT_LEN - 8..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn root(self, bytes: &[u8]) -> Option<TreeRoot> {
        let (checked, check) = bytes.split_at_checked(ROOT_LEN - 8)?;
        if xxh3_64_with_seed(checked, self.seed).to_le_bytes() != *check {
            return None;
        }
        let mut fields = Reader::new(checked);
        let generation = fields.u64(Endian::Little)?;
        let page = fields.u32(Endian::Little)?;
        fields.u32(Endian::Little)?;
        let page = PagePointer { page, generation: fields.u64(Endian::Little)? };
        Some(TreeRoot { generation, page, len: fields.u64(Endian::Little)? })
    }

    /// Reads the header and the roots, the later one first, each with its place.
    pub(super) fn read(storage: &dyn Storage) -> Result<(TreeHeader, FoundRoots)> {
        let read = || -> std::io::Result<Vec<u8>> {
            let mut page = vec![0; storage.len()?.min(USED_LEN as u64) as usize];
            storage.read_at(0, &mut page)?;
            Ok(page)
        };
        let mut page = read().map_err(|error| Error::io("read", &error))?;
        check_beginning(&page)?;
        if page.len() < USED_LEN {
            let message = "expected an ordered table, found a file that ends in its header";
            return Err(Error::new(ErrorKind::Corrupt, message).at(page.len() as u64));
        }
        page.truncate(USED_LEN);
        let header = match TreeHeader::from_copy(&page[..HEADER_LEN])? {
            Some(header) => header,
            None => TreeHeader::from_copy(&page[HEADER_LEN..2 * HEADER_LEN])?
                .ok_or_else(|| damaged("a header", 0))?,
        };
        let mut roots = [0, 1].map(|place| {
            let at = ROOTS_AT[place] as usize;
            Some((header.root(&page[at..at + ROOT_LEN])?, place))
        });
        roots.sort_by_key(|found| std::cmp::Reverse(found.map(|(root, _)| root.generation)));
        match roots[0].is_none() {
            true => Err(damaged("the root of a tree", ROOTS_AT[0])),
            false => Ok((header, roots)),
        }
    }

    fn from_copy(copy: &[u8]) -> Result<Option<TreeHeader>> {
        let Some(mut fields) = KIND.fields(copy)? else { return Ok(None) };
        let seed = fields.u64(Endian::Little).unwrap_or_default();
        let values = ValueType::from_header(fields.rest(), 24)?;
        Ok(Some(TreeHeader { seed, values }))
    }

    /// Writes a root to its place.
    pub(super) fn write_root(
        self,
        storage: &dyn Storage,
        root: TreeRoot,
        place: usize,
    ) -> std::io::Result<()> {
        storage.write_at(ROOTS_AT[place & 1], &self.root_bytes(root))
    }
}

/// Fails if a file that begins so is no ordered table. One copy of the header is enough.
fn check_beginning(page: &[u8]) -> Result<()> {
    if is_beginning(page) || page.get(HEADER_LEN..).is_some_and(is_beginning) {
        return Ok(());
    }
    let found = match page.iter().all(|byte| *byte == 0) {
        true if page.is_empty() => "an empty file".to_owned(),
        true => "zeros: a table whose creation was interrupted can be deleted".to_owned(),
        false => described(page),
    };
    Err(Error::format("a table file of Bytewright", found).at(0))
}

fn damaged(expected: &str, offset: u64) -> Error {
    let message = format!("expected {expected}, found bytes that do not match their checksum");
    Error::new(ErrorKind::Corrupt, message).at(offset)
}
