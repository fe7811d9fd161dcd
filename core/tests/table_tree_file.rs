//! Goal: a table in a file keeps what was committed and nothing else, and says so when it cannot.
//! Method: behaviours one by one, random operations against a `BTreeMap`, bytes flipped in a closed
//! file, a disk that fails; a failure prints the seed that repeats it (BYTEWRIGHT_SEED).

#![allow(clippy::unwrap_used, clippy::panic)]

mod flow_frames;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytewright::ErrorKind;
use bytewright::io::{MemoryStorage, Storage};
use bytewright::table::file::{Entry, OpenOptions, SyncMode, TreeTable};
use flow_frames::Random;

const CREATE: OpenOptions = OpenOptions {
    create: true,
    read_only: false,
    verify: true,
    sync: SyncMode::Commit,
    timeout: Duration::ZERO,
};
const WRITE: OpenOptions = OpenOptions { create: false, ..CREATE };
const READ: OpenOptions = OpenOptions { read_only: true, ..WRITE };

/// A path for one test, where nothing is.
fn path(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("table_{name}.bwt"));
    let _ = std::fs::remove_file(&path);
    path
}

fn entries(table: &TreeTable) -> Vec<Entry> {
    table.scan().unwrap().map(Result::unwrap).collect()
}

#[test]
fn what_was_put_is_there_after_opening_again() {
    let path = path("reopen");
    let table = TreeTable::open(&path, CREATE).unwrap();
    table.put(b"b", b"2").unwrap();
    table.put(b"a", b"1").unwrap();
    table.put(b"c", b"").unwrap();
    assert!(table.delete(b"b").unwrap());
    assert!(!table.delete(b"b").unwrap());
    drop(table);
    let table = TreeTable::open(&path, WRITE).unwrap();
    assert_eq!(table.len().unwrap(), 2);
    assert_eq!(table.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(table.get(b"b").unwrap(), None);
    assert_eq!(entries(&table), [(b"a".to_vec(), b"1".to_vec()), (b"c".to_vec(), Vec::new())]);
}

#[test]
fn a_range_starts_at_its_first_key_and_stops_before_its_end() {
    let table = TreeTable::open(path("range"), CREATE).unwrap();
    for key in ["a", "b", "bb", "c"] {
        table.put(key.as_bytes(), b"").unwrap();
    }
    let keys = |from: &str, to| -> Vec<String> {
        let scan = table.range(from.as_bytes(), to).unwrap();
        scan.map(|entry| String::from_utf8(entry.unwrap().0).unwrap()).collect()
    };
    assert_eq!(keys("b", Bound::Excluded(&b"c"[..])), ["b", "bb"]);
    assert_eq!(keys("aa", Bound::Unbounded), ["b", "bb", "c"]);
    assert!(keys("d", Bound::Excluded(&b"a"[..])).is_empty());
}

#[test]
fn a_transaction_that_fails_or_is_dropped_changes_nothing() {
    let table = TreeTable::open(path("rollback"), CREATE).unwrap();
    table.put(b"kept", b"1").unwrap();
    let failed = table.transaction(|entries| {
        entries.put(b"new", b"2")?;
        entries.delete(b"kept")?;
        assert_eq!(entries.len()?, 1);
        assert_eq!(entries.get(b"new")?.as_deref(), Some(&b"2"[..]));
        Err::<(), _>(bytewright::Error::new(ErrorKind::Argument, "no"))
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Argument);
    let transaction = table.begin().unwrap();
    transaction.entries().unwrap().put(b"new", b"2").unwrap();
    drop(transaction);
    assert_eq!(entries(&table), [(b"kept".to_vec(), b"1".to_vec())]);
}

#[test]
fn a_second_transaction_of_one_thread_is_an_error_and_of_another_waits() {
    let table = TreeTable::open(path("nested"), CREATE).unwrap();
    let transaction = table.begin().unwrap();
    assert_eq!(table.put(b"a", b"").unwrap_err().kind(), ErrorKind::Lock);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| table.put(b"other", b""));
        transaction.entries().unwrap().put(b"first", b"").unwrap();
        transaction.commit().unwrap();
        other.join().unwrap().unwrap();
    });
    table.put(b"third", b"").unwrap();
    assert_eq!(table.len().unwrap(), 3);
}

#[test]
fn two_writers_or_a_writer_and_a_reader_lock_each_other_out_and_readers_do_not() {
    let path = path("lock");
    let writer = TreeTable::open(&path, CREATE).unwrap();
    for options in [CREATE, WRITE, READ] {
        let error = TreeTable::open(&path, options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lock);
        assert_eq!(error.file(), path.to_str());
    }
    drop(writer);
    let readers = [TreeTable::open(&path, READ).unwrap(), TreeTable::open(&path, READ).unwrap()];
    assert_eq!(TreeTable::open(&path, WRITE).unwrap_err().kind(), ErrorKind::Lock);
    drop(readers);
    TreeTable::open(&path, WRITE).unwrap();
}

#[test]
fn a_table_opened_to_read_leaves_the_file_as_it_is() {
    let path = path("read_only");
    TreeTable::open(&path, CREATE).unwrap().put(b"a", b"1").unwrap();
    let before = std::fs::read(&path).unwrap();
    let table = TreeTable::open(&path, READ).unwrap();
    assert_eq!(table.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(table.put(b"b", b"").unwrap_err().kind(), ErrorKind::Argument);
    drop(table);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_missing_an_empty_and_a_foreign_file_are_told_apart() {
    let path = path("foreign");
    let kind = |options| TreeTable::open(&path, options).unwrap_err().kind();
    assert!(matches!(kind(WRITE), ErrorKind::Io(Some(2))));
    assert!(matches!(kind(READ), ErrorKind::Io(Some(2))));
    std::fs::write(&path, b"").unwrap();
    assert_eq!((kind(WRITE), kind(READ)), (ErrorKind::Format, ErrorKind::Format));
    std::fs::write(&path, b"\xd4\xc3\xb2\xa1 is not a table").unwrap();
    let error = TreeTable::open(&path, CREATE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
    assert!(error.to_string().contains("d4, c3, b2, a1"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap().len(), 19, "left alone");
    std::fs::write(&path, [0; 5_000]).unwrap();
    assert_eq!(kind(CREATE), ErrorKind::Format);
}

#[test]
fn a_table_of_a_newer_format_and_another_programs_redb_file_are_refused() {
    let definition = |name| redb::TableDefinition::<&[u8], &[u8]>::new(name);
    for (name, what) in [("bytewright.tree.2", "newer"), ("users", "another program")] {
        let path = path(&format!("newer_{}", what.len()));
        let database = redb::Database::create(&path).unwrap();
        let writing = database.begin_write().unwrap();
        writing.open_table(definition(name)).unwrap().insert(&b"k"[..], &b"v"[..]).unwrap();
        writing.commit().unwrap();
        drop(database);
        let error = TreeTable::open(&path, WRITE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn random_operations_give_what_a_map_in_memory_gives() {
    let (mut random, seed) = Random::seeded();
    let storage = MemoryStorage::default();
    let open = |options| TreeTable::open_storage(Box::new(storage.clone()), "memory", options);
    let mut table = Some(open(CREATE).unwrap());
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for _ in 0..300 {
        if random.below(20) == 0 {
            drop(table.take());
            table = Some(open(WRITE).unwrap());
        }
        let table = table.as_ref().unwrap();
        let mut changed = model.clone();
        let commits = random.below(3) > 0;
        let outcome = table.transaction(|entries| {
            for _ in 0..random.below(40) {
                let key = random.below(500).to_be_bytes()[6..].to_vec();
                if random.below(3) == 0 {
                    assert_eq!(entries.delete(&key)?, changed.remove(&key).is_some());
                } else {
                    let value = vec![key[1]; random.below(2_000) as usize];
                    entries.put(&key, &value)?;
                    changed.insert(key, value);
                }
            }
            assert_eq!(entries.len()?, changed.len() as u64, "seed {seed}");
            match commits {
                true => Ok(()),
                false => Err(bytewright::Error::new(ErrorKind::Argument, "rolled back")),
            }
        });
        assert_eq!(outcome.is_ok(), commits, "seed {seed}");
        if commits {
            model = changed;
        }
        let expected: Vec<Entry> = model.clone().into_iter().collect();
        assert!(entries(table) == expected, "seed {seed}");
    }
}

#[test]
fn flipped_bytes_in_a_closed_file_give_an_error_or_the_right_values() {
    let (mut random, seed) = Random::seeded();
    let storage = MemoryStorage::default();
    let open = |storage: &MemoryStorage, options| {
        TreeTable::open_storage(Box::new(storage.clone()), "memory", options)
    };
    let table = open(&storage, CREATE).unwrap();
    for round in 0..4_u32 {
        table
            .transaction(|entries| {
                for number in 0..400_u32 {
                    entries.put(&number.to_be_bytes(), &[round as u8; 60])?;
                }
                Ok(())
            })
            .unwrap();
    }
    let expected = entries(&table);
    drop(table);
    let whole = storage.bytes();
    // Most of a new file is room that nothing uses; half of the flips go where the header is.
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap() as u64;
    let mut damaged = 0;
    for _ in 0..400 {
        let mut bytes = whole.clone();
        let places = 1 + random.below(3);
        for _ in 0..places {
            let bound = if random.below(2) == 0 { 400 } else { used };
            bytes[random.below(bound) as usize] ^= 1 << random.below(8);
        }
        if random.below(20) == 0 {
            bytes.truncate(random.below(whole.len() as u64) as usize);
        }
        let options = if random.below(2) == 0 { READ } else { WRITE };
        let found: bytewright::Result<Vec<Entry>> =
            open(&MemoryStorage::new(bytes), options).and_then(|table| table.scan()?.collect());
        match found {
            Ok(found) => assert!(found == expected, "seed {seed}: other values"),
            Err(error) => {
                damaged += 1;
                let kind = error.kind();
                assert!(
                    matches!(kind, ErrorKind::Corrupt | ErrorKind::Format),
                    "seed {seed}: {kind:?} {error}"
                );
            }
        }
    }
    assert!(damaged > 20, "{damaged}");
}

/// A disk on which writes fail after so many.
#[derive(Debug)]
struct Failing {
    below: MemoryStorage,
    left: Arc<AtomicI64>,
}

impl Failing {
    fn may(&self) -> std::io::Result<()> {
        match self.left.fetch_sub(1, Ordering::Relaxed) {
            1.. => Ok(()),
            _ => Err(std::io::Error::from_raw_os_error(28)),
        }
    }
}

impl Storage for Failing {
    fn len(&self) -> std::io::Result<u64> {
        self.below.len()
    }
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> std::io::Result<()> {
        self.below.read_at(offset, bytes)
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.may()?;
        self.below.write_at(offset, bytes)
    }
    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.may()?;
        self.below.set_len(len)
    }
    fn sync(&self) -> std::io::Result<()> {
        self.may()
    }
}

#[test]
fn a_full_disk_is_an_error_and_what_was_committed_stays() {
    for failing_write in 0..40 {
        let below = MemoryStorage::default();
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let storage = Failing { below: below.clone(), left: left.clone() };
        let table = TreeTable::open_storage(Box::new(storage), "disk", CREATE).unwrap();
        table.put(b"key", b"0").unwrap();
        left.store(failing_write, Ordering::Relaxed);
        let mut committed = 0_u8;
        let error = loop {
            match table.put(b"key", &[committed + 1]) {
                Ok(()) => committed += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(error.kind(), ErrorKind::Io(Some(28))), "{error}");
        let next = table.put(b"key", b"later").unwrap_err();
        assert!(matches!(next.kind(), ErrorKind::Closed | ErrorKind::Io(_)), "{next}");
        drop(table);
        let table = TreeTable::open_storage(Box::new(below), "disk", WRITE).unwrap();
        let value = table.get(b"key").unwrap().unwrap();
        let kept = if committed == 0 { b"0"[..].to_vec() } else { vec![committed] };
        // The commit that failed may have reached the disk all the same.
        assert!(value == kept || value == [committed + 1], "{value:?} after {committed}");
    }
}
