//! Goal: what a commit answered for survives the death of the process and is never mixed with another
//! table's, whatever becomes of the files.
//! Method: histories on a simulated disk, which is then as the death of the process, a power cut or a
//! lack of room at each call left it; and files that are copied, moved, cut and flipped.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytewright::files::{Directory, Storage};
use bytewright::table::file::{OpenOptions, SyncMode, TableKind, TreeTable, open, repair};
use bytewright::table::{OrderedTable, Table};
use bytewright::{ErrorKind, Result};

use super::{CREATE, Entries, READ, WRITE, all, harder, path, rest, try_all};
use crate::generate::{Random, seeds};
use crate::simulated_disk::{Failure, SimulatedDisk};

const MODES: [SyncMode; 3] = [SyncMode::Commit, SyncMode::Interval, SyncMode::Never];
const NEVER: OpenOptions = OpenOptions { sync: SyncMode::Never, ..CREATE };

fn open_in(disk: &SimulatedDisk, options: OpenOptions) -> Result<TreeTable> {
    TreeTable::open_in(Arc::new(disk.clone()), "table", options)
}

/// States committed one after another, with the calls that the disk had done by then.
#[derive(Default)]
struct History {
    states: Vec<(u64, Entries)>,
    /// Calls that the disk had done by each sync, with the number of the synced state.
    synced: Vec<(u64, usize)>,
}

impl History {
    /// The first state that may be found after `calls` calls of the disk.
    fn answered(&self, calls: u64) -> usize {
        self.states.iter().rposition(|(at, _)| *at <= calls).unwrap_or_default()
    }

    fn synced(&self, calls: u64) -> usize {
        self.synced.iter().rev().find(|(at, _)| *at <= calls).map_or(0, |(_, state)| *state)
    }
}

/// Changes at random, alone and in transactions in each other, until something fails.
fn run(
    disk: &SimulatedDisk,
    sync: SyncMode,
    random: &mut Random,
    history: &mut History,
) -> Result<()> {
    let mut table = open_in(disk, OpenOptions { sync, ..CREATE })?;
    history.states.push((disk.calls(), Entries::new()));
    for number in 0..14 * harder() as u32 {
        let mut state = history.states.last().unwrap().1.clone();
        let changed = change(&mut table, &mut state, number, random);
        // A commit that fails may be there.
        history.states.push((if changed.is_ok() { disk.calls() } else { u64::MAX }, state));
        changed?;
        if random.once_in(5) {
            table.sync()?;
            history.synced.push((disk.calls(), history.states.len() - 1));
        }
        assert!(try_all(&table)? == history.states.last().unwrap().1);
        if random.once_in(6) {
            drop(table);
            table = open_in(disk, OpenOptions { sync, ..WRITE })?;
            assert!(all(&table) == history.states.last().unwrap().1);
        }
    }
    Ok(())
}

fn change(
    table: &mut TreeTable,
    state: &mut Entries,
    number: u32,
    random: &mut Random,
) -> Result<()> {
    let mut put = |table: &mut TreeTable, state: &mut Entries, key: u8| -> Result<()> {
        let value = vec![number as u8; random.below(2_000)];
        state.insert(vec![key], value.clone());
        table.put(&[key], &value)
    };
    match number % 5 {
        0..=2 => put(table, state, number as u8 % 7),
        3 => {
            state.remove(&[1][..]);
            table.delete(&[1]).map(drop)
        }
        _ => {
            table.begin()?;
            let mut lost = state.clone();
            put(table, state, 20)?;
            table.begin()?;
            put(table, &mut lost, 21)?;
            table.abort()?;
            table.begin()?;
            put(table, state, number as u8 % 7)?;
            table.commit()?;
            if number % 10 == 9 {
                table.clear()?;
                state.clear();
                put(table, state, 22)?;
            }
            table.commit()
        }
    }
}

/// The number of the state that is on `disk`, if there is a table.
fn found_in(disk: &SimulatedDisk, history: &History, options: OpenOptions) -> Option<usize> {
    let found = match open_in(disk, options).and_then(|table| try_all(&table)) {
        Err(error) if error.kind() == ErrorKind::Io(Some(2)) => return None,
        found => found.unwrap(),
    };
    let state = history.states.iter().rposition(|(_, state)| *state == found);
    if history.states.is_empty() && found.is_empty() {
        return Some(0);
    }
    let keys = || found.keys().collect::<Vec<_>>();
    Some(state.unwrap_or_else(|| panic!("a state that never was, with the keys {:?}", keys())))
}

#[test]
fn the_death_of_the_process_at_any_call_loses_no_commit_in_any_mode() {
    for sync in MODES {
        seeds(harder() as u64, |random| {
            let (disk, mut history) = (SimulatedDisk::new(), History::default());
            run(&disk, sync, random, &mut history).unwrap();
            for call in 0..=disk.calls() {
                let killed = disk.killed(call, random.next());
                let answered = history.answered(call);
                let found = found_in(&killed, &history, READ);
                assert!(found.is_none_or(|found| found >= answered), "call {call}: {found:?}");
                assert!(found.is_some() || call < history.states[0].0, "call {call}: no table");
                let written = found_in(&killed, &history, CREATE);
                assert!(written >= found.or(Some(0)), "call {call}: {written:?} after {found:?}");
                assert_eq!(killed.bytes("table.log"), None, "call {call}: taken in");
                assert_eq!(killed.bytes("table.new"), None, "call {call}");
            }
        });
    }
}

#[test]
fn a_power_cut_at_any_call_leaves_whole_commits_up_to_the_last_sync_or_later() {
    for sync in MODES {
        seeds(2 * harder() as u64, |random| {
            let (disk, mut history) = (SimulatedDisk::new(), History::default());
            run(&disk, sync, random, &mut history).unwrap();
            for call in 0..=disk.calls() {
                let cut = disk.cut(call, random.next());
                let synced = match sync {
                    SyncMode::Commit => history.answered(call),
                    _ => history.synced(call),
                };
                let options = random.pick(&[READ, CREATE]);
                let found = found_in(&cut, &history, options);
                assert!(found.is_none_or(|found| found >= synced), "call {call}: {found:?}");
                assert!(found.is_some() || call < history.states[0].0, "call {call}: no table");
            }
        });
    }
}

#[test]
fn what_was_answered_for_stays_readable_after_any_failed_write_and_is_written_when_there_is_room() {
    for sync in MODES {
        let calls = {
            let disk = SimulatedDisk::new();
            run(&disk, sync, &mut Random::new(3), &mut History::default()).unwrap();
            disk.calls()
        };
        for failure in [Failure::NoSpace, Failure::ShortWrite, Failure::Io] {
            for call in 0..calls {
                let (disk, mut history) = (SimulatedDisk::new(), History::default());
                disk.fail(call..u64::MAX, failure);
                let error = match run(&disk, sync, &mut Random::new(3), &mut history) {
                    Err(error) => error,
                    // Only the tidying up has failed.
                    Ok(()) => continue,
                };
                assert!(matches!(error.kind(), ErrorKind::Io(Some(5 | 28))), "{call}: {error}");
                let answered = history.answered(u64::MAX - 1);
                println!("{sync:?} {failure:?} at {call}: {error}");
                let found = found_in(&disk, &history, READ);
                assert!(
                    found.is_none_or(|found| found >= answered),
                    "{failure:?} {call} {found:?}"
                );
                disk.fail(0..0, failure);
                let found = found_in(&disk, &history, CREATE);
                assert!(found >= Some(answered), "{failure:?} {found:?} {answered}");
            }
        }
    }
}

#[test]
fn a_handle_whose_write_failed_still_reads_what_was_answered_for_until_another_goes_on() {
    let disk = SimulatedDisk::new();
    let mut table = open_in(&disk, NEVER).unwrap();
    for number in 0..50_u8 {
        table.put(&[number], &[number; 100]).unwrap();
    }
    let answered = all(&table);
    disk.fail(disk.calls()..u64::MAX, Failure::NoSpace);
    table.begin().unwrap();
    table.put(b"lost", b"").unwrap();
    assert_eq!(table.commit().unwrap_err().kind(), ErrorKind::Io(Some(28)));
    assert_eq!((all(&table), table.len().unwrap(), table.depth()), (answered.clone(), 50, 0));
    let error = table.put(b"more", b"").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io(Some(28)), "{error}");
    table.abort().unwrap();
    assert_eq!(all(&open_in(&disk, READ).unwrap()), answered, "the disk is still full");
    assert_eq!(open_in(&disk, WRITE).unwrap_err().kind(), ErrorKind::Io(Some(28)));
    disk.fail(0..0, Failure::Io);
    let mut next = open_in(&disk, NEVER).unwrap();
    assert_eq!((all(&next), all(&table)), (answered.clone(), answered));
    next.put(&[0], b"new").unwrap();
    next.sync().unwrap();
    assert_eq!(all(&table), all(&next), "it follows the one who writes");
}

#[test]
fn a_compacting_that_fails_costs_nothing() {
    let fill = |disk: &SimulatedDisk| {
        let mut table = open_in(disk, NEVER).unwrap();
        for number in 0..300_u32 {
            table.put(&number.to_be_bytes(), &[1; 3_000]).unwrap();
        }
        table.sync().unwrap();
        for number in 0..290_u32 {
            table.delete(&number.to_be_bytes()).unwrap();
        }
        table
    };
    let disk = SimulatedDisk::new();
    let mut table = fill(&disk);
    let begun = disk.calls();
    table.compact().unwrap();
    let calls = disk.calls();
    for call in (begun..calls).step_by(3) {
        let disk = SimulatedDisk::new();
        let mut table = fill(&disk);
        let before = all(&table);
        disk.fail(call..u64::MAX, Failure::Io);
        assert!(table.compact().is_err());
        assert_eq!(all(&table), before);
        drop(table);
        disk.fail(0..0, Failure::Io);
        assert_eq!(all(&open_in(&disk, WRITE).unwrap()), before);
    }
}

/// A copy of a table and its log as they are now, under another name.
fn copy(from: &Path, name: &str) -> PathBuf {
    let to = path(name);
    for ending in ["", ".log"] {
        let _ = std::fs::copy(beside(from, ending), beside(&to, ending));
    }
    to
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    format!("{}{ending}", path.display()).into()
}

#[test]
fn a_log_is_done_again_only_behind_the_commit_that_it_follows() {
    let path = path("logs");
    let mut table = TreeTable::open(&path, NEVER).unwrap();
    table.put(b"a", b"1").unwrap();
    table.sync().unwrap();
    let early = copy(&path, "logs_early");
    table.put(b"a", b"2").unwrap();
    let late = copy(&path, "logs_late");
    assert_eq!(all(&TreeTable::open(&late, READ).unwrap()), all(&table));
    table.sync().unwrap();
    table.put(b"a", b"3").unwrap();
    table.put(b"b", b"3").unwrap();
    let value = |path: &Path| TreeTable::open(path, READ).unwrap().get(b"a").unwrap().unwrap();
    // The commits that the log has now do not follow the earlier state.
    std::fs::copy(beside(&path, ".log"), beside(&early, ".log")).unwrap();
    assert_eq!(value(&early), b"1");
    // Two tables that go on from the same state: neither takes the other's commits.
    let mut other = TreeTable::open(&late, NEVER).unwrap();
    other.put(b"a", b"other").unwrap();
    let mixed = copy(&late, "logs_mixed");
    std::fs::copy(beside(&path, ".log"), beside(&mixed, ".log")).unwrap();
    refused(&mixed);
    repair(&mixed, Duration::ZERO).unwrap();
    assert_eq!(value(&mixed), b"2");
    // Another table, and none.
    let mut foreign = TreeTable::open(super::path("logs_foreign"), NEVER).unwrap();
    foreign.put(b"a", b"foreign").unwrap();
    let mixed = copy(&path, "logs_mixed");
    std::fs::copy(super::beside_log("logs_foreign"), beside(&mixed, ".log")).unwrap();
    refused(&mixed);
    std::fs::remove_file(beside(&mixed, ".log")).unwrap();
    refused(&mixed);
    repair(&mixed, Duration::ZERO).unwrap();
    assert_eq!(value(&mixed), b"2", "the file by itself has all up to the last sync");
    // One that writes replaces a log that it cannot use.
    std::fs::copy(super::beside_log("logs_foreign"), beside(&mixed, ".log")).unwrap();
    let mut writer = TreeTable::open(&mixed, NEVER).unwrap();
    writer.put(b"c", b"4").unwrap();
    let copied = copy(&mixed, "logs_copied");
    assert_eq!(all(&TreeTable::open(&copied, WRITE).unwrap()), all(&writer));
}

#[test]
fn a_log_that_is_cut_or_damaged_gives_the_commits_before() {
    let path = path("torn");
    let mut table = TreeTable::open(&path, NEVER).unwrap();
    let mut states = vec![Entries::new()];
    for number in 0..40_u8 {
        table.put(&[number % 9], &vec![number; usize::from(number) * 3]).unwrap();
        states.push(all(&table));
    }
    let copied = copy(&path, "torn_copy");
    let log = std::fs::read(beside(&copied, ".log")).unwrap();
    let used = log.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    seeds(60 * harder() as u64, |random| {
        let mut bytes = log.clone();
        match random.below(3) {
            0 => bytes.truncate(random.below(used)),
            1 => bytes[random.below(used)] ^= 1 << random.below(8),
            _ => {
                let start = random.below(used);
                bytes[start..].iter_mut().take(600).for_each(|byte| *byte = random.byte());
            }
        }
        std::fs::write(beside(&copied, ".log"), &bytes).unwrap();
        assert!(states.contains(&all(&TreeTable::open(&copied, READ).unwrap())));
    });
    std::fs::write(beside(&copied, ".log"), &log).unwrap();
    assert!(all(&TreeTable::open(&copied, WRITE).unwrap()) == states[40]);
}

#[test]
fn a_commit_that_was_torn_over_an_older_one_of_the_same_length_does_not_count() {
    let path = path("torn_over");
    let log_of = |path: &Path| std::fs::read(beside(path, ".log")).unwrap();
    let mut table = TreeTable::open(&path, NEVER).unwrap();
    for value in ["1", "2"] {
        table.put(b"key", value.as_bytes()).unwrap();
    }
    let older = log_of(&path);
    table.sync().unwrap();
    table.put(b"key", b"3").unwrap();
    let torn = copy(&path, "torn_over_copy");
    let newer = log_of(&path);
    let value = || TreeTable::open(&torn, READ).unwrap().get(b"key").unwrap().unwrap();
    assert_eq!(value(), b"3");
    let end = newer.iter().zip(&older).rposition(|(new, old)| new != old).unwrap() + 1;
    for written in 0..end {
        let bytes = [&newer[..written], &older[written..]].concat();
        std::fs::write(beside(&torn, ".log"), bytes).unwrap();
        assert_eq!(value(), b"2", "{written} bytes of the log were overwritten");
    }
}

#[test]
fn a_reader_after_a_crash_sees_the_log_and_then_follows_the_next_writer() {
    let path = path("crashed");
    let mut table = TreeTable::open(&path, NEVER).unwrap();
    table.put(b"a", b"1").unwrap();
    table.sync().unwrap();
    table.put(b"b", b"2").unwrap();
    table.delete(b"a").unwrap();
    let crashed = copy(&path, "crashed_copy");
    let before = std::fs::read(&crashed).unwrap();
    let reader = TreeTable::open(&crashed, READ).unwrap();
    assert_eq!((all(&reader), reader.len().unwrap()), (all(&table), 1));
    assert!(reader.get(b"a").unwrap().is_none() && reader.contains(b"b").unwrap());
    let snapshot = reader.ordered_snapshot().unwrap();
    assert_eq!(std::fs::read(&crashed).unwrap(), before, "it changes nothing");
    let mut writer = TreeTable::open(&crashed, NEVER).unwrap();
    assert_eq!(all(&reader), all(&writer));
    writer.put(b"b", b"3").unwrap();
    writer.sync().unwrap();
    assert_eq!(all(&reader), all(&writer));
    assert_eq!(rest(snapshot.scan().unwrap()).unwrap(), [(b"b".to_vec(), b"2".to_vec())]);
}

#[test]
fn a_log_has_the_mode_of_its_table_and_is_gone_after_closing() {
    use std::os::unix::fs::PermissionsExt;
    let path = path("mode");
    std::fs::write(&path, b"").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut table = TreeTable::open(&path, NEVER).unwrap();
    assert!(!beside(&path, ".log").exists(), "nothing to write yet");
    table.put(b"a", b"1").unwrap();
    assert_eq!((mode(&path), mode(&beside(&path, ".log"))), (0o600, 0o600));
    drop(table);
    assert!(!beside(&path, ".log").exists() && !beside(&path, ".new").exists());
    assert_eq!(all(&TreeTable::open(&path, READ).unwrap()).len(), 1);
}

#[test]
fn a_table_behind_a_link_is_made_where_the_link_leads_and_has_its_log_there() {
    let (link, target) = (path("link"), path("target"));
    std::os::unix::fs::symlink(target.file_name().unwrap(), &link).unwrap();
    let mut table = TreeTable::open(&link, NEVER).unwrap();
    table.put(b"a", b"1").unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(beside(&target, ".log").exists() && !beside(&link, ".log").exists());
    assert_eq!(all(&TreeTable::open(&target, READ).unwrap()), all(&table));
}

#[test]
fn a_log_stays_short_and_one_that_somebody_cuts_costs_nothing() {
    let path = path("long");
    let mut table = TreeTable::open(&path, NEVER).unwrap();
    let log_len = || std::fs::metadata(beside(&path, ".log")).unwrap().len();
    for number in 0..60_u8 {
        table.put(b"same", &vec![number; 700_000]).unwrap();
        assert!(log_len() <= 32 << 20, "{}", log_len());
    }
    table.put(b"longer than a log", &vec![1; 20 << 20]).unwrap();
    let copied = copy(&path, "long_copy");
    assert_eq!(TreeTable::open(&copied, READ).unwrap().len().unwrap(), 2);
    for len in [0, 100, 5_000] {
        table.put(b"a", &[1; 100]).unwrap();
        std::fs::File::options()
            .write(true)
            .open(beside(&path, ".log"))
            .unwrap()
            .set_len(len)
            .unwrap();
        for number in 0..200_u8 {
            table.put(&[number], &[2; 100]).unwrap();
        }
        let copied = copy(&path, "long_copy");
        assert!(all(&TreeTable::open(&copied, READ).unwrap()) == all(&table), "{len}");
    }
}

#[test]
fn a_change_in_a_directory_without_the_right_to_make_files_goes_to_the_table_at_once() {
    // No directory of this name takes a file: to the disk it is as one that must not be written.
    #[derive(Debug)]
    struct Refusing(SimulatedDisk);
    impl Directory for Refusing {
        fn open(
            &self,
            name: &std::ffi::OsStr,
            mode: bytewright::files::StorageMode,
            timeout: Duration,
        ) -> Result<Box<dyn Storage>> {
            Directory::open(&self.0, name, mode, timeout)
        }
        fn create(
            &self,
            _: &std::ffi::OsStr,
            _: Option<bytewright::files::FileOwner>,
        ) -> std::io::Result<Box<dyn Storage>> {
            Err(std::io::Error::from_raw_os_error(13))
        }
        fn create_unnamed(
            &self,
            _: &std::ffi::OsStr,
            _: Option<bytewright::files::FileOwner>,
        ) -> std::io::Result<Box<dyn Storage>> {
            Err(std::io::Error::from_raw_os_error(13))
        }
        fn publish(
            &self,
            file: &dyn Storage,
            name: &std::ffi::OsStr,
            displaced: bytewright::files::Displaced,
        ) -> std::io::Result<()> {
            Directory::publish(&self.0, file, name, displaced)
        }
        fn id(&self, name: &std::ffi::OsStr) -> std::io::Result<Option<bytewright::files::FileId>> {
            Directory::id(&self.0, name)
        }
        fn rename(&self, from: &std::ffi::OsStr, to: &std::ffi::OsStr) -> std::io::Result<()> {
            Directory::rename(&self.0, from, to)
        }
        fn remove(&self, name: &std::ffi::OsStr) -> std::io::Result<()> {
            Directory::remove(&self.0, name)
        }
        fn sync(&self) -> std::io::Result<()> {
            Directory::sync(&self.0)
        }
    }
    let disk = SimulatedDisk::new();
    drop(open_in(&disk, NEVER).unwrap());
    let mut table = TreeTable::open_in(Arc::new(Refusing(disk.clone())), "table", NEVER).unwrap();
    table.put(b"a", b"1").unwrap();
    let killed = disk.killed(disk.calls(), 0);
    assert_eq!(all(&open_in(&killed, READ).unwrap()), all(&table));
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let fifo = path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let socket = path("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (path, what) in [
        (&*fifo, "a FIFO"),
        (&*socket, "a socket"),
        (Path::new("/dev/zero"), "a device"),
        (directory, "a directory"),
    ] {
        for options in [CREATE, READ, WRITE] {
            for kind in [TableKind::Hashed, TableKind::Ordered] {
                let error = match open(path, Some(kind), options) {
                    Err(error) => error,
                    Ok(_) => panic!("opened {what}"),
                };
                assert_eq!(error.kind(), ErrorKind::Format);
                assert!(error.to_string().contains(what), "{error}");
            }
        }
    }
}

/// The error of opening a table at `path`, to read and to write.
fn refused(path: &Path) -> String {
    let errors = [READ, WRITE, NEVER].map(|options| TreeTable::open(path, options).unwrap_err());
    for error in &errors {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
    let [error, ..] = errors;
    error.to_string()
}

#[test]
fn a_table_that_came_without_its_log_after_a_crash_says_so_until_somebody_repairs_it() {
    let path = path("left_behind");
    let mut table = TreeTable::open(&path, NEVER).unwrap();
    for synced in [0, 100_u8] {
        for number in synced..synced + 100 {
            table.put(&[number], b"committed").unwrap();
        }
        let copied = copy(&path, "left_behind_copy");
        let log = beside(&copied, ".log");
        std::fs::rename(&log, beside(&copied, ".elsewhere")).unwrap();
        let error = refused(&copied);
        assert!(error.contains("tree_left_behind_copy.bwt.log, which has commits"), "{error}");
        assert!(error.contains("table check --repair"), "{error}");
        // Another table's log is none.
        let mut other = TreeTable::open(super::path("left_other"), NEVER).unwrap();
        other.put(b"a", b"").unwrap();
        std::fs::copy(super::beside_log("left_other"), &log).unwrap();
        assert_eq!(refused(&copied), error);
        std::fs::rename(beside(&copied, ".elsewhere"), &log).unwrap();
        assert_eq!(all(&TreeTable::open(&copied, READ).unwrap()), all(&table));
        std::fs::remove_file(&log).unwrap();
        repair(&copied, Duration::ZERO).unwrap();
        assert_eq!(TreeTable::open(&copied, READ).unwrap().len().unwrap(), u64::from(synced));
        table.sync().unwrap();
    }
}

#[test]
fn a_table_whose_log_has_nothing_more_needs_none() {
    let path = path("synced");
    let mut table = TreeTable::open(&path, NEVER).unwrap();
    let alone = |name: &str| {
        let copied = copy(&path, name);
        std::fs::remove_file(beside(&copied, ".log")).unwrap();
        all(&TreeTable::open(&copied, READ).unwrap())
    };
    table.put(b"a", b"1").unwrap();
    table.sync().unwrap();
    assert_eq!(alone("synced_copy"), all(&table));
    table.put(b"a", b"2").unwrap();
    table.put(b"longer than a log", &vec![1; 20 << 20]).unwrap();
    assert!(alone("synced_copy") == all(&table));
    // A process that takes the log of another in, whose commits are all in the file, leaves no mark.
    table.put(b"b", b"3").unwrap();
    let crashed = copy(&path, "synced_crashed");
    table.sync().unwrap();
    std::fs::copy(&path, &crashed).unwrap();
    drop(TreeTable::open(&crashed, WRITE).unwrap());
    assert!(!beside(&crashed, ".log").exists());
    assert!(all(&TreeTable::open(&crashed, READ).unwrap()) == all(&table));
}

#[test]
fn a_reader_that_comes_as_a_writer_goes_misses_no_log() {
    let path = path("going");
    drop(TreeTable::open(&path, NEVER).unwrap());
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..60 * harder() as u32 {
                let mut table = TreeTable::open(&path, NEVER).unwrap();
                for _ in 0..3 {
                    table.put(b"number", &number.to_be_bytes()).unwrap();
                    table.sync().unwrap();
                }
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            TreeTable::open(&path, READ).unwrap();
        }
    });
}
