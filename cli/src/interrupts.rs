//! Work of signals before they end the program. If an output is a file that has to have a name before it is whole, they
//! take it away.
//!
//! Ctrl-C, SIGTERM and SIGHUP while captures are read that others still write: the input ends there, and what was asked is
//! answered for the packets before. Who has the program ignore SIGHUP, as `nohup` does, is not disturbed. The second signal ends the program as usual, unless it comes with the first: `timeout`
//! sends its signal to the program and to its process group.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytewright::bytes::Cancel;
use bytewright::threads::{self, JoinHandle};
use bytewright::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::low_level::{emulate_default_handler, pipe, unregister};
use signal_hook::{SigId, flag};

/// Signals that come within this time of the first are one with it.
const TOGETHER: Duration = Duration::from_millis(200);

/// End of the input by signals, from the first capture on that may wait for its writer.
#[derive(Clone, Default)]
pub(crate) struct Interrupts(Arc<State>);

#[derive(Default)]
struct State {
    cancel: Cancel,
    /// The file that is taken away.
    hidden: Arc<Mutex<Option<PathBuf>>>,
    watch: Mutex<Option<Watch>>,
}

/// The thread that waits for signals.
struct Watch {
    /// Signals end inputs, and not the program.
    ends_inputs: bool,
    /// Each signal puts a byte into it. Both ends stay open as long as signals may: where the program has the system's
    /// SIGPIPE, a byte into a pipe without a reader would end it.
    bell: UnixStream,
    waiting: Arc<UnixStream>,
    registered: Vec<SigId>,
    thread: Option<JoinHandle<()>>,
    /// Signals do what they do by default.
    is_over: Arc<AtomicBool>,
}

impl Interrupts {
    /// Returns the handle that ends the inputs of the run.
    pub(crate) fn cancel(&self) -> Cancel {
        self.0.cancel.clone()
    }

    /// Lets signals end the inputs of the run, from here on.
    pub(crate) fn end_inputs(&self) -> Result<()> {
        let mut watch = self.0.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if !watch.as_ref().is_some_and(|watch| watch.ends_inputs) {
            *watch = None;
            let cancel = self.cancel();
            let signals = [SIGINT, SIGTERM, SIGHUP].into_iter();
            let signals = signals.filter(|signal| *signal != SIGHUP || !is_ignored(SIGHUP));
            let started = Watch::start(signals, move |waiting, is_over, _| {
                cancel.end();
                pass_over(waiting, is_over);
                is_over.store(true, Ordering::Release);
            });
            let mut started = started.map_err(failed)?;
            started.ends_inputs = true;
            *watch = Some(started);
        }
        Ok(())
    }

    /// Has a signal that ends the program take a file away before, in the place of one that was named earlier. Where signals
    /// end inputs, the file is finished instead.
    pub(crate) fn remove_file(&self, path: PathBuf) -> Result<()> {
        *self.0.hidden.lock().unwrap_or_else(PoisonError::into_inner) = Some(path);
        let mut watch = self.0.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if watch.is_none() {
            let signals =
                [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
            let hidden = Arc::clone(&self.0.hidden);
            let started = Watch::start(signals, move |_, is_over, signal| {
                is_over.store(true, Ordering::Release);
                let path = hidden.lock().unwrap_or_else(PoisonError::into_inner).take();
                // It may be whole by now, and have another name.
                let _ = path.map(std::fs::remove_file);
                let _ = emulate_default_handler(signal);
            });
            *watch = Some(started.map_err(failed)?);
        }
        Ok(())
    }
}

fn failed(error: io::Error) -> Error {
    Error::io("watch for signals", &error)
}

impl Watch {
    /// Calls `act` on a thread when the first of `signals` comes, with what tells of later ones, and which one it was.
    fn start(
        signals: impl Iterator<Item = i32>,
        act: impl FnOnce(&UnixStream, &AtomicBool, i32) + Send + 'static,
    ) -> io::Result<Self> {
        let came = Arc::new(AtomicUsize::new(0));
        let is_over = Arc::new(AtomicBool::new(false));
        let (bell, waiting) = UnixStream::pair()?;
        let waiting = Arc::new(waiting);
        let mut watch = Watch {
            ends_inputs: false,
            bell,
            waiting: Arc::clone(&waiting),
            registered: vec![],
            thread: None,
            is_over,
        };
        // A file that gets as long as files may be is one more error then: what cannot be read again is to be kept.
        watch.registered.push(flag::register(SIGXFSZ, Arc::default())?);
        for signal in signals {
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_conditional_default(signal, Arc::clone(&watch.is_over))?;
            watch.registered.push(flag::register_usize(signal, Arc::clone(&came), number)?);
            watch.registered.push(pipe::register(signal, watch.bell.try_clone()?)?);
        }
        let is_over = Arc::clone(&watch.is_over);
        let thread = threads::spawn("signals", move || {
            let woken = (&*waiting).read_exact(&mut [0]).is_ok();
            let signal = i32::try_from(came.load(Ordering::Acquire)).unwrap_or_default();
            // Without a signal, the watch is over.
            if woken && signal != 0 {
                act(&waiting, &is_over, signal);
            }
        })?;
        watch.thread = Some(thread);
        Ok(watch)
    }
}

/// Returns true if the program was begun with that signal ignored, as far as the system tells.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 << (signal - 1) != 0)
}

/// Waits until signals no longer are one with the first, or are no longer watched.
fn pass_over(mut waiting: &UnixStream, is_over: &AtomicBool) {
    let first = Instant::now();
    while !is_over.load(Ordering::Acquire)
        && let Some(rest) = TOGETHER.checked_sub(first.elapsed()).filter(|rest| !rest.is_zero())
    {
        // In both cases, a byte or the end of the time, both are looked at again.
        let _ = waiting.set_read_timeout(Some(rest)).and_then(|()| waiting.read(&mut [0]));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        for id in self.registered.drain(..) {
            unregister(id);
        }
        // The thread has its byte then, and ends; that it ends the inputs no longer matters. A pipe that is full has
        // one already.
        let _ = self.bell.write(&[0]);
        let _ = self.thread.take().map(JoinHandle::join);
        debug_assert!(Arc::strong_count(&self.waiting) == 1);
    }
}
