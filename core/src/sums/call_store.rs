//! Calls by method in an ordered table, usually a file: they add up over captures, and no capture is counted twice.
//!
//! The bytes of keys and values are drawn in `docs/flow-table.md`.

use std::path::Path;
use std::time::Duration;

use super::capture_ledger::{Count, CountedCapture, CountedTable, StoreKind};
use crate::error::Result;
use crate::rpc::{CallSummary, Histogram, MethodSummary};
use crate::table::{KeyRange, OrderedTable};
use crate::wire::{Endian::Little, Reader};

/// The first byte of the key of a method.
const METHOD_KEY: u8 = 1;

/// The first byte of the value of a method.
const VALUE_VERSION: u8 = 1;

/// Bytes of a value before its buckets, and of each of these.
const SUMS_LEN: usize = 1 + 8 * 8;
const BUCKET_LEN: usize = 2 + 8;

const STORE_KIND: StoreKind = StoreKind {
    format: "bytewright.calls.1",
    format_of_any_version: "bytewright.calls.",
    entry: "method",
    page: "docs/flow-table.md",
};

/// Sums of the calls of many captures by method, in one ordered table.
///
/// Threads may share it. What is read while a capture is being counted is what was there before.
#[derive(Debug)]
pub struct CallStore(CountedTable);

impl CallStore {
    /// Opens the call table in the file at `path`, and makes it where it is missing.
    pub fn open(path: impl AsRef<Path>) -> Result<CallStore> {
        CountedTable::open(path.as_ref(), Duration::ZERO, &STORE_KIND).map(CallStore)
    }

    /// Opens the call table in the file at `path`. Where it is missing or empty, the first
    /// capture that is counted makes it.
    pub fn open_to_count(path: impl AsRef<Path>) -> Result<CallStore> {
        Self::open_to_count_within(path, Duration::ZERO)
    }

    /// Opens it to count, and waits up to `timeout` for another process that writes the file.
    pub fn open_to_count_within(path: impl AsRef<Path>, timeout: Duration) -> Result<CallStore> {
        CountedTable::open_to_count(path.as_ref(), timeout, &STORE_KIND).map(CallStore)
    }

    /// Opens the call table in the file at `path` to read it, beside others who do.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<CallStore> {
        CountedTable::open_read_only(path.as_ref(), &STORE_KIND).map(CallStore)
    }

    /// The call table that `table`, which errors call `name`, holds; an empty table becomes one.
    pub fn new(table: Box<dyn OrderedTable>, name: &str) -> Result<CallStore> {
        CountedTable::of(table, name, false, &STORE_KIND).map(CallStore)
    }

    /// Begins to count a capture. It waits for one that another thread counts; of this thread,
    /// [`ErrorKind::Lock`](crate::ErrorKind::Lock).
    pub fn begin(&self) -> Result<CallCount<'_>> {
        self.0.begin().map(CallCount)
    }

    /// The captures that were counted, in the order of their content ids.
    pub fn captures(&self) -> Result<Vec<CountedCapture>> {
        self.0.captures()
    }

    /// The methods with their sums, in the order of their names.
    pub fn methods(&self) -> Result<Vec<(Box<str>, MethodSummary)>> {
        let mut scan = self.0.read(|table| table.scan_range(&KeyRange::prefix(&[METHOD_KEY])))?;
        let mut methods = Vec::new();
        while let Some((key, value)) = scan.advance()? {
            let name = std::str::from_utf8(key.get(1..).unwrap_or_default()).ok();
            let method = name.zip(decode(value)).ok_or_else(|| self.0.damaged_entry())?;
            methods.push((method.0.into(), method.1));
        }
        Ok(methods)
    }

    /// Number of methods.
    pub fn len(&self) -> Result<u64> {
        self.0.len()
    }

    /// Returns true if there is no method.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// A capture being counted. Dropped without a commit, it leaves the table as it was.
#[derive(Debug)]
pub struct CallCount<'store>(Count<'store>);

impl CallCount<'_> {
    /// Ends the capture, whose content is known by now, and whose calls are `summary`. They are on disk when it
    /// returns, unless that content was counted before: then it answers when, and nothing changes.
    ///
    /// `content_id`, from 8 to 64 bytes, is the same for the same packets wherever they come from;
    /// `packets` is how many there were, where that is known.
    pub fn commit(
        self,
        content_id: &[u8],
        name: &str,
        packets: Option<u64>,
        summary: CallSummary,
    ) -> Result<Option<CountedCapture>> {
        let store = self.0.table();
        self.0.commit(content_id, name, packets, |table| {
            for (name, method) in summary.into_sorted() {
                let key = [&[METHOD_KEY], name.as_bytes()].concat();
                let mut sums = match table.get(&key)? {
                    Some(value) => decode(&value).ok_or_else(|| store.damaged_entry())?,
                    None => MethodSummary::default(),
                };
                sums.merge(&method);
                table.put(&key, &encode(&sums))?;
            }
            Ok(())
        })
    }
}

fn encode(method: &MethodSummary) -> Vec<u8> {
    let buckets = method.latency.buckets();
    let mut value = Vec::with_capacity(SUMS_LEN + buckets.len() * BUCKET_LEN);
    value.push(VALUE_VERSION);
    let sums = [
        method.calls,
        method.errors,
        method.failures,
        method.unanswered,
        method.oneway,
        method.request_bytes,
        method.reply_bytes,
        method.latency.max(),
    ];
    value.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
    for (bucket, count) in buckets {
        value.extend(bucket.to_le_bytes());
        value.extend(count.to_le_bytes());
    }
    value
}

fn decode(value: &[u8]) -> Option<MethodSummary> {
    let mut value = Reader::new(value);
    if value.u8()? != VALUE_VERSION {
        return None;
    }
    let mut method = MethodSummary {
        calls: value.u64(Little)?,
        errors: value.u64(Little)?,
        failures: value.u64(Little)?,
        unanswered: value.u64(Little)?,
        oneway: value.u64(Little)?,
        request_bytes: value.u64(Little)?,
        reply_bytes: value.u64(Little)?,
        latency: Histogram::new(),
    };
    let max = value.u64(Little)?;
    let mut buckets = Vec::with_capacity(value.remaining() / BUCKET_LEN);
    while value.remaining() > 0 {
        buckets.push((value.u16(Little)?, value.u64(Little)?));
    }
    method.latency = Histogram::of(buckets, max)?;
    Some(method)
}
