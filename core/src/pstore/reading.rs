//! The roots of a store for readers, which do not block writers.

use std::path::Path;

use super::{Access, Begun, KeptBytes, Options, SeparateRoots, Store, StoreFormat};
use crate::error::{Error, Result};
use crate::marshal::Roots;

/// The roots of the store at `path`, whatever its format, as they are now. It waits for a writer; `signal` is called when a
/// signal came meanwhile, and its error ends the wait. When it returns, the store is not locked.
///
/// # Errors
/// Returns the errors of the system, of [`Roots::whole`], of [`SeparateRoots::open`] and of `signal`.
pub fn roots_of(path: &Path, signal: impl FnMut() -> Result<()>) -> Result<Roots<'static>> {
    let roots = match StoreFormat::of(path)? {
        StoreFormat::Separate => Ok(Roots::separate(Box::new(SeparateRoots::open(path)?))),
        StoreFormat::Stream => roots_of_stream(path, signal),
    };
    roots.map_err(|error| error.in_file(&path.to_string_lossy()))
}

fn roots_of_stream(path: &Path, mut signal: impl FnMut() -> Result<()>) -> Result<Roots<'static>> {
    let mut store = Store::new(Options::default());
    loop {
        match store.try_begin(path, Access::Read)? {
            Begun::Ready => break,
            Begun::Stale => break store.load()?,
            Begun::Busy if !store.wait()? => signal()?,
            Begun::Busy => {}
            Begun::Missing => {
                let missing = std::io::Error::from_raw_os_error(ENOENT);
                return Err(Error::io("open", &missing));
            }
        }
    }
    store.end();
    match std::mem::take(&mut store.kept) {
        KeptBytes::Empty => Ok(Roots::none()),
        KeptBytes::Roots(stream) => Roots::of_stream(stream),
        KeptBytes::Refused { bytes, .. } | KeptBytes::Unscanned(bytes) => Roots::whole(bytes),
    }
}

/// The number of "no such file or directory", which all systems agree on.
const ENOENT: i32 = 2;
