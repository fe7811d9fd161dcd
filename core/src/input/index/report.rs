//! Facts about an index that are told.

use std::path::PathBuf;

use super::file::{IndexFile, IndexPlace};
use super::table::IndexTable;

/// The index of a capture, as people are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureIndex {
    /// Path of the index.
    pub path: PathBuf,
    /// State of the index.
    pub state: IndexState,
    /// Packets that it covers.
    pub packets: u64,
    /// Parts of the capture, at each of which reading can begin.
    pub parts: u64,
    /// Bytes of the index.
    pub bytes: u64,
    /// Earliest time, in nanoseconds since the epoch.
    pub first_ts: Option<i64>,
    /// Latest time, in nanoseconds since the epoch.
    pub last_ts: Option<i64>,
}

/// Origin of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexState {
    /// It was made anew.
    Made,
    /// It was made longer: the capture has grown.
    Extended,
    /// It was there.
    Current,
}

impl IndexState {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            IndexState::Made => "made",
            IndexState::Extended => "extended",
            IndexState::Current => "current",
        }
    }
}

impl CaptureIndex {
    pub(super) fn of(
        table: &IndexTable,
        place: &IndexPlace,
        state: IndexState,
        bytes: u64,
    ) -> Self {
        let timed = || table.parts.iter().filter(|part| part.first_ts <= part.last_ts);
        CaptureIndex {
            path: place.path(),
            state,
            packets: table.packets,
            parts: table.parts.len() as u64,
            bytes,
            first_ts: timed().map(|part| part.first_ts).min(),
            last_ts: timed().map(|part| part.last_ts).max(),
        }
    }

    /// That of an index that was there.
    pub(crate) fn of_file(file: &IndexFile, place: &IndexPlace) -> Self {
        CaptureIndex::of(&file.table, place, IndexState::Current, file.len())
    }
}
