//! A system with a simulated disk, a clock that ticks when it is told to, and no locks: one program
//! after another uses it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytewright::files::{
    Directory, FileId, FileOwner, FileSystem, FileVersion, LockKind, SharedFile, SharedMode,
    Storage,
};

use crate::simulated_disk::SimulatedDisk;

/// Between two ticks of the clock that files get their times from.
pub(crate) const TICK: i64 = 10_000_000;

#[derive(Debug, Clone)]
pub(crate) struct SimulatedSystem {
    pub(crate) disk: SimulatedDisk,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    now: i64,
    boot: u128,
    modified: HashMap<u64, i64>,
    changed: HashMap<u64, i64>,
    /// True if times of files may be set.
    is_owner: bool,
}

impl SimulatedSystem {
    /// One that runs for the `boot`th time on `disk`.
    pub(crate) fn new(disk: SimulatedDisk, boot: u128) -> Self {
        let now = 1_700_000_000_123_456_789 + (boot % 1_000) as i64 * 60_000_000_000;
        let state =
            State { now, boot, modified: HashMap::new(), changed: HashMap::new(), is_owner: true };
        SimulatedSystem { disk, state: Arc::new(Mutex::new(state)) }
    }

    /// Lets time pass, in nanoseconds.
    pub(crate) fn pass(&self, time: i64) {
        self.state.lock().unwrap().now += time;
    }

    /// From now on nobody may set times.
    pub(crate) fn own_nothing(&self) {
        self.state.lock().unwrap().is_owner = false;
    }

    /// Writes a whole file in its place and cuts it: the algorithm of the host's own library.
    pub(crate) fn rewrite(&self, name: &str, bytes: &[u8]) {
        let file = self.open(Path::new(name), SharedMode::Create).unwrap();
        file.write_at(0, bytes).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
    }

    /// Writes another file and gives it the name.
    pub(crate) fn rename_over(&self, name: &str, bytes: &[u8]) {
        self.rewrite("tmp", bytes);
        Directory::rename(&self.disk, "tmp".as_ref(), name.as_ref()).unwrap();
    }

    fn version_of(&self, file: &dyn Storage) -> io::Result<FileVersion> {
        let id = file.id()?.unwrap();
        let state = self.state.lock().unwrap();
        let modified = state.modified.get(&id.number).copied().unwrap_or(0);
        let changed = state.changed.get(&id.number).copied().unwrap_or(0);
        Ok(FileVersion { id, len: file.len()?, modified, changed })
    }

    fn file(&self, name: &OsStr) -> io::Result<Box<dyn SharedFile>> {
        let file = self.disk.unsynced_file(name)?;
        Ok(Box::new(File { file, name: name.into(), system: self.clone() }))
    }
}

impl FileSystem for SimulatedSystem {
    fn open(&self, path: &Path, mode: SharedMode) -> io::Result<Box<dyn SharedFile>> {
        let name = path.file_name().unwrap();
        let is_there = Directory::id(&self.disk, name)?.is_some();
        match mode {
            SharedMode::Read | SharedMode::Write if !is_there => {
                Err(io::Error::from_raw_os_error(2))
            }
            _ => self.file(name),
        }
    }

    fn version(&self, path: &Path) -> io::Result<Option<FileVersion>> {
        match Directory::id(&self.disk, path.file_name().unwrap())? {
            Some(_) => Ok(Some(self.file(path.file_name().unwrap())?.version()?)),
            None => Ok(None),
        }
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Directory::remove(&self.disk, path.file_name().unwrap())
    }

    fn sync_names(&self, _: &Path) -> io::Result<()> {
        Directory::sync(&self.disk)
    }

    fn now(&self) -> i64 {
        let mut state = self.state.lock().unwrap();
        state.now += 1_000;
        state.now
    }

    fn boot(&self) -> u128 {
        self.state.lock().unwrap().boot
    }
}

#[derive(Debug)]
struct File {
    file: Box<dyn Storage>,
    name: PathBuf,
    system: SimulatedSystem,
}

impl File {
    fn modify(&self) {
        let number = self.file.id().unwrap().unwrap().number;
        let mut state = self.system.state.lock().unwrap();
        let tick = state.now / TICK * TICK + 123_456;
        state.modified.insert(number, tick);
        state.changed.insert(number, tick);
    }
}

impl Storage for File {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, bytes)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.modify();
        self.file.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.modify();
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        self.file.id()
    }
}

impl SharedFile for File {
    fn try_lock(&self, _: LockKind) -> io::Result<bool> {
        Ok(true)
    }

    fn wait_for_lock(&self, _: LockKind) -> io::Result<bool> {
        Ok(true)
    }

    fn unlock(&self) -> io::Result<()> {
        Ok(())
    }

    fn version(&self) -> io::Result<FileVersion> {
        self.system.version_of(&*self.file)
    }

    fn set_modified(&self, modified: i64) -> io::Result<()> {
        let number = self.file.id()?.unwrap().number;
        let mut state = self.system.state.lock().unwrap();
        if !state.is_owner {
            return Err(io::Error::from_raw_os_error(1));
        }
        state.modified.insert(number, modified);
        let tick = state.now / TICK * TICK + 123_456;
        state.changed.insert(number, tick);
        Ok(())
    }

    fn is_named(&self) -> io::Result<bool> {
        let name = self.name.file_name().unwrap();
        Ok(Directory::id(&self.system.disk, name)? == self.file.id()?)
    }

    fn owner(&self) -> io::Result<FileOwner> {
        Ok(FileOwner { mode: 0o644, user: 0, group: 0 })
    }
}
