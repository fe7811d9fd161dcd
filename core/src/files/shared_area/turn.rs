//! Turns that the handles of a file take, one at a time: a word each, which names the handle that has it. To take one that
//! nobody has, and to give it back, is one atomic operation.
//!
//! ```text
//! 63      32  31       30    29         9    0
//! ┌─────────┬─────────┬─────┬───────┬──┬──────┐
//! │ taken   │ somebody│died │ next  │  │handle│   handle + 1, 0 for none
//! │ how often sleeps  │     │ waits │  │      │
//! └─────────┴─────────┴─────┴───────┴──┴──────┘
//! ```
//!
//! Who waits sleeps in the kernel on the lower half, in slices, after which it looks if the handle is still there. It takes
//! the turn from a dead one only if the word is as it was before it looked: the count of takings makes sure that it is not
//! a later one's. A handle that was killed may have left half of something, so the word remembers that until somebody has
//! put it right.
//!
//! A turn goes to who comes first, which is fast, and would let one handle starve that sleeps while another takes it again
//! and again. So who has waited for long says that it is next, and who comes new then sleeps first.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::{Duration, Instant};

use super::attachment::Attachment;
use super::kernel::{sleep_while, wake_one};
use super::layout::{AreaWords, HANDLES_MAX, SharedWords, TurnKind};
use crate::error::{Error, ErrorKind, Result};
use crate::files::ProcessMark;

/// One taking more.
const ONE_TAKING: u64 = 1 << 32;
/// Somebody sleeps, or did just now.
const SLEEPS: u64 = 1 << 31;
/// A handle died while it had the turn, and what it left was not put right since.
const DIED: u64 = 1 << 30;
/// Somebody waits for long.
const NEXT_WAITS: u64 = 1 << 29;
/// Handle that has the turn.
const HANDLE: u64 = (1 << 10) - 1;

/// Longest sleep before the holder is looked at.
const SLICE: Duration = Duration::from_millis(50);

/// Time after which a waiting handle is next; no longer than a newcomer sleeps for it.
const PATIENCE: Duration = Duration::from_millis(5);

/// Turn of a handle, until it is dropped.
#[derive(Debug)]
#[must_use = "dropping it gives the turn back"]
pub(crate) struct SharedTurn<W: SharedWords> {
    area: AreaWords<W>,
    mark: ProcessMark,
    which: TurnKind,
    /// Count of takings and handle: no other turn has both.
    name: u64,
    last_owner_died: bool,
}

impl<W: SharedWords> SharedTurn<W> {
    /// Returns true if a handle died that had the turn, and nobody has put right since what it left.
    pub(crate) fn last_owner_died(&self) -> bool {
        self.last_owner_died
    }

    /// Says that what dead handles left is put right.
    pub(crate) fn mend(&mut self) {
        let word = self.area.turn(self.which);
        if self.mark.is_here() && name(word.load(Relaxed)) == self.name {
            word.fetch_and(!DIED, Relaxed);
            self.last_owner_died = false;
        }
    }

    /// Gives it back, as dropping does.
    pub(crate) fn give_back(self) {}
}

impl<W: SharedWords> Drop for SharedTurn<W> {
    fn drop(&mut self) {
        // Once its handle has left, the turn is another's, or nobody's.
        if self.mark.is_here() {
            let word = self.area.turn(self.which);
            release(word, |found| name(found) == self.name, 0);
        }
    }
}

/// Takes the turn from a handle that is gone, and has it remembered.
pub(super) fn abandon(word: &AtomicU64, index: usize) {
    release(word, |found| handle(found) == Some(index), DIED);
}

/// Gives the turn back, with a mark more, if it is still that of whom `is_its` knows.
#[inline]
fn release(word: &AtomicU64, is_its: impl Fn(u64) -> bool, mark: u64) {
    let mut found = word.load(Relaxed);
    while is_its(found) {
        let free = found & !(HANDLE | SLEEPS) | mark;
        match word.compare_exchange_weak(found, free, Release, Relaxed) {
            Ok(_) if found & SLEEPS != 0 => return wake_one(word),
            Ok(_) => return,
            Err(changed) => found = changed,
        }
    }
}

/// Returns the handle that has the turn. One that cannot be there has nothing.
fn handle(word: u64) -> Option<usize> {
    let index = (word & HANDLE).checked_sub(1)? as usize;
    (index < HANDLES_MAX).then_some(index)
}

fn name(word: u64) -> u64 {
    word & (!(ONE_TAKING - 1) | HANDLE)
}

impl<W: SharedWords> Attachment<W> {
    /// Takes a turn, and waits for it up to `timeout`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Lock`] if another handle has it for longer, or at once if this one has it, and with
    /// [`ErrorKind::Closed`] in a forked child.
    #[inline]
    pub(crate) fn take_turn(&self, which: TurnKind, timeout: Duration) -> Result<SharedTurn<W>> {
        self.take_turn_with(which, timeout, &mut || Ok(()))
    }

    /// Takes a turn as [`Attachment::take_turn`]. While it waits, `check` is called again and again, and ends that by an error.
    ///
    /// # Errors
    /// As for [`Attachment::take_turn`], and with the error of `check`.
    #[inline]
    pub(crate) fn take_turn_with(
        &self,
        which: TurnKind,
        timeout: Duration,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<SharedTurn<W>> {
        if !self.is_here() {
            return Err(self.elsewhere());
        }
        let found = self.area.turn(which).load(Relaxed);
        if found & (HANDLE | NEXT_WAITS) == 0
            && let Some(turn) = self.try_take(which, found, found & SLEEPS)
        {
            return Ok(turn);
        }
        self.wait_for_turn(which, timeout, check)
    }

    #[cold]
    fn wait_for_turn(
        &self,
        which: TurnKind,
        timeout: Duration,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<SharedTurn<W>> {
        let word = self.area.turn(which);
        let began = Instant::now();
        let (mut has_slept, mut is_over) = (false, false);
        loop {
            let found = word.load(Relaxed);
            let holder = handle(found);
            if holder == Some(self.index) {
                return Err(self.has_it(which));
            }
            let left = timeout.saturating_sub(began.elapsed());
            let may_take = match holder {
                None => found & NEXT_WAITS == 0 || has_slept || left.is_zero(),
                Some(index) => (is_over || left.is_zero()) && !self.is_alive(index),
            };
            // There may be others that sleep, so the next to give it back has to look.
            let slept = if has_slept { SLEEPS } else { found & SLEEPS };
            if may_take {
                match self.try_take(which, found, slept) {
                    Some(turn) => return Ok(turn),
                    None => continue,
                }
            }
            if left.is_zero() {
                return Err(self.is_taken(which, holder, timeout));
            }
            let is_next = began.elapsed() >= PATIENCE;
            let asleep = found | SLEEPS | if is_next { NEXT_WAITS } else { 0 };
            if found != asleep && word.compare_exchange(found, asleep, Relaxed, Relaxed).is_err() {
                continue;
            }
            let slice = if is_next { SLICE } else { PATIENCE };
            is_over = sleep_while(word, asleep as u32, slice.min(left));
            has_slept = true;
            check()?;
        }
    }

    /// Takes the turn if its word is still the one that was found; from a dead handle if it names one.
    #[inline]
    fn try_take(&self, which: TurnKind, found: u64, sleeps: u64) -> Option<SharedTurn<W>> {
        let died = if found & HANDLE == 0 { found & DIED } else { DIED };
        let takings = (found & !(ONE_TAKING - 1)).wrapping_add(ONE_TAKING);
        let taken = takings | sleeps | died | (self.index as u64 + 1);
        let word = self.area.turn(which);
        word.compare_exchange(found, taken, Acquire, Relaxed).ok()?;
        Some(SharedTurn {
            area: self.area.clone(),
            mark: self.mark(),
            which,
            name: name(taken),
            last_owner_died: died != 0,
        })
    }

    #[cold]
    fn has_it(&self, which: TurnKind) -> Error {
        let message =
            format!("expected the turn to {}, found that this handle has it", which.verb());
        Error::new(ErrorKind::Lock, message)
    }

    fn is_taken(&self, which: TurnKind, holder: Option<usize>, timeout: Duration) -> Error {
        let holder = self.describe(holder.unwrap_or(self.index));
        let waited = match timeout.is_zero() {
            true => String::new(),
            false => format!(" for {} seconds", timeout.as_secs_f64()),
        };
        let message =
            format!("expected the turn to {}, found it taken by {holder}{waited}", which.verb());
        Error::new(ErrorKind::Lock, message)
    }

    /// Returns the error of a handle that a forked child inherited.
    #[cold]
    pub(super) fn elsewhere(&self) -> Error {
        let message = "expected a handle that this process opened, found one of the process that it was forked from; open \
                       the file again";
        Error::new(ErrorKind::Closed, message)
    }
}
