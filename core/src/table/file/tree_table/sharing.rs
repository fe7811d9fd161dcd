//! Those who use the file of a tree beside each other: what they share, whose turn it is to write, and which states are read.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::AcqRel, Ordering::Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::pointer::TreeRoot;
use super::roots::TreeRoots;
use crate::error::Result;
use crate::files::{self, AREA_WORDS, Attachment, Mapping, PageMap, SharedTurn, TurnKind};

/// Words that the owner of a shared area has to itself.
const OWNER_WORDS: usize = 128;

/// First page of what the processes share.
const AREA_PAGE: u32 = 1;

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
    turn: Mutex<Option<SharedTurn<AreaMap>>>,
    attachment: Attachment<AreaMap>,
    /// True while this handle notes the state that it reads.
    is_reading: AtomicBool,
}

impl SharedStates {
    fn turn(&self) -> MutexGuard<'_, Option<SharedTurn<AreaMap>>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sharing {
    /// Shares with nobody. Who `follows` looks in the file for what others write.
    pub(super) fn alone(follows: bool) -> std::io::Result<Sharing> {
        let words = Mapping::anonymous(OWNER_WORDS)?;
        Ok(Sharing::Alone(LocalStates { words, pinned: Mutex::default(), follows }))
    }

    pub(super) fn attached(attachment: Attachment<AreaMap>) -> Sharing {
        let (turn, is_reading) = (Mutex::default(), AtomicBool::new(false));
        Sharing::Attached(SharedStates { turn, attachment, is_reading })
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

    #[inline]
    pub(super) fn roots(&self) -> TreeRoots<'_> {
        TreeRoots { words: self.words() }
    }

    /// Pins a state. Its pages stay what they are until it is unpinned.
    pub(super) fn pin(&self, root: TreeRoot) -> Result<PinnedState> {
        let (generation, page) = (root.generation, u64::from(root.page.page));
        match self {
            Sharing::Alone(states) => {
                states.pinned().push((generation, page));
                Ok(PinnedState::Alone(generation))
            }
            Sharing::Attached(states) => {
                states.attachment.pin(generation, page).map(PinnedState::Attached)
            }
        }
    }

    /// Pins a state for a moment, in the note of this handle if that is free.
    #[inline]
    pub(super) fn pin_shortly(&self, root: TreeRoot) -> Result<PinnedState> {
        match self {
            Sharing::Attached(states) if !states.is_reading.swap(true, AcqRel) => {
                let begun =
                    states.attachment.begin_reading(root.generation, u64::from(root.page.page));
                begun.inspect_err(|_| states.is_reading.store(false, Release))?;
                Ok(PinnedState::Reading)
            }
            _ => self.pin(root),
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

    /// Fills `into` with the states that anybody reads: generation and page of the root.
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

    /// Takes the turn to write, and returns true if the one before died with it.
    pub(super) fn take_turn(&self, timeout: Duration) -> Result<bool> {
        match self {
            Sharing::Alone(_) => Ok(false),
            Sharing::Attached(states) => {
                let turn = states.attachment.take_turn(TurnKind::Write, timeout)?;
                let has_died = turn.last_owner_died();
                *states.turn() = Some(turn);
                Ok(has_died)
            }
        }
    }

    /// Says that what the dead left is put right. The caller has the turn to write.
    pub(super) fn mend(&self) {
        if let Sharing::Attached(states) = self
            && let Some(turn) = &mut *states.turn()
        {
            turn.mend();
        }
    }

    pub(super) fn give_turn_back(&self) {
        if let Sharing::Attached(states) = self {
            drop(states.turn().take());
        }
    }

    /// Takes the turn to sync, if others share the file.
    pub(super) fn take_sync_turn(&self, timeout: Duration) -> Result<Option<SharedTurn<AreaMap>>> {
        match self {
            Sharing::Alone(_) => Ok(None),
            Sharing::Attached(states) => {
                states.attachment.take_turn(TurnKind::Sync, timeout).map(Some)
            }
        }
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        // The last one leaves nothing behind if a power cut would leave all commits, too.
        let roots = self.roots();
        let is_settled = roots.newest().0.generation == roots.durable_generation();
        if let Sharing::Attached(states) = self {
            states.attachment.set_settled(is_settled);
        }
    }
}
