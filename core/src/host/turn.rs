//! Whose turn it is to use an object that threads of a host share: everybody's, or that of the one caller that has a
//! transaction open, works without the host's lock, or waits.
//!
//! A caller is a strand of execution: a thread, or one of several tasks or fibers of a thread. The turn is a mutex of the
//! host's, taken only for such work, so that those who wait do it as the host waits. Another strand of the holder's thread
//! cannot wait, because the holder would not go on meanwhile; it may read, and to change something is refused.

use std::cell::{Cell, RefCell};

use super::failure::{Failure, Outcome};
use super::pass_host::{Blocking, Host};
use crate::error::{Error, ErrorKind};

/// A host whose threads share objects. What a method leaves out is right for a host with one thread.
pub trait TurnHost: Host {
    /// Who uses an object. The host keeps what identifies it for as long as the caller has a turn.
    type Caller: Clone;

    /// Says who uses the object now.
    ///
    /// # Errors
    /// Fails if the host cannot tell.
    fn caller(&self) -> Result<Self::Caller, Self::Error>;

    /// Says whether the code that runs now may do what `holder` may, who has the turn.
    ///
    /// # Errors
    /// Fails if the host cannot tell.
    fn is_running(&self, holder: &Self::Caller) -> Result<bool, Self::Error>;

    /// Says whether `holder` is a strand of the thread that runs now.
    fn is_of_this_thread(&self, holder: &Self::Caller) -> bool;

    /// Waits for the mutex that goes with the object, and takes it. In a forked child it is free, even if another thread had it.
    ///
    /// # Errors
    /// Fails if the host cannot wait, and with what is raised meanwhile.
    fn lock_turn(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Takes the mutex where it is free, and says whether it was.
    ///
    /// # Errors
    /// Fails if the host refuses that.
    fn try_lock_turn(&self) -> Result<bool, Self::Error> {
        self.lock_turn().map(|()| true)
    }

    /// Gives the mutex back.
    ///
    /// # Errors
    /// Fails if the host refuses that.
    fn unlock_turn(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Says whether a strand of a thread goes on while another waits: where something schedules them.
    ///
    /// # Errors
    /// Fails if the host cannot tell.
    fn schedules_strands(&self) -> Result<bool, Self::Error> {
        Ok(false)
    }

    /// Builds the error of a strand that would have to wait for another one of its thread.
    fn refusal(&self) -> Error {
        let message = "expected an object that no other fiber of this thread is using, found one with a \
                       transaction or a wait of such a fiber; let that end first";
        Error::new(ErrorKind::Lock, message)
    }

    /// As [`Host::wait`], for work that nothing can wake and that ends soon by itself: it runs once, whatever interrupts
    /// are pending.
    ///
    /// # Errors
    /// Returns the error that an interrupt raises before it.
    fn wait_to_the_end<T: Send>(&self, work: &(dyn Fn() -> T + Sync)) -> Result<T, Self::Error> {
        loop {
            match self.wait(work, &|| ())? {
                Some(outcome) => return Ok(outcome),
                None => self.check_interrupts()?,
            }
        }
    }

    /// Is told by how many bytes the memory of the object has changed.
    fn adjust_memory(&self, bytes: isize) {
        let _ = bytes;
    }
}

/// The caller of a host whose objects have one.
#[derive(Debug, Clone, Copy)]
pub struct SingleCaller;

/// A host each of whose objects is used by one thread at a time, as its rules say: nobody waits for a turn.
pub trait SingleCallerHost: Host {}

impl<H: SingleCallerHost> TurnHost for H {
    type Caller = SingleCaller;

    fn caller(&self) -> Result<SingleCaller, H::Error> {
        Ok(SingleCaller)
    }

    fn is_running(&self, _holder: &SingleCaller) -> Result<bool, H::Error> {
        Ok(true)
    }

    fn is_of_this_thread(&self, _holder: &SingleCaller) -> bool {
        true
    }
}

impl SingleCallerHost for Blocking {}

/// Result of taking a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It was this caller's before.
    Already,
    /// It was nobody's.
    Now,
    /// The thread that had it was not copied by a fork, so that it could not give it back.
    AfterFork,
}

/// A turn that one caller at a time can take.
pub struct Turn<C> {
    is_taken: Cell<bool>,
    /// Nobody before the holder is known.
    holder: RefCell<Option<C>>,
}

impl<C> Default for Turn<C> {
    fn default() -> Self {
        Turn { is_taken: Cell::new(false), holder: RefCell::new(None) }
    }
}

impl<C: Clone> Turn<C> {
    /// Says whether it is somebody's, perhaps of this very caller.
    #[inline]
    pub fn is_taken(&self) -> bool {
        self.is_taken.get()
    }

    /// Says whose it is.
    pub fn holder(&self) -> Option<C> {
        self.holder.borrow().clone()
    }

    /// Says whether it is this caller's.
    ///
    /// # Errors
    /// Fails if the host cannot tell.
    pub fn is_mine<H: TurnHost<Caller = C>>(&self, host: &H) -> Result<bool, H::Error> {
        match self.holder() {
            Some(holder) if host.is_of_this_thread(&holder) => host.is_running(&holder),
            _ => Ok(false),
        }
    }

    /// Returns true if another strand of this thread holds it, which cannot go on while this one waits.
    ///
    /// # Errors
    /// Fails if the host cannot tell.
    pub fn is_held_by_other_strand<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
    ) -> Result<bool, H::Error> {
        match self.holder() {
            Some(holder) if host.is_of_this_thread(&holder) => {
                Ok(!host.is_running(&holder)? && !host.schedules_strands()?)
            }
            _ => Ok(false),
        }
    }

    /// Says whether who uses the object now has to wait for another caller.
    ///
    /// # Errors
    /// Fails if the host cannot tell.
    pub fn is_of_others<H: TurnHost<Caller = C>>(&self, host: &H) -> Result<bool, H::Error> {
        Ok(self.is_taken() && !self.is_mine(host)? && !self.is_held_by_other_strand(host)?)
    }

    /// Waits until it is this caller's. [`ErrorKind::Lock`] where another strand of this thread has it, which could not
    /// go on while this one waits.
    pub fn take<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<Taken, H> {
        if self.is_mine(host).map_err(Failure::Host)? {
            return Ok(Taken::Already);
        }
        if self.is_held_by_other_strand(host).map_err(Failure::Host)? {
            return Err(host.refusal().into());
        }
        let caller = host.caller().map_err(Failure::Host)?;
        host.lock_turn().map_err(Failure::Host)?;
        Ok(self.note_holder(caller))
    }

    /// Takes it where nobody has it; `None` where somebody else does.
    pub fn try_take<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<Option<Taken>, H> {
        if self.is_mine(host).map_err(Failure::Host)? {
            return Ok(Some(Taken::Already));
        }
        let caller = host.caller().map_err(Failure::Host)?;
        let is_locked = host.try_lock_turn().map_err(Failure::Host)?;
        Ok(is_locked.then(|| self.note_holder(caller)))
    }

    fn note_holder(&self, caller: C) -> Taken {
        let gone = self.holder.replace(Some(caller));
        self.is_taken.set(true);
        if gone.is_some() { Taken::AfterFork } else { Taken::Now }
    }

    /// Makes it nobody's again.
    pub fn give_back<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<(), H> {
        let holder = self.holder.take();
        self.is_taken.set(false);
        drop(holder);
        host.unlock_turn().map_err(Failure::Host)
    }
}
