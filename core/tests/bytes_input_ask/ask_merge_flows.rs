//! Goal: a capture's flows reach a table whole or not at all, and once, whatever file they come in.
//! Method: small captures written here, merged into tables in memory.

use bytewright::ask::{CaptureMerge, merge_flows};
use bytewright::bytes::{ByteStream, Source, StreamOptions};
use bytewright::files::MemoryStorage;
use bytewright::flow::FlowOptions;
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::packet::DecodeOptions;
use bytewright::sums::{FlowStore, Merged};
use bytewright::table::file::{OpenOptions, TreeTable};
use bytewright::{Error, ErrorKind, Result};

use crate::folder::Folder;

/// A source that gives its bytes and then ends, or fails.
struct Bytes(Vec<u8>, Option<Error>);

impl Source for Bytes {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let taken: Vec<u8> = self.0.drain(..limit.min(self.0.len())).collect();
        match self.1.take() {
            Some(error) if taken.is_empty() => Err(error),
            later => {
                self.1 = later;
                into.extend(&taken);
                Ok(taken.len())
            }
        }
    }
}

fn store() -> FlowStore {
    let options = OpenOptions { create: true, ..OpenOptions::default() };
    let storage = Box::new(MemoryStorage::new(Vec::new()));
    let table = TreeTable::open_storage(storage, "memory", options).unwrap();
    FlowStore::new(Box::new(table), "memory").unwrap()
}

/// A pcap file, raw IPv4, of UDP packets from these ports at these nanoseconds, in a clock of
/// nanoseconds or, where they are whole, of microseconds.
fn pcap(in_nanoseconds: bool, packets: &[(u32, u16)]) -> Vec<u8> {
    let magic: u32 = if in_nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut bytes = magic.to_le_bytes().to_vec();
    bytes.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0]);
    for (time, port) in packets {
        let fraction = if in_nanoseconds { *time } else { *time / 1000 };
        for word in [1_700_000_000, fraction, 28, 28] {
            bytes.extend(u32::to_le_bytes(word));
        }
        bytes.extend([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend(port.to_be_bytes());
        bytes.extend([0, 53, 0, 8, 0, 0]);
    }
    bytes
}

const PACKETS: &[(u32, u16)] = &[(1000, 5000), (2000, 6000), (3000, 5000)];

fn merge_from(store: &FlowStore, source: Bytes, options: &CaptureOptions) -> Result<CaptureMerge> {
    let stream = ByteStream::new(Box::new(source), "trace.pcap", &StreamOptions::default())?;
    let mut reader = CaptureReader::new(stream, options)?;
    merge_flows(&mut reader, FlowOptions::default(), store)
}

fn merge(store: &FlowStore, bytes: &[u8]) -> CaptureMerge {
    merge_from(store, Bytes(bytes.to_vec(), None), &CaptureOptions::default()).unwrap()
}

/// Packets of all flows in the table.
fn packets(store: &FlowStore) -> u64 {
    store.flows().unwrap().map(|flow| flow.unwrap().packets()).sum()
}

#[test]
fn the_same_packets_count_once_whatever_clock_and_byte_of_the_file_header_differ() {
    let store = store();
    let first = merge(&store, &pcap(true, PACKETS));
    assert_eq!((first.packets, first.packets_without_flow), (3, 0));
    assert_eq!(first.merged, Merged::Added { flows: 2, new_flows: 2 });
    let second = merge(&store, &pcap(false, PACKETS));
    assert_eq!(second.content_id, first.content_id);
    assert!(matches!(second.merged, Merged::AlreadyCounted(counted) if counted.packets == Some(3)));
    assert_eq!(packets(&store), 3);
}

#[test]
fn one_packet_more_or_another_way_of_reading_is_another_content() {
    let store = store();
    let first = merge(&store, &pcap(true, PACKETS));
    let fewer = merge(&store, &pcap(true, &PACKETS[..2]));
    assert_ne!(fewer.content_id, first.content_id);
    assert_eq!(packets(&store), 5);
    let inner = CaptureOptions {
        decode: DecodeOptions { inner: true, ..DecodeOptions::default() },
        ..Default::default()
    };
    let inner = merge_from(&store, Bytes(pcap(true, PACKETS), None), &inner).unwrap();
    assert_ne!(inner.content_id, first.content_id);
}

#[test]
fn a_damaged_capture_counts_up_to_its_damage_and_once() {
    let store = store();
    let mut cut = pcap(true, PACKETS);
    cut.truncate(cut.len() - 1);
    for round in 0..2 {
        let merge = merge(&store, &cut);
        assert!(matches!(merge.damage.unwrap().kind(), ErrorKind::Truncated { .. }));
        assert_eq!(matches!(merge.merged, Merged::Added { .. }), round == 0);
        assert_eq!(packets(&store), 2);
    }
}

#[test]
fn a_read_that_fails_leaves_the_table_as_it_was() {
    let store = store();
    let failure = Error::new(ErrorKind::Io(Some(5)), "cannot read: Input/output error");
    let source = Bytes(pcap(true, PACKETS), Some(failure));
    let error = merge_from(&store, source, &CaptureOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(Some(5)));
    assert!(store.is_empty().unwrap());
    assert!(store.captures().unwrap().is_empty());
}

#[test]
fn reading_stops_at_the_packet_that_the_caller_stops_at_and_goes_on_behind_it() {
    let source = Box::new(Bytes(pcap(true, PACKETS), None));
    let stream = ByteStream::new(source, "trace.pcap", &StreamOptions::default()).unwrap();
    let mut reader = CaptureReader::new(stream, &CaptureOptions::default()).unwrap();
    let mut numbers = Vec::new();
    let mut goes_on = true;
    while goes_on {
        goes_on = reader
            .each_while(|packet, _| {
                numbers.push(packet.number());
                packet.number() != 2
            })
            .unwrap();
        numbers.push(0);
    }
    assert_eq!(numbers, [1, 2, 0, 3, 0]);
}

#[test]
fn what_is_no_capture_is_refused_and_leaves_the_table_as_it_was() {
    let store = store();
    let cut = &pcap(true, PACKETS)[..23];
    let section_header = [0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a];
    for bytes in [b"".as_slice(), b"a,b\n1,2\n3,4\n", cut, &section_header] {
        for _ in 0..2 {
            let source = Bytes(bytes.to_vec(), None);
            let error = merge_from(&store, source, &CaptureOptions::default()).unwrap_err();
            let kind = error.kind();
            assert!(matches!(kind, ErrorKind::Format | ErrorKind::Truncated { .. }), "{error}");
            assert_eq!(error.file(), Some("trace.pcap"));
            assert!(store.captures().unwrap().is_empty());
        }
    }
    // A header alone is a capture, of no packets.
    assert!(matches!(merge(&store, &pcap(true, &[])).merged, Merged::Added { flows: 0, .. }));
}

#[test]
fn a_store_that_is_opened_to_count_is_made_by_its_first_capture() {
    let folder = Folder::new("made-by-a-capture");
    let path = folder.path("week.bwt");
    let store = FlowStore::open_to_count(&path).unwrap();
    let notes = Bytes(b"a,b\n1,2\n3,4\n".to_vec(), None);
    merge_from(&store, notes, &CaptureOptions::default()).unwrap_err();
    assert_eq!((store.len().unwrap(), store.captures().unwrap().len()), (0, 0));
    assert!(!path.exists());
    assert_eq!(merge(&store, &pcap(true, PACKETS)).packets, 3);
    assert_eq!((store.len().unwrap(), store.captures().unwrap().len()), (2, 1));
    drop(store);
    assert_eq!(packets(&FlowStore::open_to_count(&path).unwrap()), 3);
}

#[test]
fn a_store_that_a_capture_made_for_nothing_is_not_left_behind() {
    let folder = Folder::new("made-for-nothing");
    let path = folder.path("week.bwt");
    let store = FlowStore::open_to_count(&path).unwrap();
    for _ in 0..2 {
        let count = store.begin().unwrap();
        assert!(path.exists());
        drop(count);
        assert_eq!(folder.names(), [""; 0]);
    }
    assert_eq!(store.captures().unwrap().len(), 0);
    assert_eq!(merge(&store, &pcap(true, PACKETS)).packets, 3);
    // A store that holds a capture stays, and so does a file that was there before.
    drop(store.begin().unwrap());
    drop(store);
    drop(FlowStore::open_to_count(&path).unwrap().begin().unwrap());
    assert_eq!(packets(&FlowStore::open_to_count(&path).unwrap()), 3);
    let empty = folder.path("empty.bwt");
    std::fs::write(&empty, "").unwrap();
    drop(FlowStore::open_to_count(&empty).unwrap().begin().unwrap());
    assert!(empty.exists());
}

#[test]
fn a_store_that_cannot_be_made_says_so_before_a_capture_is_read() {
    let folder = Folder::new("cannot-be-made");
    let error = FlowStore::open_to_count(folder.path("missing/week.bwt")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(Some(2)));
    let path = folder.path("notes.txt");
    std::fs::write(&path, "no table").unwrap();
    assert_eq!(FlowStore::open_to_count(path).unwrap_err().kind(), ErrorKind::Format);
}
