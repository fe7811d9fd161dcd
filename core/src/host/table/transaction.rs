//! Transactions of one caller, which end whole or not at all however the caller leaves them.

use std::cell::{Cell, RefCell};

use super::super::failure::{Failure, Outcome, guard};
use super::super::turn::TurnHost;
use super::{Attempt, Cost, TableHandle};
use crate::error::{Error, ErrorKind, Result};
use crate::table::Table;

/// A transaction that was begun, among all of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionId(u64);

/// Result of trying to begin a transaction.
#[derive(Debug)]
pub enum TriedBegin {
    /// It has begun.
    Begun(TransactionId),
    /// Another caller has the table.
    InUse,
    /// Another process has the turn to write the file; the error names it.
    Elsewhere(Error),
}

/// The transactions of a table.
#[derive(Default)]
pub(super) struct Transactions {
    /// Those that are open inside of each other, the outermost first.
    open: RefCell<Vec<TransactionId>>,
    begun_count: Cell<u64>,
    /// Those whose objects the host has lost, and that could not be taken back at once.
    abandoned: RefCell<Vec<TransactionId>>,
}

impl Transactions {
    fn add(&self) -> TransactionId {
        self.begun_count.set(self.begun_count.get() + 1);
        let one = TransactionId(self.begun_count.get());
        self.open.borrow_mut().push(one);
        one
    }

    /// Counts the others that `one` is in; returns None if it is over.
    fn outer_count(&self, one: TransactionId) -> Option<usize> {
        self.open.borrow().iter().position(|open| *open == one)
    }

    /// Forgets those inside of `depth` others, and says whether there were any.
    fn truncate(&self, depth: usize) -> bool {
        let mut open = self.open.borrow_mut();
        let has_more = open.len() > depth;
        open.truncate(depth);
        has_more
    }

    /// Forgets all of them.
    pub(super) fn clear(&self) {
        self.truncate(0);
    }
}

impl<C: Clone> TableHandle<C> {
    /// Begins a transaction, or a savepoint in one. The table is this caller's until the outermost ends.
    pub fn begin<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<TransactionId, H> {
        self.in_file_turn(host, || {
            let is_outermost = self.take_turn(host)?;
            self.begin_in_turn(host, is_outermost)
        })
    }

    /// Begins a transaction as [`Self::begin`] does, if it need not wait.
    pub fn try_begin<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<TriedBegin, H> {
        let Some(is_outermost) = self.try_take_turn(host)? else { return Ok(TriedBegin::InUse) };
        Ok(match self.begin_in_turn(host, is_outermost)? {
            Attempt::Done(begun) => TriedBegin::Begun(begun),
            Attempt::Elsewhere(error) => TriedBegin::Elsewhere(error),
        })
    }

    fn begin_in_turn<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        is_outermost: bool,
    ) -> Outcome<Attempt<TransactionId>, H> {
        let begun = self.changed(|content| {
            if let Attempt::Elsewhere(error) = content.try_take_turn()? {
                return Ok(Attempt::Elsewhere(error));
            }
            let table = content.table_mut()?;
            let begun = guard(|| table.begin());
            table.give_turn_back();
            begun.map(Attempt::Done)
        });
        let not_begun = match begun {
            Ok(Attempt::Done(())) => return Ok(Attempt::Done(self.transactions.add())),
            Ok(Attempt::Elsewhere(error)) => Ok(Attempt::Elsewhere(error)),
            Err(error) => Err(error.into()),
        };
        if is_outermost {
            self.turn.give_back(host)?;
        }
        not_begun
    }

    /// Says how many transactions this caller has open inside each other.
    pub fn depth<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<usize, H> {
        match self.turn.is_mine(host).map_err(Failure::Host)? {
            true => self.read(host, |content| Ok(content.table().map_or(0, Table::depth))),
            false => Ok(0),
        }
    }

    /// Ends those that were begun inside of `depth` others, and keeps or takes back what they changed. A host calls it
    /// wherever its caller leaves a transaction: at the end, or by an error or a jump. [`ErrorKind::Closed`] where the table
    /// was closed meanwhile, which took back what was to be kept.
    pub fn end<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        depth: usize,
        keep: bool,
    ) -> Outcome<(), H> {
        if !self.turn.is_mine(host).map_err(Failure::Host)? {
            return Ok(());
        }
        let was_open = self.transactions.truncate(depth);
        let ended = match self.is_closed() {
            true if keep && was_open => Err(closed_meanwhile().into()),
            true => Ok(()),
            false => self.end_down_to(host, depth, keep),
        };
        // What a commit that failed, or that an interrupt kept from its work, left open is taken back: here, because the
        // host may have another interrupt for who waits.
        let ended = ended.inspect_err(|_| self.abort_down_to(depth));
        if depth == 0 {
            self.turn.give_back(host)?;
        }
        ended
    }

    /// Checks that a transaction can end now, which stays as it is otherwise, and says whether it is open still: it ended
    /// with the one around it where that was taken back.
    ///
    /// [`ErrorKind::Lock`] where another caller began it, and [`ErrorKind::Argument`] where it is to be kept while there
    /// are others inside.
    pub fn check_end<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        one: TransactionId,
        keep: bool,
    ) -> Outcome<bool, H> {
        let Some(outer_count) = self.transactions.outer_count(one) else { return Ok(false) };
        if !self.turn.is_mine(host).map_err(Failure::Host)? {
            let message = "expected the thread or task that began the transaction to end it, found another one; end it \
                           there, or drop it to take it back";
            return Err(Error::new(ErrorKind::Lock, message).into());
        }
        if keep && outer_count + 1 < self.transactions.open.borrow().len() {
            let message =
                "expected the innermost transaction of the table, found one that has others inside";
            return Err(Error::new(ErrorKind::Argument, message).into());
        }
        Ok(true)
    }

    /// Ends a transaction that [`Self::check_end`] found open, and those inside of it.
    pub fn end_one<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        one: TransactionId,
        keep: bool,
    ) -> Outcome<(), H> {
        match self.transactions.outer_count(one) {
            Some(outer_count) => self.end(host, outer_count, keep),
            None => Ok(()),
        }
    }

    /// Takes back a transaction whose object the host has lost, and those inside of it: at once, or when the work that is
    /// done without the host's lock has ended.
    pub fn abandon<H: TurnHost<Caller = C>>(&self, host: &H, one: TransactionId) {
        self.transactions.abandoned.borrow_mut().push(one);
        self.take_abandoned_back(host);
    }

    pub(super) fn take_abandoned_back<H: TurnHost<Caller = C>>(&self, host: &H) {
        if self.transactions.abandoned.borrow().is_empty() || self.content.try_borrow().is_err() {
            return;
        }
        let abandoned = self.transactions.abandoned.take();
        let outer_counts =
            abandoned.into_iter().filter_map(|one| self.transactions.outer_count(one));
        let Some(outer_count) = outer_counts.min() else { return };
        self.transactions.truncate(outer_count);
        // Nobody is there to be told of an error; the table says it when it is used again.
        self.abort_down_to(outer_count);
        if outer_count == 0 {
            let _ = self.turn.give_back(host);
        }
    }

    fn abort_down_to(&self, depth: usize) {
        let Ok(mut content) = self.content.try_borrow_mut() else { return };
        let Ok(table) = content.table_mut() else { return };
        while table.depth() > depth && table.abort().is_ok() {}
    }

    fn end_down_to<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        depth: usize,
        keep: bool,
    ) -> Outcome<(), H> {
        if self.look(|content| Ok(content.table()?.depth() <= depth))? {
            return Ok(());
        }
        let end = |table: &mut dyn Table| -> Result<()> {
            while table.depth() > depth {
                match keep {
                    true => table.commit()?,
                    false => table.abort()?,
                }
            }
            Ok(())
        };
        let waits = keep && depth == 0 && self.commits_wait.get();
        self.change_by_cost(host, Cost::Brief.or_long_if(waits), end)
    }
}

#[cold]
fn closed_meanwhile() -> Error {
    let message = "expected a table that is open until its transaction ends, found it closed, which took the changes back; \
                   close it after the transaction";
    Error::new(ErrorKind::Closed, message)
}
