//! The bytes of a value, to keep without a copy where the table can.

use crate::heap::Pin;

/// A value's bytes. They stay what they are for as long as this lives, whatever becomes of the entry
/// and of the table.
#[derive(Debug, Clone)]
pub struct View(ViewBytes);

#[derive(Debug, Clone)]
enum ViewBytes {
    /// Bytes in the memory of the table.
    Pinned(Pin),
    Copied(Vec<u8>),
}

impl View {
    /// Bytes that the table moves, or that are not in memory: a copy.
    pub fn copied(bytes: Vec<u8>) -> View {
        View(ViewBytes::Copied(bytes))
    }

    /// Returns true if the bytes are a copy of the table's.
    pub fn is_copy(&self) -> bool {
        matches!(self.0, ViewBytes::Copied(_))
    }
}

impl From<Pin> for View {
    fn from(pin: Pin) -> View {
        View(ViewBytes::Pinned(pin))
    }
}

impl AsRef<[u8]> for View {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            ViewBytes::Pinned(pin) => pin.as_ref(),
            ViewBytes::Copied(bytes) => bytes,
        }
    }
}
