//! Transactions of one caller, which end whole or not at all however the caller leaves them.

use super::super::failure::Outcome;
use super::super::turn::{Caller, TurnHost};
use super::{Cost, TableHandle};
use crate::error::Result;
use crate::table::Table;

impl<C: Caller> TableHandle<C> {
    /// Begins a transaction, or a savepoint in one. The table is this caller's until the outermost ends.
    pub fn begin<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<(), H> {
        let is_outermost = self.take_turn(host)?;
        let begun = self.change_by_cost(host, Cost::Brief, |table| table.begin());
        if begun.is_err() && is_outermost {
            self.turn.give_back(host)?;
        }
        begun
    }

    /// How many transactions this caller has open inside each other.
    pub fn depth<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<usize, H> {
        match self.turn.is_mine(host) {
            true => self.read(host, |content| Ok(content.table().map_or(0, Table::depth))),
            false => Ok(0),
        }
    }

    /// Ends those that were begun inside of `depth` others, and keeps or takes back what they changed. A host calls it
    /// wherever its caller leaves a transaction: at the end, or by an error or a jump.
    pub fn end<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        depth: usize,
        keep: bool,
    ) -> Outcome<(), H> {
        if !self.turn.is_mine(host) {
            return Ok(());
        }
        let ended = self.end_down_to(host, depth, keep);
        // What a commit that failed, or that an interrupt kept from its work, left open is taken back: here, because the
        // host may have another interrupt for who waits.
        let ended = ended.inspect_err(|_| self.abort_down_to(depth));
        if depth == 0 {
            self.turn.give_back(host)?;
        }
        ended
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
        if self.is_closed() {
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
