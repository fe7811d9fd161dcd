//! Tells a process from its forked children, in the time of a memory access: what a child inherited
//! may not be its own to use.

use std::sync::atomic::Ordering::Relaxed;

use super::mapping::Mapping;

/// Made in one process, and known to be another's in its children.
#[derive(Debug)]
pub struct ProcessMark {
    /// A word that is 1 here and that the kernel makes 0 in a child; where it cannot, the number of
    /// the process has to be asked for each time.
    word: Option<Mapping>,
    process: u32,
}

impl ProcessMark {
    /// A mark of this process.
    pub fn new() -> ProcessMark {
        let word = Mapping::anonymous(1).ok().filter(|word| word.wipe_on_fork().is_ok());
        if let Some(word) = &word {
            word[0].store(1, Relaxed);
        }
        ProcessMark { word, process: std::process::id() }
    }

    /// Whether this is the process that made it.
    #[inline]
    pub fn is_here(&self) -> bool {
        match &self.word {
            Some(word) => word[0].load(Relaxed) == 1,
            None => std::process::id() == self.process,
        }
    }
}

impl Default for ProcessMark {
    fn default() -> Self {
        Self::new()
    }
}
