//! Goal: files that the first release wrote are read by every later one.
//!
//! Method: a file of each format, which stays as it is. `BYTEWRIGHT_WRITE_SAMPLE=1` writes one that is missing, to be compressed by
//! gzip where its name here ends so. Tables have theirs beside their own tests, and so has the journal of a store.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytewright::bytes::{ByteStream, SeekSpacing, StreamOptions};
use bytewright::flow::{FlowOptions, FlowTable};
use bytewright::input::{CaptureOptions, CaptureReader, IndexUse, indexed_parts};
use bytewright::packet::Field;
use bytewright::query::Condition;
use bytewright::rpc::{Call, CallSummary, MethodSummary, Rpc, RpcOptions};
use bytewright::sums::{CallStore, FlowStore};

use super::input_index::{ask, index_of};
use crate::folder::Folder;

fn of_samples(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

fn is_to_be_written(sample: &Path) -> bool {
    std::env::var_os("BYTEWRIGHT_WRITE_SAMPLE").is_some() && !sample.exists()
}

/// A capture of the samples, with the time of change that its index names.
fn capture(folder: &Folder) -> PathBuf {
    let path = folder.path("web.pcap.gz");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/web.pcap.gz");
    std::fs::copy(samples, &path).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000)).unwrap();
    path
}

fn decompress(sample: &Path, path: &Path) {
    let mut stream = ByteStream::open(sample, &StreamOptions::default()).unwrap();
    std::fs::write(path, stream.fill(4 << 20).unwrap()).unwrap();
}

#[test]
fn an_index_of_the_first_release_serves_its_capture() {
    let folder = Folder::new("frozen-index");
    let (path, sample) = (capture(&folder), of_samples("capture_index_1.bwi"));
    if is_to_be_written(&sample) {
        let mut options = CaptureOptions { index: IndexUse::Only, ..CaptureOptions::default() };
        options.stream.seek_points =
            Some(SeekSpacing { bytes: 400_000, window_bytes: 400_000, raw_per_window_byte: 0 });
        CaptureReader::open(&path, &options).unwrap().each(|_, _| ()).unwrap();
        std::fs::copy(index_of(&path), &sample).unwrap();
        std::fs::remove_file(index_of(&path)).unwrap();
    }
    let condition = Condition::new("dst_port == 53", &Field::SCHEMA).unwrap();
    let without = ask(&path, &condition, None);
    std::fs::copy(&sample, index_of(&path)).unwrap();
    assert!(indexed_parts(&path, 1, &CaptureOptions::default()).unwrap().len() > 2);
    let with = ask(&path, &condition, None);
    assert_eq!((with.0, with.2.map(|fault| fault.to_string())), (without.0, None));
}

#[test]
fn flows_of_the_first_release_are_read_and_added_to() {
    let folder = Folder::new("frozen-flows");
    let (path, sample) = (folder.path("flows.bwt"), of_samples("flow_table_1.bwt.gz"));
    if is_to_be_written(&sample) {
        add(&FlowStore::open(sample.with_extension("")).unwrap(), b"the first");
    }
    decompress(&sample, &path);
    let store = FlowStore::open(&path).unwrap();
    let totals = |store: &FlowStore| {
        let packets = store
            .flows()
            .unwrap()
            .map(|flow| flow.unwrap())
            .map(|flow| flow.packets() + flow.rev_packets());
        (store.captures().unwrap().len(), store.len().unwrap(), packets.sum::<u64>())
    };
    assert_eq!(totals(&store), (1, 926, 8709));
    add(&store, b"the second");
    assert_eq!(totals(&store), (2, 926, 2 * 8709));
}

/// Adds the flows of the sample.
fn add(store: &FlowStore, content_id: &[u8]) {
    let folder = Folder::new("frozen-flows-capture");
    let mut reader = CaptureReader::open(&capture(&folder), &CaptureOptions::default()).unwrap();
    let mut flows = FlowTable::new(FlowOptions::default());
    reader.each(|packet, _| flows.add(packet)).unwrap();
    let mut counting = store.begin().unwrap();
    counting.merge(flows.finish()).unwrap();
    counting.commit(content_id, "web.pcap.gz", Some(8760)).unwrap();
}

#[test]
fn calls_of_the_first_release_are_read_and_added_to() {
    let folder = Folder::new("frozen-calls");
    let (path, sample) = (folder.path("calls.bwt"), of_samples("call_table_1.bwt.gz"));
    if is_to_be_written(&sample) {
        add_calls(&CallStore::open(sample.with_extension("")).unwrap(), b"the first");
    }
    decompress(&sample, &path);
    let store = CallStore::open(&path).unwrap();
    let totals = |store: &CallStore| {
        let methods = store.methods().unwrap();
        let all = |sum: fn(&MethodSummary) -> u64| {
            methods.iter().map(|(_, method)| sum(method)).sum::<u64>()
        };
        let latencies = all(|method| method.latency.count());
        let sums = [all(|method| method.calls), all(|method| method.errors), latencies];
        (store.captures().unwrap().len(), methods.len(), sums)
    };
    assert_eq!(totals(&store), (1, 8, [2412, 169, 2158]));
    add_calls(&store, b"the second");
    assert_eq!(totals(&store), (2, 8, [4824, 338, 4316]));
}

/// Adds the calls of the sample.
fn add_calls(store: &CallStore, content_id: &[u8]) {
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/warehouse.pcap.zst");
    let mut reader = CaptureReader::open(&capture, &CaptureOptions::default()).unwrap();
    let (mut rpc, mut summary) = (Rpc::new(RpcOptions::default()), CallSummary::new());
    let mut each = |call: Call| summary.add(&call);
    reader.each(|packet, captured| rpc.add(packet, captured, &mut each)).unwrap();
    rpc.finish(&mut each);
    let counting = store.begin().unwrap();
    counting.commit(content_id, "warehouse.pcap.zst", None, summary).unwrap();
}
