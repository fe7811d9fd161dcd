//! Makes the index of a capture while it is read from the beginning to its end.

use std::collections::VecDeque;

use super::CaptureIndex;
use super::capture_version::CaptureVersion;
use super::file::{IndexFile, IndexPlace, NewIndexFile};
use super::report::IndexState;
use super::table::{IndexPart, IndexTable, PARTS_MAX, PREAMBLE_MAX};
use crate::bytes::{ByteStream, Compression, Resume, STATE_LEN, SeekPoint, SeekSpacing};
use crate::capture::Decoder;
use crate::{Error, ErrorKind, Result};

/// Collects the parts of a capture as its records go by.
pub(crate) struct IndexMaker {
    place: IndexPlace,
    file: NewIndexFile,
    table: IndexTable,
    state: IndexState,
    /// The file as it was when its reading began.
    began: FileState,
    /// Places behind the last part at which reading can begin.
    points: VecDeque<SeekPoint>,
    /// Offset from which on the next record begins a part.
    next_at: u64,
    spacing: u64,
    is_plain: bool,
    /// Times of the records of the open part.
    first_ts: i64,
    last_ts: i64,
    /// Sections that are in the preamble.
    sections: u64,
    /// No more parts are made.
    is_closed: bool,
    failure: Option<Error>,
}

/// A file as the system sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    len: Option<u64>,
    modified: Option<i64>,
}

impl FileState {
    fn of(stream: &ByteStream) -> Self {
        FileState { len: stream.input_len(), modified: stream.modified() }
    }
}

impl IndexMaker {
    /// A maker for a capture of which nothing was read.
    ///
    /// # Errors
    /// `Argument` where another file has the name of the index; `Io` where the folder takes no file.
    pub(crate) fn new(
        place: IndexPlace,
        stream: &ByteStream,
        spacing: SeekSpacing,
    ) -> Result<Self> {
        place.check_displaced()?;
        let file = place.create()?;
        Ok(IndexMaker {
            place,
            file,
            table: IndexTable::default(),
            state: IndexState::Made,
            began: FileState::of(stream),
            points: VecDeque::new(),
            next_at: 0,
            spacing: spacing.bytes,
            is_plain: stream.compression() == Compression::None,
            first_ts: i64::MAX,
            last_ts: i64::MIN,
            sections: 0,
            is_closed: false,
            failure: None,
        })
    }

    /// Takes over the parts of an older index but for its last one, which is open: its records come next.
    ///
    /// # Errors
    /// `Io` where its windows cannot be copied.
    pub(crate) fn extend(&mut self, older: &IndexFile) -> Result<()> {
        let copied = self.file.copy_windows(older);
        copied.map_err(|error| Error::io("copy the index", &error))?;
        self.table = older.table.clone();
        self.state = IndexState::Extended;
        if let Some(last) = self.table.parts.last_mut() {
            (last.first_ts, last.last_ts) = (i64::MAX, i64::MIN);
            self.table.preamble.truncate(last.preamble_len as usize);
            self.next_at = if self.is_plain { last.position + self.spacing } else { u64::MAX };
        }
        Ok(())
    }

    /// Notes that the blocks in the preamble were read, which have so many sections.
    pub(crate) fn begin_behind(&mut self, sections: u64) {
        self.sections = sections;
    }

    /// Notes a record at an offset, with so many before it.
    #[inline(always)]
    pub(crate) fn on_record(&mut self, offset: u64, ts: Option<i64>, before: u64) {
        if offset >= self.next_at {
            self.begin_part(offset, before);
        }
        if let Some(ts) = ts {
            self.first_ts = self.first_ts.min(ts);
            self.last_ts = self.last_ts.max(ts);
        }
    }

    /// Notes that the decoder has gone over a block, whose bytes are `raw`, as far as they are in view.
    pub(crate) fn on_block(&mut self, decoder: &Decoder, raw: &[u8]) {
        if decoder.sections() != self.sections {
            self.sections = decoder.sections();
            self.add_preamble(&decoder.section_header());
        } else if decoder.described(raw).is_some() {
            self.add_preamble(raw);
        }
    }

    fn add_preamble(&mut self, block: &[u8]) {
        match self.table.preamble.len() + block.len() <= PREAMBLE_MAX && !self.is_closed {
            true => self.table.preamble.extend_from_slice(block),
            false => self.close(),
        }
    }

    /// Takes the places that a stream has found.
    pub(crate) fn add_points(&mut self, points: Vec<SeekPoint>) {
        if !self.is_closed {
            self.points.extend(points);
            self.wait_for_point();
        }
    }

    fn wait_for_point(&mut self) {
        if !self.is_plain && !self.table.parts.is_empty() {
            self.next_at = self.points.front().map_or(u64::MAX, |point| point.position);
        }
    }

    /// Makes no more parts: the last one stays open.
    fn close(&mut self) {
        self.is_closed = true;
        self.points.clear();
        self.next_at = u64::MAX;
    }

    #[cold]
    fn begin_part(&mut self, offset: u64, before: u64) {
        self.end_part();
        let Some(point) = self.point_for(offset) else {
            self.wait_for_point();
            return;
        };
        let mut part = IndexPart {
            position: point.position,
            raw_offset: point.raw_offset,
            first_record: offset,
            packets_before: before,
            first_ts: i64::MAX,
            last_ts: i64::MIN,
            preamble_len: self.table.preamble.len() as u32,
            state: [0; STATE_LEN],
            window: None,
        };
        if let Resume::Deflate(state) = &point.resume {
            part.state = state.to_bytes();
            match self.file.add_window(&state.window) {
                Ok(place) => part.window = Some(place),
                Err(error) => {
                    self.failure = Some(Error::io("write the index", &error));
                    return self.close();
                }
            }
        }
        self.table.parts.push(part);
        if self.table.parts.len() == PARTS_MAX {
            self.table.halve();
            self.spacing = self.spacing.saturating_mul(2);
        }
        if self.is_plain {
            self.next_at = offset.saturating_add(self.spacing);
        } else {
            self.wait_for_point();
        }
    }

    /// The place at which reading begins for a record at an offset: the last one before it. The first part begins with the
    /// capture.
    fn point_for(&mut self, offset: u64) -> Option<SeekPoint> {
        let at = |position| SeekPoint { position, raw_offset: position, resume: Resume::Boundary };
        let Some(last) = self.table.parts.last() else { return Some(at(0)) };
        if self.is_plain {
            return Some(at(offset));
        }
        let least = last.position.saturating_add(self.spacing);
        let mut found = None;
        while let Some(point) = self.points.front().filter(|point| point.position <= offset) {
            let is_far = point.position >= least;
            let point = self.points.pop_front();
            if is_far {
                found = point;
            }
        }
        found
    }

    fn end_part(&mut self) {
        if let Some(part) = self.table.parts.last_mut() {
            part.first_ts = part.first_ts.min(self.first_ts);
            part.last_ts = part.last_ts.max(self.last_ts);
        }
        (self.first_ts, self.last_ts) = (i64::MAX, i64::MIN);
    }

    /// Writes the index of a capture that was read to its end, or to its damage, after so many packets.
    ///
    /// # Errors
    /// `Io` where the index cannot be written, `Argument` where the file has changed meanwhile.
    pub(crate) fn finish(
        mut self,
        stream: &ByteStream,
        packets: u64,
        is_whole: bool,
    ) -> Result<CaptureIndex> {
        if let Some(failure) = self.failure.take() {
            return Err(failure.in_file(&self.place.path().display().to_string()));
        }
        let now = FileState::of(stream);
        let (Some(mut source), Some(len), Some(modified), true) =
            (stream.another_raw_source(), now.len, now.modified, now == self.began)
        else {
            return Err(changed(stream));
        };
        let end = stream.position();
        if self.table.parts.is_empty() {
            self.begin_part(end, 0);
        }
        self.end_part();
        self.table.is_whole = is_whole && !self.is_closed;
        (self.table.end, self.table.packets) = (end, packets);
        let version = CaptureVersion::of(&mut *source, modified, len)?;
        self.place.publish(&self.file, version, &self.table)?;
        let bytes = self.file.len();
        Ok(CaptureIndex::of(&self.table, &self.place, self.state, bytes))
    }
}

/// The error of a file that is written while its index is made.
fn changed(stream: &ByteStream) -> Error {
    let message = "expected a file that nobody writes while its index is made, found it changed";
    Error::new(ErrorKind::Argument, message).in_file(stream.name())
}
