//! Which records of a capture are read, before their packets are anybody's.

use std::collections::HashMap;

use super::records::decode;
use super::{CaptureOptions, Filter};
use crate::Result;
use crate::capture::Record;
use crate::packet::{DecodeOptions, FlowKey, FlowSelector, Packet};

/// Conversations that are remembered, so that most packets need no hash of theirs.
const KNOWN_MAX: usize = 1 << 16;

/// What records have to match.
pub(super) struct Selection {
    filter: Option<Filter>,
    flow: Option<Flow>,
}

/// The conversation that packets have to belong to.
struct Flow {
    selector: FlowSelector,
    decode: DecodeOptions,
    packet: Packet,
    known: HashMap<FlowKey, bool>,
}

impl Selection {
    /// What `options` ask for; nothing where that is every record.
    ///
    /// # Errors
    /// Those of [`Filter::new`].
    pub(super) fn new(options: &CaptureOptions) -> Result<Option<Self>> {
        if options.filter.is_none() && options.flow.is_none() {
            return Ok(None);
        }
        let filter = options.filter.as_deref().map(Filter::new).transpose()?;
        let flow = options.flow.clone().map(|selector| Flow {
            selector,
            decode: options.decode,
            packet: Packet::default(),
            known: HashMap::new(),
        });
        Ok(Some(Selection { filter, flow }))
    }

    /// Whether the record is one that the caller wants.
    ///
    /// # Errors
    /// Those of [`Filter::matches`].
    #[inline]
    pub(super) fn matches(&mut self, record: &Record<'_>) -> Result<bool> {
        if let Some(filter) = &mut self.filter
            && !filter.matches(record)?
        {
            return Ok(false);
        }
        Ok(self.flow.as_mut().is_none_or(|flow| flow.matches(record)))
    }
}

impl Flow {
    fn matches(&mut self, record: &Record<'_>) -> bool {
        decode(record, 0, self.decode, &mut self.packet);
        let Some(key) = FlowKey::of(&self.packet) else { return false };
        if let Some(is_it) = self.known.get(&key) {
            return *is_it;
        }
        if self.known.len() == KNOWN_MAX {
            self.known.clear();
        }
        let is_it = self.selector.is_of(&key);
        self.known.insert(key, is_it);
        is_it
    }
}
