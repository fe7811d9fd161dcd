//! The way through a capture that has an index, from one part that may hold a wanted packet to the next.

use std::collections::VecDeque;

use super::file::IndexFile;
use super::table::IndexPart;
use crate::bytes::SeekPoint;
use crate::packet::Field;
use crate::query::{Condition, Intervals};

/// Records that somebody wants: others may be left out, and need not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedRecords {
    times: Intervals,
    numbers: Intervals,
    has_first: bool,
    /// Number of the last record that is read.
    pub(crate) last: u64,
}

impl Default for WantedRecords {
    fn default() -> Self {
        WantedRecords::all()
    }
}

impl WantedRecords {
    /// All records.
    pub fn all() -> Self {
        WantedRecords {
            times: Intervals::all(),
            numbers: Intervals::all(),
            has_first: false,
            last: u64::MAX,
        }
    }

    /// The records of packets that meet a condition over the fields of [`Field::SCHEMA`].
    pub fn of(condition: Option<&Condition>) -> Self {
        let of =
            |field: Field| condition.map_or(Intervals::all(), |it| it.intervals(field as usize));
        WantedRecords {
            times: of(Field::Ts),
            numbers: of(Field::Number),
            has_first: false,
            last: u64::MAX,
        }
    }

    /// The record with a number.
    pub fn numbered(number: u64) -> Self {
        let numbers = Intervals::between(number.into(), number.into());
        WantedRecords { numbers, ..WantedRecords::all() }.up_to(Some(number))
    }

    /// Those of them up to a number, behind which nothing is read, not even damage.
    #[must_use]
    pub fn up_to(mut self, last: Option<u64>) -> Self {
        self.last = self.last.min(last.unwrap_or(u64::MAX));
        self
    }

    /// Those of them, and the first of all.
    #[must_use]
    pub(crate) fn and_first(mut self) -> Self {
        self.has_first = true;
        self
    }

    /// Those of them whose time is `from` or later and before `to`, in nanoseconds since 1970; with neither, those without a
    /// time, too.
    #[must_use]
    pub fn between(mut self, from: Option<i64>, to: Option<i64>) -> Self {
        let first = from.map_or(i128::MIN, i128::from);
        let last = to.map_or(i128::MAX, |to| i128::from(to) - 1);
        self.times = self.times.and(&Intervals::between(first, last));
        self
    }

    /// Returns true if none may be left out.
    pub fn are_all(&self) -> bool {
        self.times.are_all() && self.numbers.are_all() && self.last == u64::MAX
    }

    /// Returns true if the part may hold some, with so many packets up to its end; none where that is not known.
    fn may_be_in(&self, part: &IndexPart, packets: u64) -> bool {
        let has_time = self.times.are_all()
            || self.times.meet(part.first_ts.into(), part.last_ts.into())
                && part.first_ts <= part.last_ts;
        let (first, last) = (i128::from(part.packets_before) + 1, i128::from(packets));
        self.has_first && first == 1 || has_time && self.numbers.meet(first, last)
    }
}

/// The way through a capture.
pub(crate) struct Route {
    file: IndexFile,
    runs: VecDeque<RouteRun>,
    /// Bytes of the preamble that the decoder has seen.
    preamble_at: usize,
    has_begun: bool,
}

/// Parts one behind another that are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct RouteRun {
    part: usize,
    /// The part behind the last one; none where that is read to the end of the capture.
    end: Option<usize>,
}

/// The next parts that are read.
pub(crate) struct RouteStep {
    /// Place at which reading begins, and the first record behind it; none where nothing more is read.
    pub(crate) begin: Option<RouteBegin>,
    /// Offset of the first record that is not read any more.
    pub(crate) end: u64,
    /// Blocks of the preamble between.
    pub(crate) preamble: Vec<u8>,
}

/// Beginning of parts that are read.
#[derive(Clone)]
pub(crate) struct RouteBegin {
    pub(crate) point: SeekPoint,
    pub(crate) first_record: u64,
    pub(crate) packets_before: u64,
}

impl Route {
    /// The way to the records that are wanted; none where that is through the whole capture. `is_same` is false where more
    /// may be behind the last part.
    pub(crate) fn new(file: IndexFile, is_same: bool, wanted: &WantedRecords) -> Option<Route> {
        let table = &file.table;
        let count = table.parts.len();
        let is_closed = table.is_whole && is_same;
        let is_wanted = |(index, part): (usize, &IndexPart)| match table.parts.get(index + 1) {
            Some(next) => wanted.may_be_in(part, next.packets_before),
            None => !is_closed || wanted.may_be_in(part, table.packets),
        };
        let mut runs: VecDeque<RouteRun> = VecDeque::new();
        for index in table.parts.iter().enumerate().filter(|it| is_wanted(*it)).map(|(i, _)| i) {
            let end = Some(index + 1).filter(|end| *end < count);
            match runs.back_mut() {
                Some(run) if run.end == Some(index) => run.end = end,
                _ => runs.push_back(RouteRun { part: index, end }),
            }
        }
        let is_everything = matches!(runs.front(), Some(RouteRun { part: 0, end: None }));
        (!is_everything).then_some(Route { file, runs, preamble_at: 0, has_begun: false })
    }

    /// Returns true if the capture has one interface, which its header describes.
    pub(crate) fn has_one_interface(&self) -> bool {
        self.file.has_one_interface()
    }

    /// The way to the last part, which is open.
    pub(crate) fn to_last(file: IndexFile) -> Route {
        let part = file.table.parts.len().saturating_sub(1);
        let runs = VecDeque::from([RouteRun { part, end: None }]);
        Route { file, runs, preamble_at: 0, has_begun: false }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Begins where the capture does, if the first parts are read: says up to which offset.
    pub(crate) fn begin_at_start(&mut self) -> Option<u64> {
        self.has_begun = true;
        let run = self.runs.front().copied().filter(|run| run.part == 0)?;
        self.runs.pop_front();
        Some(self.leave(run))
    }

    /// Takes the next step; none where the index is damaged.
    pub(crate) fn next(&mut self) -> Option<RouteStep> {
        let table = &self.file.table;
        let Some(run) = self.runs.front().copied() else {
            let preamble = table.preamble.get(self.preamble_at..)?.to_vec();
            self.preamble_at = table.preamble.len();
            return Some(RouteStep { begin: None, end: 0, preamble });
        };
        let part = table.parts.get(run.part)?;
        let point = self.file.place_of(part)?;
        let preamble = table.preamble.get(self.preamble_at..part.preamble_len as usize)?.to_vec();
        let IndexPart { first_record, packets_before, .. } = *part;
        let begin = Some(RouteBegin { point, first_record, packets_before });
        self.runs.pop_front();
        Some(RouteStep { begin, end: self.leave(run), preamble })
    }

    /// Notes that the parts of a run are read; says up to which offset.
    fn leave(&mut self, run: RouteRun) -> u64 {
        let next = run.end.and_then(|end| self.file.table.parts.get(end));
        self.preamble_at = next.map_or(0, |part| part.preamble_len as usize);
        next.map_or(u64::MAX, |part| part.first_record)
    }
}
