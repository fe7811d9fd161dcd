//! Goal: one process writes, others read whole commits meanwhile, and a process that is killed takes
//! nothing with it that it was promised.
//! Method: this program starts itself again as a writer that prints what it has done. Its commits set
//! all keys to the same number, so that half a commit shows.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use bytewright::ErrorKind;
use bytewright::table::file::{OpenOptions, SyncMode, TreeTable};
use bytewright::table::{OrderedTable, Table};

use super::{CREATE, READ, WRITE, all, harder, path, rest};
use crate::generate::{Random, seeds};

const KEYS: u32 = 50;
const PATH: &str = "BYTEWRIGHT_TEST_WRITES";
const SYNC: &str = "BYTEWRIGHT_TEST_SYNC";

/// Does the work of the other process, which is this test with a path to write to; passes without one.
#[test]
fn the_writer_of_other_tests() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let sync = match std::env::var(SYNC).unwrap().as_str() {
        "commit" => SyncMode::Commit,
        "never" => SyncMode::Never,
        _ => SyncMode::Interval,
    };
    let patient = Duration::from_secs(60);
    let options = OpenOptions { exclusive: true, sync, timeout: patient, ..CREATE };
    let mut table = TreeTable::open(path, options).unwrap();
    let mut number = numbers(&table).last().copied().unwrap_or_default();
    println!("\nbegun {number}");
    loop {
        number += 1;
        table.begin().unwrap();
        for key in 0..KEYS {
            // Of different lengths, so that the tree changes its shape.
            let len = 8 + (number * 131 + u64::from(key) * 37) as usize % 700;
            let mut value = vec![0; len];
            value[..8].copy_from_slice(&number.to_le_bytes());
            table.put(&key.to_be_bytes(), &value).unwrap();
        }
        table.commit().unwrap();
        println!("lasts {number}");
        if number % 700 == 0 {
            table.sync().unwrap();
        }
    }
}

/// The numbers that the keys have; one, or none, where all commits are whole.
pub(super) fn numbers(table: &TreeTable) -> BTreeSet<u64> {
    let entries = rest(table.ordered_snapshot().unwrap().scan().unwrap()).unwrap();
    assert!(entries.is_empty() || entries.len() == KEYS as usize, "{} keys", entries.len());
    entries.iter().map(|(_, value)| u64::from_le_bytes(value[..8].try_into().unwrap())).collect()
}

/// A process that writes, and what it says.
pub(super) struct Writer {
    process: Child,
    said: BufReader<ChildStdout>,
}

impl Writer {
    pub(super) fn start(path: &Path, sync: &str) -> Writer {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "file_tree::processes::the_writer_of_other_tests", "--nocapture"])
            .env(PATH, path)
            .env(SYNC, sync)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        Writer { process, said }
    }

    /// The next number that it says `what` of.
    pub(super) fn hear(&mut self, what: &str) -> u64 {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "the writer has ended");
            if let Some(number) = line.trim_end().strip_prefix(what) {
                return number.trim().parse().unwrap();
            }
        }
    }

    /// Kills it, and hears what it had said by then.
    pub(super) fn kill(mut self) -> u64 {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        let mut last = 0;
        let mut line = String::new();
        while self.said.read_line(&mut line).unwrap() > 0 {
            // The last line may be cut off.
            if let Some(number) = line.strip_prefix("lasts ").filter(|n| n.ends_with('\n')) {
                last = number.trim_end().parse().unwrap();
            }
            line.clear();
        }
        last
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// Promise (tree-table-file): The death of a process loses no commit, in any mode, and leaves none
// half there.
#[test]
fn a_reader_beside_a_writer_sees_whole_commits_in_their_order() {
    let path = path("beside");
    let mut writer = Writer::start(&path, "commit");
    writer.hear("begun");
    let reader = TreeTable::open(&path, READ).unwrap();
    let exclusive = OpenOptions { exclusive: true, ..WRITE };
    let error = TreeTable::open(&path, exclusive).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lock);
    if cfg!(target_os = "linux") {
        let holder = format!("found it locked by process {} (", writer.process.id());
        assert!(error.to_string().contains(&holder), "{error}");
    }
    let (mut seen, mut snapshots) = (0, Vec::new());
    for round in 0..300 {
        let lasts = if round % 3 == 0 { writer.hear("lasts") } else { 0 };
        let numbers = numbers(&reader);
        assert!(numbers.len() <= 1, "{numbers:?} in one commit");
        let number = numbers.last().copied().unwrap_or_default();
        assert!(number >= lasts && number >= seen, "{number} after {lasts} and {seen}");
        seen = number;
        if round % 50 == 0 {
            snapshots.push((reader.ordered_snapshot().unwrap(), all(&reader)));
        }
    }
    // Taken just before, a snapshot may be one commit older than what was read after it.
    for (snapshot, later) in snapshots {
        let number = |value: &[u8]| u64::from_le_bytes(value[..8].try_into().unwrap());
        let entries = rest(snapshot.scan().unwrap()).unwrap();
        let held: BTreeSet<u64> = entries.iter().map(|(_, value)| number(value)).collect();
        assert!(held.len() <= 1, "{held:?}");
        assert!(held.first() <= later.values().map(|value| number(value)).min().as_ref());
    }
    drop(writer);
}

/// Kills a writer at a random moment of its work, again and again.
fn kill_again_and_again(name: &str, sync: &str, rounds: usize) {
    seeds(1, |random: &mut Random| {
        let path = path(name);
        let mut promised = 0;
        for round in 0..rounds {
            let mut writer = Writer::start(&path, sync);
            let begun = writer.hear("begun");
            assert!(begun >= promised, "round {round}: {begun} after {promised}");
            let reader = TreeTable::open(&path, READ).unwrap();
            for _ in 0..random.below(12) {
                promised = writer.hear("lasts").max(promised);
                assert!(numbers(&reader).len() <= 1);
            }
            promised = writer.kill().max(promised);
            let later = TreeTable::open(&path, READ).unwrap();
            for reader in [&reader, &later] {
                let numbers = numbers(reader);
                assert!(numbers.len() <= 1, "round {round}: {numbers:?} in one commit");
            }
            let last = numbers(&later).last().copied().unwrap_or_default();
            assert!(last >= promised, "round {round}: {last} of {promised}");
        }
        let table = TreeTable::open(&path, OpenOptions { verify: true, ..WRITE }).unwrap();
        assert!(numbers(&table).last().copied().unwrap_or_default() >= promised);
    });
}

// Promise (tree-table-file): also The death of a process loses no commit
#[test]
fn a_killed_writer_loses_no_commit_in_any_mode() {
    for sync in ["commit", "interval", "never"] {
        kill_again_and_again(&format!("killed_{sync}"), sync, 7 * harder());
    }
}

// Promise (tree-table-file): A table is there whole or not at all.
#[test]
fn a_process_that_is_killed_while_it_makes_a_table_leaves_one_or_none() {
    seeds(1, |random: &mut Random| {
        for round in 0..30 * harder() {
            let path = path("killed_at_birth");
            let writer = Writer::start(&path, "interval");
            let begun = std::time::Instant::now();
            // From before the file is there to some commits later.
            let delay = Duration::from_micros(random.below(8_000) as u64);
            while begun.elapsed() < delay {
                match TreeTable::open(&path, READ) {
                    Ok(table) => assert!(numbers(&table).len() <= 1),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Io(Some(2)), "{error}"),
                }
            }
            let promised = writer.kill();
            let mut table = TreeTable::open(&path, CREATE).unwrap();
            let last = numbers(&table).last().copied().unwrap_or_default();
            assert!(last >= promised, "round {round}: {last} of {promised}");
            table.put(b"more", b"1").unwrap();
        }
    });
}

// Promise (tree-table-file): also A table is there whole or not at all
#[test]
fn processes_that_make_the_same_table_at_once_share_it() {
    for _ in 0..10 * harder() {
        let path = path("born_twice");
        let writers: Vec<Writer> = (0..3).map(|_| Writer::start(&path, "commit")).collect();
        let mut promised = 0;
        // Each waits for the one before it.
        for mut writer in writers {
            assert!(TreeTable::open(&path, READ).map_or_else(
                |error| error.kind() == ErrorKind::Io(Some(2)),
                |table| numbers(&table).len() <= 1
            ));
            writer.process.kill().unwrap();
            promised = promised.max(writer.kill());
        }
        let table = TreeTable::open(&path, CREATE).unwrap();
        assert!(numbers(&table).last().copied().unwrap_or_default() >= promised);
    }
}
