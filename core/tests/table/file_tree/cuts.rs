//! Goal: a file that another program cuts, moves or removes under an open table ends no program and makes no answer wrong.
//! Method: a reader and a writer of a table with values of several lengths; the file is cut to lengths within and between its
//! parts, before they read and after, and sometimes grown again. What they say is the truth or an error.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bytewright::table::file::{OpenOptions, SyncMode, TableKind, TreeTable};
use bytewright::table::{Backup, BackupOptions, OrderedTable, Table};
use bytewright::{Error, ErrorKind, Result};

use super::{CREATE, Entries, READ, WRITE, all, harder, rest, try_all};
use crate::generate::{Random, seeds};

const PAGE: u64 = 4096;

/// Longest time that a case may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Path of a table that goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Relaxed));
        let name = format!("bytewright_cuts_{name}_{process}_{count}.bwt");
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        Scratch(path)
    }

    fn open(&self, options: OpenOptions) -> TreeTable {
        TreeTable::open(&self.0, options).unwrap()
    }

    fn cut(&self, len: u64) {
        File::options().write(true).open(&self.0).unwrap().set_len(len).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Returns entries whose values are in pages, and in runs of one page and many.
fn entries() -> Entries {
    let short = (0..1500_u32).map(|number| (number, 20 + number as usize % 90));
    let middle = (2000..2040).map(|number| (number, 700 + number as usize % 300));
    let long = (3000..3030).map(|number| (number, 1500 * (number as usize - 2999)));
    let number_and_len = short.chain(middle).chain(long);
    number_and_len.map(|(number, len)| (key(number), value(number, len))).collect()
}

fn key(number: u32) -> Vec<u8> {
    match number % 100 {
        // One that goes on in a run.
        7 => [&number.to_be_bytes()[..], &[b'k'; 600]].concat(),
        _ => number.to_be_bytes().to_vec(),
    }
}

/// A value without zeros, so that a piece of a page that is gone shows.
fn value(number: u32, len: usize) -> Vec<u8> {
    (0..len).map(|place| (number as usize * 31 + place * 7) as u8 | 1).collect()
}

/// The bytes of a closed table, and what it holds.
fn table() -> (Vec<u8>, Entries) {
    let scratch = Scratch::new("made", b"");
    let mut table = scratch.open(OpenOptions { sync: SyncMode::Never, ..CREATE });
    let entries = entries();
    table.begin().unwrap();
    entries.iter().for_each(|(key, value)| table.put(key, value).unwrap());
    table.commit().unwrap();
    table.close().unwrap();
    drop(table);
    (std::fs::read(&scratch.0).unwrap(), entries)
}

/// Lengths in the header, in what processes share, in the bits of pages, in pages and between them.
fn lengths(len: u64) -> Vec<u64> {
    let half = len / 2 / PAGE * PAGE;
    let mut lengths = vec![0, 1, 100, 530, 1024, 4095, PAGE, PAGE + 8, PAGE + 72, PAGE + 200];
    lengths.extend([PAGE + 3000, 2 * PAGE, 9 * PAGE + 8, 17 * PAGE, 17 * PAGE + 100, 25 * PAGE]);
    lengths.extend([33 * PAGE - 8, 33 * PAGE, 33 * PAGE + 2000, 34 * PAGE, 40 * PAGE + 4088]);
    lengths.extend([half, half + 1, half + 2000, half + 4080, half + 4088, half + 4095]);
    lengths.extend([half + PAGE, len - PAGE, len - 2 * PAGE + 9, len - 8, len - 1]);
    lengths
}

fn is_told(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Io(_))
}

/// Asserts that an answer is right, or an error of a damaged file; returns true if it is an answer.
#[track_caller]
fn is_right<T: PartialEq>(found: Result<T>, expected: &T, case: &str) -> bool {
    match found {
        Ok(found) => {
            assert!(found == *expected, "{case}: a wrong answer");
            true
        }
        Err(error) => {
            assert!(is_told(&error), "{case}: {:?} {error}", error.kind());
            false
        }
    }
}

/// Asks for all that is to be there, and something that is not; returns the number of answers.
fn ask(table: &TreeTable, entries: &Entries, case: &str) -> usize {
    let mut answers = 0;
    for (key, value) in entries {
        answers += usize::from(is_right(table.get(key), &Some(value.clone()), case));
    }
    is_right(table.get(b"nowhere"), &None, case);
    is_right(table.len(), &(entries.len() as u64), case);
    is_right(try_all(table), entries, case);
    answers
}

/// A history of entries, as one handle writes them.
struct Writes {
    states: Vec<Entries>,
    /// Place of the last state that was told to be committed.
    told: usize,
}

impl Writes {
    fn new(entries: &Entries) -> Writes {
        Writes { states: vec![entries.clone()], told: 0 }
    }

    /// Puts and deletes, each a commit of its own, and reads what was put.
    fn write(&mut self, table: &mut TreeTable, case: &str) {
        let round = self.states.len() as u32;
        for (number, len) in [(5, 40), (5000, 50), (3003, 9000), (6000, 20_000), (2007, 800)] {
            let (key, value) = (key(number), value(number + round, len));
            let mut next = self.states[self.states.len() - 1].clone();
            next.insert(key.clone(), value.clone());
            let put = table.put(&key, &value);
            if self.has_committed(put, next, case) {
                is_right(table.get(&key), &Some(value), case);
            }
        }
        let mut next = self.states[self.states.len() - 1].clone();
        let key = key(11 + round);
        next.remove(&key);
        self.has_committed(table.delete(&key).map(|was_there| assert!(was_there)), next, case);
    }

    fn has_committed(&mut self, outcome: Result<()>, next: Entries, case: &str) -> bool {
        if !is_right(outcome, &(), case) {
            return false;
        }
        self.states.push(next);
        self.told = self.states.len() - 1;
        true
    }

    /// Asserts that a table opened anew holds what was committed, or is known to be damaged.
    fn reopen(&self, path: &Path, case: &str) {
        if let Ok(table) = TreeTable::open(path, READ) {
            ask(&table, &self.states[self.told], case);
        }
        for options in [OpenOptions { verify: true, ..READ }, READ, WRITE] {
            match TreeTable::open(path, options).and_then(|table| try_all(&table)) {
                Ok(found) => {
                    assert!(found == self.states[self.told], "{case}: other entries");
                }
                Err(error) => {
                    let is_told = is_told(&error) || error.kind() == ErrorKind::Format;
                    assert!(is_told, "{case}: {error}");
                }
            }
        }
    }
}

/// Work of the handles before the cut.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    Read,
    Written,
}

fn cut_under_both(bytes: &[u8], entries: &Entries, before: Before, grows: bool) {
    for len in lengths(bytes.len() as u64) {
        let case = &format!("cut to {len} of {}, {before:?} before, grown: {grows}", bytes.len());
        let began = Instant::now();
        let scratch = Scratch::new(&format!("both_{before:?}_{grows}"), bytes);
        let (reader, mut writer) = (scratch.open(READ), scratch.open(WRITE));
        let mut writes = Writes::new(entries);
        if before == Before::Written {
            writes.write(&mut writer, case);
            assert_eq!(writes.told, 6);
        }
        if before != Before::Nothing {
            let expected = &writes.states[writes.told];
            assert_eq!(ask(&reader, expected, case), expected.len());
            assert_eq!(ask(&writer, expected, case), expected.len());
        }
        let whole = File::open(&scratch.0).unwrap().metadata().unwrap().len();
        scratch.cut(len);
        if grows {
            scratch.cut(whole);
        }
        ask(&reader, &writes.states[writes.told], case);
        ask(&writer, &writes.states[writes.told], case);
        // One that comes while the others have the damaged file.
        let later = TreeTable::open(&scratch.0, READ).inspect_err(|error| {
            let is_told = is_told(error) || error.kind() == ErrorKind::Format;
            assert!(is_told, "{case}: {:?} {error}", error.kind());
        });
        writes.write(&mut writer, case);
        if let Ok(later) = &later {
            ask(later, &writes.states[writes.told], case);
        }
        ask(&writer, &writes.states[writes.told], case);
        ask(&reader, &writes.states[writes.told], case);
        for handle in [&reader, &writer] {
            // Whatever it says.
            let _ = handle.stat();
        }
        let _ = (writer.compact(), writer.sync(), writer.close());
        drop((reader, writer, later));
        writes.reopen(&scratch.0, case);
        assert!(began.elapsed() < PATIENCE, "{case}: {:?}", began.elapsed());
    }
}

#[test]
fn a_file_that_is_cut_before_anybody_read_it_is_an_error_or_the_truth() {
    let (bytes, entries) = table();
    cut_under_both(&bytes, &entries, Before::Nothing, false);
}

#[test]
fn a_file_that_is_cut_after_it_was_read_is_an_error_or_the_truth() {
    let (bytes, entries) = table();
    cut_under_both(&bytes, &entries, Before::Read, false);
}

#[test]
fn a_file_that_is_cut_after_it_was_written_is_an_error_or_the_truth() {
    let (bytes, entries) = table();
    cut_under_both(&bytes, &entries, Before::Written, false);
}

#[test]
fn a_file_that_is_cut_and_grown_again_is_an_error_or_the_truth() {
    let (bytes, entries) = table();
    cut_under_both(&bytes, &entries, Before::Nothing, true);
    cut_under_both(&bytes, &entries, Before::Read, true);
    cut_under_both(&bytes, &entries, Before::Written, true);
}

#[test]
fn a_table_that_was_opened_to_read_only_tells_of_a_cut_too() {
    let (bytes, entries) = table();
    for len in lengths(bytes.len() as u64) {
        let case = &format!("cut to {len}");
        let scratch = Scratch::new("reader", bytes.as_slice());
        let (early, late) = (scratch.open(READ), scratch.open(READ));
        ask(&early, &entries, case);
        scratch.cut(len);
        let answers = [ask(&early, &entries, case), ask(&late, &entries, case)];
        let is_half = len < bytes.len() as u64 / 2 + PAGE;
        assert!(!is_half || answers.iter().all(|count| *count < entries.len()), "{case}");
    }
}

#[test]
fn a_snapshot_and_a_scan_that_are_under_way_end_with_an_error_or_are_whole() {
    let (bytes, entries) = table();
    for len in lengths(bytes.len() as u64) {
        for (walked, grows) in [(0, false), (1, true), (700, false), (1535, false)] {
            let case = &format!("cut to {len} after {walked}, grown: {grows}");
            let scratch = Scratch::new("walk", &bytes);
            let (reader, writer) = (scratch.open(READ), scratch.open(WRITE));
            let snapshots = [&reader, &writer].map(|table| table.ordered_snapshot().unwrap());
            let scans = snapshots.iter().map(|snapshot| snapshot.scan().unwrap());
            let mut scans: Vec<_> = scans.collect();
            for scan in &mut scans {
                for (key, value) in entries.iter().take(walked) {
                    assert_eq!(scan.advance().unwrap(), Some((&key[..], &value[..])));
                }
            }
            scratch.cut(len);
            if grows {
                scratch.cut(bytes.len() as u64);
            }
            for scan in &mut scans {
                let mut left = entries.iter().skip(walked);
                loop {
                    let expected = left.next().map(|(key, value)| (&key[..], &value[..]));
                    match is_right(scan.advance(), &expected, case) {
                        true if expected.is_some() => {}
                        true => break,
                        false => {
                            assert!(matches!(scan.advance(), Ok(None) | Err(_)), "{case}");
                            break;
                        }
                    }
                }
            }
            for snapshot in &snapshots {
                for (key, value) in &entries {
                    let mut found = None;
                    let told = snapshot.get_with(key, &mut |value| found = Some(value.to_vec()));
                    is_right(told.map(|_| found), &Some(value.clone()), case);
                }
                is_right(snapshot.scan().and_then(rest).map(Entries::from_iter), &entries, case);
            }
        }
    }
}

#[test]
fn a_transaction_that_is_open_while_the_file_is_cut_fails_or_is_committed() {
    let (bytes, entries) = table();
    for len in lengths(bytes.len() as u64) {
        for sync in [SyncMode::Commit, SyncMode::Interval, SyncMode::Never] {
            for aborts in [false, true] {
                let case = &format!("cut to {len}, {sync:?}, aborted: {aborts}");
                let scratch = Scratch::new("transaction", &bytes);
                let mut writer = scratch.open(OpenOptions { sync, ..WRITE });
                let mut expected = entries.clone();
                let mut put = |writer: &mut TreeTable, number, len| {
                    expected.insert(key(number), value(number + 1, len));
                    writer.put(&key(number), &value(number + 1, len))
                };
                writer.begin().unwrap();
                (0..300).for_each(|number| put(&mut writer, number * 3, 70).unwrap());
                put(&mut writer, 4000, 30_000).unwrap();
                writer.begin().unwrap();
                put(&mut writer, 8, 30).unwrap();
                scratch.cut(len);
                let mut outcomes = vec![put(&mut writer, 9, 30), put(&mut writer, 4001, 30_000)];
                outcomes.push(writer.commit());
                outcomes.extend((900..940).map(|number| put(&mut writer, number, 100)));
                if aborts {
                    while writer.depth() > 0 {
                        let _ = writer.abort();
                    }
                    ask(&writer, &entries, case);
                } else {
                    outcomes.extend([writer.commit(), writer.sync()]);
                }
                for outcome in &outcomes {
                    let is_told = outcome.as_ref().err().is_none_or(is_told);
                    assert!(is_told, "{case}: {outcome:?}");
                }
                let is_committed = !aborts && outcomes.iter().all(Result::is_ok);
                drop(writer);
                let found = TreeTable::open(&scratch.0, READ).and_then(|table| try_all(&table));
                match found {
                    Ok(found) if is_committed => assert!(found == expected, "{case}"),
                    Ok(found) => assert!(found == entries || found == expected, "{case}"),
                    Err(error) => assert!(
                        is_told(&error) || error.kind() == ErrorKind::Format,
                        "{case}: {error}"
                    ),
                }
            }
        }
    }
}

#[test]
fn threads_that_read_while_the_file_is_cut_get_the_truth_or_an_error() {
    let (bytes, entries) = table();
    seeds(4 * harder() as u64, |random: &mut Random| {
        let scratch = Scratch::new("threads", &bytes);
        let (reader, writer) = (scratch.open(READ), scratch.open(WRITE));
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for (thread, table) in [&reader, &writer, &reader].into_iter().enumerate() {
                let (entries, is_over) = (&entries, &is_over);
                scope.spawn(move || {
                    while !is_over.load(Relaxed) {
                        for (key, value) in entries.iter().skip(thread).step_by(3) {
                            is_right(table.get(key), &Some(value.clone()), "a thread");
                        }
                        is_right(table.get(b"nowhere"), &None, "a thread");
                        is_right(try_all(table), entries, "a thread");
                    }
                });
            }
            let mut len = bytes.len() as u64;
            while len > 34 * PAGE {
                std::thread::sleep(Duration::from_micros(random.below(1500) as u64));
                len -= random.below(3 * PAGE as usize) as u64;
                scratch.cut(len);
                if random.once_in(8) {
                    scratch.cut(bytes.len() as u64);
                    scratch.cut(len);
                }
            }
            scratch.cut(random.below(34 * PAGE as usize) as u64);
            std::thread::sleep(Duration::from_millis(5));
            scratch.cut(0);
            std::thread::sleep(Duration::from_millis(5));
            is_over.store(true, Relaxed);
        });
    });
}

// Promise (tree-table-file): A file that was cut is an error, and no signal ends the process.
#[test]
fn a_page_that_is_being_cut_makes_no_answer_wrong() {
    let scratch = Scratch::new("being_cut", b"");
    let mut table = scratch.open(OpenOptions { sync: SyncMode::Never, ..CREATE });
    table.begin().unwrap();
    (0..30).for_each(|number| table.put(&key(number), &value(number, 90)).unwrap());
    table.put(&key(30), &value(30, 5 * PAGE as usize)).unwrap();
    table.commit().unwrap();
    table.close().unwrap();
    drop(table);
    let bytes = std::fs::read(&scratch.0).unwrap();
    let place_and_end = |number, len| {
        let value = value(number, len);
        let at = bytes.windows(len).position(|bytes| bytes == value).unwrap() as u64;
        (at, (at + len as u64).next_multiple_of(PAGE))
    };
    for (number, len) in [(0, 90), (29, 90), (30, 5 * PAGE as usize)] {
        for options in [READ, WRITE] {
            std::fs::write(&scratch.0, &bytes).unwrap();
            let table = scratch.open(options);
            assert_eq!(table.get(&key(number)).unwrap(), Some(value(number, len)));
            // The system makes the end of the file known, and then fills the rest of the page with zeros, the last bytes last.
            let (at, end) = place_and_end(number, len);
            scratch.cut(end - 1);
            let file = File::options().write(true).open(&scratch.0).unwrap();
            file.write_all_at(&vec![0; len / 2], at).unwrap();
            let found = table.get(&key(number));
            assert!(found.as_ref().is_err_and(is_told), "{number}: {found:?}");
            assert!(try_all(&table).as_ref().is_err_and(is_told));
        }
    }
}

#[test]
fn a_file_that_is_cut_while_it_is_opened_is_an_error_or_the_truth() {
    let (bytes, entries) = table();
    seeds(6 * harder() as u64, |random: &mut Random| {
        let scratch = Scratch::new("opened", &bytes);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for options in [READ, OpenOptions { verify: true, ..READ }] {
                let (entries, is_over, path) = (&entries, &is_over, &scratch.0);
                scope.spawn(move || {
                    while !is_over.load(Relaxed) {
                        match TreeTable::open(path, options) {
                            Ok(table) => {
                                for (key, value) in entries.iter().step_by(97) {
                                    is_right(table.get(key), &Some(value.clone()), "opened");
                                }
                            }
                            Err(error) => {
                                let is_told = is_told(&error) || error.kind() == ErrorKind::Format;
                                assert!(is_told, "{:?} {error}", error.kind());
                            }
                        }
                    }
                });
            }
            let mut len = bytes.len() as u64;
            while len > 0 {
                std::thread::sleep(Duration::from_micros(random.below(2000) as u64));
                let most = if len > 40 * PAGE { 6 * PAGE as usize } else { 4000 };
                len = len.saturating_sub(random.below(most) as u64);
                scratch.cut(len);
            }
            is_over.store(true, Relaxed);
        });
    });
}

#[test]
fn a_backup_of_a_file_that_is_cut_meanwhile_is_whole_or_not_there() {
    let (bytes, entries) = table();
    seeds(10 * harder() as u64, |random: &mut Random| {
        let (scratch, copy) = (Scratch::new("backed_up", &bytes), Scratch::new("backup", b""));
        let reader = scratch.open(READ);
        let (len, delay) = (random.below(bytes.len()) as u64, random.below(3000) as u64);
        if random.once_in(2) {
            ask(&reader, &entries, "before");
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_micros(delay));
                scratch.cut(len);
            });
            for _ in 0..3 {
                let options = BackupOptions { replace: true };
                let written = Backup::of(&reader, TableKind::Ordered)
                    .and_then(|backup| backup.write(&copy.0, options));
                if is_right(written, &(entries.len() as u64), "a backup") {
                    assert!(all(&copy.open(READ)) == entries, "cut to {len}: another backup");
                }
            }
        });
    });
}

#[test]
fn a_writer_that_writes_while_the_file_is_cut_is_told_or_has_written() {
    let (bytes, entries) = table();
    seeds(12 * harder() as u64, |random: &mut Random| {
        let sync = random.pick(&[SyncMode::Commit, SyncMode::Interval, SyncMode::Never]);
        let len = random.below(bytes.len()) as u64;
        let case = &format!("cut to {len} while it writes, {sync:?}");
        let delay = Duration::from_micros(random.below(20_000) as u64);
        let scratch = Scratch::new("writes", &bytes);
        let mut writer = scratch.open(OpenOptions { sync, ..WRITE });
        let mut states = vec![entries.clone()];
        let is_cut = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(delay);
                scratch.cut(len);
                is_cut.store(true, Relaxed);
            });
            let mut left = 30;
            while left > 0 {
                left -= usize::from(is_cut.load(Relaxed));
                let number = random.below(1500) as u32;
                let (key, value) = (key(number), value(number + 1, random.below(6_000)));
                let mut next = states[states.len() - 1].clone();
                match random.below(12) {
                    0..2 => {
                        let was_there = next.remove(&key).is_some();
                        if is_right(writer.delete(&key), &was_there, case) {
                            states.push(next);
                        }
                    }
                    2 => {
                        is_right(writer.compact(), &(), case);
                    }
                    _ => {
                        next.insert(key.clone(), value.clone());
                        if is_right(writer.put(&key, &value), &(), case) {
                            is_right(writer.get(&key), &Some(value), case);
                            states.push(next);
                        }
                    }
                }
            }
        });
        let is_synced = is_right(writer.sync(), &(), case);
        drop(writer);
        match TreeTable::open(&scratch.0, READ).and_then(|table| try_all(&table)) {
            Ok(found) if is_synced => assert!(found == states[states.len() - 1], "{case}"),
            Ok(found) => assert!(states.contains(&found), "{case}"),
            Err(error) => {
                let is_told = is_told(&error) || error.kind() == ErrorKind::Format;
                assert!(is_told, "{case}: {error}");
            }
        }
    });
}

#[test]
fn the_thread_that_syncs_a_cut_file_ends_with_the_table() {
    let (bytes, _) = table();
    for len in [0, PAGE + 100, bytes.len() as u64 / 2] {
        let scratch = Scratch::new("flusher", &bytes);
        let mut writer = scratch.open(OpenOptions { sync: SyncMode::Interval, ..WRITE });
        for number in 0..50 {
            writer.put(&key(number), &value(number, 2_000)).unwrap();
        }
        scratch.cut(len);
        // Longer than commits wait.
        std::thread::sleep(Duration::from_millis(1300));
        is_right(writer.put(b"later", b"1"), &(), "put");
        let began = Instant::now();
        drop(writer);
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    }
}

#[test]
fn a_file_that_is_moved_or_removed_goes_on_in_all_handles() {
    let (bytes, entries) = table();
    for sync in [SyncMode::Commit, SyncMode::Interval, SyncMode::Never] {
        let (scratch, moved) = (Scratch::new("moves", &bytes), Scratch::new("moved", b""));
        let (reader, mut writer) =
            (scratch.open(READ), scratch.open(OpenOptions { sync, ..WRITE }));
        let (snapshot, mut writes) = (reader.ordered_snapshot().unwrap(), Writes::new(&entries));
        std::fs::rename(&scratch.0, &moved.0).unwrap();
        writes.write(&mut writer, "moved");
        let expected = &writes.states[6];
        assert!(all(&reader) == *expected && all(&writer) == *expected);
        let other = moved.open(READ);
        assert!(all(&other) == *expected, "at its new place");
        std::fs::remove_file(&moved.0).unwrap();
        let mut expected = expected.clone();
        for number in 0..200 {
            expected.insert(key(number), value(number + 2, 300));
            writer.put(&key(number), &value(number + 2, 300)).unwrap();
        }
        writer.sync().unwrap();
        writer.compact().unwrap();
        for handle in [&reader, &writer, &other] {
            assert_eq!(ask(handle, &expected, "removed"), expected.len());
        }
        assert!(
            rest(snapshot.scan().unwrap()).unwrap().into_iter().collect::<Entries>() == entries
        );
        writer.close().unwrap();
        assert!(!moved.0.exists() && !scratch.0.exists(), "nothing comes back");
    }
}

#[test]
fn a_file_that_another_took_the_place_of_stays_what_the_handles_have() {
    let (bytes, entries) = table();
    let scratch = Scratch::new("replaced", &bytes);
    let (reader, mut writer) = (scratch.open(READ), scratch.open(WRITE));
    std::fs::remove_file(&scratch.0).unwrap();
    scratch.open(CREATE).put(b"other", b"1").unwrap();
    writer.put(b"ours", b"2").unwrap();
    let mut expected = entries;
    expected.insert(b"ours".to_vec(), b"2".to_vec());
    assert!(all(&reader) == expected && all(&writer) == expected);
    drop((reader, writer));
    assert_eq!(all(&scratch.open(READ)).len(), 1, "the other file");
}
