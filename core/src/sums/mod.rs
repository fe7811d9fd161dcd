//! Sums over many captures in a table file: flows by conversation, calls by method. A capture is counted in one
//! transaction, and only once, even if it is added again.

mod call_store;
mod capture_ledger;
mod entry;
mod entry_rows;
mod feature_bytes;
mod flow_store;

pub use call_store::{CallCount, CallStore};
pub use capture_ledger::CountedCapture;
pub use entry::{EntryMerge, FlowEntry};
pub use entry_rows::{EntryField, EntryOrigin, EntryRows, merged_rows};
pub use flow_store::{CaptureCount, FlowStore, Merged, StoredFlows};
