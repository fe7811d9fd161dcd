//! Place of one handle in a shared area: how it gets one and leaves it, and who else is there.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::fstatfs;
use rustix::io::Errno;

use super::kernel::{ByteLocks, OPENING_BYTE, handle_byte};
use super::layout::{AreaStamp, AreaState, AreaWords, HANDLES_MAX, SharedWords, TurnKind};
use super::process::ProcessIdentity;
use super::turn::abandon;
use crate::error::{Error, ErrorKind, Result};
use crate::files::ProcessMark;

/// Time to wait for another handle that is opened or closed.
const OPENING_PATIENCE: Duration = Duration::from_secs(10);

/// Time to wait for that where it is not worth much.
const SWEEP_PATIENCE: Duration = Duration::from_millis(200);

/// Longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// Index of a handle that has no record.
const NO_RECORD: usize = usize::MAX;

/// State in which a handle that joins finds an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundArea {
    /// It did not count, and has nothing: it was never used, or by another file or before the system started, or was settled
    /// by the last one to leave.
    Anew,
    /// Others use it.
    Used,
    /// All who used it were killed, or failed to put in the file what it has.
    Left,
}

/// Place of a handle in the shared area of a file, until it is dropped.
#[derive(Debug)]
pub(crate) struct Attachment<W: SharedWords> {
    pub(super) area: AreaWords<W>,
    pub(super) index: usize,
    identity: ProcessIdentity,
    mark: ProcessMark,
    locks: ByteLocks,
    /// True if the last handle to leave may unset the area.
    is_settled: AtomicBool,
}

impl<W: SharedWords> Attachment<W> {
    /// Joins those that use `file`, which is opened anew for this, to be written. Its area is `words`.
    ///
    /// `prepare` gets the owner's words, and says what they are to be where the area was made anew. Nobody else joins or leaves
    /// meanwhile. An error of `prepare` is returned, and leaves a new area unset.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Limit`] if too many handles are there, and with [`ErrorKind::Lock`] if the file system has no
    /// locks on parts of files, another machine uses the file, or another handle takes too long to join.
    pub(crate) fn join(
        file: File,
        words: Arc<W>,
        prepare: impl FnOnce(FoundArea, &[AtomicU64]) -> Result<()>,
    ) -> Result<Attachment<W>> {
        let mut attachment = Attachment {
            area: AreaWords::new(words)?,
            index: NO_RECORD,
            identity: ProcessIdentity::own(),
            mark: ProcessMark::new(),
            locks: ByteLocks::new(file),
            is_settled: AtomicBool::new(false),
        };
        let (area, locks) = (&attachment.area, &attachment.locks);
        let opening = Opening::wait(area, locks, &attachment.identity, OPENING_PATIENCE)?;
        let found = make_valid(area, locks)?;
        // From here on, dropping it gives the record back.
        attachment.index = take_record(area, locks, &attachment.identity)?;
        prepare(found, attachment.area.owner_words())?;
        attachment.area.set_ready();
        drop(opening);
        Ok(attachment)
    }

    /// Says if the area holds nothing that is not in the file, too. Dropping this then unsets the area if nobody else is there,
    /// and the next one makes it anew.
    pub(crate) fn set_settled(&self, is_settled: bool) {
        self.is_settled.store(is_settled, Relaxed);
    }

    fn leave(&self) {
        // Where this cannot be had, the area stays, and counts.
        let opening = match self.is_settled.load(Relaxed) {
            true => Opening::wait(&self.area, &self.locks, &self.identity, OPENING_PATIENCE).ok(),
            false => None,
        };
        let is_last = opening.is_some() && self.is_alone();
        self.give_record_back();
        if is_last {
            self.area.unset();
        }
    }

    /// Returns true in the process that joined, and false in forked children of it.
    #[inline]
    pub(crate) fn is_here(&self) -> bool {
        self.mark.is_here()
    }

    pub(super) fn mark(&self) -> ProcessMark {
        self.mark
    }

    /// Returns the words that belong to who uses the area.
    #[inline]
    pub(crate) fn owner_words(&self) -> &[AtomicU64] {
        self.area.owner_words()
    }

    /// Returns the number of this use of the area, which is another one each time it is made anew.
    #[cfg(test)]
    pub(super) fn use_number(&self) -> u64 {
        self.area.use_number()
    }

    /// Returns true if no other handle has joined. Another one may join or leave at any time, but for calls of `prepare`
    /// and `last`.
    pub(crate) fn is_alone(&self) -> bool {
        if self.locks.is_any_handle_locked(HANDLES_MAX).is_ok_and(|is_locked| !is_locked) {
            return true;
        }
        (0..self.area.handle_count()).all(|index| index == self.index || !self.is_alive(index))
    }

    /// Frees what handles had whose process is gone, and returns how many these were.
    pub(crate) fn sweep(&self) -> usize {
        let area = &self.area;
        if !self.is_here() {
            return 0;
        }
        let Ok(_opening) = Opening::wait(area, &self.locks, &self.identity, SWEEP_PATIENCE) else {
            return 0;
        };
        let (mut freed, mut count) = (0, 0);
        for index in 0..area.handle_count() {
            if self.is_alive(index) {
                count = index + 1;
            } else if area.handle(index).process().is_told() {
                free_record(area, index, &ProcessIdentity::GONE);
                freed += 1;
            }
        }
        area.set_handle_count(count);
        freed
    }

    /// Returns false if the handle with that record is sure to be gone.
    pub(super) fn is_alive(&self, index: usize) -> bool {
        // What this handle locked does not keep it out itself.
        index == self.index
            || self.locks.is_locked(handle_byte(index), 1).unwrap_or(true)
                && !self.area.handle(index).process().is_gone(&self.identity)
    }

    /// Names the process of a handle, for errors.
    pub(super) fn describe(&self, index: usize) -> String {
        self.area.handle(index).process().describe(&self.identity)
    }

    #[cfg(test)]
    pub(super) fn open_file(&self) -> &File {
        self.locks.file()
    }

    #[cfg(test)]
    pub(super) fn is_byte_locked(&self, index: usize) -> bool {
        self.locks.is_locked(handle_byte(index), 1).unwrap_or(false)
    }

    fn give_record_back(&self) {
        free_record(&self.area, self.index, &ProcessIdentity::NONE);
        // Where it cannot, the record stays taken until the file is closed, which is next.
        let _ = self.locks.unlock(handle_byte(self.index), 1);
    }
}

impl<W: SharedWords> Drop for Attachment<W> {
    fn drop(&mut self) {
        if self.index != NO_RECORD && self.is_here() {
            self.leave();
        }
    }
}

/// Lock of who joins, leaves or sweeps.
struct Opening<'a> {
    locks: &'a ByteLocks,
    _of_threads: MutexGuard<'a, ()>,
}

impl<'a> Opening<'a> {
    fn wait<W: SharedWords>(
        area: &AreaWords<W>,
        locks: &'a ByteLocks,
        own: &ProcessIdentity,
        patience: Duration,
    ) -> Result<Opening<'a>> {
        let of_threads = locks.exclude_threads();
        let began = Instant::now();
        let mut pause = Duration::from_micros(100);
        // The system could wait for the lock, but not for a time.
        while !locks.try_lock(OPENING_BYTE).map_err(|error| cannot_lock(&error))? {
            if began.elapsed() >= patience {
                let holder = area.opener().describe(own);
                let waited = patience.as_secs_f64();
                let message = format!(
                    "expected a file that nobody else is opening or closing, found {holder} at it for {waited} seconds"
                );
                return Err(Error::new(ErrorKind::Lock, message));
            }
            thread::sleep(pause);
            pause = PAUSE_MAX.min(pause * 2);
        }
        area.set_opener(own);
        Ok(Opening { locks, _of_threads: of_threads })
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        // Where it cannot, closing the file does.
        let _ = self.locks.unlock(OPENING_BYTE, 1);
    }
}

/// Makes an area anew that does not count, and frees what is left of handles where none is there.
fn make_valid<W: SharedWords>(area: &AreaWords<W>, locks: &ByteLocks) -> Result<FoundArea> {
    let stamp = AreaStamp::of(locks.file())?;
    let is_used = locks.is_any_handle_locked(HANDLES_MAX).map_err(|error| cannot_lock(&error))?;
    let found = match (area.state(&stamp), is_used) {
        (AreaState::Ready, true) => return Ok(FoundArea::Used),
        (AreaState::Ready, false) if stamp.knows_boot() => {
            for index in 0..area.handle_count() {
                free_record(area, index, &ProcessIdentity::NONE);
            }
            area.set_handle_count(0);
            return Ok(FoundArea::Left);
        }
        (AreaState::OtherBoot, true) => "another machine",
        (AreaState::OtherFile, true) => "another version of Bytewright, or by another mount",
        // Forked children of processes that ended keep such a lock; on one machine that is the only reason.
        (AreaState::Unset, true) if is_remote(locks.file()) => "another machine",
        _ => {
            area.make_anew(&stamp);
            return Ok(FoundArea::Anew);
        }
    };
    let message = format!(
        "expected a file that only this machine has open, found it used by {found}; close it there, or open it to read only"
    );
    Err(Error::new(ErrorKind::Lock, message))
}

/// Takes the first record that nobody has.
fn take_record<W: SharedWords>(
    area: &AreaWords<W>,
    locks: &ByteLocks,
    own: &ProcessIdentity,
) -> Result<usize> {
    for index in 0..HANDLES_MAX {
        if locks.try_lock(handle_byte(index)).map_err(|error| cannot_lock(&error))? {
            free_record(area, index, own);
            area.set_handle_count(area.handle_count().max(index + 1));
            return Ok(index);
        }
    }
    let message = format!(
        "expected a file that fewer than {HANDLES_MAX} handles have open, found as many; close one"
    );
    Err(Error::new(ErrorKind::Limit, message))
}

/// Frees all that the handle of a record has, which is gone or is this one, and says whose the record is then.
fn free_record<W: SharedWords>(area: &AreaWords<W>, index: usize, next: &ProcessIdentity) {
    let record = area.handle(index);
    for which in TurnKind::ALL {
        abandon(area.turn(which), index);
    }
    record.end_reading();
    let pins = (0..area.pin_count()).map(|pin| area.pin(pin));
    pins.filter(|pin| pin.is_of(index)).for_each(|pin| pin.free());
    record.set_process(next);
}

/// Returns the error of a lock that cannot be had. A file system without such locks is no defect of the file.
fn cannot_lock(error: &io::Error) -> Error {
    const WITHOUT_LOCKS: [Errno; 4] = [Errno::NOLCK, Errno::OPNOTSUPP, Errno::INVAL, Errno::NOSYS];
    let refused = Error::io("lock parts of the file", error);
    let is_without = Errno::from_io_error(error).is_some_and(|no| WITHOUT_LOCKS.contains(&no));
    if !is_without && error.kind() != io::ErrorKind::Unsupported {
        return refused;
    }
    let message =
        format!("{}; open it to read only, or keep it in a local file system", refused.message());
    Error::new(ErrorKind::Lock, message)
}

/// Returns true if other machines may have the file.
fn is_remote(file: &File) -> bool {
    /// NFS, SMB, CIFS, SMB2, 9P, FUSE, Ceph, AFS, Lustre, GPFS, OCFS2 and GFS2: statfs(2).
    const REMOTE: [u32; 12] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x6573_5546,
        0x00c3_6400,
        0x5346_414f,
        0x0bd0_0bd0,
        0x4750_4653,
        0x7461_636f,
        0x0116_1970,
    ];
    fstatfs(file).is_ok_and(|found| REMOTE.contains(&(found.f_type as u32)))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    //! Goal: each handle has a place of its own, for as long as it is there, in an area that counts.

    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::files::Mapping;
    use crate::files::shared_area::kernel::in_forked_child;
    use crate::files::shared_area::layout::{AREA_WORDS, PINS_MAX};
    use crate::files::shared_area::other_process::{
        Handle, LONG, Other, SHORT, Scratch, Stayed, join, joined, opened, refused, states, words,
        write_turn,
    };

    #[test]
    fn a_killed_process_holds_nothing_while_children_of_it_live_on() {
        let file = Scratch::new("children");
        let handle = join(&file.0);
        let mut other = Other::start(&file.0);
        let child = Stayed(other.ask("leave a child").parse().unwrap());
        other.hear("answer ");
        for what in ["take", "pin", "read"] {
            other.ask(what);
        }
        assert!(refused(&handle, SHORT).message().contains("process"));
        let keeps = |index| handle.is_byte_locked(index);
        let index = (0..2).find(|index| *index != handle.index).unwrap();
        assert!(!handle.is_alone() && keeps(index));
        other.kill();
        assert!(keeps(index), "the child has the file open");
        assert!(handle.is_alone());
        assert!(write_turn(&handle).last_owner_died());
        assert_eq!(states(&handle), [(41, 42), (43, 44)]);
        assert_eq!((handle.sweep(), handle.sweep()), (1, 0));
        assert_eq!(states(&handle), []);
        assert_eq!(join(&file.0).index, 2, "a record that the child keeps is passed");
        drop(child);
        while keeps(index) {
            std::thread::yield_now();
        }
        assert_eq!(join(&file.0).index, index);
    }

    #[test]
    fn records_are_used_again() {
        let file = Scratch::new("records");
        let stays = join(&file.0);
        for _ in 0..2 * HANDLES_MAX {
            assert_eq!(join(&file.0).index, 1);
        }
        for _ in 0..3 {
            let mut other = Other::start(&file.0);
            other.ask("pin");
            other.kill();
            assert_eq!(join(&file.0).index, 1);
            assert_eq!(states(&stays), [], "what its last one had is freed");
        }
    }

    // Promise (tree-table-file): A shared area counts for one boot and one file.
    #[test]
    fn one_handle_or_one_pin_too_many_is_an_error_that_says_so() {
        let file = Scratch::new("limits");
        let words = words(&file.0);
        let join = || Attachment::join(opened(&file.0), words.clone(), |_, _| Ok(()));
        let mut handles: Vec<Handle> = (0..HANDLES_MAX).map(|_| join().unwrap()).collect();
        let error = join().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.message().contains("fewer than 512 handles"), "{error}");
        handles.truncate(2);
        let mut pins: Vec<_> = (0..PINS_MAX as u64)
            .map(|number| handles[number as usize % 2].pin(number, number).unwrap())
            .collect();
        let error = handles[0].pin(1, 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.message().contains("fewer than 768 snapshots"), "{error}");
        assert_eq!(states(&handles[0]).len(), PINS_MAX);
        handles[1].unpin(pins.pop().unwrap());
        let _ = handles[0].pin(1, 1).unwrap();
    }

    #[test]
    fn an_area_is_anew_for_the_first_and_after_the_last_who_leaves() {
        let file = Scratch::new("anew");
        let (first, is_new) = joined(&file.0);
        assert!(is_new);
        let number = first.use_number();
        first.owner_words()[127].store(9, Relaxed);
        let (second, is_new) = joined(&file.0);
        assert!(!is_new && second.owner_words()[127].load(Relaxed) == 9);
        assert_eq!(second.use_number(), number);
        first.set_settled(true);
        drop(first);
        second.set_settled(false);
        drop(second);
        let (again, is_new) = joined(&file.0);
        assert!(!is_new && again.use_number() == number, "not settled");
        again.set_settled(true);
        drop(again);
        let (third, is_new) = joined(&file.0);
        assert!(is_new && third.owner_words()[127].load(Relaxed) == 0);
        assert_ne!(third.use_number(), number);
    }

    // Promise (tree-table-file): also A shared area counts for one boot and one file
    #[test]
    fn an_area_of_killed_processes_keeps_its_words_and_nothing_of_theirs() {
        let file = Scratch::new("all_killed");
        let mut other = Other::start(&file.0);
        for what in ["take", "pin", "read"] {
            other.ask(what);
        }
        words(&file.0)[32].store(5, Relaxed);
        other.kill();
        let (handle, is_new) = joined(&file.0);
        assert!(!is_new && handle.owner_words()[0].load(Relaxed) == 5);
        assert_eq!((handle.index, states(&handle)), (0, vec![]));
        assert!(write_turn(&handle).last_owner_died());
    }

    // Promise (tree-table-file): also A shared area counts for one boot and one file
    #[test]
    fn an_area_of_another_start_of_the_system_or_of_another_file_is_made_anew() {
        let file = Scratch::new("stale");
        // Layout, boot, device and inode.
        for stale in 0..5 {
            let words = words(&file.0);
            drop(join(&file.0));
            for word in words.iter().skip(8) {
                word.store(u64::MAX, Relaxed);
            }
            words[stale].fetch_xor(1, Relaxed);
            let (handle, is_new) = joined(&file.0);
            assert!(is_new, "{stale}");
            assert!(handle.owner_words().iter().all(|word| word.load(Relaxed) == 0));
            assert_eq!(states(&handle), []);
            assert!(!write_turn(&handle).last_owner_died());
        }
        let copy = Scratch::new("stale_copy");
        let _handle = join(&file.0);
        std::fs::copy(&file.0, &copy.0).unwrap();
        assert!(joined(&copy.0).1);
    }

    // Promise (tree-table-file): also A shared area counts for one boot and one file
    #[test]
    fn a_file_that_another_machine_uses_is_refused() {
        let file = Scratch::new("machine");
        let words = words(&file.0);
        let handle = join(&file.0);
        for (word, found) in [(1, "another machine"), (3, "another version of Bytewright")] {
            words[word].fetch_xor(1, Relaxed);
            let refused = Attachment::join(opened(&file.0), words.clone(), |_, _| Ok(()));
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Lock);
            assert!(error.message().contains(found), "{error}");
            words[word].fetch_xor(1, Relaxed);
        }
        assert!(!joined(&file.0).1);
        drop(handle);
    }

    #[test]
    fn an_error_of_the_preparation_leaves_a_new_area_unset_and_a_used_one_as_it_is() {
        let file = Scratch::new("preparation");
        let failing = |expected| {
            let refuse = |is_new, words: &[AtomicU64]| {
                assert_eq!((is_new, words.len()), (expected, 128));
                Err(Error::new(ErrorKind::Corrupt, "no"))
            };
            Attachment::join(opened(&file.0), words(&file.0), refuse).unwrap_err()
        };
        assert_eq!(failing(FoundArea::Anew).kind(), ErrorKind::Corrupt);
        let (handle, is_new) = joined(&file.0);
        assert!(is_new && handle.index == 0);
        assert_eq!(failing(FoundArea::Used).kind(), ErrorKind::Corrupt);
        assert!(handle.is_alone());
        assert!(!joined(&file.0).1);
    }

    #[test]
    fn a_file_that_cannot_be_written_and_an_area_that_is_too_small_are_errors() {
        let file = Scratch::new("refused");
        let words = words(&file.0);
        let read_only = File::open(&file.0).unwrap();
        let error = Attachment::join(read_only, words, |_, _| Ok(())).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io(Some(_))), "{error}");
        let few = Arc::new(Mapping::anonymous(AREA_WORDS - 1).unwrap());
        let error = Attachment::join(opened(&file.0), few, |_, _| Ok(())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
    }

    #[test]
    fn a_forked_child_can_use_nothing_of_a_handle_and_takes_nothing_away() {
        let file = Scratch::new("forked");
        let [handle, other] = [join(&file.0), join(&file.0)];
        let turn = write_turn(&handle);
        handle.begin_reading(3, 4).unwrap();
        let pin = handle.pin(5, 6).unwrap();
        let mut held = Some((handle, turn, pin));
        let is_content = in_forked_child(|| {
            let (handle, turn, pin) = held.take().unwrap();
            let is_closed = handle.take_turn(TurnKind::Sync, LONG).unwrap_err().kind()
                == ErrorKind::Closed
                && handle.begin_reading(1, 1).unwrap_err().kind() == ErrorKind::Closed
                && handle.pin(1, 1).unwrap_err().kind() == ErrorKind::Closed;
            handle.end_reading();
            handle.unpin(pin);
            drop(turn);
            let swept = handle.sweep();
            handle.set_settled(true);
            drop(handle);
            // Its own place it can have.
            let own = join(&file.0);
            refused(&own, Duration::ZERO);
            is_closed && swept == 0
        });
        assert!(is_content);
        let (handle, turn, _pin) = held.take().unwrap();
        assert_eq!(states(&other), [(3, 4), (5, 6)]);
        refused(&other, Duration::ZERO);
        assert!(!other.is_alone());
        drop(turn);
        drop(write_turn(&other));
        drop(handle);
        assert!(other.is_alone());
    }
}
