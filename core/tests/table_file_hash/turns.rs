//! Processes that write one table by turns, and are killed or stopped at any moment: the sums of all are right, and nobody who
//! reads waits.

#![allow(unsafe_code, reason = "there is no safe way to stop a process or to limit its files")]

use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bytewright::ErrorKind;
use bytewright::table::Table;
use bytewright::table::file::{HashTable, OpenOptions, SyncMode};

use crate::generate::{Random, seeds};
use crate::processes::in_child;
use crate::watched::{FileChange, Moments, WatchedDirectory};
use crate::{CREATE, READ, WRITE, get, path};

const PATH: &str = "BYTEWRIGHT_WRITER_BY_TURNS";
const NAME: &str = "BYTEWRIGHT_WRITER_NAME";

const PATIENT: OpenOptions =
    OpenOptions { verify: false, sync: SyncMode::Never, timeout: Duration::from_secs(60), ..WRITE };

fn number_of(table: &HashTable, key: &[u8]) -> u64 {
    get(table, key).map_or(0, |value| u64::from_le_bytes(value[..8].try_into().unwrap()))
}

/// Not a test by itself: what a process does that is killed. It adds to a number of its own and to one that all share, and to
/// one of many; it says on standard error how often it did.
#[test]
fn adds_by_turns_until_it_is_killed() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let name = std::env::var(NAME).unwrap();
    let mut table = HashTable::open(Path::new(&path), PATIENT).unwrap();
    let mut random = Random::new(u64::from(std::process::id()));
    let mut out = std::io::stderr();
    loop {
        let other = format!("of many {}", random.below(3_000));
        table.begin().unwrap();
        let own = number_of(&table, name.as_bytes()) + 1;
        for key in [name.as_bytes(), b"all", other.as_bytes()] {
            let value = [(number_of(&table, key) + 1).to_le_bytes().to_vec(), vec![7; 60]];
            table.put(key, &value.concat()).unwrap();
        }
        if random.once_in(200) {
            table.put(other.as_bytes(), &vec![9; 9 << 20]).unwrap();
            table.abort().unwrap();
            continue;
        }
        table.commit().unwrap();
        if out.write_all(&own.to_le_bytes()).is_err() {
            return;
        }
    }
}

/// Not a test by itself: what a process does that dies when it has replaced the file by a compacted one.
#[test]
fn dies_when_it_has_replaced_the_file() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let path = Path::new(&path);
    let dies = Moments { published: || std::process::abort(), ..Moments::NONE };
    WatchedDirectory::open(path, dies, PATIENT).compact().unwrap();
}

/// Not a test by itself: what a process does that dies after it has compacted.
#[test]
fn dies_when_it_has_compacted() {
    let Some(path) = std::env::var_os(PATH) else { return };
    HashTable::open(Path::new(&path), PATIENT).unwrap().compact().unwrap();
    std::process::abort();
}

thread_local! {
    /// Table that other processes are to replace while it is opened, each as the test of that name does.
    static REPLACED: RefCell<(PathBuf, Vec<&'static str>)> = RefCell::default();
}

// Promise (hash-table-file): Nobody stays with a file that a process has replaced before it died.
#[test]
fn who_opens_a_file_that_others_replace_meanwhile_and_die_goes_on_with_the_new_one() {
    let path = path("opened");
    for test in ["turns::dies_when_it_has_replaced_the_file", "turns::dies_when_it_has_compacted"] {
        for options in [PATIENT, READ] {
            let mut named =
                HashTable::open(&path, OpenOptions { create: true, ..PATIENT }).unwrap();
            named.put(b"n", &1_u64.to_le_bytes()).unwrap();
            drop(named);
            REPLACED.set((path.clone(), vec![test; 3]));
            let opened = || {
                let (path, test) =
                    REPLACED.with_borrow_mut(|(path, left)| (path.clone(), left.pop()));
                if let Some(test) = test {
                    assert!(!start_as(&path, "", test).wait().unwrap().success());
                }
            };
            let mut opened =
                WatchedDirectory::open(&path, Moments { opened, ..Moments::NONE }, options);
            let mut named = HashTable::open(&path, PATIENT).unwrap();
            named.put(b"n", &2_u64.to_le_bytes()).unwrap();
            assert_eq!(number_of(&opened, b"n"), 2, "{test}");
            if !options.read_only {
                opened.put(b"n", &3_u64.to_le_bytes()).unwrap();
                assert_eq!(number_of(&named, b"n"), 3, "{test}");
            }
        }
    }
}

#[test]
fn those_who_compact_at_the_same_time_wait_for_each_other() {
    let path = path("compact_together");
    drop(HashTable::open(&path, CREATE).unwrap());
    std::thread::scope(|scope| {
        for number in 0..4_u64 {
            let path = &path;
            scope.spawn(move || {
                let mut table = HashTable::open(path, PATIENT).unwrap();
                for round in 0..20_u64 {
                    table.put(&number.to_le_bytes(), &round.to_le_bytes()).unwrap();
                    table.compact().unwrap();
                    assert_eq!(number_of(&table, &number.to_le_bytes()), round);
                }
            });
        }
    });
    let table = HashTable::open(&path, WRITE).unwrap();
    assert!((0..4_u64).all(|number| number_of(&table, &number.to_le_bytes()) == 19));
}

/// Length of the header of a frame, all of a room that is written.
const FRAME_HEADER_LEN: usize = 20;

fn key_of(number: u64) -> [u8; 8] {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}

/// Not a test by itself: what a process does that dies in the middle of a commit, which changes each key twice, when some of it
/// is in the index.
#[test]
fn dies_while_it_changes_the_index() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let changes = |change: FileChange<'_>| {
        if matches!(change, FileChange::Write(_, bytes) if bytes.len() == FRAME_HEADER_LEN) {
            std::process::abort();
        }
    };
    let dies = Moments { changes, ..Moments::NONE };
    let mut table = WatchedDirectory::open(Path::new(&path), dies, PATIENT);
    table.begin().unwrap();
    for version in [1_u64, 2] {
        (0..KEYS).for_each(|key| table.put(&key_of(key), &version.to_le_bytes()).unwrap());
    }
    table.commit().unwrap();
}

/// As many as need more room for the index than there is.
const KEYS: u64 = 6_000;

#[test]
fn a_transaction_that_changed_keys_twice_and_died_half_in_the_index_is_there_once() {
    let path = path("twice");
    let mut stays = HashTable::open(&path, OpenOptions { create: true, ..PATIENT }).unwrap();
    (0..KEYS / 4).for_each(|key| stays.put(&key_of(key), &0_u64.to_le_bytes()).unwrap());
    let mut child = start_as(&path, "", "turns::dies_while_it_changes_the_index");
    assert!(!child.wait().unwrap().success());
    stays.put(b"after", &1_u64.to_le_bytes()).unwrap();
    let all_are =
        |table: &HashTable, version| (0..KEYS).all(|key| number_of(table, &key_of(key)) == version);
    assert!(all_are(&stays, 2));
    assert_eq!(stays.stat().unwrap().records, KEYS + 1);
    // Each gets another version, and other segments.
    (0..KEYS).for_each(|key| stays.put(&key_of(key), &3_u64.to_le_bytes()).unwrap());
    (KEYS..10 * KEYS).for_each(|key| stays.put(&key_of(key), b"12345678").unwrap());
    assert!(all_are(&stays, 3));
}

// Promise (hash-table-file): also Nobody stays with a file
#[test]
fn nobody_stays_with_a_file_that_a_process_has_replaced_before_it_died() {
    let path = path("replaced");
    let mut stays = HashTable::open(&path, OpenOptions { create: true, ..PATIENT }).unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    stays.put(b"n", &0_u64.to_le_bytes()).unwrap();
    for number in 0..6 {
        let mut child = start_as(&path, "", "turns::dies_when_it_has_replaced_the_file");
        assert!(!child.wait().unwrap().success());
        let mut comes = HashTable::open(&path, PATIENT).unwrap();
        assert_eq!([&stays, &comes, &reader].map(|table| number_of(table, b"n")), [number; 3]);
        // Whoever comes first.
        let (one, other) =
            if number % 2 == 0 { (&mut comes, &mut stays) } else { (&mut stays, &mut comes) };
        one.put(b"n", &(number + 1).to_le_bytes()).unwrap();
        assert_eq!([&*one, &*other, &reader].map(|table| number_of(table, b"n")), [number + 1; 3]);
        other.put(b"other", b"1").unwrap();
        assert_eq!(get(one, b"other").as_deref(), Some(&b"1"[..]));
        other.delete(b"other").unwrap();
        assert!(get(one, b"other").is_none());
    }
}

/// Those who write by turns.
const NAMES: [&str; 3] = ["first", "second", "third"];

fn start(path: &Path, name: &str) -> Child {
    start_as(path, name, "turns::adds_by_turns_until_it_is_killed")
}

fn start_as(path: &Path, name: &str, test: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(PATH, path)
        .env(NAME, name)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets it write so many commits, and kills it. Returns the last one that it said.
fn kill_after(child: &mut Child, commits: usize) -> u64 {
    let mut out = child.stderr.take().unwrap();
    let mut said = vec![0; 8 * commits];
    out.read_exact(&mut said).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    out.read_to_end(&mut said).unwrap();
    said.chunks_exact(8).last().map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
}

// Promise (hash-table-file): Processes that write by turns lose nothing, however they are killed.
#[test]
fn sums_of_processes_that_write_by_turns_are_exact_however_these_are_killed() {
    let rounds = std::env::var("BYTEWRIGHT_KILLS").map_or(12, |n| n.parse().unwrap());
    let path = path("turns");
    drop(HashTable::open(&path, CREATE).unwrap());
    let said = Cell::new([0; 3]);
    seeds(rounds, |random| {
        let stays = random.once_in(2).then(|| HashTable::open(&path, PATIENT).unwrap());
        let mut children = NAMES.map(|name| start(&path, name));
        let mut last = said.get();
        for (child, said) in children.iter_mut().zip(&mut last) {
            *said = kill_after(child, 1 + random.below(60)).max(*said);
        }
        let table = stays.unwrap_or_else(|| HashTable::open(&path, PATIENT).unwrap());
        let mut sum = 0;
        for (name, said) in NAMES.iter().zip(&mut last) {
            let found = number_of(&table, name.as_bytes());
            assert!(found == *said || found == *said + 1, "{name} said {said}, found {found}");
            (sum, *said) = (sum + found, found);
        }
        assert_eq!(number_of(&table, b"all"), sum);
        said.set(last);
        let snapshot = table.snapshot().unwrap();
        let (mut scan, mut of_many, mut count) = (snapshot.scan().unwrap(), 0, 0);
        while let Some((key, value)) = scan.advance().unwrap() {
            count += 1;
            if key.starts_with(b"of many") {
                of_many += u64::from_le_bytes(value[..8].try_into().unwrap());
            }
        }
        assert_eq!((of_many, count), (sum, table.len().unwrap()));
    });
    assert_eq!(HashTable::check(&path).unwrap().damaged_at, None);
    // What the last one to die had written and not said is taken in by who opens it to write.
    let table = HashTable::open(&path, CREATE).unwrap();
    let found = NAMES.map(|name| number_of(&table, name.as_bytes()));
    let written = found.iter().zip(said.get()).map(|(found, said)| *found - said);
    assert!(written.sum::<u64>() <= 1, "{found:?} of {:?}", said.get());
    assert_eq!(number_of(&table, b"all"), found.iter().sum());
}

unsafe extern "C" {
    fn kill(process: i32, signal: i32) -> i32;
    fn signal(number: i32, handler: usize) -> usize;
}

const SIGCONT: i32 = 18;
const SIGSTOP: i32 = 19;
const SIGXFSZ: i32 = 25;
const SIG_IGN: usize = 1;

// Promise (hash-table-file): A stopped writer holds up no reader.
#[test]
fn a_writer_that_is_stopped_at_any_moment_holds_up_no_reader_and_is_named() {
    let path = path("stopped");
    drop(HashTable::open(&path, CREATE).unwrap());
    let reader = HashTable::open(&path, READ).unwrap();
    let mut other =
        HashTable::open(&path, OpenOptions { timeout: Duration::ZERO, ..WRITE }).unwrap();
    let mut child = start(&path, "first");
    child.stderr.as_mut().unwrap().read_exact(&mut [0; 8 * 20]).unwrap();
    let mut out = child.stderr.take().unwrap();
    let drained =
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()).unwrap());
    let mut was_named = false;
    for round in 0..60 {
        std::thread::sleep(Duration::from_micros(300 * (round % 7)));
        // SAFETY: the process is our own child, which was not waited for yet.
        assert_eq!(unsafe { kill(child.id() as i32, SIGSTOP) }, 0);
        let began = Instant::now();
        let snapshot = reader.snapshot().unwrap();
        let mut sides = [0; 2];
        for (side, key) in sides.iter_mut().zip([&b"first"[..], b"all"]) {
            let look =
                &mut |value: &[u8]| *side = u64::from_le_bytes(value[..8].try_into().unwrap());
            assert!(snapshot.get_with(key, look).unwrap());
        }
        assert_eq!(sides[0], sides[1], "a commit is seen as a whole");
        assert!(number_of(&reader, b"all") >= sides[0]);
        assert!(began.elapsed() < Duration::from_secs(5), "nobody waits");
        match other.put(b"of the other", b"") {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Lock);
                assert!(error.to_string().contains(&child.id().to_string()), "{error}");
                was_named = true;
            }
        }
        // SAFETY: as above.
        assert_eq!(unsafe { kill(child.id() as i32, SIGCONT) }, 0);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drained.join().unwrap();
    assert!(was_named, "it was stopped in a turn once");
    other.put(b"of the other", b"").unwrap();
    assert_eq!(number_of(&reader, b"first"), number_of(&reader, b"all"));
}

// Promise (hash-table-file): A full disk costs the commit that needs room for the index.
#[test]
fn a_disk_without_room_for_the_index_costs_the_commit_and_nothing_else() {
    let path = path("full");
    let mut table = HashTable::open(&path, OpenOptions { verify: false, ..CREATE }).unwrap();
    table.put(b"before", b"1").unwrap();
    let reader = HashTable::open(&path, READ).unwrap();
    drop(table);
    let content = in_child(|| {
        let mut table = HashTable::open(&path, OpenOptions { verify: false, ..WRITE }).unwrap();
        let limit = rustix::process::Rlimit { current: Some(400 << 10), maximum: Some(400 << 10) };
        rustix::process::setrlimit(rustix::process::Resource::Fsize, limit).unwrap();
        // SAFETY: nothing of ours handles the signal.
        unsafe { signal(SIGXFSZ, SIG_IGN) };
        let (mut committed, mut refused) = (1, 0);
        for number in 0..200_u32 {
            table.begin().unwrap();
            for part in 0..100_u32 {
                table.put(&(number * 100 + part).to_be_bytes(), b"value").unwrap();
            }
            match table.commit() {
                Ok(()) => committed += 100,
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
                    refused += 1;
                    if table.put(b"before", b"2").is_err() {
                        break;
                    }
                }
            }
            assert_eq!((table.len().unwrap(), table.depth()), (committed, 0));
        }
        assert!(refused > 0, "the disk was full");
        assert!(table.contains(&0_u32.to_be_bytes()).unwrap());
        assert_eq!(reader.len().unwrap(), committed);
        std::mem::forget(table);
        true
    });
    assert!(content);
    let table = HashTable::open(&path, CREATE).unwrap();
    assert_eq!(crate::twin::entries(&table).unwrap().len() as u64, table.len().unwrap());
    assert!(table.len().unwrap() > 100);
}

#[test]
fn who_compacts_in_a_kept_turn_waits_for_nobody_who_needs_that_turn() {
    let path = path("kept");
    let options = OpenOptions { timeout: Duration::from_secs(30), ..CREATE };
    HashTable::open(&path, options).unwrap().put(b"there", b"1").unwrap();
    std::thread::scope(|scope| {
        let overwrites = scope.spawn(|| {
            let mut table = HashTable::open(&path, options).unwrap();
            for number in 0..6_000_u32 {
                let put = |table: &mut HashTable| table.put(&[(number % 50) as u8], &[7; 3_000]);
                bytewright::table::in_turn(&mut table, put).unwrap();
            }
        });
        let mut table = HashTable::open(&path, options).unwrap();
        while !overwrites.is_finished() {
            bytewright::table::in_turn(&mut table, |table| table.compact()).unwrap();
        }
        overwrites.join().unwrap();
    });
    assert_eq!(HashTable::open(&path, options).unwrap().len().unwrap(), 51);
}
