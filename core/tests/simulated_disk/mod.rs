//! A disk for tests of what keeps files: it fails when it is told to, and shows what a power cut at
//! any moment could have left of it.
//!
//! Every call that changes something (write, set_len, sync, a name) has a number, and is kept in a
//! journal. So one run of a history is enough to ask for a power cut at each of its calls:
//! [`SimulatedDisk::cut`] gives a new disk with what was synced by then, and of the rest what chance
//! says: of each sector the content of any moment since the last sync, or torn at a byte between the
//! contents of two, so that writes are lost, torn and overtake each other. Changes of names survive in
//! their order, so the last ones may be undone.
//!
//! [`SimulatedDisk::killed`] gives what the death of the program during a call leaves, which is all that
//! it did before, and a part of that call.
//!
//! There are no locks: handles of one disk are as those of one program.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytewright::files::{Directory, Displaced, FileId, FileOwner, Storage, StorageMode};
use bytewright::{Error, Result};

use crate::generate::Random;

const SECTOR_LEN: u64 = 512;

pub(crate) const EIO: i32 = 5;
pub(crate) const ENOSPC: i32 = 28;

/// Way in which calls fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nothing happens.
    Io,
    /// Nothing is written, cut or filled for lack of space; syncs and names work.
    NoSpace,
    /// The first part of what is to be written is, then there is no space.
    ShortWrite,
    /// A sync fails, and what it was to write is on disk in part, as after a power cut. A later sync
    /// writes the rest no more. Programs still read what they wrote.
    Sync,
    /// A sync fails as in `Sync`, and programs read what is on disk.
    SyncForgets,
}

/// Files by number, and their names.
#[derive(Debug, Clone, Default)]
struct Content {
    files: Vec<Vec<u8>>,
    names: BTreeMap<OsString, usize>,
}

#[derive(Debug)]
enum Event {
    Write {
        file: usize,
        offset: u64,
        bytes: Vec<u8>,
    },
    SetLen {
        file: usize,
        len: u64,
    },
    Sync {
        file: usize,
    },
    /// A sync that failed and wrote by chance, which this seed repeats.
    FailedSync {
        file: usize,
        seed: u64,
    },
    Create {
        name: OsString,
    },
    CreateUnnamed,
    /// The file gets a name, or a further one.
    Publish {
        file: usize,
        name: OsString,
    },
    Rename {
        from: OsString,
        to: OsString,
    },
    Remove {
        name: OsString,
    },
    SyncDirectory,
    /// A call that failed before anything happened.
    Nothing,
}

#[derive(Debug, Default)]
struct State {
    /// Content of the disk when the journal began.
    beginning: Content,
    /// Content that programs see.
    seen: Content,
    journal: Vec<Event>,
    failure: Option<(Range<u64>, Failure)>,
    reads: u64,
    failing_reads: Range<u64>,
    takes_no_new_files: bool,
}

/// The disk. Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

impl SimulatedDisk {
    /// A disk with nothing on it.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn with(content: Content) -> Self {
        let state = State { beginning: content.clone(), seen: content, ..State::default() };
        SimulatedDisk { state: Arc::new(Mutex::new(state)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file `name`, made where there is none.
    pub(crate) fn file(&self, name: &str) -> Box<dyn Storage> {
        match Directory::open(self, name.as_ref(), StorageMode::Create, Duration::ZERO) {
            Ok(file) => file,
            Err(error) => panic!("{error}"),
        }
    }

    /// The file `name`, made where there is none; its name does not survive a power cut then.
    pub(crate) fn unsynced_file(&self, name: &OsStr) -> io::Result<Box<dyn Storage>> {
        let mut state = self.state();
        if !state.seen.names.contains_key(name) {
            state.change_names(Event::Create { name: name.to_owned() })?;
        }
        let number = state.seen.names[name];
        Ok(Box::new(File { disk: self.clone(), number }))
    }

    /// Returns the bytes that programs read from the file `name`.
    pub(crate) fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        Some(state.seen.files[*state.seen.names.get(OsStr::new(name))?].clone())
    }

    /// The names of its files, in order.
    #[allow(dead_code, reason = "not every test that has a disk asks for them")]
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.state().seen.names.keys().cloned().collect::<Vec<_>>();
        let mut names: Vec<_> =
            names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The number of the file that has the name `name`: how many were made before it.
    pub(crate) fn file_number(&self, name: &str) -> Option<usize> {
        self.state().seen.names.get(OsStr::new(name)).copied()
    }

    /// Returns the number of calls that have changed something, or tried to.
    pub(crate) fn calls(&self) -> u64 {
        self.state().journal.len() as u64
    }

    /// Returns the number of reads.
    pub(crate) fn reads(&self) -> u64 {
        self.state().reads
    }

    /// Lets the changing calls with these numbers fail.
    pub(crate) fn fail(&self, calls: Range<u64>, failure: Failure) {
        self.state().failure = Some((calls, failure));
    }

    /// Lets the reads with these numbers fail.
    pub(crate) fn fail_reads(&self, reads: Range<u64>) {
        self.state().failing_reads = reads;
    }

    /// Refuses files that have no name yet, or takes them again.
    pub(crate) fn take_no_new_files(&self, takes_none: bool) {
        self.state().takes_no_new_files = takes_none;
    }

    /// A disk as a power cut during call `call` could leave this one; after the last call, where there
    /// is none of that number. Each `seed` is another way, the same whenever it is asked for.
    pub(crate) fn cut(&self, call: u64, seed: u64) -> SimulatedDisk {
        let state = self.state();
        Self::with(left_over(&state.beginning, &state.journal, call as usize, seed))
    }

    /// A disk as the death of the program during call `call` leaves this one. Each `seed` is another
    /// way. Nothing may have been forgotten by a sync before.
    pub(crate) fn killed(&self, call: u64, seed: u64) -> SimulatedDisk {
        let state = self.state();
        let mut content = state.beginning.clone();
        let (before, rest) = state.journal.split_at(state.journal.len().min(call as usize));
        for event in before {
            happen(&mut content, event);
        }
        let mut random = Random::new(seed);
        match rest.first() {
            Some(Event::Write { file, offset, bytes }) => {
                let part = random.below(bytes.len() + 1);
                write(&mut content.files[*file], *offset, &bytes[..part]);
            }
            Some(event) if random.below(2) == 0 => happen(&mut content, event),
            _ => {}
        }
        Self::with(content)
    }
}

impl State {
    /// The failure that is planned for the next changing call.
    fn failure(&self) -> Option<Failure> {
        let (calls, failure) = self.failure.as_ref()?;
        calls.contains(&(self.journal.len() as u64)).then_some(*failure)
    }

    fn failed(&mut self, errno: i32) -> io::Error {
        self.journal.push(Event::Nothing);
        io::Error::from_raw_os_error(errno)
    }

    fn write(&mut self, file: usize, offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        let failure = self.failure();
        match failure {
            Some(Failure::Io) => return Err(self.failed(EIO)),
            Some(Failure::NoSpace) => return Err(self.failed(ENOSPC)),
            Some(Failure::ShortWrite) => bytes = &bytes[..bytes.len() / 2],
            _ => {}
        }
        write(&mut self.seen.files[file], offset, bytes);
        self.journal.push(Event::Write { file, offset, bytes: bytes.to_vec() });
        match failure {
            Some(Failure::ShortWrite) => Err(io::Error::from_raw_os_error(ENOSPC)),
            _ => Ok(()),
        }
    }

    fn set_len(&mut self, file: usize, len: u64) -> io::Result<()> {
        match self.failure() {
            Some(Failure::Io) => return Err(self.failed(EIO)),
            Some(Failure::NoSpace | Failure::ShortWrite)
                if len > self.seen.files[file].len() as u64 =>
            {
                return Err(self.failed(ENOSPC));
            }
            _ => {}
        }
        set_len(&mut self.seen.files[file], len);
        self.journal.push(Event::SetLen { file, len });
        Ok(())
    }

    fn sync(&mut self, file: usize) -> io::Result<()> {
        let failure = match self.failure() {
            Some(Failure::Io) => return Err(self.failed(EIO)),
            Some(failure @ (Failure::Sync | Failure::SyncForgets)) => failure,
            _ => {
                self.journal.push(Event::Sync { file });
                return Ok(());
            }
        };
        let seed = self.journal.len() as u64;
        self.journal.push(Event::FailedSync { file, seed });
        if failure == Failure::SyncForgets {
            let call = self.journal.len();
            let left = left_over(&self.beginning, &self.journal, call, seed);
            self.seen.files[file].clone_from(&left.files[file]);
        }
        Err(io::Error::from_raw_os_error(EIO))
    }

    /// Does a change of names, or of what survives of them.
    fn change_names(&mut self, event: Event) -> io::Result<()> {
        if self.failure() == Some(Failure::Io) {
            return Err(self.failed(EIO));
        }
        let missing = match &event {
            Event::Rename { from, .. } => !self.seen.names.contains_key(from),
            Event::Remove { name } => !self.seen.names.contains_key(name),
            _ => false,
        };
        if missing {
            self.journal.push(Event::Nothing);
            return Err(io::ErrorKind::NotFound.into());
        }
        if let Event::Create { .. } | Event::CreateUnnamed = event {
            self.seen.files.push(Vec::new());
        }
        rename(&mut self.seen.names, self.seen.files.len(), &event);
        self.journal.push(event);
        Ok(())
    }
}

/// Cuts the file or fills it with zeros. (`Vec::resize` fills byte by byte where nothing is optimised.)
fn set_len(file: &mut Vec<u8>, len: u64) {
    let (len, old_len) = (len as usize, file.len());
    if len <= old_len {
        file.truncate(len);
    } else {
        let mut longer = vec![0; len];
        longer[..old_len].copy_from_slice(file);
        *file = longer;
    }
}

fn write(file: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let (start, end) = (offset as usize, offset as usize + bytes.len());
    if file.len() < end {
        set_len(file, end as u64);
    }
    file[start..end].copy_from_slice(bytes);
}

/// Does one change of names; a file that is made has the last of `files` numbers.
fn rename(names: &mut BTreeMap<OsString, usize>, files: usize, event: &Event) {
    match event {
        Event::Create { name } => {
            names.insert(name.clone(), files - 1);
        }
        Event::Rename { from, to } => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
        Event::Remove { name } => {
            names.remove(name);
        }
        Event::Publish { file, name } => {
            names.insert(name.clone(), *file);
        }
        _ => {}
    }
}

/// Applies an event to what programs see.
fn happen(content: &mut Content, event: &Event) {
    match event {
        Event::Write { file, .. } | Event::SetLen { file, .. } => {
            redo(&mut content.files[*file], event);
        }
        Event::Create { .. } | Event::CreateUnnamed => {
            content.files.push(Vec::new());
            rename(&mut content.names, content.files.len(), event);
        }
        _ => rename(&mut content.names, content.files.len(), event),
    }
}

/// Returns the content of the disk after a power cut during `call`.
fn left_over(beginning: &Content, journal: &[Event], call: usize, seed: u64) -> Content {
    let mut content = beginning.clone();
    let mut unsynced: Vec<Vec<&Event>> = vec![Vec::new(); content.files.len()];
    // Changes of names, each with the number of files there were.
    let mut unsynced_names: Vec<(usize, &Event)> = Vec::new();
    for (number, event) in journal.iter().enumerate().take(call.saturating_add(1)) {
        let is_over = number < call;
        match event {
            Event::Write { file, .. } | Event::SetLen { file, .. } => unsynced[*file].push(event),
            Event::Sync { file } if is_over => {
                for event in unsynced[*file].drain(..) {
                    redo(&mut content.files[*file], event);
                }
            }
            Event::FailedSync { file, seed } if is_over => {
                let mut random = Random::new(*seed);
                survive(&mut content.files[*file], &unsynced[*file], &mut random);
                unsynced[*file].clear();
            }
            Event::Create { .. } | Event::CreateUnnamed => {
                content.files.push(Vec::new());
                unsynced.push(Vec::new());
                unsynced_names.push((content.files.len(), event));
            }
            Event::Rename { .. } | Event::Remove { .. } | Event::Publish { .. } => {
                unsynced_names.push((content.files.len(), event));
            }
            Event::SyncDirectory if is_over => {
                for (files, event) in unsynced_names.drain(..) {
                    rename(&mut content.names, files, event);
                }
            }
            _ => {}
        }
    }
    let mut random = Random::new(seed);
    for (file, changes) in content.files.iter_mut().zip(&unsynced) {
        survive(file, changes, &mut random);
    }
    let kept = random.below(unsynced_names.len() + 1);
    for (files, event) in &unsynced_names[..kept] {
        rename(&mut content.names, *files, event);
    }
    content
}

/// Does a change to what is on disk.
fn redo(file: &mut Vec<u8>, event: &Event) {
    match event {
        Event::Write { offset, bytes, .. } => write(file, *offset, bytes),
        Event::SetLen { len, .. } => set_len(file, *len),
        _ => {}
    }
}

/// Part of a file's unsynced changes that reached the disk.
#[derive(Clone, Copy)]
enum Survival {
    /// The first ones, as many in every sector.
    First(u64),
    /// In each sector as many as chance says.
    BySector { seed: u64, changes: u64 },
}

/// Fate of a sector: its bytes below `torn_at` had the first `before` changes, the others the first
/// `after`.
struct Fate {
    torn_at: u64,
    before: u64,
    after: u64,
}

impl Survival {
    fn by_chance(changes: u64, random: &mut Random) -> Survival {
        match random.below(8) {
            0 => Survival::First(0),
            1 => Survival::First(changes),
            2 => Survival::First(random.below_u64(changes + 1)),
            _ => Survival::BySector { seed: random.next(), changes },
        }
    }

    fn of(self, sector: u64) -> Fate {
        match self {
            Survival::First(count) => Fate { torn_at: SECTOR_LEN, before: count, after: count },
            Survival::BySector { seed, changes } => {
                let mut random = Random::new(seed ^ sector.wrapping_mul(0xd134_2543_de82_ef95));
                let before = random.below_u64(changes + 1);
                match random.below(4) {
                    0 => {
                        let torn_at = random.below_u64(SECTOR_LEN);
                        Fate { torn_at, before, after: random.below_u64(changes + 1) }
                    }
                    _ => Fate { torn_at: SECTOR_LEN, before, after: before },
                }
            }
        }
    }
}

/// Does those of the `changes` to `file` that reached the disk.
fn survive(file: &mut Vec<u8>, changes: &[&Event], random: &mut Random) {
    let survival = Survival::by_chance(changes.len() as u64, random);
    let lengths: Vec<u64> = std::iter::once(file.len() as u64)
        .chain(changes.iter().scan(file.len() as u64, |len, event| {
            *len = match event {
                Event::Write { offset, bytes, .. } => (*len).max(offset + bytes.len() as u64),
                Event::SetLen { len, .. } => *len,
                _ => *len,
            };
            Some(*len)
        }))
        .collect();
    let longest = lengths.iter().copied().max().unwrap_or_default();
    let len = match survival {
        Survival::First(count) => lengths[count as usize],
        Survival::BySector { .. } => lengths[random.below(lengths.len())],
    };
    set_len(file, longest);
    for (number, event) in changes.iter().enumerate() {
        match event {
            Event::Write { offset, bytes, .. } => {
                for range in survivors(survival, number as u64, *offset, bytes.len() as u64) {
                    let from = (range.start - offset) as usize..(range.end - offset) as usize;
                    file[range.start as usize..range.end as usize].copy_from_slice(&bytes[from]);
                }
            }
            Event::SetLen { len, .. } => {
                // Bytes that a cut takes away come back as zeros.
                let cut = lengths[number].saturating_sub(*len);
                for range in survivors(survival, number as u64, *len, cut) {
                    file[range.start as usize..range.end as usize].fill(0);
                }
            }
            _ => {}
        }
    }
    file.truncate(len as usize);
}

/// The parts of a change of `len` bytes at `offset` that reached the disk.
fn survivors(survival: Survival, number: u64, offset: u64, len: u64) -> Vec<Range<u64>> {
    let end = offset + len;
    let mut parts = Vec::new();
    for sector in offset / SECTOR_LEN..end.div_ceil(SECTOR_LEN) {
        let fate = survival.of(sector);
        let (start, middle) = (sector * SECTOR_LEN, sector * SECTOR_LEN + fate.torn_at);
        for (range, count) in
            [(start..middle, fate.before), (middle..start + SECTOR_LEN, fate.after)]
        {
            let range = range.start.max(offset)..range.end.min(end);
            if number < count && !range.is_empty() {
                parts.push(range);
            }
        }
    }
    parts
}

/// An open file of the disk.
#[derive(Debug)]
struct File {
    disk: SimulatedDisk,
    number: usize,
}

impl Storage for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.state().seen.files[self.number].len() as u64)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        state.reads += 1;
        if state.failing_reads.contains(&(state.reads - 1)) {
            return Err(io::Error::from_raw_os_error(EIO));
        }
        let (start, file) = (offset as usize, &state.seen.files[self.number]);
        let there = file.get(start..start.saturating_add(bytes.len()));
        bytes.copy_from_slice(there.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.state().write(self.number, offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.state().set_len(self.number, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.state().sync(self.number)
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(Some(FileId { device: 0, number: self.number as u64 }))
    }
}

impl Directory for SimulatedDisk {
    fn open(&self, name: &OsStr, mode: StorageMode, _: Duration) -> Result<Box<dyn Storage>> {
        let failed = |action, error| Error::io(action, &error).in_file(&name.to_string_lossy());
        let mut state = self.state();
        if !state.seen.names.contains_key(name) {
            if mode != StorageMode::Create {
                return Err(failed("open", io::Error::from_raw_os_error(2)));
            }
            let create = Event::Create { name: name.to_owned() };
            state.change_names(create).map_err(|error| failed("create", error))?;
            let synced = state.change_names(Event::SyncDirectory);
            synced.map_err(|error| failed("sync the directory of", error))?;
        }
        let number = state.seen.names[name];
        Ok(Box::new(File { disk: self.clone(), number }))
    }

    fn create(&self, name: &OsStr, _: Option<FileOwner>) -> io::Result<Box<dyn Storage>> {
        let is_there = self.state().seen.names.contains_key(name);
        if is_there {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.unsynced_file(name)
    }

    fn create_unnamed(&self, _: &OsStr, _: Option<FileOwner>) -> io::Result<Box<dyn Storage>> {
        let mut state = self.state();
        if state.takes_no_new_files {
            return Err(state.failed(ENOSPC));
        }
        state.change_names(Event::CreateUnnamed)?;
        let number = state.seen.files.len() - 1;
        Ok(Box::new(File { disk: self.clone(), number }))
    }

    fn publish(&self, file: &dyn Storage, name: &OsStr, displaced: Displaced) -> io::Result<()> {
        let Some(FileId { number, .. }) = file.id()? else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let mut state = self.state();
        if displaced == Displaced::Nothing && state.seen.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.change_names(Event::Publish { file: number as usize, name: name.to_owned() })
    }

    fn id(&self, name: &OsStr) -> io::Result<Option<FileId>> {
        let number = self.state().seen.names.get(name).copied();
        Ok(number.map(|number| FileId { device: 0, number: number as u64 }))
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (from, to) = (from.to_owned(), to.to_owned());
        self.state().change_names(Event::Rename { from, to })
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.state().change_names(Event::Remove { name: name.to_owned() })
    }

    fn sync(&self) -> io::Result<()> {
        self.state().change_names(Event::SyncDirectory)
    }
}
