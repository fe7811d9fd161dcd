//! A file that is written from its beginning to its end, one that is appended to, and one that is put in
//! another's place.
//!
//! An error in the middle doubles nothing. Bytes of a new file have their place in it, which moves on only
//! when all of them are written, so what is written once more stands where it stood. Bytes that are appended
//! have no place before the system gives them one, because others may append, too: those that it has taken
//! are no longer among the ones to be written.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rustix::io::Errno;

use super::directory::{Directory, FileDirectory};
use super::shared_file::FileOwner;
use super::storage::{FileStorage, Storage};
use crate::error::{Error, ErrorKind, Result};

/// Writes a file.
#[derive(Debug)]
pub struct FileWriter {
    output: Output,
    name: String,
    position: u64,
    replaced: Option<Replaced>,
}

/// Where bytes go.
#[derive(Debug)]
enum Output {
    /// To the place that the writer says.
    At(Box<dyn Storage>),
    /// Behind all that the file has when they come.
    Behind(File),
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
    /// Writes the file at `path` anew. It is made where it is missing.
    pub fn open(path: &Path) -> Result<FileWriter> {
        let (file, name) = open_with(OpenOptions::new().write(true).truncate(true), path)?;
        let output = Output::At(Box::new(FileStorage::from(file)));
        Ok(FileWriter { output, name, position: 0, replaced: None })
    }

    /// Writes behind what the file at `path` has, and behind what others append meanwhile. It is made
    /// where it is missing.
    pub fn append(path: &Path) -> Result<FileWriter> {
        let (file, name) = open_with(OpenOptions::new().append(true), path)?;
        let metadata = file.metadata().map_err(|error| Error::io("open", &error).in_file(&name))?;
        let position = metadata.len();
        Ok(FileWriter { output: Output::Behind(file), name, position, replaced: None })
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
                    let output = Output::At(storage);
                    return Ok(FileWriter { output, name, position: 0, replaced });
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

    /// Where in the file the next byte goes, as far as nobody else appends to it.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether it is to replace another file.
    pub fn replaces(&self) -> bool {
        self.replaced.is_some()
    }

    /// Writes all of `bytes` and takes them out; after an error those are left that are to be written
    /// still.
    pub fn write(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let before = bytes.len();
        let written = match &mut self.output {
            Output::At(storage) => storage.write_at(self.position, bytes).map(|()| bytes.clear()),
            Output::Behind(file) => write_and_take(file, bytes),
        };
        self.position += (before - bytes.len()) as u64;
        written.map_err(|error| self.failed("write", &error))
    }

    /// Returns when what was written will survive a power cut.
    pub fn sync(&self) -> Result<()> {
        let synced = match &self.output {
            Output::At(storage) => storage.sync(),
            Output::Behind(file) => file.sync_data(),
        };
        synced.map_err(|error| self.failed("sync", &error))
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

/// The file at `path`, made where it is missing, and what people call it.
fn open_with(options: &mut OpenOptions, path: &Path) -> Result<(File, String)> {
    let name = path.to_string_lossy().into_owned();
    match options.create(true).open(path) {
        Ok(file) => Ok((file, name)),
        Err(error) => Err(Error::io("open", &error).in_file(&name)),
    }
}

/// Writes `bytes` from the first on, and takes out those that `output` took, also where the next ones
/// fail.
fn write_and_take(output: &mut impl Write, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut taken = 0;
    let outcome = loop {
        let left = bytes.get(taken..).unwrap_or_default();
        if left.is_empty() {
            break Ok(());
        }
        match output.write(left) {
            Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => taken += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    bytes.drain(..taken.min(bytes.len()));
    outcome
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes three bytes at a time and fails every other time.
    #[derive(Default)]
    struct Failing {
        taken: Vec<u8>,
        calls: usize,
    }

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.calls += 1;
            match self.calls % 4 {
                1 => Err(io::ErrorKind::Interrupted.into()),
                3 => Err(io::ErrorKind::StorageFull.into()),
                _ => {
                    let count = bytes.len().min(3);
                    self.taken.extend_from_slice(&bytes[..count]);
                    Ok(count)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_was_taken_before_an_error_is_not_written_again() {
        let (mut output, mut bytes) = (Failing::default(), b"some bytes".to_vec());
        let mut failures = 0;
        while write_and_take(&mut output, &mut bytes).is_err() {
            failures += 1;
            bytes.extend_from_slice(b"!");
        }
        assert!(failures > 0);
        assert!(bytes.is_empty());
        let mut expected = b"some bytes".to_vec();
        expected.resize(expected.len() + failures, b'!');
        assert_eq!(output.taken, expected);
    }

    #[test]
    fn an_output_that_takes_nothing_fails_and_takes_nothing() {
        let mut bytes = b"some bytes".to_vec();
        let none: &mut [u8] = &mut [];
        assert!(write_and_take(&mut &mut *none, &mut bytes).is_err());
        assert_eq!(bytes, b"some bytes");
    }
}
