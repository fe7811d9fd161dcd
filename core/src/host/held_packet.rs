//! The packet that an object of a host stands for.

use std::sync::Arc;

use crate::batch::Value;
use crate::input::FrameBatch;
use crate::packet::{Field, Frame, KeptFrame, Packet};

/// A packet in a batch, or in a copy of its own. A host may move one over all packets of a pass, so that it makes one
/// object for all.
#[derive(Debug, Clone, Default)]
pub enum HeldPacket {
    /// None: a packet without fields and bytes.
    #[default]
    Nowhere,
    /// The packet at an index of a batch.
    InBatch(Arc<FrameBatch>, usize),
    /// A copy, with the bytes that were captured.
    Own(Arc<KeptFrame>),
}

impl HeldPacket {
    /// The first packet of `batch`.
    pub fn first_of(batch: FrameBatch) -> Self {
        HeldPacket::InBatch(Arc::new(batch), 0)
    }

    /// Moves to the packet at `index` of its batch.
    #[inline]
    pub fn point(&mut self, index: usize) {
        if let HeldPacket::InBatch(_, at) = self {
            *at = index;
        }
    }

    /// Its fields.
    #[inline]
    pub fn packet(&self) -> Option<&Packet> {
        match self {
            HeldPacket::Nowhere => None,
            HeldPacket::InBatch(batch, index) => batch.packet(*index),
            HeldPacket::Own(kept) => Some(kept.packet()),
        }
    }

    /// The packet with its bytes, for the fields that are read from them.
    pub fn frame(&self) -> Option<Frame<'_>> {
        match self {
            HeldPacket::Nowhere => None,
            HeldPacket::InBatch(batch, index) => batch.frame(*index),
            HeldPacket::Own(kept) => Some(kept.frame()),
        }
    }

    /// The value of a field that packets hold; of others see [`HeldPacket::frame`].
    #[inline]
    pub fn value(&self, field: Field) -> Value<'static> {
        self.packet().map_or(Value::Null, |packet| packet.value(field))
    }

    /// The bytes that were captured.
    pub fn captured(&self) -> &[u8] {
        match self {
            HeldPacket::Nowhere => &[],
            HeldPacket::InBatch(batch, index) => batch.captured(*index).unwrap_or_default(),
            HeldPacket::Own(kept) => kept.captured(),
        }
    }

    /// The captured bytes behind the transport header.
    pub fn payload(&self) -> Option<&[u8]> {
        self.captured().get(self.packet()?.payload_range()?)
    }

    /// A copy that needs no batch.
    pub fn to_own(&self) -> Self {
        match self {
            HeldPacket::Own(kept) => HeldPacket::Own(Arc::clone(kept)),
            other => other
                .frame()
                .map_or(HeldPacket::Nowhere, |frame| HeldPacket::Own(Arc::new(frame.to_kept()))),
        }
    }

    /// Gives up its batch, if nobody else holds it.
    pub fn into_batch(self) -> Option<FrameBatch> {
        match self {
            HeldPacket::InBatch(batch, _) => Arc::try_unwrap(batch).ok(),
            HeldPacket::Nowhere | HeldPacket::Own(..) => None,
        }
    }

    /// Bytes of memory that a copy takes; a batch belongs to its pass.
    pub fn memory_bytes(&self) -> usize {
        match self {
            HeldPacket::Own(kept) => size_of::<KeptFrame>() + kept.captured().len(),
            HeldPacket::Nowhere | HeldPacket::InBatch(..) => 0,
        }
    }
}

impl PartialEq for HeldPacket {
    /// Returns true if fields, captured bytes and interface are equal.
    fn eq(&self, other: &Self) -> bool {
        self.frame() == other.frame()
    }
}
