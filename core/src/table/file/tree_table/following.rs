//! Reads of a handle that may not write to the file: nobody knows what it reads.
//!
//! It reads the tree that was synced last, whose pages stay until the header has the next root. So what was read was right if
//! the header has still the same one behind it.

use std::sync::PoisonError;

use super::header::TreeHeader;
use super::pointer::TreeRoot;
use super::tree_file::TreeFile;
use crate::error::{Error, ErrorKind, Result};

/// Times that a read begins anew because of a writer.
const TRIES: u32 = 1000;

impl TreeFile {
    /// Looks for a root that was synced since.
    pub(super) fn follow(&self) -> Result<()> {
        let (_, found) =
            TreeHeader::read(&*self.storage).map_err(|error| error.in_file(&self.name))?;
        let roots = self.sharing.roots();
        let _following = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((root, place)) = found[0]
            && root.generation != roots.durable_generation()
        {
            roots.will_be_durable(root, place);
            roots.set_durable(root, place);
            roots.publish(root);
        }
        Ok(())
    }

    /// Returns the error of a scan of the tree of `root`: another one if that tree may be gone.
    pub(super) fn explained(&self, error: Error, root: TreeRoot) -> Error {
        let is_gone = self.follow().is_ok() && self.sharing.roots().newest().0 != root;
        if self.sharing.follows() && is_gone { self.is_overtaken() } else { error }
    }

    /// Does `read` with the tree that was synced last, until none was synced meanwhile.
    fn read_following<T>(&self, read: impl Fn(TreeRoot) -> Result<T>) -> Result<T> {
        for _ in 0..TRIES {
            self.follow()?;
            let (root, _) = self.sharing.roots().newest();
            let outcome = read(root);
            self.follow()?;
            if self.sharing.roots().newest().0 == root {
                return outcome;
            }
        }
        Err(self.is_overtaken())
    }

    /// Makes the error of a read that writers took the pages away from.
    pub(super) fn is_overtaken(&self) -> Error {
        let message = "expected to read a commit, found its pages written over meanwhile: who may only read the file cannot \
                       keep them; read again, or open it with the right to write";
        Error::new(ErrorKind::Lock, message).in_file(&self.name)
    }

    pub(super) fn get_following(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.read_following(|root| self.copy_of(root, key))?;
        if let Some(value) = &value {
            found(value);
        }
        Ok(value.is_some())
    }

    pub(super) fn get_many_following(
        &self,
        keys: &[&[u8]],
        found: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        let values = self.read_following(|root| {
            keys.iter().map(|key| self.copy_of(root, key)).collect::<Result<Vec<_>>>()
        })?;
        for (place, value) in values.iter().enumerate() {
            found(place, value.as_deref());
        }
        Ok(())
    }

    fn copy_of(&self, root: TreeRoot, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = None;
        self.get(root.page, key, &mut |bytes| value = Some(bytes.to_vec()))?;
        Ok(value)
    }
}
