//! A network interface that a host captures from, in passes that end when it says so.

use crate::Result;
use crate::bytes::Cancel;
use crate::forks::{Locked, ProcessLock};
use crate::input::{CaptureOptions, CaptureReader, LiveCounts, LiveOptions};

pub(super) struct LiveInput {
    name: String,
    options: LiveOptions,
    counts: LiveCounts,
    /// Handles that end the passes under way.
    running: ProcessLock<Vec<Cancel>>,
}

impl LiveInput {
    pub(super) fn new(name: &str, options: LiveOptions) -> Self {
        let (counts, running) = (LiveCounts::default(), ProcessLock::default());
        LiveInput { name: name.to_owned(), options, counts, running }
    }

    /// The packets that come from now on.
    ///
    /// # Errors
    /// Those of [`CaptureReader::live`].
    pub(super) fn open(&self, options: &CaptureOptions) -> Result<CaptureReader> {
        CaptureReader::live(&[&self.name], &self.options, options, &self.counts)
    }

    /// Lets [`LiveInput::stop`] end what reads with this handle, also where it is not open yet.
    pub(super) fn begin(&self, cancel: Cancel) {
        let mut running = self.running();
        running.retain(|cancel| !cancel.is_cancelled());
        running.push(cancel);
    }

    /// Returns the packet counts of all passes together.
    pub(super) fn counts(&self) -> LiveCounts {
        self.counts.clone()
    }

    /// Ends the input of the passes under way, which answer for the packets before.
    pub(super) fn stop(&self) {
        self.running().drain(..).for_each(|cancel| cancel.end());
    }

    fn running(&self) -> Locked<'_, Vec<Cancel>> {
        self.running.lock()
    }
}
