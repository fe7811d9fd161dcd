//! Takes in what a log has beyond what is known of it: when a table is opened, and when a reader
//! follows a writer. Whole transactions only, and each record only after its check.

use std::sync::Arc;

use super::extent::LogExtent;
use super::header::LogReader;
use super::view::GenerationView;
use crate::error::Result;
use crate::files::CommitFrame;
use crate::heap::record::HeapRecord;

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

/// Takes in the transactions that `reader` has after `extent`. Nothing of one that is not whole.
pub(super) fn replay(
    view: &mut Arc<GenerationView>,
    extent: &mut LogExtent,
    reader: &mut LogReader,
) -> Result<Rest> {
    let (mut frames, mut chain, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    let (mut rest, end) = (Rest::Nothing, reader.end());
    while extent.end < end && rest == Rest::Nothing {
        frames.clear();
        let mut ahead = *extent;
        let index = view.index();
        let prefetch = |key: &[u8]| index.index.prefetch(view.hash(key));
        while ahead.end < end && ahead.end - extent.end < LOOK_AHEAD && rest == Rest::Nothing {
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
        drop(index);
        for frame in &frames {
            take_in(view, extent, reader, frame, &mut scratch)?;
            if frame.flags.commits {
                extent.commit(frame);
            }
        }
    }
    Ok(rest)
}

/// Changes the index as the records of a whole frame say.
fn take_in(
    view: &mut Arc<GenerationView>,
    extent: &mut LogExtent,
    reader: &mut LogReader,
    frame: &CommitFrame,
    scratch: &mut Vec<u8>,
) -> Result<()> {
    if frame.flags.clears {
        *view = Arc::new(view.cleared()?);
        extent.clear(frame.offset);
    }
    let mut index = view.index();
    reader.each_record(frame, |record, range| {
        let (key, new) = match record {
            HeapRecord::Entry { key, .. } => (key, Some(range.start)),
            HeapRecord::Deletion { key } => (key, None),
        };
        let hash = view.hash(key);
        let mut old_len = 0;
        let old = index.index.find(hash, |old| {
            let (record, len) = view.log.record(old, range.start, scratch)?;
            old_len = len;
            Ok(record.key() == key)
        })?;
        index.change(hash, old, new, range.start)?;
        extent.account(old.map(|_| old_len), new.map(|_| range.end - range.start));
        Ok(())
    })
}
