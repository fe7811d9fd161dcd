//! A file that is written from its beginning to its end, one that is appended to, and one that is put in
//! another's place.
//!
//! An error in the middle doubles nothing. Bytes of a new file have their place in it, which moves on only
//! when all of them are written, so what is written once more stands where it stood. Bytes that are appended
//! have no place before the system gives them one, because others may append, too: those that it has taken
//! are no longer among the ones to be written.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::access::FileOwner;
use super::directory::{Directory, Displaced, FileDirectory};
use super::storage::{FileStorage, Storage};
use crate::error::{Error, ErrorKind, Result};

/// Writes a file.
#[derive(Debug)]
pub struct FileWriter {
    output: FileOutput,
    name: String,
    position: u64,
    replaced: Option<Replaced>,
}

/// Destination of bytes.
#[derive(Debug)]
enum FileOutput {
    /// To the place that the writer says.
    At(Box<dyn Storage>),
    /// Behind all that the file has when they come, which ended there when it was last looked at.
    Behind { file: File, end: u64 },
}

/// The file that the new one is to replace. The new one has no name until it is whole.
#[derive(Debug)]
struct Replaced {
    directory: Box<dyn Directory>,
    name: OsString,
    /// The name that the new file has before it is finished, if any.
    shown: Option<OsString>,
}

impl Drop for Replaced {
    fn drop(&mut self) {
        // A part of a file is of no use under its own name. One that has the name of the whole is wanted as it is.
        if let Some(part) = self.shown.take().filter(|shown| *shown != self.name) {
            let _ = self.directory.remove(&part);
        }
    }
}

impl FileWriter {
    /// Writes the file at `path` anew. It is made where it is missing.
    pub fn open(path: &Path) -> Result<FileWriter> {
        let (file, name) = open_with(OpenOptions::new().write(true).truncate(true), path)?;
        let output = FileOutput::At(Box::new(FileStorage::from(file)));
        Ok(FileWriter { output, name, position: 0, replaced: None })
    }

    /// Writes behind what the file at `path` has, and behind what others append meanwhile. It is made
    /// where it is missing.
    pub fn append(path: &Path) -> Result<FileWriter> {
        let (file, name) = open_with(OpenOptions::new().append(true), path)?;
        let metadata = file.metadata().map_err(|error| Error::io("open", &error).in_file(&name))?;
        let end = metadata.len();
        let output = FileOutput::Behind { file, end };
        Ok(FileWriter { output, name, position: end, replaced: None })
    }

    /// Writes a file that takes the place of the one at `path`, with its mode and owner, when
    /// [`FileWriter::finish`] is called. Where `path` is a link, what it leads to is replaced. Until then it is a file
    /// without a name, of which nothing is left where it is dropped or the process dies; where the file system knows
    /// none, it has a hidden name, which dropping it takes away.
    pub fn replace(path: &Path) -> Result<FileWriter> {
        let shown = path.to_string_lossy();
        let failed = |error: io::Error| Error::io("replace", &error).in_file(&shown);
        let (directory, name) = FileDirectory::find(path).map_err(failed)?;
        let owner = match rustix::fs::stat(path) {
            Ok(status) if !rustix::fs::FileType::from_raw_mode(status.st_mode).is_file() => {
                let message = "expected a regular file to replace, found something else";
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

    /// Replaces the file `name` of a directory as [`FileWriter::replace`] does; errors call it `shown`.
    pub fn replace_in(
        directory: Box<dyn Directory>,
        name: &OsStr,
        owner: Option<FileOwner>,
        shown: &str,
    ) -> Result<FileWriter> {
        let created = directory.create_unnamed(name, owner);
        let storage =
            created.map_err(|error| Error::io("create a file beside", &error).in_file(shown))?;
        let replaced = Some(Replaced { directory, name: name.to_owned(), shown: None });
        let (output, name) = (FileOutput::At(storage), shown.to_owned());
        Ok(FileWriter { output, name, position: 0, replaced })
    }

    /// Returns the name of the file for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the offset of the next byte once so many that were gathered are written, unless somebody else
    /// appends to the file.
    pub fn position(&self, gathered: usize) -> u64 {
        let begin = match &self.output {
            FileOutput::Behind { end, .. } if gathered > 0 => *end,
            _ => self.position,
        };
        begin + gathered as u64
    }

    /// Returns the path of the new file until it is whole, if it has to have a name: left if a signal ends the process.
    pub fn hidden_path(&self) -> Option<PathBuf> {
        match &self.output {
            FileOutput::At(storage) => storage.hidden_name()?.path(),
            FileOutput::Behind { .. } => None,
        }
    }

    /// Returns true if it is to replace another file.
    pub fn replaces(&self) -> bool {
        self.replaced.is_some()
    }

    /// Writes all of `bytes` and takes them out; after an error those are left that are to be written
    /// still.
    pub fn write(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let before = bytes.len();
        let written = match &mut self.output {
            FileOutput::At(storage) => {
                storage.write_at(self.position, bytes).map(|()| bytes.clear())
            }
            FileOutput::Behind { file, .. } => write_and_take(file, bytes),
        };
        self.position += (before - bytes.len()) as u64;
        if let FileOutput::Behind { file, end } = &mut self.output
            && bytes.len() < before
        {
            // The system has gone behind what it took.
            *end = file.stream_position().unwrap_or(self.position);
            self.position = *end;
        }
        written.map_err(|error| self.failed("write", &error))
    }

    /// Goes to a place in the file, from which on the next bytes are written, and answers where that is. A
    /// file that is appended to takes them behind what it has all the same. [`ErrorKind::Io`] with `EINVAL`
    /// where the place is before the beginning, or beyond what a file can have.
    pub fn seek(&mut self, place: SeekFrom) -> Result<u64> {
        let (base, offset) = match place {
            SeekFrom::Start(offset) => (offset, 0),
            SeekFrom::Current(offset) => (self.position, offset),
            SeekFrom::End(offset) => (self.len()?, offset),
        };
        let target =
            base.checked_add_signed(offset).filter(|target| i64::try_from(*target).is_ok());
        self.position = target.ok_or_else(|| self.failed("seek", &Errno::INVAL.into()))?;
        Ok(self.position)
    }

    /// Cuts the file to `len` bytes, behind which the next ones go.
    pub(crate) fn truncate(&mut self, len: u64) -> Result<()> {
        let cut = match &self.output {
            FileOutput::At(storage) => storage.set_len(len),
            FileOutput::Behind { file, .. } => file.set_len(len),
        };
        self.position = len;
        cut.map_err(|error| self.failed("cut", &error))
    }

    /// Bytes that the file has.
    pub(crate) fn len(&self) -> Result<u64> {
        let len = match &self.output {
            FileOutput::At(storage) => storage.len(),
            FileOutput::Behind { file, .. } => file.metadata().map(|metadata| metadata.len()),
        };
        len.map_err(|error| self.failed("look at", &error))
    }

    /// Returns when what was written will survive a power cut.
    pub fn sync(&self) -> Result<()> {
        let synced = match &self.output {
            FileOutput::At(storage) => storage.sync(),
            FileOutput::Behind { file, .. } => file.sync_data(),
        };
        synced.map_err(|error| self.failed("sync", &error))
    }

    /// Replaces the old file with this one, so that a power cut leaves the one or the
    /// other, whole. After an error the old one has its name still, unless it is the last step that
    /// failed.
    pub fn finish(&mut self) -> Result<()> {
        if self.replaced.is_none() {
            return Ok(());
        }
        self.sync()?;
        if let (Some(replaced), FileOutput::At(storage)) = (&self.replaced, &self.output) {
            let Replaced { directory, name, shown } = replaced;
            let named = match shown {
                None => directory.publish(&**storage, name, Displaced::Any),
                Some(shown) if shown == name => Ok(()),
                Some(part) => directory.rename(part, name),
            };
            named.map_err(|error| self.failed("rename", &error))?;
        }
        let Some(mut replaced) = self.replaced.take() else { return Ok(()) };
        replaced.shown = None;
        let synced = replaced.directory.sync();
        synced.map_err(|error| self.failed("sync the directory of", &error))
    }

    /// Gives a new file its name before it is finished, where the name is free, so that what it has from then on is there
    /// however the process ends.
    pub(crate) fn show(&mut self) {
        self.show_as(std::convert::identity);
    }

    /// Gives a new file its name with `.part` behind it until it is finished, as [`FileWriter::show`] does. Dropping the writer
    /// takes it away.
    pub(crate) fn show_part(&mut self) {
        self.show_as(|mut name| {
            name.push(".part");
            name
        });
    }

    fn show_as(&mut self, name_of: impl FnOnce(OsString) -> OsString) {
        let (Some(replaced), FileOutput::At(storage)) = (&mut self.replaced, &self.output) else {
            return;
        };
        let Replaced { directory, name, shown } = replaced;
        // If it cannot have it now, it gets its name at the end, which tells why it cannot.
        if shown.is_none() {
            let name = name_of(name.clone());
            let is_shown = directory.publish(&**storage, &name, Displaced::Nothing).is_ok();
            *shown = is_shown.then_some(name);
        }
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

    /// A path for one test, where nothing is.
    fn path(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("bytewright-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    #[test]
    fn bytes_go_where_the_writer_went() -> Result<()> {
        let path = path("seek");
        let mut writer = FileWriter::open(&path)?;
        writer.write(&mut b"????, body".to_vec())?;
        assert_eq!(writer.seek(SeekFrom::Start(0))?, 0);
        writer.write(&mut b"head".to_vec())?;
        assert_eq!(writer.seek(SeekFrom::End(2))?, 12);
        assert_eq!(writer.seek(SeekFrom::Current(-1))?, 11);
        for place in [SeekFrom::Current(-12), SeekFrom::End(-11), SeekFrom::Start(u64::MAX)] {
            let kind = writer.seek(place).map_err(|error| error.kind());
            assert_eq!(kind, Err(ErrorKind::Io(Some(22))));
        }
        writer.write(&mut b"!".to_vec())?;
        assert_eq!(writer.position(0), 12);
        assert_eq!(std::fs::read(&path).unwrap_or_default(), b"head, body\0!");
        let _ = std::fs::remove_file(path);
        Ok(())
    }

    #[test]
    fn what_is_appended_goes_to_the_end_wherever_the_writer_went() -> Result<()> {
        let path = path("seek-append");
        FileWriter::open(&path)?.write(&mut b"old".to_vec())?;
        let mut writer = FileWriter::append(&path)?;
        assert_eq!(writer.seek(SeekFrom::Start(1))?, 1);
        assert_eq!((writer.position(0), writer.position(2)), (1, 5));
        writer.write(&mut b"new".to_vec())?;
        assert_eq!(writer.position(0), 6);
        assert_eq!(std::fs::read(&path).unwrap_or_default(), b"oldnew");
        let _ = std::fs::remove_file(path);
        Ok(())
    }
}
