//! Turn to write, for as long as this handle has it.

use std::sync::Arc;
use std::time::Duration;

use super::allocator::PageAllocator;
use super::tree_file::TreeFile;
use crate::error::Result;

/// Turn to write the file, which is given back when this is dropped.
#[derive(Debug)]
pub(super) struct WriteTurn {
    file: Arc<TreeFile>,
    is_unsettled: bool,
}

impl WriteTurn {
    /// Takes the turn, and waits up to `timeout` for the one who has it. A turn of this handle is taken once more.
    pub(super) fn take(file: &Arc<TreeFile>, timeout: Duration) -> Result<WriteTurn> {
        let is_unsettled = file.sharing.take_turn(timeout);
        let is_unsettled = is_unsettled.map_err(|error| error.in_file(&file.name))?;
        Ok(WriteTurn { file: file.clone(), is_unsettled })
    }

    pub(super) fn file(&self) -> &Arc<TreeFile> {
        &self.file
    }

    /// Returns true if the one before died with the turn.
    pub(super) fn is_unsettled(&self) -> bool {
        self.is_unsettled
    }
}

impl Drop for WriteTurn {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // What was being changed may be half done.
            PageAllocator { file: &self.file }.set_ready(false);
        }
        self.file.sharing.give_turn_back();
    }
}
