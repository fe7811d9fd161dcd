//! Reading what the file holds, after finishing what a crash left unfinished.

use std::io;

use super::journal::{Journal, read_whole};
use super::kept::KeptBytes;
use super::writing::write_new;
use super::{Access, OpenTransaction, SeenFile, Store, stamp};
use crate::error::{Error, Result};
use crate::files::{FileSystem, FileVersion, SharedFile, SharedMode, Storage};

/// Bytes that are compared at once.
const WINDOW: usize = 128 << 10;

impl Store {
    /// Reads the file, unless what is kept is what it holds.
    pub(super) fn read(&mut self) -> Result<()> {
        let (OpenTransaction::Of(access), Some(version)) = (self.transaction, self.version) else {
            return Ok(());
        };
        if self.is_seen(version, access) && !self.options.verify {
            return Ok(());
        }
        let Some(opened) = &mut self.opened else { return Ok(()) };
        // A write that comes after this moment shows in the times that were settled before it.
        let now = self.system.now();
        let journal = opened.journal.live(&*self.system, &opened.path, &*opened.file)?;
        let read = match journal {
            None => self.read_bytes(version, now),
            Some(journal) => self.finish(&journal, access, version, now),
        };
        if let Some(opened) = &self.opened {
            opened.journal.release();
        }
        if read.is_err() {
            self.forget();
        }
        read
    }

    fn read_bytes(&mut self, version: FileVersion, now: i64) -> Result<()> {
        let Some(opened) = &self.opened else { return Ok(()) };
        let read = refresh(&*opened.file, version.len, &mut self.kept);
        let is_same = read.map_err(|error| Error::io("read", &error).in_file(&opened.name()))?;
        if !is_same {
            self.blocks = None;
        }
        let is_settled = stamp::is_settled(&version, now);
        self.seen = Some(SeenFile { version, is_settled, is_overlaid: false });
        Ok(())
    }

    /// Finishes the writing that a live journal tells of, if the file is as that left it.
    fn finish(
        &mut self,
        journal: &Journal,
        access: Access,
        version: FileVersion,
        now: i64,
    ) -> Result<()> {
        self.forget();
        let Some(opened) = &mut self.opened else { return Ok(()) };
        let failed = |error: io::Error| Error::io("read", &error).in_file(&opened.name());
        let mut bytes = read_whole(&*opened.file).map_err(failed)?;
        if !journal.fits(&bytes, self.system.boot()) {
            // Others have written since. It stays so.
            if opened.journal.is_writable() {
                let _ = opened.journal.make_void(&*self.system);
            }
            self.kept = KeptBytes::new(bytes);
            let is_settled = stamp::is_settled(&version, now);
            self.seen = Some(SeenFile { version, is_settled, is_overlaid: false });
            return Ok(());
        }
        let difference = &journal.difference;
        bytes.resize(difference.new_len, 0);
        for (range, new) in journal.new_bytes() {
            bytes[range].copy_from_slice(new);
        }
        let seen = match self.write_finished(journal, &bytes, version) {
            Ok(seen) => seen,
            // To read, it is enough that we know it.
            Err(_) if access == Access::Read => {
                let is_settled = stamp::is_settled(&version, now);
                SeenFile { version, is_settled, is_overlaid: true }
            }
            Err(error) => return Err(error),
        };
        self.kept = KeptBytes::new(bytes);
        self.version = Some(seen.version);
        self.seen = Some(seen);
        Ok(())
    }

    /// Writes what a journal tells, and makes it void.
    fn write_finished(
        &mut self,
        journal: &Journal,
        bytes: &[u8],
        version: FileVersion,
    ) -> Result<SeenFile> {
        let system = &*self.system;
        let Some(opened) = &mut self.opened else {
            return Err(Error::internal("a journal of a file that is not open"));
        };
        let name = opened.name();
        let failed = |error: io::Error| Error::io("write", &error).in_file(&name);
        let again;
        let file = match opened.is_writable {
            true => &*opened.file,
            false => {
                again = open_again(system, opened, version).map_err(failed)?;
                &*again
            }
        };
        if !opened.journal.is_writable() {
            return Err(failed(io::ErrorKind::PermissionDenied.into()));
        }
        let write = || -> io::Result<FileVersion> {
            if journal.is_durable() {
                opened.journal.file().map_or(Ok(()), Storage::sync)?;
            }
            write_new(file, &journal.difference, bytes, &mut 0)?;
            if journal.is_durable() {
                file.sync()?;
            }
            // Only its owner may say when a file was modified.
            let _ = file.set_modified(stamp::stamp(system.now(), version.modified));
            file.version()
        };
        let version = write().map_err(failed)?;
        opened.journal.make_void(system)?;
        let is_settled = stamp::is_settled(&version, system.now());
        Ok(SeenFile { version, is_settled, is_overlaid: false })
    }
}

/// Opens for writing the file that is open for reading.
fn open_again(
    system: &dyn FileSystem,
    opened: &super::opened::OpenedStore,
    version: FileVersion,
) -> io::Result<Box<dyn SharedFile>> {
    let again = system.open(&opened.path, SharedMode::Write)?;
    match again.version()?.id == version.id {
        true => Ok(again),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Makes `kept` what the file of `len` bytes holds. Whether it was that before.
fn refresh(file: &dyn Storage, len: u64, kept: &mut KeptBytes) -> io::Result<bool> {
    let mut same = 0;
    if len == kept.bytes().len() as u64 {
        let mut window = vec![0; WINDOW.min(kept.bytes().len())];
        for part in kept.bytes().chunks(WINDOW) {
            let window = &mut window[..part.len()];
            file.read_at(same as u64, window)?;
            if window != part {
                break;
            }
            same += part.len();
        }
        if same as u64 == len {
            return Ok(true);
        }
    }
    // The old bytes go before new ones come, so that there is room for one of them only.
    let mut bytes = kept.take_bytes();
    bytes.truncate(same);
    let count = usize::try_from(len).unwrap_or(usize::MAX) - same;
    bytes.try_reserve_exact(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(same + count, 0);
    file.read_at(same as u64, &mut bytes[same..])?;
    *kept = KeptBytes::new(bytes);
    Ok(false)
}
