//! Ctrl-C and SIGTERM while captures are read that others still write: the input ends there, and what was asked is
//! answered for the packets before. The second signal ends the program as usual.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use bytewright::stream::Cancel;
use bytewright::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals};

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
    handle: Handle,
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
        for signal in [SIGINT, SIGTERM] {
            // In this order: a signal finds the flag set by one before it, not by itself.
            flag::register_conditional_default(signal, Arc::clone(&is_over))?;
            flag::register(signal, Arc::clone(&is_over))?;
        }
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let handle = signals.handle();
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if signals.forever().next().is_some() {
                cancel.end();
            }
        })?;
        Ok(Watch { handle, thread: Some(thread), is_over })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.handle.close();
        // It has nothing to say, and ends at once.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
