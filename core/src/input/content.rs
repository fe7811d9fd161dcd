//! The identity of a capture's content, so that the same packets are recognised again.

use xxhash_rust::xxh3::Xxh3;

use super::CaptureReader;
use crate::packet::Packet;

/// A fingerprint of a capture: times, lengths and bytes of its packets in order. It does not depend
/// on file name, compression or capture format. It is XXH3 with 128 bits: good against chance, not
/// against somebody who makes two captures collide on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentId(pub [u8; 16]);

/// Builds a [`ContentId`] packet by packet.
pub(crate) struct ContentHasher(Xxh3);

impl ContentHasher {
    /// A hasher for the packets that `reader` lets through, with or without inner headers: another choice is another
    /// content.
    pub(crate) fn of(reader: &CaptureReader) -> Self {
        let mut hash = Xxh3::new();
        hash.update(&[u8::from(reader.decode_options().inner)]);
        hash.update(reader.selection().unwrap_or_default().as_bytes());
        ContentHasher(hash)
    }

    pub(crate) fn update(&mut self, packet: &Packet, captured: &[u8]) {
        let mut header = [0; 16];
        header[..8].copy_from_slice(&packet.ts().unwrap_or(i64::MIN).to_le_bytes());
        header[8..12].copy_from_slice(&packet.length().to_le_bytes());
        header[12..].copy_from_slice(&packet.caplen().to_le_bytes());
        self.0.update(&header);
        self.0.update(captured);
    }

    pub(crate) fn finish(&self) -> ContentId {
        ContentId(self.0.digest128().to_be_bytes())
    }
}

impl std::fmt::Display for ContentId {
    /// The fingerprint in hexadecimal.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
