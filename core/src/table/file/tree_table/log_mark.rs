//! The mark in the table's own file that says which commits only its log has. Without it, a table that was copied without
//! its log would open as of the last sync, and nobody would know what is missing.
//!
//! ```text
//! 128     session 16   base session 16   base number 8   until 8   0 12   check 4
//! ```
//!
//! The log has its name for good before the mark is written, so a power cut leaves no mark without a log. The mark is synced
//! with the next commit in the table's file: before that a crash may leave an older mark, and then the log is there.

use std::io;
use std::sync::Arc;

use super::redo_log::Position;
use crate::error::{Error, ErrorKind, Result};
use crate::files::Storage;

/// Offset of the mark: behind the two copies of the header, where tables that never had one have zeros.
const OFFSET: u64 = 128;

const LEN: usize = 64;

/// Commits that a log has, and the table's file maybe not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogMark {
    /// The session of the log.
    session: u128,
    /// The commit that the log follows.
    base: Position,
    /// The number of the last commit that is only in the log.
    until: u64,
}

impl LogMark {
    /// Says whether a table at `position` lacks commits that the log has.
    pub(super) fn has_more_than(&self, position: Position) -> bool {
        let is_of_it = position == self.base || position.session == self.session;
        is_of_it && self.until > position.number
    }

    /// Builds the error of a table that lacks commits whose log, called `log`, is not there.
    pub(super) fn missing(log: &str) -> Error {
        let message = format!(
            "expected the log {log}, which has commits that the table does not have, found none that belongs to the table; \
             put it back beside the table, or give those commits up: bytewright table check --repair"
        );
        Error::new(ErrorKind::Corrupt, message)
    }

    fn from_bytes(bytes: &[u8; LEN]) -> Option<LogMark> {
        let (content, check) = bytes.split_last_chunk::<4>()?;
        if crc32c::crc32c(content).to_le_bytes() != *check {
            return None;
        }
        let (session, rest) = content.split_first_chunk::<16>()?;
        let (base, rest) = rest.split_first_chunk::<{ Position::LEN }>()?;
        let base = Position::from_bytes(base)?;
        let until = u64::from_le_bytes(*rest.first_chunk()?);
        Some(LogMark { session: u128::from_le_bytes(*session), base, until })
    }

    fn to_bytes(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..16].copy_from_slice(&self.session.to_le_bytes());
        bytes[16..40].copy_from_slice(&self.base.to_bytes());
        bytes[40..48].copy_from_slice(&self.until.to_le_bytes());
        let check = crc32c::crc32c(&bytes[..LEN - 4]).to_le_bytes();
        bytes[LEN - 4..].copy_from_slice(&check);
        bytes
    }
}

/// The place of the mark in a table's file.
#[derive(Debug, Clone)]
pub(super) struct LogMarkPlace(Arc<dyn Storage>);

impl LogMarkPlace {
    /// The place in the file `table`.
    pub(super) fn new(table: &Arc<dyn Storage>) -> LogMarkPlace {
        LogMarkPlace(table.clone())
    }

    /// Reads the mark; nothing where there was never one, or a crash tore it.
    pub(super) fn read(&self) -> Result<Option<LogMark>> {
        let mut bytes = [0; LEN];
        let read = self.0.read_at(OFFSET, &mut bytes);
        read.map_err(|error| Error::io("read the table", &error))?;
        Ok(LogMark::from_bytes(&bytes))
    }

    /// Marks the commits up to `until` as those that only the log of `session`, which follows `base`, has.
    pub(super) fn write(&self, session: u128, base: Position, until: u64) -> io::Result<()> {
        self.put(LogMark { session, base, until })
    }

    /// Takes `mark` back for good, because nothing is missing, or will be missed.
    pub(super) fn clear(&self, mark: LogMark) -> Result<()> {
        let cleared = self.put(LogMark { until: 0, ..mark }).and_then(|()| self.0.sync());
        cleared.map_err(|error| Error::io("write the table", &error))
    }

    fn put(&self, mark: LogMark) -> io::Result<()> {
        self.0.write_at(OFFSET, &mark.to_bytes())
    }
}
