//! Dead space is used again by itself: the file keeps its bound whatever is overwritten, and neither
//! kills nor power cuts nor full disks cost a commit.
//!
//! On real files a thread copies; on the simulated disk each commit copies a part, so that every call
//! has a number.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use bytewright::ErrorKind;
use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions, SyncMode};

use crate::generate::{Random, seeds};
use crate::simulated_disk::{Failure, SimulatedDisk};
use crate::twin::{Change, Entries, Twin, entries, entries_of};
use crate::{CREATE, READ, WRITE, get, open_on, path};

/// Returns the bound of the file's length that the documents promise.
fn bound(payload: u64) -> u64 {
    3 * payload + (1 << 20)
}

fn len(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

// Promise (hash-table-file): The file keeps its bound.
#[test]
fn a_table_that_is_overwritten_keeps_within_three_times_its_payload() {
    let heavy = std::env::var("BYTEWRIGHT_OPERATIONS").is_ok();
    for (keys, value_len, rounds) in
        [(1, 6, 60_000), (8_000, 100, 13), (8_000, 100, 12), (400, 5_000, 14)]
    {
        let path = path(&format!("bound_{keys}"));
        let mut table = HashTable::open(&path, CREATE).unwrap();
        let payload = keys * (8 + value_len as u64);
        let mut random = Random::new(keys);
        for number in 0..keys * rounds * if heavy { 10 } else { 1 } {
            // All keys once, then whatever comes.
            let key = if number < keys { number } else { random.below_u64(keys) };
            let value = vec![number as u8; value_len];
            // As hosts do, which look at what they change.
            let in_turn = |table: &mut HashTable| table.put(&key.to_le_bytes(), &value);
            match rounds % 2 {
                0 => bytewright::table::in_turn(&mut table, in_turn).unwrap(),
                _ => table.put(&key.to_le_bytes(), &value).unwrap(),
            }
            if number % 64 == 0 {
                let found = len(&path);
                assert!(found <= bound(payload), "{found} bytes for {payload} of {keys} keys");
            }
        }
        assert_eq!(table.len().unwrap(), keys);
        table.close().unwrap();
        assert_eq!(HashTable::check(&path).unwrap().damaged_at, None);
    }
}

#[test]
fn a_queue_and_a_table_that_is_emptied_keep_their_bound_too() {
    let path = path("queue");
    let mut table = HashTable::open(&path, CREATE).unwrap();
    let value = [7; 5_000];
    for number in 0..2_000_u32 {
        table.put(&number.to_be_bytes(), &value).unwrap();
        if number >= 100 {
            let mut shifted = 0;
            let shift = &mut |key: &[u8], _: &[u8]| {
                shifted = u32::from_be_bytes(key.try_into().unwrap());
            };
            assert!(table.shift(shift).unwrap());
            assert_eq!(shifted, number - 100, "the order is kept");
        }
        if number % 50 == 0 {
            assert!(len(&path) <= bound(100 * 5_004), "{} bytes", len(&path));
        }
    }
    for number in 2_000..4_000_u32 {
        table.put(&number.to_be_bytes(), &value).unwrap();
    }
    while table.len().unwrap() > 0 {
        table.shift(&mut |_, _| ()).unwrap();
        let left = table.len().unwrap();
        assert!(
            !left.is_multiple_of(50) || len(&path) <= bound(left * 5_004) + (1 << 20),
            "{left} left"
        );
    }
    // A compaction may be under way still, which closing waits for.
    table.close().unwrap();
    assert!(len(&path) <= bound(0));
}

#[test]
fn sessions_too_short_for_a_compaction_do_not_let_the_file_grow() {
    let path = path("sessions");
    let mut random = Random::new(5);
    for session in 0..60 {
        let mut table = HashTable::open(&path, OpenOptions { verify: false, ..CREATE }).unwrap();
        for number in 0..if session == 0 { 1_000 } else { 200 } {
            let key = if session == 0 { number } else { random.below_u64(1_000) };
            table.put(&key.to_le_bytes(), &[session; 2_000]).unwrap();
        }
        table.close().unwrap();
        assert!(len(&path) <= bound(1_000 * 2_008), "session {session}: {}", len(&path));
    }
    assert_eq!(HashTable::open(&path, READ).unwrap().len().unwrap(), 1_000);
}

/// A change of entries so long that a compaction comes after some dozens.
fn change(random: &mut Random) -> Change {
    match random.below(60) {
        0 if random.once_in(6) => Change::Clear,
        0..=8 => Change::Delete(crate::twin::key(random, 12)),
        _ => {
            let len = random.below(36_000);
            Change::Put(crate::twin::key(random, 12), vec![random.byte(); len])
        }
    }
}

fn commit(random: &mut Random, table: &mut HashTable, twin: &mut Twin) -> bytewright::Result<()> {
    if !random.once_in(6) {
        let change = change(random);
        change.make_to_twin(twin);
        return change.make(table);
    }
    let (before, aborts) = (twin.clone(), random.once_in(4));
    let changes: Vec<Change> = (0..random.below(9)).map(|_| change(random)).collect();
    changes.iter().for_each(|change| change.make_to_twin(twin));
    if aborts {
        *twin = before;
    }
    table.begin()?;
    for change in &changes {
        change.make(table)?;
    }
    if aborts { table.abort() } else { table.commit() }
}

// Promise (hash-table-file): Readers and snapshots do not notice a compaction.
#[test]
fn readers_and_snapshots_beside_see_nothing_of_a_compaction_that_is_done_by_itself() {
    let steps = std::env::var("BYTEWRIGHT_OPERATIONS").map_or(1_500, |n| n.parse().unwrap());
    seeds(4, |random| {
        let path = path(&format!("beside_{}", random.next()));
        let mut table = HashTable::open(&path, OpenOptions { verify: false, ..CREATE }).unwrap();
        let reader = HashTable::open(&path, READ).unwrap();
        let mut twin = Twin::default();
        let mut snapshots = Vec::new();
        for step in 0..steps {
            commit(random, &mut table, &mut twin).unwrap();
            let key = crate::twin::key(random, 12);
            assert_eq!(get(&reader, &key), twin.get(&key), "step {step}");
            assert_eq!(get(&table, &key), twin.get(&key), "step {step}");
            match random.below(200) {
                0 => snapshots.push((table.snapshot().unwrap(), twin.entries())),
                1 => snapshots.push((reader.snapshot().unwrap(), twin.entries())),
                2 => assert_eq!(entries(&reader).unwrap(), twin.entries()),
                3 => assert_eq!(entries(&table).unwrap(), twin.entries()),
                4 => {
                    table.close().unwrap();
                    table = HashTable::open(&path, WRITE).unwrap();
                }
                _ => {}
            }
            if snapshots.len() > 3 {
                let (snapshot, wanted) = snapshots.swap_remove(random.below(3));
                assert_eq!(entries_of(&*snapshot).unwrap(), wanted);
            }
        }
        for (snapshot, wanted) in &snapshots {
            assert_eq!(&entries_of(&**snapshot).unwrap(), wanted);
        }
        assert_eq!(entries(&table).unwrap(), twin.entries());
        drop(table);
        std::fs::remove_file(path).unwrap();
    });
}

/// A history on a simulated disk, in which compactions begin and end by themselves.
struct History {
    disk: SimulatedDisk,
    /// The state after each commit, and the calls before and after it.
    states: Vec<(Entries, u64, u64)>,
    /// Calls after which a state, by its number, lasts.
    lasting: Vec<(u64, usize)>,
}

fn history(random: &mut Random, sync: SyncMode, steps: usize) -> History {
    let disk = SimulatedDisk::new();
    let mut table = open_on(&disk, OpenOptions { sync, ..CREATE }).unwrap();
    let mut twin = Twin::default();
    let mut history =
        History { disk: disk.clone(), states: vec![(twin.entries(), 0, 0)], lasting: vec![(0, 0)] };
    for _ in 0..steps {
        let began = disk.calls();
        commit(random, &mut table, &mut twin).unwrap();
        history.states.push((twin.entries(), began, disk.calls()));
        if sync != SyncMode::Commit && random.once_in(25) {
            table.sync().unwrap();
            history.lasting.push((disk.calls(), history.states.len() - 1));
        } else if sync == SyncMode::Commit {
            history.lasting.push((disk.calls(), history.states.len() - 1));
        }
    }
    std::mem::forget(table);
    history
}

impl History {
    /// Checks what `left` holds, a disk that was left during `call`: the state `oldest` or a later one.
    fn check(&self, left: &SimulatedDisk, call: u64, oldest: usize, what: &str) {
        let newest = self.states.iter().rposition(|(_, began, _)| *began <= call).unwrap();
        let mut table = match open_on(left, WRITE) {
            Ok(table) => table,
            Err(_) if newest == 0 => return,
            Err(error) => panic!("{what}, call {call}: {error}"),
        };
        let found = entries(&table).unwrap();
        let is_known = self.states[oldest..=newest].iter().any(|(state, ..)| *state == found);
        assert!(is_known, "{what}, call {call}: {} entries of {oldest}..={newest}", found.len());
        table.put(b"after", b"the crash").unwrap();
        table.close().unwrap();
        assert_eq!(open_on(left, READ).unwrap().len().unwrap(), found.len() as u64 + 1);
    }

    fn check_all(&self, ways: u64, stride: u64) {
        for call in (0..=self.disk.calls()).step_by(stride as usize) {
            let lasting = self.lasting.iter().rfind(|(over, _)| *over <= call).unwrap().1;
            let committed = self.states.iter().rposition(|(_, _, over)| *over <= call).unwrap();
            for way in 0..ways {
                let seed = call * 31 + way;
                self.check(&self.disk.cut(call, seed), call, lasting, "power cut");
                if way == 0 {
                    self.check(&self.disk.killed(call, seed), call, committed, "killed");
                }
            }
        }
    }
}

// Promise (hash-table-file): A power cut at any call of a compaction leaves all commits up to some
// moment, and those that were promised to be durable.
#[test]
fn a_crash_at_any_call_of_a_compaction_that_is_done_by_itself_costs_no_commit() {
    let steps = std::env::var("BYTEWRIGHT_OPERATIONS").map_or(260, |n| n.parse().unwrap());
    for sync in [SyncMode::Commit, SyncMode::Interval, SyncMode::Never] {
        seeds(1, |random| {
            let history = history(random, sync, steps);
            let first = history.disk.file_number("x.bwh").unwrap();
            assert!(first >= 2, "{sync:?}: it was compacted by itself, more than once");
            let stride = if std::env::var("BYTEWRIGHT_OPERATIONS").is_ok() { 1 } else { 7 };
            history.check_all(2, stride);
        });
    }
}

// Promise (hash-table-file): A failing or full disk costs no commit.
#[test]
fn a_disk_that_fails_or_is_full_during_a_compaction_costs_no_commit() {
    let steps = 120;
    for failure in [Failure::Io, Failure::NoSpace, Failure::ShortWrite, Failure::Sync] {
        seeds(1, |random| {
            let seed = random.next();
            let mut call = 0;
            loop {
                let disk = SimulatedDisk::new();
                let mut table = open_on(&disk, CREATE).unwrap();
                let first = disk.calls();
                disk.fail(first + call..first + call + 1, failure);
                let (mut random, mut twin) = (Random::new(seed), Twin::default());
                let mut acknowledged = twin.entries();
                let mut failed = None;
                for _ in 0..steps {
                    if let Err(error) = commit(&mut random, &mut table, &mut twin) {
                        failed = Some(error);
                        break;
                    }
                    acknowledged = twin.entries();
                }
                let what = format!("{failure:?} at call {call}, seed {seed}: {failed:?}");
                if let Some(error) = &failed {
                    assert!(matches!(error.kind(), ErrorKind::Io(Some(_))), "{what}");
                }
                assert_eq!(entries(&table).unwrap(), acknowledged, "{what}: read on");
                drop(table);
                let found = entries(&open_on(&disk, WRITE).unwrap()).unwrap();
                assert!(found == acknowledged || found == twin.entries(), "{what}: open again");
                if first + call >= disk.calls() {
                    break;
                }
                call += if std::env::var("BYTEWRIGHT_OPERATIONS").is_ok() { 1 } else { 2 };
            }
            assert!(call > 100, "there were calls");
        });
    }
}

#[test]
fn without_room_for_a_second_file_the_first_is_gone_on_with() {
    let disk = SimulatedDisk::new();
    let mut table = open_on(&disk, OpenOptions { verify: false, ..CREATE }).unwrap();
    let len = || disk.bytes("x.bwh").unwrap().len() as u64;
    disk.take_no_new_files(true);
    for number in 0..3_000_u16 {
        table.put(&[number as u8 % 10], &[number as u8; 2_000]).unwrap();
    }
    assert!(len() > 3_000 * 2_000);
    disk.take_no_new_files(false);
    for number in 0..6_000_u16 {
        table.put(&[number as u8 % 10], &[number as u8; 2_000]).unwrap();
    }
    assert!(len() <= bound(10 * 2_001), "there is room again: {}", len());
    assert_eq!(table.len().unwrap(), 10);
}

const PATH: &str = "BYTEWRIGHT_KILLED_COMPACTION";

/// Not a test by itself: what the killed process does. It says on standard error which commit it has
/// made, after making it.
#[test]
fn overwrites_until_it_is_killed() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let options = OpenOptions { sync: SyncMode::Never, verify: false, ..CREATE };
    let mut table = HashTable::open(Path::new(&path), options).unwrap();
    let mut out = std::io::stderr();
    let mut number = table.get(b"last").unwrap().map_or(0, |value| number_in(&value));
    loop {
        number += 1;
        let value = [number.to_le_bytes().to_vec(), vec![number as u8; 12_000]].concat();
        table.begin().unwrap();
        table.put(&(number % 20).to_le_bytes(), &value).unwrap();
        table.put(b"last", &value).unwrap();
        table.commit().unwrap();
        if out.write_all(&number.to_le_bytes()).is_err() {
            return;
        }
    }
}

fn number_in(value: &[u8]) -> u64 {
    u64::from_le_bytes(value[..8].try_into().unwrap())
}

// Promise (hash-table-file): No commit is lost by the death of a process that compacts.
#[test]
fn a_writer_that_is_killed_while_it_compacts_loses_nothing_it_had_said() {
    let rounds = std::env::var("BYTEWRIGHT_KILLS").map_or(15, |n| n.parse().unwrap());
    let path = path("killed_compaction");
    HashTable::open(&path, CREATE).unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    seeds(rounds, |random| {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "compaction::overwrites_until_it_is_killed", "--nocapture"])
            .env(PATH, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = writer.stderr.take().unwrap();
        let mut said = vec![0; 8 * (100 + random.below(400))];
        out.read_exact(&mut said).unwrap();
        writer.kill().unwrap();
        writer.wait().unwrap();
        out.read_to_end(&mut said).unwrap();
        let last = said.chunks_exact(8).last().map_or(0, number_in);
        let table = HashTable::open(&path, WRITE).unwrap();
        let found = number_in(&get(&table, b"last").unwrap());
        assert!(found == last || found == last + 1, "said {last}, found {found}");
        assert_eq!(number_in(&get(&reader, b"last").unwrap()), found);
        for number in found.saturating_sub(19)..=found {
            let value = get(&table, &(number % 20).to_le_bytes()).unwrap();
            assert_eq!(number_in(&value), number);
            assert!(value[8..].iter().all(|byte| *byte == number as u8));
        }
        assert!(len(&path) <= bound(21 * 12_016), "{} bytes", len(&path));
    });
}
