//! Flows in an ordered table, usually a file: they add up over captures, and no capture is counted twice.
//!
//! The bytes of keys and values are drawn in `docs/flow-table.md`.

use std::net::IpAddr;
use std::ops::Bound;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use super::key::FlowKey;
use super::record::{Flow, Span, Way};
use crate::error::{Error, ErrorKind, Result};
use crate::table::file::{OpenOptions, TreeTable};
use crate::table::{KeyRange, OrderedSnapshot, OrderedTable, Scan};
use crate::wire::{Endian::Little, Reader};

/// What an entry is about: the first byte of its key.
mod kind {
    pub(super) const FORMAT: u8 = 0;
    pub(super) const V4_FLOW: u8 = 4;
    pub(super) const V6_FLOW: u8 = 6;
    pub(super) const CAPTURE: u8 = 0xc0;
}

/// The value of the entry that says that the table holds flows.
const FORMAT: &[u8] = b"bytewright.flows.1";
const FORMAT_OF_ANY_VERSION: &[u8] = b"bytewright.flows.";

/// The first byte of the value of a flow and of a capture.
const VALUE_VERSION: u8 = 1;

/// Flows merged at a time: in the order of their keys, neighbours share pages.
const BATCH_LEN: usize = 8192;

/// Lengths of a capture's content id.
const CONTENT_ID_LEN: std::ops::RangeInclusive<usize> = 8..=64;

/// Flows of many captures in one ordered table.
///
/// Threads may share it. What is read while a capture is being counted is what was there before.
#[derive(Debug)]
pub struct FlowStore {
    state: Mutex<State>,
    /// Rung when a capture was counted, or was not.
    ended: Condvar,
    name: String,
}

struct State {
    table: Box<dyn OrderedTable>,
    counting: Option<Counting>,
}

/// A capture is being counted.
struct Counting {
    thread: ThreadId,
    /// The table without its flows.
    before: Box<dyn OrderedSnapshot>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

/// What became of a capture's flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// They are in the table, and on disk.
    Added {
        /// Flows of the capture.
        flows: u64,
        /// Those of them whose key was not in the table.
        new_flows: u64,
    },
    /// The same content was counted before, and the table was left as it was.
    AlreadyCounted(CountedCapture),
}

/// A capture whose flows are in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedCapture {
    /// What identifies its content.
    pub content_id: Vec<u8>,
    /// Its name when it was counted.
    pub name: String,
    /// Packets in it, where they were counted.
    pub packets: Option<u64>,
}

impl FlowStore {
    /// Opens the flow table in the file at `path`, and makes it where it is missing.
    pub fn open(path: impl AsRef<Path>) -> Result<FlowStore> {
        Self::open_with(path.as_ref(), OpenOptions { create: true, ..OpenOptions::default() })
    }

    /// Opens the flow table in the file at `path` to read it, beside others who do.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<FlowStore> {
        Self::open_with(path.as_ref(), OpenOptions { read_only: true, ..OpenOptions::default() })
    }

    fn open_with(path: &Path, options: OpenOptions) -> Result<FlowStore> {
        let table = Box::new(TreeTable::open(path, options)?);
        Self::of(table, &path.to_string_lossy(), options.read_only)
    }

    /// The flow table that `table`, which errors call `name`, holds; an empty table becomes one.
    pub fn new(table: Box<dyn OrderedTable>, name: &str) -> Result<FlowStore> {
        Self::of(table, name, false)
    }

    fn of(mut table: Box<dyn OrderedTable>, name: &str, read_only: bool) -> Result<FlowStore> {
        match table.get(&[kind::FORMAT])? {
            Some(found) if found == FORMAT => {}
            None if table.is_empty()? => {
                if !read_only {
                    table.put(&[kind::FORMAT], FORMAT)?;
                }
            }
            Some(found) if found.starts_with(FORMAT_OF_ANY_VERSION) => {
                return Err(Error::format(
                    "the flow table format bytewright.flows.1",
                    format_args!("{}, which a newer Bytewright wrote", found.escape_ascii()),
                )
                .in_file(name));
            }
            _ => {
                let error = Error::format("a table of flows", "a table of something else");
                return Err(error.in_file(name));
            }
        }
        let state = Mutex::new(State { table, counting: None });
        Ok(FlowStore { state, ended: Condvar::new(), name: name.to_owned() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to count a capture. It waits for one that another thread counts; of this thread,
    /// [`ErrorKind::Lock`].
    pub fn begin(&self) -> Result<CaptureCount<'_>> {
        let thread = std::thread::current().id();
        let mut state = self.state();
        while let Some(counting) = &state.counting {
            if counting.thread == thread {
                return Err(Error::new(
                    ErrorKind::Lock,
                    "expected no capture that is being counted, found one that this thread began",
                )
                .in_file(&self.name));
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let before = state.table.ordered_snapshot()?;
        state.table.begin()?;
        state.counting = Some(Counting { thread, before });
        Ok(CaptureCount { store: self, batch: Vec::new(), flows: 0, new_flows: 0, is_open: true })
    }

    /// Reads what was counted.
    fn read<T>(&self, read: impl FnOnce(&dyn OrderedSnapshot) -> Result<T>) -> Result<T> {
        let state = self.state();
        match &state.counting {
            Some(counting) => read(&*counting.before),
            None => read(&*state.table.ordered_snapshot()?),
        }
    }

    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = None;
        self.read(|table| table.get_with(key, &mut |bytes| value = Some(bytes.to_vec())))?;
        Ok(value)
    }

    /// The capture with that content, if it was counted.
    pub fn capture(&self, content_id: &[u8]) -> Result<Option<CountedCapture>> {
        let value = self.value(&capture_key(content_id)?)?;
        value.map(|value| self.captured(content_id, &value)).transpose()
    }

    /// The captures that were counted, in the order of their content ids.
    pub fn captures(&self) -> Result<Vec<CountedCapture>> {
        let mut scan = self.read(|table| table.scan_range(&KeyRange::prefix(&[kind::CAPTURE])))?;
        let mut captures = Vec::new();
        while let Some((key, value)) = scan.advance()? {
            captures.push(self.captured(&key[1..], value)?);
        }
        Ok(captures)
    }

    fn captured(&self, content_id: &[u8], value: &[u8]) -> Result<CountedCapture> {
        decode_capture(content_id, value).ok_or_else(|| damaged(&self.name, "capture"))
    }

    /// The flow of `key`, if there is one.
    pub fn get(&self, key: &FlowKey) -> Result<Option<Flow>> {
        let encoded = encode_key(key);
        let Some(value) = self.value(encoded.bytes())? else { return Ok(None) };
        let flow = decode_flow(encoded.bytes(), &value);
        flow.map(Some).ok_or_else(|| damaged(&self.name, "flow"))
    }

    /// The flows in the order of their keys: IPv4 first, by addresses, protocol and ports.
    pub fn flows(&self) -> Result<StoredFlows> {
        let range = KeyRange {
            from: Bound::Included(vec![kind::V4_FLOW]),
            to: Bound::Excluded(vec![kind::V6_FLOW + 1]),
            reverse: false,
        };
        let entries = self.read(|table| table.scan_range(&range))?;
        Ok(StoredFlows { entries, name: self.name.clone() })
    }

    /// Number of flows.
    pub fn len(&self) -> Result<u64> {
        let entries = self.read(|table| table.len())?;
        Ok(entries.saturating_sub(1 + self.captures()?.len() as u64))
    }

    /// Whether there is no flow.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// A capture being counted. Dropped without a commit, it leaves the table as it was.
pub struct CaptureCount<'store> {
    store: &'store FlowStore,
    batch: Vec<(EncodedKey, Flow)>,
    flows: u64,
    new_flows: u64,
    /// Whether the table's transaction is to be taken back.
    is_open: bool,
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
        // Stable, so that flows of one key merge in the order in which they came.
        self.batch.sort_by_key(|(key, _)| *key);
        let mut state = self.store.state();
        for (key, flow) in self.batch.drain(..) {
            self.flows += 1;
            let is_new = merge_flow(&mut *state.table, &self.store.name, &key, flow)?;
            self.new_flows += u64::from(is_new);
        }
        Ok(())
    }

    /// Ends the capture, whose content is known by now. Its flows are on disk when it returns, unless
    /// that content was counted before: then nothing changes.
    ///
    /// `content_id`, from 8 to 64 bytes, is the same for the same packets wherever they come from;
    /// `packets` is how many there were, where that is known.
    pub fn commit(mut self, content_id: &[u8], name: &str, packets: Option<u64>) -> Result<Merged> {
        let key = capture_key(content_id)?;
        let counted = self.store.state().table.get(&key)?;
        if let Some(value) = counted {
            return self.store.captured(content_id, &value).map(Merged::AlreadyCounted);
        }
        self.write_batch()?;
        let mut state = self.store.state();
        state.table.put(&key, &encode_capture(name, packets))?;
        self.is_open = false;
        state.table.commit()?;
        state.table.sync()?;
        Ok(Merged::Added { flows: self.flows, new_flows: self.new_flows })
    }
}

impl Drop for CaptureCount<'_> {
    fn drop(&mut self) {
        let mut state = self.store.state();
        if self.is_open {
            // It fails only where the table is closed by an earlier failure, which was told.
            let _ = state.table.abort();
        }
        state.counting = None;
        self.store.ended.notify_one();
    }
}

/// Adds `flow` to what the table has of it; says whether that was nothing.
fn merge_flow(
    table: &mut dyn OrderedTable,
    file: &str,
    key: &EncodedKey,
    flow: Flow,
) -> Result<bool> {
    let Some(value) = table.get(key.bytes())? else {
        table.put(key.bytes(), &encode_flow(&flow))?;
        return Ok(true);
    };
    let stored = decode_flow(key.bytes(), &value).ok_or_else(|| damaged(file, "flow"))?;
    table.put(key.bytes(), &encode_flow(&merged(&stored, &flow)))?;
    Ok(false)
}

/// The sum of two flows of one key. Who began it is told by the one that began earlier.
fn merged(stored: &Flow, added: &Flow) -> Flow {
    let way = |end: usize| Way {
        packets: stored.ways[end].packets.saturating_add(added.ways[end].packets),
        bytes: stored.ways[end].bytes.saturating_add(added.ways[end].bytes),
        tcp_flags: stored.ways[end].tcp_flags | added.ways[end].tcp_flags,
    };
    let (initiator, span) = match (stored.span, added.span) {
        (Some(stored_span), Some(added_span)) => {
            let earlier = if added_span.first < stored_span.first { added } else { stored };
            let first = stored_span.first.min(added_span.first);
            (earlier.initiator, Some(Span { first, last: stored_span.last.max(added_span.last) }))
        }
        (stored_span, added_span) => (stored.initiator, stored_span.or(added_span)),
    };
    Flow { key: stored.key, ways: [way(0), way(1)], initiator, span }
}

/// Flows of a table in the order of their keys.
pub struct StoredFlows {
    entries: Box<dyn Scan>,
    name: String,
}

impl Iterator for StoredFlows {
    type Item = Result<Flow>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entries.advance().transpose()?;
        Some(entry.and_then(|(key, value)| {
            decode_flow(key, value).ok_or_else(|| damaged(&self.name, "flow"))
        }))
    }
}

fn damaged(file: &str, what: &str) -> Error {
    let message = format!("expected a {what} as docs/flow-table.md draws it, found other bytes");
    Error::new(ErrorKind::Corrupt, message).in_file(file)
}

/// Bytes of the longest key.
const KEY_LEN_MAX: usize = 39;

/// The key of a flow as the table keeps it, with zeros up to a fixed length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EncodedKey {
    bytes: [u8; KEY_LEN_MAX],
    len: u8,
}

impl EncodedKey {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn push(&mut self, bytes: &[u8]) {
        let start = usize::from(self.len);
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len() as u8;
    }
}

fn encode_key(key: &FlowKey) -> EncodedKey {
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

fn encode_flow(flow: &Flow) -> Vec<u8> {
    let span = flow.span.unwrap_or(Span { first: 0, last: 0 });
    let has_times = if flow.span.is_some() { HAS_TIMES } else { 0 };
    let mut value = Vec::with_capacity(FLOW_LEN);
    value.extend([VALUE_VERSION, flow.initiator & INITIATOR | has_times]);
    value.extend(flow.ways.iter().flat_map(|way| way.tcp_flags.to_le_bytes()));
    value.extend(flow.ways.iter().flat_map(|way| way.packets.to_le_bytes()));
    value.extend(flow.ways.iter().flat_map(|way| way.bytes.to_le_bytes()));
    value.extend([span.first, span.last].iter().flat_map(|time| time.to_le_bytes()));
    debug_assert_eq!(value.len(), FLOW_LEN);
    value
}

fn decode_flow(key: &[u8], value: &[u8]) -> Option<Flow> {
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
    let way =
        |end: usize| Way { packets: packets[end], bytes: bytes[end], tcp_flags: tcp_flags[end] };
    let flow = Flow {
        key,
        ways: [way(0), way(1)],
        initiator: bits & INITIATOR,
        span: (bits & HAS_TIMES != 0).then_some(Span { first, last }),
    };
    (value.remaining() == 0 && bits <= INITIATOR | HAS_TIMES).then_some(flow)
}

fn capture_key(content_id: &[u8]) -> Result<Vec<u8>> {
    if !CONTENT_ID_LEN.contains(&content_id.len()) {
        let message =
            format!("expected a content id of 8 to 64 bytes, found {} bytes", content_id.len());
        return Err(Error::new(ErrorKind::Argument, message));
    }
    Ok([&[kind::CAPTURE], content_id].concat())
}

/// The bit of a capture's second byte.
const HAS_PACKETS: u8 = 1;

fn encode_capture(name: &str, packets: Option<u64>) -> Vec<u8> {
    let mut value = vec![VALUE_VERSION, if packets.is_some() { HAS_PACKETS } else { 0 }];
    value.extend(packets.unwrap_or_default().to_le_bytes());
    value.extend(name.as_bytes());
    value
}

fn decode_capture(content_id: &[u8], value: &[u8]) -> Option<CountedCapture> {
    let mut value = Reader::new(value);
    let (version, bits) = (value.u8()?, value.u8()?);
    if version != VALUE_VERSION || bits > HAS_PACKETS {
        return None;
    }
    let packets = value.u64(Little)?;
    let name = std::str::from_utf8(value.rest()).ok()?.to_owned();
    let packets = (bits & HAS_PACKETS != 0).then_some(packets);
    Some(CountedCapture { content_id: content_id.to_vec(), name, packets })
}
