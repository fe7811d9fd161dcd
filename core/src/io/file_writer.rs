//! A file that is written from its beginning to its end, and a file that is put in another's place.
//!
//! What is written twice after an error stands where it should: bytes have their place in the file, and
//! the place moves on only when all of them are written.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::directory::{Directory, FileDirectory};
use super::shared_file::FileOwner;
use super::storage::{FileStorage, Storage};
use crate::error::{Error, ErrorKind, Result};

/// Writes a file.
#[derive(Debug)]
pub struct FileWriter {
    storage: Box<dyn Storage>,
    name: String,
    position: u64,
    replaced: Option<Replaced>,
}

/// The file that the new one is to replace.
#[derive(Debug)]
struct Replaced {
    directory: Box<dyn Directory>,
    /// The name of the new file until it is whole.
    temporary: OsString,
    name: OsString,
    /// A forked child leaves the temporary file to its parent.
    process: u32,
}

/// How often another temporary name is tried where one is taken.
const NAMES_MAX: u32 = 1000;

impl FileWriter {
    /// Writes the file at `path` anew, or behind what it has. It is made where it is missing.
    pub fn open(path: &Path, append: bool) -> Result<FileWriter> {
        let name = path.to_string_lossy().into_owned();
        let failed = |error: io::Error| Error::io("open", &error).in_file(&name);
        let mut options = OpenOptions::new();
        options.create(true);
        let options =
            if append { options.append(true) } else { options.write(true).truncate(true) };
        let file = options.open(path).map_err(failed)?;
        let position = file.metadata().map_err(failed)?.len();
        let storage = Box::new(FileStorage::from(file));
        Ok(FileWriter { storage, name, position, replaced: None })
    }

    /// Writes a file that takes the place of the one at `path`, with its mode and owner, when
    /// [`FileWriter::finish`] is called. Where `path` is a link, what it leads to is replaced.
    pub fn replace(path: &Path) -> Result<FileWriter> {
        let shown = path.to_string_lossy();
        let failed = |error: io::Error| Error::io("replace", &error).in_file(&shown);
        let (directory, name) = FileDirectory::find(path).map_err(failed)?;
        let owner = match rustix::fs::stat(path) {
            Ok(status) if !rustix::fs::FileType::from_raw_mode(status.st_mode).is_file() => {
                let message = "expected a file to replace, found what is none";
                return Err(Error::new(ErrorKind::Argument, message).in_file(&shown));
            }
            Ok(status) => Some(FileOwner {
                mode: status.st_mode & 0o7777,
                user: status.st_uid,
                group: status.st_gid,
            }),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(failed(errno.into())),
        };
        Self::replace_in(Box::new(directory), &name, owner, &shown)
    }

    /// The same for the file `name` of a directory, which errors call `shown`.
    pub fn replace_in(
        directory: Box<dyn Directory>,
        name: &OsStr,
        owner: Option<FileOwner>,
        shown: &str,
    ) -> Result<FileWriter> {
        for number in 0..NAMES_MAX {
            let mut temporary = OsString::from(".");
            temporary.push(name);
            temporary.push(format!(".{}-{number}.tmp", std::process::id()));
            match directory.create(&temporary, owner) {
                Ok(storage) => {
                    let process = std::process::id();
                    let name = name.to_owned();
                    let replaced = Some(Replaced { directory, temporary, name, process });
                    let name = shown.to_owned();
                    return Ok(FileWriter { storage, name, position: 0, replaced });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(Error::io("create a file beside", &error).in_file(shown));
                }
            }
        }
        let message = "expected a name for a temporary file, found them all taken";
        Err(Error::new(ErrorKind::Io(None), message).in_file(shown))
    }

    /// What people call the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where in the file the next byte goes.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether it is to replace another file.
    pub fn replaces(&self) -> bool {
        self.replaced.is_some()
    }

    /// Writes all of `bytes`. After an error it may be called again with the same ones.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.storage.write_at(self.position, bytes);
        written.map_err(|error| self.failed("write", &error))?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Returns when what was written will survive a power cut.
    pub fn sync(&self) -> Result<()> {
        self.storage.sync().map_err(|error| self.failed("sync", &error))
    }

    /// Puts the file in the place of the one that it replaces, so that a power cut leaves the one or the
    /// other, whole. After an error the old one has its name still, unless it is the last step that
    /// failed.
    pub fn finish(&mut self) -> Result<()> {
        if self.replaced.is_none() {
            return Ok(());
        }
        self.sync()?;
        if let Some(replaced) = &self.replaced {
            let renamed = replaced.directory.rename(&replaced.temporary, &replaced.name);
            renamed.map_err(|error| self.failed("rename", &error))?;
        }
        let Some(replaced) = self.replaced.take() else { return Ok(()) };
        let synced = replaced.directory.sync();
        synced.map_err(|error| self.failed("sync the directory of", &error))
    }

    fn failed(&self, action: &str, error: &io::Error) -> Error {
        Error::io(action, error).in_file(&self.name)
    }
}

impl Drop for FileWriter {
    /// Takes a file away that did not become whole.
    fn drop(&mut self) {
        let replaced = self.replaced.as_ref();
        if let Some(replaced) = replaced.filter(|replaced| replaced.process == std::process::id()) {
            // Nothing can be told about it, and the name says what it is.
            let _ = replaced.directory.remove(&replaced.temporary);
        }
    }
}
