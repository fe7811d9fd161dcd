//! Errors of the hosts in these tests.

use bytewright::Error;

#[derive(Debug)]
pub(crate) enum Raised {
    /// By an interrupt, or by the object that is read.
    ByHost,
    ByCore(Error),
}
