//! Whose turn it is to use an object that threads of a host share: everybody's, or that of the one caller that has a
//! transaction open, works without the host's lock, or waits.
//!
//! A caller is a strand of execution: a thread, or one of several fibers of a thread. The turn is a mutex of the host's,
//! taken only for such work, so that those who wait do it as the host waits. Another strand of the holder's thread cannot
//! wait, because the holder would not go on meanwhile; it may read, and to change something is refused.

use std::cell::Cell;

use super::failure::{Failure, Outcome};
use super::host::{Blocking, Host};
use crate::error::{Error, ErrorKind};

/// Who uses an object. The host keeps what identifies it for as long as the caller has a turn.
pub trait Caller: Copy {
    /// Whether both are one strand.
    fn is(self, other: Self) -> bool;

    /// Whether both are strands of one thread.
    fn shares_thread_with(self, other: Self) -> bool;
}

/// A host whose threads share objects. What a method leaves out is right for a host with one thread.
pub trait TurnHost: Host {
    /// Who uses the object now.
    type Caller: Caller;

    /// Who that is.
    fn caller(&self) -> Self::Caller;

    /// Waits for the mutex that goes with the object, and takes it. In a forked child it is free, even if another thread had it.
    ///
    /// # Errors
    /// Where the host cannot wait, and what is raised meanwhile.
    fn lock_turn(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Gives the mutex back.
    ///
    /// # Errors
    /// Where the host refuses that.
    fn unlock_turn(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Whether a strand of a thread goes on while another waits: where something schedules them.
    ///
    /// # Errors
    /// Where the host cannot say.
    fn schedules_strands(&self) -> Result<bool, Self::Error> {
        Ok(false)
    }

    /// As [`Host::wait`], for work that nothing can wake and that ends soon by itself: it runs once, whatever interrupts
    /// are pending.
    ///
    /// # Errors
    /// What an interrupt raises before it.
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

/// The caller of a host that has one thread.
#[derive(Debug, Clone, Copy)]
pub struct SingleCaller;

impl Caller for SingleCaller {
    fn is(self, _other: Self) -> bool {
        true
    }

    fn shares_thread_with(self, _other: Self) -> bool {
        true
    }
}

impl TurnHost for Blocking {
    type Caller = SingleCaller;

    fn caller(&self) -> SingleCaller {
        SingleCaller
    }
}

/// What taking a turn found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It was this caller's before.
    Already,
    /// It was nobody's.
    Now,
    /// Who had it is gone without giving it back: a fork copies one thread, not those beside it.
    FromTheGone,
}

/// A turn that one caller at a time can take.
pub struct Turn<C> {
    holder: Cell<Option<C>>,
}

impl<C> Default for Turn<C> {
    fn default() -> Self {
        Turn { holder: Cell::new(None) }
    }
}

impl<C: Caller> Turn<C> {
    /// Whether it is somebody's, perhaps of this very caller.
    #[inline]
    pub fn is_taken(&self) -> bool {
        self.holder.get().is_some()
    }

    /// Whose it is.
    pub fn holder(&self) -> Option<C> {
        self.holder.get()
    }

    /// Whether it is this caller's.
    pub fn is_mine<H: TurnHost<Caller = C>>(&self, host: &H) -> bool {
        self.holder.get().is_some_and(|holder| holder.is(host.caller()))
    }

    /// Whether another strand of this thread has it, which cannot go on while this one waits.
    pub fn is_of_suspended_strand<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<bool, H> {
        let Some(holder) = self.holder.get() else { return Ok(false) };
        let caller = host.caller();
        if holder.is(caller) || !holder.shares_thread_with(caller) {
            return Ok(false);
        }
        host.schedules_strands().map(|schedules| !schedules).map_err(Failure::Host)
    }

    /// Whether who uses the object now has to wait for another caller.
    pub fn is_of_others<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<bool, H> {
        Ok(self.is_taken() && !self.is_mine(host) && !self.is_of_suspended_strand(host)?)
    }

    /// Waits until it is this caller's. [`ErrorKind::Lock`] where another strand of this thread has it, which could not
    /// go on while this one waits.
    pub fn take<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<Taken, H> {
        if self.is_mine(host) {
            return Ok(Taken::Already);
        }
        if self.is_of_suspended_strand(host)? {
            let message = "expected an object that no other fiber of this thread is using, found one with a \
                           transaction or a wait of such a fiber; let that end first";
            return Err(Error::new(ErrorKind::Lock, message).into());
        }
        host.lock_turn().map_err(Failure::Host)?;
        let found = if self.is_taken() { Taken::FromTheGone } else { Taken::Now };
        self.holder.set(Some(host.caller()));
        Ok(found)
    }

    /// Makes it nobody's again.
    pub fn give_back<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<(), H> {
        self.holder.set(None);
        host.unlock_turn().map_err(Failure::Host)
    }
}
