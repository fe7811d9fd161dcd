//! The disk fails at every call of a history: the call that needs it says so, nothing more is written,
//! what was committed is still read, and opening again finds it.

use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions, SyncMode};
use bytewright::{ErrorKind, Result};

use crate::generate::{Random, seeds};
use crate::simulated_disk::{EIO, ENOSPC, Failure, SimulatedDisk};
use crate::twin::{Change, Entries, Twin, entries};
use crate::{CREATE, WRITE, kind, open_on};

/// Contents of a table after the commits that were acknowledged, and after the one that failed.
struct Outcome {
    acknowledged: Entries,
    failed: Entries,
    error: Option<bytewright::Error>,
    /// True if the failure lets nothing more be written.
    is_fatal: bool,
}

/// One commit of a history, the same for the same random numbers whatever fails.
fn commit(random: &mut Random, table: &mut HashTable, twin: &mut Twin) -> Result<bool> {
    match random.below(20) {
        0 => table.sync().map(|()| true),
        // A failure before the new file has the name leaves the table as it is.
        1 => table.compact().map(|()| false),
        2..=4 => {
            let changes: Vec<Change> =
                (0..1 + random.below(4)).map(|_| Change::random(random, 12, 100)).collect();
            changes.iter().for_each(|change| change.make_to_twin(twin));
            table.begin()?;
            for change in &changes {
                change.make(table)?;
            }
            table.commit().map(|()| true)
        }
        _ => {
            let change = Change::random(random, 12, 100);
            change.make_to_twin(twin);
            change.make(table).map(|()| true)
        }
    }
}

fn run(table: &mut HashTable, seed: u64, steps: usize) -> Outcome {
    let mut random = Random::new(seed);
    let mut twin = Twin::default();
    for _ in 0..steps {
        let acknowledged = twin.entries();
        let result = commit(&mut random, table, &mut twin);
        if let Err(error) = result {
            let is_fatal = table.put(b"probe", b"").is_err();
            if !is_fatal {
                table.delete(b"probe").unwrap();
            }
            return Outcome { acknowledged, failed: twin.entries(), error: Some(error), is_fatal };
        }
    }
    let all = twin.entries();
    Outcome { acknowledged: all.clone(), failed: all, error: None, is_fatal: false }
}

fn check_failure_at(call: u64, failure: Failure, sync: SyncMode, seed: u64) -> bool {
    let what = format!("{failure:?} at call {call}, {sync:?}, seed {seed}");
    let disk = SimulatedDisk::new();
    disk.fail(call..call + 1, failure);
    let options = OpenOptions { sync, ..CREATE };
    let mut table = match open_on(&disk, options) {
        Ok(table) => table,
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Io(Some(_))), "{what}: {error}");
            // Making the table failed; it can be made now.
            drop(open_on(&disk, options).unwrap());
            return true;
        }
    };
    let outcome = run(&mut table, seed, 40);
    let forgets = failure == Failure::SyncForgets;
    if let Some(error) = &outcome.error {
        let errno = match error.kind() {
            ErrorKind::Io(Some(errno)) => errno,
            other => panic!("{what}: {other:?}"),
        };
        assert!([EIO, ENOSPC].contains(&errno), "{what}");
        assert!(error.file().is_some_and(|file| file.starts_with("x.bwh")), "{what}");
    }
    if outcome.is_fatal {
        let error = table.put(b"more", b"").unwrap_err();
        let first = outcome.error.as_ref().unwrap().kind();
        assert_eq!(error.kind(), first, "{what}");
        assert!(error.to_string().contains("open it again"), "{what}: {error}");
        assert_eq!(kind(table.sync()), first, "{what}");
        table.abort().unwrap();
    }
    match entries(&table) {
        Ok(found) => assert_eq!(found, outcome.acknowledged, "{what}: read on"),
        Err(error) => assert!(forgets && error.kind() == ErrorKind::Corrupt, "{what}: {error}"),
    }
    drop(table);
    match open_on(&disk, WRITE) {
        Ok(table) => {
            let found = entries(&table).unwrap();
            let is_known = found == outcome.acknowledged || found == outcome.failed;
            assert!(is_known || forgets, "{what}: open again");
        }
        Err(error) => assert!(forgets && error.kind() == ErrorKind::Corrupt, "{what}: {error}"),
    }
    outcome.error.is_some() || call < disk.calls()
}

// Promise (hash-table-file): also A failing or full disk
#[test]
fn a_failure_at_any_call_is_reported_and_costs_no_commit() {
    for failure in
        [Failure::Io, Failure::NoSpace, Failure::ShortWrite, Failure::Sync, Failure::SyncForgets]
    {
        for sync in [SyncMode::Commit, SyncMode::Never] {
            seeds(2, |random| {
                let seed = random.next();
                let mut call = 0;
                while check_failure_at(call, failure, sync, seed) {
                    call += 1;
                }
                assert!(call > 20, "there were calls");
            });
        }
    }
}

#[test]
fn a_full_disk_leaves_the_last_commit_readable_and_takes_the_transaction_back() {
    let disk = SimulatedDisk::new();
    let mut table = open_on(&disk, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    disk.fail(disk.calls()..u64::MAX, Failure::ShortWrite);
    table.begin().unwrap();
    table.put(b"a", b"2").unwrap();
    table.begin().unwrap();
    let mut failed = None;
    for number in 0..8_u8 {
        let put = table.put(&[number], &vec![0; 2 << 20]);
        failed = failed.or(put.err());
    }
    assert_eq!(failed.unwrap().kind(), ErrorKind::Io(Some(ENOSPC)));
    assert_eq!((table.depth(), table.len().unwrap()), (0, 1));
    assert_eq!(table.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
    drop(table);
    disk.fail(0..0, Failure::Io);
    let table = open_on(&disk, WRITE).unwrap();
    assert_eq!(table.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
}

#[test]
fn a_read_that_fails_is_an_error_of_that_call_only() {
    let disk = SimulatedDisk::new();
    let mut table = open_on(&disk, CREATE).unwrap();
    let mut twin = Twin::default();
    for number in 0..50_u8 {
        table.put(&[number], &[number; 30]).unwrap();
        twin.put(&[number], &[number; 30]);
    }
    for number in 0..50_u8 {
        disk.fail_reads(disk.reads()..disk.reads() + 1);
        let result = match number % 3 {
            0 => table.get(&[number]).map(drop),
            1 => table.put(&[number], b"x"),
            _ => entries(&table).map(drop),
        };
        assert_eq!(kind(result), ErrorKind::Io(Some(EIO)));
        disk.fail_reads(0..0);
        assert_eq!(entries(&table).unwrap(), twin.entries());
    }
    table.put(b"more", b"").unwrap();
    // Compacting reads all of it.
    disk.fail_reads(disk.reads()..disk.reads() + 1);
    assert_eq!(kind(table.compact()), ErrorKind::Io(Some(EIO)));
    table.compact().unwrap();
    assert_eq!(table.len().unwrap(), 51);
}
