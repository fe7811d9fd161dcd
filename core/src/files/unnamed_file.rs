//! Files that have no name until they are whole. Linux makes them without one. Where the file system cannot, they are
//! hidden behind a name that nobody can guess, so that no link can be planted there and no file of a user has it.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

#[cfg(target_os = "linux")]
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
#[cfg(target_os = "linux")]
use rustix::io::Errno;

use super::access::{FileOwner, create_for};
use super::directory::Displaced;
use super::process_mark::ProcessMark;

/// Bytes of a name that its hidden one begins with, so that the whole fits where the name does.
const SHOWN_LEN_MAX: usize = 200;

/// Name of a file until it is whole, if it has to have one.
#[derive(Debug)]
pub struct HiddenName {
    path: Mutex<Option<PathBuf>>,
    /// A forked child leaves the file to its parent.
    process: ProcessMark,
}

impl HiddenName {
    /// Has `rename` give the file another name, after which this one is gone.
    pub(super) fn become_whole(
        &self,
        rename: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        rename(path.as_deref().ok_or(io::ErrorKind::NotFound)?)?;
        *path = None;
        Ok(())
    }

    /// Returns the path of the file, until it has its own name.
    pub fn path(&self) -> Option<PathBuf> {
        self.path.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Leaves the name to another handle of the file.
    pub(super) fn hand_over(&self) -> Option<HiddenName> {
        let path = self.path.lock().unwrap_or_else(PoisonError::into_inner).take();
        path.map(|path| HiddenName { path: Mutex::new(Some(path)), process: self.process })
    }
}

impl Drop for HiddenName {
    fn drop(&mut self) {
        let path = self.path.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(path) = path.filter(|_| self.process.is_here()) {
            // Nothing can be told about it, and the name says what it is.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A name for a file that is to be `name`, which nobody guesses.
pub(super) fn hidden_name(name: &OsStr) -> OsString {
    let shown = name.as_bytes();
    let shown = &shown[..shown.len().min(SHOWN_LEN_MAX)];
    let random = RandomState::new().hash_one(std::process::id());
    let mut hidden = vec![b'.'];
    hidden.extend_from_slice(shown);
    hidden.extend_from_slice(format!(".{random:016x}.tmp").as_bytes());
    OsString::from_vec(hidden)
}

/// Makes a file in `directory` under a name that nobody guesses, of `owner` where one is given.
pub(super) fn create_hidden(
    directory: &Path,
    name: &OsStr,
    owner: Option<FileOwner>,
) -> io::Result<(File, HiddenName)> {
    let path = directory.join(hidden_name(name));
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let file = match owner {
        Some(owner) => create_for(&path, &options, owner)?,
        None => options.create_new(true).open(&path)?,
    };
    Ok((file, HiddenName { path: Mutex::new(Some(path)), process: ProcessMark::new() }))
}

/// Makes a file without a name, of `owner` where one is given; `None` where the system cannot, or cannot give it a name
/// later.
#[cfg(target_os = "linux")]
pub(super) fn open_unnamed(directory: &Path, owner: Option<FileOwner>) -> Option<File> {
    let mode = Mode::from_raw_mode(owner.map_or(0o666, |owner| owner.mode & 0o600));
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(directory, flags, mode).ok()?);
    rustix::fs::stat(path_of_open(&file)).ok()?;
    match owner {
        Some(owner) => owner.give_as_far_as_allowed(&file).ok().map(|()| file),
        None => Some(file),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_unnamed(_: &Path, _: Option<FileOwner>) -> Option<File> {
    None
}

/// Gives a file without a name the name `to`, which must be free.
#[cfg(target_os = "linux")]
pub(super) fn link_unnamed(file: &File, to: &Path) -> io::Result<()> {
    Ok(rustix::fs::linkat(CWD, path_of_open(file), CWD, to, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn link_unnamed(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A path that leads to an open file, whatever its names.
pub(super) fn path_of_open(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Gives a file another name, from which `displaced` says whether another file may be displaced.
pub(super) fn rename_to(from: &Path, to: &Path, displaced: Displaced) -> io::Result<()> {
    match displaced {
        Displaced::Any => std::fs::rename(from, to),
        Displaced::Nothing => rename_to_free(from, to),
    }
}

fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system cannot say so in one call.
        Err(Errno::INVAL | Errno::NOSYS) => {}
        renamed => return Ok(renamed?),
    }
    match std::fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::rename(from, to),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::files::{Directory, FileDirectory, FileStorage, Storage};

    /// An empty folder for one test.
    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("bytewright-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Makes a file in a folder.
    type Make = fn(&Path) -> Box<dyn Storage>;

    /// The two ways to make such a file: without a name, and hidden.
    const WAYS: [Make; 2] = [
        |folder| FileDirectory::new(folder).create_unnamed(OsStr::new("x"), None).unwrap(),
        |folder| Box::new(FileStorage::hidden(folder, OsStr::new("x"), None).unwrap()),
    ];

    #[test]
    fn a_file_gets_its_name_when_it_is_published() {
        let folder = folder("publish");
        let directory = FileDirectory::new(&folder);
        for make in WAYS {
            let file = make(&folder);
            file.write_at(0, b"whole").unwrap();
            assert!(!names(&folder).contains(&"x".to_owned()));
            directory.publish(&*file, OsStr::new("x"), Displaced::Nothing).unwrap();
            assert_eq!(std::fs::read(folder.join("x")).unwrap(), b"whole");
            drop(file);
            std::fs::remove_file(folder.join("x")).unwrap();
        }
        assert!(names(&folder).is_empty());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_not_published_leaves_nothing() {
        let folder = folder("unpublished");
        WAYS.iter().for_each(|make| drop(make(&folder)));
        assert!(names(&folder).is_empty());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_or_link_that_has_the_name_is_displaced_only_where_it_may_be() {
        let folder = folder("displaced");
        let directory = FileDirectory::new(&folder);
        let (to, target) = (folder.join("x"), folder.join("target"));
        for make in WAYS {
            let file = make(&folder);
            std::os::unix::fs::symlink(&target, &to).unwrap();
            let refused = directory.publish(&*file, OsStr::new("x"), Displaced::Nothing);
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            directory.publish(&*file, OsStr::new("x"), Displaced::Any).unwrap();
            assert!(std::fs::symlink_metadata(&to).unwrap().is_file() && !target.exists());
            drop(file);
            assert_eq!(names(&folder), ["x"]);
            std::fs::remove_file(&to).unwrap();
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_hidden_name_fits_where_the_name_does() {
        let folder = folder("long-name");
        let name = "x".repeat(255);
        drop(FileStorage::hidden(&folder, OsStr::new(&name), None).unwrap());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
