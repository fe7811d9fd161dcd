//! Takes in what a log has beyond what is known of it: when a table is opened, when a reader follows a writer, and after a
//! writer has died. Whole transactions only, and each record only after its check.

use super::extent::LogExtent;
use super::hash_file::HashFile;
use super::header::LogReader;
use super::index_writer::{IndexChange, IndexWriter};
use super::segment::IndexEntry;
use crate::error::Result;
use crate::files::CommitFrame;

/// Rest of a log behind the transactions that were taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    Nothing,
    /// Something that is no whole transaction; the first frame that is not whole is at this place.
    NotWhole(u64),
}

/// Bytes of log that are checked before they are taken in. By then the processor has brought the lines
/// of the index that they need, which otherwise it would wait for at each record.
const LOOK_AHEAD: u64 = 16 << 10;

/// Goes over the transactions that `reader` has after `extent`, and shows `room` the rooms of the index between them.
pub(super) fn survey(
    extent: &mut LogExtent,
    reader: &mut LogReader,
    room: &mut dyn FnMut(&CommitFrame),
) -> Result<Rest> {
    let mut chain = Vec::new();
    loop {
        extent.end = reader.pass_rooms(extent.end, room)?;
        if extent.end >= reader.end() {
            return Ok(Rest::Nothing);
        }
        let not_whole = reader.commit(extent.end, extent.next_transaction, &mut chain, &|_| ())?;
        if let Some(offset) = not_whole {
            return Ok(Rest::NotWhole(offset));
        }
        if let Some(last) = chain.last() {
            extent.commit(last);
        }
    }
}

/// Takes in the transactions that `reader` has after `extent`. Nothing of one that is not whole.
pub(super) fn replay(
    file: &HashFile,
    extent: &mut LogExtent,
    reader: &mut LogReader,
    writer: &mut IndexWriter<'_>,
) -> Result<Rest> {
    let (mut frames, mut chain, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    let (mut rest, end) = (Rest::Nothing, reader.end());
    while extent.end < end && rest == Rest::Nothing {
        frames.clear();
        let mut ahead = *extent;
        let prefetch = |key: &[u8]| file.prefetch(file.hash(key));
        while ahead.end < end && ahead.end - extent.end < LOOK_AHEAD && rest == Rest::Nothing {
            ahead.end = reader.pass_rooms(ahead.end, &mut |_| ())?;
            if ahead.end >= end {
                break;
            }
            match reader.commit(ahead.end, ahead.next_transaction, &mut chain, &prefetch)? {
                None => {
                    if let Some(last) = chain.last() {
                        ahead.commit(last);
                    }
                    frames.append(&mut chain);
                }
                Some(offset) => rest = Rest::NotWhole(offset),
            }
        }
        for frame in &frames {
            take_in(file, extent, reader, frame, writer, &mut scratch)?;
            if frame.flags.commits {
                extent.commit(frame);
            }
        }
        extent.end = extent.end.max(ahead.end);
    }
    Ok(rest)
}

/// Changes the index as the records of a whole frame say.
fn take_in(
    file: &HashFile,
    extent: &mut LogExtent,
    reader: &mut LogReader,
    frame: &CommitFrame,
    writer: &mut IndexWriter<'_>,
    scratch: &mut Vec<u8>,
) -> Result<()> {
    if frame.flags.clears {
        extent.clear(frame.offset);
        writer.begin_at(frame.offset);
    }
    let end = reader.end();
    reader.each_record(frame, |record, range| {
        let (key, replaced, start) = (record.key(), record.replaced, extent.start);
        let mut old_len = None;
        if replaced >= start {
            let (old, len) = file.log.record(replaced, range.start, scratch)?;
            old_len = (!old.is_deletion()).then_some(len);
        }
        let entry = IndexEntry { place: range.start, is_deletion: record.is_deletion() };
        let before = IndexEntry { place: replaced, is_deletion: false };
        let change = IndexChange { hash: file.hash(key), entry, before };
        let trimmed_end = file.sharing.state().trimmed_end();
        writer.apply(&change, &mut |place| {
            if place < trimmed_end {
                return Ok(false);
            }
            let (found, len) = file.log.record(place, end, scratch)?;
            let is_same = found.key() == key;
            if is_same && (start..range.start).contains(&place) && !found.is_deletion() {
                old_len = Some(len);
            }
            Ok(is_same)
        })?;
        let new_len = (!entry.is_deletion).then_some(range.end - range.start);
        extent.account(old_len, new_len);
        Ok(())
    })
}
