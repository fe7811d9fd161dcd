//! Flows in an ordered table, usually a file: they add up over captures, and no capture is counted twice.
//!
//! The bytes of keys and values are drawn in `docs/flow-table.md`.

use std::net::IpAddr;
use std::ops::Bound;
use std::path::Path;
use std::time::Duration;

use super::capture_ledger::{Count, CountedCapture, CountedTable, StoreKind};
use crate::error::{Error, Result};
use crate::flow::{DirectionSums, Flow, TimeSpan};
use crate::packet::FlowKey;
use crate::table::{KeyRange, OrderedTable, Scan};
use crate::wire::{Endian::Little, Reader};

/// Kinds of entries: the first bytes of their keys.
pub(super) mod kind {
    pub(in crate::sums) const V4_FLOW: u8 = 4;
    pub(in crate::sums) const V6_FLOW: u8 = 6;
}

pub(super) const STORE_KIND: StoreKind = StoreKind {
    format: "bytewright.flows.1",
    format_of_any_version: "bytewright.flows.",
    entry: "flow",
    page: "docs/flow-table.md",
};

/// The first byte of the value of a flow.
const VALUE_VERSION: u8 = 1;

/// Flows merged at a time: in the order of their keys, neighbours share pages.
const BATCH_LEN: usize = 8192;

/// Flows of many captures in one ordered table.
///
/// Threads may share it. What is read while a capture is being counted is what was there before.
#[derive(Debug)]
pub struct FlowStore(CountedTable);

/// Result of merging a capture's flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// They are in the table, and on disk.
    Added {
        /// Flows of the capture.
        flows: u64,
        /// Those of them whose key was not in the table.
        new_flows: u64,
    },
    /// Capture of the same content that was counted before; the table was left as it was.
    AlreadyCounted(CountedCapture),
}

impl FlowStore {
    /// Opens the flow table in the file at `path`, and makes it where it is missing.
    pub fn open(path: impl AsRef<Path>) -> Result<FlowStore> {
        CountedTable::open(path.as_ref(), Duration::ZERO, &STORE_KIND).map(FlowStore)
    }

    /// Opens the flow table in the file at `path`. Where it is missing or empty, the first
    /// capture that is counted makes it.
    pub fn open_to_count(path: impl AsRef<Path>) -> Result<FlowStore> {
        Self::open_to_count_within(path, Duration::ZERO)
    }

    /// Opens it to count, and waits up to `timeout` for another process that writes the file.
    pub fn open_to_count_within(path: impl AsRef<Path>, timeout: Duration) -> Result<FlowStore> {
        CountedTable::open_to_count(path.as_ref(), timeout, &STORE_KIND).map(FlowStore)
    }

    /// Opens the flow table in the file at `path` to read it, beside others who do.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<FlowStore> {
        CountedTable::open_read_only(path.as_ref(), &STORE_KIND).map(FlowStore)
    }

    /// The flow table that `table`, which errors call `name`, holds; an empty table becomes one.
    pub fn new(table: Box<dyn OrderedTable>, name: &str) -> Result<FlowStore> {
        CountedTable::of(table, name, false, &STORE_KIND).map(FlowStore)
    }

    /// Begins to count a capture. It waits for one that another thread counts; of this thread,
    /// [`ErrorKind::Lock`](crate::ErrorKind::Lock).
    pub fn begin(&self) -> Result<CaptureCount<'_>> {
        let count = self.0.begin()?;
        Ok(CaptureCount { count, batch: Vec::new(), flows: 0, new_flows: 0 })
    }

    /// Adds the flows of another table, all of its captures in one transaction. Where they all were counted before, nothing
    /// changes.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) where some of its captures were counted before and others were
    /// not: their sums cannot be told apart.
    pub fn merge(&self, other: &FlowStore) -> Result<Merged> {
        self.merge_checked(other, || Ok(()))
    }

    /// Merges, and calls `check` for every few thousand flows. An error from it ends the merge, and nothing changes.
    ///
    /// # Errors
    /// Returns the errors of [`FlowStore::merge`] and of `check`.
    pub fn merge_checked(
        &self,
        other: &FlowStore,
        mut check: impl FnMut() -> Result<()>,
    ) -> Result<Merged> {
        let (captures, mut counting) = (other.captures()?, self.begin()?);
        if let Some(counted) = self.0.held(&captures)? {
            return Ok(Merged::AlreadyCounted(counted));
        }
        for (number, flow) in other.flows()?.enumerate() {
            if number % BATCH_LEN == 0 {
                check()?;
            }
            counting.merge([flow?])?;
        }
        counting.commit_all(&captures)
    }

    /// The capture with that content, if it was counted.
    pub fn capture(&self, content_id: &[u8]) -> Result<Option<CountedCapture>> {
        self.0.capture(content_id)
    }

    /// The captures that were counted, in the order of their content ids.
    pub fn captures(&self) -> Result<Vec<CountedCapture>> {
        self.0.captures()
    }

    /// The flow of `key`, if there is one.
    pub fn get(&self, key: &FlowKey) -> Result<Option<Flow>> {
        let encoded = encode_key(key);
        let Some(value) = self.0.value(encoded.bytes())? else { return Ok(None) };
        let flow = decode_flow(encoded.bytes(), &value);
        flow.map(Some).ok_or_else(|| self.0.damaged_entry())
    }

    /// The flows in the order of their keys: IPv4 first, by addresses, protocol and ports.
    pub fn flows(&self) -> Result<StoredFlows> {
        let range = KeyRange {
            from: Bound::Included(vec![kind::V4_FLOW]),
            to: Bound::Excluded(vec![kind::V6_FLOW + 1]),
            reverse: false,
        };
        Ok(StoredFlows { entries: self.scan(&range)?, damaged: self.0.damaged_entry() })
    }

    /// The entries of a range, as the table has them.
    pub(super) fn scan(&self, range: &KeyRange) -> Result<Box<dyn Scan>> {
        self.0.read(|table| table.scan_range(range))
    }

    /// Number of flows.
    pub fn len(&self) -> Result<u64> {
        self.0.len()
    }

    /// Returns true if there is no flow.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// A capture being counted. Dropped without a commit, it leaves the table as it was.
pub struct CaptureCount<'store> {
    count: Count<'store>,
    batch: Vec<(EncodedKey, Flow)>,
    flows: u64,
    new_flows: u64,
}

impl CaptureCount<'_> {
    /// Merges flows of the capture into the table.
    pub fn merge(&mut self, flows: impl IntoIterator<Item = Flow>) -> Result<()> {
        for flow in flows {
            self.batch.push((encode_key(&flow.key), flow));
            if self.batch.len() >= BATCH_LEN {
                self.write_batch()?;
            }
        }
        Ok(())
    }

    fn write_batch(&mut self) -> Result<()> {
        let CaptureCount { count, batch, flows, new_flows } = self;
        let store = count.table();
        count.change(|table| write_batch(batch, flows, new_flows, table, store))
    }

    /// Ends the capture, whose content is known by now. Its flows are on disk when it returns, unless
    /// that content was counted before: then nothing changes.
    ///
    /// `content_id`, from 8 to 64 bytes, is the same for the same packets wherever they come from;
    /// `packets` is how many there were, where that is known.
    pub fn commit(self, content_id: &[u8], name: &str, packets: Option<u64>) -> Result<Merged> {
        let CaptureCount { count, mut batch, mut flows, mut new_flows } = self;
        let store = count.table();
        let counted = count.commit(content_id, name, packets, |table| {
            write_batch(&mut batch, &mut flows, &mut new_flows, table, store)
        })?;
        Ok(match counted {
            Some(counted) => Merged::AlreadyCounted(counted),
            None => Merged::Added { flows, new_flows },
        })
    }
}

impl CaptureCount<'_> {
    /// Ends with all captures of another table.
    fn commit_all(self, captures: &[CountedCapture]) -> Result<Merged> {
        let CaptureCount { count, mut batch, mut flows, mut new_flows } = self;
        let store = count.table();
        count.commit_all(captures, |table| {
            write_batch(&mut batch, &mut flows, &mut new_flows, table, store)
        })?;
        Ok(Merged::Added { flows, new_flows })
    }
}

/// Merges the flows of a batch, and counts them.
fn write_batch(
    batch: &mut Vec<(EncodedKey, Flow)>,
    flows: &mut u64,
    new_flows: &mut u64,
    table: &mut dyn OrderedTable,
    store: &CountedTable,
) -> Result<()> {
    // Stable, so that flows of one key merge in the order in which they came.
    batch.sort_by_key(|(key, _)| *key);
    for (key, flow) in batch.drain(..) {
        *flows += 1;
        *new_flows += u64::from(merge_flow(table, store, &key, flow)?);
    }
    Ok(())
}

/// Adds `flow` to what the table has of it; says whether that was nothing.
fn merge_flow(
    table: &mut dyn OrderedTable,
    store: &CountedTable,
    key: &EncodedKey,
    flow: Flow,
) -> Result<bool> {
    let Some(value) = table.get(key.bytes())? else {
        table.put(key.bytes(), &encode_flow(&flow))?;
        return Ok(true);
    };
    let stored = decode_flow(key.bytes(), &value).ok_or_else(|| store.damaged_entry())?;
    table.put(key.bytes(), &encode_flow(&merged(&stored, &flow)))?;
    Ok(false)
}

/// The sum of two flows of one key. Who began it is told by the one that began earlier.
pub(super) fn merged(stored: &Flow, added: &Flow) -> Flow {
    let direction = |end: usize| DirectionSums {
        packets: stored.directions[end].packets.saturating_add(added.directions[end].packets),
        bytes: stored.directions[end].bytes.saturating_add(added.directions[end].bytes),
        tcp_flags: stored.directions[end].tcp_flags | added.directions[end].tcp_flags,
    };
    let (initiator, span) = match (stored.span, added.span) {
        (Some(stored_span), Some(added_span)) => {
            let earlier = if added_span.first < stored_span.first { added } else { stored };
            let first = stored_span.first.min(added_span.first);
            (
                earlier.initiator,
                Some(TimeSpan { first, last: stored_span.last.max(added_span.last) }),
            )
        }
        (None, Some(span)) => (added.initiator, Some(span)),
        (span, None) => (stored.initiator, span),
    };
    let directions = [direction(0), direction(1)];
    Flow { key: stored.key, directions, initiator, span, features: None }
}

/// Flows of a table in the order of their keys.
pub struct StoredFlows {
    entries: Box<dyn Scan>,
    /// Error for a damaged entry.
    damaged: Error,
}

impl Iterator for StoredFlows {
    type Item = Result<Flow>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entries.advance().transpose()?;
        Some(
            entry.and_then(|(key, value)| {
                decode_flow(key, value).ok_or_else(|| self.damaged.clone())
            }),
        )
    }
}

/// Bytes of the longest key.
const KEY_LEN_MAX: usize = 39;

/// The key of a flow as the table keeps it, with zeros up to a fixed length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EncodedKey {
    bytes: [u8; KEY_LEN_MAX],
    pub(super) len: u8,
}

impl EncodedKey {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn push(&mut self, bytes: &[u8]) {
        let start = usize::from(self.len);
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len() as u8;
    }
}

pub(super) fn encode_key(key: &FlowKey) -> EncodedKey {
    let mut encoded = EncodedKey { bytes: [0; KEY_LEN_MAX], len: 0 };
    encoded.push(&[if key.addresses[0].is_ipv4() { kind::V4_FLOW } else { kind::V6_FLOW }]);
    for address in key.addresses {
        match address {
            IpAddr::V4(address) => encoded.push(&address.octets()),
            IpAddr::V6(address) => encoded.push(&address.octets()),
        }
    }
    encoded.push(&[key.proto, key.ports.is_some().into()]);
    for port in key.ports.unwrap_or_default() {
        encoded.push(&port.to_be_bytes());
    }
    encoded
}

fn decode_key(bytes: &[u8]) -> Option<FlowKey> {
    let mut bytes = Reader::new(bytes);
    let addresses = match bytes.u8()? {
        kind::V4_FLOW => [bytes.array::<4>()?.into(), bytes.array::<4>()?.into()],
        kind::V6_FLOW => [bytes.array::<16>()?.into(), bytes.array::<16>()?.into()],
        _ => return None,
    };
    let proto = bytes.u8()?;
    let has_ports = bytes.u8()?;
    let ports = [bytes.array()?, bytes.array()?].map(u16::from_be_bytes);
    let ports = match has_ports {
        0 if ports == [0, 0] => None,
        1 => Some(ports),
        _ => return None,
    };
    (bytes.remaining() == 0).then_some(FlowKey { addresses, ports, proto })
}

/// Bytes of a flow's value.
const FLOW_LEN: usize = 54;

/// The bits of a flow's second byte.
const INITIATOR: u8 = 1;
const HAS_TIMES: u8 = 2;

pub(super) fn encode_flow(flow: &Flow) -> Vec<u8> {
    let span = flow.span.unwrap_or(TimeSpan { first: 0, last: 0 });
    let has_times = if flow.span.is_some() { HAS_TIMES } else { 0 };
    let mut value = Vec::with_capacity(FLOW_LEN);
    value.extend([VALUE_VERSION, flow.initiator & INITIATOR | has_times]);
    value.extend(flow.directions.iter().flat_map(|direction| direction.tcp_flags.to_le_bytes()));
    value.extend(flow.directions.iter().flat_map(|direction| direction.packets.to_le_bytes()));
    value.extend(flow.directions.iter().flat_map(|direction| direction.bytes.to_le_bytes()));
    value.extend([span.first, span.last].iter().flat_map(|time| time.to_le_bytes()));
    debug_assert_eq!(value.len(), FLOW_LEN);
    value
}

pub(super) fn decode_flow(key: &[u8], value: &[u8]) -> Option<Flow> {
    let key = decode_key(key)?;
    let mut value = Reader::new(value);
    if value.u8()? != VALUE_VERSION {
        return None;
    }
    let bits = value.u8()?;
    let tcp_flags = [value.u16(Little)?, value.u16(Little)?];
    let packets = [value.u64(Little)?, value.u64(Little)?];
    let bytes = [value.u64(Little)?, value.u64(Little)?];
    let [first, last] = [value.array()?, value.array()?].map(i64::from_le_bytes);
    let direction = |end: usize| DirectionSums {
        packets: packets[end],
        bytes: bytes[end],
        tcp_flags: tcp_flags[end],
    };
    let flow = Flow {
        key,
        directions: [direction(0), direction(1)],
        initiator: bits & INITIATOR,
        span: (bits & HAS_TIMES != 0).then_some(TimeSpan { first, last }),
        features: None,
    };
    (value.remaining() == 0 && bits <= INITIATOR | HAS_TIMES).then_some(flow)
}
