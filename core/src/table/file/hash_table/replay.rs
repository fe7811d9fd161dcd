//! Takes in what a log has beyond what is known of it: when a table is opened, and when a reader
//! follows a writer. Whole transactions only, and each record only after its check.

use std::sync::Arc;

use super::extent::Extent;
use super::frame::{FRAME_HEADER_LEN, FRAME_MAGIC, FrameHeader};
use super::log::LogReader;
use super::log_index::KeyHash;
use super::view::View;
use crate::error::Result;
use crate::heap::record::Record;

/// A frame and where it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrameAt {
    pub(super) offset: u64,
    pub(super) header: FrameHeader,
}

impl FrameAt {
    pub(super) fn end(&self) -> u64 {
        self.header.end(self.offset)
    }

    pub(super) fn payload(&self) -> u64 {
        self.offset + FRAME_HEADER_LEN as u64
    }
}

/// What follows the transactions that were taken in.
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

/// Takes in the transactions that `reader` has after `extent`. Nothing of one that is not whole.
pub(super) fn replay(
    view: &mut Arc<View>,
    extent: &mut Extent,
    reader: &mut LogReader,
    end: u64,
) -> Result<Rest> {
    let (mut frames, mut chain, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = Rest::Nothing;
    while extent.end < end && rest == Rest::Nothing {
        frames.clear();
        let mut ahead = *extent;
        let index = view.index();
        let prefetch = |key: &[u8]| index.index.prefetch(view.hash(key));
        while ahead.end < end && ahead.end - extent.end < LOOK_AHEAD && rest == Rest::Nothing {
            match read_transaction(reader, &ahead, &mut chain, &prefetch)? {
                None => {
                    if let Some(last) = chain.last() {
                        ahead.commit(last.offset, last.end());
                    }
                    frames.append(&mut chain);
                }
                Some(offset) => rest = Rest::NotWhole(offset),
            }
        }
        drop(index);
        for frame in &frames {
            take_in(view, extent, reader, frame, &mut scratch)?;
            if frame.header.flags.commits {
                extent.commit(frame.offset, frame.end());
                extent.is_closed = frame.header.flags.closes;
            }
        }
    }
    Ok(rest)
}

/// Fills `chain` with the frames of the transaction that begins where `extent` ends, or says where a
/// frame is missing or not whole. On the way it shows `seen` the keys.
pub(super) fn read_transaction(
    reader: &mut LogReader,
    extent: &Extent,
    chain: &mut Vec<FrameAt>,
    seen: &dyn Fn(&[u8]),
) -> Result<Option<u64>> {
    chain.clear();
    let mut offset = extent.end;
    loop {
        let header = reader.frame(offset)?;
        let is_next = |frame: &FrameHeader| {
            frame.transaction == extent.next_transaction
                && frame.flags.continues != chain.is_empty()
        };
        let Some(header) = header.filter(is_next) else {
            return Ok(Some(offset));
        };
        if !reader.is_whole(offset, &header, seen)? {
            return Ok(Some(offset));
        }
        let frame = FrameAt { offset, header };
        chain.push(frame);
        if header.flags.commits {
            return Ok(None);
        }
        offset = frame.end();
    }
}

/// Changes the index as the records of a whole frame say.
fn take_in(
    view: &mut Arc<View>,
    extent: &mut Extent,
    reader: &mut LogReader,
    frame: &FrameAt,
    scratch: &mut Vec<u8>,
) -> Result<()> {
    if frame.header.flags.clears {
        *view = Arc::new(view.cleared()?);
        extent.clear(frame.offset);
    }
    let mut index = view.index();
    let mut place = frame.payload();
    while place < frame.end() {
        let Some((record, len)) = reader.record(place, frame.end())? else {
            return Err(reader.log().corrupt(place, "a record"));
        };
        let (key, new) = match record {
            Record::Entry { key, .. } => (key, Some(place)),
            Record::Deletion { key } => (key, None),
        };
        let hash = KeyHash::new(key, view.log.header.seed);
        let mut old_len = 0;
        let old = index.index.find(hash, |old| {
            let (record, len) = view.log.record(old, place, scratch)?;
            old_len = len;
            Ok(record.key() == key)
        })?;
        index.change(hash, old, new, place)?;
        extent.account(old.map(|_| old_len), new.map(|_| len));
        place += len;
    }
    Ok(())
}

/// Whether a frame behind `offset` says that all before it had been made to last, so that what is
/// not whole there was whole once, and lost its bytes since.
pub(super) fn lasted_beyond(reader: &mut LogReader, offset: u64, end: u64) -> Result<bool> {
    let mut at = offset + 1;
    while let Some(frame) = next_frame(reader, at, end)? {
        if frame.header.flags.follows_sync {
            return Ok(true);
        }
        at = frame.offset + 1;
    }
    Ok(false)
}

/// The next beginning of a frame from `offset` on, whatever is between.
pub(super) fn next_frame(
    reader: &mut LogReader,
    mut offset: u64,
    end: u64,
) -> Result<Option<FrameAt>> {
    let salt = reader.log().salt;
    while let Some(bytes) = reader.view(offset, FRAME_HEADER_LEN)? {
        let starts = bytes.len() - FRAME_HEADER_LEN + 1;
        for (at, _) in bytes[..starts].iter().enumerate().filter(|(_, b)| **b == FRAME_MAGIC[0]) {
            let offset = offset + at as u64;
            let header = FrameHeader::from_bytes(&bytes[at..], salt, offset);
            if let Some(header) = header.filter(|frame| frame.end(offset) <= end) {
                return Ok(Some(FrameAt { offset, header }));
            }
        }
        offset += starts as u64;
    }
    Ok(None)
}
