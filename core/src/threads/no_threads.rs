//! Place of `threads.rs` on systems that have no threads: none is given, and who asked works alone.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;
use std::thread::Result;

/// Thread that there is none of.
#[derive(Debug)]
pub struct JoinHandle<T>(Infallible, PhantomData<T>);

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended.
    pub fn join(self) -> Result<T> {
        match self.0 {}
    }
}

/// Gives no thread.
///
/// # Errors
/// `Unsupported`.
pub fn spawn<T: Send + 'static>(
    _: &str,
    _: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Err(io::ErrorKind::Unsupported.into())
}
