//! Failure of an operation for a host, which ended without a result.

use super::pass_host::Host;
use crate::error::{Error, Result};
use crate::panics;

/// An error of the core, which a face may keep or raise, or what its host raised, which has to go on to the host.
#[derive(Debug)]
pub enum Failure<E> {
    /// Error of the operation itself.
    Core(Error),
    /// Error that the host raised meanwhile.
    Host(E),
}

/// Result of an operation for the host `H`.
pub type Outcome<T, H> = std::result::Result<T, Failure<<H as Host>::Error>>;

impl<E> From<Error> for Failure<E> {
    fn from(error: Error) -> Self {
        Failure::Core(error)
    }
}

impl<E> Failure<E> {
    /// Converts it to an error of the host's.
    pub fn into_host<H: Host<Error = E>>(self, host: &H) -> E {
        match self {
            Failure::Core(error) => host.error(error),
            Failure::Host(error) => error,
        }
    }
}

/// Does `work`, and makes [`ErrorKind::Internal`](crate::ErrorKind::Internal) of a panic in it.
#[inline]
pub fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    panics::catch(work).unwrap_or_else(|panic| Err(Error::internal(&panic)))
}
