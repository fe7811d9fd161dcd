//! Questions to captures, each with its options, and their answers: counts, sums, flows, calls, facts, a cut capture, entries
//! of a table file. One call in, batches out. This module also loads IDL files, whose services a question may name.

mod answer;
mod both_ways;
mod call_question;
mod calls;
mod count;
mod cut;
mod endpoints;
mod flow_intervals;
mod flow_question;
mod flows;
mod idl;
mod index;
mod info;
mod info_row;
mod merge_row;
mod merges;
mod packet_numbers;
mod packet_options;
mod packets;
mod question;
mod run;
mod services;
mod summary;
mod table_merge;

pub use answer::{Answer, Answers};
pub use call_question::{CallOptions, CallQuestion};
pub use calls::{CallBatches, CallsMerge, merge_calls};
pub use count::{Counts, count_by};
pub use cut::{CutOptions, CutTotals, cut};
pub use flow_intervals::{IntervalPart, flows_by_interval};
pub use flow_question::{FlowQuestion, ToldFlows};
pub use flows::{CaptureMerge, FlowBatches, merge_flows};
pub use idl::{load_idl, load_methods};
pub use index::IndexField;
pub use info::{CaptureInfo, info, info_seeing};
pub use info_row::{InfoField, InterfaceField, LinkTypeField};
pub use merge_row::{CallMergeField, FlowMergeField};
pub use merges::{CallMerges, FlowMerges};
pub use packet_options::{CountOptions, PacketOptions, SumOptions, SumQuestion};
pub use question::Question;
pub use run::Run;
pub use summary::{Adder, QuestionSpec, Summary};
pub use table_merge::{TableMerge, TableMergeField, merge_table};
