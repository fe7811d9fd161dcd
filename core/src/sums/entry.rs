//! Entries of flow tables outside of a table, for engines that sort entries of many captures and hand them around. They
//! are merged by the rules of [`FlowStore`](super::FlowStore).

use std::collections::HashSet;

use super::capture_ledger::{self, CountedCapture};
use super::feature_bytes::{decode_features, encode_features};
use super::flow_store::{STORE_KIND, decode_flow, encode_flow, encode_key, kind, merged};
use crate::error::{Error, ErrorKind, Result};
use crate::flow::Flow;

/// An entry of a flow table, as `docs/flow-table.md` draws it.
#[derive(Debug, Clone)]
pub enum FlowEntry {
    /// Mark of a table that holds flows.
    Format,
    /// Sums of the flows of a key.
    Flow(Flow),
    /// A capture that was counted.
    Capture(CountedCapture),
}

impl FlowEntry {
    /// The entry in these bytes.
    ///
    /// # Errors
    /// `Corrupt` where they are not an entry.
    pub fn decode(key: &[u8], value: &[u8]) -> Result<Self> {
        let entry = match key.first() {
            Some(&capture_ledger::FORMAT_KEY)
                if (key.len(), value) == (1, STORE_KIND.format.as_bytes()) =>
            {
                Some(FlowEntry::Format)
            }
            Some(&(kind::V4_FLOW | kind::V6_FLOW)) => decode_flow(key, value).map(FlowEntry::Flow),
            Some(&capture_ledger::CAPTURE_KEY) => {
                capture_ledger::decode_capture(&key[1..], value).map(FlowEntry::Capture)
            }
            _ => None,
        };
        entry.ok_or_else(|| STORE_KIND.damaged(STORE_KIND.entry))
    }

    /// The bytes of its key and of its value.
    pub fn encode(&self) -> (Vec<u8>, Vec<u8>) {
        match self {
            FlowEntry::Format => {
                (vec![capture_ledger::FORMAT_KEY], STORE_KIND.format.as_bytes().to_vec())
            }
            FlowEntry::Flow(flow) => (encode_key(&flow.key).bytes().to_vec(), encode_flow(flow)),
            FlowEntry::Capture(capture) => (
                [&[capture_ledger::CAPTURE_KEY], &capture.content_id[..]].concat(),
                capture_ledger::encode_capture(&capture.name, capture.packets),
            ),
        }
    }

    /// The bytes of a flow by itself, of which [`FlowEntry::flow_of_bytes`] makes an equal one.
    pub fn flow_to_bytes(flow: &Flow) -> Vec<u8> {
        let (key, value) = (encode_key(&flow.key), encode_flow(flow));
        let mut bytes = [&[key.len, value.len() as u8], key.bytes(), &value].concat();
        if let Some(features) = &flow.features {
            encode_features(features, &mut bytes);
        }
        bytes
    }

    /// The flow of these bytes; none if they are others than [`FlowEntry::flow_to_bytes`] gives.
    pub fn flow_of_bytes(bytes: &[u8]) -> Option<Flow> {
        let (&[key_len, value_len], entry) = bytes.split_first_chunk()?;
        let (key, entry) = entry.split_at_checked(key_len.into())?;
        let (value, features) = entry.split_at_checked(value_len.into())?;
        let flow = decode_flow(key, value)?;
        if features.is_empty() {
            return Some(flow);
        }
        decode_features(features).map(|features| flow.with_features(features))
    }

    /// Returns the merged entry of both, which have the same key and were counted in this order.
    fn merged(self, later: FlowEntry) -> FlowEntry {
        match (self, later) {
            (FlowEntry::Flow(stored), FlowEntry::Flow(added)) => {
                FlowEntry::Flow(merged(&stored, &added))
            }
            (first, _) => first,
        }
    }
}

/// Merges entries of the flow tables of single captures. They come in the order of their keys, those of one key in the order
/// in which the captures are counted. The result is what [`FlowStore`](super::FlowStore) would have of these captures.
#[derive(Debug, Default)]
pub struct EntryMerge {
    key: Vec<u8>,
    entry: Option<FlowEntry>,
    /// The captures that have an entry of this key: the same content again is not counted.
    counted: HashSet<Vec<u8>>,
}

impl EntryMerge {
    /// Adds an entry of the capture with that content; answers the entry before it, where nothing can be added to that any
    /// more.
    ///
    /// # Errors
    /// `Corrupt` where it is no entry, `Argument` where its key should have come before.
    pub fn add(
        &mut self,
        content_id: &[u8],
        key: &[u8],
        value: &[u8],
    ) -> Result<Option<FlowEntry>> {
        let added = FlowEntry::decode(key, value)?;
        if self.entry.is_some() && key < self.key.as_slice() {
            let message = "expected entries in the order of their keys, found a smaller key after a larger one";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        let is_new = key != self.key.as_slice();
        let before = if is_new { self.finish() } else { None };
        if is_new {
            self.key.clear();
            self.key.extend_from_slice(key);
        }
        if self.counted.insert(content_id.to_vec()) {
            self.entry = Some(match self.entry.take() {
                Some(stored) => stored.merged(added),
                None => added,
            });
        }
        Ok(before)
    }

    /// The last entry.
    pub fn finish(&mut self) -> Option<FlowEntry> {
        self.counted.clear();
        self.entry.take()
    }
}
