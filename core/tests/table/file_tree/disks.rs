//! Goal: no commit that was promised to last is lost, and none is half there, wherever the power goes
//! or the disk fails.
//! Method: a random history on the simulated disk; a power cut at each of its calls; the same history
//! again and again with one call after another failing.

use bytewright::files::Directory;
use bytewright::table::Table;
use bytewright::table::file::{OpenOptions, SyncMode, TreeTable};
use bytewright::{ErrorKind, Result};

use super::{CREATE, Entries, READ, WRITE, all, harder, try_all};
use crate::generate::{Random, seeds};
use crate::simulated_disk::{Failure, SimulatedDisk};

/// States committed one after another, and which of them was promised to last by which call.
#[derive(Default)]
struct History {
    states: Vec<Entries>,
    /// Calls of the disk, and the number of the state that was to last when they were over.
    promises: Vec<(u64, usize)>,
}

impl History {
    fn promise(&mut self, disk: &SimulatedDisk) {
        self.promises.push((disk.calls(), self.states.len() - 1));
    }

    /// The oldest state that may be found after the first `calls` calls.
    fn promised(&self, calls: u64) -> usize {
        self.promises.iter().rev().find(|(at, _)| *at <= calls).map_or(0, |(_, state)| *state)
    }
}

fn open(disk: &SimulatedDisk, options: OpenOptions) -> Result<TreeTable> {
    TreeTable::open_storage(disk.file("table"), "table", options)
}

/// Commits at random until `commits` are done or something fails.
fn run(
    disk: &SimulatedDisk,
    sync: SyncMode,
    commits: usize,
    random: &mut Random,
    history: &mut History,
) -> Result<()> {
    history.states.push(Entries::new());
    let mut table = open(disk, OpenOptions { sync, ..CREATE })?;
    for number in 0..commits {
        let mut state = history.states.last().unwrap().clone();
        table.begin()?;
        for _ in 0..1 + random.below(6) {
            let key = vec![random.below(60) as u8];
            if random.once_in(4) {
                state.remove(&key);
                table.delete(&key)?;
            } else {
                let value = vec![number as u8; random.below(3_000)];
                table.put(&key, &value)?;
                state.insert(key, value);
            }
        }
        // It may be there from now on.
        history.states.push(state);
        table.commit()?;
        if sync != SyncMode::Commit && random.once_in(3) {
            table.sync()?;
            history.promise(disk);
        } else if sync == SyncMode::Commit {
            history.promise(disk);
        }
        assert!(try_all(&table)? == *history.states.last().unwrap());
        if random.once_in(10) {
            // Closing writes, too, but has nobody to tell.
            table.sync()?;
            history.promise(disk);
            drop(table);
            table = open(disk, OpenOptions { sync, ..WRITE })?;
        }
    }
    Ok(())
}

/// Asserts that the table on `disk` holds one of the states, from the promised one on. A table that
/// was not promised yet may be no table.
fn assert_whole(disk: &SimulatedDisk, history: &History, promised: usize, options: OpenOptions) {
    let found = open(disk, options).and_then(|table| try_all(&table));
    match found {
        Ok(found) => {
            let is_known = history.states[promised..].contains(&found);
            assert!(is_known, "lost or half a commit: expected {promised} or later");
        }
        Err(error) => assert!(
            promised == 0 && error.kind() == ErrorKind::Format,
            "{error}, where {promised} was promised"
        ),
    }
}

// Promise (tree-table-file): A power cut leaves whole commits, and loses none that was promised to
// last.
#[test]
fn a_power_cut_at_any_call_loses_no_promised_commit_and_leaves_no_half_one() {
    for sync in [SyncMode::Commit, SyncMode::Never] {
        seeds(harder() as u64, |random| {
            let (disk, mut history) = (SimulatedDisk::new(), History::default());
            run(&disk, sync, 20 * harder(), random, &mut history).unwrap();
            for call in 2..=disk.calls() {
                let cut = disk.cut(call, random.next());
                let options = random.pick(&[READ, CREATE]);
                let options = OpenOptions { verify: random.once_in(3), ..options };
                assert_whole(&cut, &history, history.promised(call), options);
            }
        });
    }
}

// Promise (tree-table-file): also A power cut leaves whole commits
#[test]
fn a_table_goes_on_after_power_cuts_during_its_repair() {
    seeds(4, |random| {
        let (mut disk, mut history) = (SimulatedDisk::new(), History::default());
        run(&disk, SyncMode::Commit, 10, random, &mut history).unwrap();
        let states = history.states.len() - 1;
        let found = |table: &TreeTable| {
            let mut found = all(table);
            found.remove(&b"more"[..]);
            found
        };
        for round in 0..60 {
            let cut = disk.cut(disk.calls(), random.next());
            let mut table = open(&cut, WRITE).unwrap();
            assert!(found(&table) == history.states[states], "round {round}");
            if random.once_in(2) {
                table.put(b"more", &[1; 2_000]).unwrap();
                table.delete(b"more").unwrap();
            }
            drop(table);
            // Somewhere in the repair, the two commits, or the closing.
            disk = cut.cut(random.next() % (cut.calls() + 1), random.next());
            let table = open(&disk, WRITE).unwrap();
            assert!(found(&table) == history.states[states], "round {round}");
        }
    });
}

/// Commits of a history during which calls fail.
const FAILING_COMMITS: usize = 4;

/// A history as it was to be, and the disk it was to be on.
fn failing_run(
    sync: SyncMode,
    plan: &dyn Fn(&SimulatedDisk),
) -> (SimulatedDisk, History, Result<()>) {
    let (disk, mut history) = (SimulatedDisk::new(), History::default());
    drop(disk.file("table"));
    plan(&disk);
    let outcome = run(&disk, sync, FAILING_COMMITS * harder(), &mut Random::new(5), &mut history);
    (disk, history, outcome)
}

/// Looks at what a history left in which calls failed as planned; says whether one did.
fn assert_survives(sync: SyncMode, failure: Failure, plan: &dyn Fn(&SimulatedDisk)) -> bool {
    let (disk, history, outcome) = failing_run(sync, plan);
    let Err(error) = outcome else { return false };
    assert!(matches!(error.kind(), ErrorKind::Io(Some(5 | 28))), "{error}");
    let promised = history.promised(u64::MAX);
    let cut = disk.cut(disk.calls(), disk.calls());
    assert_whole(&cut, &history, promised, if disk.calls() % 2 == 0 { READ } else { CREATE });
    if failure == Failure::NoSpace {
        // The disk is still full, and what was committed can be read.
        assert_whole(&disk, &history, promised, READ);
    }
    disk.fail(0..0, Failure::Io);
    disk.fail_reads(0..0);
    // After a failed sync, programs may still read what is on no disk.
    if failure != Failure::Sync {
        assert_whole(&disk, &history, promised, CREATE);
    }
    true
}

// Promise (tree-table-file): A failing or full disk costs no commit that was promised to last, and
// is told.
#[test]
fn a_call_that_fails_costs_no_promised_commit_and_closes_the_table() {
    use Failure::{Io, NoSpace, ShortWrite, Sync, SyncForgets};
    for sync in [SyncMode::Commit, SyncMode::Never] {
        let calls = failing_run(sync, &|_| ()).0.calls();
        for (failure, goes_on) in
            [(Io, false), (NoSpace, true), (ShortWrite, true), (Sync, false), (SyncForgets, false)]
        {
            let mut failed = 0;
            for call in 2..calls {
                let end = if goes_on { u64::MAX } else { call + 1 };
                let plan = |disk: &SimulatedDisk| disk.fail(call..end, failure);
                failed += u32::from(assert_survives(sync, failure, &plan));
            }
            assert!(failed > 5, "{failure:?} {failed} of {calls}");
        }
    }
}

// Promise (tree-table-file): also A failing or full disk
#[test]
fn a_read_that_fails_is_an_error_and_costs_nothing() {
    let disk = SimulatedDisk::new();
    let mut table = open(&disk, CREATE).unwrap();
    table.begin().unwrap();
    for number in 0..300_u32 {
        table.put(&number.to_be_bytes(), &[number as u8; 300]).unwrap();
    }
    table.commit().unwrap();
    let before = all(&table);
    drop(table);
    let mut after = before.clone();
    after.insert(b"new".to_vec(), b"value".to_vec());
    let use_it = |disk: &SimulatedDisk| {
        let mut table = open(disk, WRITE)?;
        try_all(&table)?;
        table.put(b"new", b"value")
    };
    let mut read = 0;
    loop {
        let copy = disk.cut(disk.calls(), 0);
        copy.fail_reads(read..read + 1);
        let outcome = use_it(&copy);
        let reads = copy.reads();
        copy.fail_reads(0..0);
        let table = open(&copy, WRITE).unwrap();
        match outcome {
            Ok(()) if read >= reads => break assert!(all(&table) == after),
            // Some are not needed, as that of the other copy of the header.
            Ok(()) => assert!(all(&table) == after, "read {read}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Io(Some(5)), "{error}");
                assert!(all(&table) == before || all(&table) == after, "read {read}");
            }
        }
        read += 1;
    }
    assert!(read > 20, "{read}");
}

// Promise (tree-table-file): also A failing or full disk
#[test]
fn after_a_failure_the_table_is_read_only_until_it_is_opened_again() {
    let disk = SimulatedDisk::new();
    let mut table = open(&disk, CREATE).unwrap();
    table.put(b"key", b"1").unwrap();
    disk.fail(disk.calls()..u64::MAX, Failure::NoSpace);
    let error = table.put(b"key", &[2; 2_000_000]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(Some(28)));
    let error = table.put(b"key", b"3").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(Some(28)), "as the first");
    assert!(error.to_string().contains("closed by an earlier failure"), "{error}");
    assert!(error.to_string().contains("No space left"), "{error}");
    assert_eq!(table.get(b"key").unwrap().as_deref(), Some(&b"1"[..]), "it can still be read");
    assert_eq!(all(&table).len(), 1);
    table.close().unwrap();
    drop(table);
    let reader = open(&disk, READ).unwrap();
    assert_eq!(reader.get(b"key").unwrap().as_deref(), Some(&b"1"[..]), "still full");
    drop(reader);
    disk.fail(0..0, Failure::Io);
    assert_eq!(open(&disk, WRITE).unwrap().get(b"key").unwrap().as_deref(), Some(&b"1"[..]));
    assert!(Directory::id(&disk, "table".as_ref()).unwrap().is_some());
}

// Promise (tree-table-file): also A failing or full disk
#[test]
fn a_failure_in_the_background_is_told_by_the_next_call() {
    let disk = SimulatedDisk::new();
    let mut table = open(&disk, OpenOptions { sync: SyncMode::Interval, ..CREATE }).unwrap();
    table.put(b"key", b"1").unwrap();
    table.sync().unwrap();
    disk.fail(disk.calls()..u64::MAX, Failure::Io);
    table.put(b"key", b"2").unwrap();
    let error = loop {
        match table.delete(b"missing") {
            Ok(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            Err(error) => break error,
        }
    };
    assert_eq!(table.get(b"key").unwrap().as_deref(), Some(&b"2"[..]), "what was committed");
    assert_eq!(error.kind(), ErrorKind::Io(Some(5)));
    assert_eq!(table.sync().unwrap_err().kind(), ErrorKind::Io(Some(5)));
}
