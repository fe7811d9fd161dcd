//! Words of a shared area, and where each stands. Whoever has the file mapped may change any of them at any time, so a
//! number is checked before it is an index.
//!
//! ```text
//! 0      layout, 0 where there was none
//! 1, 2   boot of the system      3 device      4 inode
//! 5      1 while all of the above and below is valid
//! 6      random number of this use
//! 8, 16  the turns to write and to sync
//! 24     process that is opening or closing a handle, and its namespaces
//! 32     128 words of the owner
//! 160    count of handle records in use, up to the last      168 the same of pins, how often one was made,
//!                                                               and 1 while somebody needs a moment without
//! 172    the turn to replace the file
//! 176    512 handle records of 8 words: process, its start, its namespaces, generation and root being read,
//!        and how often that began
//! 4272   768 pins of 4 words: generation + 1, root, handle + 1, and how often it was set
//! ```

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use rustix::fs::fstat;

use super::process::ProcessIdentity;
use crate::error::{Error, Result};
use crate::files::{FileSystem, LocalFileSystem};

/// Words of a shared area.
pub(crate) const AREA_WORDS: usize = 8192;

// Bound (Tables): handles that have a table's file open, of all processes = 512.
pub(super) const HANDLES_MAX: usize = 512;

// Bound (Tables): snapshots, scans and cursors of a table's file, of all processes = 768.
pub(super) const PINS_MAX: usize = 768;

/// Generation of a handle that reads no state.
pub(super) const NO_GENERATION: u64 = u64::MAX;

/// "bwshare", and the version of this layout.
const LAYOUT: u64 = u64::from_le_bytes(*b"bwshare\x01");

const STATE: usize = 5;
const USE_NUMBER: usize = 6;
const TURNS: usize = 8;
const TURN_WORDS: usize = 8;
const OPENER: usize = 24;
const OWNER_WORDS: usize = 32;
const HANDLE_COUNT: usize = 160;
const PIN_COUNT: usize = 168;
const PINS_MADE: usize = 169;
const PINS_PAUSE: usize = 170;
const REPLACE_TURN: usize = 172;
const HANDLES: usize = 176;
const HANDLE_WORDS: usize = 8;
const PINS: usize = HANDLES + HANDLES_MAX * HANDLE_WORDS;
const PIN_WORDS: usize = 4;

const _: () = assert!(PINS + PINS_MAX * PIN_WORDS <= AREA_WORDS, "all words are in the area");

/// Memory that processes share, for as long as it lives.
pub(crate) trait SharedWords: Deref<Target = [AtomicU64]> + Send + Sync + 'static {}

impl<W: Deref<Target = [AtomicU64]> + Send + Sync + 'static> SharedWords for W {}

/// Turns that the handles of a file take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnKind {
    /// To change the file.
    Write,
    /// To have the system write to the disk what was changed.
    Sync,
    /// To make the next file, which takes the place of this one.
    Replace,
}

impl TurnKind {
    pub(super) const ALL: [TurnKind; 3] = [TurnKind::Write, TurnKind::Sync, TurnKind::Replace];

    pub(super) fn verb(self) -> &'static str {
        match self {
            TurnKind::Write => "write",
            TurnKind::Sync => "sync",
            TurnKind::Replace => "compact",
        }
    }

    fn word(self) -> usize {
        match self {
            TurnKind::Write => TURNS,
            TurnKind::Sync => TURNS + TURN_WORDS,
            TurnKind::Replace => REPLACE_TURN,
        }
    }
}

/// File and start of the system that the words of an area count for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AreaStamp {
    boot: u128,
    device: u64,
    inode: u64,
}

impl AreaStamp {
    pub(super) fn of(file: &File) -> Result<AreaStamp> {
        let stat = fstat(file).map_err(|error| Error::io("look at the file", &error.into()))?;
        Ok(AreaStamp { boot: LocalFileSystem.boot(), device: stat.st_dev, inode: stat.st_ino })
    }

    /// Returns true if the system tells one of its starts from another.
    pub(super) fn knows_boot(&self) -> bool {
        self.boot != 0
    }

    fn words(&self) -> [u64; 5] {
        [LAYOUT, (self.boot >> 64) as u64, self.boot as u64, self.device, self.inode]
    }
}

/// Found state of an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AreaState {
    /// Nobody made it, or the last handle closed it.
    Unset,
    /// It counts for this file and this start of the system.
    Ready,
    /// It counts for another start of the system.
    OtherBoot,
    /// It counts for another file, or is laid out in another way.
    OtherFile,
}

/// Shared area of a file.
#[derive(Debug)]
pub(super) struct AreaWords<W> {
    words: Arc<W>,
}

impl<W> Clone for AreaWords<W> {
    #[inline]
    fn clone(&self) -> Self {
        AreaWords { words: self.words.clone() }
    }
}

impl<W: SharedWords> AreaWords<W> {
    pub(super) fn new(words: Arc<W>) -> Result<AreaWords<W>> {
        if words.len() < AREA_WORDS {
            return Err(Error::internal("a shared area has fewer words than its layout"));
        }
        Ok(AreaWords { words })
    }

    pub(super) fn state(&self, stamp: &AreaStamp) -> AreaState {
        if self.words[STATE].load(Acquire) != 1 {
            return AreaState::Unset;
        }
        let found: [u64; 5] = std::array::from_fn(|index| self.words[index].load(Relaxed));
        let expected = stamp.words();
        if found == expected {
            AreaState::Ready
        } else if found[0] == expected[0] && found[1..3] != expected[1..3] {
            AreaState::OtherBoot
        } else {
            AreaState::OtherFile
        }
    }

    /// Clears all words and stamps them. The area stays unset.
    pub(super) fn make_anew(&self, stamp: &AreaStamp) {
        let opener = self.opener();
        self.unset();
        self.set_opener(&opener);
        for index in 0..HANDLES_MAX {
            self.handle(index).end_reading();
        }
        for (word, value) in self.words.iter().zip(stamp.words()) {
            word.store(value, Relaxed);
        }
        let number = RandomState::new().hash_one(std::process::id());
        self.words[USE_NUMBER].store(number, Relaxed);
    }

    pub(super) fn set_ready(&self) {
        self.words[STATE].store(1, SeqCst);
    }

    /// Makes it an area that does not count, and tells nobody who gets the file which processes used it.
    pub(super) fn unset(&self) {
        self.words[STATE].store(0, SeqCst);
        for word in &self.words[..AREA_WORDS] {
            word.store(0, Relaxed);
        }
    }

    #[cfg(test)]
    pub(super) fn use_number(&self) -> u64 {
        self.words[USE_NUMBER].load(Relaxed)
    }

    /// Returns the word of a turn, which has a cache line of its own.
    #[inline]
    pub(super) fn turn(&self, which: TurnKind) -> &AtomicU64 {
        &self.words[which.word()]
    }

    /// Notes who opens or closes a handle, for those who wait for him.
    pub(super) fn set_opener(&self, process: &ProcessIdentity) {
        self.words[OPENER].store(process.number, Relaxed);
        self.words[OPENER + 1].store(process.namespaces, Relaxed);
    }

    pub(super) fn opener(&self) -> ProcessIdentity {
        let [number, namespaces] = [0, 1].map(|word| self.words[OPENER + word].load(Relaxed));
        ProcessIdentity { number, start: 0, namespaces }
    }

    #[inline]
    pub(super) fn owner_words(&self) -> &[AtomicU64] {
        &self.words[OWNER_WORDS..HANDLE_COUNT]
    }

    /// Returns the count of handle records up to the last one in use.
    pub(super) fn handle_count(&self) -> usize {
        (self.words[HANDLE_COUNT].load(SeqCst) as usize).min(HANDLES_MAX)
    }

    /// Sets that count. Only for who has the opening lock.
    pub(super) fn set_handle_count(&self, count: usize) {
        self.words[HANDLE_COUNT].store(count as u64, SeqCst);
    }

    #[inline]
    pub(super) fn handle(&self, index: usize) -> HandleRecord<'_> {
        let start = HANDLES + index * HANDLE_WORDS;
        HandleRecord { words: &self.words[start..start + HANDLE_WORDS] }
    }

    /// Returns the count of pins up to the last one that was ever in use.
    pub(super) fn pin_count(&self) -> usize {
        (self.words[PIN_COUNT].load(SeqCst) as usize).min(PINS_MAX)
    }

    pub(super) fn raise_pin_count(&self, count: usize) {
        self.words[PIN_COUNT].fetch_max(count as u64, SeqCst);
    }

    /// Returns the word that says how many pins were made.
    pub(super) fn pins_made(&self) -> &AtomicU64 {
        &self.words[PINS_MADE]
    }

    /// Returns the word that is not 0 while somebody needs a moment in which no pin is made.
    pub(super) fn pins_pause(&self) -> &AtomicU64 {
        &self.words[PINS_PAUSE]
    }

    pub(super) fn pin(&self, index: usize) -> PinRecord<'_> {
        let start = PINS + index * PIN_WORDS;
        PinRecord { words: &self.words[start..start + PIN_WORDS] }
    }
}

/// Record of a handle. Only the handle changes it, and who takes over or sweeps that of a dead one under the opening lock.
pub(super) struct HandleRecord<'a> {
    words: &'a [AtomicU64],
}

impl HandleRecord<'_> {
    pub(super) fn process(&self) -> ProcessIdentity {
        let [number, start, namespaces] = [0, 1, 2].map(|word| self.words[word].load(Acquire));
        ProcessIdentity { number, start, namespaces }
    }

    /// Says whose the record is. It is nobody's meanwhile, so that who reads a half of each finds no process.
    pub(super) fn set_process(&self, process: &ProcessIdentity) {
        self.words[0].store(0, SeqCst);
        self.words[1].store(process.start, SeqCst);
        self.words[2].store(process.namespaces, SeqCst);
        self.words[0].store(process.number, SeqCst);
    }

    /// Notes a state as being read. The caller has a fence follow.
    #[inline]
    pub(super) fn begin_reading(&self, generation: u64, root: u64) {
        // Who looks in between must not see the generation of one state with the root of another.
        self.words[5].store(self.words[5].load(Relaxed).wrapping_add(1), Release);
        self.words[3].store(NO_GENERATION, Release);
        self.words[4].store(root, Release);
        self.words[3].store(generation, Release);
    }

    #[inline]
    pub(super) fn end_reading(&self) {
        self.words[3].store(NO_GENERATION, Release);
    }

    /// Returns the generation and the root of the state that is being read.
    pub(super) fn read_state(&self) -> Option<(u64, u64)> {
        let (generation, root) = stable_pair(&self.words[3], &self.words[4], &self.words[5]);
        (generation != NO_GENERATION).then_some((generation, root))
    }
}

/// Record of a pin. Only its handle changes it, and who frees those of a dead one.
pub(super) struct PinRecord<'a> {
    words: &'a [AtomicU64],
}

impl PinRecord<'_> {
    /// Takes it for a handle where it is free.
    pub(super) fn claim(&self, handle: usize) -> bool {
        let mine = handle as u64 + 1;
        self.words[2].load(Relaxed) == 0
            && self.words[2].compare_exchange(0, mine, SeqCst, Relaxed).is_ok()
    }

    pub(super) fn is_of(&self, handle: usize) -> bool {
        self.words[2].load(SeqCst) == handle as u64 + 1
    }

    pub(super) fn set(&self, generation: u64, root: u64) {
        self.words[3].fetch_add(1, SeqCst);
        self.words[1].store(root, SeqCst);
        // 0 is for none, and no state has the generation that would become 0.
        self.words[0].store(generation.wrapping_add(1), SeqCst);
    }

    pub(super) fn free(&self) {
        self.words[0].store(0, SeqCst);
        self.words[2].store(0, SeqCst);
    }

    /// Returns the generation and the root of the state that is pinned.
    pub(super) fn state(&self) -> Option<(u64, u64)> {
        let (generation, root) = stable_pair(&self.words[0], &self.words[1], &self.words[3]);
        generation.checked_sub(1).map(|generation| (generation, root))
    }
}

/// Returns a generation and the root that belongs to it. `changes` counts before each change, in which the generation is
/// that of none before the root changes: without the count, one that went and came again would look as if it had stayed.
fn stable_pair(generation: &AtomicU64, root: &AtomicU64, changes: &AtomicU64) -> (u64, u64) {
    loop {
        let before = (changes.load(SeqCst), generation.load(SeqCst));
        let found = root.load(SeqCst);
        let after_generation = generation.load(SeqCst);
        if before == (changes.load(SeqCst), after_generation) {
            return (after_generation, found);
        }
    }
}

#[cfg(test)]
mod tests {
    //! Goal: what is written and read at once is one thing or another, and never halves of both.

    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::files::Mapping;

    #[test]
    fn a_state_that_went_and_came_again_does_not_look_as_if_it_had_stayed() {
        let words = Mapping::anonymous(AREA_WORDS).unwrap();
        let area = AreaWords::new(Arc::new(words)).unwrap();
        let look = || {
            let (handle, pin) = (area.handle(3), area.pin(4));
            let counts = (handle.words[5].load(Relaxed), pin.words[3].load(Relaxed));
            (handle.read_state(), pin.state(), counts)
        };
        let mut seen = Vec::new();
        for state in [7, 8, 7] {
            area.handle(3).begin_reading(state, state * 10);
            area.pin(4).set(state, state * 10);
            seen.push(look());
            area.pin(4).free();
        }
        assert_eq!((seen[0].0, seen[0].1), (Some((7, 70)), Some((7, 70))));
        assert_eq!((seen[2].0, seen[2].1), (seen[0].0, seen[0].1));
        assert!(seen[0].2.0 != seen[2].2.0 && seen[0].2.1 != seen[2].2.1, "{seen:?}");
    }

    #[test]
    fn the_generation_of_one_state_is_never_told_with_the_root_of_another() {
        let words = Mapping::anonymous(AREA_WORDS).unwrap();
        let area = &AreaWords::new(Arc::new(words)).unwrap();
        let is_over = &AtomicBool::new(false);
        let wrong = std::thread::scope(|scope| {
            scope.spawn(move || {
                while !is_over.load(Relaxed) {
                    area.handle(3).begin_reading(7, 70);
                    area.handle(3).begin_reading(8, 80);
                }
            });
            scope.spawn(move || {
                while !is_over.load(Relaxed) {
                    for state in [7, 8] {
                        area.pin(4).set(state, state * 10);
                        area.pin(4).free();
                    }
                }
            });
            let looks =
                (0..500_000).flat_map(|_| [area.handle(3).read_state(), area.pin(4).state()]);
            // The first are of a record that nobody made.
            let mut told = looks.flatten().filter(|(generation, _)| *generation != 0);
            let wrong = told.find(|(generation, root)| generation * 10 != *root);
            is_over.store(true, Relaxed);
            wrong
        });
        assert_eq!(wrong, None);
    }
}
