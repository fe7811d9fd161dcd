//! Indexes of captures: files beside them that say where reading can begin, and which packets and times lie between.
//!
//! An index is made in a pass that is made anyway ([`IndexMaker`]), belongs to a content ([`CaptureVersion`]), and is never
//! needed: a reader that finds none, or one that does not fit, reads everything. `docs/capture-index.md` has the format.

mod capture_version;
#[cfg_attr(target_family = "wasm", path = "no_file.rs")]
mod file;
mod maker;
mod report;
mod route;
mod table;

pub(super) use capture_version::VersionMatch;
pub(super) use file::IndexPlace;
pub(super) use maker::IndexMaker;
pub use report::{CaptureIndex, IndexState};
pub use route::WantedRecords;
pub(super) use route::{Route, RouteBegin};

/// Use of the index of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexUse {
    /// It is used where there is one.
    #[default]
    Use,
    /// It is made as the capture is read to its end, unless there is one.
    Make,
    /// It is made, or made longer, and nothing else is wanted.
    Only,
    /// It is made anew, whatever there is, and nothing else is wanted.
    Anew,
}
