//! Who talks to whom in one connection.

use std::net::SocketAddr;

use super::eviction_queue::ConnectionId;

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Who opened the connection; without a SYN in the capture, who sent the first packet seen.
    Initiator,
    /// The other one.
    Responder,
}

impl Side {
    /// The other end.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Initiator => Side::Responder,
            Side::Responder => Side::Initiator,
        }
    }
}

/// Identity of a connection: its number and its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// Counted from 1 in the order of first packets.
    pub number: u64,
    /// The end that opened it.
    pub initiator: SocketAddr,
    /// The end that was called.
    pub responder: SocketAddr,
    /// Slot of the reassembler that keeps it.
    pub(super) slot: usize,
}

impl Connection {
    /// Returns the id by which the reassembler finds it again.
    pub(crate) fn id(&self) -> ConnectionId {
        ConnectionId { slot: self.slot, number: self.number }
    }

    /// Address and port of one end.
    pub fn address(&self, side: Side) -> SocketAddr {
        match side {
            Side::Initiator => self.initiator,
            Side::Responder => self.responder,
        }
    }
}
