//! States of a file that handles read: one each for the moment, and any that they pinned for longer. Who writes keeps what
//! these need.
//!
//! A reader notes the state before it looks if that is still the current one, a writer makes another one current before it
//! looks at the notes. With a fence between both steps of each, one of them sees the other.

use std::sync::atomic::{
    Ordering::{Relaxed, SeqCst},
    fence,
};
use std::thread;
use std::time::Duration;

use super::attachment::Attachment;
use super::layout::{NO_GENERATION, PINS_MAX, SharedWords};
use crate::error::{Error, ErrorKind, Result};

/// Times that states are collected before who makes pins is asked to pause.
const TRIES: u32 = 8;

/// Such a pause, which is long beside the time to collect all states.
const PAUSE: Duration = Duration::from_millis(1);

/// State that a handle keeps readable, until it gives this back or leaves.
#[derive(Debug)]
#[must_use = "what is not given back stays pinned"]
pub(crate) struct StatePin {
    index: usize,
}

impl<W: SharedWords> Attachment<W> {
    /// Notes a state as being read by this handle, in the place of another one. The caller then looks if it is still the
    /// current one, or has it pinned; otherwise its pages may be in use for something else.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Closed`] in a forked child, whose parent may be reading.
    #[inline]
    pub(crate) fn begin_reading(&self, generation: u64, root: u64) -> Result<()> {
        if !self.is_here() {
            return Err(self.elsewhere());
        }
        self.area.handle(self.index).begin_reading(generation, root);
        fence(SeqCst);
        Ok(())
    }

    /// Ends that.
    #[inline]
    pub(crate) fn end_reading(&self) {
        if self.is_here() {
            self.area.handle(self.index).end_reading();
        }
    }

    /// Pins a state. The caller reads it meanwhile, or has it pinned.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Limit`] if all pins are in use, and with [`ErrorKind::Closed`] in a forked child.
    pub(crate) fn pin(&self, generation: u64, root: u64) -> Result<StatePin> {
        if !self.is_here() {
            return Err(self.elsewhere());
        }
        if generation == NO_GENERATION {
            return Err(Error::internal("a state has the generation that is none"));
        }
        self.let_collect();
        let claimed = self.claim_pin().or_else(|| (self.sweep() > 0).then(|| self.claim_pin())?);
        let Some(index) = claimed else {
            let message = format!(
                "expected a file with fewer than {PINS_MAX} snapshots and scans, found as many; end some"
            );
            return Err(Error::new(ErrorKind::Limit, message));
        };
        self.area.raise_pin_count(index + 1);
        self.area.pin(index).set(generation, root);
        self.area.pins_made().fetch_add(1, SeqCst);
        Ok(StatePin { index })
    }

    fn claim_pin(&self) -> Option<usize> {
        (0..PINS_MAX).find(|index| self.area.pin(*index).claim(self.index))
    }

    /// Gives a pin back.
    pub(crate) fn unpin(&self, pin: StatePin) {
        let record = self.area.pin(pin.index);
        if self.is_here() && record.is_of(self.index) {
            record.free();
        }
    }

    /// Fills `into` with the states that anybody reads or has pinned, each once: generation and root.
    pub(crate) fn read_states(&self, into: &mut Vec<(u64, u64)>) {
        fence(SeqCst);
        let mut tries = 0;
        while !self.collect_states(into) {
            tries += 1;
            if tries >= TRIES {
                self.area.pins_pause().store(1, SeqCst);
            }
        }
        if tries >= TRIES {
            self.area.pins_pause().store(0, SeqCst);
        }
        into.sort_unstable();
        into.dedup();
    }

    /// Fills `into` with the states; true if they are all.
    fn collect_states(&self, into: &mut Vec<(u64, u64)>) -> bool {
        let pins_made = self.area.pins_made().load(SeqCst);
        into.clear();
        self.states_of_handles(into);
        into.extend((0..self.area.pin_count()).filter_map(|pin| self.area.pin(pin).state()));
        // One that was pinned may be read since, and not be pinned any more.
        self.states_of_handles(into);
        // One that was read may be pinned since, at a place that was passed.
        self.area.pins_made().load(SeqCst) == pins_made
    }

    /// Waits a moment if somebody could not collect the states because of all the pins that were made. Not longer, since he
    /// may be stopped or dead.
    fn let_collect(&self) {
        let pause = self.area.pins_pause();
        if pause.load(Relaxed) != 0 {
            thread::sleep(PAUSE);
            pause.store(0, Relaxed);
        }
    }

    fn states_of_handles(&self, into: &mut Vec<(u64, u64)>) {
        let handles = 0..self.area.handle_count();
        into.extend(handles.filter_map(|index| self.area.handle(index).read_state()));
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    //! Goal: a state that is needed is always told, and one that is not needed is told no more.

    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::files::shared_area::other_process::{Other, Scratch, join, states};

    // Promise (tree-table-file): A commit that is read keeps its pages; one that a dead process
    // read does not.
    #[test]
    fn what_a_killed_reader_reads_and_has_pinned_is_freed_by_a_sweep() {
        let file = Scratch::new("reader");
        let handle = join(&file.0);
        let mut other = Other::start(&file.0);
        other.ask("read");
        other.ask("pin");
        other.ask("pin");
        assert_eq!(states(&handle), [(41, 42), (43, 44)]);
        assert_eq!(handle.sweep(), 0);
        other.kill();
        assert_eq!(handle.sweep(), 1);
        assert_eq!(states(&handle), []);
    }

    #[test]
    fn states_are_told_while_they_are_read_or_pinned() {
        let file = Scratch::new("states");
        let [reader, writer] = [join(&file.0), join(&file.0)];
        assert_eq!(states(&writer), []);
        reader.begin_reading(0, 7).unwrap();
        assert_eq!(states(&writer), [(0, 7)]);
        let pin = reader.pin(0, 7).unwrap();
        reader.begin_reading(1, 8).unwrap();
        let again = reader.pin(0, 7).unwrap();
        assert_eq!(states(&writer), [(0, 7), (1, 8)], "each once");
        reader.unpin(pin);
        reader.end_reading();
        assert_eq!(states(&writer), [(0, 7)]);
        reader.unpin(again);
        assert_eq!(states(&writer), []);
        assert_eq!(reader.pin(u64::MAX, 1).unwrap_err().kind(), ErrorKind::Internal);
        let _ = reader.pin(5, 6).unwrap();
        drop(reader);
        assert_eq!(states(&writer), [], "what a handle has goes with it");
    }

    #[test]
    fn who_pins_pauses_once_for_who_collects_states() {
        let file = Scratch::new("pause");
        let handle = join(&file.0);
        let pause = handle.area.pins_pause();
        pause.store(1, Relaxed);
        let began = std::time::Instant::now();
        let pin = handle.pin(1, 2).unwrap();
        assert!(began.elapsed() >= PAUSE && pause.load(Relaxed) == 0);
        handle.unpin(pin);
    }

    #[test]
    fn states_are_collected_though_others_pin_without_end() {
        let file = Scratch::new("without_end");
        let [reader, writer] = [join(&file.0), join(&file.0)];
        // So many that to collect them takes longer than to pin one. The first place is free.
        let mut pins: Vec<_> = (0..600).map(|number| writer.pin(number, 1).unwrap()).collect();
        writer.unpin(pins.swap_remove(0));
        let is_over = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reading = scope.spawn(move || {
                while !is_over.load(Relaxed) {
                    reader.unpin(reader.pin(0, 1).unwrap());
                }
            });
            let least = (0..300).map(|_| states(&writer).len()).min();
            is_over.store(true, Relaxed);
            reading.join().unwrap();
            assert_eq!(least, Some(599));
        });
    }

    // Promise (tree-table-file): also A commit that is read keeps its pages
    #[test]
    fn a_state_that_is_held_by_turns_is_never_missing_and_none_is_made_up() {
        let file = Scratch::new("moving");
        let [reader, writer] = [join(&file.0), join(&file.0)];
        let is_over = &AtomicBool::new(false);
        reader.begin_reading(7, 70).unwrap();
        std::thread::scope(|scope| {
            let reading = scope.spawn(move || {
                while !is_over.load(Relaxed) {
                    let pin = reader.pin(7, 70).unwrap();
                    reader.begin_reading(8, 80).unwrap();
                    reader.begin_reading(7, 70).unwrap();
                    reader.unpin(pin);
                }
            });
            let is_right = |found: &Vec<(u64, u64)>| {
                let is_known = found.iter().all(|state| [(7, 70), (8, 80)].contains(state));
                is_known && found.contains(&(7, 70))
            };
            let mut found = (0..20_000).map(|_| states(&writer));
            let wrong = found.find(|found| !is_right(found));
            // Before the test may fail, so that the reader ends.
            is_over.store(true, Relaxed);
            reading.join().unwrap();
            assert_eq!(wrong, None);
        });
    }

    #[test]
    fn pins_of_the_killed_are_freed_when_all_are_in_use() {
        let file = Scratch::new("pins_of_killed");
        let handle = join(&file.0);
        let mut other = Other::start(&file.0);
        other.ask("pin");
        let _pins: Vec<_> =
            (1..PINS_MAX as u64).map(|number| handle.pin(number, 0).unwrap()).collect();
        other.kill();
        let _ = handle.pin(1, 0).unwrap();
        assert!(handle.pin(1, 0).is_err());
    }
}
