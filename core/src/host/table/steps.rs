//! Work that is done in steps without the host's lock, and can be interrupted between two of them.

use std::sync::{Mutex, PoisonError};

use super::super::failure::{Failure, Outcome};
use super::super::pass_host::Host;
use crate::bytes::Cancel;
use crate::error::Result;

/// Repeats `step` without the host's lock until it answers false, or fails. Interrupts come between two steps.
pub fn step_by_step<H: Host>(
    host: &H,
    step: &mut (dyn FnMut() -> Result<bool> + Send),
) -> Outcome<(), H> {
    let (cancel, step) = (Cancel::new(), Mutex::new(step));
    let run = || {
        let mut step = step.lock().unwrap_or_else(PoisonError::into_inner);
        // Once at least, so that work gets on whatever interrupts there are.
        while step()? {
            if cancel.is_cancelled() {
                return Ok(true);
            }
        }
        Ok(false)
    };
    loop {
        let outcome = host.wait(&run, &|| cancel.cancel());
        // Nobody calls it away any more now that the host has its lock again.
        cancel.reset();
        host.check_interrupts().map_err(Failure::Host)?;
        match outcome.map_err(Failure::Host)? {
            Some(Ok(false)) => return Ok(()),
            Some(Err(error)) => return Err(Failure::Core(error)),
            Some(Ok(true)) | None => (),
        }
    }
}
