//! Goal: who rewrites the file by other rules wins: after a crash of ours, and between transactions,
//! also within one tick of the clock.

use std::path::Path;

use bytewright::files::{FileSystem, SharedMode};
use bytewright::pstore::{Access, Begun, Durability, Options, Store};

use crate::generate::{Random, seeds};
use crate::model::{Table, begin, change, content, read};
use crate::rounds;
use crate::simulated::{SimulatedSystem, TICK};
use crate::simulated_disk::SimulatedDisk;

const NAME: &str = "x.pstore";

fn store(system: &SimulatedSystem) -> Store {
    Store::with_file_system(Options::default(), Box::new(system.clone()))
}

fn counter(number: u8) -> Table {
    Table(vec![("count".to_owned(), vec![number])])
}

fn set(store: &mut Store, table: &Table, durability: Durability) {
    let none = Table::default();
    change(store, Path::new(NAME), (table, &none, &[]), durability, false).unwrap();
}

#[test]
fn a_counter_that_a_stranger_sets_after_our_crash_stays() {
    for durability in [Durability::Process, Durability::Power] {
        let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
        let mut ours = store(&system);
        set(&mut ours, &counter(1), durability);
        let first = system.disk.calls();
        set(&mut ours, &counter(2), durability);
        for call in first..=system.disk.calls() {
            for boot in 1..3 {
                let left = SimulatedSystem::new(system.disk.killed(call, 1), boot);
                left.rewrite(NAME, &counter(7).dump());
                assert_eq!(read(&mut store(&left), Path::new(NAME)), counter(7).dump());
                assert_eq!(left.disk.bytes(NAME).unwrap(), counter(7).dump());
            }
        }
    }
}

// Promise (pstore-journal): Programs with either class use a file at the same time.
#[test]
fn a_stranger_who_restores_length_and_time_of_modification_is_seen() {
    let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
    let mut ours = store(&system);
    set(&mut ours, &counter(1), Durability::Process);
    assert_eq!(read(&mut ours, Path::new(NAME)), counter(1).dump());
    system.pass(100 * TICK);
    let before = system.version(Path::new(NAME)).unwrap().unwrap();
    system.rewrite(NAME, &counter(7).dump());
    let file = system.open(Path::new(NAME), SharedMode::Write).unwrap();
    file.set_modified(before.modified).unwrap();
    let after = system.version(Path::new(NAME)).unwrap().unwrap();
    assert_eq!((before.len, before.modified), (after.len, after.modified));
    assert_eq!(read(&mut ours, Path::new(NAME)), counter(7).dump());
}

/// Returns bytes that a stranger writes after finding the one state or the other, or bytes of its own.
fn strange(old: &[u8], new: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = random.pick(&[old, new]).to_vec();
    match random.below(5) {
        0 => bytes = Table::default().changed(random).0.dump(),
        // The start of the new state could be our own unfinished writing.
        1 => bytes = old[..random.below(old.len())].to_vec(),
        2 => bytes.extend(random.bytes(3)),
        _ => {
            let at = random.below(bytes.len());
            let not = [old.get(at), new.get(at)];
            while let Some(byte) = bytes.get_mut(at)
                && not.contains(&Some(byte))
            {
                *byte = byte.wrapping_add(1);
            }
        }
    }
    bytes
}

// Promise (pstore-journal): also Programs with either class use a file
#[test]
fn what_a_stranger_writes_after_our_crash_stays() {
    seeds(rounds(20), |random| {
        let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
        let mut ours = store(&system);
        let mut table = Table::default();
        for _ in 0..6 {
            let first = system.disk.calls();
            let before = system.disk.bytes(NAME).unwrap_or_default();
            let new = table.changed(random).0;
            let durability = random.pick(&[Durability::Process, Durability::Power]);
            set(&mut ours, &new, durability);
            for call in first..system.disk.calls() {
                let left = SimulatedSystem::new(system.disk.killed(call, random.next()), 1);
                let (old_bytes, new_bytes) = (before.clone(), new.dump());
                let bytes = strange(&old_bytes, &new_bytes, random);
                if bytes == old_bytes || bytes == new_bytes {
                    continue;
                }
                match random.once_in(3) {
                    true => left.rename_over(NAME, &bytes),
                    false => left.rewrite(NAME, &bytes),
                }
                let access = random.pick(&[Access::Read, Access::Write]);
                let mut next = store(&left);
                begin(&mut next, Path::new(NAME), access);
                assert_eq!(content(&next), bytes, "call {call}");
                next.end();
                assert_eq!(left.disk.bytes(NAME).unwrap(), bytes, "call {call}");
            }
            table = new;
        }
    });
}

#[test]
fn a_file_that_was_deleted_or_emptied_after_our_crash_stays_so() {
    seeds(rounds(10), |random| {
        let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
        let mut ours = store(&system);
        set(&mut ours, &counter(1), Durability::Process);
        let first = system.disk.calls();
        let mut large = counter(2);
        large.0.push(("value".to_owned(), random.bytes(30_000)));
        set(&mut ours, &large, Durability::Process);
        for call in first..system.disk.calls() {
            let left = SimulatedSystem::new(system.disk.killed(call, random.next()), 1);
            bytewright::files::FileSystem::remove(&left, Path::new(NAME)).unwrap();
            let mut next = store(&left);
            assert_eq!(next.try_begin(Path::new(NAME), Access::Read).unwrap(), Begun::Missing);
            next.end();
            assert_eq!(read(&mut next, Path::new(NAME)), b"");
            let left = SimulatedSystem::new(system.disk.killed(call, random.next()), 1);
            left.rewrite(NAME, b"");
            assert_eq!(read(&mut store(&left), Path::new(NAME)), b"");
        }
    });
}

#[test]
fn strangers_who_write_within_the_same_tick_are_seen() {
    seeds(rounds(30), |random| {
        let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
        if random.once_in(3) {
            system.own_nothing();
        }
        let mut stores = [store(&system), store(&system)];
        let mut number = 0;
        for _ in 0..200 {
            if random.once_in(4) {
                system.pass(random.below(3 * TICK as usize) as i64);
            }
            let store = &mut stores[random.below(2)];
            if number > 0 {
                assert_eq!(read(store, Path::new(NAME)), counter(number).dump());
            }
            number = number % 100 + 1;
            match random.below(3) {
                0 => system.rewrite(NAME, &counter(number).dump()),
                1 => set(store, &counter(number), Durability::Process),
                _ => {
                    let same = system.disk.bytes(NAME).unwrap_or_default();
                    number = number.max(2) - 1;
                    if same != counter(number).dump() {
                        system.rename_over(NAME, &counter(number).dump());
                    }
                }
            }
        }
    });
}

// Promise (pstore-journal): also A transaction reads and writes what it touches
#[test]
fn a_file_as_we_left_it_is_not_read_again() {
    let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
    let mut ours = store(&system);
    let mut other = store(&system);
    set(&mut ours, &counter(1), Durability::Process);
    read(&mut ours, Path::new(NAME));
    read(&mut other, Path::new(NAME));
    let reads = system.disk.reads();
    for _ in 0..3 {
        for store in [&mut ours, &mut other] {
            assert_eq!(store.try_begin(Path::new(NAME), Access::Write).unwrap(), Begun::Ready);
            assert_eq!(content(store), counter(1).dump());
            store.end();
        }
    }
    assert_eq!(system.disk.reads(), reads);
}

#[test]
fn who_verifies_reads_each_time_and_sees_what_no_time_tells() {
    let system = SimulatedSystem::new(SimulatedDisk::new(), 1);
    let options = Options { verify: true, ..Options::default() };
    let mut ours = Store::with_file_system(options, Box::new(system.clone()));
    set(&mut ours, &counter(1), Durability::Process);
    assert_eq!(ours.try_begin(Path::new(NAME), Access::Read).unwrap(), Begun::Stale);
    ours.end();
    // Written without the system's knowledge, as a file system with bad times would show it.
    system.disk.file(NAME).write_at(0, &counter(9).dump()).unwrap();
    assert_eq!(read(&mut ours, Path::new(NAME)), counter(9).dump());
}
