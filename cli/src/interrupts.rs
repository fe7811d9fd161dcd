//! Ctrl-C, SIGTERM and SIGHUP while captures are read that others still write: the input ends there, and what was asked is
//! answered for the packets before. Who has the program ignore SIGHUP, as `nohup` does, is not disturbed. The second signal ends the program as usual, unless it comes with the first: `timeout`
//! sends its signal to the program and to its process group.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytewright::stream::Cancel;
use bytewright::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::low_level::{pipe, unregister};
use signal_hook::{SigId, flag};

/// Signals that come within this time of the first are one with it.
const TOGETHER: Duration = Duration::from_millis(200);

/// Whether signals end the input, which they do from the first capture on that may wait for its writer.
#[derive(Clone, Default)]
pub(crate) struct Interrupts(Arc<State>);

#[derive(Default)]
struct State {
    cancel: Cancel,
    watch: Mutex<Option<Watch>>,
}

/// The thread that waits for signals.
struct Watch {
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
    /// What ends the inputs of the run.
    pub(crate) fn cancel(&self) -> Cancel {
        self.0.cancel.clone()
    }

    /// Lets signals end the inputs of the run, from here on.
    pub(crate) fn end_inputs(&self) -> Result<()> {
        let mut watch = self.0.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if watch.is_none() {
            let started = Watch::start(self.cancel());
            *watch = Some(started.map_err(|error| Error::io("watch for signals", &error))?);
        }
        Ok(())
    }
}

impl Watch {
    fn start(cancel: Cancel) -> io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (bell, waiting) = UnixStream::pair()?;
        let waiting = Arc::new(waiting);
        let mut watch = Watch {
            bell,
            waiting: Arc::clone(&waiting),
            registered: vec![],
            thread: None,
            is_over,
        };
        // A file that gets as long as files may be is one more error then: what cannot be read again is to be kept.
        watch.registered.push(flag::register(SIGXFSZ, Arc::default())?);
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if signal == SIGHUP && is_ignored(signal) {
                continue;
            }
            flag::register_conditional_default(signal, Arc::clone(&watch.is_over))?;
            watch.registered.push(pipe::register(signal, watch.bell.try_clone()?)?);
        }
        let is_over = Arc::clone(&watch.is_over);
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if (&*waiting).read_exact(&mut [0]).is_ok() {
                cancel.end();
                pass_over(&waiting, &is_over);
                is_over.store(true, Ordering::Release);
            }
        })?;
        watch.thread = Some(thread);
        Ok(watch)
    }
}

/// Whether the program was begun with that signal ignored, where the system tells.
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
        // Whether a byte comes or the time is over, both are looked at again.
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
