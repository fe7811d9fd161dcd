//! Changes of a table: with the host's lock if they are brief, without it if they take long, or have to wait for a disk or
//! for another process that writes the file.
//!
//! A change has the turn to write among the processes from its beginning to its end: nobody else changes what it has read.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::super::failure::{Failure, Outcome, guard};
use super::super::turn::TurnHost;
use super::{Attempt, Cost, TableContent, TableHandle, used_by_itself, wait_for_writer};
use crate::error::Result;
use crate::table::Table;

impl TableContent {
    /// Does `change` in a turn to write, if no other process has that now. `None` if one has it.
    pub fn try_change<R>(
        &mut self,
        change: impl FnOnce(&mut TableContent) -> Result<R>,
    ) -> Result<Option<R>> {
        match self.try_take_turn()? {
            Attempt::Done(()) => self.change_in_turn(change).map(Some),
            Attempt::Elsewhere(_) => Ok(None),
        }
    }

    /// Takes the turn to write, if no other process has it now.
    pub(super) fn try_take_turn(&mut self) -> Result<Attempt<()>> {
        Attempt::of(self.table_mut()?.take_turn(Some(Duration::ZERO)))
    }

    /// Does `change` in the turn to write that was taken, and gives it back.
    fn change_in_turn<R>(
        &mut self,
        change: impl FnOnce(&mut TableContent) -> Result<R>,
    ) -> Result<R> {
        let changed = guard(|| change(self));
        self.give_turn_back();
        changed
    }

    fn give_turn_back(&mut self) {
        // A table that was closed has given it back.
        if let Ok(table) = self.table_mut() {
            table.give_turn_back();
        }
    }
}

impl<C: Clone> TableHandle<C> {
    /// Changes the table with or without the host's lock, whichever is better.
    pub fn change_by_cost<H: TurnHost<Caller = C>, R: Send>(
        &self,
        host: &H,
        cost: Cost,
        mut work: impl FnMut(&mut dyn Table) -> Result<R> + Send,
    ) -> Outcome<R, H> {
        self.change_content_by_cost(host, cost, |content| work(content.table_mut()?))
    }

    pub(super) fn change_content_by_cost<H: TurnHost<Caller = C>, R: Send>(
        &self,
        host: &H,
        cost: Cost,
        mut work: impl FnMut(&mut TableContent) -> Result<R> + Send,
    ) -> Outcome<R, H> {
        self.wait(host)?;
        if cost == Cost::Brief && !self.look(|content| Ok(content.table()?.waits_for_disk()))? {
            let changed = self.changed(|content| content.try_change(&mut work));
            if self.note_change() {
                self.report_memory(host);
            }
            if let Some(changed) = changed? {
                return Ok(changed);
            }
        }
        self.change_at_length(host, work)
    }

    /// Does this with a table that nobody else uses.
    pub(super) fn changed<R>(
        &self,
        work: impl FnOnce(&mut TableContent) -> Result<R>,
    ) -> Result<R> {
        work(&mut *self.content.try_borrow_mut().map_err(|_| used_by_itself())?)
    }

    /// Changes the table without the host's lock, while no other caller can use it.
    pub fn change_at_length<H: TurnHost<Caller = C>, R: Send>(
        &self,
        host: &H,
        mut work: impl FnMut(&mut TableContent) -> Result<R> + Send,
    ) -> Outcome<R, H> {
        self.in_file_turn(host, || {
            self.in_turn_of_handle(host, || {
                if let Attempt::Elsewhere(error) = self.changed(TableContent::try_take_turn)? {
                    return Ok(Attempt::Elsewhere(error));
                }
                let changed =
                    self.work_at_length(host, |content| content.change_in_turn(&mut work));
                if matches!(changed, Err(Failure::Host(_))) {
                    self.changed(|content| {
                        content.table_mut().map(|table| table.give_turn_back())
                    })?;
                }
                changed.map(Attempt::Done)
            })
        })
    }

    /// Calls `attempt` until no other process has the turn to write the file. Between two attempts other callers use the table.
    pub(super) fn in_file_turn<H: TurnHost<Caller = C>, R>(
        &self,
        host: &H,
        mut attempt: impl FnMut() -> Outcome<Attempt<R>, H>,
    ) -> Outcome<R, H> {
        wait_for_writer(host, self.timeout.get(), |slice| {
            if !slice.is_zero() {
                self.wait_for_file_turn(host, slice)?;
            }
            attempt()
        })
    }

    fn wait_for_file_turn<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        slice: Duration,
    ) -> Outcome<(), H> {
        // While another caller uses the table, its turn is waited for by the next attempt.
        let content = self.content.try_borrow().ok();
        let waiter = content.and_then(|content| content.table().ok()?.turn_waiter());
        match waiter {
            Some(wait) => host.wait_to_the_end(&|| wait(slice)).map_err(Failure::Host),
            None => Ok(()),
        }
    }

    /// Does `work` without the host's lock, while no other caller can use the table. Others write the file meanwhile.
    pub(super) fn work_in_turn<H: TurnHost<Caller = C>, R: Send>(
        &self,
        host: &H,
        work: impl FnMut(&mut TableContent) -> Result<R> + Send,
    ) -> Outcome<R, H> {
        self.in_turn_of_handle(host, || self.work_at_length(host, work))
    }

    /// Does `work` in this caller's turn to use the handle.
    fn in_turn_of_handle<H: TurnHost<Caller = C>, R>(
        &self,
        host: &H,
        work: impl FnOnce() -> Outcome<R, H>,
    ) -> Outcome<R, H> {
        let is_taken_now = self.take_turn(host)?;
        let outcome = work();
        self.take_abandoned_back(host);
        if is_taken_now {
            self.turn.give_back(host)?;
        }
        self.report_memory(host);
        outcome
    }

    pub(super) fn work_at_length<H: TurnHost<Caller = C>, R: Send>(
        &self,
        host: &H,
        mut work: impl FnMut(&mut TableContent) -> Result<R> + Send,
    ) -> Outcome<R, H> {
        let mut content = self.content.try_borrow_mut().map_err(|_| used_by_itself())?;
        let content = Mutex::new((&mut *content, &mut work));
        let run = || {
            let mut locked = content.lock().unwrap_or_else(PoisonError::into_inner);
            let (content, work) = &mut *locked;
            guard(|| work(content))
        };
        Ok(host.wait_to_the_end(&run).map_err(Failure::Host)??)
    }
}
