//! Whole captures: one call in, batches, counts, flows or calls out. Here the decoders meet the bytes; a
//! face needs nothing below this module to read a capture. IDL files, which include others, come from
//! disk here too.

mod ahead;
mod batch;
mod blocks;
mod calls;
mod content;
mod count;
mod cut;
mod device;
mod filter;
mod flow_intervals;
mod flows;
mod idl;
mod info;
mod info_row;
mod interfaces;
mod libpcap;
mod live;
mod merge_row;
mod merges;
mod reader;
mod records;
mod selection;
mod side_by_side;
mod table_merge;

pub use ahead::{CapturesAhead, Needs};
pub use batch::FrameBatch;
pub use calls::{CallBatches, CallsMerge, merge_calls};
pub use content::ContentId;
pub use count::{Counts, count_by, sum_by};
pub use cut::{CutOptions, CutTotals, cut};
pub use device::LiveOptions;
pub use filter::Filter;
pub use flow_intervals::{IntervalPart, flows_by_interval};
pub(crate) use flows::damage_of;
pub use flows::{CaptureMerge, FlowBatches, merge_flows};
pub use idl::{load_idl, load_methods};
pub use info::{CaptureInfo, info, info_seeing};
pub use info_row::{InfoField, InterfaceField, LinkTypeField};
pub use libpcap::version as libpcap_version;
pub use live::LiveCounts;
pub use merge_row::{CallMergeField, FlowMergeField};
pub use merges::{CallMerges, FlowMerges};
pub use reader::{CaptureOptions, CaptureReader};
pub use records::CaptureFacts;
pub use side_by_side::CaptureList;
pub use table_merge::{TableMerge, TableMergeField, merge_table};
