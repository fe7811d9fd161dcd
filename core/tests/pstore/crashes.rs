//! Goal: wherever a program dies or the power goes, who opens the store next finds the state before or
//! after the transaction, and no reported one is lost.
//!
//! Method: random histories on a simulated disk, which then shows what each of their calls could have
//! left, were it the last. The same is done to the algorithm of the host's own library, which must be
//! seen to fail.

use std::path::Path;

use bytewright::pstore::{Durability, Options, Store};

use crate::folder::Folder;
use crate::generate::{Random, seeds};
use crate::model::{Table, change, read};
use crate::rounds;
use crate::simulated::SimulatedSystem;
use crate::simulated_disk::SimulatedDisk;

const NAME: &str = "x.pstore";

fn store(system: &SimulatedSystem) -> Store {
    Store::with_file_system(Options::default(), Box::new(system.clone()))
}

/// Contents of the file after each transaction, with the number of the call that came next.
struct History {
    system: SimulatedSystem,
    states: Vec<(u64, Vec<u8>)>,
}

impl History {
    fn of(random: &mut Random, durabilities: &[Durability]) -> History {
        let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
        let mut history = History { system: system.clone(), states: vec![(0, Vec::new())] };
        let mut stores = [store(&system), store(&system)];
        let mut table = Table::default();
        for _ in 0..12 {
            let (new, changes, edits) = table.changed(random);
            let store = &mut stores[random.below(2)];
            let durability = random.pick(durabilities);
            let of_table = (&new, &changes, &edits[..]);
            let by_roots = random.once_in(2);
            let changed = change(store, Path::new(NAME), of_table, durability, by_roots).unwrap();
            assert_eq!(changed, new != table);
            if changed {
                let there = system.disk.bytes(NAME).unwrap();
                assert_eq!(there, new.dump());
                history.states.push((system.disk.calls(), there));
            }
            table = new;
            if random.once_in(6) {
                *store = self::store(&system);
            }
        }
        history
    }

    /// The states before and after the transaction that call `call` belongs to.
    fn around(&self, call: u64) -> [&Vec<u8>; 2] {
        let after = self.states.partition_point(|(next, _)| *next <= call);
        let state = |at: usize| &self.states[at.min(self.states.len() - 1)].1;
        [state(after.saturating_sub(1)), state(after)]
    }
}

// Promise (pstore-journal): A killed program leaves the store as before or after.
#[test]
fn the_death_of_the_program_leaves_the_state_before_or_after() {
    let points = std::sync::atomic::AtomicU64::new(0);
    seeds(rounds(24), |random| {
        let history = History::of(random, &[Durability::Process, Durability::Power]);
        for call in 0..=history.system.disk.calls() {
            for way in 0..2 {
                let disk = history.system.disk.killed(call, random.next());
                let system = SimulatedSystem::new(disk, 1);
                let found = read(&mut store(&system), Path::new(NAME));
                assert!(
                    history.around(call).contains(&&found),
                    "call {call}, way {way}: {} bytes",
                    found.len()
                );
                if system.disk.bytes(NAME).is_some() {
                    assert_eq!(system.disk.bytes(NAME).unwrap(), found);
                }
                points.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
    });
    println!("{} points", points.into_inner());
}

// Promise (pstore-journal): A loss of power leaves the store as before or after, with `ultra_safe`.
#[test]
fn a_power_cut_leaves_the_state_before_or_after() {
    let points = std::sync::atomic::AtomicU64::new(0);
    seeds(rounds(24), |random| {
        let history = History::of(random, &[Durability::Power]);
        for call in 0..=history.system.disk.calls() {
            for way in 0..2 {
                let disk = history.system.disk.cut(call, random.next());
                let system = SimulatedSystem::new(disk, 2);
                let found = read(&mut store(&system), Path::new(NAME));
                assert!(
                    history.around(call).contains(&&found),
                    "call {call}, way {way}: {} bytes",
                    found.len()
                );
                points.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
    });
    println!("{} points", points.into_inner());
}

// Promise (pstore-journal): also A loss of power leaves the store
#[test]
fn the_power_may_go_again_while_a_writing_is_finished() {
    seeds(rounds(24), |random| {
        let history = History::of(random, &[Durability::Power]);
        for _ in 0..60 {
            let call = random.below(history.system.disk.calls() as usize) as u64;
            let mut system = SimulatedSystem::new(history.system.disk.cut(call, random.next()), 2);
            for boot in 3..6 {
                let _ = read(&mut store(&system), Path::new(NAME));
                let calls = system.disk.calls() as usize + 1;
                let again = system.disk.cut(random.below(calls) as u64, random.next());
                system = SimulatedSystem::new(again, boot);
            }
            let found = read(&mut store(&system), Path::new(NAME));
            assert!(history.around(call).contains(&&found), "call {call}");
        }
    });
}

#[test]
fn a_durable_transaction_takes_what_went_before_along() {
    seeds(rounds(24), |random| {
        let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
        let (mut ours, mut table) = (store(&system), Table::default());
        for _ in 0..6 {
            for durability in [Durability::Process, Durability::Process, Durability::Power] {
                let mut changed = table.changed(random);
                while changed.0 == table {
                    changed = table.changed(random);
                }
                let (new, changes, edits) = changed;
                if durability == Durability::Process && random.once_in(2) {
                    system.rewrite(NAME, &new.dump());
                } else {
                    let of_table = (&new, &changes, &edits[..]);
                    change(&mut ours, Path::new(NAME), of_table, durability, true).unwrap();
                }
                table = new;
            }
            for _ in 0..4 {
                let left = system.disk.cut(system.disk.calls(), random.next());
                let found = read(&mut store(&SimulatedSystem::new(left, 2)), Path::new(NAME));
                assert_eq!(found, table.dump());
            }
        }
    });
}

#[test]
fn readers_who_find_it_unfinished_at_one_time_find_one_state() {
    use bytewright::files::{FileSystem, LocalFileSystem};
    let folder = Folder::new("readers");
    let path = folder.path("x");
    seeds(rounds(10), |random| {
        // Runs in the boot of this machine, so that the order of writing is looked at.
        let system = SimulatedSystem::new(SimulatedDisk::new(), LocalFileSystem.boot());
        let mut ours = store(&system);
        let none = Table::default();
        let tables = [0, 1].map(|_| Table(vec![("a".to_owned(), random.bytes(400_000))]));
        let mut first = 0;
        for table in &tables {
            first = system.disk.calls();
            change(&mut ours, Path::new(NAME), (table, &none, &[]), Durability::Process, false)
                .unwrap();
        }
        // The one call in which the file itself is written.
        let torn = (first..system.disk.calls()).map(|call| system.disk.killed(call, 5));
        let mut torn = torn.filter(|disk| {
            let there = disk.bytes(NAME).unwrap();
            tables.iter().all(|table| there != table.dump())
        });
        let torn = torn.next_back().unwrap();
        std::fs::write(&path, torn.bytes(NAME).unwrap()).unwrap();
        std::fs::write(folder.path("x.journal"), torn.bytes("x.pstore.journal").unwrap()).unwrap();
        let together = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            let reader = || {
                let mut store = Store::new(Options::default());
                together.wait();
                assert!(read(&mut store, &path) == tables[1].dump());
                store
            };
            let readers: Vec<_> = (0..4).map(|_| scope.spawn(reader)).collect();
            // A store that goes locks the file to remove the journal: none goes before all have read.
            let _stores: Vec<Store> =
                readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        });
        assert!(std::fs::read(&path).unwrap() == tables[1].dump());
    });
}

#[test]
fn rewriting_as_the_host_does_is_seen_to_break() {
    let mut broken = 0;
    for seed in 0..4 {
        let random = &mut Random::new(seed);
        let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
        let mut history = History { system: system.clone(), states: vec![(0, Vec::new())] };
        let mut table = Table::default();
        for _ in 0..12 {
            table = table.changed(random).0;
            system.rewrite(NAME, &table.dump());
            history.states.push((system.disk.calls(), table.dump()));
        }
        for call in 0..=system.disk.calls() {
            let left = SimulatedSystem::new(system.disk.killed(call, random.next()), 1);
            let found = read(&mut store(&left), Path::new(NAME));
            broken += usize::from(!history.around(call).contains(&&found));
        }
    }
    assert!(broken > 10);
}
