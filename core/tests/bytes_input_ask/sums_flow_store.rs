//! Goal: flows in a table file add up, each capture once, and a crash costs only what was not
//! reported done. Method: behaviours one by one, the table's own bytes against the drawing in
//! docs/flow-table.md, random captures against sums in memory, bytes flipped in a closed file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use bytewright::batch::Value;
use bytewright::files::MemoryStorage;
use bytewright::flow::{Flow, FlowOptions, FlowTable};
use bytewright::packet::FlowKey;
use bytewright::sums::{
    EntryField, EntryMerge, EntryOrigin, EntryRows, FlowEntry, FlowStore, Merged,
};
use bytewright::table::Table;
use bytewright::table::file::{OpenOptions, SyncMode, TreeTable};
use bytewright::{Error, ErrorKind};

use crate::flow_frames::{Spec, random_spec, tcp};
use crate::generate::{Random, seeds};

const CREATE: OpenOptions = OpenOptions {
    create: true,
    read_only: false,
    exclusive: false,
    verify: true,
    sync: SyncMode::Commit,
    timeout: Duration::ZERO,
    values: None,
};

fn path(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("flows_{name}.bwt"));
    let _ = std::fs::remove_file(&path);
    path
}

fn flows_of(specs: &[Spec]) -> Vec<Flow> {
    let mut table = FlowTable::new(FlowOptions::default());
    for spec in specs {
        table.add(&spec.packet());
    }
    table.finish().collect()
}

fn count(store: &FlowStore, content_id: &[u8], specs: &[Spec]) -> bytewright::Result<Merged> {
    let mut counting = store.begin()?;
    counting.merge(flows_of(specs))?;
    counting.commit(content_id, "trace.pcap", Some(specs.len() as u64))
}

fn in_memory() -> bytewright::Result<FlowStore> {
    FlowStore::new(Box::new(bytewright::table::memory::TreeTable::new()), "memory")
}

fn stored(store: &FlowStore) -> Vec<Flow> {
    store.flows().unwrap().map(Result::unwrap).collect()
}

#[test]
fn captures_add_up_and_the_earlier_one_tells_who_began() {
    let path = path("add_up");
    let later = [tcp(9_000, (2, 80), (1, 5_000), 0x12), tcp(9_500, (1, 5_000), (2, 80), 0x10)];
    let earlier = [tcp(1_000, (1, 5_000), (2, 80), 0x02), tcp(1_500, (3, 1), (4, 2), 0x02)];
    let store = FlowStore::open(&path).unwrap();
    let outcome = count(&store, b"capture two", &later).unwrap();
    assert_eq!(outcome, Merged::Added { flows: 1, new_flows: 1 });
    drop(store);
    let store = FlowStore::open(&path).unwrap();
    let outcome = count(&store, b"capture one", &earlier).unwrap();
    assert_eq!(outcome, Merged::Added { flows: 2, new_flows: 1 });
    let key = FlowKey::of(&earlier[0].packet()).unwrap();
    let flow = store.get(&key).unwrap().unwrap();
    assert_eq!((flow.src_port(), flow.dst_port()), (Some(5_000), Some(80)));
    assert_eq!((flow.ts(), flow.last_ts()), (Some(1_000), Some(9_500)));
    assert_eq!((flow.packets(), flow.bytes(), flow.tcp_flags()), (2, 120, Some(0x12)));
    assert_eq!((flow.rev_packets(), flow.rev_bytes(), flow.rev_tcp_flags()), (1, 60, Some(0x12)));
    assert_eq!(store.len().unwrap(), 2);
    assert_eq!(stored(&store).len(), 2);
    let names: Vec<_> = store.captures().unwrap().into_iter().map(|c| c.content_id).collect();
    assert_eq!(names, [b"capture one", b"capture two"]);
}

#[test]
fn the_same_capture_is_not_counted_twice() {
    let store = FlowStore::open(path("twice")).unwrap();
    let specs = [tcp(1, (1, 1), (2, 2), 0)];
    count(&store, b"contents", &specs).unwrap();
    let before = stored(&store);
    let Merged::AlreadyCounted(capture) = count(&store, b"contents", &specs).unwrap() else {
        panic!("counted twice")
    };
    assert_eq!((capture.name.as_str(), capture.packets), ("trace.pcap", Some(1)));
    assert_eq!(store.capture(b"contents").unwrap(), Some(capture));
    assert_eq!(store.capture(b"other contents").unwrap(), None);
    assert_eq!(stored(&store), before);
}

#[test]
fn tables_add_up_and_a_capture_that_both_hold_counts_once() {
    let (first, second) =
        ([tcp(1_000, (1, 5_000), (2, 80), 2)], [tcp(2_000, (1, 5_000), (2, 80), 16)]);
    let store = |name: &str| FlowStore::open(path(name)).unwrap();
    let (monday, tuesday, both) = (store("monday"), store("tuesday"), store("both"));
    count(&monday, &[1; 16], &first).unwrap();
    count(&tuesday, &[2; 16], &second).unwrap();
    let added = |new_flows| Merged::Added { flows: 1, new_flows };
    assert_eq!(both.merge(&monday).unwrap(), added(1));
    assert_eq!(both.merge(&tuesday).unwrap(), added(0));
    assert!(matches!(both.merge(&monday).unwrap(), Merged::AlreadyCounted(_)));
    let expected = store("expected");
    count(&expected, &[1; 16], &first).unwrap();
    count(&expected, &[2; 16], &second).unwrap();
    assert_eq!(stored(&both), stored(&expected));
    assert_eq!(both.captures().unwrap(), expected.captures().unwrap());
    // Of its two captures, one is in the other table.
    let error = monday.merge(&both).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(stored(&monday), flows_of(&first));
}

#[test]
fn a_merge_that_is_called_off_changes_nothing() {
    let (large, into) =
        (FlowStore::open(path("large")).unwrap(), FlowStore::open(path("into")).unwrap());
    let specs: Vec<Spec> = (0..20_000).map(|port| tcp(1, (1, port), (2, 2), 0)).collect();
    count(&large, &[1; 16], &specs).unwrap();
    count(&into, &[2; 16], &specs[..1]).unwrap();
    let (before, mut calls) = (stored(&into), 0);
    let error = into.merge_checked(&large, || {
        calls += 1;
        if calls < 3 { Ok(()) } else { Err(Error::new(ErrorKind::Closed, "called off")) }
    });
    assert_eq!(error.unwrap_err().message(), "called off");
    assert_eq!((stored(&into), into.captures().unwrap().len()), (before, 1));
    let merged = into.merge(&large).unwrap();
    assert_eq!(merged, Merged::Added { flows: 20_000, new_flows: 19_999 });
}

#[test]
fn a_capture_that_is_not_committed_leaves_no_trace_and_the_ones_before_stay() {
    let path = path("drop");
    let store = FlowStore::open(&path).unwrap();
    count(&store, b"the first", &[tcp(1, (1, 1), (2, 2), 0)]).unwrap();
    let before = stored(&store);
    let mut counting = store.begin().unwrap();
    for port in 0..30_000 {
        counting.merge(flows_of(&[tcp(1, (1, port), (2, 2), 0)])).unwrap();
    }
    drop(counting);
    assert_eq!(stored(&store), before);
    drop(store);
    assert_eq!(stored(&FlowStore::open_read_only(&path).unwrap()), before);
}

#[test]
fn a_process_killed_in_the_middle_of_a_capture_loses_that_capture_only() {
    let storage = MemoryStorage::default();
    let open = |storage: &MemoryStorage| {
        let table = TreeTable::open_storage(Box::new(storage.clone()), "memory", CREATE).unwrap();
        FlowStore::new(Box::new(table), "memory").unwrap()
    };
    let store = open(&storage);
    count(&store, b"the first", &[tcp(1, (1, 1), (2, 2), 0)]).unwrap();
    let before = stored(&store);
    let mut counting = store.begin().unwrap();
    for port in 0..60_000 {
        counting.merge(flows_of(&[tcp(1, (1, port), (2, 2), 0)])).unwrap();
    }
    let at_the_kill = MemoryStorage::new(storage.bytes());
    assert_eq!(stored(&open(&at_the_kill)), before);
}

#[test]
fn what_is_read_while_a_capture_is_counted_is_what_was_there_before() {
    let store = FlowStore::open(path("meanwhile")).unwrap();
    count(&store, b"the first", &[tcp(1, (1, 1), (2, 2), 0)]).unwrap();
    let before = stored(&store);
    let mut counting = store.begin().unwrap();
    for port in 0..10_000 {
        counting.merge(flows_of(&[tcp(1, (1, port), (2, 2), 0)])).unwrap();
    }
    assert_eq!((stored(&store), store.len().unwrap()), (before, 1));
    std::thread::scope(|scope| {
        let second = scope.spawn(|| count(&store, b"the third", &[tcp(1, (7, 1), (8, 2), 0)]));
        counting.commit(b"the second", "trace.pcap", None).unwrap();
        assert_eq!(second.join().unwrap().unwrap(), Merged::Added { flows: 1, new_flows: 1 });
    });
    assert_eq!(store.len().unwrap(), 10_001);
}

#[test]
fn flows_add_up_in_any_ordered_table() {
    let in_memory = Box::new(bytewright::table::memory::TreeTable::new());
    let store = FlowStore::new(in_memory, "memory").unwrap();
    count(&store, b"the first", &[tcp(1, (1, 1), (2, 2), 0)]).unwrap();
    let mut counting = store.begin().unwrap();
    counting.merge(flows_of(&[tcp(1, (3, 1), (4, 2), 0)])).unwrap();
    drop(counting);
    let outcome = count(&store, b"the second", &[tcp(2, (1, 1), (2, 2), 0)]).unwrap();
    assert_eq!(outcome, Merged::Added { flows: 1, new_flows: 0 });
    assert_eq!((store.len().unwrap(), stored(&store)[0].packets()), (1, 2));
}

#[test]
fn two_writers_lock_each_other_out() {
    let path = path("lock");
    let store = FlowStore::open(&path).unwrap();
    assert_eq!(FlowStore::open(&path).unwrap_err().kind(), ErrorKind::Lock);
    let counting = store.begin().unwrap();
    assert_eq!(store.begin().err().unwrap().kind(), ErrorKind::Lock);
    drop(counting);
    store.begin().unwrap();
}

#[test]
fn a_table_of_something_else_or_of_a_newer_format_is_refused() {
    for (key, value, what) in [
        (&b"user"[..], &b"Ada"[..], "something else"),
        (b"\0", b"bytewright.flows.2", "newer"),
        (b"\0", b"?", "something else"),
    ] {
        let path = path("foreign");
        TreeTable::open(&path, CREATE).unwrap().put(key, value).unwrap();
        let error = FlowStore::open(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn a_content_id_that_is_too_short_to_tell_captures_apart_is_refused() {
    let store = FlowStore::open(path("short")).unwrap();
    assert_eq!(count(&store, b"id", &[]).unwrap_err().kind(), ErrorKind::Argument);
}

#[test]
fn the_bytes_are_those_of_the_drawing() {
    let path = path("drawing");
    let store = FlowStore::open(&path).unwrap();
    let specs = [tcp(0x1122, (2, 0x1234), (1, 80), 0x02), tcp(0x1133, (1, 80), (2, 0x1234), 0x12)];
    count(&store, b"contents", &specs).unwrap();
    drop(store);
    let table = TreeTable::open(&path, OpenOptions { read_only: true, ..CREATE }).unwrap();
    let mut scan = table.snapshot().unwrap().scan().unwrap();
    let mut entries = Vec::new();
    while let Some((key, value)) = scan.advance().unwrap() {
        entries.push((key.to_vec(), value.to_vec()));
    }
    let [format, flow, capture] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!(*format, (vec![0], b"bytewright.flows.1".to_vec()));
    assert_eq!(flow.0, [4, 10, 0, 0, 1, 10, 0, 0, 2, 6, 1, 0, 80, 0x12, 0x34]);
    let mut value = vec![1, 0b11, 0x12, 0, 0x02, 0];
    for number in [1_u64, 1, 60, 60, 0x1122, 0x1133] {
        value.extend(number.to_le_bytes());
    }
    assert_eq!(flow.1, value);
    assert_eq!(capture.0, b"\xc0contents");
    assert_eq!(capture.1, b"\x01\x01\x02\0\0\0\0\0\0\0trace.pcap");
}

/// Fewer packets than `packets` between `hosts` hosts. A fifth of them has no time; the others have times below `times`.
fn random_capture(random: &mut Random, packets: usize, times: usize, hosts: usize) -> Vec<Spec> {
    let count = random.below(packets);
    let mut packet = || {
        let ts = (random.below(5) > 0).then(|| random.below(times) as i64);
        random_spec(random, ts, hosts)
    };
    (0..count).map(|_| packet()).collect()
}

#[test]
fn random_captures_with_repeats_give_the_sums_of_each_once() {
    seeds(2, |random| {
        let store = FlowStore::open(path("random")).unwrap();
        let captures: Vec<Vec<Spec>> =
            (0..8).map(|_| random_capture(random, 3_000, 1_000_000, 30)).collect();
        let mut expected: BTreeMap<FlowKey, [u64; 2]> = BTreeMap::new();
        let mut counted = Vec::new();
        for _ in 0..30 {
            let number = random.below(captures.len());
            let outcome = count(&store, &[number as u8; 16], &captures[number]).unwrap();
            let is_new = !counted.contains(&number);
            assert_eq!(matches!(outcome, Merged::Added { .. }), is_new);
            if is_new {
                counted.push(number);
                for spec in &captures[number] {
                    let sum = expected.entry(FlowKey::of(&spec.packet()).unwrap()).or_default();
                    *sum = [sum[0] + 1, sum[1] + u64::from(spec.length)];
                }
            }
        }
        let found: BTreeMap<FlowKey, [u64; 2]> = stored(&store)
            .iter()
            .map(|flow| {
                let sums = [flow.packets() + flow.rev_packets(), flow.bytes() + flow.rev_bytes()];
                (*flow.key(), sums)
            })
            .collect();
        assert!(found == expected);
        assert_eq!(store.len().unwrap(), expected.len() as u64);
    });
}

#[test]
fn a_flow_with_times_tells_who_began_before_one_without() {
    let packet = |ts, src, dst| Spec { ts, ..tcp(0, src, dst, 0) };
    let without = packet(None, (1, 1), (2, 2));
    for (ids, first, second) in [
        (*b"ordered1", without, packet(Some(5), (2, 2), (1, 1))),
        (*b"ordered2", packet(Some(5), (2, 2), (1, 1)), without),
    ] {
        let store = in_memory().unwrap();
        count(&store, &ids, &[first]).unwrap();
        count(&store, b"the second", &[second]).unwrap();
        let flow = stored(&store)[0].clone();
        assert_eq!((flow.src_port(), flow.ts()), (Some(2), Some(5)));
    }
}

/// The entries of a table that counted one capture.
fn entries_of(content_id: &[u8], specs: &[Spec]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let store = in_memory().unwrap();
    count(&store, content_id, specs).unwrap();
    entries_in(&store)
}

fn entries_in(store: &FlowStore) -> Vec<(Vec<u8>, Vec<u8>)> {
    let flows = stored(store).into_iter().map(FlowEntry::Flow);
    let captures = store.captures().unwrap().into_iter().map(FlowEntry::Capture);
    let entries = [FlowEntry::Format].into_iter().chain(flows).chain(captures);
    entries.map(|entry| entry.encode()).collect()
}

#[test]
fn sorted_entries_of_single_captures_merge_into_those_of_a_store_of_all() {
    seeds(4, |random| {
        let captures: Vec<Vec<Spec>> =
            (0..6).map(|_| random_capture(random, 400, 1_000, 12)).collect();
        let store = in_memory().unwrap();
        let mut entries = Vec::new();
        for place in 0..12 {
            let number = random.below(captures.len());
            let content_id = [number as u8; 16];
            count(&store, &content_id, &captures[number]).unwrap();
            let of_one = entries_of(&content_id, &captures[number]).into_iter();
            entries.extend(of_one.map(|(key, value)| (key, place, content_id, value)));
        }
        entries.sort();
        let mut merge = EntryMerge::default();
        let mut found = Vec::new();
        for (key, _, content_id, value) in &entries {
            found.extend(merge.add(content_id, key, value).unwrap());
        }
        found.extend(merge.finish());
        let found: Vec<_> = found.iter().map(FlowEntry::encode).collect();
        assert!(found == entries_in(&store));
    });
}

#[test]
fn rows_of_a_capture_are_the_entries_of_its_table_in_batches() {
    seeds(5, |random| {
        let specs: Vec<Spec> = random_capture(random, 400, 1_000, 12);
        let store = in_memory().unwrap();
        count(&store, b"contents", &specs).unwrap();
        let damage = (random.below(2) == 0).then(|| (77, "cut".to_owned()));
        let origin =
            EntryOrigin { place: 3, file: "trace.pcap".to_owned(), damage: damage.clone() };
        let rows_max = 1 + random.below(200);
        let mut rows = EntryRows::new(&store, b"contents", origin).unwrap();
        let (mut found, mut tellers) = (Vec::new(), 0);
        while let Some(batch) = rows.next(rows_max).unwrap() {
            assert!(batch.len() <= rows_max && !batch.is_empty());
            for row in 0..batch.len() {
                let value = |field: EntryField| batch.value(row, field as usize);
                assert_eq!(value(EntryField::Capture), Value::Signed(3));
                assert_eq!(value(EntryField::ContentId), Value::Bytes(b"contents"));
                let (Value::Bytes(key), Value::Bytes(bytes)) =
                    (value(EntryField::Key), value(EntryField::Value))
                else {
                    panic!("an entry without bytes");
                };
                if !value(EntryField::File).is_null() {
                    tellers += 1;
                    assert_eq!(key[0], 0xc0);
                    let offset =
                        damage.as_ref().map_or(Value::Null, |(at, _)| Value::Signed(*at as i64));
                    let text = damage.as_ref().map_or(Value::Null, |(_, text)| Value::Text(text));
                    assert_eq!(
                        (value(EntryField::Offset), value(EntryField::Text)),
                        (offset, text)
                    );
                } else {
                    assert!(
                        value(EntryField::Offset).is_null() && value(EntryField::Text).is_null()
                    );
                }
                found.push((key.to_vec(), bytes.to_vec()));
            }
        }
        assert!(found == entries_in(&store) && tellers == 1);
    });
}

#[test]
fn a_file_that_is_no_capture_is_one_row_that_tells_why() {
    let damage = Some((0, "no capture".to_owned()));
    let rows = EntryOrigin { place: 1, file: "notes.txt".to_owned(), damage }.without_entries();
    let values: Vec<Value<'_>> =
        (0..EntryField::ALL.len()).map(|column| rows.value(0, column)).collect();
    let (null, text) = (Value::Null, Value::Text);
    let expected = [
        Value::Signed(1),
        null,
        null,
        null,
        text("notes.txt"),
        Value::Signed(0),
        text("no capture"),
    ];
    assert_eq!((rows.len(), values), (1, expected.to_vec()));
}

#[test]
fn entries_out_of_order_and_bytes_that_are_none_are_refused() {
    let entries = entries_of(b"contents", &[tcp(1, (1, 1), (2, 2), 0)]);
    let mut merge = EntryMerge::default();
    merge.add(b"contents", &entries[1].0, &entries[1].1).unwrap();
    let refused = merge.add(b"contents", &entries[0].0, &entries[0].1).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Argument);
    for (key, value) in
        [(&b"\x04"[..], &b""[..]), (b"", b""), (b"\0", b"bytewright.flows.2"), (b"\xc0", b"")]
    {
        let refused = EntryMerge::default().add(b"contents", key, value).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{key:?}");
    }
}

#[test]
fn flipped_bytes_in_a_closed_table_give_an_error_or_the_right_flows() {
    seeds(1, |random| {
        let storage = MemoryStorage::default();
        let open = |storage: &MemoryStorage| {
            TreeTable::open_storage(Box::new(storage.clone()), "memory", CREATE)
                .and_then(|table| FlowStore::new(Box::new(table), "memory"))
        };
        let store = open(&storage).unwrap();
        let specs: Vec<_> = (0..2_000).map(|n| random_spec(random, Some(n), 100)).collect();
        for capture in specs.chunks(500) {
            count(&store, &capture[0].ts.unwrap().to_le_bytes(), capture).unwrap();
        }
        let expected = stored(&store);
        drop(store);
        let whole = storage.bytes();
        let used = whole.iter().rposition(|byte| *byte != 0).unwrap();
        for _ in 0..120 {
            let mut bytes = whole.clone();
            bytes[random.below(used)] ^= 1 << random.below(8);
            let found: bytewright::Result<Vec<Flow>> =
                open(&MemoryStorage::new(bytes)).and_then(|store| store.flows()?.collect());
            match found {
                Ok(found) => assert!(found == expected, "other flows"),
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Format),
                    "{error}"
                ),
            }
        }
    });
}
