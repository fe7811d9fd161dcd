//! Tells a process from its forked children, in the time of a memory access: what a child inherited may not be its own
//! to use.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::mapping::Mapping;
use crate::forks::ProcessValue;

/// Made in one process, and known to be another's in its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessMark {
    number: u64,
}

impl ProcessMark {
    /// A mark of this process.
    #[inline]
    pub fn new() -> ProcessMark {
        ProcessMark { number: own_number() }
    }

    /// A mark that no process made, as what a forked child inherits has in the child.
    #[cfg(test)]
    pub fn elsewhere() -> ProcessMark {
        ProcessMark { number: 0 }
    }

    /// Returns true in the process that made it.
    #[inline]
    pub fn is_here(self) -> bool {
        own_number() == self.number
    }
}

impl Default for ProcessMark {
    fn default() -> Self {
        Self::new()
    }
}

/// A word that has the number of this process, and that the kernel makes 0 in a child. None where it cannot: the
/// system has to be asked for the process each time.
static WORD: ProcessValue<Option<Mapping>> = ProcessValue::new();

fn wiped_word() -> Option<Mapping> {
    Mapping::anonymous(1).ok().filter(|word| word.wipe_on_fork().is_ok())
}

/// The number of the next process that finds it has none. A child inherits it, so the child's number is above those of
/// all the marks that it inherited.
static NEXT: AtomicU64 = AtomicU64::new(1);

#[inline]
fn own_number() -> u64 {
    let Some(word) = WORD.get_or_init(wiped_word) else { return u64::from(std::process::id()) };
    match word[0].load(Relaxed) {
        0 => take_number(&word[0]),
        number => number,
    }
}

/// Numbers this process. Its threads may do so side by side; the first one counts.
#[cold]
fn take_number(word: &AtomicU64) -> u64 {
    let number = NEXT.fetch_add(1, Relaxed);
    word.compare_exchange(0, number, Relaxed, Relaxed).map_or_else(|found| found, |_| number)
}

#[cfg(test)]
mod tests {
    //! Goal: one number for a process, and none for what it did not mark. Forked children are in the tests of tables.

    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_mark_is_known_where_it_was_made_and_not_elsewhere() {
        assert!(ProcessMark::new().is_here());
        assert_eq!(ProcessMark::new(), ProcessMark::default());
        assert!(!ProcessMark::elsewhere().is_here());
    }

    #[test]
    fn threads_that_number_a_process_at_once_agree() {
        for _ in 0..100 {
            let word = AtomicU64::new(0);
            let numbers: Vec<u64> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| take_number(&word))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(numbers.iter().all(|number| *number == word.load(Relaxed)), "{numbers:?}");
        }
    }
}
