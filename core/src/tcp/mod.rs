//! TCP segments put in order: packets in, the bytes of both directions of each connection out.
//!
//! It is pure: no I/O, no clock. Missing bytes are reported as a gap with its length, and the bytes after it follow. If
//! bytes come twice, the first copy counts. A connection may begin anywhere: its SYN may be missing. Times are those of
//! the capture, so the same packets give the same bytes on every run. It does not verify checksums and does not
//! reassemble IP fragments: the first fragment of a segment gives its bytes, and the rest is a gap.

mod connection;
mod eviction_queue;
mod reassembler;
mod stream;

pub use connection::{Connection, Side};
pub(crate) use eviction_queue::{ConnectionId, EvictionQueue};
pub use reassembler::{Event, Reassembler, TcpOptions};
