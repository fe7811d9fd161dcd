//! Questions to captures, each with its options, and their answers: counts, sums, flows, calls, facts, a cut capture, entries
//! of a table file. One call in, batches out. This module also loads IDL files, whose services a question may name.

mod answer;
mod both_ways;
#[cfg(not(target_family = "wasm"))]
mod call_merge;
mod call_question;
mod calls;
mod count;
mod cut;
mod cut_options;
mod cut_output;
mod cut_stop;
mod endpoints;
mod flow_intervals;
#[cfg(not(target_family = "wasm"))]
mod flow_log;
#[cfg(not(target_family = "wasm"))]
mod flow_merge;
mod flow_question;
mod flows;
mod idl;
mod index;
mod info;
mod info_row;
mod interface_row;
#[cfg(not(target_family = "wasm"))]
mod merge_row;
#[cfg(not(target_family = "wasm"))]
mod merges;
mod packet_numbers;
mod packet_options;
mod packets;
mod question;
mod recent_frames;
mod row_spec;
mod run;
mod services;
mod summary;
#[cfg(not(target_family = "wasm"))]
mod table_merge;

pub use answer::{Answer, Answers};
#[cfg(not(target_family = "wasm"))]
pub use call_merge::{CallsMerge, merge_calls};
pub use call_question::{CallOptions, CallQuestion, CallStructOptions};
pub use calls::CallBatches;
pub use count::{Counts, count_by};
pub use cut::{CutTotals, cut};
pub use cut_options::CutOptions;
pub use cut_output::CutOutput;
pub use flow_intervals::{IntervalPart, flows_by_interval};
#[cfg(not(target_family = "wasm"))]
pub use flow_log::FlowLog;
#[cfg(not(target_family = "wasm"))]
pub use flow_merge::{CaptureMerge, merge_flows};
pub use flow_question::{FlowQuestion, ToldFlows};
pub use flows::FlowBatches;
pub use idl::{load_idl, load_methods};
pub use index::IndexField;
pub use info::{CaptureInfo, info, info_seeing};
pub use info_row::{InfoField, InterfaceField, LinkTypeField};
pub use interface_row::LiveInterfaceField;
#[cfg(not(target_family = "wasm"))]
pub use merge_row::{CallMergeField, FlowMergeField};
#[cfg(not(target_family = "wasm"))]
pub use merges::{CallMerges, FlowMerges};
pub use packet_options::{CountOptions, PacketOptions, SumOptions, SumQuestion};
pub use question::Question;
pub use row_spec::RowSpec;
pub use run::Run;
pub use summary::{Adder, QuestionSpec, Summary};
#[cfg(not(target_family = "wasm"))]
pub use table_merge::{TableMerge, TableMergeField, merge_table};
