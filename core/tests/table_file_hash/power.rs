//! The power is cut at every call of a history, each time in several ways: what was promised to last
//! is there, and what is there is all commits up to some moment.

use std::cell::RefCell;

use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions, SyncMode};

use crate::generate::{Random, seeds};
use crate::simulated_disk::SimulatedDisk;
use crate::twin::{Change, Entries, Twin, entries};
use crate::watched::{FileChange, Moments, WatchedDirectory};
use crate::{CREATE, LOG_START, WRITE, get, open_on, path};

/// History of a table on a disk.
struct History {
    disk: SimulatedDisk,
    /// Contents of the table after each commit, the first before any.
    states: Vec<Entries>,
    /// For each state, how many calls there had been when its commit began, and when it was over.
    calls: Vec<(u64, u64)>,
    /// Number of calls that there had been when states were made to last, and the last of these states.
    synced: Vec<(u64, usize)>,
}

impl History {
    /// The states that a power cut during `call` may leave: the oldest, and the newest.
    fn bounds(&self, call: u64, sync: SyncMode) -> (usize, usize) {
        let newest = self.calls.iter().rposition(|(began, _)| *began <= call).unwrap();
        let oldest = match sync {
            SyncMode::Commit => self.calls.iter().rposition(|(_, over)| *over <= call),
            _ => {
                let synced = self.synced.iter().rev().find(|(over, _)| *over <= call);
                synced.map(|(_, state)| *state)
            }
        };
        (oldest.unwrap_or(0), newest)
    }
}

fn history(random: &mut Random, sync: SyncMode, steps: usize, value_len: usize) -> History {
    let disk = SimulatedDisk::new();
    let mut twin = Twin::default();
    let options = OpenOptions { sync, ..CREATE };
    let mut history = History {
        disk: disk.clone(),
        states: vec![twin.entries()],
        calls: vec![(0, 0)],
        synced: vec![(0, 0)],
    };
    let mut table = open_on(&disk, options).unwrap();
    for _ in 0..steps {
        let began = disk.calls();
        let is_synced = match random.below(30) {
            0 => table.sync().map(|()| true).unwrap(),
            1 => table.compact().map(|()| true).unwrap(),
            2 => {
                table.close().unwrap();
                table = open_on(&disk, options).unwrap();
                true
            }
            3..=8 => {
                transaction(random, &mut table, &mut twin, value_len);
                false
            }
            _ => {
                let change = Change::random(random, 12, value_len);
                change.make(&mut table).unwrap();
                change.make_to_twin(&mut twin);
                false
            }
        };
        if is_synced {
            history.synced.push((disk.calls(), history.states.len() - 1));
        } else {
            history.states.push(twin.entries());
            history.calls.push((began, disk.calls()));
        }
    }
    // The table is left open: its process dies with the power.
    std::mem::forget(table);
    history
}

fn transaction(random: &mut Random, table: &mut dyn Table, twin: &mut Twin, value_len: usize) {
    let before = twin.clone();
    table.begin().unwrap();
    for _ in 0..random.below(6) {
        let change = Change::random(random, 12, value_len);
        change.make(table).unwrap();
        change.make_to_twin(twin);
    }
    if random.once_in(4) {
        table.abort().unwrap();
        *twin = before;
    } else {
        table.commit().unwrap();
    }
}

fn check_all_cuts(history: &History, sync: SyncMode, ways: u64) {
    for call in 0..=history.disk.calls() {
        let (oldest, newest) = history.bounds(call, sync);
        for way in 0..ways {
            let left = history.disk.cut(call, call * 31 + way);
            let what = || format!("{sync:?}, call {call}, way {way}, states {oldest}..={newest}");
            let mut table = match open_on(&left, WRITE) {
                Ok(table) => table,
                // The table was not made yet.
                Err(_) if newest == 0 => open_on(&left, CREATE).unwrap(),
                Err(error) => panic!("{}: {error}", what()),
            };
            let found = entries(&table).unwrap();
            let states = &history.states[oldest..=newest];
            assert!(states.contains(&found), "{}: {} entries", what(), found.len());
            // The saved table can be written again.
            table.put(b"after", b"the cut").unwrap();
            table.close().unwrap();
            let table = open_on(&left, WRITE).unwrap();
            assert_eq!(table.len().unwrap(), found.len() as u64 + 1, "{}", what());
        }
    }
}

// Promise (hash-table-file): A power cut leaves all commits up to some moment, and those that were
// promised to be durable.
#[test]
fn a_power_cut_loses_nothing_that_was_promised_to_last_and_leaves_whole_commits() {
    let steps = std::env::var("BYTEWRIGHT_OPERATIONS").map_or(90, |n| n.parse().unwrap());
    for sync in [SyncMode::Commit, SyncMode::Interval, SyncMode::Never] {
        seeds(2, |random| {
            let history = history(random, sync, steps, 200);
            check_all_cuts(&history, sync, 3);
        });
    }
}

#[test]
fn a_power_cut_within_a_transaction_of_many_frames_leaves_all_or_nothing_of_it() {
    let disk = SimulatedDisk::new();
    let mut table = open_on(&disk, CREATE).unwrap();
    table.put(b"0", b"before").unwrap();
    table.sync().unwrap();
    let synced = disk.calls();
    for is_kept in [false, true] {
        table.begin().unwrap();
        for number in 0..4_u8 {
            table.put(&[number], &vec![number + u8::from(is_kept); 2 << 20]).unwrap();
        }
        if is_kept { table.commit().unwrap() } else { table.abort().unwrap() }
    }
    std::mem::forget(table);
    for call in synced..=disk.calls() {
        for way in 0..4 {
            let left = disk.cut(call, call * 31 + way);
            let table = open_on(&left, WRITE).unwrap();
            let len = table.len().unwrap();
            assert!(len == 1 || len == 5 && call + 2 > disk.calls(), "call {call}: {len}");
            if len == 5 {
                table.get_with(&[3], &mut |value| assert_eq!(value[77], 4)).unwrap();
            }
        }
    }
}

/// A disk may write the end of what was not synced before its beginning. That is no damage; a hole in
/// what was synced is.
#[test]
fn a_hole_in_what_was_not_synced_is_a_torn_end_and_one_in_what_was_is_damage() {
    let write = |sync_first: bool| {
        let disk = SimulatedDisk::new();
        let mut table = open_on(&disk, CREATE).unwrap();
        table.put(b"a", &[1; 600]).unwrap();
        table.put(b"b", &[2; 600]).unwrap();
        if sync_first {
            table.sync().unwrap();
        }
        table.put(b"c", &[3; 600]).unwrap();
        std::mem::forget(table);
        disk.file("x.bwh").write_at(LOG_START + 640 + 50, &[0; 4]).unwrap();
        disk
    };
    let table = open_on(&write(false), WRITE).unwrap();
    assert_eq!(table.len().unwrap(), 1);
    let disk = write(true);
    let before = disk.bytes("x.bwh");
    let error = open_on(&disk, WRITE).unwrap_err();
    assert_eq!(error.kind(), bytewright::ErrorKind::Corrupt);
    assert_eq!(error.offset(), Some(LOG_START + 20 + 4 + 1 + 600 + 4));
    assert_eq!(disk.bytes("x.bwh"), before, "nothing was changed");
}

/// Change of a file that a power cut may undo.
#[derive(Debug)]
enum Made {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
}

thread_local! {
    /// Changes of the files of this thread.
    static MADE: RefCell<Vec<Made>> = const { RefCell::new(Vec::new()) };
}

fn note(change: FileChange<'_>) {
    let made = match change {
        FileChange::Write(offset, bytes) => Made::Write(offset, bytes.to_vec()),
        FileChange::SetLen(len) => Made::SetLen(len),
        FileChange::Sync => Made::Sync,
    };
    MADE.with_borrow_mut(|all| all.push(made));
}

/// Returns what a power cut leaves of a file after these changes: those before the last sync, and of the others some, or parts.
fn left_by_power_cut(random: &mut Random, before: &[u8], made: &[Made]) -> Vec<u8> {
    let synced = made.iter().rposition(|made| matches!(made, Made::Sync)).unwrap_or(0);
    let mut bytes = before.to_vec();
    for (at, made) in made.iter().enumerate() {
        let is_sure = at < synced;
        match made {
            _ if !is_sure && random.once_in(3) => {}
            Made::Write(offset, written) => {
                let len = if is_sure { written.len() } else { random.below(written.len() + 1) };
                let range = *offset as usize..*offset as usize + len;
                bytes.resize(bytes.len().max(range.end), 0);
                bytes[range].copy_from_slice(&written[..len]);
            }
            Made::SetLen(len) => bytes.resize(*len as usize, 0),
            Made::Sync => {}
        }
    }
    // What processes shared means nothing after a power cut, and may be half written.
    let area = 4096..LOG_START as usize;
    bytes[area].fill_with(|| random.byte());
    bytes
}

// Promise (hash-table-file): A power cut while two write by turns leaves all commits up to some
// moment, and those that were promised to be durable.
#[test]
fn a_power_cut_of_two_who_write_by_turns_leaves_whole_commits_in_their_order() {
    seeds(3, |random| {
        let (path, cut) = (path("two_writers"), path("two_writers_cut"));
        drop(HashTable::open(&path, CREATE).unwrap());
        let before = std::fs::read(&path).unwrap();
        let options = OpenOptions { sync: SyncMode::Commit, ..WRITE };
        let watched = Moments { changes: note, ..Moments::NONE };
        let mut writers = [0; 2].map(|_| WatchedDirectory::open(&path, watched, options));
        MADE.take();
        let mut twin = Twin::default();
        // Contents after each commit, and how many changes of the file there had been.
        let mut states = vec![(twin.entries(), 0)];
        for number in 0..30 {
            let writer = &mut writers[random.below(2)];
            // Some need more room for the index.
            let count = if number % 10 == 9 { 1_500 } else { 1 + random.below(4) };
            writer.begin().unwrap();
            for _ in 0..count {
                let change = Change::random(random, 4_000, 20);
                change.make(writer).unwrap();
                change.make_to_twin(&mut twin);
            }
            writer.commit().unwrap();
            states.push((twin.entries(), MADE.with_borrow(Vec::len)));
        }
        let made = MADE.take();
        for end in 0..=made.len() {
            std::fs::write(&cut, left_by_power_cut(random, &before, &made[..end])).unwrap();
            let mut table = HashTable::open(&cut, WRITE).unwrap();
            let found = entries(&table).unwrap();
            let sure = states.iter().rposition(|(_, over)| *over <= end).unwrap();
            let is_one = states[sure..].iter().any(|(state, _)| *state == found);
            assert!(
                is_one,
                "after {end} of {} changes, of which {sure} commits were over",
                made.len()
            );
            table.put(b"after", b"1").unwrap();
            assert_eq!(get(&table, b"after").as_deref(), Some(&b"1"[..]));
        }
    });
}
