//! Eviction: a table that evicts what was written first keeps the rest, whoever reads beside it, and its file keeps its size.

use std::fs;
use std::io::BufRead;
use std::io::BufReader;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use bytewright::table::file::{HashTable, OpenOptions};
use bytewright::table::{Eviction, Table, ValueType};
use bytewright::{ErrorKind, Result};

use crate::generate::{Random, seeds};
use crate::twin::{Twin, entries, entries_of, key};
use crate::{CREATE, READ, get, kind, path};

/// Options of a table that gives the beginning of its log back.
fn evicting() -> OpenOptions {
    let values = Some(ValueType::by_name("cache").unwrap());
    OpenOptions { verify: false, timeout: Duration::from_secs(10), values, ..CREATE }
}

/// Evicts of `table` and of its twin, at random.
fn evict(table: &mut HashTable, twin: &mut Twin, random: &mut Random, bytes: u64) -> Eviction {
    let (one_in, before) = (1 + random.below(4), twin.clone());
    let mut judged = Vec::new();
    let eviction = table
        .evict(bytes, &mut |key, value, _| {
            assert!(before.get(key).as_deref() == Some(value), "an entry that is not alive");
            let is_kept = !random.once_in(one_in);
            judged.push((key.to_vec(), value.to_vec(), is_kept));
            is_kept
        })
        .unwrap();
    let first = before.entries().into_iter().map(|(key, _)| key);
    assert!(first.take(judged.len()).eq(judged.iter().map(|(key, ..)| key.clone())));
    for (key, value, is_kept) in &judged {
        match is_kept {
            true => twin.put(key, value),
            false => drop(twin.delete(key)),
        }
    }
    let kept = judged.iter().filter(|(.., is_kept)| *is_kept).count() as u64;
    assert_eq!(eviction, Eviction { evicted: judged.len() as u64 - kept, kept });
    eviction
}

fn disk_bytes(path: &Path) -> u64 {
    fs::metadata(path).unwrap().blocks() * 512
}

// Promise (hash-table-file): What is evicted is gone, and the rest is as it was.
#[test]
fn what_is_evicted_is_gone_and_the_rest_is_as_it_was() {
    seeds(12, |random| {
        let path = path("evicted");
        let (mut table, mut twin) = (HashTable::open(&path, evicting()).unwrap(), Twin::default());
        table.count_uses(1 << 20).unwrap();
        let reader = HashTable::open(&path, READ).unwrap();
        let (keys, mut snapshots) = (100 + random.below(2000), Vec::new());
        for step in 0..3000 {
            match random.below(100) {
                0..=79 => {
                    let (key, len) = (key(random, keys), random.below(3000));
                    let value = random.bytes(len);
                    table.put(&key, &value).unwrap();
                    twin.put(&key, &value);
                }
                80..=87 => {
                    let key = key(random, keys);
                    assert_eq!(table.delete(&key).unwrap(), twin.delete(&key));
                }
                88..=93 => {
                    let bytes = random.below_u64(100_000);
                    evict(&mut table, &mut twin, random, bytes);
                }
                94 if snapshots.len() < 3 => {
                    snapshots.push((table.snapshot().unwrap(), twin.entries()));
                }
                95 if random.once_in(2) && !snapshots.is_empty() => {
                    let (snapshot, wanted) = snapshots.swap_remove(random.below(snapshots.len()));
                    assert_eq!(entries_of(&*snapshot).unwrap(), wanted);
                    for (key, value) in wanted.iter().step_by(5) {
                        let mut found = None;
                        snapshot.get_with(key, &mut |bytes| found = Some(bytes.to_vec())).unwrap();
                        assert_eq!(found.as_ref(), Some(value));
                    }
                }
                96 if random.once_in(20) => {
                    drop(table);
                    table = HashTable::open(&path, evicting()).unwrap();
                }
                97 if random.once_in(20) => table.compact().unwrap(),
                98 if random.once_in(20) => {
                    table.clear().unwrap();
                    twin.clear();
                }
                _ => {
                    let key = key(random, keys);
                    assert_eq!(get(&table, &key), twin.get(&key), "step {step}");
                    assert_eq!(get(&reader, &key), twin.get(&key), "step {step}");
                }
            }
        }
        assert_eq!(entries(&table).unwrap(), twin.entries());
        assert_eq!(table.stat().unwrap().records, twin.len());
        let live: usize = twin.entries().iter().map(|(key, value)| key.len() + value.len()).sum();
        assert!(table.stat().unwrap().live_bytes >= live as u64);
        drop((table, reader, snapshots));
        let table = HashTable::open(&path, OpenOptions { verify: true, ..evicting() }).unwrap();
        assert_eq!(entries(&table).unwrap(), twin.entries());
        assert_eq!(HashTable::check(&path).unwrap().damaged_at, None);
    });
}

// Promise (hash-table-file): A table that evicts keeps its size, and gives readers nothing wrong.
#[test]
fn a_table_that_evicts_as_much_as_is_put_keeps_its_size_on_disk() {
    let path = path("wanders");
    let mut table = HashTable::open(&path, evicting()).unwrap();
    let (limit, mut twin) = (1 << 20, Twin::default());
    let mut longest = 0;
    let mut random = Random::new(7);
    for number in 0..12_000_u32 {
        let (key, value) = (number.to_be_bytes(), random.bytes(600));
        table.put(&key, &value).unwrap();
        twin.put(&key, &value);
        if table.used_bytes().unwrap() > limit {
            evict(&mut table, &mut twin, &mut random, 64 << 10);
        }
        if number % 100 == 0 {
            longest = longest.max(disk_bytes(&path));
        }
    }
    let len = fs::metadata(&path).unwrap().len();
    if longest < len / 2 {
        // The file system gives blocks back.
        assert!(longest < limit + (700 << 10), "{longest} bytes on disk");
    }
    assert!(table.stat().unwrap().file_bytes < limit + (700 << 10));
    assert_eq!(entries(&table).unwrap(), twin.entries());
    table.close().unwrap();
    let reopened = HashTable::open(&path, evicting()).unwrap();
    assert_eq!(reopened.stat().unwrap().file_bytes / 8192, table_bytes(&path) / 8192);
    assert_eq!(entries(&reopened).unwrap(), twin.entries());
}

fn table_bytes(path: &Path) -> u64 {
    HashTable::open(path, READ).unwrap().stat().unwrap().file_bytes
}

// Promise (hash-table-file): also What is evicted is gone
#[test]
fn an_index_that_is_made_anew_has_what_was_not_evicted() {
    let (whole, copy) = (path("whole"), path("copied"));
    let mut table = HashTable::open(&whole, evicting()).unwrap();
    let (mut twin, mut random) = (Twin::default(), Random::new(3));
    for number in 0..12_000_u32 {
        let (key, value) = ((number % 7000).to_be_bytes(), random.bytes(300));
        table.put(&key, &value).unwrap();
        twin.put(&key, &value);
        if table.used_bytes().unwrap() > 1 << 20 {
            evict(&mut table, &mut twin, &mut random, 100 << 10);
        }
        if number % 3000 == 2999 {
            // As a power cut leaves it: others have no use for what the processes share.
            fs::copy(&whole, &copy).unwrap();
            let copied = HashTable::open(&copy, evicting()).unwrap();
            let found: Vec<_> = entries(&copied).unwrap();
            // What was evicted since the log was trimmed may be there again.
            for (key, value) in twin.entries() {
                assert_eq!(get(&copied, &key), Some(value));
            }
            assert!(found.len() as u64 >= twin.len());
            drop(copied);
            assert_eq!(HashTable::check(&copy).unwrap().damaged_at, None);
        }
    }
}

#[test]
fn an_index_that_is_made_anew_has_the_value_put_after_a_key_was_evicted() {
    for values in [evicting().values, None] {
        let (whole, copy) = (path("put_again"), path("put_again_copied"));
        let options = OpenOptions { values, ..evicting() };
        let mut table = HashTable::open(&whole, options).unwrap();
        let (mut twin, mut random) = (Twin::default(), Random::new(5));
        let put = |table: &mut HashTable, twin: &mut Twin, numbers: Range<u32>, value: &[u8]| {
            for number in numbers {
                table.put(&number.to_be_bytes(), value).unwrap();
                twin.put(&number.to_be_bytes(), value);
            }
        };
        put(&mut table, &mut twin, 0..2000, b"evicted");
        // Too few bytes to be given back.
        evict(&mut table, &mut twin, &mut random, 100 << 10);
        // The index grows, and leaves out what nobody reads.
        put(&mut table, &mut twin, 5000..15_000, b"beside");
        put(&mut table, &mut twin, 0..1000, b"put again");
        assert_eq!(entries(&table).unwrap(), twin.entries());
        let evicted = (1000..2000_u32).filter(|n| twin.get(&n.to_be_bytes()).is_none()).count();
        fs::copy(&whole, &copy).unwrap();
        for usage in [OpenOptions { read_only: true, ..options }, options] {
            let copied = HashTable::open(&copy, usage).unwrap();
            for (key, value) in twin.entries() {
                assert_eq!(get(&copied, &key), Some(value), "{key:?}");
            }
            let found: Vec<_> = entries(&copied).unwrap();
            assert_eq!(found.len(), twin.entries().len() + evicted);
            assert_eq!(copied.stat().unwrap().records, found.len() as u64);
        }
    }
}

#[test]
fn what_was_evicted_and_then_deleted_does_not_come_back_with_an_index_that_is_made_anew() {
    let (whole, copy) = (path("deleted"), path("deleted_copied"));
    let mut table = HashTable::open(&whole, evicting()).unwrap();
    for number in 0..1000_u32 {
        table.put(&number.to_be_bytes(), b"evicted").unwrap();
    }
    table.evict(100 << 10, &mut |_, _, _| false).unwrap();
    assert_eq!(get(&table, &60_u32.to_be_bytes()), None);
    for number in 0..50_u32 {
        assert!(!table.delete(&number.to_be_bytes()).unwrap());
        assert!(!table.delete(&number.to_be_bytes()).unwrap());
    }
    fs::copy(&whole, &copy).unwrap();
    let copied = HashTable::open(&copy, evicting()).unwrap();
    for number in 0..50_u32 {
        assert_eq!(get(&copied, &number.to_be_bytes()), None);
    }
    assert_eq!(get(&copied, &60_u32.to_be_bytes()), Some(b"evicted".to_vec()));
}

#[test]
fn a_snapshot_keeps_what_is_evicted_beside_it() {
    let path = path("pinned");
    let mut table = HashTable::open(&path, evicting()).unwrap();
    let put = |table: &mut HashTable, numbers: std::ops::Range<u32>| {
        for number in numbers {
            table.put(&number.to_be_bytes(), &[number as u8; 1000]).unwrap();
        }
    };
    put(&mut table, 0..1000);
    let snapshot = table.snapshot().unwrap();
    let before = entries_of(&*snapshot).unwrap();
    table.evict(900 << 10, &mut |_, _, _| false).unwrap();
    put(&mut table, 500..1500);
    let used = disk_bytes(&path);
    assert_eq!(entries_of(&*snapshot).unwrap(), before);
    for number in 0..1000_u32 {
        let mut found = Vec::new();
        assert!(snapshot.get_with(&number.to_be_bytes(), &mut |v| found = v.to_vec()).unwrap());
        assert_eq!(found, [number as u8; 1000]);
    }
    drop(snapshot);
    table.evict(300 << 10, &mut |_, _, _| false).unwrap();
    assert!(disk_bytes(&path) <= used, "it is given back when nobody reads it");
    assert_eq!(get(&table, &0_u32.to_be_bytes()), None);
    assert_eq!(get(&table, &1499_u32.to_be_bytes()), Some(vec![(1499 & 255) as u8; 1000]));
}

// Promise (hash-table-file): also A table that evicts keeps its size
#[test]
fn readers_beside_one_who_evicts_find_what_was_written_or_nothing() {
    let path = path("beside");
    let mut table = HashTable::open(&path, evicting()).unwrap();
    table.put(b"there", b"to make the file").unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let reader = HashTable::open(&path, READ).unwrap();
                let mut found = 0_u64;
                while !is_over.load(Relaxed) {
                    for number in 0..3000_u32 {
                        let Some(value) = get(&reader, &number.to_be_bytes()) else { continue };
                        found += 1;
                        assert!(value.len() >= 300 && value.iter().all(|b| *b == value[0]));
                    }
                    let snapshot = reader.snapshot().unwrap();
                    assert_eq!(
                        entries_of(&*snapshot).unwrap().len() as u64,
                        snapshot.len().unwrap()
                    );
                }
                assert!(found > 0);
            });
        }
        for number in 1..40_000_u32 {
            let value = vec![(number % 255) as u8; 300 + number as usize % 100];
            table.put(&(number % 3000).to_be_bytes(), &value).unwrap();
            if table.used_bytes().unwrap() > 1 << 20 {
                let mut turn = 0_u32;
                let keeps = &mut |_: &[u8], _: &[u8], _: u8| {
                    turn += 1;
                    turn.is_multiple_of(3)
                };
                table.evict(200 << 10, keeps).unwrap();
            }
        }
        is_over.store(true, Relaxed);
    });
}

#[test]
fn an_eviction_is_refused_in_a_transaction_and_by_who_only_reads() {
    let path = path("refused");
    let mut table = HashTable::open(&path, evicting()).unwrap();
    table.put(b"one", b"1").unwrap();
    table.begin().unwrap();
    assert_eq!(kind(table.evict(9, &mut |_, _, _| false)), ErrorKind::Argument);
    table.put(b"two", b"2").unwrap();
    table.commit().unwrap();
    let mut reader = HashTable::open(&path, READ).unwrap();
    assert_eq!(kind(reader.evict(9, &mut |_, _, _| false)), ErrorKind::Argument);
    // The last commit stays.
    assert_eq!(
        table.evict(1 << 20, &mut |_, _, _| false).unwrap(),
        Eviction { evicted: 1, kept: 0 }
    );
    assert_eq!(entries(&table).unwrap(), [(b"two".to_vec(), b"2".to_vec())]);
    assert_eq!(table.evict(1 << 20, &mut |_, _, _| false).unwrap(), Eviction::default());
}

/// Puts and evicts until it is killed, and says each number that is committed.
#[test]
#[ignore = "a process that another test starts"]
fn evicts_until_it_is_killed() {
    let path = std::env::var("BYTEWRIGHT_TABLE").unwrap();
    let mut table = HashTable::open(&path, evicting()).unwrap();
    let first = get(&table, b"next").map_or(0, |value| number_in(&value));
    for number in first.. {
        let work = |table: &mut HashTable| -> Result<()> {
            table.begin()?;
            table.put(&number.to_be_bytes(), &[number as u8; 700])?;
            table.put(b"next", &(number + 1).to_be_bytes())?;
            table.commit()
        };
        work(&mut table).unwrap();
        println!("said {number}");
        if table.used_bytes().unwrap() > 1 << 20 {
            table.evict(64 << 10, &mut |key, _, _| key == b"next").unwrap();
        }
    }
}

fn number_in(value: &[u8]) -> u64 {
    u64::from_be_bytes(value.try_into().unwrap())
}

fn start(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "eviction::evicts_until_it_is_killed", "--ignored", "--nocapture"])
        .env("BYTEWRIGHT_TABLE", path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_process_that_is_killed_while_it_evicts_loses_nothing_that_it_said() {
    let path = path("killed");
    let reader = {
        drop(HashTable::open(&path, evicting()).unwrap());
        HashTable::open(&path, READ).unwrap()
    };
    let rounds = std::env::var("BYTEWRIGHT_KILLS").map_or(12, |kills| kills.parse().unwrap());
    seeds(1, |random| {
        for _ in 0..rounds {
            let mut child = start(&path);
            let mut said = None;
            let wanted = 200 + random.below(3000);
            for line in BufReader::new(child.stdout.take().unwrap()).lines().take(wanted) {
                let line = line.unwrap();
                said = line.strip_prefix("said ").map(|n| n.parse::<u64>().unwrap()).or(said);
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let said = said.unwrap();
            let next = number_in(&get(&reader, b"next").unwrap());
            assert!(next > said, "{next} behind {said}");
            // Those that came last are not evicted yet.
            for number in said.saturating_sub(500)..=said {
                assert_eq!(get(&reader, &number.to_be_bytes()), Some(vec![number as u8; 700]));
            }
            let used = disk_bytes(&path);
            let len = fs::metadata(&path).unwrap().len();
            assert!(used < 3 << 20 || used > len / 2, "{used} bytes on disk");
            if random.once_in(3) {
                drop(HashTable::open(&path, OpenOptions { verify: true, ..evicting() }).unwrap());
            }
        }
    });
}

#[test]
fn uses_are_counted_for_each_entry_by_all_who_read_and_one_is_taken_for_each_turn() {
    let path = path("uses");
    let mut table = HashTable::open(&path, evicting()).unwrap();
    table.count_uses(1 << 20).unwrap();
    for number in 0..50_u32 {
        table.put(&number.to_be_bytes(), &[7; 200]).unwrap();
    }
    let reader = HashTable::open(&path, READ).unwrap();
    for number in 0..50_u32 {
        for _ in 0..number % 6 {
            let from: &HashTable = if number % 2 == 0 { &table } else { &reader };
            assert!(from.contains(&number.to_be_bytes()).unwrap());
        }
    }
    let uses = |table: &mut HashTable| {
        let mut found = std::collections::BTreeMap::new();
        let keeps = &mut |key: &[u8], _: &[u8], uses| {
            found.insert(u32::from_be_bytes(key.try_into().unwrap()), uses);
            true
        };
        table.evict(1 << 20, keeps).unwrap();
        found
    };
    let counted = uses(&mut table);
    assert_eq!(counted.len(), 49, "all but the last one");
    assert!(counted.iter().all(|(number, uses)| u32::from(*uses) == (number % 6).min(3)));
    drop((reader, table));
    // Those who come later go on with the counts.
    let mut table = HashTable::open(&path, evicting()).unwrap();
    let counted = uses(&mut table);
    assert!(counted.iter().all(|(number, uses)| {
        u32::from(*uses) == (number % 6).min(3).saturating_sub(1) || *number == 49
    }));
}
