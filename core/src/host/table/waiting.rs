//! Waiting for another process that writes a table, in slices, after each of which the host handles interrupts.

use std::time::{Duration, Instant};

use super::super::failure::{Failure, Outcome};
use super::super::pass_host::Host;
use crate::error::{Error, ErrorKind, Result};

/// Longest wait at one time.
const SLICE_MAX: Duration = Duration::from_millis(50);

/// The end of an attempt at something that only one process does at a time.
#[derive(Debug)]
pub enum Attempt<R> {
    /// It was this one's turn.
    Done(R),
    /// Another process or handle has the turn, and gives it back without this caller; the error names it.
    Elsewhere(Error),
}

impl<R> Attempt<R> {
    /// Tells the attempt that met another process or handle from those that failed. `result` is that of taking the turn alone:
    /// a lock error of what is done in the turn is no reason to wait.
    ///
    /// # Errors
    /// Returns the other errors.
    pub fn of(result: Result<R>) -> Result<Attempt<R>> {
        match result {
            Ok(done) => Ok(Attempt::Done(done)),
            Err(error) if error.kind() == ErrorKind::Lock => Ok(Attempt::Elsewhere(error)),
            Err(error) => Err(error),
        }
    }
}

/// Calls `attempt` with the time that it may wait until nobody else keeps it from what it does, for `timeout` in all: the
/// first time it may not wait. An interrupt ends the waiting, and so does an error.
pub fn wait_for_writer<H: Host, R>(
    host: &H,
    timeout: Duration,
    mut attempt: impl FnMut(Duration) -> Outcome<Attempt<R>, H>,
) -> Outcome<R, H> {
    let began = Instant::now();
    let mut slice = Duration::ZERO;
    loop {
        let attempted = attempt(slice)?;
        let left = timeout.saturating_sub(began.elapsed());
        match attempted {
            Attempt::Done(done) => return Ok(done),
            Attempt::Elsewhere(error) if left.is_zero() => return Err(error.into()),
            Attempt::Elsewhere(_) => (),
        }
        host.check_interrupts().map_err(Failure::Host)?;
        slice = left.min(SLICE_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::pass_host::Blocking;
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn locked() -> Error {
        Error::new(ErrorKind::Lock, "locked")
    }

    #[test]
    fn an_attempt_that_met_another_process_is_repeated_until_it_is_done() {
        let mut slices = Vec::new();
        let outcome = wait_for_writer(&Blocking, LONG, |slice| {
            slices.push(slice);
            Ok(if slices.len() < 3 { Attempt::Elsewhere(locked()) } else { Attempt::Done(7) })
        });
        assert!(matches!(outcome, Ok(7)));
        assert_eq!(slices, [Duration::ZERO, SLICE_MAX, SLICE_MAX]);
    }

    #[test]
    fn a_lock_error_that_waiting_cannot_mend_is_returned_at_once() {
        let mut attempts = 0;
        let outcome = wait_for_writer(&Blocking, LONG, |_| {
            attempts += 1;
            Err::<Attempt<()>, _>(locked().into())
        });
        assert!(matches!(outcome, Err(Failure::Core(error)) if error.kind() == ErrorKind::Lock));
        assert_eq!(attempts, 1);
    }
}
