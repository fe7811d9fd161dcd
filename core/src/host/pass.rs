//! One pass over a capture or a store, and the passes under way over one object.
//!
//! [`Pass::next`] turns the events of the thread into calls of the [`Host`]. It waits through [`Host::wait`], after an
//! interrupt it calls [`Host::check_interrupts`], and where the thread wants bytes of a host object it calls [`Host::read`],
//! which runs on the host's thread and under the host's lock.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::background::{Background, BackgroundEvent, HostSource, Outlet};
use super::kept_damage::KeptDamage;
use super::pass_host::Host;
use crate::ask::{Answer, CaptureMerge, CutTotals, TableMerge};
use crate::batch::Batch;
use crate::bytes::Cancel;
use crate::forks::ProcessLock;
use crate::report::ReportedCapture;
use crate::{Error, Result};

/// Longest wait for a stopped pass without [`Host::wait`]. Nearly all are gone sooner, and giving up a host's lock can
/// cost more than that wait: Ruby starts a thread for it.
const PATIENCE: Duration = Duration::from_millis(1);

/// A piece of what a pass gives.
#[derive(Debug)]
pub enum Item {
    /// A piece of the answer to a question.
    Answer(Answer),
    /// The packets of a capture that were written to another one.
    Cut(Box<CutTotals>),
    /// A capture that was to be merged into a store.
    Merge(Box<CaptureMerge>),
    /// A table file of flows that was to be merged into a store.
    TableMerge(Box<TableMerge>),
    /// A capture that went into a report.
    Reported(Box<ReportedCapture>),
}

impl Item {
    /// The rows of an answer, as [`Answer::into_batch`], or one row that tells of a merge.
    pub fn into_batch(self) -> Option<Batch> {
        match self {
            Item::Answer(answer) => answer.into_batch(),
            Item::Merge(merge) => Some(merge.to_batch()),
            Item::TableMerge(merge) => Some(merge.to_batch()),
            Item::Cut(_) | Item::Reported(_) => None,
        }
    }
}

/// A pass that is under way on a thread of its own. Dropping it ends it without waiting for the thread.
pub struct Pass {
    work: Arc<Background<Item>>,
    damage: KeptDamage,
}

impl Pass {
    /// Makes the pass note damage in `damage`.
    #[must_use]
    pub(super) fn noting(self, damage: KeptDamage) -> Self {
        Pass { damage, ..self }
    }

    /// Takes the damage that was found since the last call and is kept, in the order of the captures: all of it once the
    /// pass has ended.
    pub fn take_damage(&self) -> Vec<Error> {
        self.damage.take()
    }

    /// The next item; none at the end.
    ///
    /// # Errors
    /// The error that ended the pass, after all its items; `Closed` where the pass was closed, or in a forked child; and
    /// those of the host, after which the pass can go on.
    pub fn next<H: Host>(&self, host: &H) -> Result<Option<Item>, H::Error> {
        loop {
            match self.next_event(host)? {
                BackgroundEvent::Item(item) => return Ok(Some(item)),
                BackgroundEvent::End => return Ok(None),
                BackgroundEvent::Interrupted => host.check_interrupts()?,
                BackgroundEvent::InputWanted(count) => self.work.supply(Ok(host.read(count)?)),
            }
        }
    }

    /// An event that has come is taken without [`Host::wait`]: where an interrupt is pending each time that the host
    /// wants to wait, the pass still goes on.
    fn next_event<H: Host>(&self, host: &H) -> Result<BackgroundEvent<Item>, H::Error> {
        if let Some(event) = self.work.try_next().map_err(|error| host.error(error))? {
            return Ok(event);
        }
        match host.wait(&|| self.work.next(), &|| self.work.interrupt())? {
            Some(event) => event.map_err(|error| host.error(error)),
            None => Ok(BackgroundEvent::Interrupted),
        }
    }

    /// Gives a used item back, so that its memory serves again.
    pub fn recycle(&self, item: Item) {
        self.work.recycle(item);
    }

    /// Ends the pass and frees the items that nobody took, without waiting for its thread.
    pub fn stop(&self) {
        self.work.stop();
    }

    /// Ends the pass, and waits until its thread is gone.
    ///
    /// # Errors
    /// Those of the host; the pass ends nevertheless.
    pub fn close<H: Host>(&self, host: &H) -> Result<(), H::Error> {
        self.stop();
        wait_for_end(&self.work, host)
    }
}

/// Waits until the thread of a pass that was stopped is gone. What that waits for may be another pass, whose bytes come
/// from another thread of the host.
fn wait_for_end<H: Host>(pass: &Background<Item>, host: &H) -> Result<(), H::Error> {
    while !pass.join_within(PATIENCE)
        && host.wait(&|| pass.join(), &|| pass.interrupt())? != Some(true)
    {
        host.check_interrupts()?;
    }
    Ok(())
}

/// The passes under way over one object, to end them when it is closed.
pub(super) struct Passes {
    /// Object of the passes, as errors call it: "capture".
    object: &'static str,
    passes: ProcessLock<Vec<Weak<Background<Item>>>>,
}

impl Passes {
    /// None yet, over an object that errors call so.
    pub(super) fn over(object: &'static str) -> Self {
        Passes { object, passes: ProcessLock::default() }
    }

    /// Starts a pass, which `cancel` calls off. It may be `ahead_max` items ahead of who takes them.
    pub(super) fn start(
        &self,
        cancel: Cancel,
        ahead_max: usize,
        work: impl FnOnce(&Outlet<Item>, HostSource<Item>) -> Result<()> + Send + 'static,
    ) -> Result<Pass> {
        let pass = Arc::new(Background::start(self.object, cancel, ahead_max, work)?);
        let mut passes = self.passes.lock();
        passes.retain(|pass| pass.strong_count() > 0);
        passes.push(Arc::downgrade(&pass));
        Ok(Pass { work: pass, damage: KeptDamage::default() })
    }

    /// Ends them all. Whoever waits for an item is told `Closed`.
    ///
    /// # Errors
    /// Those of the host; the passes end nevertheless.
    pub(super) fn close<H: Host>(&self, host: &H) -> Result<(), H::Error> {
        let passes = std::mem::take(&mut *self.passes.lock());
        let passes: Vec<_> = passes.iter().filter_map(Weak::upgrade).collect();
        passes.iter().for_each(|pass| pass.stop());
        passes.iter().try_for_each(|pass| wait_for_end(pass, host))
    }
}
