//! States of a file that handles read: one each for the moment, and any that they pinned for longer. Who writes keeps what
//! these need.
//!
//! A reader notes the state before it looks if that is still the current one, a writer makes another one current before it
//! looks at the notes. With a fence between both steps of each, one of them sees the other.

use std::sync::atomic::{Ordering::SeqCst, fence};

use super::attachment::Attachment;
use super::layout::{NO_GENERATION, PINS_MAX, SharedWords};
use crate::error::{Error, ErrorKind, Result};

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
        into.clear();
        fence(SeqCst);
        loop {
            let pins_made = self.area.pins_made().load(SeqCst);
            self.states_of_handles(into);
            into.extend((0..self.area.pin_count()).filter_map(|pin| self.area.pin(pin).state()));
            // One that was pinned may be read since, and not be pinned any more.
            self.states_of_handles(into);
            // One that was read may be pinned since, at a place that was passed.
            if self.area.pins_made().load(SeqCst) == pins_made {
                break;
            }
        }
        into.sort_unstable();
        into.dedup();
    }

    fn states_of_handles(&self, into: &mut Vec<(u64, u64)>) {
        let handles = 0..self.area.handle_count();
        into.extend(handles.filter_map(|index| self.area.handle(index).read_state()));
    }
}
