//! Damage that is met while a table is used, for tables whose entries can be made again.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::super::failure::{Failure, Outcome};
use super::super::turn::TurnHost;
use super::{TableHandle, open};
use crate::error::{Error, ErrorKind};
use crate::table::file::{FileTable, HashTable, OpenOptions, TableKind};

/// Consequence of damage in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDamage {
    /// An error.
    #[default]
    Raise,
    /// The table goes on empty, unless a transaction is open.
    Clear,
}

/// Number of times that a handle has gone on with an empty table.
#[derive(Debug, Default)]
pub(super) struct Clearings(AtomicU64);

impl<C: Clone> TableHandle<C> {
    /// Returns the number of times that this handle has gone on with an empty table in the place of a damaged one.
    #[inline]
    pub fn clearings(&self) -> u64 {
        self.clearings.0.load(Relaxed)
    }

    /// Does `work` with the table. Damage that it meets is an error that says what can be done, or has `told` called, once for
    /// all who meet it, when the table was cleared; then `work` is done with the empty one.
    #[inline]
    pub fn mending<H: TurnHost<Caller = C>, R>(
        &self,
        host: &H,
        on_damage: OnDamage,
        told: impl FnOnce(&Error) -> std::result::Result<(), H::Error>,
        mut work: impl FnMut() -> Outcome<R, H>,
    ) -> Outcome<R, H> {
        let seen = self.clearings();
        match work() {
            Err(Failure::Core(error)) if is_damage(error.kind()) => {
                self.mend(host, on_damage, seen, error, told, work)
            }
            done => done,
        }
    }

    /// Clears the table, and does `work` again; where that meets damage, too, which is not in the file, once more.
    #[cold]
    fn mend<H: TurnHost<Caller = C>, R>(
        &self,
        host: &H,
        on_damage: OnDamage,
        mut seen: u64,
        mut error: Error,
        told: impl FnOnce(&Error) -> std::result::Result<(), H::Error>,
        mut work: impl FnMut() -> Outcome<R, H>,
    ) -> Outcome<R, H> {
        for even_whole in [false, true] {
            if self.clear_damage(host, on_damage, (seen, even_whole), &error)? {
                told(&error).map_err(Failure::Host)?;
                return work();
            }
            seen = self.clearings();
            match work() {
                Err(Failure::Core(again)) if is_damage(again.kind()) => error = again,
                done => return done,
            }
        }
        Err(error.into())
    }

    /// Goes on with an empty table after `error`, unless that was done since there were `seen` clearings, or, if it is not to be
    /// `even_whole`, the file is not damaged (any more). Returns true if it did.
    pub fn clear_damage<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        on_damage: OnDamage,
        (seen, even_whole): (u64, bool),
        error: &Error,
    ) -> Outcome<bool, H> {
        if on_damage == OnDamage::Raise {
            return Err(advised(error, TO_DO).into());
        }
        let clearings = &self.clearings.0;
        let begun = self.work_in_turn(host, |content| {
            if clearings.load(Relaxed) != seen {
                return Ok(false);
            }
            let begun = content.table_mut()?.start_anew(even_whole)?;
            clearings.fetch_add(1, Relaxed);
            Ok(begun)
        });
        begun.map_err(|failure| match failure {
            Failure::Core(why) => advised(error, &format!("it cannot be cleared: {why}")).into(),
            host => host,
        })
    }
}

/// Opens the hashed table at `path` as [`open`] does. A damaged one is an error that says what can be done, or has `told` called when
/// an empty one has taken its place.
pub fn open_mending<H: TurnHost>(
    host: &H,
    path: &Path,
    options: OpenOptions,
    on_damage: OnDamage,
    told: impl FnOnce(&Error) -> std::result::Result<(), H::Error>,
) -> Outcome<FileTable, H> {
    let kind = Some(TableKind::Hashed);
    let error = match open(host, path, kind, options) {
        Err(Failure::Core(error)) if is_damage(error.kind()) => error,
        opened => return opened,
    };
    if on_damage == OnDamage::Raise || options.read_only {
        return Err(advised(&error, TO_DO).into());
    }
    let begun = host.wait_to_the_end(&|| HashTable::start_anew_at(path, options));
    if begun.map_err(Failure::Host)?? {
        told(&error).map_err(Failure::Host)?;
    }
    open(host, path, kind, options)
}

/// Returns true for errors of files that are not as they were written.
pub fn is_damage(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Corrupt | ErrorKind::Truncated { .. })
}

/// Advice for programs that want an error.
const TO_DO: &str =
    "delete the file, or open it with on_damage \"clear\" to begin with an empty one";

/// Error with what can be done about it.
fn advised(error: &Error, advice: &str) -> Error {
    let mut advised = Error::new(error.kind(), format!("{}; {advice}", error.message()));
    if let Some(offset) = error.offset() {
        advised = advised.at(offset);
    }
    match error.file() {
        Some(file) => advised.in_file(file),
        None => advised,
    }
}
