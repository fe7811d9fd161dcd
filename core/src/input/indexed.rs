//! Records of a capture that has an index, or gets one: where reading begins, goes on and ends.

use std::path::Path;

use super::index::{
    CaptureIndex, IndexMaker, IndexPlace, IndexUse, Route, VersionMatch, WantedRecords,
};
use super::records::{PacketSink, RecordPlace, Stop, StreamRecords, cut_block};
use crate::capture::{Decoder, Format, Step};
use crate::{Error, ErrorKind, Result};

impl StreamRecords {
    /// Returns true if nothing was read, and all of it is to be.
    pub(super) fn has_all(&self) -> bool {
        self.number == 0
            && self.stream.position() == 0
            && self.route.is_none()
            && self.maker.is_none()
    }

    /// Looks for the way to the records that are wanted.
    pub(super) fn find_route(
        &mut self,
        path: &Path,
        folder: Option<&Path>,
        wanted: &WantedRecords,
    ) {
        let found = IndexPlace::of(path, folder).and_then(|place| place.open_for(&self.stream));
        match found {
            Ok(None) => {}
            Ok(Some((file, version))) => {
                let is_same = version == VersionMatch::Same;
                let has_filter = self.selection.as_ref().is_some_and(|it| it.has_filter());
                // A filter fails where it fits the links of no packet, so it has to see one of each link.
                let wanted = if has_filter { wanted.clone().and_first() } else { wanted.clone() };
                self.route = Route::new(file, is_same, &wanted)
                    .filter(|route| !has_filter || route.has_one_interface())
                    .map(Box::new);
                if self.route.is_some() {
                    self.stream.use_places(None);
                }
            }
            Err(error) => self.index_fault = Some(error),
        }
    }

    /// Looks for places at which threads can begin to decompress, if they are to.
    pub(super) fn find_places(&mut self, path: &Path, folder: Option<&Path>) {
        if !self.has_all() || !self.stream.wants_places() {
            return;
        }
        match IndexPlace::of(path, folder).and_then(|place| place.open_for(&self.stream)) {
            Ok(found) => self.stream.use_places(found.map(|(file, _)| Box::new(file) as _)),
            Err(error) => self.index_fault = Some(error),
        }
    }

    /// Begins to make the index.
    pub(super) fn begin_index(&mut self, path: &Path, folder: Option<&Path>, index: IndexUse) {
        if let Err(error) = self.try_begin_index(path, folder, index) {
            self.index = Some(Err(error));
            if matches!(index, IndexUse::Only | IndexUse::Anew) {
                self.last_number = 0;
            }
        }
    }

    fn try_begin_index(
        &mut self,
        path: &Path,
        folder: Option<&Path>,
        index: IndexUse,
    ) -> Result<()> {
        let only = index == IndexUse::Only;
        let spacing = self.stream.seek_points().unwrap_or_default();
        let place = IndexPlace::of(path, folder)?;
        place.check_displaced()?;
        // An index that does not fit is displaced.
        let found = match index {
            IndexUse::Anew => None,
            _ => place.open_for(&self.stream).unwrap_or(None),
        };
        if let Some((file, VersionMatch::Same)) = found {
            self.index = Some(Ok(CaptureIndex::of_file(&file, &place)));
            match only {
                true => self.last_number = 0,
                false if self.stream.wants_places() => self.stream.use_places(Some(Box::new(file))),
                false => {}
            }
            return Ok(());
        }
        self.stream.find_seek_points(spacing)?;
        let mut maker = IndexMaker::new(place, &self.stream, spacing)?;
        if let Some((file, _)) = found.filter(|_| only) {
            maker.extend(&file)?;
            self.route = Some(Box::new(Route::to_last(file)));
        }
        self.maker = Some(Box::new(maker));
        Ok(())
    }

    /// Gives the places that the stream has found to the index.
    pub(super) fn mark_points(&mut self) {
        if let Some(maker) = &mut self.maker {
            maker.add_points(self.stream.take_seek_points());
        }
    }

    /// Ends the index with the capture, which is whole or ends here with damage.
    pub(super) fn end_index(&mut self, is_whole: bool) {
        // Input that its reader has ended is not all of it.
        if let Some(maker) = self.maker.take().filter(|_| !self.stream.cancel().is_ended()) {
            self.index = Some(maker.finish(&self.stream, self.number, is_whole));
        }
    }

    /// Ends the index with an error, if that is damage behind the header of a capture.
    pub(super) fn end_index_at(&mut self, error: &Error) {
        if is_damage(error) && self.decoder.has_header() {
            self.end_index(false);
        }
    }

    /// Makes sure that reading begins where the route does; answers what has to be done before a pass.
    #[inline]
    pub(super) fn before_pass(&mut self, sink: &mut impl PacketSink) -> Result<Option<Stop>> {
        if self.jump.is_some() {
            return Ok(Some(Stop::Jump));
        }
        match &self.route {
            Some(route) if !route.has_begun() => self.begin_route(sink),
            _ => Ok(None),
        }
    }

    #[cold]
    fn begin_route(&mut self, sink: &mut impl PacketSink) -> Result<Option<Stop>> {
        if !self.decoder.has_header() {
            return Ok(Some(Stop::Header));
        }
        let Some(route) = &mut self.route else { return Ok(None) };
        match route.begin_at_start() {
            Some(end) => {
                self.end = end;
                Ok(None)
            }
            None => self.follow(sink).map(Some),
        }
    }

    /// Leaves a part behind which others are left out.
    #[cold]
    pub(super) fn leave_part(&mut self, sink: &mut impl PacketSink) -> Result<Stop> {
        if self.stream.position() != self.end {
            return Err(self.misplaced());
        }
        self.follow(sink)
    }

    /// Returns true if the index has a part behind this one.
    pub(super) fn ends_in_part(&self) -> bool {
        self.route.is_some() && self.end != u64::MAX
    }

    /// The error of an index whose checks hold and that is wrong.
    #[cold]
    pub(super) fn misplaced(&self) -> Error {
        let message = "expected records where the index of the capture has them, found others; remove the index";
        Error::new(ErrorKind::Format, message).at(self.stream.position())
    }

    /// Goes to the next part of the route. Where the index is damaged, reading goes on where it is.
    fn follow(&mut self, sink: &mut impl PacketSink) -> Result<Stop> {
        let Some(step) = self.route.as_mut().and_then(|route| route.next()) else {
            let message = "expected an index of the capture, found one whose windows are damaged; it is not used";
            let error = Error::new(ErrorKind::Format, message).in_file(self.stream.name());
            self.index_fault = Some(error);
            self.route = None;
            self.end = u64::MAX;
            return Ok(Stop::Skip(0));
        };
        if self.number == 0 && self.decoder.format() == Some(Format::Pcapng) {
            // The blocks of the first section come again.
            self.decoder = Decoder::new();
        }
        let goes_on = self.replay(&step.preamble, sink)?;
        match step.begin {
            None => {
                self.route = None;
                self.end = self.stream.position();
            }
            Some(begin) => {
                self.number = begin.packets_before;
                self.end = step.end;
                self.decoder.go_to_record(begin.first_record);
                self.jump = Some(begin);
                if let Some(maker) = &mut self.maker {
                    maker.begin_behind(self.decoder.sections());
                }
            }
        }
        Ok(if goes_on { Stop::Jump } else { Stop::Enough })
    }

    /// Shows the blocks of parts that are left out to the decoder and to `sink`; says whether that wants more.
    fn replay(&mut self, preamble: &[u8], sink: &mut impl PacketSink) -> Result<bool> {
        let (mut at, mut goes_on) = (0, true);
        while at < preamble.len() {
            let rest = preamble.get(at..).unwrap_or_default();
            match self.decoder.step(rest, true) {
                Ok(Step::Skip(count)) if count <= rest.len() as u64 => {
                    let (decoder, consumed) = (&self.decoder, count as usize);
                    goes_on &= sink.on_skipped(RecordPlace {
                        decoder,
                        view: preamble,
                        start: at,
                        consumed,
                    });
                    at += consumed;
                }
                _ => {
                    let message = "expected sections and interfaces in the index of the capture, found something else; \
                                   remove the index";
                    return Err(Error::new(ErrorKind::Format, message));
                }
            }
        }
        Ok(goes_on)
    }

    /// Goes to the place where reading goes on.
    pub(super) fn make_jump(&mut self) -> Result<()> {
        let Some(jump) = self.jump.clone() else { return Ok(()) };
        self.stream.seek_to_point(&jump.point)?;
        let count = jump.first_record - jump.point.position;
        let skipped = self.stream.skip(count)?;
        if skipped < count {
            let error = cut_block(count, skipped).at(jump.point.position);
            return Err(self.cut.insert(error.in_file(self.stream.name())).clone());
        }
        self.mark_points();
        self.jump = None;
        Ok(())
    }
}

/// Returns true if an error is the file's, and would come again.
fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Format | ErrorKind::Truncated { .. } | ErrorKind::Limit)
}
