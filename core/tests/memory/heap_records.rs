//! Goal: records keep their bytes and their order while the heap moves them, and what is pinned stays
//! in place for as long as the pin lives.
//! Method: random appends, releases and moves beside a list that is obviously right, with pins and
//! snapshots held meanwhile; a failure prints the seed that repeats it (BYTEWRIGHT_SEED).
//! `make test-unsafe` runs this file once more under the address sanitizer, without the pool of slots, so that
//! a byte used after its memory has gone is found.

use bytewright::heap::{Address, HeapCursor, HeapSnapshot, Pin, RecordHeap};

use crate::generate::{Random, seeds};

/// The twin: live records in order, each with its address.
type Twin = Vec<(Address, Vec<u8>, Vec<u8>)>;

fn live_records(snapshot: &HeapSnapshot, twin: &Twin) -> Vec<(Vec<u8>, Vec<u8>)> {
    let live: std::collections::HashSet<u64> = twin.iter().map(|(at, ..)| at.number()).collect();
    let mut cursor = HeapCursor::default();
    let mut records = Vec::new();
    while let Some((address, key, value)) = snapshot.next(&mut cursor) {
        if live.contains(&address.number()) {
            records.push((key.to_vec(), value.to_vec()));
        }
    }
    records
}

fn records(twin: &Twin) -> Vec<(Vec<u8>, Vec<u8>)> {
    twin.iter().map(|(_, key, value)| (key.clone(), value.clone())).collect()
}

fn bytes(random: &mut Random) -> Vec<u8> {
    let len = match random.below(100) {
        0 => random.below(70_000),
        1..=10 => random.below(2_000),
        _ => random.below(40),
    };
    vec![random.byte(); len]
}

/// Does what a table does after a change: moves a few records if the heap wants that.
fn clean(heap: &mut RecordHeap, twin: &mut Twin) {
    for _ in 0..20 {
        let Some(from) = heap.next_to_move() else { return };
        if let Some(record) = twin.iter_mut().find(|(address, ..)| *address == from) {
            record.0 = heap.move_record(from).unwrap();
        }
    }
}

#[test]
fn records_keep_their_bytes_and_order_while_they_move() {
    seeds(12, |random| {
        let mut heap = RecordHeap::new();
        let mut twin: Twin = Vec::new();
        let mut pins: Vec<(Pin, Vec<u8>)> = Vec::new();
        let mut snapshots = Vec::new();
        let mut most = 500;
        for _ in 0..6_000 {
            match random.below(100) {
                0 => most = [5, 100, 500, 1500][random.below(4)],
                1 if !twin.is_empty() => {
                    let (address, _, value) = &twin[random.below(twin.len())];
                    pins.push((heap.pin_value(*address).unwrap(), value.clone()));
                }
                2..=3 if pins.len() > 20 => drop(pins.swap_remove(random.below(20))),
                4 if snapshots.len() < 2 => snapshots.push((heap.snapshot(), twin.clone())),
                5 if !snapshots.is_empty() => drop(snapshots.remove(0)),
                _ if random.below(2 * most) < twin.len() => {
                    let (address, ..) = twin.remove(random.below(twin.len()));
                    heap.release(address);
                }
                _ => {
                    let (key, value) = (bytes(random), bytes(random));
                    twin.push((heap.append(&key, &value).unwrap(), key, value));
                }
            }
            clean(&mut heap, &mut twin);
            if random.once_in(3) {
                let is_alive = |address, key: &[u8]| {
                    twin.iter().any(|record| record.0 == address && record.1 == key)
                };
                assert_eq!(heap.first(is_alive), twin.first().map(|record| record.0));
            }
            if random.once_in(200) {
                for (pin, value) in &pins {
                    assert_eq!(pin.as_ref(), value);
                }
                for (snapshot, twin) in &snapshots {
                    assert!(live_records(snapshot, twin) == records(twin), "a snapshot changed");
                }
                assert!(live_records(&heap.snapshot(), &twin) == records(&twin));
            }
        }
        for (address, key, value) in &twin {
            assert_eq!(heap.record(*address), (&key[..], &value[..]));
        }
        let live: usize = twin.iter().map(|(_, key, value)| key.len() + value.len()).sum();
        assert!(heap.live_bytes() >= live && heap.live_bytes() <= live + twin.len() * 10);
    });
}

#[test]
fn a_released_record_can_be_revived_until_something_moves() {
    let mut heap = RecordHeap::new();
    let kept = heap.append(b"kept", b"1").unwrap();
    let address = heap.append(b"key", b"value").unwrap();
    let live = heap.live_bytes();
    heap.release(address);
    assert!(heap.live_bytes() < live);
    heap.revive(address);
    assert_eq!(heap.live_bytes(), live);
    assert_eq!(heap.record(address), (&b"key"[..], &b"value"[..]));
    assert_eq!(heap.record(kept), (&b"kept"[..], &b"1"[..]));
}

#[test]
fn a_pin_outlives_its_heap() {
    let mut heap = RecordHeap::new();
    let address = heap.append(b"key", &[9; 1000]).unwrap();
    let pin = heap.pin_value(address).unwrap();
    drop(heap);
    assert_eq!(pin.as_ref(), [9; 1000]);
}
