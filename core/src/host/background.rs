//! Work on a thread of its own, with its results handed over in batches: the core prepares the next
//! batch while the face works on this one.
//!
//! The thread never touches a host language. Where the bytes come from a host object, the thread
//! asks for them through a [`HostSource`], and the face answers between two batches, on its own
//! thread and under its own lock.
//!
//! Few results wait: as many as the work was started with. The thread then stops until half of them are taken, so memory is
//! bounded. Each pass is a [`Background`] of its own, so a host can nest passes and share them between its threads.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::bytes::{Cancel, Source};
use crate::files::ProcessMark;
use crate::threads::{self, JoinHandle};
use crate::{Error, ErrorKind, Result, panics};

/// Longest wait before the host looks for interrupts by itself. Not every host can be relied on to wake a waiting
/// thread: Ruby before 3.3 leaves its signals to other threads of the program, which may end.
const HOST_PATIENCE: Duration = Duration::from_millis(100);

/// Event that [`Background::next`] returns.
#[derive(Debug)]
pub enum BackgroundEvent<T> {
    /// A result.
    Item(T),
    /// The work is done.
    End,
    /// [`Background::interrupt`] was called while nothing was there, or nothing came for a tenth of a second:
    /// the host may have interrupts to handle. Call [`Background::next`] again.
    Interrupted,
    /// The work needs up to that many more bytes of its [`HostSource`]: answer with
    /// [`Background::supply`].
    InputWanted(usize),
}

/// A piece of work on a thread of its own.
pub struct Background<T> {
    shared: Arc<SharedWork<T>>,
    cancel: Cancel,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The process that owns the thread; a forked child has the memory but not the thread, and
    /// must leave alone what it shares with it.
    process: ProcessMark,
}

/// Outlet that the work puts its results into.
pub struct Outlet<T>(Arc<SharedWork<T>>);

/// Bytes that the face supplies from a host object.
pub struct HostSource<T>(Arc<SharedWork<T>>);

struct SharedWork<T> {
    state: Mutex<BackgroundState<T>>,
    changed: Condvar,
    /// Results that may wait to be taken.
    queue_max: usize,
    /// Object of the work, as errors call it: "capture".
    object: &'static str,
}

struct BackgroundState<T> {
    items: VecDeque<T>,
    spares: Vec<T>,
    outcome: Option<Result<()>>,
    wanted: Option<usize>,
    supplied: Option<Result<Vec<u8>>>,
    is_interrupted: bool,
    is_closed: bool,
}

impl<T> SharedWork<T> {
    fn lock(&self) -> MutexGuard<'_, BackgroundState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, BackgroundState<T>>,
    ) -> MutexGuard<'a, BackgroundState<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next event without waiting; returns None if there is none.
    fn take_event(&self, state: &mut BackgroundState<T>) -> Result<Option<BackgroundEvent<T>>> {
        if state.is_closed {
            return Err(closed(self.object));
        }
        if let Some(item) = state.items.pop_front() {
            // The thread is woken for several results at once: switching costs more than one.
            if state.items.len() <= self.queue_max / 2 {
                self.changed.notify_all();
            }
            return Ok(Some(BackgroundEvent::Item(item)));
        }
        if let Some(outcome) = &state.outcome {
            return outcome.clone().map(|()| Some(BackgroundEvent::End));
        }
        if std::mem::take(&mut state.is_interrupted) {
            return Ok(Some(BackgroundEvent::Interrupted));
        }
        if state.supplied.is_none()
            && let Some(count) = state.wanted
        {
            return Ok(Some(BackgroundEvent::InputWanted(count)));
        }
        Ok(None)
    }

    /// Waits on behalf of the host, which is interrupted when nothing changes for long.
    fn wait_for_host<'a>(
        &self,
        state: MutexGuard<'a, BackgroundState<T>>,
    ) -> MutexGuard<'a, BackgroundState<T>> {
        let (mut state, waited) =
            self.changed.wait_timeout(state, HOST_PATIENCE).unwrap_or_else(PoisonError::into_inner);
        state.is_interrupted |= waited.timed_out();
        state
    }
}

impl<T: Send + 'static> Background<T> {
    /// Starts `work` over an `object`, which is given its outlet and the source of host bytes. It may be `queue_max`
    /// results ahead. `cancel` ends a read that blocks when the work is dropped.
    ///
    /// # Errors
    /// `Io` where the system gives no thread.
    pub fn start(
        object: &'static str,
        cancel: Cancel,
        queue_max: usize,
        work: impl FnOnce(&Outlet<T>, HostSource<T>) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let shared = Arc::new(SharedWork {
            state: Mutex::new(BackgroundState {
                items: VecDeque::new(),
                spares: Vec::new(),
                outcome: None,
                wanted: None,
                supplied: None,
                is_interrupted: false,
                is_closed: false,
            }),
            changed: Condvar::new(),
            queue_max,
            object,
        });
        let outlet = Outlet(Arc::clone(&shared));
        let source = HostSource(Arc::clone(&shared));
        let body = move || {
            let outcome = panics::catch(|| work(&outlet, source))
                .unwrap_or_else(|panic| Err(Error::internal(panic)));
            let mut state = outlet.0.lock();
            state.outcome = Some(outcome);
            let spares = std::mem::take(&mut state.spares);
            drop(state);
            outlet.0.changed.notify_all();
            drop(spares);
        };
        let thread = threads::spawn("bytewright", body)
            .map_err(|error| Error::io("start a thread", &error))?;
        Ok(Background {
            shared,
            cancel,
            thread: Mutex::new(Some(thread)),
            process: ProcessMark::new(),
        })
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// The error that ended the work, after all its results; `Closed` in a forked child.
    pub fn next(&self) -> Result<BackgroundEvent<T>> {
        let shared = self.shared_here()?;
        let mut state = shared.lock();
        loop {
            if let Some(event) = shared.take_event(&mut state)? {
                return Ok(event);
            }
            state = shared.wait_for_host(state);
        }
    }

    /// The next event where there is one already. For a host that cannot give its lock up: it makes progress
    /// without a wait.
    ///
    /// # Errors
    /// As for [`Background::next`].
    pub fn try_next(&self) -> Result<Option<BackgroundEvent<T>>> {
        let shared = self.shared_here()?;
        shared.take_event(&mut shared.lock())
    }

    /// Returns what the handle and the thread share; `Closed` in a forked child.
    fn shared_here(&self) -> Result<&SharedWork<T>> {
        self.shared().ok_or_else(|| {
            let message = format!(
                "expected the process that opened the {}, found one forked from it: open it again here",
                self.shared.object
            );
            Error::new(ErrorKind::Closed, message)
        })
    }

    /// Makes a [`Background::next`] or a [`Background::join`] that waits, or the next one that would,
    /// return and say so.
    pub fn interrupt(&self) {
        let Some(shared) = self.shared() else { return };
        shared.lock().is_interrupted = true;
        shared.changed.notify_all();
    }

    /// Replies to [`BackgroundEvent::InputWanted`]: bytes, no bytes at the end, or the error.
    pub fn supply(&self, bytes: Result<Vec<u8>>) {
        let Some(shared) = self.shared() else { return };
        shared.lock().supplied = Some(bytes);
        shared.changed.notify_all();
    }

    /// Gives a used-up result back, so that its memory serves again.
    pub fn recycle(&self, item: T) {
        let Some(shared) = self.shared() else { return };
        let mut state = shared.lock();
        if state.outcome.is_none() && !state.is_closed && state.spares.len() < shared.queue_max {
            state.spares.push(item);
        }
    }

    /// Waits until the thread is gone, which it will be after the end of the work or after
    /// [`Background::stop`]. The answer is whether it is: false says that the host may have interrupts to
    /// handle, as [`BackgroundEvent::Interrupted`] does.
    ///
    /// The wait may be long: the work may be in the middle of a commit, or wait for its turn to write
    /// to a table, and that turn may come only when other work of the same face ends. So a face must
    /// not hold a lock of its language meanwhile.
    pub fn join(&self) -> bool {
        let Some(shared) = self.shared() else { return true };
        let mut state = shared.lock();
        while state.outcome.is_none() {
            if std::mem::take(&mut state.is_interrupted) {
                return false;
            }
            state = shared.wait_for_host(state);
        }
        drop(state);
        self.join_ended();
        true
    }

    /// As [`Background::join`], but gives up after `patience`, and is not interrupted. For a face that
    /// finds it dear to give its lock up: work that has nothing to finish ends at once.
    pub fn join_within(&self, patience: Duration) -> bool {
        let Some(shared) = self.shared() else { return true };
        let (state, _) = shared
            .changed
            .wait_timeout_while(shared.lock(), patience, |state| state.outcome.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        let has_ended = state.outcome.is_some();
        drop(state);
        if has_ended {
            self.join_ended();
        }
        has_ended
    }

    /// Joins the thread, whose work has ended.
    fn join_ended(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // The thread catches its own panics; there is nothing to learn from joining.
            drop(thread.join());
        }
    }
}

impl<T> Background<T> {
    /// Tells the work to end, without waiting for it, and frees the results that nobody took: a host
    /// may keep the handle until a collector comes by. Whoever waits in [`Background::next`] is told
    /// `Closed`.
    pub fn stop(&self) {
        let Some(shared) = self.shared() else { return };
        let mut state = shared.lock();
        state.is_closed = true;
        let unused = (std::mem::take(&mut state.items), std::mem::take(&mut state.spares));
        drop(state);
        shared.changed.notify_all();
        self.cancel.cancel();
        drop(unused);
    }

    /// Returns what the handle and the thread share; None in a forked child. There the lock may have
    /// been copied while the thread held it, and then nobody gives it back; and the bell of `cancel`
    /// is a pipe, which would ring in the parent.
    fn shared(&self) -> Option<&SharedWork<T>> {
        self.process.is_here().then_some(&*self.shared)
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        self.stop();
        if self.shared().is_none() {
            // Dropped, it would detach a thread that is not there: by its number in the C library,
            // which a thread of the child may have got since.
            let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(thread.take());
        }
    }
}

/// Builds the error that the work gets when nobody wants its results any more.
fn closed(object: &str) -> Error {
    let message = format!("expected an open {object}, found it closed while it was read");
    Error::new(ErrorKind::Closed, message)
}

impl<T> Outlet<T> {
    /// Hands `item` over, waiting while enough results are waiting.
    ///
    /// # Errors
    /// `Closed` when nobody wants results any more; the work should end.
    pub fn send(&self, item: T) -> Result<()> {
        let mut state = self.0.lock();
        while state.items.len() >= self.0.queue_max && !state.is_closed {
            state = self.0.wait(state);
        }
        if state.is_closed {
            return Err(closed(self.0.object));
        }
        state.items.push_back(item);
        self.0.changed.notify_all();
        Ok(())
    }

    /// A result whose memory may be used again.
    pub fn spare(&self) -> Option<T> {
        self.0.lock().spares.pop()
    }
}

impl<T: Send> Source for HostSource<T> {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let mut state = self.0.lock();
        state.wanted = Some(limit);
        self.0.changed.notify_all();
        loop {
            if state.is_closed {
                return Err(closed(self.0.object));
            }
            if let Some(supplied) = state.supplied.take() {
                state.wanted = None;
                let bytes = supplied?;
                if bytes.len() > limit {
                    let (limit, found) = (limit as u64, bytes.len() as u64);
                    return Err(Error::limit("a number of bytes from read", limit, found));
                }
                into.extend_from_slice(&bytes);
                return Ok(bytes.len());
            }
            state = self.0.wait(state);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    //! Goal: a wait for work can be ended, and a forked child, which has a copy
    //! of the handle, neither waits for the parent's thread nor disturbs it.
    //!
    //! Method: a handle with another process's mark stands for the child's copy.

    use std::sync::mpsc;

    use super::*;

    /// Far more than anything here takes; it is waited for only when a test fails.
    const LONG: Duration = Duration::from_secs(20);

    /// Work that ends when it is told to through the sender, and not before.
    fn stubborn_work() -> (Background<u32>, mpsc::Sender<()>) {
        let (end, told) = mpsc::channel();
        let background = Background::start("capture", Cancel::new(), 1, move |_, _| {
            let _ = told.recv();
            Ok(())
        });
        (background.unwrap(), end)
    }

    /// Runs `body` on a thread of its own and answers what it gives, or fails where it hangs.
    fn in_bounded_time<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(body()));
        receiver.recv_timeout(LONG).expect("it hangs")
    }

    #[test]
    fn waiting_for_the_end_of_work_can_be_interrupted_and_taken_up_again() {
        let (background, end) = stubborn_work();
        background.stop();
        background.interrupt();
        let background = in_bounded_time(move || {
            assert!(!background.join());
            assert!(!background.join_within(Duration::ZERO));
            background
        });
        end.send(()).unwrap();
        in_bounded_time(move || while !background.join() {});
    }

    #[test]
    fn a_host_that_waits_long_is_asked_to_look_for_interrupts_though_nobody_wakes_it() {
        let (background, end) = stubborn_work();
        let background = in_bounded_time(move || {
            assert!(matches!(background.next(), Ok(BackgroundEvent::Interrupted)));
            background.stop();
            assert!(!background.join());
            background
        });
        drop((background, end));
    }

    #[test]
    fn stopping_frees_what_nobody_took_while_the_handle_lives_on() {
        let result = Arc::new(());
        let (given, taken) = (Arc::clone(&result), Arc::downgrade(&result));
        let background = Background::start("capture", Cancel::new(), 2, move |outlet, _| {
            outlet.send(given)?;
            outlet.send(result)
        });
        let background = background.unwrap();
        if let BackgroundEvent::Item(first) = background.next().unwrap() {
            background.recycle(first);
        }
        background.stop();
        while !background.join() {}
        assert_eq!(taken.strong_count(), 0);
    }

    #[test]
    fn stopping_does_not_wait() {
        let (background, end) = stubborn_work();
        let background = in_bounded_time(move || {
            background.stop();
            background
        });
        assert_eq!(background.next().unwrap_err().kind(), ErrorKind::Closed);
        drop(end);
    }

    #[test]
    fn a_copy_in_a_forked_child_never_waits_for_a_lock_that_nobody_gives_back() {
        let (mut background, end) = stubborn_work();
        background.process = ProcessMark::elsewhere();
        let shared = Arc::clone(&background.shared);
        let held = shared.lock();
        in_bounded_time(move || {
            background.recycle(1);
            background.supply(Ok(Vec::new()));
            background.interrupt();
            background.stop();
            assert!(background.join());
            assert!(background.join_within(LONG));
            assert_eq!(background.next().unwrap_err().kind(), ErrorKind::Closed);
        });
        drop((held, end));
    }

    #[test]
    fn a_copy_in_a_forked_child_does_not_call_off_a_read_of_the_parent() {
        let cancel = Cancel::new();
        let mut background =
            Background::<u32>::start("capture", cancel.clone(), 1, |_, _| Ok(())).unwrap();
        background.process = ProcessMark::elsewhere();
        background.stop();
        drop(background);
        assert!(!cancel.is_cancelled());
    }
}
