//! A small file in one piece, for what cannot be decoded piece by piece.

use std::path::{Path, PathBuf};

use super::source::{FileSource, Source};
use crate::error::{Error, ErrorKind, Result};

/// Bytes that are read at once.
const PIECE_LEN: usize = 64 << 10;

/// A file that was read as a whole.
#[derive(Debug)]
pub struct WholeFile {
    /// The one path that leads to it without links, by which it can be told from others.
    pub path: PathBuf,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

impl WholeFile {
    /// Reads the file at `path`; none if there is none. A pipe is no such file: whoever names it in a
    /// text could make us wait for ever.
    ///
    /// # Errors
    ///
    /// `Limit` if it has more than `len_max` bytes, `Io` for what the operating system refuses.
    pub fn read(path: &Path, len_max: usize) -> Result<Option<Self>> {
        let shown = path.display().to_string();
        let path = match std::fs::canonicalize(path) {
            Ok(path) => path,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(Error::io("find", &error).in_file(&shown)),
        };
        let mut source = FileSource::open(&path).map_err(|error| error.in_file(&shown))?;
        if !source.is_nonblocking() {
            let message = "expected a file, found something that may have no end";
            return Err(Error::new(ErrorKind::Argument, message).in_file(&shown));
        }
        let mut bytes = Vec::new();
        loop {
            bytes.reserve(PIECE_LEN);
            let read = source.read(&mut bytes, PIECE_LEN);
            if read.map_err(|error| error.in_file(&shown))? == 0 {
                return Ok(Some(WholeFile { path, bytes }));
            }
            if bytes.len() > len_max {
                let error = Error::limit("a file in bytes", len_max as u64, bytes.len() as u64);
                return Err(error.in_file(&shown));
            }
        }
    }
}

/// Returns true if there is no such file, or a part of its path is none that could hold it.
fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}
