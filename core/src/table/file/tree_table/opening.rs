//! Opening of a file: how it is shared, and the tree with which it begins.
//!
//! The words that processes share count where somebody has the file open, or all who had it were killed since the system started.
//! Otherwise the tree is that of the file's header: as the last one to close it, or a power cut, left it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::allocator::PageAllocator;
use super::check;
use super::header::{FoundRoots, TreeHeader};
use super::pointer::{TreeRoot, offset_of};
use super::roots::{self, TreeRoots};
use super::tree_file::TreeFile;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{self, Attachment, FoundArea, PageMap, Storage};
use crate::table::file::sharing::{AREA_PAGES, AreaMap, Sharing};

/// Way in which a file is opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpeningMode {
    /// It is to be read only.
    pub(super) reads: bool,
    /// All of it is checked first.
    pub(super) verifies: bool,
    /// The root that is used is written in the place of a damaged one.
    pub(super) repairs: bool,
}

/// Opens the pages of `storage`.
pub(super) fn open(
    storage: Arc<dyn Storage>,
    mode: OpeningMode,
    name: &str,
) -> Result<Arc<TreeFile>> {
    let opening = TreeOpening { storage: &storage, mode, name };
    let file = if is_writable(&*storage) {
        match opening.attach() {
            // The file system has no locks or no room, or another machine uses the file.
            Err(error) if mode.reads && is_about_sharing(error.kind()) => opening.follow()?,
            attached => attached?,
        }
    } else if storage.file().is_some() {
        opening.follow()?
    } else {
        opening.copy_with_whole_tree()?
    };
    if mode.repairs {
        file.write_both_roots(Duration::ZERO)?;
    }
    Ok(Arc::new(file))
}

/// Returns true if an error of joining those who share the file is none of the table.
fn is_about_sharing(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::Lock | ErrorKind::Io(_))
}

/// Returns true if the storage is a file of the system that may be written.
fn is_writable(storage: &dyn Storage) -> bool {
    let flags = storage.file().and_then(|file| rustix::fs::fcntl_getfl(file).ok());
    flags.is_some_and(|flags| flags.contains(rustix::fs::OFlags::RDWR))
}

#[derive(Clone, Copy)]
struct TreeOpening<'o> {
    storage: &'o Arc<dyn Storage>,
    mode: OpeningMode,
    name: &'o str,
}

impl TreeOpening<'_> {
    /// The pages of the file for a reader who may not write what the processes share.
    fn follow(self) -> Result<TreeFile> {
        let header = TreeHeader::read(&**self.storage)?;
        let map = Arc::new(self.map(false)?);
        self.whole_tree(header, true, &|sharing| {
            TreeFile::mapped(self.storage.clone(), header.0, sharing, map.clone(), self.name)
        })
    }

    /// Copies of the pages of a storage.
    fn copy_with_whole_tree(self) -> Result<TreeFile> {
        let header = TreeHeader::read(&**self.storage)?;
        self.whole_tree(header, false, &|sharing| {
            TreeFile::copied(self.storage.clone(), header.0, sharing, self.name)
        })
    }

    /// Makes the file with the newest root of its header whose tree is whole.
    fn whole_tree(
        self,
        (header, roots): (TreeHeader, FoundRoots),
        follows: bool,
        file: &dyn Fn(Sharing) -> TreeFile,
    ) -> Result<TreeFile> {
        let mut failure = None;
        for (root, place) in roots.into_iter().flatten() {
            let sharing = Sharing::alone(follows).map_err(|error| Error::io("map", &error))?;
            sharing.roots().begin(root, place, header.seed);
            let file = file(sharing);
            match self.check_tree(&file, root) {
                Ok(()) => return Ok(file),
                Err(error) if error.kind() == ErrorKind::Corrupt => failure.get_or_insert(error),
                Err(error) => return Err(error),
            };
        }
        Err(failure.unwrap_or_else(|| Error::internal("a table without a root")))
    }

    fn check_tree(self, file: &TreeFile, root: TreeRoot) -> Result<()> {
        match self.mode.verifies {
            true => check::verify(file, root),
            false => file.node(root.page).map(|_| ()),
        }
    }

    fn map(self, writes: bool) -> Result<PageMap> {
        let failed = |error| Error::io("map", &error);
        let file = self.storage.file().ok_or_else(|| Error::internal("a table without a file"))?;
        PageMap::of_file(file.try_clone().map_err(failed)?, writes).map_err(failed)
    }

    /// The pages of a file that others use beside this handle.
    fn attach(self) -> Result<TreeFile> {
        let failed = |error| Error::io("map", &error);
        let file = self.storage.file().ok_or_else(|| Error::internal("a table without a file"))?;
        // Before anything is written to the file.
        let (header, _) = TreeHeader::read(&**self.storage)?;
        let (start, end) = (offset_of(1), offset_of(1 + AREA_PAGES));
        files::reserve(file, start, end).map_err(|error| Error::io("write", &error))?;
        let map = Arc::new(self.map(true)?);
        let mut is_checked = true;
        let area = Arc::new(AreaMap(map.clone()));
        let opened = file.try_clone().map_err(failed)?;
        let attachment = Attachment::join(opened, area, |found, words| match found {
            FoundArea::Anew => self.begin(words, &map),
            _ if (TreeRoots { words }).seed() != header.seed => Err(Error::new(
                ErrorKind::Corrupt,
                "expected what processes share of this table, found that of another one",
            )),
            FoundArea::Left => self.settle(header, words, &map),
            FoundArea::Used => {
                is_checked = false;
                Ok(())
            }
        })?;
        let sharing = Sharing::attached(attachment, roots::is_settled);
        let file = TreeFile::mapped(self.storage.clone(), header, sharing, map, self.name);
        if !is_checked {
            let (root, pinned) = file.pin_newest()?;
            let checked = self.check_tree(&file, root);
            file.sharing.unpin(pinned);
            checked?;
        }
        Ok(file)
    }

    /// Begins with the tree that the header names.
    fn begin(self, words: &[AtomicU64], map: &Arc<PageMap>) -> Result<()> {
        let header = TreeHeader::read(&**self.storage)?;
        let whole = self.whole_tree(header, false, &|sharing| {
            TreeFile::mapped(self.storage.clone(), header.0, sharing, map.clone(), self.name)
        })?;
        let roots = whole.sharing.roots();
        TreeRoots { words }.begin(roots.newest().0, roots.durable_place(), whole.header.seed);
        Ok(())
    }

    /// Goes on with the tree of processes that were killed. It is whole, unless somebody wrote a copy over the file that was made
    /// while they used it.
    fn settle(self, header: TreeHeader, words: &[AtomicU64], map: &Arc<PageMap>) -> Result<()> {
        let roots = TreeRoots { words };
        let sharing = Sharing::alone(false).map_err(|error| Error::io("map", &error))?;
        sharing.roots().begin(roots.newest().0, 0, header.seed);
        sharing.roots().set_durable_generation(roots.durable_generation());
        let left = TreeFile::mapped(self.storage.clone(), header, sharing, map.clone(), self.name);
        let root = roots.newest().0;
        let walked = match self.mode.verifies {
            true => check::verify(&left, root),
            false => check::count(&left, root).map(|_| ()),
        };
        match walked {
            Err(error) if error.kind() == ErrorKind::Corrupt => self.begin(words, map),
            walked => {
                PageAllocator::forget(words);
                walked
            }
        }
    }
}
