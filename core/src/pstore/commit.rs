//! Making the file hold what is kept, and seeing to what is known of it then.

use super::difference::Difference;
use super::old::{Changed, Old, OldSource};
use super::writing::PendingWrite;
use super::{Durability, SeenFile, Store, stamp};
use crate::error::{Error, Result};

impl Store {
    /// Makes the file, `old_len` bytes long, hold what is kept. Whether it held anything else; `source`
    /// has what it held. After an error nothing is kept.
    pub(super) fn commit(
        &mut self,
        old_len: usize,
        changed: &Changed,
        source: OldSource,
        durability: Durability,
    ) -> Result<bool> {
        let committed = self.write(old_len, changed, source, durability);
        if committed.is_err() {
            self.forget();
        }
        committed
    }

    fn write(
        &mut self,
        old_len: usize,
        changed: &Changed,
        source: OldSource,
        durability: Durability,
    ) -> Result<bool> {
        let (Some(opened), Some(before), Some(blocks)) =
            (&mut self.opened, self.version, &mut self.blocks)
        else {
            return Err(Error::internal("a change of a file that is not open"));
        };
        let system = &*self.system;
        let name = opened.path.to_string_lossy();
        let failed = |action: &str, error| Error::io(action, &error).in_file(&name);
        let is_durable = durability == Durability::Power;
        let has_journal =
            opened.journal.prepare(system, &opened.path, &*opened.file, durability)?;
        let new = self.kept.bytes();
        let mut difference = Difference::new(old_len, new.len());
        let old = Old::survey(&*opened.file, changed, &mut difference, new, source, has_journal);
        let old = old.map_err(|error| failed("read", error))?;
        if difference.is_empty() {
            return Ok(false);
        }
        let writing = PendingWrite {
            file: &*opened.file,
            name: &name,
            new,
            difference: &difference,
            old: &old,
            boot: system.boot(),
            is_durable,
        };
        let journal = has_journal.then_some(&mut opened.journal);
        writing.write(system, journal, blocks)?;
        self.memory = old.into_memory();
        let modified = stamp::stamp(system.now(), before.modified);
        // Only its owner may say when a file was modified.
        let _ = opened.file.set_modified(modified);
        let version = opened.file.version().map_err(|error| failed("look at", error))?;
        let is_settled = stamp::is_settled(&version, system.now());
        opened.journal.make_void(system)?;
        self.seen = Some(SeenFile { version, is_settled, is_overlaid: false });
        self.version = Some(version);
        Ok(true)
    }
}
