//! A walk over the entries of a table, for a host that takes some and lets the core look for others.

use std::cell::RefCell;

use super::super::failure::Outcome;
use super::super::pass_host::Host;
use super::step_by_step;
use crate::error::Result;
use crate::table::Scan;

/// Entries that are visited between two looks at whether the host wants to interrupt.
const STEP_LEN: usize = 64;

/// Entries one after another, until they end or the walk is closed.
pub struct EntryWalk {
    scan: RefCell<Option<Box<dyn Scan>>>,
}

impl EntryWalk {
    /// The entries of `scan`.
    pub fn new(scan: Box<dyn Scan>) -> EntryWalk {
        EntryWalk { scan: RefCell::new(Some(scan)) }
    }

    /// The scan, for a face that copies nothing. Nobody else uses it meanwhile.
    #[inline]
    pub fn scan(&self) -> &RefCell<Option<Box<dyn Scan>>> {
        &self.scan
    }

    /// Ends the walk.
    pub fn close(&self) {
        self.scan.borrow_mut().take();
    }

    /// The key of the next entry that has `value`. The walk is over then.
    pub fn key_of<H: Host>(&self, host: &H, value: &[u8]) -> Outcome<Option<Vec<u8>>, H> {
        let mut found = None;
        self.visit_rest(host, |key, candidate| {
            let is_other = candidate != value;
            if !is_other {
                found = Some(key.to_vec());
            }
            Ok(is_other)
        })?;
        Ok(found)
    }

    /// Counts the entries that are left. The walk is over then.
    pub fn count<H: Host>(&self, host: &H) -> Outcome<u64, H> {
        let mut count = 0;
        self.visit_rest(host, |_, _| {
            count += 1;
            Ok(true)
        })?;
        Ok(count)
    }

    /// Shows `visit` the entries that are left, until it answers false.
    fn visit_rest<H: Host>(
        &self,
        host: &H,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<bool> + Send,
    ) -> Outcome<(), H> {
        let Some(mut scan) = self.scan.take() else { return Ok(()) };
        step_by_step(host, &mut || {
            for _ in 0..STEP_LEN {
                match scan.advance()? {
                    Some((key, value)) if visit(key, value)? => (),
                    _ => return Ok(false),
                }
            }
            Ok(true)
        })
    }
}
