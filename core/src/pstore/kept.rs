//! Data kept of a file between transactions: its bytes, once, and the index of its roots.

use crate::marshal::{Hooks, NotIndexable, RootStream};

/// Dump of an empty table.
pub(super) const EMPTY_TABLE: [u8; 4] = [4, 8, b'{', 0];

#[derive(Debug, Default)]
pub(super) enum Kept {
    /// No bytes: the file is empty, or missing, or nothing is known of it.
    #[default]
    Empty,
    /// Bytes in which the roots are known.
    Roots(Box<RootStream>),
    /// Bytes that are handled as a whole.
    Refused { bytes: Vec<u8>, why: NotIndexable },
    /// Bytes that nobody has looked into.
    Unscanned(Vec<u8>),
}

impl Kept {
    pub(super) fn new(bytes: Vec<u8>) -> Kept {
        if bytes.is_empty() { Kept::Empty } else { Kept::Unscanned(bytes) }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Kept::Empty => &[],
            Kept::Roots(stream) => stream.bytes(),
            Kept::Refused { bytes, .. } | Kept::Unscanned(bytes) => bytes,
        }
    }

    /// The bytes, of which nothing is kept then.
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        match std::mem::take(self) {
            Kept::Empty => Vec::new(),
            Kept::Roots(stream) => stream.into_bytes(),
            Kept::Refused { bytes, .. } | Kept::Unscanned(bytes) => bytes,
        }
    }

    pub(super) fn is_scanned(&self) -> bool {
        !matches!(self, Kept::Unscanned(_))
    }

    /// Finds the roots, if nobody has looked for them.
    pub(super) fn scan(&mut self, hooks: Hooks) {
        if self.is_scanned() {
            return;
        }
        *self = match RootStream::scan(self.take_bytes(), hooks) {
            Ok(stream) => Kept::Roots(Box::new(stream)),
            Err(refused) => Kept::Refused { bytes: refused.stream, why: refused.why },
        };
    }
}
