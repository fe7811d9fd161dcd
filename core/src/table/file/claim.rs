//! Files that this process has open through objects that must not share one: Tokyo Cabinet's databases. A lock of the
//! operating system cannot tell such an object that it waits for its own process, and for ever.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::forks::ProcessLock;

/// A process and the path of a file that it claims. A forked child inherits the set, but not the claims.
type Key = (u32, PathBuf);

static CLAIMED: ProcessLock<Option<HashSet<Key>>> = ProcessLock::new(None);

/// A file that one object of this process has. Dropping the claim releases the file.
#[derive(Debug)]
pub struct Claim {
    key: Key,
}

impl Claim {
    /// Claims the file at `path`, whether or not it exists. Links to one file are one claim.
    ///
    /// [`ErrorKind::Lock`] where another object of this process has it.
    pub fn of(path: &Path) -> Result<Claim> {
        let key = (std::process::id(), resolved(path));
        if CLAIMED.lock().get_or_insert_default().insert(key.clone()) {
            return Ok(Claim { key });
        }
        let name = path.to_string_lossy();
        Err(Error::new(ErrorKind::Lock, format!("{name} is open in this process already"))
            .in_file(&name))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(claimed) = CLAIMED.lock().as_mut() {
            claimed.remove(&self.key);
        }
    }
}

/// The path without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new(".")).canonicalize();
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_claimed_once_until_the_claim_is_dropped() {
        let path = std::env::temp_dir().join("claim-that-needs-no-file.bwh");
        let claim = Claim::of(&path).expect("claim");
        assert_eq!(Claim::of(&path).expect_err("claimed").kind(), ErrorKind::Lock);
        drop(claim);
        Claim::of(&path).expect("free again");
    }

    #[test]
    fn names_of_one_file_are_one_claim() {
        let folder = std::env::temp_dir().canonicalize().expect("temporary folder");
        let name = format!("claim-{}.bwh", std::process::id());
        let _claim = Claim::of(&folder.join(&name)).expect("claim");
        let again = folder.join(".").join("..").join(folder.file_name().expect("name")).join(&name);
        Claim::of(&again).expect_err("claimed under another name");
    }
}
