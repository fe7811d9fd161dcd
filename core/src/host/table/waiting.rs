//! Waiting for another process that writes a table, in slices, after each of which the host handles interrupts.

use std::time::{Duration, Instant};

use super::super::failure::{Failure, Outcome};
use super::super::pass_host::Host;
use crate::error::ErrorKind;

/// Longest wait at one time.
const SLICE_MAX: Duration = Duration::from_millis(50);

/// Calls `attempt` with the time that it may wait until nobody else keeps it from what it does, for `timeout` in all: the
/// first time it may not wait. An interrupt ends the waiting.
pub fn wait_for_writer<H: Host, R>(
    host: &H,
    timeout: Duration,
    mut attempt: impl FnMut(Duration) -> Outcome<R, H>,
) -> Outcome<R, H> {
    let began = Instant::now();
    let mut slice = Duration::ZERO;
    loop {
        let outcome = attempt(slice);
        let left = timeout.saturating_sub(began.elapsed());
        match outcome {
            Err(Failure::Core(error)) if error.kind() == ErrorKind::Lock && !left.is_zero() => (),
            outcome => return outcome,
        }
        host.check_interrupts().map_err(Failure::Host)?;
        slice = left.min(SLICE_MAX);
    }
}
