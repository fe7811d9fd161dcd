//! Goal: where the system refuses in the middle of a transaction, the file holds what it held and the
//! error comes; whatever else fails then, no state is mixed.
//!
//! Method: one more transaction after a random history, again and again, each time with another of its
//! calls failing, alone or with all that follow.

use std::path::Path;

use bytewright::ErrorKind;
use bytewright::pstore::{Durability, Options, Store};

use crate::generate::{Random, seeds};
use crate::model::{Table, change, read};
use crate::rounds;
use crate::simulated::SimulatedSystem;
use crate::simulated_disk::{ENOSPC, Failure, SimulatedDisk};

const NAME: &str = "x.pstore";

/// A disk, the table in its file, and a change of that.
struct Case {
    disk: SimulatedDisk,
    table: Table,
    new: (Table, Table, Vec<bytewright::marshal::Edit>),
    durability: Durability,
    by_roots: bool,
}

/// Outcome of a case.
struct Outcome {
    result: bytewright::Result<bool>,
    store: Store,
    system: SimulatedSystem,
}

impl Case {
    fn of(random: &mut Random) -> Case {
        let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
        let durability = random.pick(&[Durability::Process, Durability::Power]);
        let mut table = Table::default();
        let mut store = store(&system);
        let step = |store: &mut Store, table: &Table, random: &mut Random| {
            let (new, changes, edits) = table.changed(random);
            let path = Path::new(NAME);
            change(store, path, (&new, &changes, &edits), Durability::Process, true).unwrap();
            new
        };
        while table.0.is_empty() || random.below(4) > 0 {
            table = step(&mut store, &table, random);
        }
        drop(store);
        let mut new = table.changed(random);
        while new.0 == table {
            new = table.changed(random);
        }
        let disk = system.disk.killed(u64::MAX, 0);
        Case { disk, table, new, durability, by_roots: random.once_in(2) }
    }

    fn run(&self, calls: std::ops::Range<u64>, failure: Failure) -> Outcome {
        let disk = self.disk.killed(u64::MAX, 0);
        disk.fail(calls, failure);
        let system = SimulatedSystem::new(disk, 1);
        let mut store = store(&system);
        let (new, changes, edits) = &self.new;
        let of_table = (new, changes, &edits[..]);
        let result = change(&mut store, Path::new(NAME), of_table, self.durability, self.by_roots);
        Outcome { result, store, system }
    }
}

fn store(system: &SimulatedSystem) -> Store {
    Store::with_file_system(Options::default(), Box::new(system.clone()))
}

// Promise (pstore-journal): A full disk leaves the store as before or after.
#[test]
fn a_full_disk_leaves_what_there_was() {
    seeds(rounds(40), |random| {
        let case = Case::of(random);
        for failure in [Failure::NoSpace, Failure::ShortWrite] {
            for call in 0.. {
                let mut outcome = case.run(call..call + 1, failure);
                let is_over = outcome.system.disk.calls() <= call;
                let expected = match &outcome.result {
                    Ok(changed) => {
                        assert!(changed);
                        case.new.0.dump()
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Io(Some(ENOSPC)), "{error}");
                        case.table.dump()
                    }
                };
                let path = Path::new(NAME);
                assert_eq!(outcome.system.disk.bytes(NAME).unwrap(), expected, "call {call}");
                assert_eq!(read(&mut outcome.store, path), expected, "call {call}");
                assert_eq!(read(&mut store(&outcome.system), path), expected, "call {call}");
                if is_over {
                    assert!(outcome.result.is_ok());
                    break;
                }
            }
        }
    });
}

#[test]
fn a_disk_that_stays_full_leaves_what_there_was_where_the_file_grows() {
    seeds(rounds(20), |random| {
        let mut case = Case::of(random);
        case.durability = Durability::Process;
        // One root more at the end, so that there is nothing before the growth but the count.
        let mut new = case.table.clone();
        new.0.push(("grown".to_owned(), random.bytes(9_000)));
        case.new.0 = new;
        case.by_roots = false;
        for call in 0..3 {
            let outcome = case.run(call..u64::MAX, Failure::ShortWrite);
            outcome.result.unwrap_err();
            assert_eq!(outcome.system.disk.bytes(NAME).unwrap(), case.table.dump(), "call {call}");
        }
    });
}

// Promise (pstore-journal): also A full disk leaves the store
#[test]
fn no_failure_mixes_two_states() {
    let failures = [Failure::Io, Failure::NoSpace, Failure::Sync, Failure::SyncForgets];
    seeds(rounds(40), |random| {
        let case = Case::of(random);
        let around = [case.table.dump(), case.new.0.dump()];
        for failure in failures {
            for call in 0..40 {
                let stays = random.once_in(2);
                let calls = call..if stays { u64::MAX } else { call + 1 };
                let mut outcome = case.run(calls, failure);
                if outcome.result.is_ok() {
                    assert_eq!(outcome.system.disk.bytes(NAME).unwrap(), around[1]);
                }
                outcome.system.disk.fail(0..0, failure);
                let path = Path::new(NAME);
                let found = read(&mut outcome.store, path);
                assert!(around.contains(&found), "{failure:?} in call {call}");
                assert_eq!(read(&mut store(&outcome.system), path), found);
                if outcome.system.disk.calls() <= call {
                    break;
                }
            }
        }
    });
}

#[test]
fn what_cannot_be_read_is_an_error_and_stays() {
    seeds(rounds(20), |random| {
        let case = Case::of(random);
        let system = SimulatedSystem::new(case.disk.killed(u64::MAX, 0), 1);
        let mut store = store(&system);
        for failing in 0..3 {
            system.disk.fail_reads(failing..failing + 1);
            if store.try_begin(Path::new(NAME), bytewright::pstore::Access::Write).is_ok() {
                let _ = store.load();
            }
            store.end();
        }
        system.disk.fail_reads(0..0);
        assert_eq!(read(&mut store, Path::new(NAME)), case.table.dump());
    });
}
