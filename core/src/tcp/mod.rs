//! TCP segments put in order: packets in, the bytes of both directions of each connection out.
//!
//! It is pure: no I/O, no clock. What is missing is told as a gap with its length, and what comes behind it is
//! given all the same. Of bytes that come twice the first copy counts. A connection may begin anywhere: a
//! capture need not have its SYN. Times are those of the capture, so that the same packets give the same
//! bytes on every run. It checks no checksums and does not put IP fragments together: the first fragment of a
//! segment gives its bytes, and the rest of it is a gap.

mod connection;
mod eviction_queue;
mod reassembler;
mod stream;

pub use connection::{Connection, Side};
pub(crate) use eviction_queue::{ConnectionId, EvictionQueue};
pub use reassembler::{Event, Reassembler, TcpOptions};
