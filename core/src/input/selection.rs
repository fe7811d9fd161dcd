//! Selection of the records of a capture that are read, and their packets.

use std::collections::HashMap;

use super::records::decode;
use super::{CaptureOptions, Filter};
use crate::Result;
use crate::capture::{Interface, Record};
use crate::packet::{DecodeOptions, FlowKey, FlowSelector, Packet};

/// Conversations that are remembered, so that most packets need no hash of theirs.
const KNOWN_MAX: usize = 1 << 16;

/// Conditions that records have to match. Clones are for other threads that read the same capture.
#[derive(Clone)]
pub(super) struct RecordSelection {
    filter: Option<Filter>,
    flow: Option<SelectedFlow>,
}

/// The conversation that packets have to belong to.
#[derive(Clone)]
struct SelectedFlow {
    selector: FlowSelector,
    /// Decoded here, because the caller may have no place for it.
    packet: Packet,
    known: HashMap<FlowKey, bool>,
}

impl RecordSelection {
    /// Returns the selection that `options` ask for; `None` if that is every record.
    ///
    /// # Errors
    /// Those of [`Filter::new`].
    pub(super) fn new(options: &CaptureOptions) -> Result<Option<Self>> {
        if options.filter.is_none() && options.flow.is_none() {
            return Ok(None);
        }
        let filter = options.filter.as_deref().map(Filter::new).transpose()?;
        let flow = options.flow.clone().map(|selector| SelectedFlow {
            selector,
            packet: Packet::default(),
            known: HashMap::new(),
        });
        Ok(Some(RecordSelection { filter, flow }))
    }

    /// Returns true if a libpcap expression selects.
    pub(super) fn has_filter(&self) -> bool {
        self.filter.is_some()
    }

    /// The end of the capture, which has these interfaces.
    ///
    /// # Errors
    /// Those of [`Filter::end`].
    pub(super) fn end(&self, interfaces: &[Interface]) -> Result<()> {
        self.filter.as_ref().map_or(Ok(()), |filter| filter.end(interfaces))
    }

    /// Decodes the record into its place, if it is one that the caller wants; says whether it is.
    fn decode<'p>(
        &mut self,
        record: &Record<'_>,
        number: u64,
        options: DecodeOptions,
        slot: impl FnOnce() -> &'p mut Packet,
    ) -> bool {
        if let Some(filter) = &mut self.filter
            && !filter.matches(record, number)
        {
            return false;
        }
        match &mut self.flow {
            None => decode(record, number, options, slot()),
            Some(flow) => {
                decode(record, number, options, &mut flow.packet);
                if !flow.has_packet() {
                    return false;
                }
                *slot() = flow.packet;
            }
        }
        true
    }
}

/// Decodes a record into its place, if it is one that `selection`, where there is one, asks for; says whether it is.
#[inline(always)]
pub(super) fn decode_selected<'p>(
    selection: Option<&mut RecordSelection>,
    record: &Record<'_>,
    number: u64,
    options: DecodeOptions,
    slot: impl FnOnce() -> &'p mut Packet,
) -> bool {
    match selection {
        Some(selection) => selection.decode(record, number, options, slot),
        None => {
            decode(record, number, options, slot());
            true
        }
    }
}

impl SelectedFlow {
    /// Returns true if the packet that was decoded last belongs to it.
    fn has_packet(&mut self) -> bool {
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
