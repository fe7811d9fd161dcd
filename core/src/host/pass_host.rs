//! Interface of a pass to the program that it works for.

use crate::Error;

/// A host: how it waits, is interrupted, and raises errors.
///
/// A pass holds no lock while it calls one of these methods, and an error from any of them leaves the pass in a
/// state that it can go on from. A method returns its error, and never jumps over the frames of its caller.
pub trait Host {
    /// Error that the host raises.
    type Error;

    /// An error of the core, as the host raises it.
    fn error(&self, error: Error) -> Self::Error;

    /// Runs `work`, which may wait for long, without a lock of the host's, so that its other threads run meanwhile.
    /// `wake`, called from any thread, makes `work` return soon. `None` says that an interrupt was pending, and that
    /// `work` did not run.
    ///
    /// # Errors
    /// Fails if the host cannot wait.
    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        wake: &(dyn Fn() + Sync),
    ) -> Result<Option<T>, Self::Error> {
        let _ = wake;
        Ok(Some(work()))
    }

    /// Handles the interrupts that are pending.
    ///
    /// # Errors
    /// Returns the error that an interrupt raises: the operation ends with it.
    fn check_interrupts(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Up to `count_max` bytes of the object that the pass reads; none at its end. Only called where there is such an
    /// object.
    ///
    /// # Errors
    /// Returns the error that the object raises.
    fn read(&self, count_max: usize) -> Result<Vec<u8>, Self::Error> {
        let _ = count_max;
        Ok(Vec::new())
    }
}

/// A host that just waits: a program without a lock, interrupts or objects to read from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blocking;

impl Host for Blocking {
    type Error = Error;

    fn error(&self, error: Error) -> Error {
        error
    }
}
