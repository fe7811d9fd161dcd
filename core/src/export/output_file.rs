//! Bytes in a file that is whole or not there, or in a pipe as they come.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::output::OutputOptions;
use crate::files::FileWriter;
use crate::{Error, Result};

/// An output that is being written. A file has its name after [`OutputFile::finish`]; without it, nothing of the file is
/// left.
///
/// ```
/// use bytewright::export::{OutputFile, OutputOptions};
/// # fn main() -> bytewright::Result<()> {
/// # let path = std::env::temp_dir().join(format!("bytewright-doc-{}.log", std::process::id()));
/// let mut file = OutputFile::create(&path, &OutputOptions::default())?;
/// file.write(&mut b"a line\n".to_vec())?;
/// file.finish()?;
/// # std::fs::remove_file(path).ok();
/// # Ok(())
/// # }
/// ```
pub struct OutputFile {
    destination: OutputDestination,
    name: String,
}

enum OutputDestination {
    File(FileWriter),
    Stream(Box<dyn Write + Send>),
}

impl OutputFile {
    /// Begins a file that takes the place of the one at `path` when it is finished. What is there and no regular file, such
    /// as a named pipe, is written as bytes come.
    ///
    /// # Errors
    /// `Io` where no file can be made there; `Argument` where `options` do not allow to replace what is there.
    pub fn create(path: &Path, options: &OutputOptions) -> Result<Self> {
        let name = path.to_string_lossy().into_owned();
        let destination = match is_stream(path) {
            true => {
                options.check(path)?;
                let opened = File::options().write(true).open(path);
                let pipe = opened.map_err(|error| Error::io("open", &error).in_file(&name))?;
                OutputDestination::Stream(Box::new(pipe))
            }
            false => OutputDestination::File(options.replace(path)?),
        };
        Ok(OutputFile { destination, name })
    }

    /// Writes to a stream, as bytes come; `name` is what errors call it.
    pub fn to_stream(stream: Box<dyn Write + Send>, name: &str) -> Self {
        OutputFile { destination: OutputDestination::Stream(stream), name: name.to_owned() }
    }

    /// Returns its name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The writer of a file.
    pub(super) fn writer(&mut self) -> Option<&mut FileWriter> {
        match &mut self.destination {
            OutputDestination::File(file) => Some(file),
            OutputDestination::Stream(_) => None,
        }
    }

    /// Returns the offset in a file of the next byte once so many more are written; 0 in a stream.
    pub(super) fn position(&self, gathered: usize) -> u64 {
        match &self.destination {
            OutputDestination::File(file) => file.position(gathered),
            OutputDestination::Stream(_) => 0,
        }
    }

    /// Appends bytes, and takes them out of the buffer.
    ///
    /// # Errors
    /// `Io` where the system did not take them.
    pub fn write(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        match &mut self.destination {
            OutputDestination::File(file) => file.write(bytes),
            OutputDestination::Stream(stream) => {
                let written = stream.write_all(bytes).and_then(|()| stream.flush());
                bytes.clear();
                written.map_err(|error| Error::io("write", &error).in_file(&self.name))
            }
        }
    }

    /// Gives a file its name, once it would survive a power cut.
    ///
    /// # Errors
    /// `Io` where the system did not take all of it.
    pub fn finish(&mut self) -> Result<()> {
        match &mut self.destination {
            OutputDestination::File(file) => file.finish(),
            OutputDestination::Stream(_) => Ok(()),
        }
    }

    /// Returns true if what is written is handed on as it comes, as in a named pipe.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.destination, OutputDestination::Stream(_))
    }

    /// As [`FileWriter::hidden_path`].
    pub fn hidden_path(&self) -> Option<PathBuf> {
        match &self.destination {
            OutputDestination::File(file) => file.hidden_path(),
            OutputDestination::Stream(_) => None,
        }
    }
}

/// Returns true if what is at `path` is written as bytes come, such as a named pipe.
pub(super) fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}
