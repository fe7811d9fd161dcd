//! Log of commits: frames in a file, one behind the other, after a header that is the owner's.
//!
//! ```text
//! frame:   magic 3   flags 1   payload length 4   number 8   check 4   payload
//! payload: records of `record.rs`, a check of 4 bytes behind each
//! ```
//!
//! Numbers are little-endian. A commit is one frame, or a chain of frames with the same number, of which the last
//! commits. Whoever opens a log takes in whole commits only, each with the number after that of the one before, up to
//! the first that is not whole. That is the torn end that a crash leaves, unless a frame behind it says that all before
//! it had been synced: then written bytes were damaged.
//!
//! Each check depends on a [`Salt`] and on the place where it stands, so that bytes of another file, of an earlier use of
//! the same file or of another place are never taken for what belongs there, not even where a value holds a copy of a
//! log.
//!
//! A frame may have room for an index of the log instead of records, which readers pass over.
//!
//! The owner of a log decides how it is written and when it is synced. A reader has no lock: a frame that is not whole
//! may be one that is being written.

mod frame;
mod frame_buffer;
mod log;
mod reader;
mod record;

pub(crate) use frame::{
    CHECK_LEN, CommitFrame, FRAME_HEADER_LEN, FrameFlags, PAYLOAD_LEN_MAX, Salt,
};
pub(crate) use frame_buffer::FrameBuffer;
pub(crate) use log::{CommitLog, LogHeader};
pub(crate) use reader::{LENS_LEN, LogReader};
pub(crate) use record::LogRecord;
