//! Turns that the handles of a file take, one at a time: a word each, which names the handle that has it. To take one that
//! nobody has, and to give it back, is one atomic operation.
//!
//! ```text
//! bits 32..64   how often the turn was taken
//! bit 31        somebody sleeps, or did just now
//! bit 30        a handle died while it had the turn, and nobody has put right since what it left
//! bit 29        somebody has waited for long
//! bits 0..10    handle that has the turn, + 1; 0 for none
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

/// Waiting for a turn.
#[derive(Debug)]
pub(crate) struct TurnWaiter<W: SharedWords> {
    area: AreaWords<W>,
    mark: ProcessMark,
    which: TurnKind,
}

impl<W: SharedWords> TurnWaiter<W> {
    /// Returns when the turn was given back, or after `timeout`, or earlier. Who comes new leaves it to who waits so.
    pub(crate) fn wait(&self, timeout: Duration) {
        let word = self.area.turn(self.which);
        let found = word.load(Relaxed);
        if !self.mark.is_here() || found & HANDLE == 0 {
            return;
        }
        let asleep = found | SLEEPS | NEXT_WAITS;
        if word.compare_exchange(found, asleep, Relaxed, Relaxed).is_ok() {
            sleep_while(word, asleep as u32, timeout);
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
        if !self.is_here() {
            return Err(self.elsewhere());
        }
        let found = self.area.turn(which).load(Relaxed);
        if found & (HANDLE | NEXT_WAITS) == 0
            && let Some(turn) = self.try_take(which, found, found & SLEEPS)
        {
            return Ok(turn);
        }
        self.wait_for_turn(which, timeout)
    }

    #[cold]
    fn wait_for_turn(&self, which: TurnKind, timeout: Duration) -> Result<SharedTurn<W>> {
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
            let slept = if has_slept || found & NEXT_WAITS != 0 { SLEEPS } else { found & SLEEPS };
            if may_take {
                match self.try_take(which, found, slept) {
                    Some(turn) => return Ok(turn),
                    None => continue,
                }
            }
            if left.is_zero() {
                return Err(self.is_taken(which, holder));
            }
            let is_next = began.elapsed() >= PATIENCE;
            let asleep = found | SLEEPS | if is_next { NEXT_WAITS } else { 0 };
            if found != asleep && word.compare_exchange(found, asleep, Relaxed, Relaxed).is_err() {
                continue;
            }
            let slice = if is_next { SLICE } else { PATIENCE };
            is_over = sleep_while(word, asleep as u32, slice.min(left));
            has_slept = true;
        }
    }

    /// Returns what waits for a turn without this handle, which others may use meanwhile.
    pub(crate) fn turn_waiter(&self, which: TurnKind) -> TurnWaiter<W> {
        TurnWaiter { area: self.area.clone(), mark: self.mark(), which }
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

    fn is_taken(&self, which: TurnKind, holder: Option<usize>) -> Error {
        let holder = self.describe(holder.unwrap_or(self.index));
        let message = format!(
            "expected the turn to {}, found that {holder} has it: try again, or wait longer with timeout",
            which.verb()
        );
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

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    //! Goal: one handle at a time has a turn, and no death of another takes it away.

    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use rustix::process::Signal;

    use super::*;
    use crate::files::shared_area::kernel::SYSTEM_CALLS;
    use crate::files::shared_area::other_process::{
        LONG, Other, SHORT, Scratch, join, refused, write_turn,
    };

    #[test]
    fn a_turn_that_nobody_has_is_taken_and_given_back_without_the_system() {
        let file = Scratch::new("alone");
        let handle = join(&file.0);
        drop(write_turn(&handle));
        let calls = SYSTEM_CALLS.get();
        for _ in 0..100_000 {
            let turn = handle.take_turn(TurnKind::Write, Duration::ZERO).unwrap();
            assert!(!turn.last_owner_died());
            drop(turn);
        }
        assert_eq!(SYSTEM_CALLS.get(), calls);
    }

    #[test]
    fn two_handles_of_a_process_keep_each_other_out() {
        let file = Scratch::new("two_handles");
        let [first, second] = [join(&file.0), join(&file.0)];
        assert!(!first.is_alone() && !second.is_alone());
        let turn = write_turn(&first);
        let sync = second.take_turn(TurnKind::Sync, Duration::ZERO).unwrap();
        for timeout in [Duration::ZERO, SHORT] {
            let error = refused(&second, timeout);
            assert!(error.message().contains("found that another object of this process has it"));
        }
        let error = refused(&first, LONG);
        assert!(error.message().contains("this handle has it"), "{error}");
        drop((turn, sync));
        assert!(!write_turn(&second).last_owner_died());
        drop(second);
        assert!(first.is_alone());
    }

    #[test]
    fn who_waits_gets_the_turn_when_it_is_given_back() {
        let file = Scratch::new("waits");
        let [first, second] = [join(&file.0), join(&file.0)];
        let turn = write_turn(&first);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| drop(write_turn(&second)));
            std::thread::sleep(SHORT);
            assert!(!waiting.is_finished());
            drop(turn);
            waiting.join().unwrap();
        });
    }

    #[test]
    fn threads_with_a_handle_each_lose_no_step_of_each_other() {
        let file = Scratch::new("threads");
        let sum = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let handle = join(&file.0);
                    for _ in 0..2000 {
                        let turn = write_turn(&handle);
                        sum.store(sum.load(Relaxed) + 1, Relaxed);
                        drop(turn);
                    }
                });
            }
        });
        assert_eq!(sum.load(Relaxed), 8000);
    }

    #[test]
    fn who_waits_gets_the_turn_though_another_takes_it_again_and_again() {
        let file = Scratch::new("hog");
        let handle = join(&file.0);
        let mut hog = Other::start(&file.0);
        hog.tell("hog");
        while handle.take_turn(TurnKind::Write, Duration::ZERO).is_ok() {
            std::thread::yield_now();
        }
        for _ in 0..20 {
            let began = Instant::now();
            drop(write_turn(&handle));
            assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        }
    }

    #[test]
    fn processes_keep_each_other_out_and_errors_name_the_one() {
        let file = Scratch::new("two_processes");
        let handle = join(&file.0);
        let mut other = Other::start(&file.0);
        assert_eq!(other.ask("take"), "false");
        let holder = format!("process {} (", other.process.id());
        for timeout in [Duration::ZERO, SHORT] {
            let error = refused(&handle, timeout);
            assert!(error.message().contains(&holder), "{error}");
        }
        assert_eq!(other.ask("give"), "done");
        let turn = write_turn(&handle);
        other.tell("take");
        std::thread::sleep(SHORT);
        drop(turn);
        assert_eq!(other.hear("answer "), "false");
    }

    // Promise (tree-table-file): A turn to write outlives no process.
    #[test]
    fn the_turn_of_a_killed_process_is_taken_and_told_until_it_is_mended() {
        let file = Scratch::new("killed");
        let handle = join(&file.0);
        let mut other = Other::start(&file.0);
        other.ask("take");
        other.kill();
        assert!(write_turn(&handle).last_owner_died());
        let mut turn = handle.take_turn(TurnKind::Write, Duration::ZERO).unwrap();
        assert!(turn.last_owner_died(), "nobody mended it");
        turn.mend();
        assert!(!turn.last_owner_died());
        drop(turn);
        assert!(!write_turn(&handle).last_owner_died());
        assert!(handle.is_alone());
    }

    #[test]
    fn the_turn_of_a_killed_process_is_told_to_who_takes_its_record() {
        let file = Scratch::new("record_of_killed");
        let mut other = Other::start(&file.0);
        other.ask("take");
        let waiting = join(&file.0);
        other.kill();
        let index = join(&file.0).index;
        assert_ne!(index, waiting.index, "that of the killed one");
        assert!(waiting.take_turn(TurnKind::Write, Duration::ZERO).unwrap().last_owner_died());
    }

    #[test]
    fn a_stopped_process_keeps_its_turn_and_goes_on() {
        let file = Scratch::new("stopped");
        let handle = join(&file.0);
        let mut other = Other::start(&file.0);
        other.ask("take");
        other.signal(Signal::STOP);
        let error = refused(&handle, Duration::from_millis(400));
        let holder = format!("found that process {} (", other.process.id());
        assert!(error.message().contains(&holder), "{error}");
        assert!(!handle.is_alone());
        assert_eq!(handle.sweep(), 0);
        other.signal(Signal::CONT);
        other.ask("give");
        assert!(!write_turn(&handle).last_owner_died());
    }

    // Promise (tree-table-file): also A turn to write outlives no process
    #[test]
    fn processes_that_are_killed_at_any_moment_lose_no_step_that_they_told() {
        let file = Scratch::new("counted");
        let handle = join(&file.0);
        let mut random = u64::from(std::process::id());
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
            (random >> 33) % below
        };
        let mut others: Vec<Other> = Vec::new();
        let (mut told, mut killed) = (0, 0);
        for _ in 0..30 {
            while others.len() < 8 {
                let mut other = Other::start(&file.0);
                other.tell("count");
                others.push(other);
            }
            std::thread::sleep(Duration::from_micros(next(20_000)));
            let index = next(8) as usize;
            told += others.swap_remove(index).counted();
            killed += 1;
        }
        for other in others {
            told += other.counted();
            killed += 1;
        }
        let turn = write_turn(&handle);
        let sum = handle.owner_words()[0].load(Relaxed);
        assert!((told..=told + killed).contains(&sum), "{sum} of {told} by {killed}");
        drop(turn);
        handle.sweep();
        assert!(handle.is_alone());
    }

    #[test]
    fn a_turn_that_outlives_its_handle_is_told_as_one_of_the_dead_and_changes_nothing() {
        let file = Scratch::new("outlives");
        let [first, second] = [join(&file.0), join(&file.0)];
        let turn = write_turn(&first);
        drop(first);
        let mut taken = second.take_turn(TurnKind::Write, Duration::ZERO).unwrap();
        assert!(taken.last_owner_died());
        taken.mend();
        drop(turn);
        let third = join(&file.0);
        refused(&third, Duration::ZERO);
        drop(taken);
        assert!(!write_turn(&third).last_owner_died());
    }
}
