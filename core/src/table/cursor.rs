//! A place in an ordered table that moves both ways.

use std::ops::Bound;

use super::{KeyRange, OrderedSnapshot, Scan};
use crate::error::Result;

/// A place in an ordered table as it was: at an entry, before the first, or behind the last. It begins
/// before the first.
pub struct Cursor {
    snapshot: Box<dyn OrderedSnapshot>,
    /// Gives the next entry in the direction of the last move.
    scan: Option<Box<dyn Scan>>,
    direction: CursorDirection,
    place: CursorState,
    key: Vec<u8>,
    value: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CursorDirection {
    Up,
    Down,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CursorState {
    BeforeFirst,
    AtEntry,
    AfterLast,
}

impl Cursor {
    /// A cursor over a snapshot, before its first entry.
    pub fn new(snapshot: Box<dyn OrderedSnapshot>) -> Cursor {
        Cursor {
            snapshot,
            scan: None,
            direction: CursorDirection::Up,
            place: CursorState::BeforeFirst,
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    /// The key and the value of the entry that it is at.
    pub fn entry(&self) -> Option<(&[u8], &[u8])> {
        (self.place == CursorState::AtEntry).then_some((&self.key, &self.value))
    }

    /// Moves to the entry with the lowest key. This and all moves say whether it is at an entry then.
    pub fn first(&mut self) -> Result<bool> {
        self.start(CursorDirection::Up, Bound::Unbounded)
    }

    /// Moves to the entry with the highest key.
    pub fn last(&mut self) -> Result<bool> {
        self.start(CursorDirection::Down, Bound::Unbounded)
    }

    /// Moves to the entry with the lowest key that is not below `key`.
    pub fn seek(&mut self, key: &[u8]) -> Result<bool> {
        self.start(CursorDirection::Up, Bound::Included(key.to_vec()))
    }

    /// Moves to the next entry, or behind the last.
    #[allow(clippy::should_implement_trait, reason = "it moves both ways, and has one more")]
    pub fn next(&mut self) -> Result<bool> {
        self.step(CursorDirection::Up)
    }

    /// Moves to the entry before, or before the first.
    pub fn prev(&mut self) -> Result<bool> {
        self.step(CursorDirection::Down)
    }

    /// Moves to the first entry from `edge` on, which is where the keys begin that it moves over.
    fn start(&mut self, direction: CursorDirection, edge: Bound<Vec<u8>>) -> Result<bool> {
        let range = match direction {
            CursorDirection::Up => KeyRange { from: edge, ..KeyRange::ALL },
            CursorDirection::Down => KeyRange { to: edge, reverse: true, ..KeyRange::ALL },
        };
        // What a move that fails leaves behind is no entry.
        self.place = CursorState::BeforeFirst;
        self.scan = Some(self.snapshot.scan_range(&range)?);
        self.direction = direction;
        self.advance()
    }

    fn step(&mut self, direction: CursorDirection) -> Result<bool> {
        match (self.place, direction) {
            (CursorState::AtEntry, _) if self.direction == direction => self.advance(),
            (CursorState::AtEntry, _) => {
                let edge = Bound::Excluded(std::mem::take(&mut self.key));
                self.start(direction, edge)
            }
            (CursorState::BeforeFirst, CursorDirection::Up) => self.first(),
            (CursorState::AfterLast, CursorDirection::Down) => self.last(),
            (CursorState::BeforeFirst, CursorDirection::Down)
            | (CursorState::AfterLast, CursorDirection::Up) => Ok(false),
        }
    }

    fn advance(&mut self) -> Result<bool> {
        let entry = self.scan.as_mut().map_or(Ok(None), |scan| scan.advance())?;
        if let Some((key, value)) = entry {
            self.key.clear();
            self.key.extend_from_slice(key);
            self.value.clear();
            self.value.extend_from_slice(value);
        }
        self.place = match (entry.is_some(), self.direction) {
            (true, _) => CursorState::AtEntry,
            (false, CursorDirection::Up) => CursorState::AfterLast,
            (false, CursorDirection::Down) => CursorState::BeforeFirst,
        };
        Ok(entry.is_some())
    }
}
