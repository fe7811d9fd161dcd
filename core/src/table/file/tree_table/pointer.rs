//! Places of pages, and the root from which a tree is found.

use crate::files::{PAGE_LEN, PageNumber};
use crate::wire::{Endian, Reader};

/// Place of one page of a tree, and the generation that wrote it. Pages are used again: one of another generation is
/// another page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PagePointer {
    pub(super) page: PageNumber,
    pub(super) generation: u64,
}

impl PagePointer {
    /// Bytes of a pointer in a page.
    pub(super) const LEN: usize = 12;

    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&self.page.to_le_bytes());
        bytes[4..].copy_from_slice(&self.generation.to_le_bytes());
        bytes
    }

    pub(super) fn take(reader: &mut Reader<'_>) -> Option<PagePointer> {
        let page = reader.u32(Endian::Little)?;
        Some(PagePointer { page, generation: reader.u64(Endian::Little)? })
    }
}

/// Returns the place of `page` in the file.
pub(super) fn offset_of(page: PageNumber) -> u64 {
    u64::from(page) * PAGE_LEN as u64
}

/// Pages one behind the other that hold what is too long for a page of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageRun {
    pub(super) first: PagePointer,
    pub(super) count: u32,
}

impl PageRun {
    /// Bytes of a run in a page.
    pub(super) const LEN: usize = PagePointer::LEN + 4;

    /// Bytes behind the content of a run: generation and check.
    pub(super) const TRAILER_LEN: usize = 16;

    /// Returns the number of pages that a run of `len` bytes takes.
    pub(super) fn count_for(len: usize) -> u32 {
        (len + Self::TRAILER_LEN).div_ceil(PAGE_LEN) as u32
    }

    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..PagePointer::LEN].copy_from_slice(&self.first.to_bytes());
        bytes[PagePointer::LEN..].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    pub(super) fn take(reader: &mut Reader<'_>) -> Option<PageRun> {
        let first = PagePointer::take(reader)?;
        Some(PageRun { first, count: reader.u32(Endian::Little)? })
    }

    /// Returns the bytes of all its pages.
    pub(super) fn byte_len(self) -> usize {
        self.count as usize * PAGE_LEN
    }
}

/// Root of a tree as one commit left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeRoot {
    /// Generation of the commit: no page of the tree has a later one.
    pub(super) generation: u64,
    pub(super) page: PagePointer,
    /// Entries in the tree.
    pub(super) len: u64,
}

impl TreeRoot {
    /// Returns what pins its tree.
    pub(super) fn state(self) -> (u64, u64) {
        (self.generation, u64::from(self.page.page))
    }
}
