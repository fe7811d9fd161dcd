//! Those who use a table's file beside each other: what they share, whose turn it is to write, and which states are read.
//!
//! A state is two numbers, of which the first tells what is needed for it: less for a later one.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::AcqRel, Ordering::Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{ErrorKind, Result};
use crate::files::{
    self, AREA_WORDS, Attachment, Mapping, PageMap, SharedTurn, TurnKind, TurnWaiter,
};

/// Words that the owner of a shared area has to itself.
const OWNER_WORDS: usize = 128;

/// First page of what the processes share.
pub(super) const AREA_PAGE: u32 = 1;

/// Pages of what the processes share.
pub(super) const AREA_PAGES: u32 = (AREA_WORDS * size_of::<u64>() / files::PAGE_LEN) as u32;

/// Words in the file that all processes map.
#[derive(Debug)]
pub(super) struct AreaMap(pub(super) Arc<PageMap>);

impl Deref for AreaMap {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        self.0.words_of(AREA_PAGE, AREA_PAGES).unwrap_or_default()
    }
}

/// Way in which the file is shared.
#[derive(Debug)]
pub(super) enum Sharing {
    /// With nobody: what is no file of the system, or may not be written, is open once or does not change.
    Alone(LocalStates),
    /// With other processes and handles.
    Attached(SharedStates),
}

/// State that is pinned until it is unpinned.
#[derive(Debug)]
pub(super) enum PinnedState {
    Alone(u64),
    Attached(files::StatePin),
    /// The one that this handle reads at the moment.
    Reading,
}

/// States that this process alone reads.
#[derive(Debug)]
pub(super) struct LocalStates {
    words: Mapping,
    pinned: Mutex<Vec<(u64, u64)>>,
    follows: bool,
}

impl LocalStates {
    fn pinned(&self) -> MutexGuard<'_, Vec<(u64, u64)>> {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Place of this handle among those that share the file.
#[derive(Debug)]
pub(super) struct SharedStates {
    /// The turn to write, while this handle has it. It is dropped before the attachment, which would else look dead.
    turn: Mutex<HandleTurn>,
    attachment: Attachment<AreaMap>,
    /// True while this handle notes the state that it reads.
    is_reading: AtomicBool,
    /// Says of the words if the file has all that they have.
    is_settled: fn(&[AtomicU64]) -> bool,
}

/// Turn to write, and how often this handle has taken it: in a turn that is kept, a transaction takes it again.
#[derive(Debug, Default)]
struct HandleTurn {
    turn: Option<SharedTurn<AreaMap>>,
    takings: u32,
}

impl SharedStates {
    fn turn(&self) -> MutexGuard<'_, HandleTurn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sharing {
    /// Shares with nobody. Who `follows` looks in the file for what others write.
    pub(super) fn alone(follows: bool) -> std::io::Result<Sharing> {
        let words = Mapping::anonymous(OWNER_WORDS)?;
        Ok(Sharing::Alone(LocalStates { words, pinned: Mutex::default(), follows }))
    }

    /// Shares with others. The last to leave leaves nothing behind if the words are settled then, as `is_settled` tells.
    pub(super) fn attached(
        attachment: Attachment<AreaMap>,
        is_settled: fn(&[AtomicU64]) -> bool,
    ) -> Sharing {
        let (turn, is_reading) = (Mutex::default(), AtomicBool::new(false));
        Sharing::Attached(SharedStates { turn, attachment, is_reading, is_settled })
    }

    /// Returns true if no other handle has the file open.
    pub(super) fn is_alone(&self) -> bool {
        match self {
            Sharing::Alone(_) => true,
            Sharing::Attached(states) => states.attachment.is_alone(),
        }
    }

    #[inline]
    pub(super) fn words(&self) -> &[AtomicU64] {
        match self {
            Sharing::Alone(states) => &states.words,
            Sharing::Attached(states) => states.attachment.owner_words(),
        }
    }

    /// Returns true if nobody knows what this handle reads, while others may write.
    #[inline]
    pub(super) fn follows(&self) -> bool {
        matches!(self, Sharing::Alone(LocalStates { follows: true, .. }))
    }

    /// Pins a state. What it needs stays what it is until it is unpinned.
    pub(super) fn pin(&self, (generation, root): (u64, u64)) -> Result<PinnedState> {
        match self {
            Sharing::Alone(states) => {
                states.pinned().push((generation, root));
                Ok(PinnedState::Alone(generation))
            }
            Sharing::Attached(states) => {
                states.attachment.pin(generation, root).map(PinnedState::Attached)
            }
        }
    }

    /// Pins a state for a moment, in the note of this handle if that is free.
    #[inline]
    pub(super) fn pin_shortly(&self, state: (u64, u64)) -> Result<PinnedState> {
        match self {
            Sharing::Attached(states) if !states.is_reading.swap(true, AcqRel) => {
                let begun = states.attachment.begin_reading(state.0, state.1);
                begun.inspect_err(|_| states.is_reading.store(false, Release))?;
                Ok(PinnedState::Reading)
            }
            _ => self.pin(state),
        }
    }

    #[inline]
    pub(super) fn unpin(&self, pin: PinnedState) {
        match (self, pin) {
            (Sharing::Attached(states), PinnedState::Reading) => {
                states.attachment.end_reading();
                states.is_reading.store(false, Release);
            }
            (Sharing::Attached(states), PinnedState::Attached(pin)) => states.attachment.unpin(pin),
            (Sharing::Alone(states), PinnedState::Alone(generation)) => {
                let mut pinned = states.pinned();
                if let Some(place) = pinned.iter().position(|(found, _)| *found == generation) {
                    pinned.swap_remove(place);
                }
            }
            _ => {}
        }
    }

    /// Fills `into` with the states that anybody reads.
    pub(super) fn read_states(&self, into: &mut Vec<(u64, u64)>) {
        match self {
            Sharing::Alone(states) => into.clone_from(&states.pinned()),
            Sharing::Attached(states) => states.attachment.read_states(into),
        }
    }

    /// Frees the states of processes that have ended.
    pub(super) fn sweep(&self) {
        if let Sharing::Attached(states) = self {
            states.attachment.sweep();
        }
    }

    /// Takes the turn to write, once more if this handle has it, and returns true if the one before died with it.
    pub(super) fn take_turn(&self, timeout: Duration) -> Result<bool> {
        let Sharing::Attached(states) = self else { return Ok(false) };
        let mut held = states.turn();
        let turn = match held.turn.take() {
            Some(turn) => turn,
            None => states.attachment.take_turn(TurnKind::Write, timeout)?,
        };
        let has_died = turn.last_owner_died();
        held.turn = Some(turn);
        held.takings += 1;
        Ok(has_died)
    }

    /// Returns what waits for the turn to write.
    pub(super) fn turn_waiter(&self) -> Option<TurnWaiter<AreaMap>> {
        match self {
            Sharing::Alone(_) => None,
            Sharing::Attached(states) => Some(states.attachment.turn_waiter(TurnKind::Write)),
        }
    }

    /// Says that what the dead left is put right. The caller has the turn to write.
    pub(super) fn mend(&self) {
        if let Sharing::Attached(states) = self
            && let Some(turn) = &mut states.turn().turn
        {
            turn.mend();
        }
    }

    /// Gives the turn to write back as often as it was taken.
    pub(super) fn give_turn_back(&self) {
        if let Sharing::Attached(states) = self {
            let mut held = states.turn();
            held.takings = held.takings.saturating_sub(1);
            if held.takings == 0 {
                held.turn = None;
            }
        }
    }

    /// Takes another turn than that to write, if others share the file.
    pub(super) fn take_turn_to(
        &self,
        which: TurnKind,
        timeout: Duration,
    ) -> Result<Option<SharedTurn<AreaMap>>> {
        match self {
            Sharing::Alone(_) => Ok(None),
            Sharing::Attached(states) => states.attachment.take_turn(which, timeout).map(Some),
        }
    }
}

/// State that is pinned for a moment, also if what is done meanwhile panics.
#[derive(Debug)]
pub(super) struct ShortPin<'s> {
    sharing: &'s Sharing,
    pinned: Option<PinnedState>,
}

impl<'s> ShortPin<'s> {
    /// Holds a state of `sharing` that is pinned.
    #[inline]
    pub(super) fn new(sharing: &'s Sharing, pinned: PinnedState) -> ShortPin<'s> {
        ShortPin { sharing, pinned: Some(pinned) }
    }
}

impl Drop for ShortPin<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(pinned) = self.pinned.take() {
            self.sharing.unpin(pinned);
        }
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        if let Sharing::Attached(states) = self {
            states.attachment.set_settled((states.is_settled)(states.attachment.owner_words()));
        }
    }
}

/// Returns true if the directory, not the disk, keeps a file from being made or written.
pub(super) fn is_refused(error: ErrorKind) -> bool {
    const EPERM: i32 = 1;
    const EACCES: i32 = 13;
    const EROFS: i32 = 30;
    matches!(error, ErrorKind::Io(Some(EPERM | EACCES | EROFS)))
}
