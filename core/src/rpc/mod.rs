//! Thrift calls in the connections of a capture: packets in, calls out, each with its answer.
//!
//! It is pure, as [`tcp`](crate::tcp) is. Messages are found by their headers, on any port, framed, in the frames of THeader or
//! neither, in Binary (strict) and Compact, and found again after a gap. A [`Call`] is a request with its answer: method, outcome, latency,
//! sizes, and with [`RpcOptions::keeps_messages`] the structs, which a [`Methods`] reads by a schema. A [`CallSummary`] adds
//! calls up by method.
//!
//! Other protocols give no calls: a header has many fixed bits, its name is an identifier, and the struct after it is
//! parsed to its end before a connection counts as Thrift. Binary without a version has no such header and is not
//! recognised, nor is Thrift in HTTP or TLS.

mod call;
mod call_structs;
mod conversation;
mod deflated;
mod field;
mod header;
mod ledger;
mod message;
mod messages;
mod methods;
mod summary;
mod waiting;

pub use crate::query::Histogram;
pub use call::{Call, Framing, Outcome, Protocol};
pub use call_structs::CallStructs;
pub use conversation::{Rpc, RpcOptions};
pub use field::{CallColumn, CallField, CarriedField, MethodField};
pub use ledger::ByteCounts;
pub use methods::Methods;
pub use summary::{CallSummary, MethodSummary};
