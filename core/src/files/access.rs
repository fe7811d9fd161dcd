//! Who may use a file: owner, group, mode and access control list, for a file that takes the place of
//! another.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{Gid, Stat, Uid};
use rustix::fs::{Mode, XattrFlags, fchmod, fchown, fgetxattr, fremovexattr, fsetxattr, fstat};
use rustix::io::Errno;

use super::storage::Storage;

/// The attribute in which Linux keeps an access control list.
const ACL_NAME: &str = "system.posix_acl_access";

/// The longest attribute that Linux keeps.
const ACL_LEN_MAX: usize = 64 << 10;

/// Who may use a file, but for its access control list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOwner {
    /// The bits of permission.
    pub mode: u32,
    /// The number of the user it belongs to.
    pub user: u32,
    /// The number of the group it belongs to.
    pub group: u32,
}

impl FileOwner {
    /// Returns this owner with a mode that allows nothing to anybody else.
    pub fn private(self) -> FileOwner {
        FileOwner { mode: self.mode & 0o600, ..self }
    }

    /// Who may use `file`.
    pub fn of(file: &File) -> io::Result<FileOwner> {
        Ok(FileOwner::from(&fstat(file)?))
    }

    /// Gives `storage` to this owner, as far as this process may. What is no file has none.
    pub fn give(self, storage: &dyn Storage) -> io::Result<()> {
        storage.file().map_or(Ok(()), |file| self.give_as_far_as_allowed(file))
    }

    pub(super) fn give_as_far_as_allowed(self, file: &File) -> io::Result<()> {
        // Only the superuser may give files away; the others have them in their group at best.
        let _ = fchown(file, Some(Uid::from_raw(self.user)), Some(Gid::from_raw(self.group)));
        Ok(fchmod(file, Mode::from_raw_mode(self.mode & 0o777))?)
    }
}

impl From<&Stat> for FileOwner {
    fn from(status: &Stat) -> FileOwner {
        FileOwner { mode: status.st_mode & 0o7777, user: status.st_uid, group: status.st_gid }
    }
}

/// Who may use a file, its access control list included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAccess {
    owner: FileOwner,
    /// The access control list as the system has it; empty without one.
    acl: Vec<u8>,
}

impl FileAccess {
    /// Who may use `file`.
    pub fn of(file: &File) -> io::Result<FileAccess> {
        Ok(FileAccess { owner: FileOwner::of(file)?, acl: acl_of(file)? })
    }

    /// Owner, group and mode.
    pub fn owner(&self) -> FileOwner {
        self.owner
    }

    /// Lets the same people use `file`, and nobody else. [`io::ErrorKind::PermissionDenied`] where this
    /// process may not give a file to the owner or the group.
    pub fn give_to(&self, file: &File) -> io::Result<()> {
        let FileOwner { mode, user, group } = self.owner;
        let status = fstat(file)?;
        if (status.st_uid, status.st_gid) != (user, group) {
            fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
        }
        // The directory may have given it a list of its own.
        match self.acl.is_empty() {
            true => remove_acl(file)?,
            false => fsetxattr(file, ACL_NAME, &self.acl, XattrFlags::empty())?,
        }
        Ok(fchmod(file, Mode::from_raw_mode(mode))?)
    }
}

fn acl_of(file: &File) -> io::Result<Vec<u8>> {
    let mut acl = vec![0; ACL_LEN_MAX];
    match fgetxattr(file, ACL_NAME, &mut acl[..]) {
        Ok(len) => {
            acl.truncate(len);
            Ok(acl)
        }
        Err(errno) if is_without_acl(errno) => Ok(Vec::new()),
        Err(errno) => Err(errno.into()),
    }
}

fn remove_acl(file: &File) -> io::Result<()> {
    match fremovexattr(file, ACL_NAME) {
        Err(errno) if !is_without_acl(errno) => Err(errno.into()),
        _ => Ok(()),
    }
}

/// Returns true if the file has no list, or its file system knows none.
fn is_without_acl(errno: Errno) -> bool {
    [Errno::NODATA, Errno::OPNOTSUPP, Errno::NOSYS].contains(&errno)
}

/// Makes a file that is of `owner`, as far as may be.
pub(super) fn create_for(path: &Path, options: &OpenOptions, owner: FileOwner) -> io::Result<File> {
    // Nobody else may open it before it is as it should be.
    let file = options.clone().mode(owner.mode & 0o600).create_new(true).open(path)?;
    owner.give_as_far_as_allowed(&file)?;
    Ok(file)
}
