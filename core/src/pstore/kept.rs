//! Data kept of a file between transactions: its bytes, once, and the index of its roots.

use crate::marshal::{Hooks, NotIndexable, RootStream};

/// Dump of an empty table.
pub(super) const EMPTY_TABLE: [u8; 4] = [4, 8, b'{', 0];

#[derive(Debug, Default)]
pub(super) enum KeptBytes {
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

impl KeptBytes {
    pub(super) fn new(bytes: Vec<u8>) -> KeptBytes {
        if bytes.is_empty() { KeptBytes::Empty } else { KeptBytes::Unscanned(bytes) }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            KeptBytes::Empty => &[],
            KeptBytes::Roots(stream) => stream.bytes(),
            KeptBytes::Refused { bytes, .. } | KeptBytes::Unscanned(bytes) => bytes,
        }
    }

    /// The bytes, of which nothing is kept then.
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        match std::mem::take(self) {
            KeptBytes::Empty => Vec::new(),
            KeptBytes::Roots(stream) => stream.into_bytes(),
            KeptBytes::Refused { bytes, .. } | KeptBytes::Unscanned(bytes) => bytes,
        }
    }

    pub(super) fn is_scanned(&self) -> bool {
        !matches!(self, KeptBytes::Unscanned(_))
    }

    /// Finds the roots, if nobody has looked for them.
    pub(super) fn scan(&mut self, hooks: Hooks) {
        if self.is_scanned() {
            return;
        }
        *self = match RootStream::scan(self.take_bytes(), hooks) {
            Ok(stream) => KeptBytes::Roots(Box::new(stream)),
            Err(refused) => KeptBytes::Refused { bytes: refused.stream, why: refused.why },
        };
    }
}
