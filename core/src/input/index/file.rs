//! The file of an index: where it lies, and how it is found, read and written.
//!
//! ```text
//! header of 64 bytes | windows, one behind another | table
//! fields of the header   content 24 | table offset u64 | table length u32 | CRC32C of the table u32
//! ```
//!
//! It has no name before it is whole. One that is found counts as files do that nobody named: see `files::FoundFile`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::capture_version::{CaptureVersion, VersionMatch};
use super::table::{IndexPart, IndexTable, TABLE_LEN_MAX, WindowPlace};
use crate::bytes::{ByteStream, DeflateState, Resume, SeekPlaces, SeekPoint};
use crate::files::{
    Directory, Displaced, FileDirectory, FileKind, FileOwner, FileStorage, FoundFile, HEADER_LEN,
    Storage, StorageMode, begins_like, name_beside,
};
use crate::wire::Endian;
use crate::{Error, ErrorKind, Result};

/// The variable that names the folder of indexes.
const FOLDER_VARIABLE: &str = "BYTEWRIGHT_INDEX_DIR";

/// The end of the name of an index.
const ENDING: &str = ".bwi";

const KIND: FileKind =
    FileKind { name: "the index of a capture", magic: b"\x89BWI\r\n\x1a\n", format: 1 };

// Bound (Captures): window in the index of a capture = 40 KiB compressed.
/// More than zstd makes of 32 KiB.
const WINDOW_LEN_MAX: u32 = 40 << 10;

/// The place of the index of a capture file.
#[derive(Debug, Clone)]
pub(crate) struct IndexPlace {
    directory: FileDirectory,
    name: OsString,
    capture: PathBuf,
}

/// The file of an index that was found, and its table.
#[derive(Debug)]
pub(crate) struct IndexFile {
    storage: Box<dyn Storage>,
    pub(super) version: CaptureVersion,
    pub(super) table: IndexTable,
    table_offset: u64,
}

/// The file of an index that is not whole yet.
#[derive(Debug)]
pub(super) struct NewIndexFile {
    storage: Box<dyn Storage>,
    end: u64,
}

impl IndexPlace {
    /// The place of the index of the capture at `path`: beside it, or in a folder, which also the environment can name.
    ///
    /// # Errors
    /// `Io` where the path leads nowhere.
    pub(crate) fn of(path: &Path, folder: Option<&Path>) -> Result<Self> {
        let shown = path.display().to_string();
        let found = FileDirectory::find(path);
        let (directory, name) = found.map_err(|error| Error::io("find", &error).in_file(&shown))?;
        let capture = directory.path_of(&name);
        let named = std::env::var_os(FOLDER_VARIABLE).filter(|named| !named.is_empty());
        let folder = folder.map(Path::to_owned).or(named.map(PathBuf::from));
        Ok(match folder {
            None => {
                let name = name_beside(&name, ENDING);
                IndexPlace { directory, name, capture }
            }
            Some(folder) => {
                // Captures of several folders may have one name.
                let tag = xxh3_64(capture.as_os_str().as_bytes());
                let name = name_beside(&name, &format!("-{tag:016x}{ENDING}"));
                IndexPlace { directory: FileDirectory::new(folder), name, capture }
            }
        })
    }

    /// The path of the index.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path_of(&self.name)
    }

    fn named(&self, error: Error) -> Error {
        error.in_file(&self.path().display().to_string())
    }

    fn io(&self, action: &str) -> impl Fn(std::io::Error) -> Error {
        move |error| self.named(Error::io(action, &error))
    }

    /// Opens the index of the file that a stream reads, which may have grown since; none where there is none.
    ///
    /// # Errors
    /// `Format` where it is none, or damaged, or that of another content; `Io` where it cannot be read.
    pub(crate) fn open_for(
        &self,
        stream: &ByteStream,
    ) -> Result<Option<(IndexFile, VersionMatch)>> {
        let Some(file) = self.open()? else { return Ok(None) };
        let (Some(mut source), Some(len), Some(modified)) =
            (stream.another_raw_source(), stream.input_len(), stream.modified())
        else {
            return Ok(None);
        };
        match file.version.of_file(&mut *source, modified, len)? {
            VersionMatch::Other(how) => {
                let found = format_args!(
                    "that of another content: the capture {how}; it is not used, and `bytewright index` makes it anew"
                );
                Err(self.named(Error::format("the index of this capture", found)))
            }
            version => Ok(Some((file, version))),
        }
    }

    /// Opens the index; none where there is none.
    fn open(&self) -> Result<Option<IndexFile>> {
        match self.found()? {
            None => Ok(None),
            Some(storage) => IndexFile::read(storage).map(Some).map_err(|error| self.named(error)),
        }
    }

    /// The file that has the name, if it counts.
    fn found(&self) -> Result<Option<Box<dyn Storage>>> {
        if self.directory.id(&self.name).map_err(self.io("find"))?.is_none() {
            return Ok(None);
        }
        let capture = FileStorage::open_unlocked(&self.capture, StorageMode::Follow)?;
        match self.directory.open_found(&self.name, &capture)? {
            FoundFile::Nothing => Ok(None),
            FoundFile::File(storage) => Ok(Some(storage)),
            FoundFile::Stranger(stranger) => Err(self.named(stranger.refused(KIND.name))),
        }
    }

    /// Makes a file for a new index, for those who may use the capture.
    ///
    /// # Errors
    /// `Io` where the folder takes no file.
    pub(super) fn create(&self) -> Result<NewIndexFile> {
        let capture = FileStorage::open_unlocked(&self.capture, StorageMode::Follow)?;
        let owner = capture.file().map(FileOwner::of).transpose().map_err(self.io("create"))?;
        let created = self.directory.create_unnamed(&self.name, owner);
        let storage = created.map_err(self.io("create"))?;
        Ok(NewIndexFile { storage, end: HEADER_LEN as u64 })
    }

    /// Ends the file of a new index, and gives it its name. An older index is displaced, any other file is not.
    ///
    /// # Errors
    /// `Io` where the file cannot be written, `Argument` where the name is that of another file.
    pub(super) fn publish(
        &self,
        file: &NewIndexFile,
        version: CaptureVersion,
        table: &IndexTable,
    ) -> Result<()> {
        self.check_displaced()?;
        file.write_end(version, table).map_err(self.io("write"))?;
        let published = self.directory.publish(&*file.storage, &self.name, Displaced::Any);
        published.map_err(self.io("create"))
    }

    /// Fails where the name is that of a file that is no index.
    pub(crate) fn check_displaced(&self) -> Result<()> {
        let other = || {
            let message = "expected an index or no file, found another file; move it away, or name a folder \
                           with index_dir";
            self.named(Error::new(ErrorKind::Argument, message))
        };
        match self.found() {
            Ok(None) => Ok(()),
            Ok(Some(file)) => match begins_like(&*file, KIND.magic) {
                Ok(true) => Ok(()),
                Ok(false) => Err(other()),
                Err(error) => Err(self.io("read")(error)),
            },
            Err(error) => Err(error),
        }
    }
}

impl IndexFile {
    fn read(storage: Box<dyn Storage>) -> Result<Self> {
        let failed = |error| Error::io("read", &error);
        let damaged = || Error::format(KIND.name, "bytes that do not match their checks");
        let len = storage.len().map_err(failed)?;
        let mut header = [0; HEADER_LEN];
        if len < HEADER_LEN as u64 {
            return Err(damaged());
        }
        storage.read_at(0, &mut header).map_err(failed)?;
        let mut fields = KIND.fields(&header)?.ok_or_else(damaged)?;
        let version = CaptureVersion::of_bytes(&mut fields).ok_or_else(damaged)?;
        let table_offset = fields.u64(Endian::Little).ok_or_else(damaged)?;
        let table_len = fields.u32(Endian::Little).ok_or_else(damaged)?;
        let check = fields.u32(Endian::Little).ok_or_else(damaged)?;
        let ends = table_offset.checked_add(table_len.into());
        if ends != Some(len) || table_len as usize > TABLE_LEN_MAX {
            return Err(damaged());
        }
        let mut bytes = vec![0; table_len as usize];
        storage.read_at(table_offset, &mut bytes).map_err(failed)?;
        if crc32c::crc32c(&bytes) != check {
            return Err(damaged());
        }
        let table = IndexTable::of_bytes(&bytes).ok_or_else(damaged)?;
        Ok(IndexFile { storage, version, table, table_offset })
    }

    /// The window at a place; none where it is damaged.
    fn window(&self, place: WindowPlace) -> Option<Vec<u8>> {
        if place.len > WINDOW_LEN_MAX {
            return None;
        }
        let mut window = vec![0; place.len as usize];
        self.storage.read_at(place.offset, &mut window).ok()?;
        (crc32c::crc32c(&window) == place.check).then_some(window)
    }

    /// The place at which reading begins for a part; none where its window is damaged.
    pub(super) fn place_of(&self, part: &IndexPart) -> Option<SeekPoint> {
        let resume = match part.window {
            None => Resume::Boundary,
            Some(place) => Resume::Deflate(DeflateState::of_bytes(part.state, self.window(place)?)),
        };
        let IndexPart { position, raw_offset, .. } = *part;
        Some(SeekPoint { position, raw_offset, resume })
    }

    /// Returns true if the capture has one interface, which its header describes.
    pub(crate) fn has_one_interface(&self) -> bool {
        self.table.preamble.is_empty()
    }

    /// The numbers of the first packets of pieces of about `bytes` of its capture.
    pub(crate) fn pieces(&self, bytes: u64) -> Vec<u64> {
        self.table.pieces(self.version.len, bytes)
    }

    /// Bytes of the file.
    pub(super) fn len(&self) -> u64 {
        self.storage.len().unwrap_or(0)
    }
}

impl SeekPlaces for IndexFile {
    fn position(&self, index: usize) -> Option<u64> {
        self.table.parts.get(index).map(|part| part.position)
    }

    fn place(&self, index: usize) -> Option<SeekPoint> {
        self.place_of(self.table.parts.get(index)?)
    }
}

impl NewIndexFile {
    /// Bytes of the file.
    pub(super) fn len(&self) -> u64 {
        self.storage.len().unwrap_or(0)
    }

    /// Writes a window, and answers its place.
    pub(super) fn add_window(&mut self, window: &[u8]) -> std::io::Result<WindowPlace> {
        let place = WindowPlace {
            offset: self.end,
            len: window.len() as u32,
            check: crc32c::crc32c(window),
        };
        self.storage.write_at(self.end, window)?;
        self.end += window.len() as u64;
        Ok(place)
    }

    /// Copies the windows of an older index, which keep their places.
    pub(super) fn copy_windows(&mut self, older: &IndexFile) -> std::io::Result<()> {
        let mut piece = vec![0; 64 << 10];
        while self.end < older.table_offset {
            let count = (older.table_offset - self.end).min(piece.len() as u64) as usize;
            let piece = piece.get_mut(..count).unwrap_or_default();
            older.storage.read_at(self.end, piece)?;
            self.storage.write_at(self.end, piece)?;
            self.end += count as u64;
        }
        Ok(())
    }

    fn write_end(&self, version: CaptureVersion, table: &IndexTable) -> std::io::Result<()> {
        let bytes = table.to_bytes();
        let len = (bytes.len() as u32).to_le_bytes();
        let check = crc32c::crc32c(&bytes).to_le_bytes();
        let header = KIND.header(&[&version.to_bytes(), &self.end.to_le_bytes(), &len, &check]);
        self.storage.write_at(self.end, &bytes)?;
        self.storage.write_at(0, &header)?;
        self.storage.sync()
    }
}
