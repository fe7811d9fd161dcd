//! Passes that stay when the program ends a call, so that the same call made again goes on.

use bytewright::Error;
use bytewright::files::ProcessMark;
use bytewright::forks::ProcessLock;
use bytewright::host::{Blocking, Host, Pass};

use crate::host::CallerHost;

/// The pass of a call that the program ended, as by an interrupt, until that call is made again or another one comes.
pub(crate) struct UnderWay<C>(ProcessLock<Option<Begun<C>>>);

/// A pass, and the call that it is for.
pub(crate) struct Begun<C> {
    pub(crate) call: C,
    pub(crate) pass: Pass,
    process: ProcessMark,
}

impl<C> Default for UnderWay<C> {
    fn default() -> Self {
        UnderWay(ProcessLock::default())
    }
}

impl<C> UnderWay<C> {
    /// Keeps a pass, in the place of another one.
    pub(crate) fn keep(&self, begun: Begun<C>) {
        let other = self.0.lock().replace(begun);
        other.into_iter().for_each(Begun::give_up);
    }

    /// Takes the pass that is kept.
    pub(crate) fn take(&self) -> Option<Begun<C>> {
        self.0.lock().take()
    }

    /// Ends the pass that is kept, where its call is such a one.
    pub(crate) fn give_up_if(&self, is_such: impl FnOnce(&C) -> bool) {
        let begun = self.0.lock().take_if(|begun| is_such(&begun.call));
        begun.into_iter().for_each(Begun::give_up);
    }
}

impl<C> Begun<C> {
    /// A pass that has just begun.
    pub(crate) fn new(call: C, pass: Pass) -> Begun<C> {
        Begun { call, pass, process: ProcessMark::new() }
    }

    /// Returns false in a forked child, which does not have the thread of the pass.
    pub(crate) fn is_here(&self) -> bool {
        self.process.is_here()
    }

    /// Ends it, and waits until it no longer uses what it was given.
    pub(crate) fn give_up(self) {
        let _ = self.pass.close(&Blocking);
    }
}

/// The end of a call that has failed.
pub(crate) enum CallEnd {
    /// The pass has failed.
    OfPass(Error),
    /// A function of the program ended the call, and the pass can go on.
    OfProgram(Error),
}

/// The program as the host of a pass, which tells its own errors from those of the pass.
pub(crate) struct TellingHost<'h>(pub(crate) &'h CallerHost);

impl Host for TellingHost<'_> {
    type Error = CallEnd;

    fn error(&self, error: Error) -> CallEnd {
        CallEnd::OfPass(error)
    }

    fn check_interrupts(&self) -> Result<(), CallEnd> {
        self.0.check_interrupts().map_err(CallEnd::OfProgram)
    }

    fn read(&self, count_max: usize) -> Result<Vec<u8>, CallEnd> {
        self.0.read(count_max).map_err(CallEnd::OfProgram)
    }
}
